//! Several durable futures at once. Which of them ends first is decided by the journal, and so the
//! same in every attempt.

use super::durable::{Durable, Durably, Owner, read_done};
use super::time::after;
use crate::attempt::At;
use crate::error::Terminal;
use holdfast_wire::message::pb::CombinatorType;
use std::future::Future;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

/// Polls the futures of a combinator, so that the sidecar learns how they belong together.
fn together<R>(
    owner: Option<Owner>,
    combinator: CombinatorType,
    poll: impl FnOnce() -> Poll<R>,
) -> Poll<R> {
    let Some(Owner(shared)) = owner else {
        return poll();
    };
    let begun = shared.attempt().waits.open(combinator);
    let result = poll();
    let mut attempt = shared.attempt();
    match &result {
        Poll::Ready(_) => attempt.waits.resolve(begun),
        Poll::Pending => attempt.waits.close(),
    }
    result
}

/// Futures of which each may have ended.
struct Several<D: Durably> {
    futures: Vec<Option<D>>,
    results: Vec<Option<Result<D::Ok, Terminal>>>,
}

impl<D: Durably> Unpin for Several<D> {}

impl<D: Durably> Several<D> {
    fn new(futures: impl IntoIterator<Item = D>) -> Several<D> {
        let futures: Vec<_> = futures.into_iter().map(Some).collect();
        let results = futures.iter().map(|_| None).collect();
        Several { futures, results }
    }

    /// Polls those that have not ended, in their order, until one ends for which `stop` holds.
    fn poll(
        &mut self,
        task: &mut std::task::Context<'_>,
        stop: fn(&Result<D::Ok, Terminal>) -> bool,
    ) -> Option<usize> {
        for (at, slot) in self.futures.iter_mut().enumerate() {
            let Some(future) = slot else {
                continue;
            };
            if let Poll::Ready(result) = Pin::new(future).poll(task) {
                *slot = None;
                let stops = stop(&result);
                self.results[at] = Some(result);
                if stops {
                    return Some(at);
                }
            }
        }
        None
    }

    fn owner(&self) -> Option<Owner> {
        self.futures.iter().flatten().next().and_then(Durably::belongs_to)
    }

    fn have_ended(&self) -> bool {
        self.futures.iter().all(Option::is_none)
    }

    fn take(&mut self, at: usize) -> Result<D::Ok, Terminal> {
        self.results[at].take().expect("it has ended and is taken once")
    }

    fn take_all(&mut self) -> Vec<Result<D::Ok, Terminal>> {
        std::mem::take(&mut self.results).into_iter().flatten().collect()
    }
}

/// Awaits all, and gives the result of each in their order.
///
/// ```
/// # use holdfast_sdk::prelude::*;
/// # use std::time::Duration;
/// async fn naps(ctx: &Context) -> Result<()> {
///     let naps = (1..=3).map(|seconds| ctx.sleep(Duration::from_secs(seconds)));
///     for nap in holdfast_sdk::join_all(naps).await? {
///         nap?;
///     }
///     Ok(())
/// }
/// ```
///
/// # Errors
/// None of its own: what fails is in the list. A wish to cancel makes all of them fail.
pub fn join_all<D: Durably>(futures: impl IntoIterator<Item = D>) -> JoinAll<D> {
    JoinAll(Several::new(futures))
}

/// Awaits all; the first failure is the failure of all.
///
/// ```
/// # use holdfast_sdk::prelude::*;
/// async fn both(ctx: &Context) -> Result<u32> {
///     let steps = [1, 2].map(|n| ctx.run("double", async move || Ok(2 * n)));
///     Ok(holdfast_sdk::try_join_all(steps).await?.iter().sum())
/// }
/// ```
pub fn try_join_all<D: Durably>(futures: impl IntoIterator<Item = D>) -> TryJoinAll<D> {
    TryJoinAll(Several::new(futures))
}

/// Awaits the first that ends, whether well or not, and says which it was.
///
/// ```
/// # use holdfast_sdk::prelude::*;
/// # use std::time::Duration;
/// async fn which(ctx: &Context) -> Result<usize> {
///     let naps = [5, 2, 9].map(|seconds| ctx.sleep(Duration::from_secs(seconds)));
///     let (which, nap) = holdfast_sdk::race(naps).await;
///     nap?;
///     Ok(which) // 1
/// }
/// ```
///
/// # Panics
/// When there is nothing to await.
pub fn race<D: Durably>(futures: impl IntoIterator<Item = D>) -> Race<D> {
    let several = Several::new(futures);
    assert!(!several.have_ended(), "a race needs at least one future");
    Race(several)
}

