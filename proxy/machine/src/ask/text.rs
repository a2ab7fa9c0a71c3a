//! What a person types, as the content of a form: an object as it is, or the value of the one field
//! that is asked for.

use super::Form;
use super::form::{Choice, Field, Kind};
use bytes::Bytes;
use serde_json::{Value, json};

const YES: [&str; 8] = ["yes", "y", "true", "ok", "approve", "approved", "accept", "sure"];
const NO: [&str; 7] = ["no", "n", "false", "reject", "rejected", "deny", "denied"];

impl Form {
    /// The content that a text stands for. Whether it fits is for `check` to say.
    ///
    /// # Errors
    /// A sentence: how to say it.
    pub fn read_text(&self, text: &str) -> Result<Bytes, String> {
        let text = text.trim();
        if let Ok(Value::Object(content)) = serde_json::from_str(text) {
            return Ok(Value::Object(content).to_string().into());
        }
        if self.is_open() {
            return Ok(json!({ "text": text }).to_string().into());
        }
        let field = self.one_field().ok_or_else(|| self.how_to_say())?;
        let value = field.kind.read(text).ok_or_else(|| {
            format!("`{}` cannot be read from the text; {}", field.name, self.how_to_say())
        })?;
        Ok(json!({ &field.name: value }).to_string().into())
    }

    /// The only field, or the only one that has to be there.
    fn one_field(&self) -> Option<&Field> {
        let mut required = self.fields.iter().filter(|field| field.required);
        match (self.fields.as_slice(), required.next(), required.next()) {
            ([only], ..) | (_, Some(only), None) => Some(only),
            _ => None,
        }
    }

    fn how_to_say(&self) -> String {
        let names: Vec<_> = self.fields.iter().map(|field| format!("`{}`", field.name)).collect();
        format!("answer with a JSON object with {}", names.join(", "))
    }
}

impl Kind {
    fn read(&self, text: &str) -> Option<Value> {
        match self {
            Kind::Text(_) | Kind::Any => Some(json!(text)),
            Kind::Boolean => {
                let word = text.trim_end_matches(['.', '!']).to_lowercase();
                let yes = YES.contains(&word.as_str());
                (yes || NO.contains(&word.as_str())).then_some(json!(yes))
            }
            Kind::Number(_) => {
                let number: Value = serde_json::from_str(text).ok()?;
                number.is_number().then_some(number)
            }
            Kind::Choice(choices) => chosen(choices, text).map(|value| json!(value)),
            Kind::Choices { of, .. } => {
                let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
                let chosen: Option<Vec<_>> = parts.map(|part| chosen(of, part)).collect();
                chosen.map(|values| json!(values))
            }
        }
    }
}

fn chosen<'a>(choices: &'a [Choice], text: &str) -> Option<&'a str> {
    let is = |said: &str| said.to_lowercase() == text.to_lowercase();
    let found = choices
        .iter()
        .find(|choice| is(&choice.value) || choice.title.as_ref().is_some_and(|title| is(title)));
    found.map(|choice| choice.value.as_str())
}
