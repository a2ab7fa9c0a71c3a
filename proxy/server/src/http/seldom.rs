//! A future beside a busier one in the same task. Never looked at because the other was woken, but
//! only when it was woken itself.

use std::{
    future::Future,
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{
            AtomicBool,
            Ordering::{AcqRel, Relaxed, Release},
        },
    },
    task::{Context, Poll, Wake, Waker},
};

/// Looks at `future` only when it was woken.
pub fn seldom<F: Future + Unpin>(future: F) -> Seldom<F> {
    Seldom { future, bell: None }
}

/// See `seldom`.
pub struct Seldom<F> {
    future: F,
    /// None until it is first looked at.
    bell: Option<Arc<Bell>>,
}

/// What the future rings to be looked at.
struct Bell {
    rung: AtomicBool,
    task: Waker,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.rung.store(true, Release);
        self.task.wake_by_ref();
    }
}

impl<F> Seldom<F> {
    /// The bell, if there is a reason to look.
    fn rung(&mut self, cx: &Context<'_>) -> Option<Arc<Bell>> {
        match &self.bell {
            Some(bell) if bell.task.will_wake(cx.waker()) => {
                (bell.rung.load(Relaxed) && bell.rung.swap(false, AcqRel)).then(|| bell.clone())
            }
            // The first look, or the task is another one by now.
            _ => {
                let bell = Bell { rung: AtomicBool::new(false), task: cx.waker().clone() };
                Some(self.bell.insert(Arc::new(bell)).clone())
            }
        }
    }
}

impl<F: Future + Unpin> Future for Seldom<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let Some(bell) = self.rung(cx) else {
            return Poll::Pending;
        };
        pin!(&mut self.future).poll(&mut Context::from_waker(&Waker::from(bell)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{future::poll_fn, sync::atomic::AtomicUsize};
    use tokio::sync::Notify;

    /// Counts how often it is looked at, and ends with what `told` says.
    async fn counted(looks: &AtomicUsize, told: &Notify) {
        let mut told = pin!(told.notified());
        poll_fn(|cx| {
            looks.fetch_add(1, Relaxed);
            told.as_mut().poll(cx)
        })
        .await;
    }

    /// In a task of its own, as connections are: the waker of whoever blocks on a future need not know
    /// a copy of itself.
    #[tokio::test]
    async fn it_is_looked_at_only_when_it_was_woken() {
        let task = tokio::spawn(async {
            let (looks, told) = (AtomicUsize::new(0), Notify::new());
            let mut quiet = seldom(Box::pin(counted(&looks, &told)));
            for _ in 0..10 {
                let busy = poll_fn(|cx| Poll::Ready(Pin::new(&mut quiet).poll(cx).is_ready()));
                assert!(!busy.await);
            }
            assert_eq!(looks.load(Relaxed), 1);
            told.notify_waiters();
            quiet.await;
            assert_eq!(looks.load(Relaxed), 2);
        });
        task.await.unwrap();
    }

    #[tokio::test]
    async fn it_wakes_the_task_that_looked_last() {
        let (looks, told) = (Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()));
        let (count, tell) = (looks.clone(), told.clone());
        let mut quiet = seldom(Box::pin(async move { counted(&looks, &told).await }));
        let first = poll_fn(|cx| Poll::Ready(Pin::new(&mut quiet).poll(cx).is_ready()));
        assert!(!first.await);
        let elsewhere = tokio::spawn(quiet);
        while count.load(Relaxed) < 2 {
            tokio::task::yield_now().await;
        }
        tell.notify_waiters();
        elsewhere.await.unwrap();
    }
}
