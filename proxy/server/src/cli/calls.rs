//! `holdfast call`, `send`, `attach`, `output` and `awakeables …`: a caller of the ingress. What
//! a handler answers goes to stdout as it is.

use super::{
    Failure,
    api::{Answer, Ask, Ingress},
    args::{Awakeables, Payload},
    ask,
};
use holdfast_wire::percent::escaped;
use hyper::{Method, StatusCode};
use serde_json::Value;
use std::{io::Write, process::ExitCode};

/// The answer where there is none yet; a number of its own, as existing clients expect it.
const NOT_COMPLETED: u16 = 470;

pub fn call(ingress: &Ingress, payload: &Payload) -> Result<ExitCode, Failure> {
    print_outcome(&ingress.ask(ask_for("call", payload, None)?)?)
}

pub fn send(
    ingress: &Ingress,
    payload: &Payload,
    delay: Option<&str>,
    json: bool,
) -> Result<ExitCode, Failure> {
    let answer = ingress.ask(ask_for("send", payload, delay)?)?.success()?;
    let accepted: Value = answer.read()?;
    if json {
        return super::print_json(&accepted);
    }
    println!("{}", accepted["invocationId"].as_str().unwrap_or_default());
    if accepted["status"] == "PreviouslyAccepted" {
        eprintln!("it was sent before: this is the invocation of then");
    }
    Ok(ExitCode::SUCCESS)
}

/// Waits as long as it takes.
pub fn attach(ingress: &Ingress, id: &str) -> Result<ExitCode, Failure> {
    let ask = Ask::new(Method::GET, format!("/restate/attach/{}", escaped(id)));
    print_outcome(&ingress.ask(ask)?)
}

pub fn output(ingress: &Ingress, id: &str) -> Result<ExitCode, Failure> {
    let ask = Ask::new(Method::GET, format!("/restate/output/{}", escaped(id)));
    let answer = ingress.ask(ask)?;
    if answer.status.as_u16() == NOT_COMPLETED {
        return Err(format!("{id} is not completed yet; wait for it with `attach`").into());
    }
    print_outcome(&answer)
}

pub fn awakeables(ingress: &Ingress, command: Awakeables) -> Result<ExitCode, Failure> {
    let (id, verb, ask) = match &command {
        Awakeables::Resolve { id, data } => {
            let path = format!("/restate/awakeables/{}/resolve", escaped(id));
            let ask = Ask::new(Method::POST, path);
            (id, "resolved", with_data(ask, data.as_deref(), "application/json")?)
        }
        Awakeables::Reject { id, reason } => {
            let path = format!("/restate/awakeables/{}/reject", escaped(id));
            let ask = Ask::new(Method::POST, path).header("content-type", "text/plain");
            (id, "rejected", ask.body(reason.clone().into()))
        }
    };
    ingress.ask(ask)?.success()?;
    println!("{id} {verb}");
    Ok(ExitCode::SUCCESS)
}

fn ask_for(verb: &str, payload: &Payload, delay: Option<&str>) -> Result<Ask, Failure> {
    let target = target(&payload.target, payload.key.as_deref())?;
    let delay = delay.map(|delay| format!("?delay={}", escaped(delay))).unwrap_or_default();
    let mut ask = Ask::new(Method::POST, format!("/restate/{verb}/{target}{delay}"));
    for header in &payload.headers {
        let (name, value) = ask::header(header)?;
        ask = ask.header(&name, &value);
    }
    if let Some(key) = &payload.idempotency_key {
        ask = ask.header("idempotency-key", key);
    }
    with_data(ask, payload.data.as_deref(), &payload.content_type)
}

/// What is typed for a target as a path: the first part is the service, the last the handler, and
/// all that is between them the key.
fn target(text: &str, key: Option<&str>) -> Result<String, Failure> {
    let shape =
        || format!("`{text}` is not a target; write Service/handler, or Object/key/handler");
    let (service, rest) = text.split_once('/').ok_or_else(shape)?;
    let (typed_key, handler) = match rest.rsplit_once('/') {
        Some((key, handler)) => (Some(key), handler),
        None => (None, rest),
    };
    if service.is_empty() || handler.is_empty() || (typed_key.is_some() && key.is_some()) {
        return Err(shape().into());
    }
    Ok(match key.or(typed_key) {
        Some(key) => format!("{}/{}/{}", escaped(service), escaped(key), escaped(handler)),
        None => format!("{}/{}", escaped(service), escaped(handler)),
    })
}

fn with_data(ask: Ask, data: Option<&str>, content_type: &str) -> Result<Ask, Failure> {
    let Some(data) = data else {
        return Ok(ask);
    };
    let bytes = ask::data(data)?;
    let is_json = content_type == "application/json";
    if is_json && let Err(error) = serde_json::from_slice::<serde::de::IgnoredAny>(&bytes) {
        return Err(format!(
            "the data is not JSON: {error}; a text has quotes of its own: -d '\"Ada\"'; say with \
             --content-type what else it is"
        )
        .into());
    }
    Ok(ask.header("content-type", content_type).body(bytes.into()))
}

/// Prints the answer of a handler, or says how it failed.
fn print_outcome(answer: &Answer) -> Result<ExitCode, Failure> {
    if !answer.status.is_success() {
        let of_the_handler = answer.header("x-restate-error-source") == Some("invocation");
        let who = if of_the_handler { "the handler failed: " } else { "" };
        let id = answer.header("x-restate-id").map(|id| format!(", {id}")).unwrap_or_default();
        eprintln!("error: {who}{} ({}{id})", answer.message(), code(answer.status));
        return Ok(ExitCode::FAILURE);
    }
    let mut out = std::io::stdout().lock();
    out.write_all(&answer.body)?;
    let is_text = std::str::from_utf8(&answer.body).is_ok();
    if is_text && !answer.body.is_empty() && !answer.body.ends_with(b"\n") {
        out.write_all(b"\n")?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Handlers choose numbers that have no name, too.
fn code(status: StatusCode) -> String {
    status.as_u16().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn targets_become_paths() {
        let typed = [
            ("Greeter/greet", None),
            ("Counter/my key/add", None),
            ("Counter/a/b/add", None),
            ("Counter/add", Some("a/b")),
            ("Counter//add", None),
            ("Counter", None),
            ("Counter/k/add", Some("k")),
            ("/greet", None),
        ];
        let paths = typed.map(|(text, key)| match target(text, key) {
            Ok(path) => format!("{path}\n"),
            Err(error) => format!("{error}\n"),
        });
        expect![[r#"
            Greeter/greet
            Counter/my%20key/add
            Counter/a%2Fb/add
            Counter/a%2Fb/add
            Counter//add
            `Counter` is not a target; write Service/handler, or Object/key/handler
            `Counter/k/add` is not a target; write Service/handler, or Object/key/handler
            `/greet` is not a target; write Service/handler, or Object/key/handler
        "#]]
        .assert_eq(&paths.concat());
    }
}
