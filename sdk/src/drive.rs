//! One attempt under way: lets the handler go on as far as it can, each time something came.
//!
//! Still without I/O: whoever has a connection (the endpoint, a test) gives bytes and takes bytes.

use crate::attempt::{Attempt, Begin, CODE_INTERNAL, Failed, Step, Turn};
use crate::context::{Context, Facts, Shared};
use crate::error::{Ending, Error};
use crate::panics::{self, Panic};
use crate::quiet;
use crate::service::Running;
use bytes::Bytes;
use holdfast_wire::version::Version;
use std::panic::Location;
use std::sync::{Arc, PoisonError};
use std::task::{Poll, Waker};
use tracing::Span;

/// Makes the handler run, once its input is there.
pub(crate) type Start = Box<dyn FnOnce(Context, Bytes) -> Running + Send>;

/// Names of what is called.
#[derive(Clone)]
pub(crate) struct Called {
    pub(crate) service: Arc<str>,
    pub(crate) handler: Arc<str>,
}

/// One attempt under way.
pub(crate) struct Drive {
    shared: Arc<Shared>,
    called: Called,
    handler: Handler,
    waker: Waker,
    span: Span,
}

enum Handler {
    /// Not all of its replay is there.
    Waiting(Start),
    Running(Running),
    Ended,
}

/// How often a handler may wake itself without anything having happened.
const IDLE_TURNS_MAX: u32 = 1000;

impl Drive {
    pub(crate) fn new(version: Version, bytes_max: u32, called: Called, start: Start) -> Drive {
        let shared = Arc::new(Shared::new(Attempt::new(version, bytes_max)));
        let waker = shared.wakeup.handler_waker();
        Drive { shared, called, handler: Handler::Waiting(start), waker, span: Span::none() }
    }

    pub(crate) fn handle_bytes(&mut self, bytes: Bytes) {
        self.shared.attempt().handle_bytes(bytes);
    }

    pub(crate) fn handle_end(&mut self) {
        self.shared.attempt().handle_end();
    }

    pub(crate) fn handle_drain(&mut self) {
        self.shared.attempt().handle_drain();
    }

    pub(crate) fn take_output(&mut self) -> Bytes {
        self.shared.attempt().take_output()
    }

    /// Whether the last message is written.
    pub(crate) fn is_closed(&self) -> bool {
        self.shared.attempt().is_closed()
    }

    /// Whether the handler does something that no sidecar will end.
    pub(crate) fn is_executing(&self) -> bool {
        self.shared.attempt().waits.has(Step::Executing)
    }

    /// Goes on as far as possible. `task` is woken when it can go on further by itself.
    pub(crate) fn advance(&mut self, task: &Waker) {
        self.shared.wakeup.polled_by(task);
        self.begin();
        if !matches!(self.handler, Handler::Running(_)) {
            return;
        }
        let span = self.span.clone();
        let _entered = span.enter();
        let wakeup = self.shared.wakeup.clone();
        let mut go_on = wakeup.take_woken();
        if wakeup.take_strange() {
            self.shared.attempt().handle_stray(wakeup.places().as_deref());
        }
        for _ in 0..IDLE_TURNS_MAX {
            if go_on {
                self.poll_handler();
            }
            let turn = wakeup.expecting(|| self.shared.attempt().handle_blocked());
            go_on = match turn {
                Turn::Poll => true,
                Turn::Closed => return self.end(),
                Turn::Wait if wakeup.take_woken() => true,
                Turn::Wait => return,
                Turn::Stray if wakeup.take_woken() => true,
                Turn::Stray => {
                    self.shared.attempt().handle_stray(wakeup.places().as_deref());
                    return self.end();
                }
            };
        }
        task.wake_by_ref();
        wakeup.expecting(|| self.waker.wake_by_ref());
    }

    /// Begins the handler if its replay is there.
    fn begin(&mut self) {
        if !matches!(self.handler, Handler::Waiting(_)) {
            return;
        }
        let Some(begin) = self.shared.attempt().take_begin() else {
            return;
        };
        let Handler::Waiting(start) = std::mem::replace(&mut self.handler, Handler::Ended) else {
            return;
        };
        let Begin { id, invocation, key, headers, input, random } = begin;
        let Called { service, handler } = self.called.clone();
        self.span = tracing::info_span!("attempt", %service, %handler, %invocation);
        *self.shared.random.lock().unwrap_or_else(PoisonError::into_inner) = random;
        let facts = Facts { id, invocation, service, handler, key, headers };
        if self.shared.facts.set(facts).is_err() {
            return;
        }
        let context = Context::new(self.shared.clone());
        self.handler = Handler::Running(start(context, input));
        self.shared.wakeup.expecting(|| self.waker.wake_by_ref());
    }

    fn poll_handler(&mut self) {
        let Handler::Running(running) = &mut self.handler else {
            return;
        };
        let replaying = {
            let mut attempt = self.shared.attempt();
            if attempt.is_closed() {
                return;
            }
            attempt.waits.begin();
            attempt.is_replaying()
        };
        let mut task = std::task::Context::from_waker(&self.waker);
        let polled = self.shared.wakeup.expecting(|| {
            quiet::polling(replaying, || panics::caught(|| running.as_mut().poll(&mut task)))
        });
        match polled {
            Ok(Poll::Pending) => {}
            Ok(Poll::Ready(result)) => self.finish(result),
            Err(panic) => self.panicked(&panic),
        }
    }

    fn finish(&mut self, result: Result<Bytes, Error>) {
        let mut attempt = self.shared.attempt();
        match result.map_err(Error::into_ending) {
            Ok(output) => attempt.finish(Ok(output), Location::caller()),
            Err(Ending::Terminal(terminal)) => {
                attempt.finish(Err(terminal.into_failure()), Location::caller());
            }
            Err(Ending::Failed(failed)) => {
                tracing::warn!(error = failed.message, "attempt failed");
                attempt.fail(failed);
            }
        }
    }

    fn panicked(&mut self, panic: &Panic) {
        let message = panic.message();
        tracing::error!(error = message, "attempt failed");
        self.shared.attempt().fail(Failed::new(CODE_INTERNAL, message));
    }

    /// The attempt is over, and so is the handler, wherever it is.
    fn end(&mut self) {
        self.handler = Handler::Ended;
    }
}
