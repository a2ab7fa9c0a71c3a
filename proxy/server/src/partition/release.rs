//! Effects leave here, after the commit of the turn that decided them. Never asks whether they
//! should: that is decided.

use super::{
    Admission, Admitted, Hands, Notices, Place, Router,
    live::Live,
    queue::{Answer, Ask, Work},
    start::Shared,
    stop::Stop,
    timers::Timers,
    waiters::Waiters,
};
use holdfast_machine::{
    apply::Here,
    command::{AttemptEnd, AttemptSaid, Command, Failed, Reaction, Reply},
    effect::Effect,
    id::{InvocationId, PartitionId},
    kv::{Fault, Kv},
    model::AttemptFailure,
    replay,
    retry::RetryPolicy,
    tables::invocation,
};
use holdfast_wire::message::MessageType;
use std::{collections::BTreeMap, sync::Arc, time::Duration};

/// Of the failure of an attempt that does not read: the service's, in time.
const BEHIND_CODE: u32 = 500;

/// Where a command came from, and so what has to be done for it beside its effects.
pub(super) enum Origin {
    /// The partition itself: a timer, or an acknowledgement.
    Own,
    Door(Answer),
    /// `ended`: it was the last that this attempt says.
    Attempt {
        invocation: InvocationId,
        attempt: u32,
        ended: bool,
    },
    Partition {
        from: PartitionId,
        sequence: u64,
    },
    Place {
        invocation: InvocationId,
        attempt: u32,
        place: Place,
    },
    AskAgain {
        invocation: InvocationId,
        attempt: u32,
    },
    Leave {
        invocation: InvocationId,
        waiter: u64,
    },
}

/// A command that was applied.
pub(super) struct Applied {
    pub origin: Origin,
    pub effects: Vec<Effect>,
}

/// Everything that effects go to.
pub(super) struct Release {
    pub here: Here,
    pub eager_state_bytes_max: usize,
    pub shared: Arc<Shared>,
    pub router: Router,
    pub hands: Arc<dyn Hands>,
    pub notices: Arc<dyn Notices>,
    pub live: Live,
    pub waiters: Waiters,
    pub timers: Timers,
}

impl Release {
    /// Releases what a turn decided, in order. `kv` holds the turn's writes.
    pub(super) fn release(&mut self, kv: &dyn Kv, turn: Vec<Applied>) -> Result<(), Stop> {
        let mut received = BTreeMap::new();
        for Applied { origin, effects } in turn {
            let mut door = None;
            match origin {
                Origin::Own | Origin::Attempt { ended: false, .. } => {}
                Origin::Door(asks) => door = Some(asks),
                Origin::Attempt { invocation, attempt, .. } => self.live.end(invocation, attempt),
                Origin::Partition { from, sequence } => {
                    received.insert(from, sequence);
                }
                Origin::Place { invocation, attempt, place } => {
                    self.place(kv, invocation, attempt, place)?;
                }
                Origin::AskAgain { invocation, attempt } => {
                    self.ask_again(kv, invocation, attempt)?;
                }
                Origin::Leave { invocation, waiter } => self.waiters.leave(invocation, waiter),
            }
            for effect in effects {
                self.effect(kv, effect, &mut door)?;
            }
            if door.is_some() {
                return Err(Stop::Broken("a door was given no reply".to_owned()));
            }
        }
        self.acknowledge(received);
        Ok(())
    }

    fn effect(
        &mut self,
        kv: &dyn Kv,
        effect: Effect,
        door: &mut Option<Answer>,
    ) -> Result<(), Fault> {
        match effect {
            Effect::Invoke { invocation, attempt } => self.invoke(kv, invocation, attempt)?,
            Effect::Notify { invocation, attempt, entry } => {
                let is_signal = entry.ty == MessageType::SIGNAL;
                let told = self.live.notify(invocation, attempt, entry);
                self.replace_unless(told, invocation, attempt);
                if is_signal {
                    self.end_unstarted(kv, invocation, attempt)?;
                }
            }
            Effect::Suspend { invocation, attempt } => {
                self.suspend(invocation, attempt);
                self.end_unstarted(kv, invocation, attempt)?;
            }
            Effect::Abort { invocation, attempt } => {
                if !self.live.abort(invocation, attempt) {
                    self.hands.withdraw(invocation, attempt);
                }
            }
            Effect::Reply(answer) => {
                if let Some(door) = door.take() {
                    self.reply(answer, door);
                }
            }
            Effect::Ended { invocation, outcome, .. } => self.waiters.tell(invocation, &outcome),
            Effect::WakeAt(due) => self.timers.wake_at(due),
            Effect::Notice { .. } => self.notices.written(self.here.partition),
            Effect::Push { .. } => self.notices.queued(self.here.partition),
            Effect::Told { task, sequence } => self.shared.watches.told(task, sequence),
            Effect::Send { to, sequence, message } => {
                let from = self.here.partition;
                let deliver = Command::Deliver { from, sequence, message };
                self.router.post(to, deliver);
            }
        }
        Ok(())
    }

    /// Starts an attempt as soon as there is a place for it.
    fn invoke(&mut self, kv: &dyn Kv, invocation: InvocationId, attempt: u32) -> Result<(), Fault> {
        match self.hands.admit(invocation, attempt, None) {
            Admission::Admitted(place) => self.start(kv, invocation, attempt, place),
            Admission::Waits => Ok(()),
            Admission::WhichTarget => self.invoke_target(kv, invocation, attempt),
        }
    }

