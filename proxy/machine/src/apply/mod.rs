//! Decides. One command in, writes and effects out; the branching is here, the leaves are in the
//! files beside. Same rows, time and command: same writes and effects. Never waits, never reads a
//! clock, never draws chance, and never relies on an effect having been carried out.

mod ask;
mod call;
mod cancel;
mod circle;
mod complete;
mod inbox;
mod invoke;
mod journal;
mod kill;
mod notice;
mod notify;
mod outbox;
mod pause;
mod promise;
mod purge;
mod push;
mod restart;
mod run;
mod said;
mod schedule;
mod signal;
mod state;
mod suspend;
mod task;
mod tell;
#[cfg(test)]
pub(crate) mod tests;
mod timer;

use crate::command::{Command, Reply};
use crate::effect::Effect;
use crate::id::{InvocationId, PartitionId, Partitions};
use crate::kv::{Fault, Txn};
use crate::model::{FailuresWanted, NoticesWanted, Target};
use crate::tables::invocation::{self, Record};
use crate::tables::message::Message;
use crate::time::Timestamp;
use std::collections::VecDeque;

pub use state::version as state_version;

/// Which partition decides, among how many, and what it has to tell outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Here {
    pub partition: PartitionId,
    pub partitions: Partitions,
    /// May be another with each command; rows that are written stay.
    pub notices: NoticesWanted,
}

impl Here {
    /// A partition that writes no notices.
    pub const fn new(partition: PartitionId, partitions: Partitions) -> Here {
        let notices = NoticesWanted { paused: false, failed: FailuresWanted::None };
        Here { partition, partitions, notices }
    }
}

/// Decides one command.
///
/// Effects come in the order in which they are to be released. A command of a door gives exactly
/// one `Effect::Reply`; others give none.
///
/// # Errors
/// If the store cannot be read or holds what this program cannot have written. What `txn` has
/// collected by then is void.
pub fn apply(
    txn: &mut Txn<'_>,
    here: Here,
    now: Timestamp,
    command: Command,
) -> Result<Vec<Effect>, Fault> {
    let mut turn = Turn {
        txn,
        here,
        now,
        effects: vec![],
        local: VecDeque::new(),
        leaving: VecDeque::new(),
        waiting: VecDeque::new(),
        begun: VecDeque::new(),
    };
    turn.decide(command)?;
    turn.settle()?;
    Ok(turn.effects)
}

/// One command being decided.
struct Turn<'t, 'k> {
    txn: &'t mut Txn<'k>,
    here: Here,
    now: Timestamp,
    effects: Vec<Effect>,
    /// Messages for this partition, to be taken in the same command.
    local: VecDeque<Message>,
    /// Killed holders of a key, which goes on when all that was killed with them is.
    leaving: VecDeque<(InvocationId, Target)>,
    /// Invocations whose wait may have closed a circle; looked at when all else is settled.
    waiting: VecDeque<InvocationId>,
    /// Tasks whose first attempt begins.
    begun: VecDeque<InvocationId>,
}