/// Awaits the first that ends well; the last failure if none does.
///
/// ```
/// # use holdfast_sdk::prelude::*;
/// async fn any_mirror(ctx: &Context) -> Result<String> {
///     let mirrors = ["a", "b"].map(|host| ctx.run(host, async move || Ok(host.to_owned())));
///     Ok(holdfast_sdk::first_ok(mirrors).await?)
/// }
/// ```
///
/// # Panics
/// When there is nothing to await.
pub fn first_ok<D: Durably>(futures: impl IntoIterator<Item = D>) -> FirstOk<D> {
    let several = Several::new(futures);
    assert!(!several.have_ended(), "the first of nothing never comes");
    FirstOk(several)
}

/// Gives results in the order in which they come.
///
/// ```
/// # use holdfast_sdk::prelude::*;
/// # use std::time::Duration;
/// async fn order(ctx: &Context) -> Result<Vec<usize>> {
///     let mut naps = holdfast_sdk::unordered([3, 1, 2].map(|s| ctx.sleep(Duration::from_secs(s))));
///     let mut order = vec![];
///     while let Some((which, nap)) = naps.next().await {
///         nap?;
///         order.push(which);
///     }
///     Ok(order) // [1, 2, 0]
/// }
/// ```
pub fn unordered<D: Durably>(futures: impl IntoIterator<Item = D>) -> Unordered<D> {
    Unordered(Several::new(futures))
}

/// See [`join_all`].
///
/// ```
/// # use holdfast_sdk::prelude::*;
/// async fn wait(all: holdfast_sdk::JoinAll<holdfast_sdk::Durable<'_, ()>>) -> Result<usize> {
///     Ok(all.await?.len())
/// }
/// ```
#[must_use = "a future does nothing unless it is awaited"]
pub struct JoinAll<D: Durably>(Several<D>);

impl<D: Durably> Future for JoinAll<D>
where
    D::Ok: Send,
{
    type Output = Result<Vec<Result<D::Ok, Terminal>>, Terminal>;

    fn poll(self: Pin<&mut Self>, task: &mut std::task::Context<'_>) -> Poll<Self::Output> {
        let several = &mut self.get_mut().0;
        together(several.owner(), CombinatorType::AllCompleted, || {
            several.poll(task, |_| false);
            match several.have_ended() {
                true => Poll::Ready(Ok(several.take_all())),
                false => Poll::Pending,
            }
        })
    }
}

impl<D: Durably> Durably for JoinAll<D>
where
    D::Ok: Send,
{
    type Ok = Vec<Result<D::Ok, Terminal>>;

    fn belongs_to(&self) -> Option<Owner> {
        self.0.owner()
    }
}

/// See [`try_join_all`].
///
/// ```
/// # use holdfast_sdk::prelude::*;
/// async fn wait(all: holdfast_sdk::TryJoinAll<holdfast_sdk::Durable<'_, u8>>) -> Result<Vec<u8>> {
///     Ok(all.await?)
/// }
/// ```
#[must_use = "a future does nothing unless it is awaited"]
pub struct TryJoinAll<D: Durably>(Several<D>);

impl<D: Durably> Future for TryJoinAll<D>
where
    D::Ok: Send,
{
    type Output = Result<Vec<D::Ok>, Terminal>;

    fn poll(self: Pin<&mut Self>, task: &mut std::task::Context<'_>) -> Poll<Self::Output> {
        let several = &mut self.get_mut().0;
        together(several.owner(), CombinatorType::AllSucceededOrFirstFailed, || {
            if let Some(failed) = several.poll(task, Result::is_err) {
                return Poll::Ready(several.take(failed).map(|_| vec![]));
            }
            match several.have_ended() {
                true => Poll::Ready(several.take_all().into_iter().collect()),
                false => Poll::Pending,
            }
        })
    }
}

impl<D: Durably> Durably for TryJoinAll<D>
where
    D::Ok: Send,
{
    type Ok = Vec<D::Ok>;

    fn belongs_to(&self) -> Option<Owner> {
        self.0.owner()
    }
}

/// See [`race`].
///
/// ```
/// # use holdfast_sdk::prelude::*;
/// async fn wait(race: holdfast_sdk::Race<holdfast_sdk::Durable<'_, u8>>) -> Result<u8> {
///     Ok(race.await.1?)
/// }
/// ```
#[must_use = "a future does nothing unless it is awaited"]
pub struct Race<D: Durably>(Several<D>);

impl<D: Durably> Future for Race<D> {
    type Output = (usize, Result<D::Ok, Terminal>);

