//! What a message of the service means, once it is known to be sound. Never keeps anything.

use super::{
    Callees, check,
    error::{Error, MISMATCH_PAGE},
    field, future,
};
use crate::{
    command::Reaction,
    model::{
        AttemptFailure, Awaiting, Callee, Combinator, Entry, JOURNAL_MISMATCH, RelatedCommand,
        SignalName, Target,
    },
    text,
};
use bytes::Bytes;
use holdfast_wire::{
    frame::Frame,
    manifest::ServiceType,
    message::{MessageType, pb},
    version::{Feature, Version},
};
use prost::Message;
use std::time::Duration;

/// Most bytes of a message, and of a stack trace, that are kept of a failure.
const FAILURE_TEXT_BYTES_MAX: usize = 64 * 1024;
/// Code of a failure whose own is missing.
const DEFAULT_FAILURE_CODE: u32 = 500;
/// The field of every command that has the name a user gave to it.
const NAME_FIELD: usize = 12;
/// Longest such name that is shown with a failure, in bytes.
const NAME_BYTES_MAX: usize = 256;
/// The field of a notification with the completion that it is about.
const COMPLETION_ID_FIELD: usize = 1;
/// The field of every command that is completed with the id of its result.
const RESULT_FIELD: usize = 11;
/// The field of calls of either kind with the id under which their callee is told.
const CALLEE_ID_FIELD: usize = 10;

/// A sound message.
#[derive(Debug)]
pub(super) enum Heard {
    Command {
        callee: Option<Callee>,
        /// The completion that the partition answers as soon as the command is stored.
        answer: Option<u32>,
    },
    /// A run result, as the notification that is to be stored.
    Proposal {
        completion: u32,
        payload: Bytes,
        acknowledge: bool,
    },
    AwaitingOn(Awaiting),
    // --- final messages
    Suspended(Awaiting),
    Failed {
        failure: AttemptFailure,
        reaction: Reaction,
    },
    Completed,
}

/// Where messages are heard.
pub(super) struct Scene<'a> {
    pub target: &'a Target,
    pub service: ServiceType,
    pub version: Version,
    pub callees: &'a dyn Callees,
}

pub(super) fn hear(scene: &Scene<'_>, frame: &Frame) -> Result<Heard, Error> {
    match frame.ty {
        MessageType::PROPOSE_RUN_COMPLETION => proposal(scene, frame),
        MessageType::AWAITING_ON => Ok(Heard::AwaitingOn(future_in(frame, 1)?)),
        MessageType::SUSPENSION => suspension(scene, frame),
        MessageType::ERROR => failure(scene, frame),
        MessageType::END => Ok(Heard::Completed),
        ty if ty.is_command() && frame.requires_ack => Err(Error::Unexpected {
            ty,
            why: "with a wish for an acknowledgement, which the protocol does not have",
        }),
        ty if ty.is_command() => {
            let callee = check::command(scene, ty, &frame.payload)?;
            let answer = answered_at_once(ty, &frame.payload);
            Ok(Heard::Command { callee, answer })
        }
        ty if ty.is_known() => Err(Error::Unexpected { ty, why: "which only servers send" }),
        ty => Err(Error::Unexpected { ty, why: "which this server does not know" }),
    }
}

/// The command that `frame` is, number `index` of the journal; `None` if it is none.
pub(super) fn related(frame: &Frame, index: u32) -> Option<RelatedCommand> {
    if !frame.ty.is_command() {
        return None;
    }
    let name = field::bytes(&frame.payload, NAME_FIELD).ok().flatten();
    let name = name.and_then(|name| String::from_utf8(name.to_vec()).ok());
    let name = name.filter(|name| !name.is_empty()).map(|name| cut(name, NAME_BYTES_MAX));
    Some(RelatedCommand { index: Some(index), name, ty: Some(frame.ty) })
}

/// The completion that a command asks for and that waits for nothing but its commit.
fn answered_at_once(ty: MessageType, payload: &Bytes) -> Option<u32> {
    let field = match ty {
        MessageType::CALL | MessageType::ONE_WAY_CALL => CALLEE_ID_FIELD,
        MessageType::GET_LAZY_STATE
        | MessageType::GET_LAZY_STATE_KEYS
        | MessageType::PEEK_PROMISE
        | MessageType::COMPLETE_PROMISE
        | MessageType::GET_INVOCATION_OUTPUT => RESULT_FIELD,
        _ => return None,
    };
    field::number(payload, field).ok().flatten()
}

