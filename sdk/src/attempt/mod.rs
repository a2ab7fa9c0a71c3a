//! One attempt: a conversation with the sidecar about an invocation, without any I/O.
//!
//! Bytes go in by [`Attempt::handle_bytes`] and [`Attempt::handle_end`], bytes come out by
//! [`Attempt::take_output`]. The handler acts through the methods in `acts`; whenever it can do
//! nothing more, [`Attempt::handle_blocked`] decides how to go on. Must never wait, read a clock or
//! draw chance, and must never let a handler go on that contradicts its journal.
//!
//! ```text
//! Start ─► Filling ─► Open ───────────────► Closed
//!          replay     the handler runs:     End, Suspension or Error was written
//!          comes in   first along the
//!                     journal, then anew
//! ```

mod acts;
mod command;
mod ending;
mod input;
mod news;
mod random;
mod retry;
mod state;
mod turn;
mod waits;

use bytes::{Bytes, BytesMut};
use holdfast_wire::frame::{Decoder, Frame};
use holdfast_wire::message::{MessageType, pb};
use holdfast_wire::version::{Feature, Version};
use std::collections::VecDeque;
use std::panic::Location;

pub(crate) use acts::{Got, GotKeys, StepId, Target};
pub(crate) use command::payloads_agree;
pub(crate) use ending::{CODE_INTERNAL, Failed};
pub(crate) use random::Random;
pub use retry::RetryPolicy;
pub(crate) use turn::Turn;
pub(crate) use waits::{Leaf, Step, Waiting};

/// Where the handler did something.
pub(crate) type At = &'static Location<'static>;

/// Signals before this number are not awakeables.
const FIRST_AWAKEABLE: u32 = 17;

/// What the handler is begun with.
#[derive(Clone, Debug)]
pub(crate) struct Begin {
    /// The 24 raw bytes of the invocation id.
    pub(crate) id: Bytes,
    /// The same as `inv_...`.
    pub(crate) invocation: String,
    /// Empty if the target has no key.
    pub(crate) key: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) input: Bytes,
    pub(crate) random: Random,
}

#[derive(Debug)]
enum Phase {
    /// Nothing was heard.
    Start,
    /// So many entries of the replay are still to come.
    Filling(u32),
    Open,
    Closed,
}

/// The journal as it was when the attempt began.
#[derive(Debug, Default)]
struct Replay {
    /// Commands that the handler has not given again.
    left: VecDeque<Frame>,
    /// The next command of the handler; the input is 0.
    index: u32,
    /// Whether the handler has given a command that the journal did not have.
    gave_new: bool,
}

/// A call that was made, for as long as its result has not come.
#[derive(Debug)]
struct Child {
    invocation: u32,
    result: u32,
}

/// A wish to cancel that came.
#[derive(Debug, Default)]
enum Cancel {
    #[default]
    No,
    /// The calls to be cancelled along do not all have an id yet.
    Came,
    /// These futures fail in the turn that follows.
    Fails(Vec<Leaf>),
}

/// One attempt.
#[derive(Debug)]
pub(crate) struct Attempt {
    version: Version,
    decoder: Decoder,
    out: BytesMut,
    phase: Phase,
    /// Whether more may come from the sidecar.
    input_open: bool,
    /// Whether this process is about to end.
    draining: bool,
    begin: Option<Begin>,
    /// Attempts that failed since the last command that was new, and for how long.
    failed_before: (u32, u64),
    replay: Replay,
    news: news::News,
    state: state::StateView,
    pub(crate) waits: waits::Waits,
    children: Vec<Child>,
    cancel: Cancel,
    next_completion: u32,
    next_signal: u32,
    next_unrecorded: u32,
    /// What is being executed that must not use the context.
    inside: Option<String>,
    last_awaiting: Option<pb::Future>,
}

impl Attempt {
    /// An attempt in which nothing was said. A message from the sidecar may have as many bytes.
    pub(crate) fn new(version: Version, message_bytes_max: u32) -> Attempt {
        Attempt {
            version,
            decoder: Decoder::new(message_bytes_max),
            out: BytesMut::new(),
            phase: Phase::Start,
            input_open: true,
            draining: false,
            begin: None,
            failed_before: (0, 0),
            replay: Replay::default(),
            news: news::News::default(),
            state: state::StateView::default(),
            waits: waits::Waits::default(),
            children: vec![],
            cancel: Cancel::No,
            next_completion: 1,
            next_signal: FIRST_AWAKEABLE,
            next_unrecorded: 0,
            inside: None,
            last_awaiting: None,
        }
    }

