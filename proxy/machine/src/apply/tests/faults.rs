//! What must not happen: rows and messages that this program cannot have written stop the
//! partition, and what is merely early or late does nothing.

use crate::apply::{Here, apply};
use crate::command::*;
use crate::effect::Effect;
use crate::id::{InvocationId, PartitionId, PartitionKey, Partitions};
use crate::kv::{Fault, MemoryKv, Txn};
use crate::model::SignalName;
use crate::tables::message::Message;
use crate::tables::timer::{self, Timer, TimerKind};
use crate::time::Timestamp;
use bytes::Bytes;
use expect_test::{Expect, expect};
use holdfast_wire::message::MessageType;

const HERE: Here = Here::new(PartitionId(1), Partitions(3));
const NOW: Timestamp = Timestamp(100);

fn id(number: u64) -> InvocationId {
    let partition_key = PartitionKey(u64::MAX / 2 + number);
    InvocationId { partition_key, uuid: u128::from(number) }
}

fn run(kv: &mut MemoryKv, command: Command) -> Result<Vec<Effect>, Fault> {
    let mut txn = Txn::new(kv);
    let effects = apply(&mut txn, HERE, NOW, command)?;
    let writes = txn.into_writes();
    kv.apply(writes);
    Ok(effects)
}

#[track_caller]
fn check(kv: &mut MemoryKv, command: Command, expected: Expect) {
    let before = kv.clone();
    let fault = run(kv, command).unwrap_err();
    assert_eq!(*kv, before, "a fault leaves no trace");
    expected.assert_eq(&fault.to_string());
}

fn deliver(sequence: u64, message: Bytes) -> Command {
    Command::Deliver { from: PartitionId(0), sequence, message }
}

#[test]
fn messages_come_in_order_and_whole() {
    let kv = &mut MemoryKv::default();
    let kill = Message::Kill { invocation: id(1) }.encode();
    check(
        kv,
        deliver(2, kill.clone()),
        expect!["corrupt row in table dedup: message 2 of partition 0 came where 1 was expected"],
    );
    check(
        kv,
        deliver(1, Bytes::from_static(b"garbage")),
        expect![
            "corrupt row in table outbox: failed to decode Protobuf message: invalid wire type value: 7"
        ],
    );
    assert_eq!(run(kv, deliver(1, kill.clone())), Ok(vec![]));
    assert_eq!(run(kv, deliver(1, Bytes::from_static(b"garbage"))), Ok(vec![]), "a duplicate");
    assert_eq!(run(kv, deliver(2, kill)), Ok(vec![]));
}

#[test]
fn timers_are_of_this_partition_and_due() {
    let kv = &mut MemoryKv::default();
    let timer = Timer::new(Timestamp(101), TimerKind::Start, id(1));
    check(
        kv,
        Command::TimerDue { key: b"t".to_vec(), callee: None },
        expect!["corrupt row in table timer: a key that is due is malformed"],
    );
    check(
        kv,
        Command::TimerDue { key: timer.key(PartitionId(2)), callee: None },
        expect!["corrupt row in table timer: a key that is due is of another partition"],
    );
    let mut txn = Txn::new(kv);
    timer::put(&mut txn, HERE.partition, &timer);
    let writes = txn.into_writes();
    kv.apply(writes);
    let early = run(kv, Command::TimerDue { key: timer.key(HERE.partition), callee: None });
    assert_eq!(early, Ok(vec![Effect::WakeAt(Timestamp(101))]));
    assert!(timer::exists(kv, HERE.partition, &timer).unwrap());
}

/// A running invocation whose attempt 1 says something.
fn saying(kv: &mut MemoryKv, said: Said) -> Command {
    let invocation = id(1);
    let invoke = super::script::new_invocation(invocation, "Greeter/greet");
    run(kv, Command::Invoke(Box::new(invoke))).unwrap();
    let said = AttemptSaid { invocation, attempt: 1, pin: None, said: vec![said], end: None };
    Command::Attempt(Box::new(said))
}

#[test]
fn what_was_validated_can_be_read() {
    let kv = &mut MemoryKv::default();
    let payload = Bytes::from_static(b"garbage");
    let call = Said::Command { ty: MessageType::CALL, payload: payload.clone(), callee: None };
    let command = saying(kv, call);
    check(
        kv,
        command,
        expect![
            "corrupt row in table journal: failed to decode Protobuf message: invalid wire type value: 7"
        ],
    );
    let command = saying(kv, Said::RunCompletion { completion: 1, payload });
    check(
        kv,
        command,
        expect![
            "corrupt row in table journal: failed to decode Protobuf message: invalid wire type value: 7"
        ],
    );
    let command = saying(kv, Said::RunCompletion { completion: 1, payload: Bytes::new() });
    check(
        kv,
        command,
        expect!["corrupt row in table journal: a run completion is about something else"],
    );
}

#[test]
fn a_row_that_is_garbage_stops_the_partition() {
    let kv = &mut MemoryKv::default();
    kv.0.insert(crate::tables::invocation::key(HERE.partition, id(1)), Bytes::from_static(b"x"));
    check(
        kv,
        Command::Cancel { invocation: id(1) },
        expect![
            "corrupt row in table invocation: failed to decode Protobuf message: Invocation.events: invalid wire type: Varint (expected LengthDelimited)"
        ],
    );
    let value = crate::model::SignalValue::Void;
    let signal = SignalName::Index(17);
    check(
        kv,
        Command::Signal { invocation: id(1), signal, value },
        expect![
            "corrupt row in table invocation: failed to decode Protobuf message: Invocation.events: invalid wire type: Varint (expected LengthDelimited)"
        ],
    );
}