/// The completion id of a stored notification; `None` for signals.
pub(super) fn completion_id(entry: &Entry) -> Option<u32> {
    field::number(&entry.payload, COMPLETION_ID_FIELD).ok().flatten()
}

/// Decodes the payload of a message of type `ty`.
pub(super) fn decode<M: Message + Default>(ty: MessageType, payload: &Bytes) -> Result<M, Error> {
    M::decode(payload.clone()).map_err(|error| Error::Malformed { ty, reason: error.to_string() })
}

/// The part `part` of a message of type `ty`, which has to be there.
pub(super) fn present<T>(ty: MessageType, part: &str, value: Option<T>) -> Result<T, Error> {
    value.ok_or_else(|| Error::Malformed { ty, reason: format!("its {part} is missing") })
}

fn proposal(scene: &Scene<'_>, frame: &Frame) -> Result<Heard, Error> {
    use pb::{notification::Result as Stored, propose_run_completion::Result as Proposed};
    let proposal: pb::ProposeRunCompletion = decode(frame.ty, &frame.payload)?;
    let completion = proposal.result_completion_id;
    let stored = match present(frame.ty, "result", proposal.result)? {
        Proposed::Value(value) => Stored::value(value),
        Proposed::Failure(failure) => Stored::Failure(failure),
    };
    let payload = pb::Notification::completion(completion, stored).encode_to_vec().into();
    let acknowledge = frame.requires_ack && scene.version.supports(Feature::RunAck);
    Ok(Heard::Proposal { completion, payload, acknowledge })
}

fn suspension(scene: &Scene<'_>, frame: &Frame) -> Result<Heard, Error> {
    let awaiting = if scene.version.supports(Feature::FutureTree) {
        future_in(frame, 4)?
    } else {
        flat(decode(frame.ty, &frame.payload)?)
    };
    if future::is_empty(&awaiting) {
        return Err(Error::EmptyFuture);
    }
    Ok(Heard::Suspended(awaiting))
}

/// The future in field `number` of a message; a missing one is an empty one.
fn future_in(frame: &Frame, number: usize) -> Result<Awaiting, Error> {
    let tree = field::bytes(&frame.payload, number)
        .map_err(|reason| Error::Malformed { ty: frame.ty, reason: reason.to_owned() })?;
    future::read(frame.ty, tree.unwrap_or_default())
}

fn flat(suspension: pb::Suspension) -> Awaiting {
    let indices = suspension.waiting_signals.into_iter().map(SignalName::Index);
    let names = suspension.waiting_named_signals.into_iter().map(SignalName::Name);
    Awaiting {
        combinator: Combinator::FirstCompleted,
        completions: suspension.waiting_completions,
        signals: indices.chain(names).collect(),
        nested: vec![],
    }
}

fn failure(scene: &Scene<'_>, frame: &Frame) -> Result<Heard, Error> {
    let error: pb::Error = decode(frame.ty, &frame.payload)?;
    let reaction = reaction(scene, &error);
    let related = RelatedCommand {
        index: error.related_command_index,
        name: error.related_command_name.map(|name| cut(name, NAME_BYTES_MAX)),
        ty: error.related_command_type.and_then(|ty| u16::try_from(ty).ok()).map(MessageType),
    };
    let failure = AttemptFailure {
        code: if error.code == 0 { DEFAULT_FAILURE_CODE } else { error.code },
        message: cut(error.message, FAILURE_TEXT_BYTES_MAX),
        stacktrace: cut(error.stacktrace, FAILURE_TEXT_BYTES_MAX),
        doc_code: (error.code == JOURNAL_MISMATCH).then(|| MISMATCH_PAGE.to_owned()),
        related: Some(related).filter(|related| *related != RelatedCommand::default()),
    };
    Ok(Heard::Failed { failure, reaction })
}

fn reaction(scene: &Scene<'_>, error: &pb::Error) -> Reaction {
    match error.behavior() {
        pb::ErrorBehavior::Pause if scene.version.supports(Feature::ErrorBehavior) => {
            Reaction::Pause
        }
        pb::ErrorBehavior::Fail if scene.version.supports(Feature::ErrorBehavior) => Reaction::Fail,
        _ => match error.next_retry_delay {
            Some(delay_ms) => Reaction::RetryAfter(Duration::from_millis(delay_ms)),
            None => Reaction::Retry,
        },
    }
}

fn cut(mut text: String, bytes_max: usize) -> String {
    text.truncate(text::cut(&text, bytes_max).len());
    text
}
