//! The JSON-RPC binding: one call in a POST, its answer or a stream of answers. Statuses other than
//! 200 are only for who may not call at all.

use super::answer::{self, JSON};
use super::core::{Agent, Caller, Core, Event};
use super::error::Error;
use super::json::write;
use super::legacy;
use super::model::Cursor;
use super::operation::{Operation, Outcome};
use super::sse;
use super::version::{Asked, Served, Wire};
use crate::http::Body;
use bytes::Bytes;
use http::{Response, StatusCode};
use serde_json::{Map, Value, json};

/// How calls are answered.
pub struct Binding<'a> {
    pub core: &'a Core,
    pub served: Served,
    pub pace: sse::Pace,
}

/// A call as it came in.
#[derive(Debug, PartialEq)]
struct Call {
    id: Value,
    method: String,
    params: Option<Value>,
}

/// What cannot even be told to be a call, and the id to answer to.
type NoCall = Box<(Value, Error)>;

impl Call {
    fn read(body: &[u8]) -> Result<Call, NoCall> {
        let value: Value = serde_json::from_slice(body)
            .map_err(|error| Box::new((Value::Null, Error::Parse(error.to_string()))))?;
        let Value::Object(mut call) = value else {
            let found = if value.is_array() { "a batch is" } else { "this is" };
            let told = format!("{found} no call of JSON-RPC; send one object");
            return Err(Box::new((Value::Null, Error::InvalidRequest(told))));
        };
        let id = id(&mut call)?;
        let wrong = |what: &str| Box::new((id.clone(), Error::InvalidRequest(what.into())));
        if call.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return Err(wrong("`jsonrpc` must be \"2.0\""));
        }
        let Some(Value::String(method)) = call.remove("method") else {
            return Err(wrong("`method` must be a string"));
        };
        Ok(Call { method, params: call.remove("params"), id })
    }
}

/// Strings, whole numbers and null are told back as they came.
fn id(call: &mut Map<String, Value>) -> Result<Value, NoCall> {
    match call.remove("id") {
        None => Ok(Value::Null),
        Some(id @ (Value::Null | Value::String(_))) => Ok(id),
        Some(Value::Number(id)) if id.is_i64() || id.is_u64() => Ok(Value::Number(id)),
        Some(_) => {
            let told = "`id` must be a string, a whole number or null";
            Err(Box::new((Value::Null, Error::InvalidRequest(told.into()))))
        }
    }
}

impl Binding<'_> {
    /// Answers one call of a caller that was let in.
    pub async fn answer(
        &self,
        agent: &Agent,
        mut caller: Caller,
        asked: &Asked,
        body: &Bytes,
        after: Option<Cursor>,
    ) -> Response<Body> {
        let call = match Call::read(body) {
            Ok(call) => call,
            Err(refusal) => return refused(&refusal.0, &refusal.1, Wire::V1),
        };
        let answered = match self.wire(&call, asked) {
            Ok(wire) => {
                caller.wire = wire;
                self.call(agent, &caller, &call, after).await
            }
            Err(error) => Err(error),
        };
        let wire = caller.wire;
        match answered {
            Ok(Outcome::Events(events)) => {
                sse::response(*events, InStream { id: call.id, wire }, self.pace.clone())
            }
            Ok(outcome) => {
                let result = result(&outcome, wire);
                let value = json!({ "jsonrpc": "2.0", "id": call.id, "result": result });
                answer::json(StatusCode::OK, JSON, &value)
            }
            Err(error) => refused(&call.id, &error, wire),
        }
    }

    /// Methods of 0.3 have a slash in their names.
    fn wire(&self, call: &Call, asked: &Asked) -> Result<Wire, Error> {
        if !call.method.contains('/') {
            return self.served.current(asked);
        }
        self.served.old(asked).map(Option::unwrap_or_default)
    }

    async fn call(
        &self,
        agent: &Agent,
        caller: &Caller,
        call: &Call,
        after: Option<Cursor>,
    ) -> Result<Outcome, Error> {
        agent.check_extensions(caller)?;
        let params = call.params.as_ref();
        let mut operation = match caller.wire {
            Wire::V1 => Operation::of_method(&call.method, params)?,
            Wire::V03 => legacy::rpc::operation(&call.method, params)?,
        };
        if let Operation::Subscribe(subscribe) = &mut operation {
            subscribe.after = after;
        }
        self.core.perform(agent, caller, operation).await
    }
}

fn result(outcome: &Outcome, wire: Wire) -> Value {
    match wire {
        Wire::V1 => outcome.to_json(),
        Wire::V03 => legacy::rpc::result(outcome),
    }
}

fn refused(id: &Value, error: &Error, wire: Wire) -> Response<Body> {
    let status = if answer::is_of_http(error) { error.http() } else { StatusCode::OK };
    let value = failure(id, error, wire);
    answer::with_headers(answer::json(status, JSON, &value), error)
}

/// A refusal before the call was looked at.
pub fn refused_unread(error: &Error) -> Response<Body> {
    refused(&Value::Null, error, Wire::V1)
}

fn failure(id: &Value, error: &Error, wire: Wire) -> Value {
    let mut told = answer::rpc_error(error);
    if wire == Wire::V03 {
        told["code"] = legacy::rpc::code(error).into();
    }
    json!({ "jsonrpc": "2.0", "id": id, "error": told })
}

/// What is in a stream: each event a whole answer.
struct InStream {
    id: Value,
    wire: Wire,
}

impl sse::Dress for InStream {
    fn event(&self, event: &Event) -> Value {
        let result = match self.wire {
            Wire::V1 => write::stream_response(&event.payload),
            Wire::V03 => legacy::rpc::event(event),
        };
        json!({ "jsonrpc": "2.0", "id": self.id, "result": result })
    }

    fn error(&self, error: &Error) -> Value {
        failure(&self.id, error, self.wire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> Result<Call, (Value, i32)> {
        Call::read(body.as_bytes()).map_err(|refused| (refused.0, refused.1.rpc_code()))
    }

    #[test]
    fn ids_keep_their_type() {
        for id in ["1", "-7", "18446744073709551615", "\"1\"", "\"\"", "null"] {
            let call = read(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"M"}}"#)).unwrap();
            assert_eq!(call.id.to_string(), id);
        }
        let without = read(r#"{"jsonrpc":"2.0","method":"M","stranger":1}"#).unwrap();
        assert_eq!(without, Call { id: Value::Null, method: "M".into(), params: None });
    }

    #[test]
    fn what_is_no_call() {
        for (body, code) in [
            ("", -32700),
            ("{", -32700),
            ("[]", -32600),
            ("7", -32600),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"M"}]"#, -32600),
            (r#"{"jsonrpc":"2.0","id":true,"method":"M"}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"M"}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":[1],"method":"M"}"#, -32600),
        ] {
            assert_eq!(read(body), Err((Value::Null, code)), "{body}");
        }
        for body in [
            r#"{"id":5,"method":"M"}"#,
            r#"{"jsonrpc":"1.0","id":5,"method":"M"}"#,
            r#"{"jsonrpc":2.0,"id":5,"method":"M"}"#,
            r#"{"jsonrpc":"2.0","id":5}"#,
            r#"{"jsonrpc":"2.0","id":5,"method":7}"#,
        ] {
            assert_eq!(read(body), Err((json!(5), -32600)), "{body}");
        }
    }
}
