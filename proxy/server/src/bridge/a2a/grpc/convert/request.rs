//! What callers send.

use super::{bad, instant_in, message_in, metadata_in, push_config_in, state_in};
use crate::bridge::a2a::error::Error;
use crate::bridge::a2a::grpc::pb;
use crate::bridge::a2a::model::params;

pub fn send(request: pb::SendMessageRequest) -> Result<params::Send, Error> {
    let Some(message) = request.message else {
        return Err(bad("message", "it is required"));
    };
    let configuration = request.configuration.unwrap_or_default();
    Ok(params::Send {
        message: message_in(message)?,
        configuration: params::Configuration {
            accepted_output_modes: configuration.accepted_output_modes,
            push: configuration.task_push_notification_config.map(push_config_in),
            history_length: configuration.history_length,
            return_immediately: configuration.return_immediately,
        },
        metadata: metadata_in("metadata", request.metadata)?,
    })
}

pub fn get(request: pb::GetTaskRequest) -> params::Get {
    params::Get { id: request.id, history_length: request.history_length }
}

pub fn list(request: pb::ListTasksRequest) -> Result<params::List, Error> {
    let after = request.status_timestamp_after;
    Ok(params::List {
        context_id: request.context_id,
        status: state_in(request.status)?,
        page_size: request.page_size,
        page_token: request.page_token,
        history_length: request.history_length,
        status_timestamp_after: after
            .map(|at| instant_in("statusTimestampAfter", at))
            .transpose()?,
        include_artifacts: request.include_artifacts.unwrap_or(false),
    })
}

pub fn cancel(request: pb::CancelTaskRequest) -> Result<params::Cancel, Error> {
    Ok(params::Cancel { id: request.id, metadata: metadata_in("metadata", request.metadata)? })
}

pub fn subscribe(request: pb::SubscribeToTaskRequest) -> params::Subscribe {
    params::Subscribe { id: request.id, after: None }
}

pub fn get_push_config(request: pb::GetTaskPushNotificationConfigRequest) -> params::PushConfigOf {
    params::PushConfigOf { task_id: request.task_id, id: request.id }
}

pub fn delete_push_config(
    request: pb::DeleteTaskPushNotificationConfigRequest,
) -> params::PushConfigOf {
    params::PushConfigOf { task_id: request.task_id, id: request.id }
}

pub fn list_push_configs(
    request: pb::ListTaskPushNotificationConfigsRequest,
) -> params::PushConfigsOf {
    params::PushConfigsOf {
        task_id: request.task_id,
        page_size: request.page_size,
        page_token: request.page_token,
    }
}
