//! Steps: what a handler does outside of the journal, and whose result is recorded.

use super::durable::{Durably, Owner, Read, read_or_fail, read_value};
use super::kinds::Context;
use super::shared::Shared;
use crate::attempt::{At, Leaf, RetryPolicy, Step, StepId};
use crate::error::{Ending, Result, Terminal};
use crate::panics::{self, Panic};
use crate::payload;
use bytes::Bytes;
use holdfast_wire::message::pb::notification::Result as Outcome;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Poll, Waker};
use std::time::Instant;

impl Context {
    /// Does something outside, and records its result: whatever dies afterwards, it is not done
    /// again.
    ///
    /// The closure may borrow. It runs when the future is awaited, and not at all if the journal
    /// has its result. An ordinary error (or a panic) is tried again, by the retry policy of the
    /// handler or by one of its own ([`Run::retry`]); a [`Terminal`] is recorded like a result.
    /// Between doing it and recording it a crash may happen, and then it is done again: give what
    /// must not happen twice an idempotency key, such as [`Context::uuid`].
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// # async fn post(_card: &str) -> std::io::Result<String> { Ok("receipt".into()) }
    /// async fn charge(ctx: &Context, card: &str) -> Result<String> {
    ///     Ok(ctx.run("charge", async || Ok(post(card).await?)).await?)
    /// }
    /// ```
    #[track_caller]
    #[must_use = "a step is executed when it is awaited"]
    pub fn run<'a, T, F, R>(&'a self, name: &str, step: F) -> Run<'a, T>
    where
        T: Serialize + DeserializeOwned,
        F: FnOnce() -> R + Send + 'a,
        R: Future<Output = Result<T>> + Send + 'a,
    {
        let at = Location::caller();
        let id = self.shared.act(|attempt| attempt.run(name, at));
        let begin = Box::new(move || -> Executing<'a> {
            let step = step();
            Box::pin(async move { Ok(payload::encode(&step.await?)?.bytes) })
        });
        Run {
            context: self,
            leaf: Leaf::Completion(id.completion),
            id,
            at,
            policy: None,
            state: State::Held(begin),
            read: read_value,
            marked: false,
        }
    }

    /// Does something in every attempt, without recording it.
    ///
    /// A handler must not await what is not in its journal, since nobody could replay it; this is
    /// how to say that it is meant. Nothing that the handler decides may depend on the result.
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// # async fn warm_up_the_cache() {}
    /// async fn handler(ctx: &Context) -> Result<()> {
    ///     ctx.unrecorded(warm_up_the_cache()).await;
    ///     Ok(())
    /// }
    /// ```
    #[track_caller]
    pub fn unrecorded<'a, R, F>(&'a self, future: F) -> Unrecorded<'a, R>
    where
        F: Future<Output = R> + Send + 'a,
    {
        Unrecorded {
            context: self,
            leaf: self.shared.attempt().unrecorded(),
            at: Location::caller(),
            future: Box::pin(future),
            waker: StepWaker::default(),
        }
    }
}

type Executing<'a> = Pin<Box<dyn Future<Output = Result<Bytes>> + Send + 'a>>;

enum State<'a> {
    /// Not begun, since the journal may have its result.
    Held(Box<dyn FnOnce() -> Executing<'a> + Send + 'a>),
    Executing(Executing<'a>, Instant, StepWaker),
    /// Its result is proposed to the journal, or the attempt failed by it.
    Ended,
}

/// A step: await it to have it done and get its result.
///
/// ```
/// # use holdfast_sdk::prelude::*;
/// async fn read_both(ctx: &Context) -> Result<String> {
///     let one: holdfast_sdk::Run<'_, String> = ctx.run("one", async || Ok("a".to_owned()));
///     let two = ctx.run("two", async || Ok("b".to_owned()));
///     let both = holdfast_sdk::try_join_all([one, two]).await?; // at the same time
///     Ok(both.concat())
/// }
/// ```
#[must_use = "a step is executed when it is awaited"]
pub struct Run<'a, T> {
    context: &'a Context,
    id: StepId,
    leaf: Leaf,
    at: At,
    policy: Option<RetryPolicy>,
    state: State<'a>,
    read: fn(Outcome) -> Read<T>,
    marked: bool,
}

