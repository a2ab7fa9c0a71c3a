//! Drives one attempt: carries bytes between the service and the attempt's state machine, and
//! what the machine says to the partition. Never understands a message.

use super::{
    Partition,
    asking::Asking,
    metrics::{How, Metrics},
    outgoing::Outgoing,
    view::{Live, View, Wish},
};
use crate::clock::Clock;
use crate::http::client::{self, ResponseBody};
use crate::partition::News;
use bytes::Bytes;
use holdfast_machine::{
    attempt::{Attempt, Output},
    command::{AttemptEnd, AttemptSaid, Said},
    time::Timestamp,
};
use http_body_util::BodyExt;
use hyper::{
    HeaderMap, Response,
    header::{CONTENT_TYPE, RETRY_AFTER},
};
use std::{
    convert::Infallible,
    future::{pending, poll_fn},
    pin::{Pin, pin},
    sync::Arc,
    task::Poll,
    time::Duration,
};
use tokio::{
    sync::mpsc::Receiver,
    time::{Instant, Sleep, sleep_until},
};

/// A request that is being sent.
pub(super) type Sending =
    Pin<Box<dyn Future<Output = Result<Response<ResponseBody>, client::Error>> + Send>>;

/// One attempt and all that it touches.
pub(super) struct Conversation<P> {
    pub attempt: Attempt,
    pub live: Arc<Live>,
    pub partition: P,
    /// `None` once the partition has no more to say.
    pub news: Option<Receiver<News>>,
    /// Whether the end was said.
    pub ended: bool,
    /// Until the head of the response is there.
    pub asking: Option<Asking>,
    pub outgoing: Outgoing,
    pub incoming: Incoming,
    pub clock: Arc<dyn Clock>,
    pub metrics: Metrics,
    pub backlog_bytes_max: usize,
    pub view: View,
}

/// How far the response is.
pub(super) enum Incoming {
    Asked(Sending),
    Open(ResponseBody),
    Over,
}

enum Heard {
    Head(Response<ResponseBody>),
    Chunk(Bytes),
    End,
    /// The service did not look at the request.
    Refused(String),
    Broken(String),
}

impl<P: Partition> Conversation<P> {
    /// Until nothing follows.
    pub(super) async fn run(mut self) {
        let mut timer = Timer::default();
        let live = self.live.clone();
        let mut wanted = pin!(live.wanted());
        while self.act() {
            timer.set(&*self.clock, self.attempt.deadline());
            // In this order: what goes out is written before the request is driven, which `hear`
            // does; and a service that talks without end is heard last, because it hides who is
            // behind it.
            tokio::select! {
                biased;
                never = pour(&mut self.outgoing, &self.metrics) => match never {},
                wish = &mut wanted => {
                    wanted.set(live.wanted());
                    self.wish(wish);
                }
                news = hear_news(&mut self.news) => self.told(news),
                () = timer.due() => self.attempt.handle_deadline(self.clock.now()),
                heard = self.incoming.hear(&self.partition) => self.heard(heard),
            }
        }
    }

    /// Does what the attempt wants done. False when it wants nothing any more.
    fn act(&mut self) -> bool {
        while let Some(output) = self.attempt.poll() {
            match output {
                Output::Send(messages) => self.send(messages),
                Output::HalfClose => {
                    self.asking.iter_mut().for_each(Asking::ends);
                    self.outgoing.end();
                }
                Output::Say { said, end } => {
                    self.live.awaits(None);
                    self.say(said, end);
                }
                Output::AwaitingOn(awaiting) => self.live.awaits(Some(awaiting)),
                Output::Note(note) => {
                    tracing::debug!(invocation = %self.live.invocation, note, "odd service");
                }
                Output::Reset => {
                    self.outgoing.abandon();
                    self.incoming = Incoming::Over;
                }
                Output::Finished => {
                    self.outgoing.settle();
                    return false;
                }
            }
        }
        true
    }

    fn wish(&mut self, wish: Wish) {
        let now = self.clock.now();
        match wish {
            Wish::Nothing => {}
            Wish::Suspend => self.attempt.handle_suspend(now),
            Wish::Cut => self.attempt.handle_abort(now),
        }
    }

    fn send(&mut self, messages: Vec<Bytes>) {
        self.live.active(self.clock.now());
        self.live.awaits(None);
        self.asking.iter_mut().for_each(|asking| asking.sends(&messages));
        self.outgoing.push(messages);
    }

    fn say(&mut self, said: Vec<Said>, end: Option<AttemptEnd>) {
        let live = &self.live;
        if let Some(end) = &end {
            self.ended = true;
            self.metrics.ended(How::of(end), self.clock.now().since(live.started_at));
        }
        self.partition.say(AttemptSaid {
            invocation: live.invocation,
            attempt: live.attempt,
            pin: Some(live.pin),
            said,
            end,
        });
    }

