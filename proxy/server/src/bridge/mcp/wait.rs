//! Waiting with a client for a task: until it ends, asks something that the client can put to a
//! human, or takes too long; and telling the client meanwhile that the work goes on.

use super::{Mcp, error::Error, meta::Capabilities, sse::Events, sse::Gone, task};
use crate::tasks::{Event, Progress, Task, TaskId, What};
use serde_json::{Map, Value, json};
use std::{collections::HashSet, sync::Arc, time::Duration};
use tokio::time::{Instant, MissedTickBehavior, interval_at, sleep_until};

/// What a wait comes to.
pub(super) enum Waited {
    Ended(Box<Task>),
    /// There are questions that the client has not been asked yet.
    Asks(Box<Task>),
    /// The client has waited long enough; the work goes on.
    Late(Box<Task>),
    /// Nobody waits any more.
    Gone,
}

/// Who waits, and for what.
pub(super) struct Wait<'w> {
    pub principal: &'w str,
    pub capabilities: &'w Capabilities,
    /// Until when.
    pub deadline: Instant,
    /// Questions that the client knows of.
    pub asked: HashSet<u32>,
    /// Where it is told how it goes.
    pub teller: Option<Teller>,
}

impl Wait<'_> {
    /// Whether there is something to stop waiting for.
    fn verdict(&self, task: Box<Task>) -> Result<Waited, Box<Task>> {
        if task.ended.is_some() {
            return Ok(Waited::Ended(task));
        }
        let open = task::questions(&task, self.capabilities);
        match open.iter().any(|question| !self.asked.contains(&question.number)) {
            true => Ok(Waited::Asks(task)),
            false => Err(task),
        }
    }
}

impl Mcp {
    /// Waits for `task`, which is as it was a moment ago.
    pub(super) async fn wait(&self, task: Task, wait: &mut Wait<'_>) -> Result<Waited, Error> {
        let mut task = match wait.verdict(Box::new(task)) {
            Ok(waited) => return Ok(waited),
            Err(task) => task,
        };
        let period = Duration::from_millis(self.config.progress_interval_ms.max(10));
        let mut alive = interval_at(Instant::now() + period, period);
        alive.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut feed = self.tasks.follow(wait.principal, task.id, task.sequence).await?;
        loop {
            let told = tokio::select! {
                events = feed.next() => {
                    let events = events?.unwrap_or_default();
                    let told = wait.tell(&events).await;
                    if events.is_empty() || events.iter().any(is_turn) {
                        let now = self.tasks.get(wait.principal, task.id).await?;
                        match wait.verdict(Box::new(now)) {
                            Ok(waited) => return Ok(waited),
                            // There are no more rows, and there was no end.
                            Err(_) if events.is_empty() => return Err(Error::task_not_found()),
                            Err(now) => task = now,
                        }
                    }
                    told
                }
                _ = alive.tick() => wait.tell_alive().await,
                () = sleep_until(wait.deadline) => return Ok(Waited::Late(task)),
            };
            if told == Err(Gone) {
                return Ok(Waited::Gone);
            }
        }
    }
}

/// Whether there may be something to stop waiting for.
fn is_turn(event: &Event) -> bool {
    event.state.is_terminal() || event.state.is_interrupted()
}

impl Wait<'_> {
    async fn tell(&mut self, events: &[Event]) -> Result<(), Gone> {
        let Some(teller) = &mut self.teller else { return Ok(()) };
        for event in events {
            if let What::Progress(progress) = &event.what {
                teller.tell(Some(progress)).await?;
            }
        }
        Ok(())
    }

    async fn tell_alive(&mut self) -> Result<(), Gone> {
        match &mut self.teller {
            Some(teller) => teller.tell(None).await,
            None => Ok(()),
        }
    }
}

/// Tells a client that waits how it goes. The numbers it tells always grow.
pub(super) struct Teller {
    events: Events,
    /// As the client wants it; without one it wants nothing.
    token: Option<Value>,
    last: f64,
    /// By how much a number grows that the handler did not tell.
    step: f64,
    total: Option<f64>,
}

impl Teller {
    pub fn new(events: Events, token: Option<Value>) -> Teller {
        Teller { events, token, last: 0.0, step: 1.0, total: None }
    }

    async fn tell(&mut self, told: Option<&Progress>) -> Result<(), Gone> {
        match self.notification(told) {
            Some(notification) => self.events.send(&notification).await,
            None => Ok(()),
        }
    }

    fn notification(&mut self, told: Option<&Progress>) -> Option<Value> {
        let token = self.token.clone()?;
        let number = told.and_then(|it| it.progress).filter(|number| number.is_finite());
        if number.is_some() {
            self.step = 1e-3;
            self.total = told.and_then(|it| it.total);
        }
        self.last = match number {
            Some(number) if number > self.last => number,
            _ => self.last + self.step,
        };
        let mut params = Map::new();
        params.insert("progressToken".into(), token);
        params.insert("progress".into(), json!(self.last));
        if let Some(total) = self.total.filter(|total| *total >= self.last) {
            params.insert("total".into(), json!(total));
        }
        let message = told.map(|it| it.message.as_str()).unwrap_or("working");
        params.insert("message".into(), json!(message));
        Some(json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params }))
    }
}

/// Cancels a task when it is dropped: its client went away.
pub(super) struct Abandon {
    armed: Option<(Arc<Mcp>, String, TaskId)>,
}

impl Abandon {
    pub fn new(mcp: &Arc<Mcp>, principal: &str, task: TaskId, armed: bool) -> Abandon {
        let armed = armed && mcp.config.cancel_when_gone;
        Abandon { armed: armed.then(|| (mcp.clone(), principal.to_owned(), task)) }
    }

    /// The client has its answer.
    pub fn disarm(mut self) {
        self.armed = None;
    }
}

impl Drop for Abandon {
    fn drop(&mut self) {
        let Some((mcp, principal, task)) = self.armed.take() else { return };
        // It is this sidecar that goes away, not the client.
        if mcp.shutdown.is_cancelled() {
            return;
        }
        let tasks = mcp.tasks.clone();
        mcp.after.spawn(async move {
            // Gone with its task, or with the sidecar: there is nobody to tell.
            if let Err(error) = tasks.cancel(&principal, task).await {
                tracing::debug!(invocation = %task.invocation(), %error, "a call whose client went away is not cancelled");
            }
        });
    }
}
