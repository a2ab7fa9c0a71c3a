//! What the decisions of a short call cost, without disk and network: `cargo run --release -p
//! benches --bin machine`.

use benches::measure;
use bytes::Bytes;
use holdfast_machine::{
    apply::{Here, apply},
    command::{AttemptEnd, AttemptSaid, Command, Said},
    id::{InvocationId, PartitionId, Partitions},
    kv::{MemoryKv, Txn},
    model::{NewInvocation, Retention, Source, Target},
    time::Timestamp,
};
use holdfast_wire::{
    frame::{Decoder, Frame, PAYLOAD_BYTES_MAX_DEFAULT},
    manifest::HandlerType,
    message::MessageType,
};
use std::time::Duration;

const LONG_ENOUGH: Duration = Duration::from_secs(1);
const HERE: Here = Here::new(PartitionId(0), Partitions(1));
/// `OutputCommand` with an empty value.
const OUTPUT: &[u8] = &[0x72, 0x00];

fn main() {
    let mut store = MemoryKv::default();
    let mut number = 0;
    measure("echo: accepted and completed", LONG_ENOUGH, || {
        number += 1;
        echo(&mut store, number);
    });
    let frame = Frame::raw(MessageType::OUTPUT, Bytes::from(vec![7; 300])).encode();
    measure("frame of 300 bytes: decoded", LONG_ENOUGH, || {
        let mut decoder = Decoder::new(PAYLOAD_BYTES_MAX_DEFAULT);
        decoder.push(frame.clone());
        let decoded = decoder.next().expect("it is sound").expect("it is whole");
        assert_eq!(decoded.payload.len(), 300);
    });
}

/// The two commands that a short call is, each committed to a map in memory.
fn echo(store: &mut MemoryKv, number: u128) {
    let id = InvocationId::random("Bench", None, 0, number);
    let said = AttemptSaid {
        invocation: id,
        attempt: 1,
        pin: None,
        said: vec![Said::Command {
            ty: MessageType::OUTPUT,
            payload: Bytes::from_static(OUTPUT),
            callee: None,
        }],
        end: Some(AttemptEnd::Completed),
    };
    for command in [Command::Invoke(Box::new(call(id))), Command::Attempt(Box::new(said))] {
        let mut txn = Txn::new(store);
        let effects = apply(&mut txn, HERE, Timestamp(1), command).expect("the map can be read");
        assert!(!effects.is_empty(), "a call is told of");
        let writes = txn.into_writes();
        store.apply(writes);
    }
}

/// Nothing is kept of it, so that the map stays small.
fn call(id: InvocationId) -> NewInvocation {
    NewInvocation {
        id,
        target: Target {
            service: "Bench".into(),
            key: None,
            handler: "echo".into(),
            ty: HandlerType::Service,
        },
        argument: Bytes::from_static(b"\"hello\""),
        headers: vec![("content-type".into(), "application/json".into())],
        idempotency_key: None,
        source: Source::Ingress,
        root: id,
        start_at: None,
        retention: Retention::default(),
        lazy_state: false,
        random_seed: 1,
    }
}
