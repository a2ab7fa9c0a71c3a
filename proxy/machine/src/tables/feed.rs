//! `f | partition:u16 | task:24 | sequence:u64` -> `FeedEvent`. What those who follow a task are
//! told, in order and without gaps: each row in the same commit as its cause. Only tasks have
//! rows, and they go with the invocation.

use super::ask::{action_in, action_out, ask_in, ask_out, closed_in, closed_out};
use super::codec::{Bad, KeyReader, KeyWriter, after, corrupt, decode, encode, scan as scan_rows};
use super::convert::*;
use super::{TableId, generated as pb};
use crate::id::{InvocationId, PartitionId};
use crate::kv::{Fault, Kv, Txn};
use crate::task::{Artifact, Ended, Event, Message, Progress, State, Taken, What};
use crate::time::Timestamp;
use bytes::Bytes;

const TABLE: TableId = TableId::Feed;

fn key(partition: PartitionId, task: InvocationId, sequence: u64) -> Vec<u8> {
    KeyWriter::new(TABLE, partition).id(task).u64(sequence).done()
}

/// Writes a row, and tells how many bytes it has.
pub fn put(txn: &mut Txn<'_>, partition: PartitionId, task: InvocationId, event: &Event) -> u64 {
    let (key, value) = (key(partition, task, event.sequence), encode(&event_out(event)));
    let bytes = (key.len() + value.len()) as u64;
    txn.put(key, value);
    bytes
}

pub fn get(
    kv: &dyn Kv,
    partition: PartitionId,
    task: InvocationId,
    sequence: u64,
) -> Result<Option<Event>, Fault> {
    let row = kv.get(&key(partition, task, sequence))?;
    row.map(|value| row_in(sequence, value)).transpose()
}

/// Shows the rows of a task behind sequence `behind`, in order, until `each` answers false. What is
/// to be shown is told the bytes of the row, too.
pub fn scan(
    kv: &dyn Kv,
    partition: PartitionId,
    task: InvocationId,
    behind: u64,
    each: &mut dyn FnMut(Event, usize) -> bool,
) -> Result<(), Fault> {
    let Some(from) = behind.checked_add(1) else {
        return Ok(());
    };
    let end = after(&KeyWriter::new(TABLE, partition).id(task).done());
    scan_rows(kv, &key(partition, task, from), &end, &mut |key, value| {
        let (.., sequence) = parse(key).ok_or_else(|| corrupt(TABLE, "a key is malformed"))?;
        let bytes = value.len();
        Ok(each(row_in(sequence, value)?, bytes))
    })
}

/// Removes rows of a task, at most `max`; true where none is left.
pub fn delete_some(
    txn: &mut Txn<'_>,
    partition: PartitionId,
    task: InvocationId,
    max: usize,
) -> Result<bool, Fault> {
    let prefix = KeyWriter::new(TABLE, partition).id(task).done();
    super::codec::delete_some(txn, &prefix, max)
}

/// Takes a key apart.
pub fn parse(key: &[u8]) -> Option<(PartitionId, InvocationId, u64)> {
    let (partition, mut reader) = KeyReader::new(TABLE, key)?;
    let parsed = (partition, reader.id()?, reader.u64()?);
    reader.end(parsed)
}

fn row_in(sequence: u64, value: Bytes) -> Result<Event, Fault> {
    let row: pb::FeedEvent = decode(TABLE, value)?;
    event_in(sequence, row).map_err(|bad| bad.of(TABLE))
}

pub fn state_out(state: State) -> pb::TaskState {
    match state {
        State::Submitted => pb::TaskState::Submitted,
        State::Working => pb::TaskState::Working,
        State::InputRequired => pb::TaskState::InputRequired,
        State::AuthRequired => pb::TaskState::AuthRequired,
        State::Completed => pb::TaskState::Completed,
        State::Failed => pb::TaskState::Failed,
        State::Rejected => pb::TaskState::Rejected,
        State::Cancelled => pb::TaskState::Cancelled,
    }
}

pub fn state_in(state: pb::TaskState) -> Result<State, Bad> {
    Ok(match state {
        pb::TaskState::Submitted => State::Submitted,
        pb::TaskState::Working => State::Working,
        pb::TaskState::InputRequired => State::InputRequired,
        pb::TaskState::AuthRequired => State::AuthRequired,
        pb::TaskState::Completed => State::Completed,
        pb::TaskState::Failed => State::Failed,
        pb::TaskState::Rejected => State::Rejected,
        pb::TaskState::Cancelled => State::Cancelled,
        pb::TaskState::Unspecified => return Err(Bad("the state of a task is unknown")),
    })
}

pub fn progress_out(progress: &Progress) -> pb::Progress {
    pb::Progress {
        message: progress.message.clone(),
        progress: progress.progress,
        total: progress.total,
        at: progress.at.0,
    }
}

pub fn progress_in(row: pb::Progress) -> Progress {
    let (progress, total, at) = (row.progress, row.total, Timestamp(row.at));
    Progress { message: row.message, progress, total, at }
}

