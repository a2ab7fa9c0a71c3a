//! What a command says, field by field, so that two of them can be held against each other. The
//! names are those of the protocol, which SDKs use in their errors too.

use super::form::{self, Form};
use crate::model::Entry;
use bytes::Bytes;
use holdfast_wire::message::{MessageType, pb};
use prost::{DecodeError, Message};

/// One field of a recorded command.
pub(super) struct Field {
    pub name: &'static str,
    pub form: Form,
    /// As an SDK writes it.
    pub text: String,
    /// Whether SDKs compare it with what the handler does now.
    pub compared: bool,
}

/// The field of every command that has the name a user gave to it.
pub(super) const NAME: &str = "name";

/// The fields of a command, its name first. One that cannot be decoded has none.
pub(super) fn of(command: &Entry) -> Vec<Field> {
    read(command.ty, command.payload.clone()).map(|fields| fields.0).unwrap_or_default()
}

struct Fields(Vec<Field>);

fn read(ty: MessageType, payload: Bytes) -> Result<Fields, DecodeError> {
    use MessageType as T;
    Ok(match ty {
        T::OUTPUT => output(&pb::OutputCommand::decode(payload)?),
        T::CALL => call(&pb::CallCommand::decode(payload)?),
        T::ONE_WAY_CALL => one_way_call(pb::OneWayCallCommand::decode(payload)?),
        T::SLEEP => {
            let it = pb::SleepCommand::decode(payload)?;
            let fields = Fields::new(&it.name).completion(it.result_completion_id);
            fields.uncompared("wake_up_time", it.wake_up_time)
        }
        T::RUN => {
            let it = pb::RunCommand::decode(payload)?;
            Fields::new(&it.name).completion(it.result_completion_id)
        }
        T::SEND_SIGNAL => send_signal(&pb::SendSignalCommand::decode(payload)?),
        T::COMPLETE_AWAKEABLE => awakeable(&pb::CompleteAwakeableCommand::decode(payload)?),
        T::ATTACH_INVOCATION => attach(pb::AttachInvocationCommand::decode(payload)?),
        T::GET_INVOCATION_OUTPUT => attach(pb::GetInvocationOutputCommand::decode(payload)?.into()),
        T::GET_PROMISE | T::PEEK_PROMISE | T::COMPLETE_PROMISE => promise(ty, payload)?,
        _ => state(ty, payload)?,
    })
}

impl Fields {
    fn new(name: &str) -> Fields {
        Fields(vec![]).plain(NAME, name)
    }

    fn put(mut self, name: &'static str, form: Form, text: String) -> Fields {
        self.0.push(Field { name, form, text, compared: true });
        self
    }

    fn plain(self, name: &'static str, value: impl ToString) -> Fields {
        self.put(name, Form::Plain, value.to_string())
    }

    fn optional(self, name: &'static str, value: Option<&str>) -> Fields {
        self.put(name, Form::Plain, form::optional(value))
    }

    fn state_key(self, key: &Bytes) -> Fields {
        self.put("key", Form::Key, form::bytes(key))
    }

    fn payload(self, name: &'static str, text: String) -> Fields {
        self.put(name, Form::Payload, text)
    }

    fn completion(self, id: u32) -> Fields {
        self.plain("result_completion_id", id)
    }

    /// A time of zero is none.
    fn uncompared(mut self, name: &'static str, time: u64) -> Fields {
        if time > 0 {
            let text = time.to_string();
            self.0.push(Field { name, form: Form::Plain, text, compared: false });
        }
        self
    }
}

fn output(it: &pb::OutputCommand) -> Fields {
    use pb::output_command::Result as R;
    Fields::new(&it.name).payload(
        "result",
        match &it.result {
            Some(R::Value(value)) => form::value(Some(value)),
            Some(R::Failure(failure)) => form::failure(failure),
            None => form::absent(),
        },
    )
}

fn call(it: &pb::CallCommand) -> Fields {
    called(it).completion(it.result_completion_id)
}

fn one_way_call(it: pb::OneWayCallCommand) -> Fields {
    let invoke_time = it.invoke_time;
    called(&it.into()).uncompared("invoke_time", invoke_time)
}

/// What calls of both kinds have.
fn called(it: &pb::CallCommand) -> Fields {
    Fields::new(&it.name)
        .plain("service_name", &it.service_name)
        .plain("handler_name", &it.handler_name)
        .plain("key", &it.key)
        .payload("parameter", form::bytes(&it.parameter))
        .put("headers", Form::Headers, form::headers(&it.headers))
        .optional("idempotency_key", it.idempotency_key.as_deref())
        .optional("scope", it.scope.as_deref())
        .optional("limit_key", it.limit_key.as_deref())
        .plain("invocation_id_notification_idx", it.invocation_id_notification_idx)
}

