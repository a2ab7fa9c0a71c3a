//! JSON schemas applied to values: whether what somebody sends is what a handler or a question
//! takes. Pure, bounded whatever the schema says, and never fetches anything. A keyword that is not
//! known here asks for nothing, as the standard says; formats that are known are checked.

mod format;
mod number;
#[cfg(test)]
mod tests;

use regex_automata::meta::{self, Regex};
use serde_json::{Map, Value};
use std::{
    collections::HashMap,
    fmt::{self, Write},
};

/// How deep schemas are followed into each other.
const DEPTH_MAX: usize = 96;
/// Steps of work for one value: schemas, fields and patterns that are looked at. More make the value
/// be taken for good, since whoever receives it looks again.
const STEPS_MAX: usize = 200_000;
/// Memory of one compiled pattern, in bytes.
const PATTERN_BYTES_MAX: usize = 1 << 20;
/// Steps that it takes to compile a pattern.
const COMPILE_STEPS: usize = 200;
/// So much text that is matched with a pattern is one more step, in bytes.
const TEXT_STEP_BYTES: usize = 256;
/// How much of a value is repeated in a sentence.
const SHOWN_CHARS: usize = 60;

/// The first thing that is wrong with a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Where, as a JSON pointer; empty at the root.
    pub at: String,
    /// What is wrong, in words that follow the place: `is missing`.
    pub reason: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at.as_str() {
            "" => write!(f, "the value {}", self.reason),
            at => write!(f, "`{at}` {}", self.reason),
        }
    }
}

/// Whether `value` is what `schema` asks for.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn check(schema: &Value, value: &Value) -> Result<(), Violation> {
    let mut check = Check::new(schema);
    let checked = check.value(schema, value);
    // What is not looked at to the end may say `not`.
    if check.is_spent() { Ok(()) } else { checked }
}

/// One value on its way through a schema.
struct Check<'s> {
    root: &'s Value,
    at: String,
    depth: usize,
    steps: usize,
    /// Each pattern that came up, compiled once; `None`: of another dialect.
    patterns: HashMap<&'s str, Option<Regex>>,
}

type Checked = Result<(), Violation>;

impl<'s> Check<'s> {
    fn new(root: &'s Value) -> Self {
        Check { root, at: String::new(), depth: 0, steps: 0, patterns: HashMap::new() }
    }

    fn is_spent(&self) -> bool {
        self.steps >= STEPS_MAX
    }

    fn value(&mut self, schema: &'s Value, value: &Value) -> Checked {
        self.steps += 1;
        if self.depth >= DEPTH_MAX || self.is_spent() {
            return Ok(());
        }
        self.depth += 1;
        let checked = match schema {
            Value::Bool(false) => self.wrong("is not allowed"),
            Value::Object(keywords) => self.keywords(keywords, value),
            _ => Ok(()),
        };
        self.depth -= 1;
        checked
    }

    fn keywords(&mut self, keywords: &'s Map<String, Value>, value: &Value) -> Checked {
        for name in ["$ref", "$dynamicRef"] {
            if let Some(Value::String(reference)) = keywords.get(name)
                && let Some(schema) = self.referred(reference)
            {
                self.value(schema, value)?;
            }
        }
        self.kind(keywords, value)?;
        match value {
            Value::String(text) => self.text(keywords, text)?,
            Value::Number(number) => {
                number::check(keywords, number).or_else(|reason| self.wrong(reason))?;
            }
            Value::Array(items) => self.array(keywords, items)?,
            Value::Object(fields) => self.object(keywords, fields)?,
            Value::Null | Value::Bool(_) => {}
        }
        self.combined(keywords, value)
    }

