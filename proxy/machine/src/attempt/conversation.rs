//! The state of one attempt and its timers. Never validates: `receive` does.

use super::{
    Head, Output, Start, Terms, answer,
    error::{Error, Place, Silence},
    outbox::Outbox,
    receive::{self, Heard},
    replay, request,
};
use crate::{
    command::{AttemptEnd, Failed, Reaction, Said},
    model::{AttemptFailure, Entry, RelatedCommand, Target},
    time::Timestamp,
};
use bytes::Bytes;
use foldhash::HashMap;
use holdfast_wire::frame::{Decoder, Frame};
use std::time::Duration;

/// How long the response may stay open after the final message.
const DRAIN_MAX: Duration = Duration::from_secs(5);
/// Most characters of the reason of a broken connection that are kept.
const REASON_CHARS_MAX: usize = 500;

/// One attempt. See the module for how to drive it.
pub struct Attempt {
    /// The text of its id.
    invocation: String,
    target: Target,
    trace: request::Trace,
    terms: Terms,
    phase: Phase,
    decoder: Decoder,
    /// Whether more can be sent.
    request_open: bool,
    /// The last message in either direction; the inactivity timeout counts from it.
    active_at: Timestamp,
    /// The last chunk, or the half-close; the abort timeout counts from it.
    quiet_since: Timestamp,
    /// Index of the first entry that was neither replayed nor seen since.
    next_entry: u32,
    /// How many commands the journal has, and so the index of the next one.
    commands: u32,
    /// Completions that come as soon as what was said is stored: run results that were proposed, and
    /// whether to acknowledge them; answers of the partition, which are sent as they are.
    unstored: HashMap<u32, bool>,
    outbox: Outbox,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// No response head yet.
    Asked,
    /// The head is there, and, where `heard`, some of the body.
    Talking {
        heard: bool,
    },
    /// The final message was said; the response should end before `until`.
    Draining {
        until: Timestamp,
        noted: bool,
    },
    Finished,
}

// --- what it is asked
impl Attempt {
    /// Starts the conversation: the replay is ready to be polled. The timers run from `now`.
    ///
    /// # Panics
    /// If `start.entries` is empty: every journal begins with its input.
    pub fn new(now: Timestamp, start: Start, terms: Terms) -> Attempt {
        assert!(!start.entries.is_empty(), "a journal begins with its input");
        let invocation = start.invocation.to_string();
        let replay = replay::replay(now, &start, &invocation, terms.version);
        let commands = start.entries.iter().filter(|entry| entry.ty.is_command()).count();
        let options = &terms.options;
        let payload_bytes_max = u32::try_from(options.message_bytes_max).unwrap_or(u32::MAX);
        let request_response = !terms.bidirectional || options.inactivity_timeout.is_zero();
        let mut attempt = Attempt {
            phase: Phase::Asked,
            decoder: Decoder::new(payload_bytes_max),
            request_open: true,
            active_at: now,
            quiet_since: now,
            next_entry: start.entries.len() as u32,
            commands: commands as u32,
            unstored: HashMap::default(),
            outbox: Outbox::default(),
            invocation,
            trace: request::trace(&start.entries[0]),
            target: start.target,
            terms,
        };
        attempt.outbox.push(Output::Send(replay));
        if request_response {
            attempt.half_close(now);
        }
        attempt
    }

    /// The request to make.
    pub fn request_head(&self) -> Head {
        request::head(&self.invocation, &self.target, self.terms.version, &self.trace)
    }

    /// When `handle_deadline` wants to be called, if nothing else happens before.
    pub fn deadline(&self) -> Option<Timestamp> {
        let conversation = self.silence_until();
        self.outbox.deadline().map_or(conversation, |held| {
            Some(conversation.map_or(held, |conversation| conversation.min(held)))
        })
    }

    /// How long the service may be silent.
    fn silence_until(&self) -> Option<Timestamp> {
        let options = &self.terms.options;
        match self.phase {
            Phase::Finished => None,
            Phase::Draining { until, .. } => Some(until),
            _ if !self.request_open => Some(self.quiet_since.plus(options.abort_timeout)),
            // The service waits for us: that is not its inactivity, but has a bound all the same.
            _ if !self.unstored.is_empty() => {
                let patience = options.inactivity_timeout.max(options.abort_timeout);
                Some(self.active_at.plus(patience))
            }
            _ => Some(self.active_at.plus(options.inactivity_timeout)),
        }
    }

