//! Single operations of the hot path, without network: each is run again and again by `bin/micro`, which
//! times it, and counted by the tests, which hold bounds.

use crate::Failure;
use bytes::Bytes;
use holdfast::store::{Batch, Durability, Lease, Store, memory::Memory, rocks::Rocks};
use holdfast_machine::apply::{Here, apply};
use holdfast_machine::command::{AttemptEnd, AttemptSaid, Command, Said};
use holdfast_machine::id::{InvocationId, PartitionId, Partitions};
use holdfast_machine::kv::{MemoryKv, Txn, Writes};
use holdfast_machine::model::{NewInvocation, Retention, Source, Target};
use holdfast_machine::tables;
use holdfast_machine::time::Timestamp;
use holdfast_wire::frame::{Decoder, Frame, PAYLOAD_BYTES_MAX_DEFAULT};
use holdfast_wire::manifest::HandlerType;
use holdfast_wire::message::MessageType;
use holdfast_wire::message::pb::{self, Notification, notification::Result as Outcome};
use prost::Message;
use std::hint::black_box;
use tempfile::TempDir;

const HERE: Here = Here::new(PartitionId(0), Partitions(1));
/// `OutputCommand` with an empty value.
const OUTPUT: &[u8] = &[0x72, 0x00];
/// A row of the size that journal entries mostly have.
const ROW_BYTES: usize = 200;
/// Rows of a commit, as a turn with a few calls in it writes.
const ROWS: u64 = 8;

/// Something that can be done again and again.
pub struct Operation {
    pub name: &'static str,
    once: Box<dyn FnMut()>,
}

impl Operation {
    fn new(name: &'static str, once: impl FnMut() + 'static) -> Operation {
        Operation { name, once: Box::new(once) }
    }

    pub fn run(&mut self) {
        (self.once)();
    }
}

/// Those that need nothing but memory, and do the same each time.
pub fn in_memory() -> Vec<Operation> {
    let mut all = frames();
    all.extend(keys());
    all.extend(calls());
    all.push(memory_commit());
    all
}

/// Those that need a disk.
pub fn on_disk() -> Result<Vec<Operation>, Failure> {
    Ok(vec![
        disk_commit("commit of 8 rows, RocksDB, not waited for", Durability::Async)?,
        disk_commit("commit of 8 rows, RocksDB, fsync", Durability::Sync)?,
    ])
}

fn frames() -> Vec<Operation> {
    let small = Frame::raw(MessageType::OUTPUT, Bytes::from(vec![7; 300]));
    let large = Frame::raw(MessageType::OUTPUT, Bytes::from(vec![7; 1 << 20]));
    let (one, big) = (small.encode(), large.encode());
    let many = Bytes::from(vec![&one[..]; 64].concat());
    vec![
        Operation::new("frame of 300 bytes: encoded", move || {
            black_box(small.encode());
        }),
        Operation::new("frame of 300 bytes: decoded", move || {
            assert_eq!(decoded(&one), 1);
        }),
        Operation::new("64 frames in one piece: decoded", move || {
            assert_eq!(decoded(&many), 64);
        }),
        Operation::new("frame of 1 MiB: decoded", move || {
            assert_eq!(decoded(&big), 1);
        }),
    ]
}

fn decoded(piece: &Bytes) -> usize {
    let mut decoder = Decoder::new(PAYLOAD_BYTES_MAX_DEFAULT);
    decoder.push(piece.clone());
    std::iter::from_fn(|| decoder.next().expect("it is sound")).map(black_box).count()
}

fn keys() -> Vec<Operation> {
    let id = InvocationId::random("Bench", None, 7, 7);
    let text = id.to_string();
    vec![
        Operation::new("key of a journal entry: written", move || {
            black_box(tables::journal::key(PartitionId(0), black_box(id), 7));
        }),
        Operation::new("id of an invocation: as text", move || {
            black_box(black_box(id).to_string());
        }),
        Operation::new("id of an invocation: from text", move || {
            let read: InvocationId = black_box(&text).parse().expect("it is one");
            assert_eq!(read, id);
        }),
    ]
}

