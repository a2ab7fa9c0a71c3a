//! What waits for a partition: written by everybody, read by whoever takes a turn. Never refuses what
//! attempts and other partitions say; it slows down those that cause it instead.

use super::{Place, Unavailable, config::Config, waiters::Waiter, weight::weight};
use holdfast_machine::{
    command::{AttemptSaid, Command, Reply},
    id::{InvocationId, PartitionId},
    time::Timestamp,
};
use std::{
    collections::VecDeque,
    sync::{Condvar, Mutex, MutexGuard},
    time::Duration,
};
use tokio::sync::{Notify, oneshot};

/// What a door that was refused is told to wait.
const RETRY_AFTER_MS: u64 = 200;
/// Bytes that a command counts for beside its payload.
pub(super) const COMMAND_BYTES: usize = 256;

/// One thing to do for a partition.
pub(super) enum Work {
    /// A command of a door, which wants the reply.
    Ask(Ask),
    Said(Box<AttemptSaid>),
    /// A command of another partition.
    Post(Command),
    /// There is a place for an attempt that had to wait for one.
    Place {
        invocation: InvocationId,
        attempt: u32,
        place: Place,
    },
    /// An attempt that waits for a place has to ask for it again.
    AskAgain {
        invocation: InvocationId,
        attempt: u32,
    },
    /// Somebody waits no longer.
    Leave {
        invocation: InvocationId,
        waiter: u64,
    },
}

/// Whoever asks learns by the closed channel that there will be no answer.
pub(super) struct Ask {
    pub command: Command,
    pub answer: Answer,
}

/// What whoever asks is told: the reply, or only what comes of it in the end. Being told once
/// means being woken once.
pub(super) enum Answer {
    Reply(oneshot::Sender<Reply>),
    Outcome { invocation: InvocationId, waiter: Waiter },
}

/// The queue of one partition.
pub(super) struct Queue {
    partition: PartitionId,
    commands_max: usize,
    bytes_max: usize,
    batch_commands_max: usize,
    batch_bytes_max: usize,
    state: Mutex<State>,
    ready: Condvar,
    /// Told after each take, and when the queue is closed.
    room: Notify,
}

#[derive(Default)]
struct State {
    work: VecDeque<Work>,
    bytes: usize,
    /// The thread sleeps and has to be woken.
    asleep: bool,
    /// The thread has to look at the clock again.
    look: bool,
    /// When the thread has to look at the clock by itself.
    alarm: Option<Timestamp>,
    /// So little goes on that whoever puts something in may as well take the turn.
    quiet: bool,
    closed: Option<Unavailable>,
}

/// What who has put something in has to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    Nothing,
    /// Take a turn: the thread was not woken.
    Turn,
}

impl State {
    fn put(&mut self, work: Work) {
        self.bytes += weight(&work);
        self.work.push_back(work);
    }
}

impl Queue {
    pub(super) fn new(partition: PartitionId, config: &Config) -> Self {
        Queue {
            partition,
            commands_max: config.commands_max,
            bytes_max: config.queue_bytes_max,
            batch_commands_max: config.batch_commands_max.max(1),
            batch_bytes_max: config.batch_bytes_max,
            state: Mutex::default(),
            ready: Condvar::new(),
            room: Notify::new(),
        }
    }

    /// Puts in what may be refused: there is too much already, or the partition has ended.
    #[must_use = "the turn may be the caller's"]
    pub(super) fn offer(&self, work: Work) -> Result<Next, Unavailable> {
        let state = self.lock();
        if let Some(closed) = &state.closed {
            return Err(closed.clone());
        }
        if self.is_full(&state, 1) {
            let (partition, retry_after_ms) = (self.partition, RETRY_AFTER_MS);
            return Err(Unavailable::Overloaded { partition, retry_after_ms });
        }
        Ok(self.put_quietly(state, work))
    }

    /// Puts in what is not refused, as `push` does.
    #[must_use = "the turn may be the caller's"]
    pub(super) fn say(&self, work: Work) -> Next {
        let state = self.lock();
        if state.closed.is_some() {
            drop(state);
            drop(work);
            return Next::Nothing;
        }
        self.put_quietly(state, work)
    }

    /// Puts in what is not refused. Once the partition has ended it is dropped: whatever it was is
    /// derived again from the tables.
    pub(super) fn push(&self, work: Work) {
        // Dropped here, where the lock is not held: a place that is dropped calls its owner.
        drop(self.hand(work));
    }

    /// As `push`, and gives the work back where the partition has ended.
    #[must_use = "it was not taken"]
    pub(super) fn hand(&self, work: Work) -> Option<Work> {
        let state = self.lock();
        if state.closed.is_some() {
            return Some(work);
        }
        self.put(state, work);
        None
    }

    /// Lets the thread look at the clock again.
    pub(super) fn look(&self) {
        let mut state = self.lock();
        state.look = true;
        self.wake(state);
    }

