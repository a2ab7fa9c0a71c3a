//! About how many bytes a task is when it is written: enough to keep pages within bounds.

use super::{Content, Message, Part, Task};

/// What stands around the content of anything.
const FRAME_BYTES: usize = 128;

impl Task {
    /// About as many as its JSON has.
    pub fn bytes(&self) -> usize {
        let said = self.status.message.iter().chain(&self.history).map(message);
        let made = self.artifacts.iter().flat_map(|artifact| &artifact.parts).map(part);
        FRAME_BYTES + said.sum::<usize>() + made.sum::<usize>()
    }
}

fn message(message: &Message) -> usize {
    FRAME_BYTES + message.parts.iter().map(part).sum::<usize>()
}

fn part(part: &Part) -> usize {
    let content = match &part.content {
        Content::Text(text) | Content::Url(text) => text.len(),
        // As base64.
        Content::Raw(bytes) => bytes.len() / 3 * 4,
        Content::Data(value) => value.to_string().len(),
    };
    FRAME_BYTES + content
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bridge::a2a::json::write;
    use crate::bridge::a2a::model::{Artifact, Role, Struct, TaskState, TaskStatus, Timestamp};
    use bytes::Bytes;
    use serde_json::json;

    #[test]
    fn it_is_about_what_is_written() {
        let parts = vec![
            Part::text("x".repeat(5_000)),
            Part::data(json!({ "y": "y".repeat(5_000) })),
            Part::of(Content::Raw(Bytes::from(vec![7; 3_000]))),
        ];
        let said = Message {
            message_id: "m".into(),
            context_id: "c".into(),
            task_id: "t".into(),
            role: Role::User,
            parts: parts.clone(),
            metadata: Struct::new(),
            extensions: vec![],
            reference_task_ids: vec![],
        };
        let made = Artifact {
            artifact_id: "a".into(),
            name: String::new(),
            description: String::new(),
            parts,
            metadata: Struct::new(),
            extensions: vec![],
        };
        let (state, timestamp) = (TaskState::Working, Timestamp(0));
        let task = Task {
            id: "t".into(),
            context_id: "c".into(),
            status: TaskStatus { state, message: Some(said.clone()), timestamp },
            artifacts: vec![made],
            history: vec![said],
            metadata: Struct::new(),
        };
        let written = write::task(&task).to_string().len();
        assert!(written.abs_diff(task.bytes()) < written / 10, "{written} {}", task.bytes());
    }
}