fn calls() -> Vec<Operation> {
    let (mut store, mut number) = (MemoryKv::default(), 0);
    let echo = Operation::new("echo: accepted and completed", move || {
        number += 1;
        let said = vec![output()];
        decide(&mut store, number, vec![(said, Some(AttemptEnd::Completed))]);
    });
    let (mut store, mut number) = (MemoryKv::default(), 0);
    let steps = Operation::new("three steps: accepted to completed", move || {
        number += 1;
        let mut said: Vec<_> = (1..=3).map(|step| (vec![run(step), ran(step)], None)).collect();
        said.push((vec![output()], Some(AttemptEnd::Completed)));
        decide(&mut store, number, said);
    });
    vec![echo, steps]
}

type Turns = Vec<(Vec<Said>, Option<AttemptEnd>)>;

/// Accepts a call and takes what its attempt says, each in a turn of its own.
fn decide(store: &mut MemoryKv, number: u128, turns: Turns) {
    let id = InvocationId::random("Bench", None, 0, number);
    turn(store, Command::Invoke(Box::new(call(id))));
    for (said, end) in turns {
        let said = AttemptSaid { invocation: id, attempt: 1, pin: None, said, end };
        turn(store, Command::Attempt(Box::new(said)));
    }
}

fn turn(store: &mut MemoryKv, command: Command) {
    let mut txn = Txn::new(store);
    let effects = apply(&mut txn, HERE, Timestamp(1), command).expect("the map can be read");
    black_box(effects);
    let writes = txn.into_writes();
    store.apply(writes);
}

fn output() -> Said {
    Said::Command { ty: MessageType::OUTPUT, payload: Bytes::from_static(OUTPUT), callee: None }
}

fn run(completion: u32) -> Said {
    let command = pb::RunCommand { result_completion_id: completion, name: "step".to_owned() };
    let payload = command.encode_to_vec().into();
    Said::Command { ty: MessageType::RUN, payload, callee: None }
}

fn ran(completion: u32) -> Said {
    let result = Notification::completion(completion, Outcome::value("\"done\""));
    Said::RunCompletion { completion, payload: result.encode_to_vec().into() }
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

fn memory_commit() -> Operation {
    let mut commits = Commits::new(Memory::new(Partitions(1)), Durability::Sync);
    Operation::new("commit of 8 rows, memory", move || commits.one())
}

fn disk_commit(name: &'static str, durability: Durability) -> Result<Operation, Failure> {
    let folder = TempDir::new()?;
    let directory = folder.path().to_owned();
    let config = holdfast::store::Config { directory, ..holdfast::store::Config::default() };
    let mut commits = Commits::new(Rocks::open(&config, Partitions(1))?, durability);
    Ok(Operation::new(name, move || {
        commits.one();
        black_box(&folder);
    }))
}

/// Commits to one partition, each over the rows of the last but one, so that nothing grows.
struct Commits<S> {
    store: S,
    lease: Lease,
    durability: Durability,
}

impl<S: Store> Commits<S> {
    fn new(store: S, durability: Durability) -> Commits<S> {
        let lease = store.acquire(PartitionId(0)).expect("nobody else has it");
        Commits { store, lease, durability }
    }

    fn one(&mut self) {
        let sequence = self.lease.applied.next();
        let row = Bytes::from_static(&[7; ROW_BYTES]);
        let writes: Writes = (0..ROWS)
            .map(|row_number| {
                let key = [&b"j\0\0"[..], &(sequence.0 % 2 * ROWS + row_number).to_be_bytes()];
                (key.concat(), Some(row.clone()))
            })
            .collect();
        let fence = self.lease.fence;
        let batch = Batch { fence, sequence, writes, durability: self.durability };
        self.store.commit(&batch).expect("the disk has room");
        self.lease.applied = sequence;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_can_be_done_again_and_again() {
        let all = in_memory().into_iter().chain(on_disk().unwrap());
        let mut names = vec![];
        for mut operation in all {
            (0..50).for_each(|_| operation.run());
            names.push(operation.name);
        }
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), 12);
    }
}
