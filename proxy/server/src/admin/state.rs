//! Replaces the state of an object key, in the order of its invocations.

use super::{App, error::Error};
use crate::registry;
use axum::{
    Json,
    extract::{Path, State},
    http::StatusCode,
};
use bytes::Bytes;
use holdfast_machine::command::{Command, Reply};
use holdfast_wire::manifest::ServiceType;
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Debug, Deserialize)]
pub(super) struct Replacement {
    object_key: String,
    new_state: BTreeMap<String, Value>,
    version: Option<String>,
}

/// A value, as numbers of bytes or as text.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Value {
    Bytes(Vec<u8>),
    Text(String),
}

impl From<Value> for Bytes {
    fn from(value: Value) -> Bytes {
        match value {
            Value::Bytes(bytes) => bytes.into(),
            Value::Text(text) => text.into(),
        }
    }
}

pub(super) async fn replace(
    State(app): State<App>,
    Path(service): Path<String>,
    Json(wish): Json<Replacement>,
) -> Result<StatusCode, Error> {
    match app.registry.schema().services.get(&service).map(|service| service.ty) {
        Some(ServiceType::Service) => return Err(Error::NoState(service)),
        // What a service that is gone has left behind may be cleared.
        None if !wish.new_state.is_empty() => {
            return Err(registry::Error::UnknownService(service).into());
        }
        None | Some(ServiceType::VirtualObject | ServiceType::Workflow) => {}
    }
    let state = wish.new_state.into_iter();
    let state = state.map(|(key, value)| (Bytes::from(key), value.into())).collect();
    let partition = app.router.of_key(&wish.object_key).clone();
    let (key, version) = (wish.object_key, wish.version);
    match partition.call(Command::PatchState { service, key, version, state }).await? {
        Reply::Done | Reply::Appended => Ok(StatusCode::ACCEPTED),
        Reply::VersionMismatch { current } => Err(Error::StateChanged { current }),
        reply => Err(Error::Unexpected { verb: "state", reply: format!("{reply:?}") }),
    }
}
