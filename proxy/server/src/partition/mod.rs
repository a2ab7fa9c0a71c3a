//! A slice of all keys, and who decides there: one at a time, its thread or a caller in passing, takes
//! everything that is ready, applies it, commits once, then releases the effects. Never answers before
//! the commit, never waits on the network.

mod config;
mod live;
mod metrics;
mod place;
mod queue;
mod release;
pub mod retention;
mod start;
mod stop;
#[cfg(test)]
mod tests;
mod timers;
mod turn;
mod waiters;
mod watches;
mod weight;
mod writer;

pub use config::Config;
pub use metrics::Metrics;
pub use place::{Place, Places};
pub use start::{Error, Partitions as Waiting, Running, start};
pub use watches::Watch;

use crate::store::Store;
use holdfast_machine::{
    attempt,
    command::{AttemptSaid, Command, Reply},
    id::{InvocationId, PartitionId, Partitions, ScheduleId},
    model::{Callee, Entry, NoticesWanted, Outcome, Target},
    time::Timestamp,
};
use queue::{Answer, Ask, Work};
use start::Shared;
use std::{sync::Arc, time::Duration};
use tokio::{
    sync::{mpsc, oneshot},
    time::sleep,
};
use waiters::Waiter;

/// What the partition needs done by somebody who may wait on the network; the house plugs it in.
pub trait Hands: Send + Sync + 'static {
    /// Asks for a place among the running attempts. `target` is what is called, where it was asked
    /// for: reading it costs a row.
    fn admit(&self, invocation: InvocationId, attempt: u32, target: Option<&Target>) -> Admission;

    /// Runs an attempt that was admitted. Must not block.
    fn start(&self, attempt: Admitted);

    /// An attempt need not begin any more. False: it does not wait for a place.
    fn withdraw(&self, invocation: InvocationId, attempt: u32) -> bool;

    /// What is registered for a handler now, for a schedule that is due. Must not block.
    fn callee(&self, service: &str, handler: &str) -> Option<Callee>;
}

/// The answer to who asks for a place.
#[derive(Debug)]
pub enum Admission {
    /// Dropping it, instead of starting the attempt, gives it back.
    Admitted(Place),
    /// There is none now; the invocation is remembered, and `Handle::start_attempt` is called when
    /// there is one.
    Waits,
    /// It depends on the target; ask again with it.
    WhichTarget,
}

/// Who tells somebody outside what happened; the house plugs it in.
pub trait Notices: Send + Sync + 'static {
    /// Of what notices are to be written. Asked in every turn, so it must be quick.
    fn wanted(&self) -> NoticesWanted;

    /// This partition has notices that were not told of yet. Must not block.
    fn written(&self, partition: PartitionId);

    /// This partition has events of tasks that are to be sent to receivers. Must not block.
    fn queued(&self, _partition: PartitionId) {}
}

/// Nobody wants to be told anything.
pub struct Nobody;

impl Notices for Nobody {
    fn wanted(&self) -> NoticesWanted {
        NoticesWanted::default()
    }

    fn written(&self, _partition: PartitionId) {}
}

/// An attempt on its way to the service.
pub struct Admitted {
    pub start: attempt::Start,
    /// What happens to it from now on. Closed: the attempt is void, as after `News::Abort`. Either
    /// it ended, or the partition did, or it fell too far behind and another attempt begins.
    pub news: mpsc::Receiver<News>,
    pub partition: Handle,
    /// To be kept for as long as the attempt runs.
    pub place: Place,
}

/// What a live attempt is told.
#[derive(Debug, Clone, PartialEq)]
pub enum News {
    /// A notification was stored after the entries in `Start`. Boxed, because a channel has room for
    /// many at once: smaller ones come from what the allocator has at hand.
    Notification(Box<Entry>),
    /// Half-close as soon as possible so that the service suspends.
    Suspend,
    /// The attempt is void: reset the stream, say nothing more.
    Abort,
}

