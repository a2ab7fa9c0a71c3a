//! `c | partition:u16 | id:24` -> `Schedule`. What runs at which times: the plan, what is due next
//! and what became of the last run. A row that is due also has one in the timer table.

use super::codec::{Bad, KeyReader, KeyWriter, decode, encode, scan_table};
use super::convert::*;
use super::timer::{Timer, TimerKind};
use super::{TableId, generated as pb};
use crate::id::{InvocationId, PartitionId, ScheduleId};
use crate::kv::{Fault, Kv, Txn};
use crate::schedule::{CatchUp, Overlap, Plan};
use crate::time::Timestamp;

const TABLE: TableId = TableId::Schedule;

/// Everything about a schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    pub plan: Plan,
    /// Nothing is due until it is resumed.
    pub paused: bool,
    pub created: Timestamp,
    /// When the plan was last put, or it was last paused or resumed.
    pub modified: Timestamp,
    /// Where an `@every` begins to count.
    pub since: Timestamp,
    /// What its timer waits for.
    pub next: Option<Timestamp>,
    pub last_run: Option<Run>,
    /// Why its target could not be called the last time; goes with the next run.
    pub trouble: Option<Trouble>,
    pub counts: Counts,
}

/// One invocation that it made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    pub planned: Timestamp,
    pub at: Timestamp,
    pub invocation: InvocationId,
    /// A person asked for it.
    pub asked: bool,
    pub ended: Option<Ended>,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    pub at: Timestamp,
    /// Status and sentence of a failure.
    pub failure: Option<(u32, String)>,
}

/// A time for which the target could not be called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    pub at: Timestamp,
    pub planned: Timestamp,
    /// Names a page in `docs/errors`.
    pub code: String,
    pub message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    pub runs: u32,
    /// Runs that made up for times that were missed.
    pub caught_up: u32,
    /// Times that were let go: missed, or while the run before had not ended.
    pub skipped: u32,
    /// Times for which the target could not be called.
    pub failed: u32,
}

impl Run {
    /// What it is called by whoever tells how it ended: a schedule that was deleted and made again
    /// must not take the end of an earlier run for that of its own.
    pub fn token(invocation: InvocationId) -> u32 {
        invocation.uuid as u32
    }
}

impl Schedule {
    pub fn new(plan: Plan, now: Timestamp) -> Schedule {
        Schedule {
            plan,
            paused: false,
            created: now,
            modified: now,
            since: now,
            next: None,
            last_run: None,
            trouble: None,
            counts: Counts::default(),
        }
    }

    /// The last run, if it has not ended.
    pub fn running(&self) -> Option<&Run> {
        self.last_run.as_ref().filter(|run| run.ended.is_none())
    }
}

fn key(partition: PartitionId, id: ScheduleId) -> Vec<u8> {
    KeyWriter::new(TABLE, partition).id(id.row()).done()
}

pub fn get(kv: &dyn Kv, partition: PartitionId, id: ScheduleId) -> Result<Option<Schedule>, Fault> {
    let value = kv.get(&key(partition, id))?;
    value.map(|value| row_in(decode(TABLE, value)?).map_err(|bad| bad.of(TABLE))).transpose()
}

pub fn put(txn: &mut Txn<'_>, partition: PartitionId, id: ScheduleId, schedule: &Schedule) {
    txn.put(key(partition, id), encode(&row_out(schedule)));
}

pub fn delete(txn: &mut Txn<'_>, partition: PartitionId, id: ScheduleId) {
    txn.delete(key(partition, id));
}

/// The schedule that a key of the timer table is about; `None` where it is about something else.
pub fn of_timer(kv: &dyn Kv, timer: &[u8]) -> Result<Option<Schedule>, Fault> {
    match Timer::parse(timer) {
        Some((partition, Timer { kind: TimerKind::Schedule, invocation, .. })) => {
            get(kv, partition, ScheduleId::from_row(invocation))
        }
        _ => Ok(None),
    }
}

/// Shows all schedules of a partition, in the order of their ids, until `each` answers false.
pub fn scan(
    kv: &dyn Kv,
    partition: PartitionId,
    each: &mut dyn FnMut(Schedule) -> bool,
) -> Result<(), Fault> {
    scan_table(kv, (TABLE, partition), parse, &mut |_, value| {
        Ok(each(row_in(decode(TABLE, value)?).map_err(|bad| bad.of(TABLE))?))
    })
}

