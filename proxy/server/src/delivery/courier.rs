//! Sends the letters that may go out, and tells the office what became of them. Never decides which
//! one is next.

use super::{
    Failed, Letter, Means, News, Office, Settled, Terms,
    lanes::{Lanes, Offered},
};
use crate::chance;
use crate::http::{
    client::{self, Protocol},
    read_body,
};
use holdfast_machine::{id::PartitionId, time::Timestamp};
use hyper::Response;
use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
    time::Duration,
};
use tokio::{
    task::{Id, JoinSet},
    time::{sleep, timeout},
};

/// Most of the body of a response that is read, to keep its connection, in bytes.
const ANSWER_BYTES_MAX: usize = 64 * 1024;
/// How long the body of a response is waited for.
const ANSWER_WAIT: Duration = Duration::from_secs(1);
/// Longest sleep without a look at the clock, which may have been set.
const SLEEP_MAX: Duration = Duration::from_secs(60);

/// Carries the letters of one office. Owned by one loop, which asks `next` over and over.
pub struct Courier<O: Office> {
    carrier: Carrier<O>,
    lanes: Lanes<O::What>,
    tasks: JoinSet<Done>,
    /// What each task is about.
    under_way: HashMap<Id, (Letter<O::What>, Errand)>,
    /// What `next` has not told of yet.
    news: VecDeque<News<O::What>>,
}

/// What a task needs.
struct Carrier<O: Office> {
    office: Arc<O>,
    means: Means,
    timeout: Duration,
}

/// What a task does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Errand {
    Deliver,
    Settle,
}

/// `Ok`: the letter is settled.
type Done = Result<(), Failed>;

impl<O: Office> Courier<O> {
    pub fn new(office: Arc<O>, terms: Terms, means: Means) -> Courier<O> {
        Courier {
            carrier: Carrier { office, means, timeout: terms.timeout },
            lanes: Lanes::new(terms),
            tasks: JoinSet::new(),
            under_way: HashMap::new(),
            news: VecDeque::new(),
        }
    }

    /// Takes a letter. False: as many as may be are held for this receiver; offer it, and what
    /// comes after it, again when `next` tells that one of them is settled.
    #[must_use]
    pub fn offer(&mut self, letter: Letter<O::What>) -> bool {
        match self.lanes.offer(self.carrier.means.clock.now(), &letter) {
            Offered::Held => true,
            Offered::Full => false,
            Offered::TooLate => {
                self.settle(letter, Settled::GivenUp);
                true
            }
        }
    }

    /// Settles a letter that is not held.
    pub fn settle(&mut self, letter: Letter<O::What>, how: Settled) {
        let (carrier, settled) = (self.carrier.clone(), letter.clone());
        let task = self.tasks.spawn(async move { carrier.settle(&settled, how).await });
        self.under_way.insert(task.id(), (letter, Errand::Settle));
    }

    /// Sends what may go out, until there is something to tell. Cancel safe.
    pub async fn next(&mut self) -> News<O::What> {
        loop {
            if let Some(news) = self.news.pop_front() {
                return news;
            }
            self.send();
            let patience = self.patience();
            if self.tasks.is_empty() {
                sleep(patience).await;
            } else if let Ok(Some(ended)) = timeout(patience, self.tasks.join_next_with_id()).await
            {
                self.ended(ended);
            }
        }
    }

    /// Starts no more tries, and waits for those under way.
    pub async fn finish(mut self, patience: Duration) {
        let rest = async {
            while let Some(ended) = self.tasks.join_next_with_id().await {
                self.ended(ended);
            }
        };
        // What is cut off here is tried again by the next process.
        let _ = timeout(patience, rest).await;
    }

    /// Lets go of all letters that are not on their way, and tells which.
    pub fn clear(&mut self) -> Vec<Letter<O::What>> {
        self.lanes.clear()
    }

    /// Letters of `source` that are held for `to`.
    pub fn held(&self, to: &str, source: PartitionId) -> usize {
        self.lanes.held(to, source)
    }

    /// Whether a receiver did not take the last letter.
    pub fn fails(&self, to: &str) -> bool {
        self.lanes.fails(to)
    }

