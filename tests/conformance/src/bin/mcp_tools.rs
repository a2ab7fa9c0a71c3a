//! The tools that the conformance suite of MCP calls by name, as handlers of our own SDK.
//!
//! `PORT` says where it listens; `ADMIN_URL` where the sidecar is told of a change of the tools.

use holdfast_sdk::prelude::*;
use holdfast_sdk::schemars::{self, JsonSchema};
use holdfast_sdk::{Answer, BoxError, Endpoint, Error, Terminal};
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::env;
use std::net::Ipv4Addr;
use std::time::Duration;
use tokio::net::TcpListener;

#[derive(Serialize, Deserialize, JsonSchema)]
struct Named {
    name: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Work {
    /// How long it takes.
    seconds: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    label: Option<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct File {
    filename: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Confirmation {
    /// Whether to go on.
    confirm: bool,
}

struct Tools;

#[service(expose = "mcp", inactivity_timeout = "200ms")]
impl Tools {
    /// Answers at once.
    #[handler(tool = "aaa_ping", metadata("holdfast.tasks" = "forbidden"))]
    async fn ping(&self, _ctx: &Context) -> Result<String> {
        Ok("pong".to_owned())
    }

    /// Greets.
    #[handler(tool = "greet", metadata("holdfast.tasks" = "forbidden"))]
    async fn greet(&self, _ctx: &Context, who: Named) -> Result<String> {
        Ok(format!("Hello, {}!", who.name))
    }

    /// Takes a while.
    #[handler(tool = "slow_compute")]
    async fn slow_compute(&self, ctx: &Context, work: Work) -> Result<String> {
        let seconds = work.seconds.clamp(0.0, 3600.0);
        ctx.progress(&format!("computing for {seconds} seconds")).await?;
        ctx.sleep(Duration::from_secs_f64(seconds)).await?;
        Ok(format!("{} took {seconds} seconds", work.label.as_deref().unwrap_or("it")))
    }

    /// Fails as a tool.
    #[handler(tool = "failing_job", metadata("holdfast.tasks" = "required"))]
    async fn failing_job(&self, _ctx: &Context) -> Result<String> {
        Err(Terminal::new("the job has failed, as it always does").into())
    }

    /// Asks before it deletes.
    #[handler(tool = "confirm_delete", metadata("holdfast.asks" = "true"))]
    async fn confirm_delete(&self, ctx: &Context, file: File) -> Result<String> {
        let question = format!("Delete {}?", file.filename);
        Ok(match ctx.ask::<Confirmation>(&question).begin().await? {
            Answer::Accept { content: Confirmation { confirm: true }, .. } => {
                format!("{} is deleted", file.filename)
            }
            _ => format!("{} is kept", file.filename),
        })
    }

    /// Asks two questions at once.
    #[handler(tool = "multi_input", metadata("holdfast.asks" = "true"))]
    async fn multi_input(&self, ctx: &Context) -> Result<Value> {
        let name = ctx.ask::<Named>("What is your name?").begin();
        let go_on = ctx.ask::<Confirmation>("Shall it go on?").begin();
        let answers = holdfast_sdk::join!(name, go_on);
        let name = match answers.0? {
            Answer::Accept { content, .. } => Some(content.name),
            _ => None,
        };
        let confirmed = match answers.1? {
            Answer::Accept { content, .. } => content.confirm,
            _ => false,
        };
        Ok(json!({ "name": name, "confirmed": confirmed }))
    }

    /// Asks who is there, and then works on as a task.
    #[handler(tool = "test_tool_with_task", metadata("holdfast.asksFirst" = "true"))]
    async fn test_tool_with_task(&self, ctx: &Context) -> Result<String> {
        let asked = ctx.ask::<Named>("What is your name?").begin().await?;
        ctx.sleep(Duration::from_millis(200)).await?;
        Ok(match asked {
            Answer::Accept { content, .. } => format!("Hello, {}!", content.name),
            _ => "Hello, whoever you are!".to_owned(),
        })
    }

    /// Needs a client that can sample.
    #[handler(
        tool = "test_missing_capability",
        metadata("holdfast.requires" = "sampling", "holdfast.tasks" = "forbidden")
    )]
    async fn test_missing_capability(&self, _ctx: &Context) -> Result<String> {
        Ok("the client can sample".to_owned())
    }

    /// Asks while its caller waits.
    #[handler(
        tool = "test_streaming_elicitation",
        metadata("holdfast.asks" = "true", "holdfast.tasks" = "forbidden")
    )]
    async fn test_streaming_elicitation(&self, ctx: &Context) -> Result<String> {
        let asked = ctx.ask::<Confirmation>("Shall it go on?").begin().await?;
        Ok(match asked {
            Answer::Accept { content: Confirmation { confirm: true }, .. } => "it goes on",
            _ => "it stops",
        }
        .to_owned())
    }

    /// Says something, and logs nothing to its caller.
    #[handler(tool = "test_logging_tool", metadata("holdfast.tasks" = "forbidden"))]
    async fn test_logging_tool(&self, _ctx: &Context) -> Result<String> {
        Ok("nothing is logged to the client".to_owned())
    }

    /// Makes the sidecar look at its tools anew.
    #[handler(tool = "test_trigger_tool_change", metadata("holdfast.tasks" = "forbidden"))]
    async fn test_trigger_tool_change(&self, ctx: &Context) -> Result<String> {
        ctx.run("register", async || register().await.map_err(Error::retry)).await?;
        Ok("the tools were registered again".to_owned())
    }
}

struct Broken;

#[service(
    expose = "mcp",
    retry(initial_interval = "1ms", max_attempts = 1, on_max_attempts = "kill")
)]
impl Broken {
    /// Breaks, and not as a tool.
    #[handler(tool = "protocol_error_job")]
    async fn protocol_error_job(&self, _ctx: &Context) -> Result<String> {
        Err(Error::retry("the machine that does this job is broken"))
    }
}

/// Registers this very service again.
async fn register() -> Result<(), BoxError> {
    let admin = env::var("ADMIN_URL").map_err(|_| "ADMIN_URL does not say where the sidecar is")?;
    let body = json!({ "uri": format!("http://127.0.0.1:{}", port()), "force": true }).to_string();
    let request = Request::post(format!("{admin}/deployments"))
        .header("content-type", "application/json")
        .body(Full::new(hyper::body::Bytes::from(body)))?;
    let client = Client::builder(TokioExecutor::new()).build_http();
    let response = client.request(request).await?;
    match response.status().is_success() {
        true => Ok(()),
        false => {
            let said = response.into_body().collect().await?.to_bytes();
            Err(String::from_utf8_lossy(&said).into_owned().into())
        }
    }
}

fn port() -> u16 {
    env::var("PORT").ok().and_then(|port| port.parse().ok()).unwrap_or(9080)
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port())).await?;
    let endpoint = Endpoint::builder().bind(Tools).bind(Broken).build();
    endpoint.serve_until(listener, std::future::pending()).await;
    Ok(())
}
