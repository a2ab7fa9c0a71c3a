//! The attempts that run now, and the channels by which they are told things. Owned by the
//! partition. Never decides whether an attempt is the current one: the tables do.

use super::News;
use foldhash::HashMap;
use holdfast_machine::{id::InvocationId, model::Entry};
use tokio::sync::mpsc;

/// The live attempts of one partition, at most one for each invocation.
pub(super) struct Live {
    attempts: HashMap<InvocationId, Attempt>,
    /// News that may wait for one attempt.
    news_max: usize,
}

struct Attempt {
    number: u32,
    /// Entries below are known to the attempt.
    entries: u32,
    news: mpsc::Sender<News>,
}

impl Live {
    pub(super) fn new(news_max: usize) -> Self {
        let attempts = HashMap::default();
        Live { attempts, news_max: news_max.max(1) }
    }

    /// Begins attempt `number`, which knows `entries` entries of the journal. An older attempt of
    /// the invocation hears no more.
    pub(super) fn begin(
        &mut self,
        invocation: InvocationId,
        number: u32,
        entries: u32,
    ) -> mpsc::Receiver<News> {
        let (news, heard) = mpsc::channel(self.news_max);
        self.attempts.insert(invocation, Attempt { number, entries, news });
        heard
    }

    pub(super) fn is_live(&self, invocation: InvocationId, number: u32) -> bool {
        self.attempts.get(&invocation).is_some_and(|attempt| attempt.number == number)
    }

    /// False: the attempt has fallen too far behind, and hears no more.
    #[must_use]
    pub(super) fn notify(&mut self, invocation: InvocationId, number: u32, entry: Entry) -> bool {
        let Some(attempt) = self.current(invocation, number) else {
            return true;
        };
        if entry.index < attempt.entries {
            return true;
        }
        attempt.entries = entry.index + 1;
        let told = attempt.tell(News::Notification(Box::new(entry)));
        if !told {
            self.attempts.remove(&invocation);
        }
        told
    }

    /// As `notify`.
    #[must_use]
    pub(super) fn suspend(&mut self, invocation: InvocationId, number: u32) -> bool {
        let Some(attempt) = self.current(invocation, number) else {
            return true;
        };
        let told = attempt.tell(News::Suspend);
        if !told {
            self.attempts.remove(&invocation);
        }
        told
    }

    /// False: it is not live.
    pub(super) fn abort(&mut self, invocation: InvocationId, number: u32) -> bool {
        let Some(attempt) = self.current(invocation, number) else {
            return false;
        };
        // An attempt that is too far behind to hear it learns it by the end of its channel.
        attempt.tell(News::Abort);
        self.attempts.remove(&invocation);
        true
    }

    pub(super) fn end(&mut self, invocation: InvocationId, number: u32) {
        if self.is_live(invocation, number) {
            self.attempts.remove(&invocation);
        }
    }

    /// The partition has stopped: what attempts say is not heard any more.
    pub(super) fn abort_all(&mut self) {
        for (_, attempt) in self.attempts.drain() {
            attempt.tell(News::Abort);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.attempts.len()
    }

    fn current(&mut self, invocation: InvocationId, number: u32) -> Option<&mut Attempt> {
        self.attempts.get_mut(&invocation).filter(|attempt| attempt.number == number)
    }
}

impl Attempt {
    /// False: too much news waits already. An attempt that has ended by itself says so; until
    /// then it need not listen.
    fn tell(&self, news: News) -> bool {
        !matches!(self.news.try_send(news), Err(mpsc::error::TrySendError::Full(_)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use holdfast_machine::time::Timestamp;
    use holdfast_wire::message::MessageType;

    fn id() -> InvocationId {
        InvocationId::random("s", None, 0, 7)
    }

    fn entry(index: u32) -> Entry {
        let appended_at = Timestamp(0);
        let ty = MessageType::SLEEP_COMPLETION;
        Entry { index, ty, payload: Bytes::new(), appended_at }
    }

    #[test]
    fn an_attempt_hears_each_entry_once() {
        let mut live = Live::new(8);
        let mut news = live.begin(id(), 1, 3);
        for index in [2, 3, 3, 4] {
            assert!(live.notify(id(), 1, entry(index)));
        }
        assert!(live.notify(id(), 2, entry(5)));
        assert_eq!(news.try_recv(), Ok(News::Notification(Box::new(entry(3)))));
        assert_eq!(news.try_recv(), Ok(News::Notification(Box::new(entry(4)))));
        assert!(news.try_recv().is_err());
    }

    #[test]
    fn a_new_attempt_silences_the_old_one() {
        let mut live = Live::new(8);
        let mut old = live.begin(id(), 1, 1);
        let mut new = live.begin(id(), 2, 1);
        live.end(id(), 1);
        assert!(!live.abort(id(), 1));
        assert!(live.suspend(id(), 2));
        assert_eq!(old.try_recv(), Err(mpsc::error::TryRecvError::Disconnected));
        assert_eq!(new.try_recv(), Ok(News::Suspend));
        assert!(live.is_live(id(), 2));
    }

    #[test]
    fn an_attempt_that_falls_behind_is_let_go() {
        let mut live = Live::new(2);
        let mut news = live.begin(id(), 1, 0);
        assert!(live.notify(id(), 1, entry(0)));
        assert!(live.notify(id(), 1, entry(1)));
        assert!(!live.notify(id(), 1, entry(2)));
        assert!(live.notify(id(), 1, entry(3)), "it is not live any more");
        assert_eq!(news.try_recv(), Ok(News::Notification(Box::new(entry(0)))));
        assert_eq!(news.try_recv(), Ok(News::Notification(Box::new(entry(1)))));
        assert_eq!(news.try_recv(), Err(mpsc::error::TryRecvError::Disconnected));
    }
}
