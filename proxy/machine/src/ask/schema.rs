//! Reading a schema as a form. What it cannot mean is refused when it is asked, so that no answer is
//! ever measured by half a schema.

use super::Form;
use super::form::{Bounds, Choice, Field, Format, Kind, Others, Pattern, Text};
use regex_automata::meta::Regex;
use serde_json::{Map, Value};
use std::sync::{Arc, OnceLock};

/// Fields of one form.
const FIELDS_MAX: usize = 200;
/// References and alternatives that may lie within each other.
const DEPTH_MAX: usize = 8;
/// Longest pattern, in bytes.
const PATTERN_BYTES_MAX: usize = 4 * 1024;
/// Size that a compiled pattern may have, in bytes.
const PATTERN_SIZE_MAX: usize = 256 * 1024;
/// What would say something about a form that is not understood here.
const NOT_FLAT: [&str; 10] = [
    "oneOf",
    "anyOf",
    "not",
    "if",
    "enum",
    "const",
    "items",
    "patternProperties",
    "dependentSchemas",
    "minProperties",
];

impl Form {
    /// Reads a schema.
    ///
    /// # Errors
    /// A sentence: what in it cannot be the schema of a form.
    pub fn read(schema: Option<&Value>) -> Result<Form, String> {
        let form = Form::read_row(schema)?;
        for field in &form.fields {
            field.kind.compile().map_err(|why| format!("field `{}` {why}", field.name))?;
        }
        if let Others::Like(kind) = &form.others {
            kind.compile().map_err(|why| format!("`additionalProperties` {why}"))?;
        }
        Ok(form)
    }

    /// As `read`, for what was read before: patterns are compiled only when an answer is checked.
    pub(crate) fn read_row(schema: Option<&Value>) -> Result<Form, String> {
        let Some(root) = schema else {
            return Ok(Form::open());
        };
        let schema = follow(root, root)?;
        let Value::Object(keywords) = &schema else {
            return match schema {
                Value::Bool(true) | Value::Null => Ok(Form::open()),
                _ => Err("it is not a JSON object".into()),
            };
        };
        match keywords.get("type").and_then(Value::as_str) {
            Some("null") => {
                return Ok(Form { others: Others::Refused, nothing: true, ..Form::open() });
            }
            Some("object") | None => {}
            Some(other) => {
                return Err(format!(
                    "its type is `{other}`; a form has type `object` and one property for each field"
                ));
            }
        }
        if let Some(word) = NOT_FLAT.iter().find(|word| keywords.contains_key(**word)) {
            return Err(format!("`{word}` is not understood; a form is one flat object"));
        }
        let required = texts(keywords.get("required"), "required")?;
        let mut fields = vec![];
        let properties = match keywords.get("properties") {
            None => &Map::new(),
            Some(Value::Object(properties)) => properties,
            Some(_) => return Err("`properties` is not an object".into()),
        };
        if properties.len() > FIELDS_MAX {
            return Err(format!("it has more than {FIELDS_MAX} fields"));
        }
        for (name, property) in properties {
            let field = field(root, name, property, required.contains(name));
            fields.push(field.map_err(|why| format!("field `{name}` {why}"))?);
        }
        if let Some(name) = required.iter().find(|name| !properties.contains_key(*name)) {
            return Err(format!("`{name}` is required, but is no property"));
        }
        let others = others(root, keywords.get("additionalProperties"))?;
        Ok(Form { fields, others, nothing: false })
    }
}

/// The schema itself where it is a reference, or the only one of its alternatives.
fn follow(root: &Value, schema: &Value) -> Result<Value, String> {
    let mut schema = schema.clone();
    for _ in 0..DEPTH_MAX {
        let Value::Object(keywords) = &schema else {
            return Ok(schema);
        };
        let next = if let Some(Value::String(reference)) = keywords.get("$ref") {
            let pointer = reference.strip_prefix('#');
            let found = pointer.and_then(|pointer| root.pointer(pointer));
            found.ok_or_else(|| format!("refers to `{reference}`, which is not in the schema"))?
        } else if let Some(Value::Array(all)) = keywords.get("allOf") {
            let [only] = all.as_slice() else {
                return Err("has `allOf`, which is not flat".into());
            };
            only
        } else {
            return Ok(schema);
        };
        let Value::Object(next) = next else {
            return Ok(next.clone());
        };
        let mut merged = next.clone();
        let own = keywords.iter().filter(|(word, _)| !["$ref", "allOf"].contains(&word.as_str()));
        merged.extend(own.map(|(word, value)| (word.clone(), value.clone())));
        schema = Value::Object(merged);
    }
    Err(format!("has more than {DEPTH_MAX} references in a row"))
}