    fn told(&mut self, news: Option<News>) {
        let now = self.clock.now();
        match news {
            // More than the service takes: it reads the rest from its next replay.
            Some(News::Notification(_)) if self.outgoing.bytes() > self.backlog_bytes_max => {
                self.attempt.handle_suspend(now);
            }
            Some(News::Notification(entry)) => self.attempt.handle_stored(now, *entry),
            Some(News::Suspend) => self.attempt.handle_suspend(now),
            Some(News::Abort) => self.attempt.handle_abort(now),
            None => {
                self.news = None;
                // Before the end it means that a later attempt has taken over.
                if !self.ended {
                    self.attempt.handle_abort(now);
                }
            }
        }
    }

    fn heard(&mut self, heard: Heard) {
        let now = self.clock.now();
        self.live.active(now);
        match heard {
            Heard::Head(response) => {
                let (head, body) = response.into_parts();
                let text = |name| text(&head.headers, name);
                let (content_type, retry_after) = (text(CONTENT_TYPE), text(RETRY_AFTER));
                self.incoming = Incoming::Open(body);
                self.asking = None;
                let status = head.status.as_u16();
                self.attempt.handle_response_head(now, status, content_type, retry_after);
            }
            Heard::Chunk(chunk) => {
                self.metrics.received(chunk.len());
                self.attempt.handle_chunk(now, chunk);
            }
            Heard::End => {
                self.incoming = Incoming::Over;
                self.attempt.handle_response_end(now);
            }
            Heard::Refused(reason) => match self.asking.as_mut().and_then(Asking::again) {
                Some((outgoing, incoming)) => {
                    tracing::debug!(invocation = %self.live.invocation, reason, "asking again");
                    (self.outgoing, self.incoming) = (outgoing, incoming);
                }
                None => self.broken(&reason),
            },
            Heard::Broken(reason) => self.broken(&reason),
        }
    }

    fn broken(&mut self, reason: &str) {
        self.incoming = Incoming::Over;
        self.attempt.handle_broken(self.clock.now(), reason);
    }
}

impl<P> Drop for Conversation<P> {
    fn drop(&mut self) {
        self.view.end(&self.live);
    }
}

/// Sends what there is to send, whenever there is room for it. Cancel safe.
async fn pour(outgoing: &mut Outgoing, metrics: &Metrics) -> Infallible {
    poll_fn(|cx| {
        match outgoing.pour(cx) {
            0 => {}
            sent => metrics.sent(sent),
        }
        Poll::Pending
    })
    .await
}

/// What the partition has to tell. Cancel safe.
async fn hear_news(news: &mut Option<Receiver<News>>) -> Option<News> {
    match news {
        Some(news) => news.recv().await,
        None => pending().await,
    }
}

fn text(headers: &HeaderMap, name: hyper::header::HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

impl Incoming {
    /// What comes next, as soon as the partition has room for it. Cancel safe.
    async fn hear(&mut self, partition: &impl Partition) -> Heard {
        match self {
            Incoming::Asked(sending) => match sending.await {
                Ok(response) => Heard::Head(response),
                Err(error @ client::Error::Refused { .. }) => Heard::Refused(error.to_string()),
                Err(error) => Heard::Broken(error.to_string()),
            },
            Incoming::Open(body) => {
                partition.room().await;
                loop {
                    match body.frame().await {
                        Some(Ok(frame)) => match frame.into_data() {
                            Ok(chunk) => return Heard::Chunk(chunk),
                            Err(_trailers) => {}
                        },
                        Some(Err(error)) => return Heard::Broken(error.to_string()),
                        None => return Heard::End,
                    }
                }
            }
            Incoming::Over => pending().await,
        }
    }
}

/// Longest single sleep: whoever waits longer is woken early and sleeps again.
const FAR: Duration = Duration::from_secs(24 * 60 * 60);

/// One timer that is moved only when the deadline comes nearer: deadlines that move away, as they
/// do with each message, cost nothing.
#[derive(Default)]
struct Timer {
    /// None until there is a deadline.
    sleep: Option<Pin<Box<Sleep>>>,
    rings_at: Option<Timestamp>,
    wanted: Option<Timestamp>,
}

impl Timer {
    fn set(&mut self, clock: &dyn Clock, deadline: Option<Timestamp>) {
        self.wanted = deadline;
        let Some(deadline) = deadline else { return };
        if self.rings_at.is_none_or(|rings_at| deadline < rings_at) {
            let rings = Instant::now() + clock.until(deadline).min(FAR);
            match &mut self.sleep {
                Some(sleep) => sleep.as_mut().reset(rings),
                None => self.sleep = Some(Box::pin(sleep_until(rings))),
            }
            self.rings_at = Some(deadline);
        }
    }

    /// Rings at the deadline or before it; who rings too early is set again.
    async fn due(&mut self) {
        match (&mut self.sleep, self.wanted) {
            (Some(sleep), Some(_)) => sleep.as_mut().await,
            _ => pending().await,
        }
        self.rings_at = None;
    }
}