    /// Whether the conversation is over: no input has an effect any more.
    pub fn is_finished(&self) -> bool {
        self.phase == Phase::Finished
    }

    /// What is to be done next; `None` until the next input.
    pub fn poll(&mut self) -> Option<Output> {
        self.outbox.poll()
    }
}

// --- what comes from the service
impl Attempt {
    /// The response head came. `content_type` and `retry_after` are the values of those headers,
    /// `None` too where they are not text.
    pub fn handle_response_head(
        &mut self,
        now: Timestamp,
        status: u16,
        content_type: Option<&str>,
        retry_after: Option<&str>,
    ) {
        if self.phase != Phase::Asked {
            return;
        }
        self.quiet_since = now;
        self.phase = Phase::Talking { heard: false };
        let head = answer::Head { status, content_type, retry_after };
        let expected = self.terms.version.content_type();
        if let Err(error) = answer::judge(now, &head, expected, &self.target) {
            self.fail(error, None);
        }
    }

    /// Bytes of the response body came, cut anyhow.
    pub fn handle_chunk(&mut self, now: Timestamp, chunk: Bytes) {
        if chunk.is_empty() {
            return;
        }
        match &mut self.phase {
            Phase::Talking { heard } => *heard = true,
            Phase::Draining { .. } => return self.note_surplus(),
            Phase::Asked | Phase::Finished => return,
        }
        self.quiet_since = now;
        self.active_at = now;
        self.decoder.push(chunk);
        while let Phase::Talking { .. } = self.phase {
            match self.decoder.next() {
                Ok(Some(frame)) => self.hear(now, frame),
                Ok(None) => return,
                Err(error) => return self.fail(error.into(), None),
            }
        }
        if !self.decoder.is_empty() {
            self.note_surplus();
        }
    }

    /// The response body ended orderly.
    pub fn handle_response_end(&mut self, _now: Timestamp) {
        let place = match self.phase {
            Phase::Finished => return,
            Phase::Draining { .. } => return self.finish(),
            Phase::Talking { heard: true } if self.decoder.is_empty() => Place::BetweenMessages,
            Phase::Talking { heard: true } => Place::InsideMessage,
            Phase::Talking { heard: false } | Phase::Asked => Place::BeforeAnyMessage,
        };
        self.fail(Error::Unfinished { place }, None);
    }

    /// There is no connection, or it broke, or the stream was reset. `reason` is for people.
    pub fn handle_broken(&mut self, _now: Timestamp, reason: &str) {
        match self.phase {
            Phase::Finished => {}
            Phase::Draining { .. } => self.finish(),
            Phase::Asked | Phase::Talking { .. } => {
                let reason = reason.chars().take(REASON_CHARS_MAX).collect();
                self.fail(Error::Broken { reason }, None);
            }
        }
    }

    fn hear(&mut self, now: Timestamp, frame: Frame) {
        let scene = receive::Scene {
            target: &self.target,
            service: self.terms.service,
            version: self.terms.version,
            callees: &*self.terms.callees,
        };
        match receive::hear(&scene, &frame) {
            Ok(Heard::Command { callee, answer }) => {
                self.commands += 1;
                self.unstored.extend(answer.map(|completion| (completion, false)));
                self.outbox
                    .say(now, Said::Command { ty: frame.ty, payload: frame.payload, callee });
            }
            Ok(Heard::Proposal { completion, payload, acknowledge }) => {
                self.unstored.insert(completion, acknowledge);
                self.outbox.say(now, Said::RunCompletion { completion, payload });
            }
            Ok(Heard::AwaitingOn(awaiting)) => self.outbox.hint(awaiting),
            Ok(Heard::Suspended(awaiting)) => self.end(now, AttemptEnd::Suspended(awaiting)),
            Ok(Heard::Completed) => self.end(now, AttemptEnd::Completed),
            Ok(Heard::Failed { failure, reaction }) => {
                let failed = self.failed(failure, reaction, true);
                self.end(now, failed);
            }
            Err(error) => {
                let related = receive::related(&frame, self.commands);
                self.fail(error, related);
            }
        }
    }
}

