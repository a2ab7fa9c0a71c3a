//! Running a completed invocation again under a new id, from its input or from a prefix of its
//! journal. The original stays as it is.

use super::Turn;
use super::journal::read;
use super::notify::about;
use crate::command::{Refusal, Reply};
use crate::id::InvocationId;
use crate::kv::Fault;
use crate::model::*;
use crate::tables::invocation::Record;
use crate::tables::journal;
use crate::tables::notified::{self, NotificationId, Notified};
use bytes::Bytes;
use holdfast_wire::manifest::HandlerType;
use holdfast_wire::message::{MessageType, pb};
use holdfast_wire::version::Feature;
use std::collections::BTreeSet;

impl Turn<'_, '_> {
    pub(super) fn restart_as_new(
        &mut self,
        id: InvocationId,
        new: InvocationId,
        from: u32,
        pin: Option<Pin>,
    ) -> Result<Reply, Fault> {
        assert!(new.partition_key == id.partition_key, "the two have one partition key");
        let Some(original) = self.record(id)? else {
            return Ok(Reply::Unknown);
        };
        if let Some(refusal) = refusal(&original, from) {
            return Ok(Reply::Refused(refusal));
        }
        if self.existing(new)?.is_some() {
            return Ok(Reply::Restarted { invocation: new });
        }
        let entries = journal::all(self.txn, self.here.partition, id)?;
        if entries.is_empty() {
            return Ok(Reply::Refused(Refusal::JournalGone));
        }
        let Some(prefix) = prefix(entries, from)? else {
            return Ok(Reply::Refused(Refusal::BadPrefix));
        };
        let mut record = self.restarted(new, &original, id);
        record.pin = if from > 0 { pin.or(original.pin) } else { pin };
        if from > 0 {
            record.random_seed = original.random_seed;
        }
        for entry in prefix {
            self.copy(new, &mut record, entry)?;
        }
        self.admit(new, &mut record)?;
        Ok(Reply::Restarted { invocation: new })
    }

    fn restarted(&self, new: InvocationId, original: &Record, id: InvocationId) -> Record {
        self.new_record(NewInvocation {
            id: new,
            target: original.target.clone(),
            argument: Bytes::new(), // The journal has it.
            headers: vec![],
            idempotency_key: None,
            source: Source::RestartAsNew { original: id },
            root: new,
            start_at: None,
            retention: original.retention,
            lazy_state: original.lazy_state,
            random_seed: new.uuid as u64,
        })
    }

    fn copy(
        &mut self,
        new: InvocationId,
        record: &mut Record,
        (ty, payload): (MessageType, Bytes),
    ) -> Result<(), Fault> {
        let notified = match ty.is_notification() {
            true => about(&read(&payload)?),
            false => None,
        };
        let entry = self.append(new, record, ty, payload);
        if let Some((about, failed)) = notified {
            let notified = Notified { entry: entry.index, failed };
            notified::put(self.txn, self.here.partition, new, &about, notified);
        }
        if ty == MessageType::OUTPUT {
            record.journal.output = Some(entry.index);
        }
        Ok(())
    }
}

fn refusal(original: &Record, from: u32) -> Option<Refusal> {
    match original.status {
        Status::Completed { .. } => {}
        Status::Scheduled { .. } | Status::Inboxed { .. } => return Some(Refusal::NotStarted),
        _ => return Some(Refusal::NotCompleted),
    }
    if original.target.ty == HandlerType::Workflow {
        return Some(Refusal::Unsupported);
    }
    if original.journal.purged {
        return Some(Refusal::JournalGone);
    }
    if from >= original.journal.length {
        return Some(Refusal::BadPrefix);
    }
    // Without a fixed seed the handler may draw other chance than the prefix was made with.
    let keeps_seed = original.pin.is_none_or(|pin| pin.version.supports(Feature::RandomSeed));
    (from > 0 && !keeps_seed).then_some(Refusal::Unsupported)
}

/// Entries `0..=from`, and the completions of commands among them that stand further behind.
/// `None` if one of these has no completion.
fn prefix(entries: Vec<Entry>, from: u32) -> Result<Option<Vec<(MessageType, Bytes)>>, Fault> {
    let mut open = BTreeSet::new();
    let mut prefix = vec![];
    for Entry { index, ty, payload, .. } in entries {
        if index <= from {
            open.extend(completions_of(ty, &payload)?);
        }
        let mut wanted = index <= from;
        if ty.is_notification()
            && let Some((NotificationId::Completion(id), _)) = about(&read(&payload)?)
        {
            wanted |= open.contains(&id);
            if wanted {
                open.remove(&id);
            }
        }
        if wanted {
            prefix.push((ty, payload));
        }
    }
    Ok(open.is_empty().then_some(prefix))
}

/// The completions that a command asks for. All commands that have some use the same two fields.
fn completions_of(ty: MessageType, payload: &Bytes) -> Result<Vec<u32>, Fault> {
    Ok(match ty {
        MessageType::CALL => {
            let call: pb::CallCommand = read(payload)?;
            vec![call.invocation_id_notification_idx, call.result_completion_id]
        }
        MessageType::ONE_WAY_CALL => {
            let call: pb::OneWayCallCommand = read(payload)?;
            vec![call.invocation_id_notification_idx]
        }
        _ if ty.completion().is_some() => {
            vec![read::<pb::RunCommand>(payload)?.result_completion_id]
        }
        _ => vec![],
    })
}