    fn poll(self: Pin<&mut Self>, task: &mut std::task::Context<'_>) -> Poll<Self::Output> {
        let several = &mut self.get_mut().0;
        together(several.owner(), CombinatorType::FirstCompleted, || {
            match several.poll(task, |_| true) {
                Some(which) => Poll::Ready((which, several.take(which))),
                None => Poll::Pending,
            }
        })
    }
}

/// See [`first_ok`].
///
/// ```
/// # use holdfast_sdk::prelude::*;
/// async fn wait(first: holdfast_sdk::FirstOk<holdfast_sdk::Durable<'_, u8>>) -> Result<u8> {
///     Ok(first.await?)
/// }
/// ```
#[must_use = "a future does nothing unless it is awaited"]
pub struct FirstOk<D: Durably>(Several<D>);

impl<D: Durably> Future for FirstOk<D> {
    type Output = Result<D::Ok, Terminal>;

    fn poll(self: Pin<&mut Self>, task: &mut std::task::Context<'_>) -> Poll<Self::Output> {
        let several = &mut self.get_mut().0;
        together(several.owner(), CombinatorType::FirstSucceededOrAllFailed, || {
            if let Some(first) = several.poll(task, Result::is_ok) {
                return Poll::Ready(several.take(first));
            }
            match several.have_ended() {
                true => Poll::Ready(several.take(several.futures.len() - 1)),
                false => Poll::Pending,
            }
        })
    }
}

impl<D: Durably> Durably for FirstOk<D>
where
    D::Ok: Send,
{
    type Ok = D::Ok;

    fn belongs_to(&self) -> Option<Owner> {
        self.0.owner()
    }
}

/// See [`unordered`].
///
/// ```
/// # use holdfast_sdk::prelude::*;
/// async fn drain(mut all: holdfast_sdk::Unordered<holdfast_sdk::Durable<'_, u8>>) -> Result<u8> {
///     let mut sum = 0;
///     while let Some((_, result)) = all.next().await {
///         sum += result?;
///     }
///     Ok(sum)
/// }
/// ```
pub struct Unordered<D: Durably>(Several<D>);

impl<D: Durably> Unordered<D> {
    /// The next result and whose it is, or `None` after the last one.
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// async fn next(mut all: holdfast_sdk::Unordered<holdfast_sdk::Durable<'_, u8>>) -> bool {
    ///     all.next().await.is_some()
    /// }
    /// ```
    pub async fn next(&mut self) -> Option<(usize, Result<D::Ok, Terminal>)> {
        let several = &mut self.0;
        if several.have_ended() {
            return None;
        }
        let first = std::future::poll_fn(|task| {
            together(several.owner(), CombinatorType::FirstCompleted, || {
                several.poll(task, |_| true).map_or(Poll::Pending, Poll::Ready)
            })
        });
        let which = first.await;
        Some((which, self.0.take(which)))
    }
}

/// See [`Durably::or_timeout`].
///
/// ```
/// # use holdfast_sdk::prelude::*;
/// async fn wait(timed: holdfast_sdk::OrTimeout<holdfast_sdk::Durable<'_, u8>>) -> Result<u8> {
///     Ok(timed.await?.unwrap_or(0))
/// }
/// ```
#[must_use = "a future does nothing unless it is awaited"]
pub struct OrTimeout<D> {
    future: D,
    /// None where the future has an end by itself.
    timer: Option<Durable<'static, ()>>,
}

pub(super) fn or_timeout<D: Durably>(future: D, limit: Duration, at: At) -> OrTimeout<D> {
    let timer = future.belongs_to().map(|Owner(shared)| {
        let leaf = shared.act(|attempt| attempt.sleep(after(limit), "", at));
        Durable::owned(shared, leaf, at, read_done)
    });
    OrTimeout { future, timer }
}

impl<D: Durably> Future for OrTimeout<D> {
    type Output = Result<Option<D::Ok>, Terminal>;

    fn poll(self: Pin<&mut Self>, task: &mut std::task::Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        together(this.future.belongs_to(), CombinatorType::FirstCompleted, || {
            if let Poll::Ready(result) = Pin::new(&mut this.future).poll(task) {
                return Poll::Ready(result.map(Some));
            }
            match &mut this.timer {
                Some(timer) => Pin::new(timer).poll(task).map(|over| over.map(|()| None)),
                None => Poll::Pending,
            }
        })
    }
}

impl<D: Durably> Durably for OrTimeout<D> {
    type Ok = Option<D::Ok>;

    fn belongs_to(&self) -> Option<Owner> {
        self.future.belongs_to()
    }
}
