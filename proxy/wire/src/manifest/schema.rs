//! Looks for what a JSON schema must not have: references that lead out of it.
//!
//! Nothing is ever fetched to understand a manifest. A schema is not checked any further, and no
//! payload is checked against it.

use serde_json::Value;

/// Keywords whose values are data and not schemas.
const DATA: [&str; 5] = ["const", "enum", "default", "example", "examples"];

/// Keywords whose values are maps from names to schemas; the names are no keywords.
const MAPS: [&str; 5] =
    ["properties", "patternProperties", "dependentSchemas", "$defs", "definitions"];

/// What is wrong with a schema.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Problem {
    /// Neither an object nor a boolean.
    NotASchema,
    /// Leads to another document.
    External(String),
}

/// Checks that all references of a schema lead to places within it.
pub(super) fn check(schema: &Value) -> Result<(), Problem> {
    if !matches!(schema, Value::Object(_) | Value::Bool(_)) {
        return Err(Problem::NotASchema);
    }
    let mut ids = Vec::new();
    let mut references = Vec::new();
    collect(schema, &mut ids, &mut references);
    match references.into_iter().find(|reference| !is_local(reference, &ids)) {
        None => Ok(()),
        Some(reference) => Err(Problem::External(reference.to_owned())),
    }
}

fn is_local(reference: &str, ids: &[&str]) -> bool {
    let document = reference.split('#').next().unwrap_or_default();
    document.is_empty() || ids.iter().any(|id| id.trim_end_matches('#') == document)
}

/// The depth is bounded by that of the JSON reader.
fn collect<'a>(schema: &'a Value, ids: &mut Vec<&'a str>, references: &mut Vec<&'a str>) {
    match schema {
        Value::Array(schemas) => {
            schemas.iter().for_each(|schema| collect(schema, ids, references));
        }
        Value::Object(keywords) => {
            for (keyword, value) in keywords {
                collect_keyword(keyword, value, ids, references);
            }
        }
        _ => {}
    }
}

fn collect_keyword<'a>(
    keyword: &str,
    value: &'a Value,
    ids: &mut Vec<&'a str>,
    references: &mut Vec<&'a str>,
) {
    match (keyword, value) {
        ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(reference)) => {
            references.push(reference);
        }
        ("$id", Value::String(id)) => ids.push(id),
        (keyword, Value::Object(schemas)) if MAPS.contains(&keyword) => {
            schemas.values().for_each(|schema| collect(schema, ids, references));
        }
        (keyword, _) if DATA.contains(&keyword) => {}
        (_, value) => collect(value, ids, references),
    }
}
