//! What one invocation asks of another. It crosses from partition to partition as a row of the
//! outbox, in the form of `proto/tables.proto`; within a partition it stays as it is.

use super::ask::{ask_in, ask_out};
use super::codec::{Bad, corrupt, encode};
use super::convert::*;
use super::feed::{artifact_in, artifact_out, progress_in, progress_out};
use super::invocation::{Sink, sink_in, sink_out};
use super::{TableId, generated as pb};
use crate::ask::Ask;
use crate::id::{InvocationId, PartitionKey};
use crate::kv::Fault;
use crate::model::*;
use crate::task::Told;
use crate::time::Timestamp;
use bytes::Bytes;
use prost::Message as _;

#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// Call a target; the sink, if there is one, is told the outcome.
    Invoke {
        new: Box<NewInvocation>,
        sink: Option<Sink>,
    },
    /// Fill a completion. Without an outcome: there is none yet, and the sink does not wait.
    Respond {
        sink: Sink,
        outcome: Option<Outcome>,
    },
    Signal {
        invocation: InvocationId,
        signal: SignalName,
        value: SignalValue,
    },
    Kill {
        invocation: InvocationId,
    },
    /// Tell the outcome to the sink: when it is there, or at once.
    Attach {
        invocation: InvocationId,
        sink: Sink,
    },
    /// Ask a person something; the root's partition keeps it. It has no number yet.
    Ask(Box<Ask>),
    /// What `caller` asks under `root` is wanted no more; with `tell`, it hears that it was
    /// cancelled.
    Withdraw {
        root: InvocationId,
        caller: InvocationId,
        tell: bool,
    },
    /// Tell those who follow `root`; the sink, if there is one, hears when it was told.
    Tell {
        root: InvocationId,
        told: Box<Told>,
        sink: Option<Sink>,
    },
}

impl Message {
    /// Whom it concerns.
    pub fn to(&self) -> PartitionKey {
        let id = match self {
            Message::Invoke { new, .. } => new.id,
            Message::Respond { sink, .. } => sink.caller,
            Message::Signal { invocation, .. }
            | Message::Kill { invocation }
            | Message::Attach { invocation, .. } => *invocation,
            Message::Ask(ask) => ask.root,
            Message::Withdraw { root, .. } | Message::Tell { root, .. } => *root,
        };
        id.partition_key
    }

    pub fn encode(&self) -> Bytes {
        use pb::message::tell::What;
        use pb::message::{Attach, Invoke, Message as Out, Respond, Signal, Tell, Withdraw};
        let message = match self {
            Message::Invoke { new, sink } => Out::Invoke(Invoke {
                invocation: Some(new_out(new)),
                sink: sink.as_ref().map(sink_out),
            }),
            Message::Respond { sink, outcome } => Out::Respond(Respond {
                sink: Some(sink_out(sink)),
                outcome: outcome.as_ref().map(outcome_out),
            }),
            Message::Signal { invocation, signal, value } => Out::Signal(Signal {
                invocation: id_out(*invocation),
                signal: Some(signal_name_out(signal)),
                value: Some(signal_value_out(value)),
            }),
            Message::Kill { invocation } => Out::Kill(id_out(*invocation)),
            Message::Attach { invocation, sink } => {
                Out::Attach(Attach { invocation: id_out(*invocation), sink: Some(sink_out(sink)) })
            }
            Message::Ask(ask) => Out::Ask(ask_out(ask)),
            Message::Withdraw { root, caller, tell } => Out::Withdraw(Withdraw {
                root: id_out(*root),
                caller: id_out(*caller),
                tell: *tell,
            }),
            Message::Tell { root, told, sink } => {
                let what = match &**told {
                    Told::Progress(progress) => What::Progress(progress_out(progress)),
                    Told::Artifact(artifact) => What::Artifact(artifact_out(artifact)),
                };
                let sink = sink.as_ref().map(sink_out);
                Out::Tell(Tell { root: id_out(*root), what: Some(what), sink })
            }
        };
        encode(&pb::Message { message: Some(message) })
    }

    /// # Errors
    /// If no partition of ours can have sent this.
    pub fn decode(bytes: Bytes) -> Result<Message, Fault> {
        let message = pb::Message::decode(bytes)
            .map_err(|error| corrupt(TableId::Outbox, error.to_string()))?;
        message_in(message).map_err(|bad| bad.of(TableId::Outbox))
    }
}

