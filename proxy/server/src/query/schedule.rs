//! Schedules as people see them.

use super::{
    model::{
        CatchUp, Overlap, Run, RunStatus, Schedule, ScheduleDetail, ScheduleTrouble, Schedules,
        Upcoming,
    },
    read::View,
    text::{preview, rfc3339},
};
use holdfast_machine::{
    cadence::{self, Cadence},
    id::ScheduleId,
    kv::Fault,
    schedule::{self as machine, Plan},
    tables::schedule::{self, Run as Ran, Schedule as Row},
    time::Timestamp,
};
use std::collections::BTreeMap;

/// How many of the next times are shown.
const UPCOMING: usize = 5;

impl View<'_> {
    pub(super) fn schedules(&self, limit: usize) -> Result<Schedules, Fault> {
        let mut first = BTreeMap::new();
        let mut more = false;
        for partition in self.partitions.all() {
            schedule::scan(self.kv, partition, &mut |row| {
                first.insert(row.plan.name.clone(), row);
                if first.len() > limit {
                    first.pop_last();
                    more = true;
                }
                true
            })?;
        }
        Ok(Schedules { schedules: first.values().map(show).collect(), more })
    }

    pub(super) fn schedule(&self, name: &str) -> Result<Option<ScheduleDetail>, Fault> {
        let id = ScheduleId::of(name);
        let partition = self.partitions.of(id.row().partition_key);
        let row = schedule::get(self.kv, partition, id)?;
        Ok(row.map(|row| ScheduleDetail { schedule: show(&row), upcoming: upcoming_of(&row) }))
    }
}

fn show(row: &Row) -> Schedule {
    let plan = &row.plan;
    let argument = (!plan.argument.is_empty()).then(|| preview(&plan.argument));
    Schedule {
        name: plan.name.clone(),
        cron: plan.cron.clone(),
        time_zone: plan.time_zone.clone(),
        target: target(plan),
        service: plan.service.clone(),
        key: plan.key.clone(),
        handler: plan.handler.clone(),
        argument,
        headers: plan.headers.iter().cloned().collect(),
        catch_up: catch_up(plan),
        overlap: overlap(plan),
        paused: row.paused,
        created_at: rfc3339(row.created),
        modified_at: rfc3339(row.modified),
        next_at: row.next.map(rfc3339),
        last_run: row.last_run.as_ref().map(run),
        trouble: row.trouble.as_ref().map(|trouble| ScheduleTrouble {
            at: rfc3339(trouble.at),
            planned_at: rfc3339(trouble.planned),
            doc_code: trouble.code.clone(),
            message: trouble.message.clone(),
        }),
        runs: row.counts.runs,
        caught_up: row.counts.caught_up,
        skipped: row.counts.skipped,
        failed: row.counts.failed,
    }
}

fn run(run: &Ran) -> Run {
    Run {
        planned_at: rfc3339(run.planned),
        started_at: rfc3339(run.at),
        invocation: run.invocation.to_string(),
        triggered: run.asked,
        status: status(run),
        ended_at: run.ended.as_ref().map(|ended| rfc3339(ended.at)),
        failure: failure(run),
    }
}

pub(super) fn status(run: &Ran) -> RunStatus {
    match &run.ended {
        None => RunStatus::Running,
        Some(ended) if ended.failure.is_some() => RunStatus::Failed,
        Some(_) => RunStatus::Succeeded,
    }
}

pub(super) fn failure(run: &Ran) -> Option<String> {
    let (code, message) = run.ended.as_ref()?.failure.as_ref()?;
    Some(format!("[{code}] {message}"))
}

pub(super) fn target(plan: &Plan) -> String {
    match &plan.key {
        None => format!("{}/{}", plan.service, plan.handler),
        Some(key) => format!("{}/{key}/{}", plan.service, plan.handler),
    }
}

pub(super) fn catch_up(plan: &Plan) -> CatchUp {
    match plan.catch_up {
        machine::CatchUp::Skip => CatchUp::Skip,
        machine::CatchUp::Once => CatchUp::Once,
    }
}

pub(super) fn overlap(plan: &Plan) -> Overlap {
    match plan.overlap {
        machine::Overlap::Allow => Overlap::Allow,
        machine::Overlap::Skip => Overlap::Skip,
    }
}

fn upcoming_of(row: &Row) -> Vec<Upcoming> {
    let zone = &row.plan.time_zone;
    match (row.next, Cadence::parse(&row.plan.cron, zone, row.since)) {
        (Some(next), Ok(cadence)) => upcoming(&cadence, zone, next),
        _ => vec![],
    }
}

/// The next times, from `first` on, which is one of them.
pub fn upcoming(cadence: &Cadence, time_zone: &str, first: Timestamp) -> Vec<Upcoming> {
    let times = std::iter::successors(Some(first), |at| cadence.next(*at));
    let show = |at| Some(Upcoming { at: rfc3339(at), local: cadence::local(at, time_zone)? });
    times.take(UPCOMING).map_while(show).collect()
}
