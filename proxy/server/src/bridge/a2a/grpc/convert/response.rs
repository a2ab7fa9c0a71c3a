//! What callers are told.

use super::{instant_out, message_out, part_out, push_config_out, state_out, struct_out};
use crate::bridge::a2a::grpc::pb;
use crate::bridge::a2a::model::*;

pub use super::card::card;

pub fn sent(response: SendResponse) -> pb::SendMessageResponse {
    use pb::send_message_response::Payload;
    let payload = match response {
        SendResponse::Task(it) => Payload::Task(task(*it)),
        SendResponse::Message(it) => Payload::Message(message_out(*it)),
    };
    pb::SendMessageResponse { payload: Some(payload) }
}

pub fn streamed(response: StreamResponse) -> pb::StreamResponse {
    use pb::stream_response::Payload;
    let payload = match response {
        StreamResponse::Task(it) => Payload::Task(task(*it)),
        StreamResponse::Message(it) => Payload::Message(message_out(*it)),
        StreamResponse::StatusUpdate(it) => Payload::StatusUpdate(pb::TaskStatusUpdateEvent {
            task_id: it.task_id,
            context_id: it.context_id,
            status: Some(status(it.status)),
            metadata: struct_out(&it.metadata),
        }),
        StreamResponse::ArtifactUpdate(it) => {
            Payload::ArtifactUpdate(pb::TaskArtifactUpdateEvent {
                task_id: it.task_id,
                context_id: it.context_id,
                artifact: Some(artifact(it.artifact)),
                append: it.append,
                last_chunk: it.last_chunk,
                metadata: struct_out(&it.metadata),
            })
        }
    };
    pb::StreamResponse { payload: Some(payload) }
}

pub fn task(task: Task) -> pb::Task {
    pb::Task {
        id: task.id,
        context_id: task.context_id,
        status: Some(status(task.status)),
        artifacts: task.artifacts.into_iter().map(artifact).collect(),
        history: task.history.into_iter().map(message_out).collect(),
        metadata: struct_out(&task.metadata),
    }
}

fn status(status: TaskStatus) -> pb::TaskStatus {
    pb::TaskStatus {
        state: state_out(status.state),
        message: status.message.map(message_out),
        timestamp: Some(instant_out(status.timestamp)),
    }
}

fn artifact(artifact: Artifact) -> pb::Artifact {
    pb::Artifact {
        artifact_id: artifact.artifact_id,
        name: artifact.name,
        description: artifact.description,
        parts: artifact.parts.into_iter().map(part_out).collect(),
        metadata: struct_out(&artifact.metadata),
        extensions: artifact.extensions,
    }
}

/// Artifacts that were not asked for are not in the page.
pub fn page(page: TaskPage) -> pb::ListTasksResponse {
    pb::ListTasksResponse {
        tasks: page.tasks.into_iter().map(task).collect(),
        next_page_token: page.next_page_token,
        page_size: page.page_size,
        total_size: page.total_size,
    }
}

pub fn push_configs(page: PushConfigPage) -> pb::ListTaskPushNotificationConfigsResponse {
    pb::ListTaskPushNotificationConfigsResponse {
        configs: page.configs.into_iter().map(push_config_out).collect(),
        next_page_token: page.next_page_token,
    }
}