// --- what comes from the partition and from the clock
impl Attempt {
    /// A notification was stored after the entries in `Start`. One that was seen already, by its
    /// index, is ignored.
    pub fn handle_stored(&mut self, now: Timestamp, entry: Entry) {
        if entry.index < self.next_entry || !entry.ty.is_notification() {
            return;
        }
        self.next_entry = entry.index + 1;
        let completion = receive::completion_id(&entry);
        let awaited = completion.and_then(|id| Some((id, self.unstored.remove(&id)?)));
        if !self.request_open || self.is_over() {
            return; // It is in the journal: the next attempt gets it with the replay.
        }
        self.active_at = now;
        self.outbox.push(Output::Send(match awaited {
            Some((id, true)) => replay::run_ack(id),
            _ => replay::notification(entry),
        }));
    }

    /// The invocation shall suspend: a pause, a shutdown, a lack of memory.
    pub fn handle_suspend(&mut self, now: Timestamp) {
        if !self.is_over() {
            self.half_close(now);
        }
    }

    /// The attempt is void: says nothing more, not even what was not polled yet.
    pub fn handle_abort(&mut self, _now: Timestamp) {
        if self.is_finished() {
            return;
        }
        self.outbox.clear();
        self.outbox.push(Output::Reset);
        self.finish();
    }

    /// `deadline()` has passed. Called early, it does nothing.
    pub fn handle_deadline(&mut self, now: Timestamp) {
        self.outbox.handle_deadline(now);
        if self.silence_until().is_none_or(|deadline| now < deadline) {
            return;
        }
        match self.phase {
            Phase::Finished => {}
            Phase::Draining { .. } => {
                self.outbox.push(Output::Reset);
                self.finish();
            }
            _ if self.request_open => self.half_close(now),
            phase => {
                let waited_ms = now.since(self.quiet_since).as_millis();
                self.fail(silence(phase, waited_ms), None);
            }
        }
    }

    /// Whether its end was said.
    fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Draining { .. } | Phase::Finished)
    }
}

fn silence(phase: Phase, waited_ms: u128) -> Error {
    match phase {
        Phase::Asked => Error::Silent { waited_ms, after: Silence::Request },
        Phase::Talking { heard: false } => Error::Mute { waited_ms },
        _ => Error::Silent { waited_ms, after: Silence::Messages },
    }
}

// --- what goes out
impl Attempt {
    /// The service said how the attempt ended: what is left is to let it close the response.
    fn end(&mut self, now: Timestamp, end: AttemptEnd) {
        self.outbox.say_end(end);
        self.half_close(now);
        self.phase = Phase::Draining { until: now.plus(DRAIN_MAX), noted: false };
    }

    /// The attempt failed on our side of it: the service is cut off.
    fn fail(&mut self, error: Error, related: Option<RelatedCommand>) {
        let (reaction, counts) = (error.reaction(), error.counts_for_entry());
        let failed = self.failed(error.into_failure(related), reaction, counts);
        self.outbox.say_end(failed);
        self.outbox.push(Output::Reset);
        self.finish();
    }

    fn failed(&self, failure: AttemptFailure, reaction: Reaction, counts: bool) -> AttemptEnd {
        AttemptEnd::Failed(Box::new(Failed {
            failure,
            reaction,
            policy: self.terms.options.retry,
            jitter: self.terms.jitter,
            counts_for_entry: counts,
        }))
    }

    fn half_close(&mut self, now: Timestamp) {
        if self.request_open {
            self.request_open = false;
            self.quiet_since = now;
            self.outbox.push(Output::HalfClose);
        }
    }

    /// Bytes after the final message have no meaning.
    fn note_surplus(&mut self) {
        if let Phase::Draining { noted: noted @ false, .. } = &mut self.phase {
            *noted = true;
            self.outbox.push(Output::Note("the service sent bytes after its final message"));
        }
    }

    fn finish(&mut self) {
        self.phase = Phase::Finished;
        self.outbox.push(Output::Finished);
    }
}