fn message_in(message: pb::Message) -> Result<Message, Bad> {
    use pb::message::Message as In;
    let sink = |sink: Option<pb::Sink>| sink_in(sink.ok_or(Bad("a sink is missing"))?);
    Ok(match message.message.ok_or(Bad("a message is empty"))? {
        In::Invoke(invoke) => Message::Invoke {
            new: Box::new(new_in(invoke.invocation.ok_or(Bad("an invocation is missing"))?)?),
            sink: invoke.sink.map(sink_in).transpose()?,
        },
        In::Respond(respond) => Message::Respond {
            sink: sink(respond.sink)?,
            outcome: respond.outcome.map(outcome_in).transpose()?,
        },
        In::Signal(signal) => Message::Signal {
            invocation: id_in(&signal.invocation)?,
            signal: signal_name_in(signal.signal.ok_or(Bad("a signal is missing"))?)?,
            value: signal_value_in(signal.value.ok_or(Bad("a signal has no value"))?)?,
        },
        In::Kill(invocation) => Message::Kill { invocation: id_in(&invocation)? },
        In::Attach(attach) => {
            Message::Attach { invocation: id_in(&attach.invocation)?, sink: sink(attach.sink)? }
        }
        In::Ask(ask) => Message::Ask(Box::new(ask_in(ask)?)),
        In::Withdraw(withdraw) => Message::Withdraw {
            root: id_in(&withdraw.root)?,
            caller: id_in(&withdraw.caller)?,
            tell: withdraw.tell,
        },
        In::Tell(tell) => {
            use pb::message::tell::What;
            let told = match tell.what.ok_or(Bad("nothing is told"))? {
                What::Progress(progress) => Told::Progress(progress_in(progress)),
                What::Artifact(artifact) => Told::Artifact(artifact_in(artifact)),
            };
            let sink = tell.sink.map(sink_in).transpose()?;
            Message::Tell { root: id_in(&tell.root)?, told: Box::new(told), sink }
        }
    })
}

fn new_out(new: &NewInvocation) -> pb::NewInvocation {
    pb::NewInvocation {
        id: id_out(new.id),
        target: Some(target_out(&new.target)),
        argument: new.argument.clone(),
        headers: pairs_out(&new.headers),
        idempotency_key: new.idempotency_key.clone(),
        source: Some(source_out(&new.source)),
        root: id_out(new.root),
        start_at: new.start_at.map(|time| time.0),
        retention: Some(retention_out(new.retention)),
        lazy_state: new.lazy_state,
        random_seed: new.random_seed,
    }
}

fn new_in(new: pb::NewInvocation) -> Result<NewInvocation, Bad> {
    Ok(NewInvocation {
        id: id_in(&new.id)?,
        target: target_in(new.target)?,
        argument: new.argument,
        headers: pairs_in(new.headers),
        idempotency_key: new.idempotency_key,
        source: source_in(new.source)?,
        root: id_in(&new.root)?,
        start_at: new.start_at.map(Timestamp),
        retention: retention_in(new.retention)?,
        lazy_state: new.lazy_state,
        random_seed: new.random_seed,
    })
}

#[cfg(test)]
mod tests {
    use super::super::arbitrary;
    use super::*;
    use proptest::option;
    use proptest::prelude::*;

    fn new_invocation() -> impl Strategy<Value = NewInvocation> {
        let who = (arbitrary::id(), arbitrary::target(), arbitrary::source(), arbitrary::id());
        let what = (arbitrary::bytes(), any::<Vec<(String, String)>>(), any::<Option<String>>());
        let how = (option::of(arbitrary::time()), arbitrary::retention(), any::<(bool, u64)>());
        (who, what, how).prop_map(|(who, what, how)| {
            let (id, target, source, root) = who;
            let (argument, headers, idempotency_key) = what;
            let (start_at, retention, (lazy_state, random_seed)) = how;
            NewInvocation {
                id,
                target,
                argument,
                headers,
                idempotency_key,
                source,
                root,
                start_at,
                retention,
                lazy_state,
                random_seed,
            }
        })
    }

    fn told() -> impl Strategy<Value = Told> {
        prop_oneof![
            arbitrary::progress().prop_map(Told::Progress),
            arbitrary::artifact().prop_map(Told::Artifact),
        ]
    }

    fn message() -> impl Strategy<Value = Message> {
        prop_oneof![
            (new_invocation(), option::of(arbitrary::sink()))
                .prop_map(|(new, sink)| { Message::Invoke { new: Box::new(new), sink } }),
            (arbitrary::sink(), option::of(arbitrary::outcome()))
                .prop_map(|(sink, outcome)| Message::Respond { sink, outcome }),
            (arbitrary::id(), arbitrary::signal_name(), arbitrary::signal_value()).prop_map(
                |(invocation, signal, value)| Message::Signal { invocation, signal, value }
            ),
            arbitrary::id().prop_map(|invocation| Message::Kill { invocation }),
            (arbitrary::id(), arbitrary::sink())
                .prop_map(|(invocation, sink)| Message::Attach { invocation, sink }),
            arbitrary::ask().prop_map(|ask| Message::Ask(Box::new(ask))),
            (arbitrary::id(), arbitrary::id(), any::<bool>())
                .prop_map(|(root, caller, tell)| Message::Withdraw { root, caller, tell }),
            (arbitrary::id(), told(), option::of(arbitrary::sink()))
                .prop_map(|(root, told, sink)| Message::Tell { root, told: Box::new(told), sink }),
        ]
    }

    proptest! {
        #[test]
        fn messages_round_trip(message in message()) {
            prop_assert_eq!(Message::decode(message.encode()), Ok(message));
        }
    }

    #[test]
    fn what_nobody_sends_is_corrupt() {
        for bytes in [Bytes::new(), Bytes::from_static(b"garbage"), Bytes::from_static(&[0x0a, 0])]
        {
            let fault = Message::decode(bytes).unwrap_err();
            assert!(matches!(fault, Fault::Corrupt { table: "outbox", .. }), "{fault}");
        }
    }
}
