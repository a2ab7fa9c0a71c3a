//! Who takes the turns of a partition: its thread; or, where next to nothing goes on, whoever has
//! something to say, because being woken takes longer than the turn. Never two at once, and what is
//! taken out of the queue is applied in the order in which it was taken.

use super::{queue::Next, start::Shared, stop::Stop, turn::Partition};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Mutex, MutexGuard},
    time::Duration,
};

/// Longest sleep until a timer: the machine's clock may be set forward, or the machine suspended,
/// and nothing wakes who sleeps by another clock.
const SLEEP_MAX: Duration = Duration::from_secs(1);

/// The one writer of a slice of keys: whoever holds the lock.
#[derive(Default)]
pub(super) struct Writer(Mutex<Option<Partition>>);

type Held<'a> = MutexGuard<'a, Option<Partition>>;

/// The thread of a partition. Runs until the queue is closed and empty, or until something is wrong.
pub(super) fn run(mut partition: Partition) {
    let shared = partition.shared.clone();
    match guarded(|| partition.recover()) {
        Ok(()) => *shared.writer.lock() = Some(partition),
        Err(stop) => return partition.stop(&stop),
    }
    shared.set_ready();
    let patience = |alarm| shared.clock.until(alarm).min(SLEEP_MAX);
    loop {
        shared.queue.wait(patience);
        if !turn(&mut shared.writer.lock()) {
            return;
        }
    }
}

impl Shared {
    /// After something was put in.
    pub(super) fn go_on(&self, next: Next) {
        if next == Next::Nothing {
            return;
        }
        match self.writer.0.try_lock() {
            Ok(mut partition) => {
                turn(&mut partition);
            }
            // Somebody else takes a turn, perhaps of less than is there now.
            Err(_) => self.queue.rouse(),
        }
    }
}

impl Writer {
    fn lock(&self) -> Held<'_> {
        self.0.lock().expect("what panics in a turn is caught there")
    }
}

/// One turn. False: there will be no other.
fn turn(held: &mut Held<'_>) -> bool {
    let Some(partition) = held.as_mut() else {
        return false;
    };
    let turned = guarded(|| partition.take_turn());
    let goes_on = matches!(turned, Ok(true));
    if let Some(ended) = held.take_if(|_| !goes_on)
        && let Err(stop) = turned
    {
        ended.stop(&stop);
    }
    goes_on
}

fn guarded<T>(act: impl FnOnce() -> Result<T, Stop>) -> Result<T, Stop> {
    catch_unwind(AssertUnwindSafe(act)).unwrap_or_else(|panic| Err(Stop::panic(&*panic)))
}
