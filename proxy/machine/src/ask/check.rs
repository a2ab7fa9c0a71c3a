//! Whether content fits a form, and if not, in sentences why.

use super::Form;
use super::form::{Bounds, Choice, Field, Format, Kind, Others, Text};
use serde_json::{Map, Number, Value};

/// Violations that are told at once.
const TOLD_MAX: usize = 8;

impl Form {
    /// # Errors
    /// Everything that does not fit, in one sentence.
    pub fn check(&self, content: &Map<String, Value>) -> Result<(), String> {
        let mut wrong = vec![];
        for field in &self.fields {
            match content.get(&field.name) {
                None | Some(Value::Null) if !field.required => {
                    let given = content.contains_key(&field.name);
                    if given && !field.nullable && field.kind != Kind::Any {
                        wrong.push(format!("`{}` is null", field.name));
                    }
                }
                None => wrong.push(format!("`{}` is missing", field.name)),
                Some(value) => wrong.extend(misfit(field, value)),
            }
        }
        for (name, value) in content {
            if self.fields.iter().any(|field| field.name == *name) {
                continue;
            }
            match &self.others {
                Others::Allowed => {}
                Others::Refused => wrong.push(format!("`{name}` is not asked for")),
                Others::Like(kind) => {
                    wrong.extend(kind.misfit(value).map(|why| format!("`{name}` {why}")));
                }
            }
        }
        let more = wrong.len().saturating_sub(TOLD_MAX);
        wrong.truncate(TOLD_MAX);
        match (wrong.is_empty(), more) {
            (true, _) => Ok(()),
            (false, 0) => Err(wrong.join("; ")),
            (false, more) => Err(format!("{}; and {more} more", wrong.join("; "))),
        }
    }
}

fn misfit(field: &Field, value: &Value) -> Option<String> {
    field.kind.misfit(value).map(|why| format!("`{}` {why}", field.name))
}

impl Kind {
    fn misfit(&self, value: &Value) -> Option<String> {
        match (self, value) {
            (Kind::Any, _) | (Kind::Boolean, Value::Bool(_)) => None,
            (Kind::Text(text), Value::String(value)) => text.misfit(value),
            (Kind::Number(bounds), Value::Number(value)) => bounds.misfit(value),
            (Kind::Choice(choices), Value::String(value)) => not_among(choices, value),
            (Kind::Choices { of, min, max }, Value::Array(values)) => {
                let count = values.len() as u64;
                if min.is_some_and(|min| count < min) || max.is_some_and(|max| count > max) {
                    let within = range(min.as_ref(), max.as_ref());
                    return Some(format!("has {count} entries, not {within}"));
                }
                values.iter().find_map(|value| match value.as_str() {
                    Some(value) => not_among(of, value),
                    None => Some("has an entry that is no string".into()),
                })
            }
            (wanted, _) => Some(format!("is not {}", wanted.name())),
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Kind::Text(_) | Kind::Choice(_) => "a string",
            Kind::Number(bounds) if bounds.integer => "an integer",
            Kind::Number(_) => "a number",
            Kind::Boolean => "true or false",
            Kind::Choices { .. } => "an array",
            Kind::Any => "a value",
        }
    }
}

fn not_among(choices: &[Choice], value: &str) -> Option<String> {
    if choices.iter().any(|choice| choice.value == value) {
        return None;
    }
    let named: Vec<_> = choices.iter().take(TOLD_MAX).map(|it| format!("`{}`", it.value)).collect();
    let more = if choices.len() > TOLD_MAX { ", …" } else { "" };
    Some(format!("is none of {}{more}", named.join(", ")))
}

fn range<T: std::fmt::Display>(min: Option<T>, max: Option<T>) -> String {
    match (min, max) {
        (Some(min), Some(max)) => format!("{min} to {max}"),
        (Some(min), None) => format!("at least {min}"),
        (None, Some(max)) => format!("at most {max}"),
        (None, None) => "any number".into(),
    }
}

impl Text {
    fn misfit(&self, value: &str) -> Option<String> {
        let length = value.chars().count() as u64;
        if self.min.is_some_and(|min| length < min) || self.max.is_some_and(|max| length > max) {
            let within = range(self.min, self.max);
            return Some(format!("has {length} characters, not {within}"));
        }
        if let Some(format) = self.format.filter(|format| !format.fits(value)) {
            return Some(format!("is not {}", format.words()));
        }
        let pattern = self.pattern.as_ref()?;
        match pattern.regex() {
            Ok(regex) if regex.is_match(value) => None,
            Ok(_) => Some(format!("does not match `{}`", pattern.text)),
            Err(why) => Some(why),
        }
    }
}

impl Format {
    fn words(self) -> &'static str {
        match self {
            Format::Email => "an e-mail address",
            Format::Uri => "a URI",
            Format::Date => "a date as 2026-12-31",
            Format::DateTime => "a date and time as 2026-12-31T09:30:00Z",
        }
    }

    fn fits(self, value: &str) -> bool {
        let plain = !value.chars().any(|c| c.is_whitespace() || c.is_control());
        match self {
            Format::Email => plain && is_email(value),
            Format::Uri => plain && has_scheme(value),
            Format::Date => is_date(value),
            Format::DateTime => {
                value.get(..10).is_some_and(is_date) && value.parse::<jiff::Timestamp>().is_ok()
            }
        }
    }
}

fn is_email(value: &str) -> bool {
    let Some((local, domain)) = value.rsplit_once('@') else {
        return false;
    };
    let labels = !domain.split('.').any(str::is_empty);
    !local.is_empty() && local.len() <= 64 && labels && !domain.contains('@')
}

fn has_scheme(value: &str) -> bool {
    let Some((scheme, rest)) = value.split_once(':') else {
        return false;
    };
    let begins = scheme.starts_with(|c: char| c.is_ascii_alphabetic());
    let all = scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    begins && all && !rest.is_empty()
}

fn is_date(value: &str) -> bool {
    value.len() == 10 && value.parse::<jiff::civil::Date>().is_ok()
}

impl Bounds {
    fn misfit(&self, value: &Number) -> Option<String> {
        let Some(number) = value.as_f64() else {
            return Some("is not a number".into());
        };
        // 3.0 is an integer, as JSON Schema has it.
        if self.integer && !(value.is_i64() || value.is_u64()) && number.fract() != 0.0 {
            return Some("is not an integer".into());
        }
        let bound = |bound: &Option<Number>| bound.as_ref().and_then(Number::as_f64);
        let told =
            |bound: &Option<Number>| bound.as_ref().map(Number::to_string).unwrap_or_default();
        if bound(&self.minimum).is_some_and(|minimum| number < minimum) {
            return Some(format!("is {value}, not at least {}", told(&self.minimum)));
        }
        if bound(&self.maximum).is_some_and(|maximum| number > maximum) {
            return Some(format!("is {value}, not at most {}", told(&self.maximum)));
        }
        if bound(&self.above).is_some_and(|above| number <= above) {
            return Some(format!("is {value}, not above {}", told(&self.above)));
        }
        if bound(&self.below).is_some_and(|below| number >= below) {
            return Some(format!("is {value}, not below {}", told(&self.below)));
        }
        None
    }
}
