//! Schedules in a random life.

use super::super::words;
use super::*;
use crate::id::ScheduleId;
use crate::schedule::{CatchUp, Overlap, Plan};
use crate::tables::schedule::{self, Schedule};

const NAMES: [&str; 3] = ["one", "two", "three"];

impl World {
    fn home_of(&self, schedule: ScheduleId) -> PartitionId {
        self.home(schedule.row())
    }

    /// Somebody does something about a schedule, or a few of its times go by.
    pub fn schedule(&mut self) {
        if self.chance.below(3) == 0 {
            self.now += self.chance.below(3_000);
            return self.fire();
        }
        let name = NAMES[usize::try_from(self.chance.below(3)).unwrap()];
        let schedule = ScheduleId::of(name);
        let home = self.home_of(schedule);
        let command = match self.chance.below(10) {
            0..=3 => Command::PutSchedule(Box::new(self.plan(name))),
            4 => Command::DeleteSchedule { schedule },
            5 => Command::PauseSchedule { schedule },
            6 | 7 => Command::ResumeSchedule { schedule },
            _ => {
                let Some(row) = schedule::get(self.store(home), home, schedule).unwrap() else {
                    return;
                };
                let callee = words::registered(&row.plan).unwrap();
                let called = (row.plan.service, row.plan.handler);
                Command::TriggerSchedule { schedule, called, callee }
            }
        };
        self.apply(home, command);
    }

    fn plan(&mut self, name: &str) -> Plan {
        let mut target = callee(0, &mut self.chance);
        if target.ty == HandlerType::Workflow {
            target.key = Some("{time}".into());
        }
        let mut coin = || self.chance.below(2) == 0;
        Plan {
            name: name.into(),
            cron: if coin() { "@every 1s" } else { "* * * * * *" }.into(),
            time_zone: "Europe/Berlin".into(),
            service: target.service,
            handler: target.handler,
            key: target.key,
            argument: Bytes::from_static(b"x"),
            headers: vec![],
            catch_up: if coin() { CatchUp::Skip } else { CatchUp::Once },
            overlap: if coin() { Overlap::Skip } else { Overlap::Allow },
        }
    }

    /// What is registered for a schedule that is due: nothing, now and then.
    pub fn registered(&mut self, partition: PartitionId, timer: &[u8]) -> Option<Callee> {
        let row = schedule::of_timer(self.store(partition), timer).unwrap()?;
        let busy = row.running().is_some() && row.plan.overlap == Overlap::Skip;
        self.saw(if busy { "skipped" } else { "scheduled" });
        (self.chance.below(8) > 0).then(|| words::registered(&row.plan)).flatten()
    }

    fn all_schedules(&self) -> Vec<Schedule> {
        let mut all = vec![];
        for partition in self.partitions.all() {
            schedule::scan(self.store(partition), partition, &mut |row| {
                all.push(row);
                true
            })
            .unwrap();
        }
        all
    }

    pub fn pause_schedules(&mut self) {
        for row in self.all_schedules() {
            let schedule = ScheduleId::of(&row.plan.name);
            self.apply(self.home_of(schedule), Command::PauseSchedule { schedule });
        }
    }

    /// When everything has ended, so have the runs.
    pub fn end_schedules(&mut self) {
        for row in self.all_schedules() {
            assert_eq!(row.running(), None, "nobody told how it ended");
            let schedule = ScheduleId::of(&row.plan.name);
            self.apply(self.home_of(schedule), Command::DeleteSchedule { schedule });
        }
    }
}