fn send_signal(it: &pb::SendSignalCommand) -> Fields {
    use pb::send_signal_command::{Result as R, SignalId};
    let signal = match &it.signal_id {
        Some(SignalId::Idx(index)) => index.to_string(),
        Some(SignalId::Name(name)) => name.clone(),
        None => form::absent(),
    };
    let result = match &it.result {
        Some(R::Void(_)) => form::void(),
        Some(R::Value(value)) => form::value(Some(value)),
        Some(R::Failure(failure)) => form::failure(failure),
        None => form::absent(),
    };
    Fields::new(&it.entry_name)
        .plain("target_invocation_id", &it.target_invocation_id)
        .plain("signal_id", signal)
        .payload("result", result)
}

fn awakeable(it: &pb::CompleteAwakeableCommand) -> Fields {
    use pb::complete_awakeable_command::Result as R;
    let result = match &it.result {
        Some(R::Value(value)) => form::value(Some(value)),
        Some(R::Failure(failure)) => form::failure(failure),
        None => form::absent(),
    };
    Fields::new(&it.name).plain("awakeable_id", &it.awakeable_id).payload("result", result)
}

fn attach(it: pb::AttachInvocationCommand) -> Fields {
    use pb::attach_invocation_command::Target as T;
    let target = match it.target {
        Some(T::InvocationId(id)) => id,
        Some(T::IdempotentRequestTarget(_)) => "IdempotentRequestTarget".to_owned(),
        Some(T::WorkflowTarget(_)) => "WorkflowTarget".to_owned(),
        None => form::absent(),
    };
    Fields::new(&it.name).plain("target", target).completion(it.result_completion_id)
}

fn promise(ty: MessageType, payload: Bytes) -> Result<Fields, DecodeError> {
    use pb::complete_promise_command::Completion as C;
    let of = |name: &str, key: &str, completion| {
        Fields::new(name).plain("key", key).completion(completion)
    };
    Ok(match ty {
        MessageType::GET_PROMISE => {
            let it = pb::GetPromiseCommand::decode(payload)?;
            of(&it.name, &it.key, it.result_completion_id)
        }
        MessageType::PEEK_PROMISE => {
            let it = pb::PeekPromiseCommand::decode(payload)?;
            of(&it.name, &it.key, it.result_completion_id)
        }
        _ => {
            let it = pb::CompletePromiseCommand::decode(payload)?;
            let completion = match &it.completion {
                Some(C::CompletionValue(value)) => form::value(Some(value)),
                Some(C::CompletionFailure(failure)) => form::failure(failure),
                None => form::absent(),
            };
            of(&it.name, &it.key, it.result_completion_id).payload("completion", completion)
        }
    })
}

fn state(ty: MessageType, payload: Bytes) -> Result<Fields, DecodeError> {
    use MessageType as T;
    use pb::get_eager_state_command::Result as R;
    Ok(match ty {
        T::SET_STATE => {
            let it = pb::SetStateCommand::decode(payload)?;
            let fields = Fields::new(&it.name).state_key(&it.key);
            fields.payload("value", form::value(it.value.as_ref()))
        }
        T::CLEAR_STATE => {
            let it = pb::ClearStateCommand::decode(payload)?;
            Fields::new(&it.name).state_key(&it.key)
        }
        T::GET_LAZY_STATE => {
            let it = pb::GetLazyStateCommand::decode(payload)?;
            Fields::new(&it.name).state_key(&it.key).completion(it.result_completion_id)
        }
        T::GET_LAZY_STATE_KEYS => {
            let it = pb::GetLazyStateKeysCommand::decode(payload)?;
            Fields::new(&it.name).completion(it.result_completion_id)
        }
        T::GET_EAGER_STATE => {
            let it = pb::GetEagerStateCommand::decode(payload)?;
            let result = match &it.result {
                Some(R::Value(value)) => form::value(Some(value)),
                Some(R::Void(_)) => form::void(),
                None => form::absent(),
            };
            Fields::new(&it.name).state_key(&it.key).payload("result", result)
        }
        T::GET_EAGER_STATE_KEYS => {
            let it = pb::GetEagerStateKeysCommand::decode(payload)?;
            Fields::new(&it.name).plain("value", form::keys(it.value.as_ref()))
        }
        T::CLEAR_ALL_STATE => Fields::new(&pb::ClearAllStateCommand::decode(payload)?.name),
        _ => Fields(vec![]), // The input is never compared.
    })
}
