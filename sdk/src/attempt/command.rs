//! Commands as the journal holds them: which type each is, and when two of them agree.
//!
//! While an attempt replays, what the handler does now is held against what the journal says it
//! did. Must never let a handler go on that did something else before.

use bytes::Bytes;
use holdfast_wire::message::{MessageType, pb};
use serde_json::Value as Json;

/// A command that a handler gives.
pub(super) trait Command: prost::Message + Default {
    const TYPE: MessageType;

    /// What a person knows it by: the name given to it, or the target or key.
    fn label(&self) -> String;

    /// The name field, which errors relate to.
    fn name(&self) -> &str;

    /// The first thing in which the journal's command (`self`) differs from the one given now.
    fn difference(&self, now: &Self) -> Option<&'static str>;
}

/// Two payloads agree when they are the same bytes or the same JSON. The order of keys in a JSON
/// object does not count: maps that are hashed give another one in every process.
pub(crate) fn payloads_agree(one: &Bytes, other: &Bytes) -> bool {
    one == other || {
        let read = |bytes| serde_json::from_slice::<Json>(bytes).ok();
        read(one).zip(read(other)).is_some_and(|(one, other)| one == other)
    }
}

fn values_agree(one: Option<&pb::Value>, other: Option<&pb::Value>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => payloads_agree(&one.content, &other.content),
        (None, None) => true,
        _ => false,
    }
}

/// The first name whose condition does not hold.
macro_rules! first {
    ($($agrees:expr => $what:literal),+ $(,)?) => {
        [$(($agrees, $what)),+].into_iter().find(|(agrees, _)| !agrees).map(|(_, what)| what)
    };
}

macro_rules! command {
    ($message:ident, $ty:ident, |$label:ident| $text:expr,
        |$old:ident, $new:ident| { $($agrees:expr => $what:literal),+ $(,)? }) => {
        impl Command for pb::$message {
            const TYPE: MessageType = MessageType::$ty;

            fn label(&self) -> String {
                let $label = self;
                $text
            }

            fn name(&self) -> &str {
                &self.name
            }

            fn difference(&self, now: &Self) -> Option<&'static str> {
                let ($old, $new) = (self, now);
                first!($($agrees => $what),+)
            }
        }
    };
}

fn named(name: &str) -> String {
    if name.is_empty() { String::new() } else { format!("`{name}`") }
}

fn key(key: &Bytes) -> String {
    format!("key `{}`", String::from_utf8_lossy(key))
}

fn target(service: &str, key: &str, handler: &str) -> String {
    match key {
        "" => format!("`{service}/{handler}`"),
        key => format!("`{service}/{key}/{handler}`"),
    }
}

command!(RunCommand, RUN, |c| named(&c.name), |old, new| {
    old.name == new.name => "name",
    old.result_completion_id == new.result_completion_id => "position among awaited results",
});

// The time to wake up is taken from the journal.
command!(SleepCommand, SLEEP, |c| named(&c.name), |old, new| {
    old.name == new.name => "name",
    old.result_completion_id == new.result_completion_id => "position among awaited results",
});

command!(CallCommand, CALL, |c| target(&c.service_name, &c.key, &c.handler_name), |old, new| {
    old.service_name == new.service_name => "service",
    old.handler_name == new.handler_name => "handler",
    old.key == new.key => "key",
    payloads_agree(&old.parameter, &new.parameter) => "parameter",
    old.headers == new.headers => "headers",
    old.idempotency_key == new.idempotency_key => "idempotency key",
    old.name == new.name => "name",
    old.invocation_id_notification_idx == new.invocation_id_notification_idx
        && old.result_completion_id == new.result_completion_id => "position among awaited results",
});

// The time to start is taken from the journal.
command!(
    OneWayCallCommand, ONE_WAY_CALL,
    |c| target(&c.service_name, &c.key, &c.handler_name),
    |old, new| {
        old.service_name == new.service_name => "service",
        old.handler_name == new.handler_name => "handler",
        old.key == new.key => "key",
        payloads_agree(&old.parameter, &new.parameter) => "parameter",
        (old.invoke_time == 0) == (new.invoke_time == 0) => "delay",
        old.headers == new.headers => "headers",
        old.idempotency_key == new.idempotency_key => "idempotency key",
        old.name == new.name => "name",
        old.invocation_id_notification_idx == new.invocation_id_notification_idx
            => "position among awaited results",
    }
);

