//! Futures that the journal ends.

use super::kinds::Context;
use super::shared::Shared;
use super::{OrTimeout, combine};
use crate::attempt::{At, CODE_INTERNAL, Failed, Leaf, Step};
use crate::error::Terminal;
use crate::payload;
use bytes::Bytes;
use holdfast_wire::message::pb::notification::Result as Outcome;
use serde::de::DeserializeOwned;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

/// A future whose result comes from the journal, so that a replay has it at once.
///
/// All futures that a context gives are of this kind, and so are those of the combinators
/// ([`join_all`](crate::join_all), [`race`](crate::race) and so on). They resolve to
/// `Result<T, Terminal>`: what fails is either what was awaited, or everything at once because the
/// invocation was cancelled ([`Terminal::is_cancelled`]).
///
/// ```
/// # use holdfast_sdk::prelude::*;
/// # use std::time::Duration;
/// async fn patient(ctx: &Context) -> Result<Option<String>> {
///     let (id, answer) = ctx.awakeable::<String>();
///     ctx.run("publish", async || { println!("answer to {id}"); Ok(()) }).await?;
///     Ok(answer.or_timeout(Duration::from_secs(3600)).await?)
/// }
/// ```
pub trait Durably: Future<Output = Result<Self::Ok, Terminal>> + Unpin + Send {
    /// What it resolves to when all goes well.
    type Ok;

    #[doc(hidden)]
    fn belongs_to(&self) -> Option<Owner>;

    /// Changes what it resolves to.
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// # use std::time::Duration;
    /// async fn nap(ctx: &Context) -> Result<&'static str> {
    ///     Ok(ctx.sleep(Duration::from_secs(1)).map_ok(|()| "slept").await?)
    /// }
    /// ```
    fn map_ok<T, F>(self, map: F) -> MapOk<Self, F>
    where
        Self: Sized,
        F: FnOnce(Self::Ok) -> T + Unpin + Send,
    {
        MapOk { future: self, map: Some(map) }
    }

    /// Waits at most so long: `None` when the time is over. The timer is as durable as what is
    /// waited for.
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// # use std::time::Duration;
    /// async fn ask(ctx: &Context) -> Result<bool> {
    ///     let (_id, approval) = ctx.awakeable::<bool>();
    ///     let within_a_day = approval.or_timeout(Duration::from_secs(24 * 3600)).await?;
    ///     Ok(within_a_day.unwrap_or(false))
    /// }
    /// ```
    #[track_caller]
    fn or_timeout(self, after: Duration) -> OrTimeout<Self>
    where
        Self: Sized,
    {
        combine::or_timeout(self, after, std::panic::Location::caller())
    }

    /// The same behind a box, to keep different ones together.
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// # use std::time::Duration;
    /// async fn first(ctx: &Context) -> Result<()> {
    ///     let (_id, told) = ctx.awakeable::<()>();
    ///     let all = [told.boxed(), ctx.sleep(Duration::from_secs(9)).boxed()];
    ///     Ok(holdfast_sdk::race(all).await.1?)
    /// }
    /// ```
    fn boxed<'a>(self) -> BoxDurable<'a, Self::Ok>
    where
        Self: Sized + 'a,
    {
        Box::new(self)
    }
}

/// Any durable future, behind a box.
///
/// ```
/// # use holdfast_sdk::prelude::*;
/// # use std::time::Duration;
/// fn nap<'a>(ctx: &'a Context) -> holdfast_sdk::BoxDurable<'a, ()> {
///     ctx.sleep(Duration::from_secs(1)).boxed()
/// }
/// ```
pub type BoxDurable<'a, T> = Box<dyn Durably<Ok = T, Output = Result<T, Terminal>> + 'a>;

impl<T> Durably for BoxDurable<'_, T> {
    type Ok = T;

    fn belongs_to(&self) -> Option<Owner> {
        (**self).belongs_to()
    }
}

/// Which attempt a future belongs to.
#[doc(hidden)]
#[derive(Clone)]
pub struct Owner(pub(crate) Arc<Shared>);

/// The result of one act of a handler, to be awaited.
///
/// The act itself has already happened: dropping this only means not to look at the result.
///
/// ```
/// # use holdfast_sdk::prelude::*;
/// # use std::time::Duration;
/// async fn two_naps(ctx: &Context) -> Result<()> {
///     let short: holdfast_sdk::Durable<'_, ()> = ctx.sleep(Duration::from_secs(1));
///     let long = ctx.sleep(Duration::from_secs(2)); // both run at the same time
///     short.await?;
///     long.await?;
///     Ok(())
/// }
/// ```
pub struct Durable<'a, T> {
    shared: Arc<Shared>,
    source: Source,
    at: At,
    read: fn(Outcome) -> Read<T>,
    /// Whether it may have left a mark that it waits.
    marked: bool,
    /// It must not outlive the handler, nor be awaited anywhere else.
    of: PhantomData<&'a Context>,
}

enum Source {
    Leaf(Leaf),
    /// Known without asking.
    Now(Option<Outcome>),
}

/// What a result was read as; an `Err` outside says why it cannot be.
pub(crate) type Read<T> = Result<Result<T, Terminal>, String>;

