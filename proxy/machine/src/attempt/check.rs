//! Which commands a handler may give, and what must be in them. Never looks into the journal or
//! the tables: whether a promise is resolved or an invocation exists is for `apply`.

use super::{
    error::Error,
    receive::{Scene, decode, present},
};
use crate::{
    ask::built_in,
    id::{AwakeableId, InvocationId},
    model::Callee,
};
use bytes::Bytes;
use holdfast_wire::{
    manifest::{HandlerType, ServiceType},
    message::{MessageType, pb},
};

/// Checks the command `ty`; gives what is called, for calls.
pub(super) fn command(
    scene: &Scene<'_>,
    ty: MessageType,
    payload: &Bytes,
) -> Result<Option<Callee>, Error> {
    match ty {
        MessageType::CALL => call(scene, decode(ty, payload)?).map(Some),
        MessageType::ONE_WAY_CALL => {
            call(scene, decode::<pb::OneWayCallCommand>(ty, payload)?.into()).map(Some)
        }
        _ => plain(scene, ty, payload).map(|()| None),
    }
}

fn plain(scene: &Scene<'_>, ty: MessageType, payload: &Bytes) -> Result<(), Error> {
    match ty {
        MessageType::OUTPUT => output(ty, payload),
        MessageType::RUN => sound::<pb::RunCommand>(ty, payload),
        MessageType::SLEEP => sound::<pb::SleepCommand>(ty, payload),
        MessageType::SEND_SIGNAL => send_signal(ty, payload),
        MessageType::COMPLETE_AWAKEABLE => complete_awakeable(ty, payload),
        MessageType::ATTACH_INVOCATION | MessageType::GET_INVOCATION_OUTPUT => {
            invocation(ty, payload)
        }
        MessageType::GET_PROMISE | MessageType::PEEK_PROMISE | MessageType::COMPLETE_PROMISE => {
            promise(scene, ty, payload)
        }
        MessageType::GET_LAZY_STATE
        | MessageType::GET_LAZY_STATE_KEYS
        | MessageType::GET_EAGER_STATE
        | MessageType::GET_EAGER_STATE_KEYS
        | MessageType::SET_STATE
        | MessageType::CLEAR_STATE
        | MessageType::CLEAR_ALL_STATE => state(scene, ty, payload),
        MessageType::INPUT => Err(Error::Unexpected { ty, why: "which only servers send" }),
        _ => Err(Error::Unexpected { ty, why: "which this server does not know" }),
    }
}

fn output(ty: MessageType, payload: &Bytes) -> Result<(), Error> {
    let output: pb::OutputCommand = decode(ty, payload)?;
    present(ty, "result", output.result).map(drop)
}

// --- calls

/// A call of either kind.
fn call(scene: &Scene<'_>, call: pb::CallCommand) -> Result<Callee, Error> {
    if call.scope.is_some() || call.limit_key.is_some() {
        return Err(Error::Scoped);
    }
    if call.idempotency_key.is_some_and(|key| key.is_empty()) {
        return Err(Error::EmptyIdempotencyKey);
    }
    let callee = built_in(&call.service_name, &call.handler_name)
        .or_else(|| scene.callees.resolve(&call.service_name, &call.handler_name));
    let Some(callee) = callee else {
        let (service, handler) = (call.service_name, call.handler_name);
        return Err(Error::UnknownCallee { service, handler });
    };
    // An object may have the empty key, which looks the same as none.
    if callee.ty == HandlerType::Service && !call.key.is_empty() {
        return Err(Error::Key { service: call.service_name });
    }
    Ok(callee)
}

// --- state and promises

fn state(scene: &Scene<'_>, ty: MessageType, payload: &Bytes) -> Result<(), Error> {
    let mut writes = false;
    match ty {
        MessageType::GET_LAZY_STATE => sound::<pb::GetLazyStateCommand>(ty, payload)?,
        MessageType::GET_LAZY_STATE_KEYS => sound::<pb::GetLazyStateKeysCommand>(ty, payload)?,
        MessageType::GET_EAGER_STATE => sound::<pb::GetEagerStateCommand>(ty, payload)?,
        MessageType::GET_EAGER_STATE_KEYS => sound::<pb::GetEagerStateKeysCommand>(ty, payload)?,
        _ => {
            write(ty, payload)?;
            writes = true;
        }
    }
    access(scene.target.ty, writes)
}

fn write(ty: MessageType, payload: &Bytes) -> Result<(), Error> {
    match ty {
        MessageType::CLEAR_STATE => sound::<pb::ClearStateCommand>(ty, payload),
        MessageType::CLEAR_ALL_STATE => sound::<pb::ClearAllStateCommand>(ty, payload),
        _ => {
            let set: pb::SetStateCommand = decode(ty, payload)?;
            present(ty, "value", set.value).map(drop)
        }
    }
}

fn access(handler: HandlerType, writes: bool) -> Result<(), Error> {
    let place = match handler {
        HandlerType::Exclusive | HandlerType::Workflow => return Ok(()),
        HandlerType::Shared if !writes => return Ok(()),
        HandlerType::Shared => "a shared handler",
        HandlerType::Service => "a plain service",
    };
    Err(Error::State { access: if writes { "changing" } else { "reading" }, place })
}

fn promise(scene: &Scene<'_>, ty: MessageType, payload: &Bytes) -> Result<(), Error> {
    match ty {
        MessageType::GET_PROMISE => sound::<pb::GetPromiseCommand>(ty, payload)?,
        MessageType::PEEK_PROMISE => sound::<pb::PeekPromiseCommand>(ty, payload)?,
        _ => {
            let complete: pb::CompletePromiseCommand = decode(ty, payload)?;
            present(ty, "completion", complete.completion).map(drop)?;
        }
    }
    if scene.service != ServiceType::Workflow {
        return Err(Error::Promise { service: scene.target.service.clone() });
    }
    Ok(())
}

// --- other invocations

fn send_signal(ty: MessageType, payload: &Bytes) -> Result<(), Error> {
    let signal: pb::SendSignalCommand = decode(ty, payload)?;
    signal.target_invocation_id.parse::<InvocationId>()?;
    present(ty, "signal", signal.signal_id)?;
    present(ty, "result", signal.result).map(drop)
}

fn complete_awakeable(ty: MessageType, payload: &Bytes) -> Result<(), Error> {
    let complete: pb::CompleteAwakeableCommand = decode(ty, payload)?;
    complete.awakeable_id.parse::<AwakeableId>()?;
    present(ty, "result", complete.result).map(drop)
}

/// Attach and get output: both have the same fields.
fn invocation(ty: MessageType, payload: &Bytes) -> Result<(), Error> {
    use pb::attach_invocation_command::Target;
    let attach: pb::AttachInvocationCommand = decode(ty, payload)?;
    match present(ty, "target", attach.target)? {
        Target::InvocationId(id) => id.parse::<InvocationId>().map(drop).map_err(Error::Id),
        Target::IdempotentRequestTarget(target) if target.scope.is_some() => Err(Error::Scoped),
        Target::WorkflowTarget(target) if target.scope.is_some() => Err(Error::Scoped),
        Target::IdempotentRequestTarget(target) if target.idempotency_key.is_empty() => {
            Err(Error::EmptyIdempotencyKey)
        }
        Target::IdempotentRequestTarget(_) | Target::WorkflowTarget(_) => Ok(()),
    }
}

/// Whether the message can be decoded, where nothing in it has to be there.
fn sound<M: prost::Message + Default>(ty: MessageType, payload: &Bytes) -> Result<(), Error> {
    decode::<M>(ty, payload).map(drop)
}
