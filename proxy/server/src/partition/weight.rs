//! How much memory work takes while it waits in a queue, about: what somebody else has sent counts
//! by its length, the rest as a fixed amount.

use super::queue::{COMMAND_BYTES, Work};
use bytes::Bytes;
use holdfast_machine::{
    command::{Command, Said},
    model::{NewInvocation, SignalValue},
    tables::push_config::PushConfig,
    task::{Message, NewTask},
};

/// Bytes that `work` holds, about.
pub(super) fn weight(work: &Work) -> usize {
    COMMAND_BYTES
        + match work {
            Work::Ask(ask) => payload(&ask.command),
            Work::Said(said) => said.said.iter().map(said_bytes).sum(),
            Work::Post(command) => payload(command),
            Work::Place { .. } | Work::AskAgain { .. } | Work::Leave { .. } => 0,
        }
}

fn said_bytes(said: &Said) -> usize {
    let (Said::Command { payload, .. } | Said::RunCompletion { payload, .. }) = said;
    COMMAND_BYTES + payload.len()
}

fn payload(command: &Command) -> usize {
    match command {
        Command::Invoke(new) => invocation(new),
        Command::StartTask { new, task } => invocation(new) + of_task(task),
        Command::MessageTask { message, .. } => of_message(&message.message),
        Command::AnswerAsk { answer, .. } => length(&answer.content),
        Command::PutPush { name, config, .. } => push(name, config),
        Command::Signal { value: SignalValue::Success(value), .. } => value.len(),
        Command::Deliver { message, .. } => message.len(),
        Command::PatchState { state, .. } => {
            state.iter().map(|(key, value)| key.len() + value.len()).sum()
        }
        _ => 0,
    }
}

fn invocation(new: &NewInvocation) -> usize {
    let headers = new.headers.iter().map(|(name, value)| name.len() + value.len());
    new.argument.len() + headers.sum::<usize>()
}

fn of_task(task: &NewTask) -> usize {
    let message = task.message.as_ref().map_or(0, |new| of_message(&new.message));
    let pushes = task.pushes.iter().map(|(name, config)| push(name, config));
    task.meta.len() + task.context.len() + message + pushes.sum::<usize>()
}

fn of_message(message: &Message) -> usize {
    let text = message.text.as_ref().map_or(0, String::len);
    message.id.len() + message.body.len() + length(&message.content) + text
}

fn push(name: &str, config: &PushConfig) -> usize {
    let credentials = config.authentication.as_ref();
    let credentials = credentials.map_or(0, |it| it.scheme.len() + it.credentials.len());
    name.len() + config.url.len() + config.token.len() + credentials
}

fn length(bytes: &Option<Bytes>) -> usize {
    bytes.as_ref().map_or(0, Bytes::len)
}

#[cfg(test)]
mod tests {
    use super::*;
    use holdfast_machine::{
        ask::Action,
        id::InvocationId,
        model::{Retention, Source, Target},
        task::NewMessage,
        time::Timestamp,
    };
    use holdfast_wire::manifest::HandlerType;

    fn id() -> InvocationId {
        InvocationId::random("s", None, 0, 0)
    }

    fn new_message() -> NewMessage {
        let message = Message {
            id: "x".into(),
            body: vec![0; 10].into(),
            action: Action::Accept,
            content: Some(vec![0; 100].into()),
            text: Some("x".repeat(1_000)),
            by: None,
        };
        NewMessage { message, digest: None, answers: None }
    }

    fn new_push() -> PushConfig {
        PushConfig {
            url: "x".repeat(100_000),
            token: "x".repeat(200_000),
            authentication: None,
            form: 0,
            created_at: Timestamp(0),
        }
    }

    #[test]
    fn what_somebody_sent_has_its_length() {
        let message = Command::MessageTask { task: id(), message: Box::new(new_message()) };
        assert_eq!(payload(&message), 1_111);
        let (name, config) = ("n".to_owned(), Box::new(new_push()));
        assert_eq!(payload(&Command::PutPush { invocation: id(), name, config }), 300_001);
        let new = NewInvocation {
            id: id(),
            target: Target {
                service: "s".into(),
                key: None,
                handler: "h".into(),
                ty: HandlerType::Service,
            },
            argument: vec![0; 2].into(),
            headers: vec![("a".into(), "bc".into())],
            idempotency_key: None,
            source: Source::Ingress,
            root: id(),
            start_at: None,
            retention: Retention::default(),
            lazy_state: false,
            random_seed: 0,
        };
        let task = NewTask {
            secret: 1,
            principal: "ada".into(),
            context: "c".repeat(20_000),
            door: "test".into(),
            meta: vec![0; 30_000].into(),
            digest: Bytes::new(),
            message: Some(new_message()),
            pushes: vec![("n".into(), new_push())],
        };
        let start = Command::StartTask { new: Box::new(new), task: Box::new(task) };
        assert_eq!(payload(&start), 5 + 20_000 + 30_000 + 1_111 + 300_001);
    }
}