/// The partition cannot take commands.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unavailable {
    /// Too many commands wait; try again.
    #[error("partition {} is overloaded; try again in {retry_after_ms} ms", partition.0)]
    Overloaded { partition: PartitionId, retry_after_ms: u64 },
    /// It stopped after a fault; the operator has to look.
    #[error("partition {} has stopped: {reason}", partition.0)]
    Stopped { partition: PartitionId, reason: String },
    /// The process is shutting down.
    #[error("shutting down")]
    ShuttingDown,
}

impl Unavailable {
    /// Names the page in `docs/errors`.
    pub fn code(&self) -> &'static str {
        match self {
            Unavailable::Overloaded { .. } => "HF0030",
            Unavailable::Stopped { .. } => "HF0031",
            Unavailable::ShuttingDown => "HF0032",
        }
    }
}

/// How an invocation that somebody waited for ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Ended {
    pub outcome: Outcome,
    /// Set where the outcome was already there when it was asked for, and is retained.
    pub expires_at: Option<Timestamp>,
}

/// Puts commands into one partition's order. Cheap to clone.
#[derive(Clone)]
pub struct Handle {
    shared: Arc<Shared>,
}

/// What a wait for an outcome can come to.
#[derive(Debug, Clone, PartialEq)]
pub enum Waited {
    Ended(Ended),
    /// Any reply that is not an outcome to wait for (`Refused`, `Unknown`, …).
    Reply(Reply),
}

impl Handle {
    pub fn id(&self) -> PartitionId {
        self.shared.id
    }

    /// Whether it has recovered and works on what comes.
    pub fn is_ready(&self) -> bool {
        self.shared.is_ready()
    }

    /// Why it takes no commands any more, if so.
    pub fn closed(&self) -> Option<Unavailable> {
        self.shared.queue.closed()
    }

    /// Applies `command` and gives its reply once it is durable.
    pub async fn call(&self, command: Command) -> Result<Reply, Unavailable> {
        let answer = self.ask(command)?;
        self.come(answer).await
    }

    /// As `call`, and again for as long as the partition is overloaded.
    pub async fn insist(&self, command: impl Fn() -> Command) -> Result<Reply, Unavailable> {
        loop {
            match self.call(command()).await {
                Err(Unavailable::Overloaded { retry_after_ms, .. }) => {
                    sleep(Duration::from_millis(retry_after_ms)).await;
                }
                answered => return answered,
            }
        }
    }

    /// As `call` for `Invoke` and `Attach`, and then waits, without limit, for the outcome.
    /// `accepted` is called once the invocation is durably accepted, by whoever takes the turn: it
    /// must be short and must not block.
    pub async fn wait(
        &self,
        command: Command,
        accepted: impl FnOnce(&Reply) + Send + 'static,
    ) -> Result<Waited, Unavailable> {
        let waited = self.wait_once(command, accepted).await?;
        let Waited::Reply(Reply::Accepted { invocation, new: false, .. }) = waited else {
            return Ok(waited);
        };
        // It was there already, and may have ended already.
        self.wait_once(Command::Attach { invocation }, |_| {}).await
    }

    async fn wait_once(
        &self,
        command: Command,
        accepted: impl FnOnce(&Reply) + Send + 'static,
    ) -> Result<Waited, Unavailable> {
        let Some(invocation) = waited_for(&command) else {
            return self.call(command).await.map(Waited::Reply);
        };
        let (told, waited) = oneshot::channel();
        let id = self.shared.new_waiter();
        let waiter = Waiter { id, accepted: Some(Box::new(accepted)), told };
        self.offer(command, Answer::Outcome { invocation, waiter })?;
        let mut seat = Seat { shared: &self.shared, invocation, waiter: id, taken: true };
        let waited = self.come(waited).await?;
        seat.taken = false;
        Ok(waited)
    }

    /// Wakes when rows are written to the feed of a task of this partition.
    pub fn follow(&self, task: InvocationId) -> Watch {
        self.shared.watches.follow(task)
    }

