//! Agents for the tests of A2A: each does one thing that a client can see. `PORT` says where they
//! listen.

use holdfast_sdk::prelude::*;
use holdfast_sdk::{
    Answer, Artifact, BoxError, Request, Terminal,
    schemars::{self, JsonSchema},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::net::Ipv4Addr;
use std::time::Duration;
use tokio::net::TcpListener;

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Order {
    order_id: String,
    amount: f64,
    #[serde(default)]
    delay_ms: Option<u64>,
}

#[derive(Deserialize, JsonSchema)]
struct Approval {
    approved: bool,
}

struct Refunds;

/// Refunds orders after an approval.
#[service(name = "refunds", expose = "mcp,a2a", inactivity_timeout = "500ms")]
impl Refunds {
    /// Asks for an approval, then refunds.
    #[handler]
    async fn refund(&self, ctx: &Context, order: Order) -> Result<Value> {
        if let Some(ms) = order.delay_ms {
            ctx.sleep(Duration::from_millis(ms)).await?;
        }
        let Order { order_id, amount, .. } = order;
        let question = format!("Approve a refund of {amount} for {order_id}?");
        match ctx.ask::<Approval>(&question).begin().await? {
            Answer::Accept { content: Approval { approved: true }, .. } => {
                Ok(json!({ "status": "refunded", "orderId": order_id, "amount": amount }))
            }
            _ => Ok(json!({ "status": "declined", "orderId": order_id })),
        }
    }
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Plot {
    chapters: u32,
    #[serde(default)]
    every_ms: u64,
}

struct Stories;

/// Writes stories chapter by chapter.
#[service(name = "stories", expose = "a2a", inactivity_timeout = "500ms")]
impl Stories {
    /// Tells which chapter it is at, and gives each as a chunk of one artifact.
    #[handler]
    async fn write(&self, ctx: &Context, plot: Plot) -> Result<String> {
        for chapter in 1..=plot.chapters {
            ctx.progress_of(&format!("writing {chapter}"), chapter.into(), plot.chapters.into());
            if plot.every_ms > 0 {
                ctx.sleep(Duration::from_millis(plot.every_ms)).await?;
            }
            let chunk = Artifact::new("story").text(&format!("chapter {chapter}"));
            let chunk = if chapter > 1 { chunk.append() } else { chunk };
            let chunk = if chapter == plot.chapters { chunk.last() } else { chunk };
            ctx.artifact(chunk);
        }
        Ok("the end".to_owned())
    }
}

struct Talker;

/// Sees whole messages, and answers with messages, or not, as the text says.
#[service(
    name = "talker",
    expose = "a2a",
    inactivity_timeout = "500ms",
    metadata("holdfast.input" = "message", "holdfast.answers" = "message")
)]
impl Talker {
    #[handler]
    async fn talk(&self, ctx: &Context, message: Value) -> Result<Value> {
        match message["parts"][0]["text"].as_str().unwrap_or_default() {
            "wrong" => Ok(json!({ "message": { "parts": [] } })),
            "work" => {
                ctx.artifact(Artifact::new("work").data(&message["parts"]).last());
                Ok(json!({ "worked": true }))
            }
            "fail" => Err(Terminal::new("no luck").code(500).into()),
            "reject" => Err(Terminal::new("not for me").code(422).into()),
            "login" => {
                let asked = json!({ "message": "Who are you?", "kind": "auth",
                    "url": "https://example.com/login", "wants": "message" });
                let answer: Answer<Value> =
                    ctx.call(Request::new("holdfast.Human", "ask", &asked)).await?;
                Ok(serde_json::to_value(answer).unwrap_or_default())
            }
            text => {
                let said = format!("you said {text} in {}", message["contextId"]);
                Ok(json!({ "message": { "parts": [{ "text": said }] } }))
            }
        }
    }
}

struct Office;

/// Has two skills.
#[service(name = "office", expose = "a2a")]
impl Office {
    /// Takes text as it is.
    #[handler(skill = "file")]
    async fn note(&self, _ctx: &Context, text: String) -> Result<String> {
        Ok(format!("noted: {text}"))
    }

    /// Asks two things, one after the other.
    #[handler]
    async fn interview(&self, ctx: &Context) -> Result<Value> {
        let mut answers = vec![];
        for question in ["Name?", "Age?"] {
            let asked = json!({ "message": question, "schema": { "type": "object",
                "properties": { "answer": { "type": "string" } }, "required": ["answer"] } });
            let answer: Answer<Value> =
                ctx.call(Request::new("holdfast.Human", "ask", &asked)).await?;
            answers.push(match answer {
                Answer::Accept { content, .. } => content["answer"].clone(),
                Answer::Decline { .. } => json!("declined"),
                Answer::Cancel { .. } => json!("put aside"),
            });
        }
        Ok(json!({ "answers": answers }))
    }
}

struct Ledger;

/// One ledger for each context.
#[object(name = "ledger", expose = "a2a")]
impl Ledger {
    #[handler]
    async fn add(&self, ctx: &ObjectContext, amount: i64) -> Result<Value> {
        let sum = ctx.get::<i64>("sum").await?.unwrap_or(0) + amount;
        ctx.set("sum", &sum);
        Ok(json!({ "key": ctx.key(), "sum": sum }))
    }
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let port = std::env::var("PORT").ok().and_then(|port| port.parse().ok()).unwrap_or(9080);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    let endpoint = Endpoint::builder()
        .bind(Refunds)
        .bind(Stories)
        .bind(Talker)
        .bind(Office)
        .bind(Ledger)
        .build();
    endpoint.serve_until(listener, std::future::pending()).await;
    Ok(())
}