    /// Nothing can be put in any more. What is in stays to be taken. The first reason holds.
    pub(super) fn close(&self, why: Unavailable) {
        let mut state = self.lock();
        state.closed.get_or_insert(why);
        self.wake(state);
        self.room.notify_waiters();
    }

    /// Drops what is in; whoever asked learns by it.
    pub(super) fn clear(&self) {
        let dropped = std::mem::take(&mut self.lock().work);
        drop(dropped);
    }

    /// Why nothing can be put in, if so.
    pub(super) fn closed(&self) -> Option<Unavailable> {
        self.lock().closed.clone()
    }

    /// How much is waiting: commands, and bytes of payload.
    pub(super) fn depth(&self) -> (usize, usize) {
        let state = self.lock();
        (state.work.len(), state.bytes)
    }

    /// Sleeps until there is something to take, the clock has to be looked at, or the queue is
    /// closed. `patience` says how long it is until an alarm.
    pub(super) fn wait(&self, patience: impl Fn(Timestamp) -> Duration) {
        let state = self.lock();
        let patience = state.alarm.map(patience);
        self.sleep(state, patience).look = false;
    }

    /// Fills `batch`. False: the queue is closed and empty.
    pub(super) fn take(&self, batch: &mut Vec<Work>) -> bool {
        let mut state = self.lock();
        let mut bytes = 0;
        while batch.len() < self.batch_commands_max {
            let Some(work) = state.work.front() else {
                break;
            };
            let weight = weight(work);
            if !batch.is_empty() && bytes + weight > self.batch_bytes_max {
                break;
            }
            bytes += weight;
            batch.extend(state.work.pop_front());
        }
        state.bytes -= bytes;
        let ended = batch.is_empty() && state.closed.is_some();
        drop(state);
        self.room.notify_waiters();
        !ended
    }

    /// After a turn: when the clock has to be looked at again, and whether little goes on. What
    /// came in the meantime is the thread's.
    pub(super) fn settle(&self, alarm: Option<Timestamp>, quiet: bool) {
        let mut state = self.lock();
        let sooner = match (alarm, state.alarm) {
            (Some(alarm), Some(before)) => alarm < before,
            (alarm, None) => alarm.is_some(),
            (None, Some(_)) => false,
        };
        (state.alarm, state.quiet) = (alarm, quiet);
        if sooner || !state.work.is_empty() || state.closed.is_some() {
            self.wake(state);
        }
    }

    /// Wakes the thread if it sleeps.
    pub(super) fn rouse(&self) {
        self.wake(self.lock());
    }

    /// Waits while there is more than twice of what doors may put in: what has begun goes on where
    /// nothing new may begin.
    pub(super) async fn room(&self) {
        self.until(|state| (state.closed.is_some() || !self.is_full(state, 2)).then_some(())).await;
    }

    /// Waits until the queue is closed, and tells why it is.
    pub(super) async fn closing(&self) -> Unavailable {
        self.until(|state| state.closed.clone()).await
    }

    async fn until<T>(&self, answer: impl Fn(&State) -> Option<T>) -> T {
        loop {
            let told = self.room.notified();
            let answer = answer(&self.lock());
            match answer {
                Some(answer) => return answer,
                None => told.await,
            }
        }
    }

    fn sleep<'a>(
        &self,
        mut state: MutexGuard<'a, State>,
        patience: Option<Duration>,
    ) -> MutexGuard<'a, State> {
        let awake = !state.work.is_empty() || state.look || state.closed.is_some();
        if awake || patience == Some(Duration::ZERO) {
            return state;
        }
        state.asleep = true;
        // Waking for no reason does no harm: a turn without work commits nothing.
        let mut state = match patience {
            None => self.ready.wait(state).expect(UNPOISONED),
            Some(patience) => self.ready.wait_timeout(state, patience).expect(UNPOISONED).0,
        };
        state.asleep = false;
        state
    }

    fn put(&self, mut state: MutexGuard<'_, State>, work: Work) {
        state.put(work);
        self.wake(state);
    }

    /// As `put`; where little goes on, the thread sleeps on.
    fn put_quietly(&self, mut state: MutexGuard<'_, State>, work: Work) -> Next {
        let here = state.quiet && state.asleep && state.work.is_empty();
        state.put(work);
        if here {
            return Next::Turn;
        }
        self.wake(state);
        Next::Nothing
    }

    fn wake(&self, mut state: MutexGuard<'_, State>) {
        let asleep = std::mem::take(&mut state.asleep);
        drop(state);
        if asleep {
            self.ready.notify_one();
        }
    }

    fn is_full(&self, state: &State, times: usize) -> bool {
        state.work.len() >= self.commands_max.saturating_mul(times)
            || state.bytes >= self.bytes_max.saturating_mul(times)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect(UNPOISONED)
    }
}