fn others(root: &Value, additional: Option<&Value>) -> Result<Others, String> {
    Ok(match additional {
        None | Some(Value::Bool(true)) => Others::Allowed,
        Some(Value::Bool(false)) => Others::Refused,
        Some(schema) => {
            let like = field(root, "additionalProperties", schema, false);
            Others::Like(Box::new(
                like.map_err(|why| format!("`additionalProperties` {why}"))?.kind,
            ))
        }
    })
}

fn field(root: &Value, name: &str, schema: &Value, required: bool) -> Result<Field, String> {
    let schema = follow(root, schema)?;
    let (schema, nullable) = without_null(root, schema)?;
    let keywords = match &schema {
        Value::Object(keywords) => keywords,
        Value::Bool(true) => &Map::new(),
        _ => return Err("is not a schema".into()),
    };
    let text = |keyword: &str| keywords.get(keyword).and_then(Value::as_str).map(str::to_owned);
    Ok(Field {
        name: name.to_owned(),
        title: text("title"),
        description: text("description"),
        default: keywords.get("default").filter(|default| !default.is_null()).cloned(),
        required: required && !nullable,
        nullable,
        kind: kind(root, keywords)?,
    })
}

/// The schema without the possibility of `null`, and whether there was one.
fn without_null(root: &Value, mut schema: Value) -> Result<(Value, bool), String> {
    let Value::Object(keywords) = &mut schema else {
        return Ok((schema, false));
    };
    let is_null = |schema: &Value| schema.get("type").and_then(Value::as_str) == Some("null");
    let mut nullable = keywords.remove("nullable") == Some(Value::Bool(true));
    if let Some(Value::Array(types)) = keywords.get_mut("type") {
        let before = types.len();
        types.retain(|ty| ty != "null");
        nullable |= types.len() < before;
        let [only] = types.as_slice() else {
            return Err("has several types".into());
        };
        let only = only.clone();
        keywords.insert("type".into(), only);
    }
    if let Some(Value::Array(values)) = keywords.get_mut("enum") {
        let before = values.len();
        values.retain(|value| !value.is_null());
        nullable |= values.len() < before;
    }
    for word in ["anyOf", "oneOf"] {
        let Some(Value::Array(alternatives)) = keywords.get_mut(word) else { continue };
        let before = alternatives.len();
        alternatives.retain(|alternative| !is_null(alternative));
        nullable |= alternatives.len() < before;
        if before > 1
            && let [only] = alternatives.as_slice()
        {
            let only = follow(root, only)?;
            keywords.remove(word);
            if let Value::Object(only) = only {
                for (word, value) in only {
                    keywords.entry(word).or_insert(value);
                }
            }
            break;
        }
    }
    Ok((schema, nullable))
}

fn kind(root: &Value, keywords: &Map<String, Value>) -> Result<Kind, String> {
    if let Some(choices) = choices(keywords)? {
        return Ok(Kind::Choice(choices));
    }
    let Some(ty) = keywords.get("type") else {
        let flat =
            ["properties", "items", "not", "if", "oneOf", "anyOf", "allOf", "patternProperties"];
        return match flat.iter().find(|word| keywords.contains_key(**word)) {
            Some(word) => Err(format!("has `{word}`, which is not flat")),
            None => Ok(Kind::Any),
        };
    };
    match ty.as_str() {
        Some("string") => text(keywords).map(Kind::Text),
        Some("number") => bounds(keywords, false).map(Kind::Number),
        Some("integer") => bounds(keywords, true).map(Kind::Number),
        Some("boolean") => Ok(Kind::Boolean),
        Some("array") => {
            let items = keywords.get("items").ok_or("is an array without `items`")?;
            let items = follow(root, items)?;
            let of = items.as_object().map(choices).transpose()?.flatten();
            let of = of.ok_or("is an array of something else than choices (`enum`)")?;
            let (min, max) = (count(keywords, "minItems")?, count(keywords, "maxItems")?);
            Ok(Kind::Choices { of, min, max })
        }
        Some(other) => Err(format!(
            "has type `{other}`; a field is a string, a number, an integer, a boolean, a choice or \
             an array of choices"
        )),
        None => Err("has a type that is no name".into()),
    }
}

