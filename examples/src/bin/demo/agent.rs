//! An agent as the demo needs one: it calls a tool over MCP, gets a task, looks at it from time to
//! time and hands a human's answer over. Must never use anything that another agent could not use.

use crate::Seen;
use crate::process::until;
use examples::http::Http;
use serde_json::{Map, Value, json};

const VERSION: &str = "2026-07-28";
const META: &str = "io.modelcontextprotocol";

/// Talks to the sidecar at one address.
pub struct Agent {
    http: Http,
    url: String,
}

impl Agent {
    pub fn new(ingress: &str) -> Self {
        Self { http: Http::default(), url: format!("{ingress}/mcp") }
    }

    /// Calls a tool; the id of the task that it is.
    pub async fn call(&self, tool: &str, arguments: &Value) -> Seen<String> {
        let task = self.ask("tools/call", tool, json!({ "name": tool, "arguments": arguments }));
        let task = task.await?;
        let id = task["taskId"].as_str().ok_or_else(|| format!("that is no task: {task}"))?;
        Ok(id.to_owned())
    }

    /// Waits until the task has a status; the whole of it.
    pub async fn see(&self, task: &str, status: &str) -> Seen<Value> {
        let is = || async {
            let seen = self.ask("tasks/get", task, json!({ "taskId": task })).await.ok()?;
            (seen["status"] == status).then_some(seen)
        };
        until(&format!("the task to be {status}"), is).await
    }

    /// Answers all open questions of a task alike.
    pub async fn answer(&self, task: &Value, content: &Value) -> Seen<()> {
        let asked = task["inputRequests"].as_object().ok_or("nothing is asked")?;
        let answer = json!({ "action": "accept", "content": content });
        let answers: Map<String, Value> =
            asked.keys().map(|key| (key.clone(), answer.clone())).collect();
        let id = task["taskId"].as_str().unwrap_or_default();
        let update = json!({ "taskId": id, "inputResponses": answers });
        self.ask("tasks/update", id, update).await?;
        Ok(())
    }

    async fn ask(&self, method: &str, name: &str, mut params: Value) -> Seen<Value> {
        let mut meta = Map::new();
        meta.insert(format!("{META}/protocolVersion"), json!(VERSION));
        let capabilities =
            json!({ "elicitation": { "form": {} }, "extensions": { format!("{META}/tasks"): {} } });
        meta.insert(format!("{META}/clientCapabilities"), capabilities);
        params["_meta"] = meta.into();
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let headers = [
            ("accept", "application/json, text/event-stream"),
            ("mcp-protocol-version", VERSION),
            ("mcp-method", method),
            ("mcp-name", name),
        ];
        let answer = self.http.post_with(&self.url, &headers, &message).await?;
        let answer: Value = serde_json::from_slice(&answer)?;
        match answer.get("result") {
            Some(result) => Ok(result.clone()),
            None => Err(format!("{method} was answered {answer}").into()),
        }
    }
}