    /// Letters that are soon over: those held for receivers that do not fail, and those that are
    /// being settled.
    pub fn moving(&self) -> usize {
        self.lanes.moving() + self.settling()
    }

    /// Letters that are being settled and are not held.
    pub fn settling(&self) -> usize {
        self.under_way.values().filter(|(_, errand)| *errand == Errand::Settle).count()
    }

    /// Receivers that did not take the last letter.
    pub fn failing(&self) -> usize {
        self.lanes.failing()
    }

    /// When the oldest letter was written that is held.
    pub fn oldest(&self) -> Option<Timestamp> {
        self.lanes.oldest()
    }

    fn send(&mut self) {
        while let Some(letter) = self.lanes.next(self.carrier.means.clock.now()) {
            let (carrier, sent) = (self.carrier.clone(), letter.clone());
            let task = self.tasks.spawn(async move { carrier.deliver(&sent).await });
            self.under_way.insert(task.id(), (letter, Errand::Deliver));
        }
    }

    fn patience(&self) -> Duration {
        let until = |at| self.carrier.means.clock.until(at);
        self.lanes.deadline().map_or(SLEEP_MAX, until).min(SLEEP_MAX)
    }

    fn ended(&mut self, ended: Result<(Id, Done), tokio::task::JoinError>) {
        let (id, done) = match ended {
            Ok((id, done)) => (id, done),
            Err(error) => {
                tracing::error!(%error, "a delivery died of a bug");
                (error.id(), Err(Failed::Bug))
            }
        };
        let Some((letter, errand)) = self.under_way.remove(&id) else {
            return;
        };
        let now = self.carrier.means.clock.now();
        match (errand, done) {
            (Errand::Deliver, Ok(())) => {
                self.lanes.taken(now, &letter.to);
                self.news.push_back(News::Settled(letter));
            }
            (Errand::Deliver, Err(why)) => self.failed(now, &letter, &why),
            (Errand::Settle, _) => self.news.push_back(News::Settled(letter)),
        }
    }

    fn failed(&mut self, now: Timestamp, letter: &Letter<O::What>, why: &Failed) {
        let setback = self.lanes.failed(now, &letter.to, chance::u64());
        self.carrier.means.metrics.failed(why);
        self.carrier.office.failed(letter, why, setback.next_at);
        self.news.push_back(News::Failed);
        for late in setback.given_up {
            self.settle(late, Settled::GivenUp);
        }
    }
}

impl<O: Office> Clone for Carrier<O> {
    fn clone(&self) -> Self {
        Carrier { office: self.office.clone(), means: self.means.clone(), timeout: self.timeout }
    }
}

impl<O: Office> Carrier<O> {
    async fn deliver(&self, letter: &Letter<O::What>) -> Done {
        let Some(request) = self.office.request(letter, self.means.clock.now()).await else {
            return self.settle(letter, Settled::Nowhere).await;
        };
        // Every receiver speaks HTTP/1.1.
        let sent = timeout(self.timeout, self.means.client.send(Protocol::Http1, request)).await;
        let response = match sent {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(Failed::Unreachable(error.to_string())),
            Err(_) => return Err(self.late()),
        };
        let status = response.status();
        read_rest(response).await;
        if self.office.is_gone(status) {
            return self.settle(letter, Settled::Gone).await;
        }
        if !status.is_success() {
            return Err(Failed::Refused(status));
        }
        self.settle(letter, Settled::Taken).await
    }

    async fn settle(&self, letter: &Letter<O::What>, how: Settled) -> Done {
        self.office.settle(letter, how).await;
        self.means.metrics.settled(how);
        Ok(())
    }

    fn late(&self) -> Failed {
        let timeout_ms = u64::try_from(self.timeout.as_millis()).unwrap_or(u64::MAX);
        Failed::Late { timeout_ms }
    }
}

/// What the receiver says beside the status means nothing; read, its connection can be used again.
async fn read_rest(response: Response<client::ResponseBody>) {
    let _ = timeout(ANSWER_WAIT, read_body(response.into_body(), ANSWER_BYTES_MAX)).await;
}