impl<T> Run<'_, T> {
    /// How often it is tried, in place of the retry policy of the handler. When that is used up,
    /// the step fails with its last error, and the handler may do something else.
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// # async fn post() -> std::io::Result<String> { Ok("receipt".into()) }
    /// async fn charge(ctx: &Context) -> Result<String> {
    ///     let thrice = RetryPolicy::new().max_attempts(3);
    ///     let charged = ctx.run("charge", async || Ok(post().await?)).retry(thrice).await;
    ///     Ok(charged.unwrap_or_else(|gave_up| format!("by hand: {gave_up}")))
    /// }
    /// ```
    pub fn retry(mut self, policy: RetryPolicy) -> Self {
        self.policy = Some(policy);
        self
    }

    /// Goes on with executing it. Says how far it is.
    fn execute(&mut self, task: &std::task::Context<'_>) -> Step {
        if matches!(self.state, State::Held(_)) {
            if !self.context.shared.attempt().may_execute() {
                return Step::Held;
            }
            if let State::Held(begin) = std::mem::replace(&mut self.state, State::Ended) {
                let executing = match panics::caught(begin) {
                    Ok(executing) => executing,
                    Err(panic) => Box::pin(async move { Err(panic.into_error()) }),
                };
                self.state = State::Executing(executing, Instant::now(), StepWaker::default());
            }
        }
        let State::Executing(step, begun, waker) = &mut self.state else {
            return Step::None;
        };
        let inside = format!("the step `{}`", self.id.name);
        let shared = &self.context.shared;
        let result = match waker.poll(self.context, &inside, task, step) {
            Ok(Poll::Pending) => return Step::Executing,
            Ok(Poll::Ready(result)) => result,
            Err(panic) => Err(panic.into_error()),
        };
        let spent = begun.elapsed();
        self.state = State::Ended;
        let mut attempt = shared.attempt();
        match result.map_err(crate::Error::into_ending) {
            Ok(bytes) => attempt.propose(&self.id, Ok(bytes)),
            Err(Ending::Terminal(terminal)) => {
                attempt.propose(&self.id, Err(terminal.into_failure()));
            }
            Err(Ending::Failed(failed)) => {
                attempt.step_failed(&self.id, self.policy, failed, spent);
            }
        }
        Step::None
    }
}

impl<T> Future for Run<'_, T> {
    type Output = Result<T, Terminal>;

    fn poll(self: Pin<&mut Self>, task: &mut std::task::Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let shared = &this.context.shared;
        let told = shared.attempt().poll_leaf(&this.leaf);
        match told {
            Some(Ok(outcome)) => return read_or_fail(shared, outcome, this.at, this.read),
            Some(Err(_)) => return Poll::Ready(Err(Terminal::cancelled())),
            None => {}
        }
        let step = this.execute(task);
        this.marked = true;
        match this.context.shared.poll_leaf(&this.leaf, step, this.at, task) {
            Poll::Ready(Ok(outcome)) => {
                read_or_fail(&this.context.shared, outcome, this.at, this.read)
            }
            Poll::Ready(Err(cancelled)) => Poll::Ready(Err(cancelled)),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<T> Durably for Run<'_, T> {
    type Ok = T;

    fn belongs_to(&self) -> Option<Owner> {
        Some(Owner(self.context.shared.clone()))
    }
}

impl<T> Drop for Run<'_, T> {
    fn drop(&mut self) {
        if self.marked {
            self.context.shared.forget(&self.leaf);
        }
    }
}

/// See [`Context::unrecorded`].
///
/// ```
/// # use holdfast_sdk::prelude::*;
/// async fn handler(ctx: &Context) -> Result<()> {
///     let warm: holdfast_sdk::Unrecorded<'_, ()> = ctx.unrecorded(async {});
///     warm.await;
///     Ok(())
/// }
/// ```
#[must_use = "a future does nothing unless it is awaited"]
pub struct Unrecorded<'a, R> {
    context: &'a Context,
    leaf: Leaf,
    at: At,
    future: Pin<Box<dyn Future<Output = R> + Send + 'a>>,
    waker: StepWaker,
}

impl<R> Future for Unrecorded<'_, R> {
    type Output = R;

    fn poll(self: Pin<&mut Self>, task: &mut std::task::Context<'_>) -> Poll<R> {
        let this = self.get_mut();
        let inside = "something unrecorded";
        match this.waker.poll(this.context, inside, task, &mut this.future) {
            Ok(Poll::Pending) => {}
            Ok(Poll::Ready(result)) => return Poll::Ready(result),
            Err(panic) => panic.resume(),
        }
        let pending = this.context.shared.poll_leaf(&this.leaf, Step::Executing, this.at, task);
        debug_assert!(pending.is_pending(), "nothing is told of what is unrecorded");
        Poll::Pending
    }
}

impl<R> Drop for Unrecorded<'_, R> {
    fn drop(&mut self) {
        self.context.shared.forget(&self.leaf);
    }
}

/// Polls what is executed with a waker that may wake the handler.
#[derive(Default)]
struct StepWaker {
    waker: Option<Waker>,
    /// The waker of a combinator of someone else that it wakes first.
    between: Option<Waker>,
}

impl StepWaker {
    /// A panic is given back as the error.
    fn poll<F: Future + Unpin>(
        &mut self,
        context: &Context,
        inside: &str,
        task: &std::task::Context<'_>,
        future: &mut F,
    ) -> Result<Poll<F::Output>, Panic> {
        let shared = &context.shared;
        let waker = self.made_for(shared, task.waker());
        shared.attempt().enter(inside);
        let mut within = std::task::Context::from_waker(waker);
        let result = panics::caught(|| Pin::new(future).poll(&mut within));
        shared.attempt().leave();
        result
    }

    fn made_for(&mut self, shared: &Shared, polled_with: &Waker) -> &Waker {
        let between = (!shared.wakeup.is_handlers(polled_with)).then_some(polled_with);
        let fits = match (&self.between, between) {
            (None, None) => true,
            (Some(known), Some(now)) => known.will_wake(now),
            _ => false,
        };
        if !fits {
            self.between = between.map(|waker| shared.wakeup.keeping(|| waker.clone()));
            self.waker = None;
        }
        self.waker.get_or_insert_with(|| shared.wakeup.step_waker(polled_with))
    }
}