    /// What an attempt said; never refused, never waits. `room` is the back-pressure.
    pub fn say(&self, said: AttemptSaid) {
        let next = self.shared.queue.say(Work::Said(Box::new(said)));
        self.shared.go_on(next);
    }

    /// Waits until the partition has room for more of what attempts say.
    pub async fn room(&self) {
        self.shared.queue.room().await;
    }

    /// There is a place for an attempt that had to wait for one.
    ///
    /// # Errors
    /// Gives the place back where the partition has ended.
    pub fn start_attempt(
        &self,
        invocation: InvocationId,
        attempt: u32,
        place: Place,
    ) -> Result<(), Place> {
        match self.shared.queue.hand(Work::Place { invocation, attempt, place }) {
            Some(Work::Place { place, .. }) => Err(place),
            _ => Ok(()),
        }
    }

    /// An attempt that waits for a place has to ask for it again: what it depends on has changed.
    pub fn ask_again(&self, invocation: InvocationId, attempt: u32) {
        self.shared.queue.push(Work::AskAgain { invocation, attempt });
    }

    fn ask(&self, command: Command) -> Result<oneshot::Receiver<Reply>, Unavailable> {
        let (reply, answer) = oneshot::channel();
        self.offer(command, Answer::Reply(reply))?;
        Ok(answer)
    }

    fn offer(&self, command: Command, answer: Answer) -> Result<(), Unavailable> {
        let next = self.shared.queue.offer(Work::Ask(Ask { command, answer }))?;
        self.shared.go_on(next);
        Ok(())
    }

    /// An answer that does not come is one that the end of the partition swallowed.
    async fn come<T>(&self, answer: oneshot::Receiver<T>) -> Result<T, Unavailable> {
        match answer.await {
            Ok(answer) => Ok(answer),
            Err(_) => Err(self.shared.queue.closing().await),
        }
    }
}

/// The invocation whose outcome the sender of `command` may wait for.
fn waited_for(command: &Command) -> Option<InvocationId> {
    match command {
        Command::Invoke(new) => Some(new.id),
        Command::Attach { invocation } => Some(*invocation),
        _ => None,
    }
}

/// A place among those who wait; given back when the wait is broken off.
struct Seat<'a> {
    shared: &'a Shared,
    invocation: InvocationId,
    waiter: u64,
    taken: bool,
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        if self.taken {
            let (invocation, waiter) = (self.invocation, self.waiter);
            self.shared.queue.push(Work::Leave { invocation, waiter });
        }
    }
}

/// All partitions of this process. Cheap to clone.
#[derive(Clone)]
pub struct Router {
    partitions: Partitions,
    handles: Arc<[Handle]>,
    store: Arc<dyn Store>,
}

impl Router {
    /// The partition that owns `invocation`.
    pub fn of(&self, invocation: InvocationId) -> &Handle {
        &self.handles[usize::from(self.partitions.of(invocation.partition_key).0)]
    }

    /// The partition that owns `schedule`.
    pub fn of_schedule(&self, schedule: ScheduleId) -> &Handle {
        self.of(schedule.row())
    }

    /// The partition that owns object key `key`.
    pub fn of_key(&self, key: &str) -> &Handle {
        let key = holdfast_machine::id::PartitionKey::of_key(key);
        &self.handles[usize::from(self.partitions.of(key).0)]
    }

    pub fn all(&self) -> &[Handle] {
        &self.handles
    }

    pub fn partitions(&self) -> Partitions {
        self.partitions
    }

    /// Whether all partitions work on what comes.
    pub fn is_ready(&self) -> bool {
        self.handles.iter().all(Handle::is_ready)
    }

    /// For reads beside the partitions; a snapshot of it is a moment of all of them.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Puts a command of one partition into another's order. Lost where that one has ended; the
    /// outbox row it came from stays until it is acknowledged.
    fn post(&self, to: PartitionId, command: Command) {
        self.handles[usize::from(to.0)].shared.queue.push(Work::Post(command));
    }
}
