//! Rows of invocations come back as they were written, and what is amiss in one is found.

use super::*;
use crate::kv::MemoryKv;
use crate::tables::arbitrary;
use crate::tables::codec::encode;
use expect_test::{Expect, expect};
use proptest::prelude::*;
use std::time::Duration;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn rows_round_trip(partition in arbitrary::partition(), id in arbitrary::id(),
        record in arbitrary::record())
    {
        let mut kv = MemoryKv::default();
        let mut txn = Txn::new(&kv);
        put(&mut txn, partition, id, &record);
        kv.apply(txn.into_writes());
        prop_assert_eq!(get(&kv, partition, id).unwrap(), Some(record.clone()));
        let mut seen = vec![];
        scan(&kv, partition, None, &mut |id, record| {
            seen.push((id, record));
            true
        })
        .unwrap();
        prop_assert_eq!(seen, vec![(id, record)]);
        scan(&kv, partition, Some(id), &mut |_, _| panic!("nothing is behind it")).unwrap();
    }

    #[test]
    fn remains_are_seen_by_nobody_who_does_not_look_for_them(
        partition in arbitrary::partition(), id in arbitrary::id(),
        record in arbitrary::record())
    {
        let mut kv = MemoryKv::default();
        let mut txn = Txn::new(&kv);
        put_remains(&mut txn, partition, id, &record);
        kv.apply(txn.into_writes());
        prop_assert_eq!(get(&kv, partition, id).unwrap(), None);
        scan(&kv, partition, None, &mut |_, _| panic!("it is forgotten")).unwrap();
        let found = find(&kv, partition, id).unwrap();
        prop_assert_eq!(found, Some((record, Standing::Remains)));
    }

    #[test]
    fn rows_are_what_prost_writes(record in arbitrary::record(), forgotten: bool) {
        let standing = if forgotten { Standing::Remains } else { Standing::Kept };
        let written = row::write(&record, standing);
        let expected = pb::Invocation { forgotten, ..record_out(&record) };
        prop_assert_eq!(&written, &encode(&expected));
        prop_assert_eq!(row_of_any_form(written.clone()).unwrap(), (record.clone(), standing));
        prop_assert_eq!(row::read(&written), Some((record, standing)));
    }

    /// Who reads a record that is remembered sees what who decodes the row sees.
    #[test]
    fn what_is_remembered_is_what_is_written(
        (partition, id) in (arbitrary::partition(), arbitrary::id()),
        record in arbitrary::record(),
        (completion, journal, left) in any::<(Duration, Duration, u32)>(),
    ) {
        let retention = Retention { completion, journal };
        let record = Record { retention, asks: Asks { left, ..record.asks }, ..record };
        let kv = MemoryKv::default();
        let mut txn = Txn::new(&kv);
        put(&mut txn, partition, id, &record);
        let known = remembered(&txn, &key(partition, id));
        prop_assert_eq!(known.is_some(), record.status == Status::Running);
        let seen = (find(&txn, partition, id), look(&txn, partition, id));
        let mut kv = MemoryKv::default();
        kv.apply(txn.into_writes());
        prop_assert_eq!(seen, (find(&kv, partition, id), look(&kv, partition, id)));
        let mut txn = Txn::new(&kv);
        put(&mut txn, partition, id, &record);
        put_remains(&mut txn, partition, id, &record);
        prop_assert_eq!(look(&txn, partition, id), Ok(None));
    }

    #[test]
    fn what_is_corrupt_is_found_where_nothing_is_remembered(
        (partition, id) in (arbitrary::partition(), arbitrary::id()),
        record in arbitrary::record(),
    ) {
        let kv = MemoryKv::default();
        let mut txn = Txn::new(&kv);
        put(&mut txn, partition, id, &record);
        txn.put(key(partition, id), Bytes::from_static(b"garbage"));
        let corrupt = |fault: Option<Fault>| matches!(fault, Some(Fault::Corrupt { .. }));
        prop_assert!(corrupt(find(&txn, partition, id).err()));
        prop_assert!(corrupt(look(&txn, partition, id).err()));
    }

    /// Whatever stands there: where a row can be read field by field, prost reads the same.
    #[test]
    fn no_row_is_read_as_another_than_prost_reads(
        record in arbitrary::record(),
        (at, bytes) in any::<(prop::sample::Index, Option<u8>)>(),
        other in proptest::collection::vec(any::<u8>(), 0..3),
    ) {
        let mut spoiled = row::write(&record, Standing::Kept).to_vec();
        let at = at.index(spoiled.len());
        let end = spoiled.len().min(at + usize::from(bytes.unwrap_or(1)));
        spoiled.splice(at..end, other);
        let spoiled = Bytes::from(spoiled);
        if let Some(read) = row::read(&spoiled) {
            prop_assert_eq!(row_of_any_form(spoiled), Ok(read));
        }
    }

    #[test]
    fn keys_round_trip_and_keep_order(
        a in (arbitrary::partition(), arbitrary::id()),
        b in (arbitrary::partition(), arbitrary::id()),
    ) {
        prop_assert_eq!(parse(&key(a.0, a.1)), Some(a));
        prop_assert_eq!(a.cmp(&b), key(a.0, a.1).cmp(&key(b.0, b.1)));
    }
}

/// What becomes of a row in which something is amiss.
fn check(spoil: impl Fn(&mut pb::Invocation), expected: Expect) {
    let mut row = record_out(&sample());
    spoil(&mut row);
    expected.assert_eq(record_in(row).unwrap_err().of(TABLE).to_string().as_str());
}

