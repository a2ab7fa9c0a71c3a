//! Conversations between a sidecar, played here, and handlers: what each said, line by line.
//!
//! `>` is what the sidecar says, `<` what the attempt answers. There is no I/O, so that every order
//! of events can be played.

mod bytes;
mod cancel;
mod combine;
mod mismatch;
mod replay;
mod said;
mod steps;
mod stray;
mod waits;

use crate::context::Context;
use crate::drive::{Called, Drive};
use crate::error::Result;
use crate::payload;
use ::bytes::Bytes;
use holdfast_wire::frame::{Decoder, Frame};
use holdfast_wire::message::pb::notification::Result as Outcome;
use holdfast_wire::message::pb::{self, Notification};
use holdfast_wire::message::{MessageType, pb::start::StateEntry};
use holdfast_wire::version::Version;
use serde::Serialize;
use std::future::Future;
use std::task::Waker;

/// What the sidecar does.
pub(crate) enum Say {
    Frame(Frame),
    /// Ends the request.
    End,
    /// The process of the service is asked to end.
    Drain,
}

/// A conversation, written down.
pub(crate) struct Conversation {
    drive: Drive,
    decoder: Decoder,
    written: String,
}

/// An attempt in version 7 of a handler.
pub(crate) fn v7<T, R>(handler: impl FnOnce(Context) -> R + Send + 'static) -> Conversation
where
    T: Serialize + Send + 'static,
    R: Future<Output = Result<T>> + Send + 'static,
{
    in_version(Version::V7, handler)
}

pub(crate) fn in_version<T, R>(
    version: Version,
    handler: impl FnOnce(Context) -> R + Send + 'static,
) -> Conversation
where
    T: Serialize + Send + 'static,
    R: Future<Output = Result<T>> + Send + 'static,
{
    let called = Called { service: "Test".into(), handler: "test".into() };
    let start = Box::new(move |context: Context, _: Bytes| -> crate::Running {
        Box::pin(async move {
            let settle = Context::new(context.shared.clone());
            let output = settle.settle(handler(context).await).await?;
            Ok(payload::encode(&output)?.bytes)
        })
    });
    Conversation {
        drive: Drive::new(version, 1 << 20, called, start),
        decoder: Decoder::new(1 << 20),
        written: String::new(),
    }
}

impl Conversation {
    /// The sidecar says several things in one piece, then the handler goes on as far as it can.
    pub(crate) fn hears(mut self, says: impl IntoIterator<Item = Say>) -> Conversation {
        for say in says {
            match say {
                Say::Frame(frame) => {
                    self.write('>', &said::phrase(&frame));
                    self.drive.handle_bytes(frame.encode());
                }
                Say::End => {
                    self.write('>', "the request ends");
                    self.drive.handle_end();
                }
                Say::Drain => {
                    self.write('>', "the process is to end");
                    self.drive.handle_drain();
                }
            }
        }
        self.go_on()
    }

    /// The handler goes on as far as it can.
    pub(crate) fn go_on(mut self) -> Conversation {
        self.drive.advance(Waker::noop());
        self.decoder.push(self.drive.take_output());
        while let Some(frame) = self.decoder.next().unwrap() {
            self.write('<', &said::phrase(&frame));
        }
        self
    }

    fn write(&mut self, who: char, what: &str) {
        self.written.push_str(&format!("{who} {}\n", said::without_lines(what)));
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.drive.is_closed()
    }

    pub(crate) fn check(&self, expected: expect_test::Expect) {
        expected.assert_eq(&self.written);
    }
}

pub(crate) fn frame(ty: MessageType, message: &impl prost::Message) -> Say {
    Say::Frame(Frame::of(ty, message))
}

/// The start of an attempt with that many entries, the input included.
pub(crate) fn start(entries: u32) -> Say {
    start_with(entries, |_| {})
}

pub(crate) fn start_with(entries: u32, change: impl FnOnce(&mut pb::Start)) -> Say {
    let mut start = pb::Start {
        id: Bytes::from_static(&[7; 24]),
        debug_id: "inv_test".to_owned(),
        known_entries: entries,
        random_seed: 7,
        ..pb::Start::default()
    };
    change(&mut start);
    frame(MessageType::START, &start)
}

pub(crate) fn entry(key: &str, value: &str) -> StateEntry {
    StateEntry { key: key.to_owned().into(), value: value.to_owned().into() }
}

pub(crate) fn input(value: &str) -> Say {
    let value = Some(pb::Value { content: value.to_owned().into() });
    frame(MessageType::INPUT, &pb::InputCommand { value, ..pb::InputCommand::default() })
}

pub(crate) fn value(text: &str) -> Outcome {
    Outcome::value(text.to_owned())
}

/// A completion of that type.
pub(crate) fn done(ty: MessageType, id: u32, outcome: Outcome) -> Say {
    frame(ty, &Notification::completion(id, outcome))
}

pub(crate) fn ran(id: u32, text: &str) -> Say {
    done(MessageType::RUN_COMPLETION, id, value(text))
}

pub(crate) fn ack(id: u32) -> Say {
    let ack = pb::ProposeRunCompletionAck { completion_id: id };
    frame(MessageType::PROPOSE_RUN_COMPLETION_ACK, &ack)
}

pub(crate) fn slept(id: u32) -> Say {
    done(MessageType::SLEEP_COMPLETION, id, Outcome::void())
}

pub(crate) fn called(id: u32, text: &str) -> Say {
    done(MessageType::CALL_COMPLETION, id, value(text))
}

pub(crate) fn runs_as(id: u32, invocation: &str) -> Say {
    let outcome = Outcome::InvocationId(invocation.to_owned());
    done(MessageType::CALL_INVOCATION_ID_COMPLETION, id, outcome)
}

pub(crate) fn cancel() -> Say {
    frame(MessageType::SIGNAL, &Notification::cancel())
}

pub(crate) fn signal(index: u32, text: &str) -> Say {
    frame(MessageType::SIGNAL, &Notification::signal(index, value(text)))
}

pub(crate) fn named_signal(name: &str, text: &str) -> Say {
    frame(MessageType::SIGNAL, &Notification::named_signal(name, value(text)))
}

pub(crate) fn held_run(id: u32, name: &str) -> Say {
    let name = name.to_owned();
    frame(MessageType::RUN, &pb::RunCommand { result_completion_id: id, name })
}

pub(crate) fn held_sleep(id: u32) -> Say {
    let command =
        pb::SleepCommand { wake_up_time: 1, result_completion_id: id, name: String::new() };
    frame(MessageType::SLEEP, &command)
}

pub(crate) fn held_call(id: u32, result: u32, handler: &str, parameter: &str) -> Say {
    let command = pb::CallCommand {
        service_name: "Other".to_owned(),
        handler_name: handler.to_owned(),
        parameter: parameter.to_owned().into(),
        invocation_id_notification_idx: id,
        result_completion_id: result,
        ..pb::CallCommand::default()
    };
    frame(MessageType::CALL, &command)
}