impl<'a, T> Durable<'a, T> {
    pub(crate) fn new(
        context: &'a Context,
        leaf: Leaf,
        at: At,
        read: fn(Outcome) -> Read<T>,
    ) -> Durable<'a, T> {
        Durable::of(context.shared.clone(), Source::Leaf(leaf), at, read)
    }

    pub(crate) fn now(
        context: &'a Context,
        outcome: Outcome,
        at: At,
        read: fn(Outcome) -> Read<T>,
    ) -> Durable<'a, T> {
        Durable::of(context.shared.clone(), Source::Now(Some(outcome)), at, read)
    }

    /// For a future that keeps its attempt alive by itself.
    pub(super) fn owned(
        shared: Arc<Shared>,
        leaf: Leaf,
        at: At,
        read: fn(Outcome) -> Read<T>,
    ) -> Durable<'a, T> {
        Durable::of(shared, Source::Leaf(leaf), at, read)
    }

    fn of(
        shared: Arc<Shared>,
        source: Source,
        at: At,
        read: fn(Outcome) -> Read<T>,
    ) -> Durable<'a, T> {
        Durable { shared, source, at, read, marked: false, of: PhantomData }
    }
}

impl<T> Future for Durable<'_, T> {
    type Output = Result<T, Terminal>;

    fn poll(self: Pin<&mut Self>, task: &mut std::task::Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let shared = &this.shared;
        let outcome = match &mut this.source {
            Source::Now(outcome) => {
                Poll::Ready(Ok(outcome.take().expect("a future is not polled after its end")))
            }
            Source::Leaf(leaf) => shared.poll_leaf(leaf, Step::None, this.at, task),
        };
        match outcome {
            Poll::Pending => {
                this.marked = true;
                Poll::Pending
            }
            Poll::Ready(Err(cancelled)) => Poll::Ready(Err(cancelled)),
            Poll::Ready(Ok(outcome)) => read_or_fail(shared, outcome, this.at, this.read),
        }
    }
}

/// A result that cannot be read fails the attempt: the next version of the service may be able to.
pub(crate) fn read_or_fail<T>(
    shared: &Shared,
    outcome: Outcome,
    at: At,
    read: fn(Outcome) -> Read<T>,
) -> Poll<Result<T, Terminal>> {
    match read(outcome) {
        Ok(result) => Poll::Ready(result),
        Err(reason) => {
            shared.fail(Failed::new(CODE_INTERNAL, format!("{reason}, awaited at {at}")));
            Poll::Pending
        }
    }
}

impl<T> Durably for Durable<'_, T> {
    type Ok = T;

    fn belongs_to(&self) -> Option<Owner> {
        Some(Owner(self.shared.clone()))
    }
}

impl<T> Drop for Durable<'_, T> {
    fn drop(&mut self) {
        if self.marked
            && let Source::Leaf(leaf) = &self.source
        {
            self.shared.forget(leaf);
        }
    }
}

/// See [`Durably::map_ok`].
///
/// ```
/// # use holdfast_sdk::prelude::*;
/// # use std::time::Duration;
/// async fn nap(ctx: &Context) -> Result<u8> {
///     Ok(ctx.sleep(Duration::from_secs(1)).map_ok(|()| 1).await?)
/// }
/// ```
#[must_use = "a future does nothing unless it is awaited"]
pub struct MapOk<D, F> {
    future: D,
    map: Option<F>,
}

impl<D: Durably, T, F: FnOnce(D::Ok) -> T + Unpin + Send> Future for MapOk<D, F> {
    type Output = Result<T, Terminal>;

    fn poll(self: Pin<&mut Self>, task: &mut std::task::Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let result = std::task::ready!(Pin::new(&mut this.future).poll(task));
        let map = this.map.take().expect("a future is not polled after its end");
        Poll::Ready(result.map(map))
    }
}

impl<D: Durably, T, F: FnOnce(D::Ok) -> T + Unpin + Send> Durably for MapOk<D, F> {
    type Ok = T;

    fn belongs_to(&self) -> Option<Owner> {
        self.future.belongs_to()
    }
}

/// A value, a failure, or nothing where a value may be nothing.
pub(crate) fn read_value<T: DeserializeOwned>(outcome: Outcome) -> Read<T> {
    let bytes = match outcome {
        Outcome::Value(value) => value.content,
        Outcome::Void(_) => Bytes::new(),
        Outcome::Failure(failure) => return Ok(Err(Terminal::from_failure(failure))),
        Outcome::InvocationId(_) | Outcome::StateKeys(_) => {
            return Err("a result that is not a value".to_owned());
        }
    };
    payload::decode(&bytes).map(Ok).map_err(|error| error.to_string())
}

/// A value that may not be there.
pub(crate) fn read_optional<T: DeserializeOwned>(outcome: Outcome) -> Read<Option<T>> {
    match outcome {
        Outcome::Void(_) => Ok(Ok(None)),
        outcome => Ok(read_value(outcome)?.map(Some)),
    }
}

/// Whatever it is, it means that all went well.
pub(crate) fn read_done(outcome: Outcome) -> Read<()> {
    match outcome {
        Outcome::Failure(failure) => Ok(Err(Terminal::from_failure(failure))),
        _ => Ok(Ok(())),
    }
}

pub(crate) fn read_invocation(outcome: Outcome) -> Read<String> {
    match outcome {
        Outcome::InvocationId(id) => Ok(Ok(id)),
        _ => Err("a result that is not an invocation id".to_owned()),
    }
}

pub(crate) fn read_keys(outcome: Outcome) -> Read<Vec<String>> {
    match outcome {
        Outcome::StateKeys(keys) => {
            Ok(Ok(keys.keys.iter().map(|key| String::from_utf8_lossy(key).into_owned()).collect()))
        }
        _ => Err("a result that is not a list of keys".to_owned()),
    }
}