    fn referred(&self, reference: &str) -> Option<&'s Value> {
        let pointer = reference.strip_prefix('#')?;
        match pointer.is_empty() || pointer.starts_with('/') {
            true => self.root.pointer(pointer),
            false => anchor(self.root, pointer, DEPTH_MAX),
        }
    }

    fn kind(&mut self, keywords: &Map<String, Value>, value: &Value) -> Checked {
        if let Some(kinds) = keywords.get("type") {
            let fits = |kind: &Value| kind.as_str().is_none_or(|kind| is_of(kind, value));
            let fit = match kinds {
                Value::Array(kinds) => kinds.iter().any(fits),
                kind => fits(kind),
            };
            if !fit {
                let expected = match kinds {
                    Value::Array(kinds) => {
                        kinds.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or ")
                    }
                    kind => kind.as_str().unwrap_or_default().to_owned(),
                };
                return self.wrong(format!("is {}, not of type {expected}", shown(value)));
            }
        }
        if let Some(constant) = keywords.get("const")
            && !same(constant, value)
        {
            return self.wrong(format!("is {}, not {}", shown(value), shown(constant)));
        }
        if let Some(Value::Array(among)) = keywords.get("enum")
            && !among.iter().any(|it| same(it, value))
        {
            let named: Vec<_> = among.iter().take(20).map(shown).collect();
            return self.wrong(format!("is {}, not one of {}", shown(value), named.join(", ")));
        }
        Ok(())
    }

    fn text(&mut self, keywords: &'s Map<String, Value>, text: &str) -> Checked {
        let length = text.chars().count() as u64;
        let bound = |name: &str| keywords.get(name).and_then(Value::as_u64);
        if bound("minLength").is_some_and(|min| length < min) {
            return self.wrong(format!("has fewer than {} characters", keywords["minLength"]));
        }
        if bound("maxLength").is_some_and(|max| length > max) {
            return self.wrong(format!("has more than {} characters", keywords["maxLength"]));
        }
        if let Some(Value::String(pattern)) = keywords.get("pattern")
            && !self.fits_pattern(pattern, text)
        {
            return self.wrong(format!("does not match `{pattern}`"));
        }
        match keywords.get("format").and_then(Value::as_str) {
            Some(name) if !format::is(name, text) => self.wrong(format!("is no {name}")),
            _ => Ok(()),
        }
    }

    /// A pattern that cannot be read fits everything.
    fn fits_pattern(&mut self, pattern: &'s str, text: &str) -> bool {
        self.steps += 1 + text.len() / TEXT_STEP_BYTES;
        if self.is_spent() {
            return true;
        }
        let steps = &mut self.steps;
        let compiled = self.patterns.entry(pattern).or_insert_with(|| {
            *steps += COMPILE_STEPS;
            compile(pattern)
        });
        compiled.as_ref().is_none_or(|pattern| pattern.is_match(text))
    }

    fn array(&mut self, keywords: &'s Map<String, Value>, items: &[Value]) -> Checked {
        let bound = |name: &str| keywords.get(name).and_then(Value::as_u64);
        let length = items.len() as u64;
        if bound("minItems").is_some_and(|min| length < min) {
            return self.wrong(format!("has fewer than {} items", keywords["minItems"]));
        }
        if bound("maxItems").is_some_and(|max| length > max) {
            return self.wrong(format!("has more than {} items", keywords["maxItems"]));
        }
        if keywords.get("uniqueItems") == Some(&Value::Bool(true)) && has_twins(items) {
            return self.wrong("has the same item twice");
        }
        let places = match (keywords.get("prefixItems"), keywords.get("items")) {
            (Some(Value::Array(places)), _) | (None, Some(Value::Array(places))) => {
                places.as_slice()
            }
            _ => &[],
        };
        for (index, (schema, item)) in places.iter().zip(items).enumerate() {
            self.below(index, |check| check.value(schema, item))?;
        }
        let rest = match keywords.get("items") {
            Some(Value::Array(_)) => keywords.get("additionalItems"),
            rest => rest,
        };
        if let Some(schema) = rest {
            for (index, item) in items.iter().enumerate().skip(places.len()) {
                self.below(index, |check| check.value(schema, item))?;
            }
        }
        if let Some(schema) = keywords.get("contains")
            && keywords.get("minContains").and_then(Value::as_u64) != Some(0)
            && !items.iter().any(|item| self.passes(schema, item))
        {
            return self.wrong("has no item of the kind that it must contain");
        }
        Ok(())
    }

    fn object(&mut self, keywords: &'s Map<String, Value>, fields: &Map<String, Value>) -> Checked {
        if let Some(Value::Array(required)) = keywords.get("required") {
            let missing = |name: &&str| !fields.contains_key(*name);
            if let Some(name) = required.iter().filter_map(Value::as_str).find(missing) {
                return self.below(name, |check| check.wrong("is missing"));
            }
        }
        let bound = |name: &str| keywords.get(name).and_then(Value::as_u64);
        let count = fields.len() as u64;
        if bound("minProperties").is_some_and(|min| count < min) {
            return self.wrong(format!("has fewer than {} fields", keywords["minProperties"]));
        }
        if bound("maxProperties").is_some_and(|max| count > max) {
            return self.wrong(format!("has more than {} fields", keywords["maxProperties"]));
        }
        for (name, value) in fields {
            self.below(name, |check| check.field(keywords, name, value))?;
        }
        Ok(())
    }

    fn field(&mut self, keywords: &'s Map<String, Value>, name: &str, value: &Value) -> Checked {
        let schemas = |keyword: &str| keywords.get(keyword).and_then(Value::as_object);
        self.steps += 1;
        if self.is_spent() {
            return Ok(());
        }
        let mut known = false;
        if let Some(schema) = schemas("properties").and_then(|named| named.get(name)) {
            known = true;
            self.value(schema, value)?;
        }
        for (pattern, schema) in schemas("patternProperties").into_iter().flatten() {
            if self.fits_pattern(pattern, name) {
                known = true;
                self.value(schema, value)?;
            }
        }
        if let Some(schema) = keywords.get("propertyNames") {
            self.value(schema, &Value::String(name.to_owned()))?;
        }
        match keywords.get("additionalProperties") {
            Some(Value::Bool(false)) if !known => self.wrong("is not known here"),
            Some(schema) if !known => self.value(schema, value),
            _ => Ok(()),
        }
    }

    /// Keywords that put schemas together.
    fn combined(&mut self, keywords: &'s Map<String, Value>, value: &Value) -> Checked {
        let list = |name: &str| keywords.get(name).and_then(Value::as_array);
        for schema in list("allOf").into_iter().flatten() {
            self.value(schema, value)?;
        }
        if let Some(choices) = list("anyOf") {
            self.any_of(choices, value)?;
        }
        if let Some(choices) = list("oneOf") {
            match choices.iter().filter(|schema| self.passes(schema, value)).count() {
                0 => self.any_of(choices, value)?,
                1 => {}
                _ => return self.wrong("fits more than one of the choices, and only one may fit"),
            }
        }
        if let Some(schema) = keywords.get("not")
            && self.passes(schema, value)
        {
            return self.wrong("is of a kind that is not allowed");
        }
        if let Some(condition) = keywords.get("if") {
            let branch = if self.passes(condition, value) { "then" } else { "else" };
            if let Some(schema) = keywords.get(branch) {
                self.value(schema, value)?;
            }
        }
        Ok(())
    }

    /// Where only one choice is left, the sentence is that choice's own.
    fn any_of(&mut self, choices: &'s [Value], value: &Value) -> Checked {
        if choices.iter().any(|schema| self.passes(schema, value)) {
            return Ok(());
        }
        let of_its_kind = |schema: &&Value| {
            let fits = |kind: &Value| kind.as_str().is_none_or(|kind| is_of(kind, value));
            match schema.get("type") {
                Some(Value::Array(kinds)) => kinds.iter().any(fits),
                Some(kind) => fits(kind),
                None => true,
            }
        };
        let mut near = choices.iter().filter(of_its_kind);
        match (near.next(), near.next()) {
            (Some(only), None) => self.value(only, value),
            _ => self.wrong(format!("is {}, which fits none of the choices", shown(value))),
        }
    }

    fn passes(&mut self, schema: &'s Value, value: &Value) -> bool {
        let (at, depth) = (self.at.len(), self.depth);
        let passes = self.value(schema, value).is_ok();
        self.at.truncate(at);
        self.depth = depth;
        passes
    }

    fn below(
        &mut self,
        name: impl fmt::Display,
        check: impl FnOnce(&mut Self) -> Checked,
    ) -> Checked {
        let length = self.at.len();
        write!(self.at, "/{name}").expect("a text can be written to");
        check(self)?;
        self.at.truncate(length);
        Ok(())
    }

    fn wrong(&self, reason: impl Into<String>) -> Checked {
        Err(Violation { at: self.at.clone(), reason: reason.into() })
    }
}

