//! Calls that handlers make, and questions about other invocations. The id of a callee is derived,
//! so that nothing has to be asked before the caller is told it.

use super::Turn;
use crate::ask::is_ours;
use crate::id::InvocationId;
use crate::kv::Fault;
use crate::model::*;
use crate::tables::invocation::{Record, Sink, SinkKind};
use crate::tables::message::Message;
use crate::time::Timestamp;
use bytes::Bytes;
use holdfast_wire::manifest::HandlerType;
use holdfast_wire::message::pb::notification::Result as Content;
use holdfast_wire::message::{MessageType, pb};

const NOT_FOUND: u32 = 404;

/// What call and one-way call have in common.
pub(super) struct Call {
    pub service: String,
    pub handler: String,
    key: String,
    idempotency_key: Option<String>,
    pub argument: Bytes,
    headers: Vec<pb::Header>,
    start_at: Option<Timestamp>,
}

impl Call {
    fn new(command: pb::CallCommand, start_at: Option<Timestamp>) -> Call {
        Call {
            service: command.service_name,
            handler: command.handler_name,
            key: command.key,
            idempotency_key: command.idempotency_key,
            argument: command.parameter,
            headers: command.headers,
            start_at,
        }
    }
}

impl Turn<'_, '_> {
    pub(super) fn call(
        &mut self,
        id: InvocationId,
        record: &mut Record,
        entry: u32,
        (command, callee): (pb::CallCommand, Option<Callee>),
    ) -> Result<(), Fault> {
        let Some(callee) = callee else {
            let content = Content::failure(NOT_FOUND, "no such service or handler");
            let completion = (command.result_completion_id, content);
            return self
                .complete_command(id, record, MessageType::CALL_COMPLETION, completion)
                .map(drop);
        };
        let (told, completion) =
            (command.invocation_id_notification_idx, command.result_completion_id);
        let call = Call::new(command, None);
        if is_ours(&call.service) {
            return self.call_ours((id, record), entry, call, (told, Some(completion)));
        }
        let sink = Sink { caller: id, completion, kind: SinkKind::Call };
        let new = callee_of(id, record, entry, call, callee);
        self.tell_callee(id, record, told, new.id)?;
        self.send(Message::Invoke { new: Box::new(new), sink: Some(sink) })
    }

    pub(super) fn one_way_call(
        &mut self,
        id: InvocationId,
        record: &mut Record,
        entry: u32,
        (command, callee): (pb::OneWayCallCommand, Option<Callee>),
    ) -> Result<(), Fault> {
        let Some(callee) = callee else { return Ok(()) }; // The attempt refuses such calls.
        let told = command.invocation_id_notification_idx;
        let start_at = (command.invoke_time > 0).then_some(Timestamp(command.invoke_time));
        let call = Call::new(command.into(), start_at);
        if is_ours(&call.service) {
            return self.call_ours((id, record), entry, call, (told, None));
        }
        let new = callee_of(id, record, entry, call, callee);
        self.tell_callee(id, record, told, new.id)?;
        self.send(Message::Invoke { new: Box::new(new), sink: None })
    }

    pub(super) fn tell_callee(
        &mut self,
        id: InvocationId,
        record: &mut Record,
        completion: u32,
        callee: InvocationId,
    ) -> Result<(), Fault> {
        record.journal.calls += 1;
        let content = Content::InvocationId(callee.to_string());
        let ty = MessageType::CALL_INVOCATION_ID_COMPLETION;
        self.complete_command(id, record, ty, (completion, content)).map(drop)
    }

    /// Waits for the outcome of another invocation, or only looks for it, as `kind` says.
    pub(super) fn attach_invocation(
        &mut self,
        id: InvocationId,
        record: &mut Record,
        kind: SinkKind,
        command: pb::AttachInvocationCommand,
    ) -> Result<(), Fault> {
        use pb::attach_invocation_command::Target;
        let target = match command.target {
            Some(Target::InvocationId(id)) => id.parse().ok(),
            Some(Target::IdempotentRequestTarget(target)) => Some(idempotent(&target)),
            Some(Target::WorkflowTarget(target)) => Some(workflow(&target)),
            None => None,
        };
        let completion = command.result_completion_id;
        if let Some(invocation) = target {
            let sink = Sink { caller: id, completion, kind };
            return self.send(Message::Attach { invocation, sink });
        }
        let ty = match kind {
            SinkKind::Output => MessageType::GET_INVOCATION_OUTPUT_COMPLETION,
            SinkKind::Attach | SinkKind::Call | SinkKind::Schedule => {
                MessageType::ATTACH_INVOCATION_COMPLETION
            }
        };
        let content = Content::failure(NOT_FOUND, "not found");
        self.complete_command(id, record, ty, (completion, content)).map(drop)
    }
}

fn idempotent(target: &pb::IdempotentRequestTarget) -> InvocationId {
    InvocationId::idempotent(
        &target.service_name,
        target.service_key.as_deref(),
        &target.handler_name,
        &target.idempotency_key,
    )
}

fn workflow(target: &pb::WorkflowTarget) -> InvocationId {
    InvocationId::workflow(&target.workflow_name, &target.workflow_key)
}

fn callee_of(
    parent: InvocationId,
    record: &Record,
    entry: u32,
    call: Call,
    callee: Callee,
) -> NewInvocation {
    let key = (callee.ty != HandlerType::Service).then_some(call.key);
    let idempotency_key = call.idempotency_key.filter(|_| callee.ty != HandlerType::Workflow);
    let id = match (&key, &idempotency_key) {
        (Some(key), _) if callee.ty == HandlerType::Workflow => {
            InvocationId::workflow(&call.service, key)
        }
        (_, Some(idempotency_key)) => {
            InvocationId::idempotent(&call.service, key.as_deref(), &call.handler, idempotency_key)
        }
        _ => InvocationId::child(parent, entry, key.as_deref()),
    };
    NewInvocation {
        id,
        argument: call.argument,
        headers: call.headers.into_iter().map(|header| (header.key, header.value)).collect(),
        retention: match idempotency_key {
            Some(_) => callee.idempotent_retention,
            None => callee.retention,
        },
        idempotency_key,
        source: Source::Service { invocation: parent, target: record.target.clone() },
        root: record.root,
        start_at: call.start_at,
        lazy_state: callee.lazy_state,
        // As good as chance: the id is a hash.
        random_seed: id.uuid as u64,
        target: Target { service: call.service, key, handler: call.handler, ty: callee.ty },
    }
}
