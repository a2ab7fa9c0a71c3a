//! Who woke a handler, and whether it may have.
//!
//! What a handler awaits is ended by the journal, or by something that it executes within a step.
//! Then the attempt knows why the handler goes on. A handler that is woken by anything else (a
//! timer of tokio, a socket) would go on differently in a replay, or wait where nobody can suspend
//! it. Wakers given to a handler are therefore of two kinds: its own, which tells that something
//! strange happened, and those of steps, which are expected. When a strange future keeps the
//! handler's own waker, the place in the source is kept, to be named in the error.

use std::backtrace::Backtrace;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{RawWaker, RawWakerVTable, Wake, Waker};

/// What is known of how a handler was woken.
#[derive(Debug, Default)]
pub(crate) struct Wakeup {
    /// Wakes whoever polls the handler.
    task: Mutex<Option<Waker>>,
    woken: AtomicBool,
    strange: AtomicBool,
    /// The handler is being polled, or told something: being woken now is no surprise.
    expected: AtomicBool,
    /// Wakes by steps that come through a combinator of someone else, and so look strange.
    excused: AtomicUsize,
    /// A future of ours keeps a waker; that is no surprise either.
    keeping: AtomicBool,
    place: Mutex<Option<Backtrace>>,
}

impl Wakeup {
    /// Whoever polls the handler from now on.
    pub(crate) fn polled_by(&self, task: &Waker) {
        let mut known = self.task.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *known {
            Some(known) => known.clone_from(task),
            None => *known = Some(task.clone()),
        }
    }

    /// Runs what may wake the handler without being strange.
    pub(crate) fn expecting<R>(&self, act: impl FnOnce() -> R) -> R {
        self.expected.store(true, Ordering::SeqCst);
        let result = act();
        self.expected.store(false, Ordering::SeqCst);
        result
    }

    /// Runs what keeps wakers for a good reason.
    pub(crate) fn keeping<R>(&self, act: impl FnOnce() -> R) -> R {
        let before = self.keeping.swap(true, Ordering::SeqCst);
        let result = act();
        self.keeping.store(before, Ordering::SeqCst);
        result
    }

    pub(crate) fn take_woken(&self) -> bool {
        self.woken.swap(false, Ordering::SeqCst)
    }

    pub(crate) fn take_strange(&self) -> bool {
        self.strange.swap(false, Ordering::SeqCst)
    }

    /// Where the handler awaits what it should not, as far as the program knows its source.
    pub(crate) fn places(&self) -> Option<String> {
        let place = self.place.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        let folder = std::env::current_dir().unwrap_or_default();
        places_in(&place.to_string(), &folder)
    }

    /// The waker of the handler itself.
    pub(crate) fn handler_waker(self: &Arc<Wakeup>) -> Waker {
        let data = Arc::into_raw(self.clone()).cast();
        // SAFETY: the functions of the table keep the contract of wakers: each treats its pointer
        // as one reference of an `Arc<Wakeup>`, which may go between threads.
        unsafe { Waker::from_raw(RawWaker::new(data, &TABLE)) }
    }

    /// Whether a waker is that of the handler, and not one of a combinator in between.
    pub(crate) fn is_handlers(self: &Arc<Wakeup>, waker: &Waker) -> bool {
        waker.data() == Arc::as_ptr(self).cast() && *waker.vtable() == TABLE
    }

    /// A waker for what is executed within a step.
    pub(crate) fn step_waker(self: &Arc<Wakeup>, polled_with: &Waker) -> Waker {
        let between =
            (!self.is_handlers(polled_with)).then(|| self.keeping(|| polled_with.clone()));
        Arc::new(StepWaker { wakeup: self.clone(), between }).into()
    }

    fn wake(&self) {
        self.woken.store(true, Ordering::SeqCst);
        let task = self.task.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(task) = task {
            task.wake();
        }
    }

    fn wake_strangely(&self) {
        let take = |excused: usize| excused.checked_sub(1);
        let excused = self.excused.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take).is_ok();
        if !excused && !self.expected.load(Ordering::SeqCst) {
            self.strange.store(true, Ordering::SeqCst);
        }
        self.wake();
    }

    fn kept(&self) {
        if !self.keeping.load(Ordering::SeqCst) {
            let mut place = self.place.lock().unwrap_or_else(PoisonError::into_inner);
            *place = Some(Backtrace::force_capture());
        }
    }
}

/// Wakes the handler for what it executes within a step.
struct StepWaker {
    wakeup: Arc<Wakeup>,
    /// A combinator of someone else that has to be woken first.
    between: Option<Waker>,
}

impl Wake for StepWaker {
    fn wake(self: Arc<StepWaker>) {
        match &self.between {
            None => self.wakeup.wake(),
            Some(between) => {
                self.wakeup.excused.fetch_add(1, Ordering::SeqCst);
                between.wake_by_ref();
            }
        }
    }
}

static TABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, drop_waker);

fn clone(data: *const ()) -> RawWaker {
    // SAFETY: `data` came from `Arc::into_raw` of an `Arc<Wakeup>` that is still held by the waker
    // being cloned; the new waker gets a reference of its own.
    let wakeup = unsafe {
        Arc::increment_strong_count(data.cast::<Wakeup>());
        &*data.cast::<Wakeup>()
    };
    wakeup.kept();
    RawWaker::new(data, &TABLE)
}

fn wake(data: *const ()) {
    // SAFETY: `wake` consumes the waker, and with it its reference.
    let wakeup = unsafe { Arc::from_raw(data.cast::<Wakeup>()) };
    wakeup.wake_strangely();
}

fn wake_by_ref(data: *const ()) {
    // SAFETY: the waker keeps its reference for as long as this borrow lasts.
    let wakeup = unsafe { &*data.cast::<Wakeup>() };
    wakeup.wake_strangely();
}

fn drop_waker(data: *const ()) {
    // SAFETY: dropping consumes the waker, and with it its reference.
    drop(unsafe { Arc::from_raw(data.cast::<Wakeup>()) });
}

/// Frames that are never the handler's own source.
const NOT_THE_HANDLERS: [&str; 4] = ["/.cargo/registry/", "/.cargo/git/", "/rustc/", "/library/"];

/// Neither are those of this crate, wherever it was compiled.
const THIS_CRATE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src");

/// How many frames are named.
const PLACES_MAX: usize = 2;

/// The innermost lines of the user's source in a backtrace as the standard library writes it, with
/// paths below `folder` shortened.
fn places_in(backtrace: &str, folder: &Path) -> Option<String> {
    let lines = backtrace.lines().filter_map(|line| line.trim().strip_prefix("at "));
    let of_others = |line: &str| {
        let whole = line.strip_prefix("./").map(|below| folder.join(below));
        let of_this_crate = whole.as_deref().unwrap_or(Path::new(line)).starts_with(THIS_CRATE);
        of_this_crate || NOT_THE_HANDLERS.iter().any(|other| line.contains(other))
    };
    let ours = lines.filter(|line| !of_others(line));
    let ours: Vec<&str> = ours.take(PLACES_MAX).collect();
    (!ours.is_empty()).then(|| ours.join(", called at "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_line_of_the_handler_is_found() {
        let backtrace = "\
            0: std::backtrace::Backtrace::force_capture\n\
            \x20            at /rustc/abc/library/std/src/backtrace.rs:312:18\n\
            0: clone\n\
            \x20            at THIS_CRATE/wake.rs:9:1\n\
            0: kept\n\
            \x20            at ./src/wake.rs:9:1\n\
            1: tokio::time::sleep::poll\n\
            \x20            at /root/.cargo/registry/src/index/tokio-1/src/time/sleep.rs:9:1\n\
            2: shop::charge::{{closure}}\n\
            \x20            at ./src/main.rs:12:40\n\
            3: shop::Shop::buy::{{closure}}\n\
            \x20            at ./src/main.rs:40:9\n\
            4: main\n\
            \x20            at ./src/main.rs:60:9\n";
        let backtrace = backtrace.replace("THIS_CRATE", THIS_CRATE);
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let elsewhere = Path::new("/home/ada/shop");
        let handlers = "./src/main.rs:12:40, called at ./src/main.rs:40:9";
        let shops = backtrace.replace("at ./src/wake.rs", "at /rustc/wake.rs");
        assert_eq!(places_in(&shops, elsewhere).as_deref(), Some(handlers));
        let ours = backtrace.replace("at ./src/main.rs", "at ./tests/main.rs");
        let handlers = handlers.replace("/src/", "/tests/");
        assert_eq!(places_in(&ours, here), Some(handlers), "this crate's own tests");
        assert_eq!(places_in("no source is known", here), None);
    }

    #[test]
    fn a_wake_is_strange_unless_it_was_expected() {
        let wakeup = Arc::new(Wakeup::default());
        let own = wakeup.handler_waker();
        wakeup.expecting(|| own.wake_by_ref());
        assert!(wakeup.take_woken() && !wakeup.take_strange(), "while it is polled");
        wakeup.step_waker(&own).wake();
        assert!(wakeup.take_woken() && !wakeup.take_strange(), "by a step");
        wakeup.step_waker(&own.clone()).wake();
        assert!(!wakeup.take_strange(), "by a step again");
        own.wake();
        assert!(wakeup.take_strange(), "by anything else");
        assert_eq!(Arc::strong_count(&wakeup), 1, "all wakers are gone");
    }
}