pub fn artifact_out(artifact: &Artifact) -> pb::Artifact {
    let Artifact { artifact, append, last } = artifact.clone();
    pb::Artifact { artifact, append, last }
}

pub fn artifact_in(row: pb::Artifact) -> Artifact {
    Artifact { artifact: row.artifact, append: row.append, last: row.last }
}

fn message_out(message: &Message) -> pb::TaskMessage {
    pb::TaskMessage {
        id: message.id.clone(),
        body: message.body.clone(),
        action: action_out(message.action).into(),
        content: message.content.clone(),
        text: message.text.clone(),
        by: message.by.clone(),
    }
}

fn message_in(row: pb::TaskMessage) -> Result<Message, Bad> {
    let action = action_in(row.action())?;
    let (id, body, content) = (row.id, row.body, row.content);
    Ok(Message { id, body, action, content, text: row.text, by: row.by })
}

fn event_out(event: &Event) -> pb::FeedEvent {
    use pb::feed_event::{Answered, Ended as EndedOut, NotTaken, Taken as TakenOut, What as Out};
    let what = match &event.what {
        What::State => Out::Changed(pb::Empty {}),
        What::Progress(progress) => Out::Progress(progress_out(progress)),
        What::Artifact(artifact) => Out::Artifact(artifact_out(artifact)),
        What::Asked(ask) => Out::Asked(ask_out(ask)),
        What::Answered { number, closed } => {
            Out::Answered(Answered { number: *number, closed: Some(closed_out(closed)) })
        }
        What::Message(Taken { message, answers, waiting }) => Out::Message(TakenOut {
            message: Some(message_out(message)),
            answers: *answers,
            waiting: *waiting,
        }),
        What::NotTaken { message, number, why } => {
            let (message, why) = (message.clone(), why.clone());
            Out::NotTaken(NotTaken { message, number: *number, why })
        }
        What::Ended(Ended { outcome, by }) => Out::Ended(EndedOut {
            outcome: Some(outcome_out(outcome)),
            by: by.map_or(pb::FailedBy::Unspecified, failed_by_out).into(),
        }),
    };
    pb::FeedEvent { at: event.at.0, state: state_out(event.state).into(), what: Some(what) }
}

fn event_in(sequence: u64, row: pb::FeedEvent) -> Result<Event, Bad> {
    use pb::feed_event::What as In;
    let state = state_in(row.state())?;
    let what = match row.what.ok_or(Bad("an event says nothing"))? {
        In::Changed(pb::Empty {}) => What::State,
        In::Progress(progress) => What::Progress(progress_in(progress)),
        In::Artifact(artifact) => What::Artifact(artifact_in(artifact)),
        In::Asked(ask) => What::Asked(Box::new(ask_in(ask)?)),
        In::Answered(answered) => What::Answered {
            number: answered.number,
            closed: closed_in(answered.closed.ok_or(Bad("an answer is missing"))?)?,
        },
        In::Message(taken) => What::Message(Taken {
            message: message_in(taken.message.ok_or(Bad("a message is missing"))?)?,
            answers: taken.answers,
            waiting: taken.waiting,
        }),
        In::NotTaken(not) => {
            What::NotTaken { message: not.message, number: not.number, why: not.why }
        }
        In::Ended(ended) => What::Ended(Ended {
            by: failed_by_in(ended.by())?,
            outcome: outcome_in(ended.outcome.ok_or(Bad("an end has no outcome"))?)?,
        }),
    };
    Ok(Event { sequence, at: Timestamp(row.at), state, what })
}

#[cfg(test)]
mod tests {
    use super::super::arbitrary;
    use super::*;
    use crate::kv::MemoryKv;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn rows_round_trip(
            (partition, task) in (arbitrary::partition(), arbitrary::id()),
            event in arbitrary::event(),
        ) {
            prop_assume!(event.sequence > 0);
            let mut kv = MemoryKv::default();
            let mut txn = Txn::new(&kv);
            put(&mut txn, partition, task, &event);
            kv.apply(txn.into_writes());
            let found = get(&kv, partition, task, event.sequence).unwrap();
            prop_assert_eq!(found.as_ref(), Some(&event));
            let mut seen = vec![];
            scan(&kv, partition, task, event.sequence - 1, &mut |event, _| {
                seen.push(event);
                true
            })
            .unwrap();
            scan(&kv, partition, task, event.sequence, &mut |_, _| panic!("it is seen")).unwrap();
            prop_assert_eq!(seen, vec![event]);
            let mut txn = Txn::new(&kv);
            prop_assert!(delete_some(&mut txn, partition, task, 1).unwrap());
            kv.apply(txn.into_writes());
            prop_assert_eq!(kv, MemoryKv::default());
        }

        #[test]
        fn keys_round_trip_and_keep_order(
            a in (arbitrary::partition(), arbitrary::id(), any::<u64>()),
            b in (arbitrary::partition(), arbitrary::id(), any::<u64>()),
        ) {
            prop_assert_eq!(parse(&key(a.0, a.1, a.2)), Some(a));
            prop_assert_eq!(a.cmp(&b), key(a.0, a.1, a.2).cmp(&key(b.0, b.1, b.2)));
        }
    }
}