fn parse(key: &[u8]) -> Option<(PartitionId, ScheduleId)> {
    let (partition, mut reader) = KeyReader::new(TABLE, key)?;
    let id = ScheduleId::from_row(reader.id()?);
    reader.end((partition, id))
}

fn plan_out(plan: &Plan) -> pb::Plan {
    let catch_up = match plan.catch_up {
        CatchUp::Skip => pb::CatchUp::Skip,
        CatchUp::Once => pb::CatchUp::Once,
    };
    let overlap = match plan.overlap {
        Overlap::Allow => pb::Overlap::Allow,
        Overlap::Skip => pb::Overlap::Skip,
    };
    pb::Plan {
        name: plan.name.clone(),
        cron: plan.cron.clone(),
        time_zone: plan.time_zone.clone(),
        service: plan.service.clone(),
        handler: plan.handler.clone(),
        key: plan.key.clone(),
        argument: plan.argument.clone(),
        headers: pairs_out(&plan.headers),
        catch_up: catch_up.into(),
        overlap: overlap.into(),
    }
}

fn plan_in(plan: pb::Plan) -> Result<Plan, Bad> {
    let catch_up = match plan.catch_up() {
        pb::CatchUp::Skip => CatchUp::Skip,
        pb::CatchUp::Once => CatchUp::Once,
        pb::CatchUp::Unspecified => return Err(Bad("how to catch up is unknown")),
    };
    let overlap = match plan.overlap() {
        pb::Overlap::Allow => Overlap::Allow,
        pb::Overlap::Skip => Overlap::Skip,
        pb::Overlap::Unspecified => return Err(Bad("whether runs overlap is unknown")),
    };
    Ok(Plan {
        name: plan.name,
        cron: plan.cron,
        time_zone: plan.time_zone,
        service: plan.service,
        handler: plan.handler,
        key: plan.key,
        argument: plan.argument,
        headers: pairs_in(plan.headers),
        catch_up,
        overlap,
    })
}

fn run_out(run: &Run) -> pb::Run {
    let ended = run.ended.as_ref().map(|ended| pb::RunEnded {
        at: ended.at.0,
        code: ended.failure.as_ref().map(|(code, _)| *code),
        message: ended.failure.as_ref().map(|(_, message)| message.clone()),
    });
    pb::Run {
        planned: run.planned.0,
        at: run.at.0,
        invocation: id_out(run.invocation),
        asked: run.asked,
        ended,
    }
}

fn run_in(run: pb::Run) -> Result<Run, Bad> {
    Ok(Run {
        planned: Timestamp(run.planned),
        at: Timestamp(run.at),
        invocation: id_in(&run.invocation)?,
        asked: run.asked,
        ended: run.ended.map(|ended| Ended {
            at: Timestamp(ended.at),
            failure: ended.code.map(|code| (code, ended.message.unwrap_or_default())),
        }),
    })
}

fn row_out(schedule: &Schedule) -> pb::Schedule {
    pb::Schedule {
        plan: Some(plan_out(&schedule.plan)),
        paused: schedule.paused,
        created: schedule.created.0,
        modified: schedule.modified.0,
        since: schedule.since.0,
        next: schedule.next.map(|time| time.0),
        last_run: schedule.last_run.as_ref().map(run_out),
        trouble: schedule.trouble.as_ref().map(|trouble| pb::Trouble {
            at: trouble.at.0,
            planned: trouble.planned.0,
            code: trouble.code.clone(),
            message: trouble.message.clone(),
        }),
        runs: schedule.counts.runs,
        caught_up: schedule.counts.caught_up,
        skipped: schedule.counts.skipped,
        failed: schedule.counts.failed,
    }
}

