//! Awaits that no journal knows of.

use super::*;
use std::time::Duration;
use tokio::sync::oneshot;

/// What an attempt failed with.
fn failed(attempt: &Conversation) -> &str {
    attempt.written.lines().find(|line| line.starts_with("< Error")).unwrap_or("it did not fail")
}

#[test]
fn awaiting_something_else_is_told_with_its_line() {
    let (_tell, told) = oneshot::channel::<()>();
    let attempt = v7(|_| async move { Ok(told.await?) }).hears([start(1), input("null")]);
    let failed = failed(&attempt);
    assert!(failed.contains("awaits something that is not in its journal"), "{failed}");
    assert!(failed.contains("ctx.unrecorded"), "{failed}");
}

#[test]
fn racing_with_something_else_is_noticed_when_it_wins() {
    let (tell, told) = oneshot::channel::<()>();
    let attempt = v7(|ctx| async move {
        crate::select! {
            told = told => Ok(told?),
            nap = ctx.sleep(Duration::from_secs(1)) => Ok(nap?),
        }
    })
    .hears([start(1), input("null")]);
    assert!(!attempt.is_closed());
    tell.send(()).unwrap();
    let attempt = attempt.go_on();
    assert!(failed(&attempt).contains("not in its journal"), "{}", attempt.written);
}

#[test]
fn what_is_said_to_be_unrecorded_may_be_awaited() {
    let (tell, told) = oneshot::channel::<u32>();
    let attempt =
        v7(|ctx| async move { Ok(ctx.unrecorded(told).await?) }).hears([start(1), input("null")]);
    assert!(!attempt.is_closed());
    tell.send(7).unwrap();
    let attempt = attempt.go_on();
    assert!(attempt.written.ends_with("< Output 7\n< End\n"), "{}", attempt.written);
}

#[test]
fn combinators_of_others_may_be_used() {
    use std::pin::Pin;
    use std::task::{Context as Task, Poll, Wake};

    /// Polls its future only when its own waker was woken, like a collection of futures does.
    struct OnlyWhenWoken<F>(Pin<Box<F>>, std::sync::Arc<Inner>);
    struct Inner(std::sync::Mutex<Option<Waker>>, std::sync::atomic::AtomicBool);
    impl Wake for Inner {
        fn wake(self: std::sync::Arc<Self>) {
            self.1.store(true, std::sync::atomic::Ordering::SeqCst);
            if let Some(outer) = self.0.lock().unwrap().take() {
                outer.wake();
            }
        }
    }
    impl<F: Future> Future for OnlyWhenWoken<F> {
        type Output = F::Output;
        fn poll(mut self: Pin<&mut Self>, task: &mut Task<'_>) -> Poll<F::Output> {
            *self.1.0.lock().unwrap() = Some(task.waker().clone());
            if !self.1.1.swap(false, std::sync::atomic::Ordering::SeqCst) {
                return Poll::Pending;
            }
            let waker = self.1.clone().into();
            self.0.as_mut().poll(&mut Task::from_waker(&waker))
        }
    }
    let inner = || std::sync::Arc::new(Inner(Default::default(), true.into()));
    let (tell, told) = oneshot::channel::<()>();
    let attempt = v7(move |ctx| async move {
        let sleep = OnlyWhenWoken(Box::pin(ctx.sleep(Duration::from_secs(1))), inner());
        let step = ctx.run("step", async || Ok(told.await?));
        let step = OnlyWhenWoken(Box::pin(step), inner());
        let (slept, ran) = crate::join!(sleep, step);
        slept?;
        Ok(ran?)
    })
    .hears([start(1), input("null")])
    .hears([slept(1)]);
    assert!(!attempt.is_closed(), "{}", attempt.written);
    tell.send(()).unwrap();
    let attempt = attempt.go_on().hears([ack(2)]);
    assert!(attempt.written.ends_with("< End\n"), "{}", attempt.written);
}