    /// What was written since it was taken last; empty if nothing was.
    pub(crate) fn take_output(&mut self) -> Bytes {
        self.out.split().freeze()
    }

    /// What to begin the handler with, once the whole replay is there. Given once.
    pub(crate) fn take_begin(&mut self) -> Option<Begin> {
        match self.phase {
            Phase::Open => self.begin.take(),
            _ => None,
        }
    }

    /// Whether the last message is written.
    pub(crate) fn is_closed(&self) -> bool {
        matches!(self.phase, Phase::Closed)
    }

    /// Whether the handler does what it did before.
    pub(crate) fn is_replaying(&self) -> bool {
        !self.replay.left.is_empty() || (!self.replay.gave_new && !self.news.all_told())
    }

    /// The handler came to a result, or failed for good: so does the invocation.
    pub(crate) fn finish(&mut self, result: Result<Bytes, pb::Failure>, at: At) {
        use pb::output_command::Result as Output;
        let result = match result {
            Ok(content) => Output::Value(pb::Value { content }),
            Err(failure) => Output::Failure(self.sendable(failure)),
        };
        let output = pb::OutputCommand { name: String::new(), result: Some(result) };
        if self.record(output, at).is_none() {
            return;
        }
        match self.replay.left.front() {
            Some(_) => self.fail(ending::protocol("the journal goes on after its output")),
            None => self.close(MessageType::END, &pb::End {}),
        }
    }

    /// The attempt failed. Only the first of several endings counts.
    pub(crate) fn fail(&mut self, failed: Failed) {
        if !self.is_closed() {
            self.close(MessageType::ERROR, &failed.into_message());
        }
    }

    /// What the handler does until [`Attempt::leave`] must not use the context.
    pub(crate) fn enter(&mut self, inside: &str) {
        self.inside = Some(inside.to_owned());
    }

    pub(crate) fn leave(&mut self) {
        self.inside = None;
    }

    /// What is executed at the moment and must not use the context.
    pub(crate) fn inside(&self) -> Option<&str> {
        self.inside.as_deref()
    }

    /// The handler gives a command: the one that the journal has in its place, or this one if it
    /// has none. `None` once the attempt is over.
    fn record<C: command::Command>(&mut self, now: C, at: At) -> Option<C> {
        if self.is_closed() {
            return None;
        }
        if let Some(inside) = &self.inside {
            let failed = ending::inside_a_step(&now, inside, at);
            self.fail(failed);
            return None;
        }
        let index = self.replay.index;
        self.replay.index += 1;
        let Some(held) = self.replay.left.pop_front() else {
            self.replay.gave_new = true;
            self.write(C::TYPE, &now);
            return Some(now);
        };
        match self.compare(index, &held, now, at) {
            Ok(held) => Some(held),
            Err(failed) => {
                self.fail(failed);
                None
            }
        }
    }

    fn compare<C: command::Command>(
        &self,
        index: u32,
        held: &Frame,
        now: C,
        at: At,
    ) -> Result<C, Failed> {
        let sides = (held.ty, &held.payload);
        if held.ty != C::TYPE {
            return Err(ending::differs(index, sides, &now, None, at));
        }
        let old = C::decode(held.payload.clone())
            .map_err(|error| ending::protocol(format!("{} cannot be read: {error}", held.ty)))?;
        match old.difference(&now) {
            None => Ok(old),
            what => Err(ending::differs(index, sides, &now, what, at)),
        }
    }

    /// A failure as this version of the protocol can carry it.
    fn sendable(&self, mut failure: pb::Failure) -> pb::Failure {
        if !self.version.supports(Feature::FailureMetadata) {
            failure.metadata.clear();
        }
        failure
    }

    fn write(&mut self, ty: MessageType, message: &impl prost::Message) {
        Frame::of(ty, message).encode_into(&mut self.out);
    }

    fn write_asking_for_ack(&mut self, message: &pb::ProposeRunCompletion, ack: bool) {
        let frame = Frame::of(MessageType::PROPOSE_RUN_COMPLETION, message);
        Frame { requires_ack: ack, ..frame }.encode_into(&mut self.out);
    }

    fn close(&mut self, ty: MessageType, message: &impl prost::Message) {
        self.write(ty, message);
        self.phase = Phase::Closed;
        self.waits = waits::Waits::default();
    }
}