fn row_in(row: pb::Schedule) -> Result<Schedule, Bad> {
    Ok(Schedule {
        plan: plan_in(row.plan.ok_or(Bad("the plan is missing"))?)?,
        paused: row.paused,
        created: Timestamp(row.created),
        modified: Timestamp(row.modified),
        since: Timestamp(row.since),
        next: row.next.map(Timestamp),
        last_run: row.last_run.map(run_in).transpose()?,
        trouble: row.trouble.map(|trouble| Trouble {
            at: Timestamp(trouble.at),
            planned: Timestamp(trouble.planned),
            code: trouble.code,
            message: trouble.message,
        }),
        counts: Counts {
            runs: row.runs,
            caught_up: row.caught_up,
            skipped: row.skipped,
            failed: row.failed,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::super::arbitrary::{self, time};
    use super::*;
    use crate::kv::MemoryKv;
    use proptest::option;
    use proptest::prelude::*;

    fn plan() -> impl Strategy<Value = Plan> {
        let what = any::<(String, String, String, String, String, Option<String>)>();
        let how = (arbitrary::bytes(), any::<Vec<(String, String)>>(), any::<(bool, bool)>());
        (what, how).prop_map(|(what, (argument, headers, (skip, allow)))| {
            let (name, cron, time_zone, service, handler, key) = what;
            let catch_up = if skip { CatchUp::Skip } else { CatchUp::Once };
            let overlap = if allow { Overlap::Allow } else { Overlap::Skip };
            Plan {
                name,
                cron,
                time_zone,
                service,
                handler,
                key,
                argument,
                headers,
                catch_up,
                overlap,
            }
        })
    }

    fn run() -> impl Strategy<Value = Run> {
        let ended = (time(), any::<Option<(u32, String)>>())
            .prop_map(|(at, failure)| Ended { at, failure });
        let when = (time(), time());
        (any::<bool>(), when, arbitrary::id(), option::of(ended)).prop_map(
            |(asked, (planned, at), invocation, ended)| Run {
                planned,
                at,
                invocation,
                asked,
                ended,
            },
        )
    }

    fn schedule() -> impl Strategy<Value = Schedule> {
        let trouble = (time(), time(), any::<(String, String)>())
            .prop_map(|(at, planned, (code, message))| Trouble { at, planned, code, message });
        let times = (time(), time(), time(), option::of(time()));
        let counts = any::<(u32, u32, u32, u32)>();
        (plan(), any::<bool>(), times, option::of(run()), option::of(trouble), counts).prop_map(
            |(plan, paused, (created, modified, since, next), last_run, trouble, counts)| {
                let (runs, caught_up, skipped, failed) = counts;
                let counts = Counts { runs, caught_up, skipped, failed };
                Schedule { plan, paused, created, modified, since, next, last_run, trouble, counts }
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn rows_round_trip_and_are_found_by_their_timers(
            partition in arbitrary::partition(),
            schedule in schedule(),
            due in time(),
        ) {
            let id = ScheduleId::of(&schedule.plan.name);
            let mut kv = MemoryKv::default();
            let mut txn = Txn::new(&kv);
            put(&mut txn, partition, id, &schedule);
            kv.apply(txn.into_writes());
            prop_assert_eq!(get(&kv, partition, id).unwrap(), Some(schedule.clone()));
            let timer = Timer::new(due, TimerKind::Schedule, id.row()).key(partition);
            prop_assert_eq!(of_timer(&kv, &timer).unwrap(), Some(schedule.clone()));
            let other = Timer::new(due, TimerKind::Start, id.row()).key(partition);
            prop_assert_eq!(of_timer(&kv, &other).unwrap(), None);
            let mut seen = vec![];
            scan(&kv, partition, &mut |row| {
                seen.push(row);
                true
            })
            .unwrap();
            prop_assert_eq!(seen, vec![schedule]);
            let mut txn = Txn::new(&kv);
            delete(&mut txn, partition, id);
            kv.apply(txn.into_writes());
            prop_assert_eq!(kv, MemoryKv::default());
        }

        #[test]
        fn keys_round_trip_and_keep_order(
            a in (arbitrary::partition(), arbitrary::id()),
            b in (arbitrary::partition(), arbitrary::id()),
        ) {
            let [a, b] = [a, b].map(|(partition, id)| (partition, ScheduleId::from_row(id)));
            prop_assert_eq!(parse(&key(a.0, a.1)), Some(a));
            prop_assert_eq!(a.cmp(&b), key(a.0, a.1).cmp(&key(b.0, b.1)));
        }
    }

    #[test]
    fn what_is_missing_or_unknown_is_corrupt() {
        let empty = row_in(pb::Schedule::default()).unwrap_err();
        assert_eq!(
            empty.of(TABLE).to_string(),
            "corrupt row in table schedule: the plan is missing"
        );
        let row = pb::Schedule { plan: Some(pb::Plan::default()), ..pb::Schedule::default() };
        assert_eq!(row_in(row).unwrap_err(), Bad("how to catch up is unknown"));
    }
}
