//! The agent that the protocol's own test suite talks to: what it does is said by the beginning of
//! a message's id, else by that of its text. Every answer is fixed, so that a test can expect it.
//!
//! `PORT` says where it listens.

use holdfast_sdk::prelude::*;
use holdfast_sdk::{Answer, Artifact, BoxError, Request, Terminal};
use serde_json::{Value, json};
use std::net::Ipv4Addr;
use std::time::Duration;
use tokio::net::TcpListener;

/// Long enough that a client can subscribe again meanwhile.
const RESUBSCRIBE: Duration = Duration::from_secs(4);
const LONG_RUNNING: Duration = Duration::from_secs(5);
/// Until it is cancelled.
const FOR_EVER: Duration = Duration::from_secs(24 * 3600);
const REJECTED: u16 = 422;
const FAILED: u16 = 500;

/// What is done for a message, the longer beginning before the shorter one.
const BEGINNINGS: [(&str, Act); 29] = [
    ("tck-complete-task", Act::Complete),
    ("tck-artifact-text", Act::Text("Generated text content")),
    ("tck-artifact-file-url", Act::FileUrl),
    ("tck-artifact-file", Act::File),
    ("tck-artifact-data", Act::Data),
    ("tck-message-response", Act::Message),
    ("tck-input-required", Act::Input),
    ("tck-reject-task", Act::Reject),
    ("tck-stream-001", Act::Text("Stream hello from TCK")),
    ("tck-stream-002", Act::Nothing),
    ("tck-stream-003", Act::Text("Stream task lifecycle")),
    ("tck-stream-ordering-001", Act::Text("Ordered output")),
    ("tck-stream-artifact-text", Act::Text("Streamed text content")),
    ("tck-stream-artifact-file", Act::File),
    ("tck-stream-artifact-chunked", Act::Chunks),
    ("test-resubscribe-message-id", Act::Sleep(RESUBSCRIBE)),
    ("tck-long-running", Act::Sleep(LONG_RUNNING)),
    ("tck-multi-turn", Act::Input),
    ("tck-cancel", Act::Sleep(FOR_EVER)),
    ("tck-stream-basic", Act::Text("Stream hello from TCK")),
    ("tck-stream-chunked", Act::Chunks),
    ("tck-task-failure", Act::Fail),
    ("tck-auth-required", Act::Auth),
    ("tck-file-url", Act::FileUrl),
    ("tck-file", Act::File),
    ("tck-data", Act::Data),
    ("tck-stream", Act::Text("Stream hello from TCK")),
    ("tck-artifact", Act::Text("Generated text content")),
    ("tck-", Act::Complete),
];

#[derive(Clone, Copy)]
enum Act {
    Complete,
    Nothing,
    Text(&'static str),
    File,
    FileUrl,
    Data,
    Chunks,
    Message,
    Input,
    Auth,
    Reject,
    Fail,
    Sleep(Duration),
}

struct Tck;

/// Behaves as the message says.
#[service(
    name = "tck",
    expose = "a2a",
    inactivity_timeout = "1s",
    metadata("holdfast.input" = "message", "holdfast.answers" = "message")
)]
impl Tck {
    /// Does what the beginning of the message's id names, else that of its text.
    #[handler(title = "Run", metadata("holdfast.tags" = "tck"))]
    async fn run(&self, ctx: &Context, message: Value) -> Result<Value> {
        let mut act = act_of(&message);
        loop {
            match act {
                Act::Input => act = act_of(&ask(ctx, "input", "What else?").await?),
                Act::Auth => act = act_of(&ask(ctx, "auth", "Who are you?").await?),
                _ => return carry_out(ctx, act).await,
            }
        }
    }
}

/// The id counts before the text; a message that says nothing known is done at once.
fn act_of(message: &Value) -> Act {
    let text = message["parts"].as_array().into_iter().flatten();
    let text = text.filter_map(|part| part["text"].as_str());
    let said = message["messageId"].as_str().into_iter().chain(text);
    let known = said.filter_map(|said| BEGINNINGS.iter().find(|(it, _)| said.starts_with(it)));
    known.map(|(_, act)| *act).next().unwrap_or(Act::Complete)
}

/// Asks for a further message, which is given whole.
async fn ask(ctx: &Context, kind: &str, question: &str) -> Result<Value> {
    let asked = json!({ "message": question, "kind": kind, "wants": "message" });
    let answer: Answer<Value> = ctx.call(Request::new("holdfast.Human", "ask", &asked)).await?;
    match answer {
        Answer::Accept { content, .. } => Ok(content),
        Answer::Decline { .. } | Answer::Cancel { .. } => Ok(Value::Null),
    }
}

async fn carry_out(ctx: &Context, act: Act) -> Result<Value> {
    match act {
        Act::Text(text) => give(ctx, json!({ "text": text })),
        Act::File => give(ctx, file(json!({ "raw": "dGNr" }))),
        Act::FileUrl => give(ctx, file(json!({ "url": "https://example.com/output.txt" }))),
        Act::Data => give(ctx, json!({ "data": { "key": "value", "count": 42 } })),
        Act::Chunks => {
            ctx.artifact(Artifact::new("output").text("chunk-1 "));
            ctx.artifact(Artifact::new("output").text("chunk-2").append().last());
        }
        Act::Message => {
            let parts = json!([{ "text": "Direct message response" }]);
            return Ok(json!({ "message": { "parts": parts } }));
        }
        Act::Reject => return Err(Terminal::new("rejected").code(REJECTED).into()),
        Act::Fail => return Err(Terminal::new("failed").code(FAILED).into()),
        Act::Sleep(time) => {
            // Until it has shown something it may answer with a message, so clients wait.
            ctx.progress("at work");
            ctx.sleep(time).await?;
        }
        Act::Complete | Act::Input | Act::Auth => {
            return Ok(json!({ "status": "Hello from TCK" }));
        }
        Act::Nothing => {}
    }
    Ok(Value::Null)
}

/// An artifact with one part.
fn give(ctx: &Context, part: Value) {
    let artifact = json!({ "artifactId": "output", "parts": [part], "last": true });
    ctx.send(Request::<()>::new("holdfast.Task", "artifact", &artifact));
}

fn file(mut part: Value) -> Value {
    part["filename"] = json!("output.txt");
    part["mediaType"] = json!("text/plain");
    part
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let port = std::env::var("PORT").ok().and_then(|port| port.parse().ok()).unwrap_or(9080);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    let endpoint = Endpoint::builder().bind(Tck).build();
    endpoint.serve_until(listener, std::future::pending()).await;
    Ok(())
}