const UNPOISONED: &str = "nothing panics while it holds this lock";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::partition::Places;
    use std::sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    };

    fn wish(attempt: u32) -> Work {
        let invocation = InvocationId::random("s", None, 0, 0);
        Work::AskAgain { invocation, attempt }
    }

    fn queue(commands_max: usize, batch_commands_max: usize) -> Queue {
        let config = Config { commands_max, batch_commands_max, ..Config::default() };
        Queue::new(PartitionId(0), &config)
    }

    fn taken(queue: &Queue) -> Vec<u32> {
        let mut batch = Vec::new();
        queue.take(&mut batch);
        let attempt = |work: &Work| match work {
            Work::AskAgain { attempt, .. } => *attempt,
            _ => unreachable!("nothing else is put in"),
        };
        batch.iter().map(attempt).collect()
    }

    #[test]
    fn a_batch_is_bounded_and_in_order() {
        let queue = queue(100, 2);
        (1..=3).for_each(|attempt| queue.push(wish(attempt)));
        assert_eq!(taken(&queue), [1, 2]);
        assert_eq!(taken(&queue), [3]);
        assert_eq!(queue.depth(), (0, 0));
    }

    #[test]
    fn a_batch_is_bounded_in_bytes_but_never_empty() {
        let config = Config { batch_bytes_max: 2 * COMMAND_BYTES, ..Config::default() };
        let queue = Queue::new(PartitionId(0), &config);
        (1..=3).for_each(|attempt| queue.push(wish(attempt)));
        assert_eq!(taken(&queue), [1, 2]);
        let config = Config { batch_bytes_max: 1, ..Config::default() };
        let queue = Queue::new(PartitionId(0), &config);
        queue.push(wish(1));
        assert_eq!(taken(&queue), [1]);
    }

    #[test]
    fn doors_are_refused_where_attempts_are_not() {
        let queue = queue(2, 2);
        assert_eq!(queue.offer(wish(1)), Ok(Next::Nothing));
        queue.push(wish(2));
        assert!(matches!(queue.offer(wish(3)), Err(Unavailable::Overloaded { .. })));
        queue.push(wish(4));
        assert_eq!(queue.depth().0, 3);
        taken(&queue);
        assert_eq!(queue.offer(wish(5)), Ok(Next::Nothing));
    }

    #[test]
    fn a_closed_queue_gives_out_what_it_holds() {
        let queue = queue(10, 10);
        queue.push(wish(1));
        queue.close(Unavailable::ShuttingDown);
        queue.push(wish(2));
        assert_eq!(queue.offer(wish(3)), Err(Unavailable::ShuttingDown));
        let mut batch = Vec::new();
        assert!(queue.take(&mut batch));
        assert_eq!(batch.len(), 1);
        batch.clear();
        assert!(!queue.take(&mut batch));
    }

    /// Counts the places that were given back.
    #[derive(Default)]
    struct Free(AtomicUsize);

    impl Places for Free {
        fn give_back(&self, _: u64) {
            self.0.fetch_add(1, Relaxed);
        }
    }

    #[test]
    fn no_place_is_lost_with_a_queue() {
        let (queue, free) = (queue(10, 10), Arc::new(Free::default()));
        let place = || {
            let Work::AskAgain { invocation, attempt } = wish(1) else { unreachable!() };
            let place = Place::new(free.clone(), 7);
            Work::Place { invocation, attempt, place }
        };
        queue.push(place());
        queue.close(Unavailable::ShuttingDown);
        let Some(Work::Place { place: refused, .. }) = queue.hand(place()) else {
            panic!("the queue is closed");
        };
        assert_eq!(refused.into_seat(), 7);
        assert_eq!(free.0.load(Relaxed), 0, "who takes the number takes the place");
        queue.push(place());
        assert_eq!(free.0.load(Relaxed), 1);
        queue.clear();
        assert_eq!(free.0.load(Relaxed), 2);
    }

    #[tokio::test]
    async fn room_comes_with_the_next_take() {
        let queue = queue(1, 10);
        queue.push(wish(1));
        queue.room().await;
        queue.push(wish(2));
        let waits = queue.room();
        tokio::pin!(waits);
        assert!(poll_once(waits.as_mut()).await.is_pending());
        taken(&queue);
        waits.await;
    }

    #[tokio::test]
    async fn who_waits_for_the_end_learns_the_first_reason() {
        let queue = queue(1, 10);
        let waits = queue.closing();
        tokio::pin!(waits);
        assert!(poll_once(waits.as_mut()).await.is_pending());
        let (partition, reason) = (PartitionId(0), "broken".to_owned());
        let stopped = Unavailable::Stopped { partition, reason };
        queue.close(stopped.clone());
        queue.close(Unavailable::ShuttingDown);
        assert_eq!(waits.await, stopped);
    }

    async fn poll_once<F: Future>(mut future: std::pin::Pin<&mut F>) -> std::task::Poll<F::Output> {
        std::future::poll_fn(|context| std::task::Poll::Ready(future.as_mut().poll(context))).await
    }
}