command!(OutputCommand, OUTPUT, |c| outcome(&c.result), |old, new| {
    outputs_agree(old, new) => "result",
});

fn outcome(result: &Option<pb::output_command::Result>) -> String {
    match result {
        Some(pb::output_command::Result::Failure(failure)) => {
            format!("failure {} `{}`", failure.code, failure.message)
        }
        _ => "a value".to_owned(),
    }
}

fn outputs_agree(old: &pb::OutputCommand, new: &pb::OutputCommand) -> bool {
    use pb::output_command::Result::{Failure, Value};
    match (&old.result, &new.result) {
        (Some(Value(old)), Some(Value(new))) => payloads_agree(&old.content, &new.content),
        (Some(Failure(old)), Some(Failure(new))) => old == new,
        (None, None) => true,
        _ => false,
    }
}

command!(GetLazyStateCommand, GET_LAZY_STATE, |c| key(&c.key), |old, new| {
    old.key == new.key => "key",
    old.result_completion_id == new.result_completion_id => "position among awaited results",
});

// What was read is taken from the journal.
command!(GetEagerStateCommand, GET_EAGER_STATE, |c| key(&c.key), |old, new| {
    old.key == new.key => "key",
});

command!(GetLazyStateKeysCommand, GET_LAZY_STATE_KEYS, |c| named(&c.name), |old, new| {
    old.result_completion_id == new.result_completion_id => "position among awaited results",
});

command!(GetEagerStateKeysCommand, GET_EAGER_STATE_KEYS, |c| named(&c.name), |old, new| {
    old.name == new.name => "name",
});

command!(SetStateCommand, SET_STATE, |c| key(&c.key), |old, new| {
    old.key == new.key => "key",
    values_agree(old.value.as_ref(), new.value.as_ref()) => "value",
});

command!(ClearStateCommand, CLEAR_STATE, |c| key(&c.key), |old, new| {
    old.key == new.key => "key",
});

command!(ClearAllStateCommand, CLEAR_ALL_STATE, |c| named(&c.name), |old, new| {
    old.name == new.name => "name",
});

command!(GetPromiseCommand, GET_PROMISE, |c| named(&c.key), |old, new| {
    old.key == new.key => "name of the promise",
    old.result_completion_id == new.result_completion_id => "position among awaited results",
});

command!(PeekPromiseCommand, PEEK_PROMISE, |c| named(&c.key), |old, new| {
    old.key == new.key => "name of the promise",
    old.result_completion_id == new.result_completion_id => "position among awaited results",
});

command!(CompletePromiseCommand, COMPLETE_PROMISE, |c| named(&c.key), |old, new| {
    old.key == new.key => "name of the promise",
    promises_agree(old, new) => "result",
    old.result_completion_id == new.result_completion_id => "position among awaited results",
});

fn promises_agree(old: &pb::CompletePromiseCommand, new: &pb::CompletePromiseCommand) -> bool {
    use pb::complete_promise_command::Completion::{CompletionFailure, CompletionValue};
    match (&old.completion, &new.completion) {
        (Some(CompletionValue(old)), Some(CompletionValue(new))) => {
            payloads_agree(&old.content, &new.content)
        }
        (Some(CompletionFailure(old)), Some(CompletionFailure(new))) => old == new,
        _ => false,
    }
}

command!(CompleteAwakeableCommand, COMPLETE_AWAKEABLE, |c| named(&c.awakeable_id), |old, new| {
    old.awakeable_id == new.awakeable_id => "id",
    awakeables_agree(old, new) => "result",
});

fn awakeables_agree(
    old: &pb::CompleteAwakeableCommand,
    new: &pb::CompleteAwakeableCommand,
) -> bool {
    use pb::complete_awakeable_command::Result::{Failure, Value};
    match (&old.result, &new.result) {
        (Some(Value(old)), Some(Value(new))) => payloads_agree(&old.content, &new.content),
        (Some(Failure(old)), Some(Failure(new))) => old == new,
        _ => false,
    }
}

