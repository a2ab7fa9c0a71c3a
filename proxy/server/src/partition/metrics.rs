//! What the partitions count. The machine counts nothing; its commands and effects are counted
//! here, by name.

use crate::telemetry;
use holdfast_machine::{command::Command, effect::Effect, id::PartitionId};
use prometheus_client::metrics::{
    counter::Counter,
    family::Family,
    gauge::Gauge,
    histogram::{Histogram, exponential_buckets},
};
use std::{sync::Arc, time::Duration};

type Label = [(&'static str, &'static str); 1];
type PartitionLabel = [(&'static str, String); 1];

/// The families of all partitions. Cheap to clone.
#[derive(Clone)]
pub struct Metrics(Arc<Families>);

struct Families {
    commands: Box<[Counter]>,
    effects: Box<[Counter]>,
    batch_commands: Histogram,
    batch_bytes: Histogram,
    commit_seconds: Histogram,
    timer_lateness_seconds: Histogram,
    queue_commands: Family<PartitionLabel, Gauge>,
    live_attempts: Family<PartitionLabel, Gauge>,
    waited_invocations: Family<PartitionLabel, Gauge>,
    stopped: Family<PartitionLabel, Gauge>,
}

/// The gauges of one partition.
pub(super) struct Gauges {
    pub queue_commands: Gauge,
    pub live_attempts: Gauge,
    pub waited_invocations: Gauge,
    /// 1 after a fault.
    pub stopped: Gauge,
}

impl Metrics {
    pub fn new(telemetry: &telemetry::Metrics) -> Self {
        let seconds = || Histogram::new(exponential_buckets(0.000_05, 2.0, 18));
        let (commands, effects) = (Family::default(), Family::default());
        let families = Families {
            commands: counters(&commands, "command", COMMANDS),
            effects: counters(&effects, "effect", EFFECTS),
            batch_commands: Histogram::new(exponential_buckets(1.0, 2.0, 11)),
            batch_bytes: Histogram::new(exponential_buckets(256.0, 4.0, 10)),
            commit_seconds: seconds(),
            timer_lateness_seconds: seconds(),
            queue_commands: Family::default(),
            live_attempts: Family::default(),
            waited_invocations: Family::default(),
            stopped: Family::default(),
        };
        telemetry.register("partition", |registry| {
            let f = &families;
            registry.register("commands", "Commands applied", commands);
            registry.register("effects", "Effects released", effects);
            let help = "Commands that shared a commit";
            registry.register("batch_commands", help, f.batch_commands.clone());
            let help = "Bytes of rows in a commit";
            registry.register("batch_bytes", help, f.batch_bytes.clone());
            let help = "Time a commit took to be durable";
            registry.register("commit_seconds", help, f.commit_seconds.clone());
            let help = "Time from a timer's due time to its turn";
            registry.register("timer_lateness_seconds", help, f.timer_lateness_seconds.clone());
            let help = "Commands that wait for a partition";
            registry.register("queue_commands", help, f.queue_commands.clone());
            let help = "Attempts that run now";
            registry.register("live_attempts", help, f.live_attempts.clone());
            let help = "Invocations whose outcome somebody waits for";
            registry.register("waited_invocations", help, f.waited_invocations.clone());
            let help = "1 where a partition has stopped after a fault";
            registry.register("stopped", help, f.stopped.clone());
        });
        Metrics(Arc::new(families))
    }

    pub(super) fn gauges(&self, partition: PartitionId) -> Gauges {
        let label = [("partition", partition.0.to_string())];
        let of = |family: &Family<PartitionLabel, Gauge>| family.get_or_create_owned(&label);
        Gauges {
            queue_commands: of(&self.0.queue_commands),
            live_attempts: of(&self.0.live_attempts),
            waited_invocations: of(&self.0.waited_invocations),
            stopped: of(&self.0.stopped),
        }
    }

    pub(super) fn command(&self, command: &Command) {
        self.0.commands[number_of_command(command)].inc();
    }

    pub(super) fn effect(&self, effect: &Effect) {
        self.0.effects[number_of_effect(effect)].inc();
    }

    pub(super) fn committed(&self, commands: usize, bytes: usize, took: Duration) {
        self.0.batch_commands.observe(commands as f64);
        self.0.batch_bytes.observe(bytes as f64);
        self.0.commit_seconds.observe(took.as_secs_f64());
    }

    pub(super) fn timer_late_by(&self, late: Duration) {
        self.0.timer_lateness_seconds.observe(late.as_secs_f64());
    }
}

/// A counter for each name, found once and not whenever something is counted.
fn counters(
    family: &Family<Label, Counter>,
    label: &'static str,
    names: &[&'static str],
) -> Box<[Counter]> {
    names.iter().map(|name| family.get_or_create_owned(&[(label, *name)])).collect()
}

/// Which of `names` is `name`.
const fn position(names: &[&str], name: &str) -> usize {
    let mut at = 0;
    while !is_same(names[at].as_bytes(), name.as_bytes()) {
        at += 1;
    }
    at
}

const fn is_same(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

/// The names of all variants, and a function that gives the position of a variant's name.
macro_rules! names {
    ($names:ident, $number:ident($type:ty), $($variant:pat => $name:literal,)+) => {
        const $names: &[&str] = &[$($name),+];

        fn $number(it: &$type) -> usize {
            match it {
                $($variant => const { position($names, $name) },)+
            }
        }
    };
}

names! { COMMANDS, number_of_command(Command),
    Command::Invoke(_) => "invoke",
    Command::Attach { .. } => "attach",
    Command::Output { .. } => "output",
    Command::Signal { .. } => "signal",
    Command::Cancel { .. } => "cancel",
    Command::Kill { .. } => "kill",
    Command::Pause { .. } => "pause",
    Command::Resume { .. } => "resume",
    Command::Purge { .. } => "purge",
    Command::PurgeJournal { .. } => "purge_journal",
    Command::Forget { .. } => "forget",
    Command::RestartAsNew { .. } => "restart_as_new",
    Command::PatchState { .. } => "patch_state",
    Command::StartTask { .. } => "start_task",
    Command::MessageTask { .. } => "message_task",
    Command::AnswerAsk { .. } => "answer_ask",
    Command::PutSchedule(_) => "put_schedule",
    Command::DeleteSchedule { .. } => "delete_schedule",
    Command::PauseSchedule { .. } => "pause_schedule",
    Command::ResumeSchedule { .. } => "resume_schedule",
    Command::TriggerSchedule { .. } => "trigger_schedule",
    Command::Attempt(_) => "attempt",
    Command::TimerDue { .. } => "timer_due",
    Command::Deliver { .. } => "deliver",
    Command::Delivered { .. } => "delivered",
    Command::Noticed { .. } => "noticed",
    Command::PutPush { .. } => "put_push",
    Command::DeletePush { .. } => "delete_push",
    Command::Pushed { .. } => "pushed",
}

names! { EFFECTS, number_of_effect(Effect),
    Effect::Invoke { .. } => "invoke",
    Effect::Notify { .. } => "notify",
    Effect::Suspend { .. } => "suspend",
    Effect::Abort { .. } => "abort",
    Effect::Reply(_) => "reply",
    Effect::Ended { .. } => "ended",
    Effect::WakeAt(_) => "wake_at",
    Effect::Notice { .. } => "notice",
    Effect::Push { .. } => "push",
    Effect::Told { .. } => "told",
    Effect::Send { .. } => "send",
}
