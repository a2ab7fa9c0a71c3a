//! Streams for clients that want to be told: of changes of the list of tools, and of the tasks that
//! they name. All they tell is read from the tables; a stream that breaks loses nothing.

use super::{
    Mcp,
    error::Error,
    meta::Capabilities,
    modern::{self, Asked},
    sse::{self, Events, Gone},
};
use crate::http::Body;
use crate::tasks::TaskId;
use http::Response;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use tokio::{sync::watch, task::JoinSet};

/// The key of the stream's own id in what it tells.
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// What a client wants to be told of, as far as it is.
struct Subscription {
    id: Value,
    tools: bool,
    tasks: Vec<TaskId>,
    principal: String,
    capabilities: Capabilities,
}

impl Mcp {
    pub(super) async fn listen(self: &Arc<Self>, asked: Asked) -> Result<Response<Body>, Error> {
        let subscription = self.subscription(asked).await?;
        let place = self.stream_place()?;
        let (mcp, changes) = (self.clone(), self.exposure.changes());
        Ok(sse::stream(move |events| async move {
            // It ends early only where nobody reads it any more.
            let _ = mcp.tell(subscription, changes, &events).await;
            drop(place);
        }))
    }

    async fn subscription(&self, asked: Asked) -> Result<Subscription, Error> {
        let wrong = |what: &str| Error::Params(format!("`notifications{what}"));
        let wanted = match asked.params.get("notifications") {
            Some(Value::Object(wanted)) => wanted,
            _ => return Err(wrong("` is not an object")),
        };
        let flag = |name: &str| match wanted.get(name) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => Err(wrong(&format!(".{name}` is neither true nor false"))),
        };
        for name in ["promptsListChanged", "resourcesListChanged"] {
            flag(name)?;
        }
        let tools = flag("toolsListChanged")?;
        let names = match wanted.get("taskIds") {
            None | Some(Value::Null) => vec![],
            Some(Value::Array(ids)) => {
                let texts: Option<Vec<&str>> = ids.iter().map(Value::as_str).collect();
                texts.ok_or_else(|| wrong(".taskIds` holds something else than texts"))?
            }
            Some(_) => return Err(wrong(".taskIds` is not a list")),
        };
        if wanted.contains_key("taskIds") && !asked.meta.capabilities.tasks {
            return Err(Error::tasks_required());
        }
        if names.len() > self.config.listen_tasks_max {
            let max = self.config.listen_tasks_max;
            return Err(wrong(&format!(".taskIds` has more than {max} tasks; use more streams")));
        }
        let principal = asked.caller.principal.as_str().to_owned();
        let mut tasks: Vec<TaskId> = vec![];
        for id in names.iter().filter_map(|name| name.parse().ok()) {
            if !tasks.contains(&id) && self.tasks.get(&principal, id).await.is_ok() {
                tasks.push(id);
            }
        }
        let capabilities = asked.meta.capabilities;
        Ok(Subscription { id: asked.id, tools, tasks, principal, capabilities })
    }

    /// Tells first what is told of, then how everything is, then each change.
    async fn tell(
        self: &Arc<Self>,
        subscription: Subscription,
        mut changes: watch::Receiver<u64>,
        events: &Events,
    ) -> Result<(), Gone> {
        changes.mark_unchanged();
        events.send(&subscription.acknowledged()).await?;
        let subscription = Arc::new(subscription);
        let mut followed = JoinSet::new();
        for task in subscription.tasks.clone() {
            let (mcp, subscription) = (self.clone(), subscription.clone());
            let events = events.clone();
            followed.spawn(async move { mcp.follow(task, &subscription, &events).await });
        }
        loop {
            if followed.is_empty() && !subscription.tools {
                break;
            }
            tokio::select! {
                () = self.shutdown.cancelled() => break,
                Some(ended) = followed.join_next() => if let Ok(Err(gone)) = ended {
                    return Err(gone);
                },
                changed = changes.changed(), if subscription.tools => match changed {
                    Ok(()) => {
                        let method = "notifications/tools/list_changed";
                        events.send(&subscription.notification(method, Map::new())).await?;
                    }
                    Err(_) => break,
                },
            }
        }
        events.send(&modern::response(&subscription.id, subscription.end())).await
    }

    /// Tells all changes of one task, until it has ended or is forgotten.
    async fn follow(
        &self,
        id: TaskId,
        subscription: &Subscription,
        events: &Events,
    ) -> Result<(), Gone> {
        let principal = &subscription.principal;
        let mut told = None;
        let Ok(mut task) = self.tasks.get(principal, id).await else { return Ok(()) };
        let Ok(mut feed) = self.tasks.follow(principal, id, task.sequence).await else {
            return Ok(());
        };
        loop {
            let view = modern::as_map(json!(self.view(&task, &subscription.capabilities)));
            // What a client with these capabilities does not see is no change for it.
            if told.as_ref() != Some(&view) {
                events
                    .send(&subscription.notification("notifications/tasks", view.clone()))
                    .await?;
                told = Some(view);
            }
            if task.ended.is_some() {
                return Ok(());
            }
            match feed.next().await {
                Ok(Some(_)) => match self.tasks.get(principal, id).await {
                    Ok(now) => task = now,
                    Err(_) => return Ok(()),
                },
                Ok(None) | Err(_) => return Ok(()),
            }
        }
    }
}

impl Subscription {
    fn acknowledged(&self) -> Value {
        let mut honoured = Map::new();
        if self.tools {
            honoured.insert("toolsListChanged".into(), json!(true));
        }
        if !self.tasks.is_empty() {
            let ids: Vec<String> = self.tasks.iter().map(TaskId::to_string).collect();
            honoured.insert("taskIds".into(), json!(ids));
        }
        let mut params = Map::new();
        params.insert("notifications".into(), honoured.into());
        self.notification("notifications/subscriptions/acknowledged", params)
    }

    fn notification(&self, method: &str, mut params: Map<String, Value>) -> Value {
        params.insert("_meta".into(), json!({ SUBSCRIPTION: self.id }));
        json!({ "jsonrpc": "2.0", "method": method, "params": params })
    }

    fn end(&self) -> Map<String, Value> {
        let mut end = Map::new();
        end.insert("resultType".into(), json!("complete"));
        end.insert("_meta".into(), json!({ SUBSCRIPTION: self.id }));
        end
    }
}