impl Turn<'_, '_> {
    fn decide(&mut self, command: Command) -> Result<(), Fault> {
        match command {
            Command::Invoke(new) => self.invoke(*new),
            Command::Attach { invocation } | Command::Output { invocation } => {
                self.tell_outcome(invocation)
            }
            Command::Signal { invocation, signal, value } => {
                let reply = self.signal(invocation, signal, value)?;
                self.reply(reply);
                Ok(())
            }
            Command::Cancel { invocation } => {
                let reply = self.cancel(invocation)?;
                self.reply(reply);
                Ok(())
            }
            Command::Kill { invocation } => {
                let reply = self.kill(invocation)?;
                self.reply(reply);
                Ok(())
            }
            Command::Pause { invocation } => self.pause(invocation),
            Command::Resume { invocation, pin } => self.resume(invocation, pin),
            Command::Purge { invocation } => self.purge(invocation),
            Command::PurgeJournal { invocation } => self.purge_journal(invocation),
            Command::Forget { invocation, completed } => {
                self.forget_completed(invocation, completed)?;
                self.reply(Reply::Done);
                Ok(())
            }
            Command::RestartAsNew { invocation, new, from, pin } => {
                let reply = self.restart_as_new(invocation, new, from, pin)?;
                self.reply(reply);
                Ok(())
            }
            Command::PatchState { service, key, version, state } => {
                self.patch_state(&service, &key, version, state)
            }
            Command::StartTask { new, task } => {
                let reply = self.start_task(*new, *task)?;
                self.reply(reply);
                Ok(())
            }
            Command::MessageTask { task, message } => {
                let reply = self.message_task(task, *message)?;
                self.reply(reply);
                Ok(())
            }
            Command::AnswerAsk { root, number, ask, answer } => {
                let reply = self.answer_ask(root, number, ask, *answer)?;
                self.reply(reply);
                Ok(())
            }
            Command::PutPush { invocation, name, config } => {
                let reply = self.put_push(invocation, &name, *config)?;
                self.reply(reply);
                Ok(())
            }
            Command::DeletePush { invocation, name } => {
                let reply = self.delete_push(invocation, &name)?;
                self.reply(reply);
                Ok(())
            }
            Command::PutSchedule(plan) => {
                let reply = self.put_schedule(*plan)?;
                self.reply(reply);
                Ok(())
            }
            Command::DeleteSchedule { schedule } => {
                let reply = self.delete_schedule(schedule)?;
                self.reply(reply);
                Ok(())
            }
            Command::PauseSchedule { schedule } => {
                let reply = self.pause_schedule(schedule)?;
                self.reply(reply);
                Ok(())
            }
            Command::ResumeSchedule { schedule } => {
                let reply = self.resume_schedule(schedule)?;
                self.reply(reply);
                Ok(())
            }
            Command::TriggerSchedule { schedule, called, callee } => {
                let reply = self.trigger_schedule(schedule, &called, callee)?;
                self.reply(reply);
                Ok(())
            }
            Command::Attempt(said) => self.attempt_said(*said),
            Command::TimerDue { key, callee } => self.timer_due(&key, callee),
            Command::Deliver { from, sequence, message } => self.deliver(from, sequence, message),
            Command::Delivered { to, sequence } => self.delivered(to, sequence),
            Command::Noticed { sequence } => {
                self.noticed(sequence);
                Ok(())
            }
            Command::Pushed { sequence } => {
                self.pushed(sequence);
                Ok(())
            }
        }
    }

    /// Takes the messages to this partition, and those they lead to. Queues and no recursion: a
    /// tree of calls can be deep.
    fn settle(&mut self) -> Result<(), Fault> {
        loop {
            if let Some(task) = self.begun.pop_front() {
                self.task_began(task)?;
            } else if let Some(message) = self.local.pop_front() {
                self.receive(message)?;
            } else if let Some((holder, target)) = self.leaving.pop_front() {
                self.unlock(holder, &target)?;
            } else if let Some(waiting) = self.waiting.pop_front() {
                self.break_circle(waiting)?;
            } else {
                return Ok(());
            }
        }
    }

    fn receive(&mut self, message: Message) -> Result<(), Fault> {
        match message {
            Message::Invoke { new, sink } => self.called(*new, sink),
            Message::Respond { sink, outcome } => self.respond(sink, outcome),
            Message::Signal { invocation, signal, value } => {
                self.signal(invocation, signal, value).map(drop)
            }
            Message::Kill { invocation } => self.kill(invocation).map(drop),
            Message::Attach { invocation, sink } => self.attach(invocation, sink),
            Message::Ask(ask) => self.open_ask(*ask),
            Message::Withdraw { root, caller, tell } => self.withdraw(root, Some(caller), tell),
            Message::Tell { root, told, sink } => {
                let heard = self.told(root, *told)?;
                match sink {
                    Some(sink) => self.send(Message::Respond { sink, outcome: Some(heard) }),
                    None => Ok(()),
                }
            }
        }
    }

    fn reply(&mut self, reply: Reply) {
        self.effects.push(Effect::Reply(reply));
    }

    fn record(&self, id: InvocationId) -> Result<Option<Record>, Fault> {
        invocation::get(self.txn, self.here.partition, id)
    }

    /// Writes the row back, as changed now.
    fn store(&mut self, id: InvocationId, record: &mut Record) {
        record.times.modified = self.now;
        invocation::put(self.txn, self.here.partition, id, record);
    }
}
