//! JSON-RPC: what a body is, before anybody asks what it means. Pure.

use super::error::Error;
use serde_json::{Map, Value};

/// One message of a client.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Message {
    Request(Request),
    Notification {
        method: String,
        params: Map<String, Value>,
    },
    /// The answer to a request of ours.
    Response {
        id: Value,
        answer: Answer,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Request {
    /// A text or a whole number.
    pub id: Value,
    pub method: String,
    /// Empty where there are none.
    pub params: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Answer {
    Result(Value),
    Error,
}

/// What is wrong with a message, and the id that it has nevertheless.
#[derive(Debug, PartialEq)]
pub(super) struct Malformed {
    pub error: Error,
    pub id: Option<Value>,
}

/// All that a body can hold.
#[derive(Debug, PartialEq)]
pub(super) enum Body {
    One(Value),
    Batch(Vec<Value>),
}

pub(super) fn parse(bytes: &[u8]) -> Result<Body, Error> {
    match serde_json::from_slice(bytes) {
        Ok(Value::Array(messages)) => Ok(Body::Batch(messages)),
        Ok(message) => Ok(Body::One(message)),
        Err(error) => Err(Error::Parse(error.to_string())),
    }
}

impl Message {
    pub fn read(message: Value) -> Result<Message, Box<Malformed>> {
        let Value::Object(mut fields) = message else {
            return Err(malformed("a message is a JSON object", None));
        };
        let given = fields.remove("id");
        let id = given.clone().filter(is_id);
        if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return Err(malformed("`jsonrpc` is not \"2.0\"", id));
        }
        if given.is_some() && id.is_none() {
            return Err(malformed("`id` is neither a text nor a whole number", None));
        }
        match fields.remove("method") {
            Some(Value::String(method)) => with_method(method, id, fields.remove("params")),
            Some(_) => Err(malformed("`method` is not a text", id)),
            None => response(id, fields),
        }
    }
}

fn with_method(
    method: String,
    id: Option<Value>,
    params: Option<Value>,
) -> Result<Message, Box<Malformed>> {
    let params = match params {
        None => Map::new(),
        Some(Value::Object(params)) => params,
        Some(_) => return Err(malformed("`params` is not an object", id)),
    };
    Ok(match id {
        Some(id) => Message::Request(Request { id, method, params }),
        None => Message::Notification { method, params },
    })
}

fn response(id: Option<Value>, mut fields: Map<String, Value>) -> Result<Message, Box<Malformed>> {
    let answer = match (fields.remove("result"), fields.remove("error")) {
        (Some(result), None) => Answer::Result(result),
        (None, Some(_)) => Answer::Error,
        _ => return Err(malformed("`method` is missing", id)),
    };
    match id {
        Some(id) => Ok(Message::Response { id, answer }),
        None => Err(malformed("a response needs an `id`", None)),
    }
}

fn malformed(reason: &str, id: Option<Value>) -> Box<Malformed> {
    Box::new(Malformed { error: Error::Request(reason.to_owned()), id })
}

fn is_id(id: &Value) -> bool {
    id.is_string() || id.is_i64() || id.is_u64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(texts: &[&str], expected: Expect) {
        let line = |text: &&str| match parse(text.as_bytes()) {
            Err(error) => format!("{text}: {}\n", error.code()),
            Ok(Body::Batch(messages)) => format!("{text}: {} messages\n", messages.len()),
            Ok(Body::One(message)) => match Message::read(message) {
                Ok(Message::Request(Request { id, method, params })) => {
                    format!("{text}: request {id} {method} {params:?}\n")
                }
                Ok(message) => format!("{text}: {message:?}\n"),
                Err(malformed) => {
                    let Malformed { error, id } = *malformed;
                    format!("{text}: {} {error} (id {id:?})\n", error.code())
                }
            },
        };
        expected.assert_eq(&texts.iter().map(line).collect::<String>());
    }

    #[test]
    fn messages() {
        check(
            &[
                r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
                r#"{"jsonrpc":"2.0","id":"a","method":"ping","params":{}}"#,
                r#"{"jsonrpc":"2.0","method":"notifications/x"}"#,
                r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
                r#"{"jsonrpc":"2.0","id":1,"error":{}}"#,
                r#"[{},{}]"#,
                "{",
                "7",
                r#"{"id":1,"method":"ping"}"#,
                r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
                r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
                r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
                r#"{"jsonrpc":"2.0","id":1,"method":7}"#,
                r#"{"jsonrpc":"2.0","id":1}"#,
                r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#,
            ],
            expect![[r#"
                {"jsonrpc":"2.0","id":1,"method":"ping"}: request 1 ping {}
                {"jsonrpc":"2.0","id":"a","method":"ping","params":{}}: request "a" ping {}
                {"jsonrpc":"2.0","method":"notifications/x"}: Notification { method: "notifications/x", params: {} }
                {"jsonrpc":"2.0","id":1,"result":{}}: Response { id: Number(1), answer: Result(Object {}) }
                {"jsonrpc":"2.0","id":1,"error":{}}: Response { id: Number(1), answer: Error }
                [{},{}]: 2 messages
                {: -32700
                7: -32600 a message is a JSON object (id None)
                {"id":1,"method":"ping"}: -32600 `jsonrpc` is not "2.0" (id Some(Number(1)))
                {"jsonrpc":"1.0","id":1,"method":"ping"}: -32600 `jsonrpc` is not "2.0" (id Some(Number(1)))
                {"jsonrpc":"2.0","id":null,"method":"ping"}: -32600 `id` is neither a text nor a whole number (id None)
                {"jsonrpc":"2.0","id":1.5,"method":"ping"}: -32600 `id` is neither a text nor a whole number (id None)
                {"jsonrpc":"2.0","id":1,"method":7}: -32600 `method` is not a text (id Some(Number(1)))
                {"jsonrpc":"2.0","id":1}: -32600 `method` is missing (id Some(Number(1)))
                {"jsonrpc":"2.0","id":1,"method":"ping","params":[]}: -32600 `params` is not an object (id Some(Number(1)))
            "#]],
        );
    }
}