command!(AttachInvocationCommand, ATTACH_INVOCATION, |c| attached(c), |old, new| {
    old.target == new.target => "target",
    old.result_completion_id == new.result_completion_id => "position among awaited results",
});

fn attached(command: &pb::AttachInvocationCommand) -> String {
    use pb::attach_invocation_command::Target;
    match &command.target {
        Some(Target::InvocationId(id)) => format!("`{id}`"),
        Some(Target::IdempotentRequestTarget(to)) => {
            format!("`{}/{}` by idempotency key", to.service_name, to.handler_name)
        }
        Some(Target::WorkflowTarget(to)) => {
            format!("`{}/{}`", to.workflow_name, to.workflow_key)
        }
        None => String::new(),
    }
}

command!(GetInvocationOutputCommand, GET_INVOCATION_OUTPUT, |c| attached(&c.clone().into()), |old, new| {
    old.target == new.target => "target",
    old.result_completion_id == new.result_completion_id => "position among awaited results",
});

impl Command for pb::SendSignalCommand {
    const TYPE: MessageType = MessageType::SEND_SIGNAL;

    fn label(&self) -> String {
        use pb::send_signal_command::SignalId;
        let target = &self.target_invocation_id;
        match &self.signal_id {
            Some(SignalId::Name(name)) => format!("`{name}` to `{target}`"),
            Some(SignalId::Idx(index)) => format!("{index} to `{target}`"),
            None => format!("to `{target}`"),
        }
    }

    fn name(&self) -> &str {
        &self.entry_name
    }

    fn difference(&self, now: &Self) -> Option<&'static str> {
        first!(
            self.target_invocation_id == now.target_invocation_id => "target",
            self.signal_id == now.signal_id => "signal",
            signals_agree(self, now) => "result",
        )
    }
}

fn signals_agree(old: &pb::SendSignalCommand, new: &pb::SendSignalCommand) -> bool {
    use pb::send_signal_command::Result::{Failure, Value, Void};
    match (&old.result, &new.result) {
        (Some(Value(old)), Some(Value(new))) => payloads_agree(&old.content, &new.content),
        (Some(Failure(old)), Some(Failure(new))) => old == new,
        (Some(Void(_)), Some(Void(_))) => true,
        _ => false,
    }
}

/// What a person knows a command of the journal by, given its type and bytes.
pub(super) fn label_of(ty: MessageType, payload: &Bytes) -> String {
    fn label<C: Command>(payload: &Bytes) -> String {
        C::decode(payload.clone()).map(|command| command.label()).unwrap_or_default()
    }
    match ty {
        MessageType::RUN => label::<pb::RunCommand>(payload),
        MessageType::SLEEP => label::<pb::SleepCommand>(payload),
        MessageType::CALL => label::<pb::CallCommand>(payload),
        MessageType::ONE_WAY_CALL => label::<pb::OneWayCallCommand>(payload),
        MessageType::OUTPUT => label::<pb::OutputCommand>(payload),
        MessageType::GET_LAZY_STATE => label::<pb::GetLazyStateCommand>(payload),
        MessageType::GET_EAGER_STATE => label::<pb::GetEagerStateCommand>(payload),
        MessageType::SET_STATE => label::<pb::SetStateCommand>(payload),
        MessageType::CLEAR_STATE => label::<pb::ClearStateCommand>(payload),
        MessageType::GET_PROMISE => label::<pb::GetPromiseCommand>(payload),
        MessageType::PEEK_PROMISE => label::<pb::PeekPromiseCommand>(payload),
        MessageType::COMPLETE_PROMISE => label::<pb::CompletePromiseCommand>(payload),
        MessageType::COMPLETE_AWAKEABLE => label::<pb::CompleteAwakeableCommand>(payload),
        MessageType::SEND_SIGNAL => label::<pb::SendSignalCommand>(payload),
        MessageType::ATTACH_INVOCATION => label::<pb::AttachInvocationCommand>(payload),
        MessageType::GET_INVOCATION_OUTPUT => label::<pb::GetInvocationOutputCommand>(payload),
        _ => String::new(),
    }
}
