//! What the short life of a simple call may cost: a few rows, and never a scan.

use crate::apply::{Here, apply};
use crate::command::*;
use crate::id::{InvocationId, PartitionId, PartitionKey, Partitions};
use crate::kv::{Fault, Kv, MemoryKv, Txn};
use crate::model::Retention;
use crate::tables::TableId;
use crate::time::Timestamp;
use bytes::Bytes;
use expect_test::{Expect, expect};
use holdfast_wire::message::{MessageType, pb};
use prost::Message as _;
use std::time::Duration;

/// A store that refuses to be scanned.
struct GetOnly(MemoryKv);

impl Kv for GetOnly {
    fn get(&self, key: &[u8]) -> Result<Option<Bytes>, Fault> {
        self.0.get(key)
    }

    fn scan(
        &self,
        from: &[u8],
        _: &[u8],
        _: &mut dyn FnMut(&[u8], &[u8]) -> bool,
    ) -> Result<(), Fault> {
        panic!("a scan of table {:?}", TableId::of_key(from))
    }
}

/// Calls a target, lets its attempt answer, and tells which rows each of the two commands wrote.
#[track_caller]
fn check(target: &str, retention_ms: u64, expected: Expect) {
    let id = InvocationId { partition_key: PartitionKey(1), uuid: 1 };
    let completion = Duration::from_millis(retention_ms);
    let new =
        NewInvocationOf { id, target, retention: Retention { completion, journal: completion } };
    let output = pb::OutputCommand {
        result: Some(pb::output_command::Result::Value(pb::Value::default())),
        ..Default::default()
    };
    let payload = output.encode_to_vec().into();
    let said = AttemptSaid {
        invocation: id,
        attempt: 1,
        pin: None,
        said: vec![Said::Command { ty: MessageType::OUTPUT, payload, callee: None }],
        end: Some(AttemptEnd::Completed),
    };
    let mut store = GetOnly(MemoryKv::default());
    let mut rows = String::new();
    for command in [new.command(), Command::Attempt(Box::new(said))] {
        let mut txn = Txn::new(&store);
        let here = Here::new(PartitionId(0), Partitions(1));
        apply(&mut txn, here, Timestamp(1), command).unwrap();
        let writes = txn.into_writes();
        for (key, value) in &writes {
            let table = TableId::of_key(key).unwrap().name();
            rows += &format!("{}{table} ", if value.is_some() { "+" } else { "-" });
        }
        rows = format!("{}\n", rows.trim_end());
        store.0.apply(writes);
    }
    expected.assert_eq(&rows);
}

struct NewInvocationOf<'a> {
    id: InvocationId,
    target: &'a str,
    retention: Retention,
}

impl NewInvocationOf<'_> {
    fn command(&self) -> Command {
        let mut new = super::script::new_invocation(self.id, self.target);
        new.retention = self.retention;
        Command::Invoke(Box::new(new))
    }
}

#[test]
fn an_echo_of_a_service() {
    check(
        "Greeter/greet",
        1000,
        expect![[r#"
            +invocation +journal +running
            +invocation +journal -running +timer
        "#]],
    );
    check(
        "Greeter/greet",
        0,
        expect![[r#"
            +invocation +journal +running
            -invocation -journal -journal -running
        "#]],
    );
}

#[test]
fn an_echo_of_an_object() {
    check(
        "Counter/k/add",
        1000,
        expect![[r#"
            +invocation +journal +lock +running
            +invocation +journal -lock -running +timer
        "#]],
    );
}
