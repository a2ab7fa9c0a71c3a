//! What humans answered, as clients send it: looked at as a whole before anything of it is stored.

use super::{Mcp, error::Error, task};
use crate::schema;
use crate::tasks::{self, Action, Answer, Answered, Ask, Task};
use bytes::Bytes;
use serde_json::{Map, Value};

/// One answer to a question of this task.
struct Given<'a> {
    ask: &'a Ask,
    action: Action,
    content: Option<Value>,
}

impl Mcp {
    /// Stores the answers to open questions of `task`. What answers none of them is ignored.
    /// Durable when it returns.
    pub(super) async fn answer(
        &self,
        principal: &str,
        task: &Task,
        responses: &Map<String, Value>,
    ) -> Result<(), Error> {
        let mut given = vec![];
        for (key, response) in responses {
            let number = task::number(key);
            if let Some(ask) = task.asks.iter().find(|ask| Some(ask.number) == number) {
                let (action, content) = read(key, response)?;
                check(key, ask, action, content.as_ref())?;
                given.push(Given { ask, action, content });
            }
        }
        for Given { ask, action, content } in given {
            let content = content.filter(|_| action == Action::Accept);
            let content = content.map(|content| Bytes::from(content.to_string()));
            let answer = Answer { action, content, by: Some(principal.to_owned()) };
            match self.tasks.answer(principal, task.id, ask, answer).await {
                // Somebody else was first, or it was withdrawn: as good as unknown.
                Ok(Answered::Taken { .. } | Answered::Late(_)) | Err(tasks::Error::NoSuchAsk) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

fn read(key: &str, response: &Value) -> Result<(Action, Option<Value>), Error> {
    let wrong = |what: &str| Error::Params(format!("the response `{key}` {what}"));
    let action = match response.get("action").and_then(Value::as_str) {
        Some("accept") => Action::Accept,
        Some("decline") => Action::Decline,
        Some("cancel") => Action::Cancel,
        _ => return Err(wrong("has no `action` of accept, decline or cancel")),
    };
    match response.get("content") {
        None | Some(Value::Null) => Ok((action, None)),
        Some(content @ Value::Object(_)) => Ok((action, Some(content.clone()))),
        Some(_) => Err(wrong("has a `content` that is no object")),
    }
}

fn check(key: &str, ask: &Ask, action: Action, content: Option<&Value>) -> Result<(), Error> {
    // Who was sent to an address says only that they go there.
    if action != Action::Accept || (ask.url.is_some() && content.is_none()) {
        return Ok(());
    }
    let nothing = Value::Object(Map::new());
    schema::check(&ask.form.to_json(), content.unwrap_or(&nothing))
        .map_err(|wrong| Error::Params(format!("the response `{key}`: {wrong}")))
}
