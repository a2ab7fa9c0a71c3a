//! Artifacts out of the rows of a feed: chunks put together.

use super::{Event, What};
use serde_json::{Map, Value};

/// What a handler gave, as far as it has come.
#[derive(Debug, Clone, PartialEq)]
pub struct Artifact {
    /// With the parts of all chunks.
    pub json: Map<String, Value>,
    /// Nothing more comes.
    pub last: bool,
}

/// The artifacts of a task, in the order in which they began.
pub fn artifacts<'e>(events: impl IntoIterator<Item = &'e Event>) -> Vec<Artifact> {
    let mut artifacts: Vec<Artifact> = vec![];
    for event in events {
        let What::Artifact(chunk) = &event.what else { continue };
        let Ok(Value::Object(json)) = serde_json::from_slice(&chunk.artifact) else { continue };
        let id = json.get("artifactId").cloned();
        let known = artifacts.iter_mut().find(|known| known.json.get("artifactId") == id.as_ref());
        match known {
            None => artifacts.push(Artifact { json, last: chunk.last }),
            Some(known) if chunk.append => known.append(json, chunk.last),
            Some(known) => *known = Artifact { json, last: chunk.last },
        }
    }
    artifacts
}

impl Artifact {
    fn append(&mut self, mut chunk: Map<String, Value>, last: bool) {
        let more = match chunk.remove("parts") {
            Some(Value::Array(more)) => more,
            _ => vec![],
        };
        if let Some(Value::Array(parts)) = self.json.get_mut("parts") {
            parts.extend(more);
        }
        self.json.extend(chunk);
        self.last = last;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tasks::State;
    use holdfast_machine::{task, time::Timestamp};
    use serde_json::json;

    fn given(artifact: Value, append: bool, last: bool) -> Event {
        let artifact = artifact.to_string().into();
        let what = What::Artifact(task::Artifact { artifact, append, last });
        Event { sequence: 1, at: Timestamp(0), state: State::Working, what }
    }

    #[test]
    fn chunks_are_put_together_and_new_ones_replace() {
        let text = |id: &str, text: &str| json!({"artifactId": id, "parts": [{"text": text}]});
        let events = [
            given(text("a", "old"), false, true),
            given(text("a", "1"), false, false),
            given(text("b", "x"), true, false),
            given(text("a", "2"), true, true),
        ];
        let found: Vec<_> =
            artifacts(&events).into_iter().map(|it| (Value::Object(it.json), it.last)).collect();
        let a = json!({"artifactId": "a", "parts": [{"text": "1"}, {"text": "2"}]});
        assert_eq!(found, [(a, true), (text("b", "x"), false)]);
    }
}
