//! Reads the machine's tables in one snapshot. Lists keep no more rows in memory than they show.

use super::{
    Filter, Live, Order, Pinned, journal,
    model::{
        Counts, Invocation, InvocationDetail, Invocations, Notices, ObjectState, StateEntry, Status,
    },
    text::preview,
    view::{self, HeldUp},
};
use bytes::Bytes;
use holdfast_machine::{
    apply::{Here, state_version},
    command::StateMap,
    describe,
    id::{DeploymentId, InvocationId, PartitionId, PartitionKey, Partitions},
    kv::{Fault, Kv},
    model,
    tables::{
        event::{self, EventKind},
        invocation::{self, Record},
        journal as journal_table, lock,
        notice::Notice,
        queue,
        state::{self, Owner},
    },
};
use std::{cmp::Reverse, collections::BTreeMap};

/// Most entries of a journal that are shown.
const ENTRIES_MAX: usize = 1_000;

/// One moment of the store.
pub(super) struct View<'a> {
    pub kv: &'a dyn Kv,
    pub partitions: Partitions,
    pub live: &'a dyn Live,
}

impl View<'_> {
    fn partition(&self, id: InvocationId) -> PartitionId {
        self.partitions.of(id.partition_key)
    }

    fn get(&self, id: InvocationId) -> Result<Option<Record>, Fault> {
        invocation::get(self.kv, self.partition(id), id)
    }

    fn status(&self, id: InvocationId, record: &Record) -> Status {
        view::status(&record.status, self.live.attempt(id).is_some())
    }

    /// Shows every invocation.
    fn each(&self, mut each: impl FnMut(InvocationId, Record)) -> Result<(), Fault> {
        for partition in self.partitions.all() {
            invocation::scan(self.kv, partition, None, &mut |id, record| {
                each(id, record);
                true
            })?;
        }
        Ok(())
    }

    pub fn list(&self, filter: &Filter) -> Result<Invocations, Fault> {
        // By age, the oldest first; those at the wrong end make room.
        let mut kept = BTreeMap::new();
        let mut more = false;
        self.each(|id, record| {
            if !self.matches(filter, id, &record) {
                return;
            }
            kept.insert((record.times.created, Reverse(id)), record);
            if kept.len() > filter.limit {
                match filter.order {
                    Order::Newest => kept.pop_first(),
                    Order::Oldest => kept.pop_last(),
                };
                more = true;
            }
        })?;
        let shown =
            kept.into_iter().map(|((_, Reverse(id)), record)| self.show(id, &record, false));
        let mut invocations = shown.collect::<Result<Vec<_>, _>>()?;
        if filter.order == Order::Newest {
            invocations.reverse();
        }
        Ok(Invocations { invocations, more })
    }

    fn matches(&self, filter: &Filter, id: InvocationId, record: &Record) -> bool {
        let target = &record.target;
        let is = |wanted: &Option<String>, seen: Option<&str>| match wanted {
            Some(wanted) => seen == Some(wanted),
            None => true,
        };
        is(&filter.service, Some(&target.service))
            && is(&filter.handler, Some(&target.handler))
            && is(&filter.key, target.key.as_deref())
            && filter
                .deployment
                .is_none_or(|wanted| record.pin.is_some_and(|pin| pin.deployment == wanted))
            && filter
                .pinned_beside
                .as_ref()
                .is_none_or(|known| record.pin.is_some_and(|pin| !known.contains(&pin.deployment)))
            && (!filter.keyed || target.key.is_some())
            && (!filter.failed || has_failed(record))
            && filter.statuses.contains(&self.status(id, record))
    }

    /// `count`: also how many wait before it, which takes longer.
    fn show(&self, id: InvocationId, record: &Record, count: bool) -> Result<Invocation, Fault> {
        let status = self.status(id, record);
        let mut held_up = HeldUp::default();
        match (status, &record.target.key) {
            (Status::Pending, Some(key)) => {
                held_up.holder = self.holder(&record.target.service, key)?;
            }
            (Status::Ready, _) => {
                held_up.place = self.live.waits(id);
                held_up.ahead = count.then(|| self.live.ahead(id)).flatten();
            }
            _ => {}
        }
        Ok(view::invocation(id, record, status, held_up))
    }

    /// Who holds an object key.
    fn holder(&self, service: &str, key: &str) -> Result<Option<InvocationId>, Fault> {
        let partition = self.partitions.of(PartitionKey::of_key(key));
        let lock = lock::get(self.kv, partition, Owner { service, key })?;
        Ok(lock.map(|lock| lock.holder))
    }

    pub fn describe(&self, id: InvocationId) -> Result<Option<InvocationDetail>, Fault> {
        let Some(record) = self.get(id)? else {
            return Ok(None);
        };
        let partition = self.partition(id);
        let mut entries = vec![];
        let mut more = false;
        journal_table::scan(self.kv, partition, id, 0, &mut |entry| {
            more = entries.len() == ENTRIES_MAX;
            if !more {
                entries.push(entry);
            }
            Ok(!more)
        })?;
        if record.journal.purged {
            // What is there is on its way out.
            (entries, more) = (vec![], false);
        }
        let awaiting = view::awaiting(&record.status, &entries);
        let mut shown = self.show(id, &record, true)?;
        if let Some(words) = view::awaiting_words(&awaiting) {
            shown.waits_for = Some(view::with_asks(&record, words));
        }
        Ok(Some(InvocationDetail {
            invocation: shown,
            awaiting,
            journal: journal::show(&entries),
            events: self.events(id)?,
            more,
        }))
    }

    fn events(&self, id: InvocationId) -> Result<Vec<super::model::Event>, Fault> {
        let here = Here::new(self.partition(id), self.partitions);
        let events = event::all(self.kv, here.partition, id)?;
        let shown = events.iter().map(|event| {
            let failure = event.failure.as_ref().filter(|_| event.kind == EventKind::AttemptFailed);
            let mismatch = match failure {
                Some(failure) => describe::mismatch(self.kv, here, id, failure)?,
                None => None,
            };
            Ok(view::event(event, mismatch))
        });
        shown.collect()
    }

    pub fn pinned(&self, id: InvocationId) -> Result<Option<Pinned>, Fault> {
        let record = self.get(id)?;
        Ok(record.map(|record| Pinned { service: record.target.service, pin: record.pin }))
    }

    pub fn pinned_to(&self, deployment: DeploymentId) -> Result<u64, Fault> {
        let mut count = 0;
        self.each(|id, record| {
            let bound = record.pin.is_some_and(|pin| pin.deployment == deployment);
            if bound && self.status(id, &record) != Status::Completed {
                count += 1;
            }
        })?;
        Ok(count)
    }

    pub fn counts(&self) -> Result<Counts, Fault> {
        let mut counts = Counts::default();
        self.each(|id, record| {
            let status = self.status(id, &record);
            counts.total += 1;
            *counts.by_status.entry(status).or_default() += 1;
            if status == Status::Completed {
                return;
            }
            *counts.by_service.entry(record.target.service).or_default() += 1;
            if let Some(pin) = record.pin {
                *counts.by_deployment.entry(pin.deployment.to_string()).or_default() += 1;
            }
        })?;
        Ok(counts)
    }

    pub fn notices(&self, limit: usize) -> Result<Notices, Fault> {
        let mut oldest = vec![];
        for partition in self.partitions.all() {
            let mut left = limit.saturating_add(1);
            queue::scan(self.kv, partition, 0, &mut |sequence, notice: Notice| {
                oldest.push((notice.at, partition, sequence, notice));
                left -= 1;
                left > 0
            })?;
        }
        oldest.sort_by_key(|(at, partition, sequence, _)| (*at, *partition, *sequence));
        let more = oldest.len() > limit;
        oldest.truncate(limit);
        let shown = oldest.iter().map(|(_, partition, sequence, notice)| {
            let delivery = self.live.delivery(*partition, *sequence);
            view::notice(notice.id(*partition, *sequence), notice, delivery)
        });
        Ok(Notices { notices: shown.collect(), more })
    }

    pub fn state(&self, service: &str, key: &str) -> Result<ObjectState, Fault> {
        let partition = self.partitions.of(PartitionKey::of_key(key));
        let mut map = StateMap::new();
        state::scan(self.kv, partition, Owner { service, key }, &mut |state_key, value| {
            map.insert(state_key, value);
            true
        })?;
        let entry = |(key, value): (&Bytes, &Bytes)| StateEntry {
            key: String::from_utf8_lossy(key).into_owned(),
            value: preview(value),
        };
        Ok(ObjectState {
            service: service.into(),
            key: key.into(),
            version: state_version(&map),
            locked_by: self.holder(service, key)?.map(|id| id.to_string()),
            entries: map.iter().map(entry).collect(),
        })
    }
}

fn has_failed(record: &Record) -> bool {
    matches!(&record.status, model::Status::Completed { outcome: model::Outcome::Failure(_) })
}