    fn invoke_target(
        &mut self,
        kv: &dyn Kv,
        invocation: InvocationId,
        attempt: u32,
    ) -> Result<(), Fault> {
        let Some(target) = replay::target(kv, self.here, invocation, attempt)? else {
            return Ok(()); // Ended or replaced by a later command of this turn.
        };
        match self.hands.admit(invocation, attempt, Some(&target)) {
            Admission::Admitted(place) => self.start(kv, invocation, attempt, place),
            Admission::Waits | Admission::WhichTarget => Ok(()),
        }
    }

    fn ask_again(
        &mut self,
        kv: &dyn Kv,
        invocation: InvocationId,
        attempt: u32,
    ) -> Result<(), Fault> {
        match self.live.is_live(invocation, attempt) {
            true => Ok(()),
            false => self.invoke_target(kv, invocation, attempt),
        }
    }

    /// Ends the wait of an attempt that need not begin any more.
    fn end_unstarted(
        &self,
        kv: &dyn Kv,
        invocation: InvocationId,
        attempt: u32,
    ) -> Result<(), Fault> {
        if !self.live.is_live(invocation, attempt)
            && replay::need_not_start(kv, self.here, invocation)?
            && self.hands.withdraw(invocation, attempt)
        {
            let (pin, said, end) = (None, Vec::new(), Some(AttemptEnd::Unstarted));
            let said = AttemptSaid { invocation, attempt, pin, said, end };
            self.shared.queue.push(Work::Said(Box::new(said)));
        }
        Ok(())
    }

    /// Starts an attempt that had to wait, and tells it what it could not hear then.
    fn place(
        &mut self,
        kv: &dyn Kv,
        invocation: InvocationId,
        attempt: u32,
        place: Place,
    ) -> Result<(), Fault> {
        self.start(kv, invocation, attempt, place)?;
        let record = invocation::look(kv, self.here.partition, invocation)?;
        if record.is_some_and(|record| record.pause_wanted) {
            self.suspend(invocation, attempt);
        }
        Ok(())
    }

    /// Gives an admitted attempt to the hands, with its rows of this moment.
    fn start(
        &mut self,
        kv: &dyn Kv,
        invocation: InvocationId,
        attempt: u32,
        place: Place,
    ) -> Result<(), Fault> {
        let max = self.eager_state_bytes_max;
        let start = replay::start(kv, self.here, invocation, max)?;
        let current = start.filter(|start| start.attempt == attempt);
        let Some(start) = current.filter(|_| !self.live.is_live(invocation, attempt)) else {
            // Ended, cut off or replaced since it was asked for.
            return Ok(());
        };
        let entries = u32::try_from(start.entries.len()).expect("entries are counted by a u32");
        let news = self.live.begin(invocation, attempt, entries);
        let partition = self.shared.handle();
        self.hands.start(Admitted { start, news, partition, place });
        Ok(())
    }

    fn suspend(&mut self, invocation: InvocationId, attempt: u32) {
        let told = self.live.suspend(invocation, attempt);
        self.replace_unless(told, invocation, attempt);
    }

    /// Where an attempt did not read its news, another one begins: for it they are journal.
    fn replace_unless(&self, told: bool, invocation: InvocationId, attempt: u32) {
        if told {
            return;
        }
        let failure = AttemptFailure {
            code: BEHIND_CODE,
            message: "the service did not read its notifications".to_owned(),
            ..AttemptFailure::default()
        };
        let failed = Failed {
            failure,
            reaction: Reaction::RetryAfter(Duration::ZERO),
            policy: RetryPolicy::default(),
            jitter: 0,
            counts_for_entry: false,
        };
        let end = Some(AttemptEnd::Failed(Box::new(failed)));
        let (pin, said) = (None, Vec::new());
        let said = AttemptSaid { invocation, attempt, pin, said, end };
        self.shared.queue.push(Work::Said(Box::new(said)));
    }

    /// Who asked may have gone; who waits enters before anything later can end the wait.
    fn reply(&mut self, reply: Reply, door: Answer) {
        match door {
            Answer::Reply(door) => drop(door.send(reply)),
            Answer::Outcome { invocation, waiter } => {
                if let Some(waiter) = waiter.reply(reply) {
                    self.waiters.enter(invocation, waiter);
                }
            }
        }
    }

    /// Tells each sender up to which number its messages are durable here.
    fn acknowledge(&self, received: BTreeMap<PartitionId, u64>) {
        let to = self.here.partition;
        for (from, sequence) in received {
            self.router.post(from, Command::Delivered { to, sequence });
        }
    }
}

/// Takes work apart: what to apply, and what to remember for the release.
pub(super) fn split(work: Work) -> (Option<Command>, Origin) {
    match work {
        Work::Ask(Ask { command, answer }) => (Some(command), Origin::Door(answer)),
        Work::Said(said) => {
            let (invocation, attempt, ended) = (said.invocation, said.attempt, said.end.is_some());
            (Some(Command::Attempt(said)), Origin::Attempt { invocation, attempt, ended })
        }
        Work::Post(command) => {
            let origin = match command {
                Command::Deliver { from, sequence, .. } => Origin::Partition { from, sequence },
                _ => Origin::Own,
            };
            (Some(command), origin)
        }
        Work::Place { invocation, attempt, place } => {
            (None, Origin::Place { invocation, attempt, place })
        }
        Work::AskAgain { invocation, attempt } => (None, Origin::AskAgain { invocation, attempt }),
        Work::Leave { invocation, waiter } => (None, Origin::Leave { invocation, waiter }),
    }
}
