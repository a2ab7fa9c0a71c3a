//! A message that names no task starts one: which handler, with what, under which key.

use super::send::Accepted;
use super::{Agent, Caller, Core, Skill, input, refused};
use crate::bridge::a2a::config::Idempotency;
use crate::bridge::a2a::error::Error;
use crate::bridge::a2a::json::write;
use crate::bridge::a2a::model::{Message, params};
use crate::bridge::a2a::render::Meta;
use crate::bridge::a2a::version::Wire;
use crate::chance;
use crate::guard::Principal;
use crate::tasks::{self, Action, NewMessage, NewTask};
use bytes::Bytes;
use holdfast_wire::manifest::HandlerType;
use ring::digest::{SHA256, digest};
use serde_json::Value;

/// How tasks that came by this door are told from others.
pub const DOOR: &str = "a2a";
/// What a handler is told beside its input.
mod header {
    pub const CONTEXT: &str = "x-holdfast-context";
    pub const MESSAGE: &str = "x-holdfast-message";
    pub const REFERENCES: &str = "x-holdfast-references";
    pub const OUTPUT_MODES: &str = "x-holdfast-output-modes";
}

impl Core {
    pub(super) async fn start(
        &self,
        agent: &Agent,
        caller: &Caller,
        send: params::Send,
    ) -> Result<Accepted, Error> {
        let skill = agent.skill(said(&send, "skill"))?;
        input::check_media_types(agent, skill, &send.message)?;
        let idempotency = idempotency(agent, caller, &send.message);
        let context = context(caller, &send.message, idempotency.as_ref());
        let (body, content_type) = input::body(skill, &send.message, &context)?;
        let brought = self.brought(agent, caller, send.configuration.push.as_ref())?;
        let new = NewTask {
            service: skill.service().to_owned(),
            handler: skill.exposed.handler.clone(),
            key: key(skill, caller, &send, &context, idempotency.as_ref()),
            body,
            headers: headers(&send, &context, content_type),
            principal: caller.principal.as_str().to_owned(),
            context: Some(context),
            door: DOOR.to_owned(),
            meta: meta(agent, skill, caller, &send),
            idempotency,
            message: Some(new_message(caller, &send.message, None)),
            pushes: brought.into_iter().collect(),
        };
        let created = self.tasks().create(new).await.map_err(|error| refused("", error))?;
        Ok(Accepted {
            id: created.task.id,
            sequence: if created.new { created.task.sequence } else { FIRST_MESSAGE },
            task: created.task,
            may_answer_directly: skill.may_answer_directly(),
        })
    }
}

/// The row of the message that started a task.
const FIRST_MESSAGE: u64 = 2;

/// What a message, or the request around it, says under a plain name in its metadata.
pub(super) fn said<'s>(send: &'s params::Send, name: &str) -> Option<&'s str> {
    let in_message = send.message.metadata.get(name);
    in_message.or_else(|| send.metadata.get(name)).and_then(Value::as_str)
}

/// What the task belongs to: what the message says; else it is made up, the same each time that the
/// same message comes.
fn context(caller: &Caller, message: &Message, same: Option<&tasks::Idempotency>) -> String {
    match (message.context_id.as_str(), same) {
        ("", Some(same)) => {
            format!("ctx_{}", hex(&[caller.principal.as_str(), &same.scope, &same.key]))
        }
        ("", None) => format!("ctx_{:032x}", chance::u128()),
        (given, _) => given.to_owned(),
    }
}

/// The key of the object or the workflow: what the message says; else an object is as one with the
/// context of its owner, and a workflow runs once for the message.
fn key(
    skill: &Skill,
    caller: &Caller,
    send: &params::Send,
    context: &str,
    same: Option<&tasks::Idempotency>,
) -> Option<String> {
    if !skill.exposed.service.ty.is_keyed() {
        return None;
    }
    if let Some(key) = said(send, "key") {
        return Some(key.to_owned());
    }
    let principal = caller.principal.as_str();
    Some(match (skill.exposed.handler.ty, same) {
        (HandlerType::Workflow, Some(same)) => hex(&[principal, &same.scope, &same.key]),
        (HandlerType::Workflow, None) => format!("{:032x}", chance::u128()),
        _ if caller.principal == Principal::anonymous() => context.to_owned(),
        _ => hex(&[principal, context]),
    })
}

/// Texts as one key: the same for the same texts.
fn hex(texts: &[&str]) -> String {
    let texts = texts.iter().map(|text| format!("{}:{text}", text.len())).collect::<String>();
    let digest = digest(&SHA256, texts.as_bytes());
    digest.as_ref().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

fn headers(
    send: &params::Send,
    context: &str,
    content_type: Option<String>,
) -> Vec<(String, String)> {
    let message = &send.message;
    let references = message.reference_task_ids.join(",");
    let modes = send.configuration.accepted_output_modes.join(",");
    let told = [
        ("content-type", content_type.as_deref().unwrap_or_default()),
        (header::CONTEXT, context),
        (header::MESSAGE, &message.message_id),
        (header::REFERENCES, &references),
        (header::OUTPUT_MODES, &modes),
    ];
    let told = told.into_iter().filter(|(_, value)| !value.is_empty());
    told.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

fn meta(agent: &Agent, skill: &Skill, caller: &Caller, send: &params::Send) -> Bytes {
    let modes = &send.configuration.accepted_output_modes;
    let reads = |ty: &str| modes.iter().any(|mode| mode.contains(ty) || mode == "*/*");
    let meta = Meta {
        skill: skill.id.clone(),
        is_old: caller.wire == Wire::V03,
        text_only: reads("text") && !reads("json"),
        extensions: agent.activated(caller).into_iter().map(str::to_owned).collect(),
    };
    serde_json::to_vec(&meta).expect("texts and flags are JSON").into()
}

/// Which requests are the same one. A header counts in any case.
fn idempotency(agent: &Agent, caller: &Caller, message: &Message) -> Option<tasks::Idempotency> {
    let key = match (&caller.idempotency_key, agent.settings.idempotency) {
        (Some(key), _) => format!("key {key}"),
        (None, Idempotency::MessageId) => format!("message {}", message.message_id),
        (None, Idempotency::Off) => return None,
    };
    let scope = format!("a2a {}", agent.name);
    Some(tasks::Idempotency { scope, key, digest: digest_of(message) })
}

/// What makes two messages the same.
pub(super) fn digest_of(message: &Message) -> [u8; 32] {
    let digest = digest(&SHA256, write::message(message).to_string().as_bytes());
    digest.as_ref().try_into().expect("SHA-256 has 32 bytes")
}

/// A message as the room below keeps it.
pub(super) fn new_message(
    caller: &Caller,
    message: &Message,
    digest: Option<[u8; 32]>,
) -> NewMessage {
    NewMessage {
        id: message.message_id.clone(),
        body: write::message(message).to_string().into(),
        digest,
        answers: None,
        action: action(message),
        content: input::object(message).map(|object| object.to_string().into()),
        text: input::text(message),
        by: Some(caller.principal.as_str().to_owned()),
    }
}

/// A message answers; one that would rather not says so in its metadata.
fn action(message: &Message) -> Action {
    match message.metadata.get("action").and_then(Value::as_str) {
        Some("decline") => Action::Decline,
        Some("cancel") => Action::Cancel,
        _ => Action::Accept,
    }
}