/// The schema with that anchor.
fn anchor<'s>(schema: &'s Value, name: &str, depth: usize) -> Option<&'s Value> {
    let depth = depth.checked_sub(1)?;
    match schema {
        Value::Object(keywords) => {
            let is_named = |keyword: &str| {
                keywords.get(keyword).and_then(Value::as_str).is_some_and(|it| it == name)
            };
            if is_named("$anchor") || is_named("$dynamicAnchor") {
                return Some(schema);
            }
            keywords.values().find_map(|inner| anchor(inner, name, depth))
        }
        Value::Array(schemas) => schemas.iter().find_map(|inner| anchor(inner, name, depth)),
        _ => None,
    }
}

fn is_of(kind: &str, value: &Value) -> bool {
    match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        "integer" => value.as_number().is_some_and(number::is_whole),
        _ => true,
    }
}

/// `1` and `1.0` are the same value.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => number::same(one, other),
        _ => one == other,
    }
}

fn has_twins(items: &[Value]) -> bool {
    let mut texts: Vec<String> = items.iter().map(Value::to_string).collect();
    texts.sort_unstable();
    texts.windows(2).any(|pair| pair[0] == pair[1])
}

/// `None`: a pattern of another dialect, which cannot be read here.
fn compile(pattern: &str) -> Option<Regex> {
    let config = meta::Config::new()
        .nfa_size_limit(Some(PATTERN_BYTES_MAX))
        .hybrid_cache_capacity(PATTERN_BYTES_MAX)
        .onepass(false)
        .dfa(false);
    Regex::builder().configure(config).build(pattern).ok()
}

/// A value in a sentence.
fn shown(value: &Value) -> String {
    let kind = match value {
        Value::Array(_) => return "an array".to_owned(),
        Value::Object(_) => return "an object".to_owned(),
        value => value.to_string(),
    };
    match kind.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &kind[..end]),
        None => kind,
    }
}