/// `enum`, `const`, or alternatives that are constants.
fn choices(keywords: &Map<String, Value>) -> Result<Option<Vec<Choice>>, String> {
    let constant = |value: &Value| {
        value.as_str().map(str::to_owned).ok_or("has a choice that is no string".to_owned())
    };
    let plain = |value: &Value| Ok(Choice { value: constant(value)?, title: None });
    if let Some(values) = keywords.get("enum") {
        let values = values.as_array().ok_or("has an `enum` that is no array")?;
        let choices: Vec<_> = values.iter().map(plain).collect::<Result<_, String>>()?;
        if choices.is_empty() {
            return Err("has an empty `enum`".into());
        }
        return Ok(Some(choices));
    }
    if let Some(value) = keywords.get("const") {
        return Ok(Some(vec![plain(value)?]));
    }
    for word in ["oneOf", "anyOf"] {
        let Some(alternatives) = keywords.get(word).and_then(Value::as_array) else { continue };
        let mut all = vec![];
        for alternative in alternatives {
            let alternative =
                alternative.as_object().ok_or(format!("has `{word}` of no schemas"))?;
            let Some(choices) = choices(alternative)? else {
                return Err(format!("has `{word}` of something else than constants"));
            };
            let said = |word: &str| alternative.get(word).and_then(Value::as_str);
            let title = said("title").or(said("description"));
            all.extend(choices.into_iter().map(|choice| {
                // A title that only repeats the value says nothing.
                let title = title.filter(|title| *title != choice.value).map(str::to_owned);
                Choice { title: choice.title.or(title), ..choice }
            }));
        }
        if !all.is_empty() {
            return Ok(Some(all));
        }
    }
    Ok(None)
}

fn text(keywords: &Map<String, Value>) -> Result<Text, String> {
    let format = keywords.get("format").and_then(Value::as_str);
    // Others say nothing that a person could be held to.
    let format = format.and_then(|name| Format::ALL.into_iter().find(|it| it.as_str() == name));
    let pattern = match keywords.get("pattern") {
        None => None,
        Some(Value::String(pattern)) => {
            Some(Pattern { text: pattern.clone(), regex: OnceLock::new() })
        }
        Some(_) => return Err("has a `pattern` that is no string".into()),
    };
    let (min, max) = (count(keywords, "minLength")?, count(keywords, "maxLength")?);
    Ok(Text { min, max, format, pattern })
}

impl Kind {
    fn compile(&self) -> Result<(), String> {
        match self {
            Kind::Text(Text { pattern: Some(pattern), .. }) => pattern.regex().map(drop),
            _ => Ok(()),
        }
    }
}

impl Pattern {
    /// # Errors
    /// A sentence: why it cannot be used.
    pub fn regex(&self) -> Result<&Regex, String> {
        if let Some(regex) = self.regex.get() {
            return Ok(regex);
        }
        let regex = Arc::new(compile(&self.text)?);
        Ok(self.regex.get_or_init(|| regex))
    }
}

fn compile(pattern: &str) -> Result<Regex, String> {
    if pattern.len() > PATTERN_BYTES_MAX {
        return Err(format!("has a `pattern` of more than {PATTERN_BYTES_MAX} bytes"));
    }
    let config = Regex::config()
        .nfa_size_limit(Some(PATTERN_SIZE_MAX))
        .hybrid_cache_capacity(PATTERN_SIZE_MAX)
        .onepass(false)
        .dfa(false);
    let regex = Regex::builder().configure(config).build(pattern);
    regex.map_err(|error| format!("has a `pattern` that cannot be used: {error}"))
}

fn bounds(keywords: &Map<String, Value>, integer: bool) -> Result<Bounds, String> {
    let number = |keyword: &str| match keywords.get(keyword) {
        None => Ok(None),
        Some(Value::Number(number)) => Ok(Some(number.clone())),
        Some(_) => Err(format!("has a `{keyword}` that is no number")),
    };
    Ok(Bounds {
        integer,
        minimum: number("minimum")?,
        maximum: number("maximum")?,
        above: number("exclusiveMinimum")?,
        below: number("exclusiveMaximum")?,
    })
}

fn count(keywords: &Map<String, Value>, keyword: &str) -> Result<Option<u64>, String> {
    match keywords.get(keyword) {
        None => Ok(None),
        Some(value) => match value.as_u64() {
            Some(count) => Ok(Some(count)),
            None => Err(format!("has a `{keyword}` that is no count")),
        },
    }
}

fn texts(value: Option<&Value>, keyword: &str) -> Result<Vec<String>, String> {
    let Some(value) = value else {
        return Ok(vec![]);
    };
    let texts = value.as_array().map(|texts| {
        texts.iter().map(|text| text.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()
    });
    texts.flatten().ok_or_else(|| format!("`{keyword}` is not an array of strings"))
}
