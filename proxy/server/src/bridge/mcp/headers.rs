//! Headers that repeat what the body says, so that whoever stands between need not read it. They
//! have to say the same. Pure.

use super::error::Error;
use base64::{Engine, engine::general_purpose::STANDARD};
use http::{HeaderMap, HeaderName, header};
use serde_json::{Map, Value};
use std::borrow::Cow;

pub(super) const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// Of the annotation in a schema, which names a header for an argument.
const ANNOTATION: &str = "x-mcp-header";

/// One value of a header, without the spaces around it; an error where there are two that differ.
pub(super) fn single<'h>(
    headers: &'h HeaderMap,
    name: &HeaderName,
) -> Result<Option<&'h str>, Error> {
    let mut found = None;
    for value in headers.get_all(name) {
        let text = value.to_str().map_err(|_| not_text(name))?.trim();
        match found {
            Some(other) if other != text => {
                return Err(Error::Header(format!("header `{name}` has two values that differ")));
            }
            _ => found = Some(text),
        }
    }
    Ok(found)
}

fn not_text(name: &HeaderName) -> Error {
    Error::Header(format!("header `{name}` has characters other than visible ASCII"))
}

/// What the client says it takes.
pub(super) fn accepts(headers: &HeaderMap) -> Result<(), Error> {
    if !headers.contains_key(header::ACCEPT) {
        return Ok(());
    }
    let stated = || headers.get_all(header::ACCEPT).iter().filter_map(|it| it.to_str().ok());
    let takes = |wanted: &[&str]| {
        let is_wanted = |range: &str| wanted.iter().any(|it| it.eq_ignore_ascii_case(range));
        stated().flat_map(|value| value.split(',')).any(|range| is_wanted(essence(range)))
    };
    let json = takes(&["application/json", "application/*", "*/*"]);
    match json && takes(&["text/event-stream", "text/*", "*/*"]) {
        true => Ok(()),
        false => {
            Err(Error::NotAcceptable("`accept` must list application/json and text/event-stream"))
        }
    }
}

pub(super) fn content_type(headers: &HeaderMap) -> Result<(), Error> {
    let stated = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    match stated.map(essence) {
        Some(ty) if ty.eq_ignore_ascii_case("application/json") => Ok(()),
        _ => Err(Error::MediaType("`content-type` must be application/json")),
    }
}

/// A media type without its parameters.
fn essence(text: &str) -> &str {
    text.split(';').next().unwrap_or_default().trim()
}

/// The version in the header has to be the one in the body.
pub(super) fn same_version(headers: &HeaderMap, stated: &str) -> Result<(), Error> {
    same(headers, &VERSION, stated, true)
}

/// Method and name have to be those of the body.
pub(super) fn same_call(
    headers: &HeaderMap,
    method: &str,
    params: &Map<String, Value>,
) -> Result<(), Error> {
    same(headers, &METHOD, method, true)?;
    let text = |name: &str| params.get(name).and_then(Value::as_str);
    match method {
        "tools/call" => match text("name") {
            Some(name) => same(headers, &NAME, name, true),
            None => Ok(()),
        },
        "prompts/get" => text("name").map_or(Ok(()), |name| same(headers, &NAME, name, true)),
        "resources/read" => text("uri").map_or(Ok(()), |uri| same(headers, &NAME, uri, true)),
        // Clients are told to send it here, but not all of them do.
        "tasks/get" | "tasks/update" | "tasks/cancel" => match text("taskId") {
            Some(task) => same(headers, &NAME, task, false),
            None => Ok(()),
        },
        _ => Ok(()),
    }
}

fn same(
    headers: &HeaderMap,
    name: &HeaderName,
    expected: &str,
    required: bool,
) -> Result<(), Error> {
    match single(headers, name)? {
        None if required => Err(Error::Header(format!("header `{name}` is missing"))),
        None => Ok(()),
        Some(value) => match decoded(name, value)? == expected {
            true => Ok(()),
            false => Err(Error::Header(format!("header `{name}` does not say what the body says"))),
        },
    }
}

/// A value as it is meant: `=?base64?…?=` is unwrapped.
fn decoded<'v>(name: &HeaderName, value: &'v str) -> Result<Cow<'v, str>, Error> {
    let Some(wrapped) = value.strip_prefix("=?base64?").and_then(|it| it.strip_suffix("?=")) else {
        return Ok(value.into());
    };
    let wrong = || Error::Header(format!("header `{name}` is no base64 of UTF-8"));
    let text = String::from_utf8(STANDARD.decode(wrapped).map_err(|_| wrong())?);
    text.map(Cow::from).map_err(|_| wrong())
}