fn sample() -> Record {
    let id = InvocationId::from_bytes([1; 24]);
    Record {
        target: Target {
            service: "Greeter".into(),
            key: None,
            handler: "greet".into(),
            ty: holdfast_wire::manifest::HandlerType::Service,
        },
        status: Status::Running,
        source: Source::Ingress,
        root: id,
        idempotency_key: None,
        retention: Retention::default(),
        lazy_state: false,
        random_seed: 1,
        pin: None,
        sinks: vec![],
        attempt: 1,
        pause_wanted: false,
        journal: JournalSummary::default(),
        retries: Retries::default(),
        events: Span::default(),
        times: Times::default(),
        is_task: false,
        asks: Asks::default(),
        asked: false,
    }
}

#[test]
fn what_is_missing_or_unknown_is_corrupt() {
    check(
        |row| row.status = None,
        expect!["corrupt row in table invocation: the status is missing"],
    );
    check(
        |row| row.status = Some(pb::Status::default()),
        expect!["corrupt row in table invocation: the status is missing"],
    );
    check(|row| row.target = None, expect!["corrupt row in table invocation: a target is missing"]);
    check(
        |row| row.target.as_mut().unwrap().r#type = 99,
        expect!["corrupt row in table invocation: the type of a handler is unknown"],
    );
    check(
        |row| row.source = None,
        expect!["corrupt row in table invocation: the source of an invocation is missing"],
    );
    check(
        |row| row.root = Default::default(),
        expect!["corrupt row in table invocation: an invocation id does not have 24 bytes"],
    );
    check(
        |row| row.retention = None,
        expect!["corrupt row in table invocation: the retention is missing"],
    );
    check(
        |row| row.journal = None,
        expect!["corrupt row in table invocation: the summary of the journal is missing"],
    );
    check(
        |row| row.times = None,
        expect!["corrupt row in table invocation: the times are missing"],
    );
    check(
        |row| row.pin = Some(pb::Pin::default()),
        expect!["corrupt row in table invocation: a deployment id does not have 16 bytes"],
    );
    let old = || pb::Pin { deployment: vec![0; 16].into(), version: 4 };
    check(
        |row| row.pin = Some(old()),
        expect![
            "corrupt row in table invocation: a pinned protocol version is not one that we speak"
        ],
    );
    check(
        |row| row.sinks = vec![pb::Sink::default()],
        expect!["corrupt row in table invocation: the kind of a sink is unknown"],
    );
    let garbage = decode::<pb::Invocation>(TABLE, "garbage".into()).unwrap_err();
    assert!(matches!(garbage, Fault::Corrupt { table: "invocation", .. }), "{garbage}");
}

fn status_out(status: &Status) -> pb::Status {
    use pb::status::{BackingOff, Inboxed, Scheduled, Status as Out};
    let status = match status {
        Status::Scheduled { start_at } => Out::Scheduled(Scheduled { start_at: start_at.0 }),
        Status::Inboxed { sequence } => Out::Inboxed(Inboxed { sequence: *sequence }),
        Status::Running => Out::Running(pb::Empty {}),
        Status::BackingOff { until } => Out::BackingOff(BackingOff { until: until.0 }),
        Status::Suspended { awaiting } => Out::Suspended(awaiting_out(awaiting)),
        Status::Paused => Out::Paused(pb::Empty {}),
        Status::Completed { outcome } => Out::Completed(outcome_out(outcome)),
    };
    pb::Status { status: Some(status) }
}

fn times_out(times: &Times) -> pb::Times {
    pb::Times {
        created: times.created.0,
        modified: times.modified.0,
        scheduled: times.scheduled.map(|time| time.0),
        inboxed: times.inboxed.map(|time| time.0),
        running: times.running.map(|time| time.0),
        completed: times.completed.map(|time| time.0),
        start_at: times.start_at.map(|time| time.0),
    }
}

fn journal_out(journal: &JournalSummary) -> pb::Journal {
    pb::Journal {
        length: journal.length,
        commands: journal.commands,
        output: journal.output,
        calls: journal.calls,
        sleeping: journal.sleeping,
        runs: journal.runs,
        replayed: journal.replayed,
        purged: journal.purged,
        stored_at: journal.stored_at.0,
        left: journal.left,
        bytes: journal.bytes,
    }
}

fn retries_out(retries: &Retries) -> pb::Retries {
    pb::Retries {
        failures_in_row: retries.failures_in_row,
        since_last_stored_entry: retries.since_last_stored_entry,
        last_failure: retries.last_failure.as_ref().map(attempt_failure_out),
    }
}

/// Nothing is written for what never asked.
fn asks_out(asks: Asks) -> Option<pb::Asks> {
    let Asks { opened, input, auth, left } = asks;
    (opened > 0).then_some(pb::Asks { opened, input, auth, left })
}

fn record_out(record: &Record) -> pb::Invocation {
    pb::Invocation {
        target: Some(target_out(&record.target)),
        status: Some(status_out(&record.status)),
        source: Some(source_out(&record.source)),
        root: id_out(record.root),
        idempotency_key: record.idempotency_key.clone(),
        retention: Some(retention_out(record.retention)),
        lazy_state: record.lazy_state,
        random_seed: record.random_seed,
        pin: record.pin.as_ref().map(pin_out),
        sinks: record.sinks.iter().map(sink_out).collect(),
        attempt: record.attempt,
        pause_wanted: record.pause_wanted,
        journal: Some(journal_out(&record.journal)),
        retries: Some(retries_out(&record.retries)),
        events: Some(pb::Span { first: record.events.first, next: record.events.next }),
        times: Some(times_out(&record.times)),
        forgotten: false,
        is_task: record.is_task,
        asks: asks_out(record.asks),
        asked: record.asked,
    }
}

fn pin_out(pin: &Pin) -> pb::Pin {
    pb::Pin { deployment: deployment_out(pin.deployment), version: pin.version.number() }
}
