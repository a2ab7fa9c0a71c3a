//! How long hyper waits for the head of a request: one timer for a connection, which is moved only
//! when a deadline comes nearer. The deadlines of requests only move away, so a request costs the
//! timers of the runtime nothing.

use hyper::rt::{Sleep, Timer};
use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll, ready},
    time::{Duration, Instant},
};

/// The timer of one connection. Cheap to clone.
#[derive(Clone, Default)]
pub struct Patience(Arc<Mutex<Alarm>>);

#[derive(Default)]
struct Alarm {
    /// None until the first deadline.
    sleep: Option<Pin<Box<tokio::time::Sleep>>>,
    /// None once it has rung.
    rings_at: Option<Instant>,
}

impl Alarm {
    /// Rings at `deadline` or before it.
    fn poll(&mut self, cx: &mut Context<'_>, deadline: Instant) -> Poll<()> {
        let nearer = self.rings_at.is_none_or(|rings_at| deadline < rings_at);
        let sleep = match &mut self.sleep {
            Some(sleep) if nearer => {
                sleep.as_mut().reset(deadline.into());
                sleep
            }
            Some(sleep) => sleep,
            none => none.insert(Box::pin(tokio::time::sleep_until(deadline.into()))),
        };
        if nearer {
            self.rings_at = Some(deadline);
        }
        ready!(sleep.as_mut().poll(cx));
        self.rings_at = None;
        Poll::Ready(())
    }
}

impl Timer for Patience {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        self.sleep_until(Instant::now() + duration)
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Sleep>> {
        Box::pin(Wait { patience: self.clone(), deadline })
    }
}

struct Wait {
    patience: Patience,
    deadline: Instant,
}

impl Future for Wait {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut alarm = self.patience.0.lock().expect("nobody panics while holding the lock");
        loop {
            ready!(alarm.poll(cx, self.deadline));
            // It may have rung for a request that is answered by now.
            if self.deadline <= Instant::now() {
                return Poll::Ready(());
            }
        }
    }
}

impl Sleep for Wait {}

#[cfg(test)]
mod tests {
    use super::*;

    async fn is_pending(sleep: &mut Pin<Box<dyn Sleep>>) -> bool {
        std::future::poll_fn(|cx| Poll::Ready(sleep.as_mut().poll(cx).is_pending())).await
    }

    #[tokio::test]
    async fn it_does_not_ring_for_a_request_that_is_answered() {
        let (patience, began) = (Patience::default(), Instant::now());
        let (short, long) = (Duration::from_millis(10), Duration::from_millis(30));
        let mut answered = patience.sleep(short);
        assert!(is_pending(&mut answered).await);
        drop(answered);
        patience.sleep(long).await;
        assert!(began.elapsed() >= long);
    }

    #[tokio::test]
    async fn it_rings_where_a_deadline_comes_nearer() {
        let (patience, began) = (Patience::default(), Instant::now());
        let (short, long) = (Duration::from_millis(10), Duration::from_secs(60));
        assert!(is_pending(&mut patience.sleep(long)).await);
        patience.sleep(short).await;
        assert!(began.elapsed() < long);
    }
}