/// Arguments that the schema of a tool gives a header must be in that header.
pub(super) fn same_arguments(
    headers: &HeaderMap,
    schema: &Value,
    arguments: Option<&Map<String, Value>>,
) -> Result<(), Error> {
    let given = arguments.cloned().map_or(Value::Null, Value::Object);
    annotated(schema, &given, 0, &mut |token, argument| {
        let name = HeaderName::try_from(format!("mcp-param-{token}"))
            .map_err(|_| Error::Internal(format!("`{token}` is no name of a header")))?;
        let expected = match argument {
            Value::String(text) => text.clone(),
            Value::Bool(_) | Value::Number(_) => argument.to_string(),
            // Absent: no header is expected, and what one says means nothing.
            _ => return Ok(()),
        };
        same(headers, &name, &expected, true)
    })
}

/// How deep objects are looked into for annotations.
const DEPTH_MAX: usize = 16;

fn annotated(
    schema: &Value,
    given: &Value,
    depth: usize,
    each: &mut impl FnMut(&str, &Value) -> Result<(), Error>,
) -> Result<(), Error> {
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, schema) in properties.into_iter().flatten() {
        let argument = given.get(name).unwrap_or(&Value::Null);
        if let Some(token) = schema.get(ANNOTATION).and_then(Value::as_str) {
            each(token, argument)?;
        }
        if depth < DEPTH_MAX {
            annotated(schema, argument, depth + 1, each)?;
        }
    }
    Ok(())
}

/// What makes a repeated call the same call.
pub(super) fn idempotency_key(headers: &HeaderMap) -> Result<Option<&str>, Error> {
    single(headers, &IDEMPOTENCY_KEY).map(|key| key.filter(|key| !key.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;
    use serde_json::json;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, HeaderValue::from_static(value));
        }
        headers
    }

    #[test]
    fn what_is_said_twice_is_said_alike() {
        let params = json!({ "name": "größe" });
        let check = |pairs: &[(&'static str, &'static str)]| {
            same_call(&headers(pairs), "tools/call", params.as_object().unwrap())
                .map_err(|error| error.to_string())
        };
        let (method, name) =
            (("mcp-method", "tools/call"), ("mcp-name", "=?base64?Z3LDtsOfZQ==?="));
        assert_eq!(check(&[method, name]), Ok(()));
        assert_eq!(check(&[("mcp-method", " tools/call "), name]), Ok(()));
        assert_eq!(check(&[method, name, name]), Ok(()), "twice the same");
        for wrong in [
            &[method][..],
            &[name],
            &[("mcp-method", "Tools/call"), name],
            &[method, ("mcp-name", "x")],
            &[method, ("mcp-name", "=?base64?Z3LDtsOfZQ?=")],
            &[method, ("mcp-name", "=?base64?*?=")],
            &[method, ("mcp-name", "=?BASE64?Z3LDtsOfZQ==?=")],
            &[method, name, ("mcp-name", "x")],
        ] {
            assert!(check(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn the_name_of_a_task_may_be_left_out_but_not_be_wrong() {
        let params = json!({ "taskId": "t" });
        let check = |pairs: &[(&'static str, &'static str)]| {
            same_call(&headers(pairs), "tasks/get", params.as_object().unwrap()).is_ok()
        };
        assert!(check(&[("mcp-method", "tasks/get")]));
        assert!(check(&[("mcp-method", "tasks/get"), ("mcp-name", "t")]));
        assert!(!check(&[("mcp-method", "tasks/get"), ("mcp-name", "u")]));
    }

    #[test]
    fn annotated_arguments_are_in_their_headers() {
        let schema = json!({ "properties": {
            "region": { "type": "string", "x-mcp-header": "Region" },
            "inner": { "properties": { "n": { "type": "integer", "x-mcp-header": "N" } } },
        } });
        let check = |arguments: Value, pairs: &[(&'static str, &'static str)]| {
            same_arguments(&headers(pairs), &schema, arguments.as_object()).is_ok()
        };
        let region = ("mcp-param-region", "eu");
        assert!(check(json!({ "region": "eu" }), &[region]));
        assert!(!check(json!({ "region": "us" }), &[region]));
        assert!(!check(json!({ "region": "eu" }), &[]));
        assert!(check(json!({ "region": null }), &[]));
        assert!(check(json!({}), &[region]), "nothing to compare with");
        assert!(!check(json!({ "inner": { "n": 7 } }), &[]));
        assert!(check(json!({ "inner": { "n": 7 } }), &[("mcp-param-n", "7")]));
    }

    #[test]
    fn what_clients_take() {
        let check = |accept: &'static str| accepts(&headers(&[("accept", accept)])).is_ok();
        assert!(check("application/json, text/event-stream"));
        assert!(check("text/event-stream;q=0.5,Application/JSON"));
        assert!(check("*/*"));
        assert!(!check("application/json"));
        assert!(!check("text/html"));
        assert!(accepts(&HeaderMap::new()).is_ok());
        assert!(
            content_type(&headers(&[("content-type", "application/json; charset=utf-8")])).is_ok()
        );
        assert!(content_type(&headers(&[("content-type", "text/plain")])).is_err());
        assert!(content_type(&HeaderMap::new()).is_err());
    }
}
