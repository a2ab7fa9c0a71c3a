//! What comes from the sidecar: the start, the replay, then notifications and acknowledgements.

use super::ending::{CODE_INTERNAL, Failed, protocol};
use super::state::StateView;
use super::{Attempt, Begin, Phase, Random};
use bytes::Bytes;
use holdfast_wire::frame::Frame;
use holdfast_wire::message::{MessageType, pb};
use holdfast_wire::version::Feature;
use prost::Message;

impl Attempt {
    /// The next bytes of the request, cut anywhere.
    pub(crate) fn handle_bytes(&mut self, bytes: Bytes) {
        self.decoder.push(bytes);
        while !self.is_closed() {
            match self.decoder.next() {
                Ok(Some(frame)) => self.handle_frame(frame),
                Ok(None) => return,
                Err(error) => self.fail(protocol(error)),
            }
        }
    }

    /// The request ended: nothing more will come, and the handler is to suspend where it must wait.
    pub(crate) fn handle_end(&mut self) {
        if !self.input_open {
            return;
        }
        self.input_open = false;
        match self.phase {
            Phase::Start => self.fail(protocol("the request ended before it began")),
            Phase::Filling(left) => {
                self.fail(protocol(format!(
                    "the request ended {left} entries before its replay did"
                )));
            }
            Phase::Open => {
                if let Err(error) = self.decoder.finish() {
                    self.fail(protocol(error));
                }
            }
            Phase::Closed => {}
        }
    }

    /// This process is about to end: the handler is to suspend where it must wait, though the
    /// request is still open.
    pub(crate) fn handle_drain(&mut self) {
        self.draining = true;
    }

    fn handle_frame(&mut self, frame: Frame) {
        let handled = match self.phase {
            Phase::Start => self.handle_start(frame),
            Phase::Filling(left) => self.handle_replay(frame, left),
            Phase::Open => self.handle_news(frame),
            Phase::Closed => Ok(()),
        };
        if let Err(failed) = handled {
            self.fail(failed);
        }
    }

    fn handle_start(&mut self, frame: Frame) -> Result<(), Failed> {
        if frame.ty != MessageType::START {
            return Err(protocol(format!("{} instead of Start", frame.ty)));
        }
        let start = read::<pb::Start>(frame)?;
        if start.known_entries == 0 {
            let message = "the sidecar sent no entries; expected at least the input";
            return Err(Failed::new(CODE_INTERNAL, message));
        }
        let random = match self.version.supports(Feature::RandomSeed) {
            true => Random::seeded(start.random_seed),
            false => Random::from_id(&start.id),
        };
        self.phase = Phase::Filling(start.known_entries);
        self.failed_before =
            (start.retry_count_since_last_stored_entry, start.duration_since_last_stored_entry);
        let entries = start.state_map.into_iter().map(|entry| (entry.key, entry.value));
        self.state = StateView::new(entries, start.partial_state);
        self.begin = Some(Begin {
            id: start.id,
            invocation: start.debug_id,
            key: start.key,
            headers: vec![],
            input: Bytes::new(),
            random,
        });
        Ok(())
    }

    fn handle_replay(&mut self, frame: Frame, left: u32) -> Result<(), Failed> {
        match frame.ty {
            ty if ty.is_command() => self.replay.left.push_back(frame),
            ty if ty.is_notification() => self.notified(frame)?,
            ty => return Err(protocol(format!("{ty} within the replay"))),
        }
        match left {
            1 => self.filled(),
            left => {
                self.phase = Phase::Filling(left - 1);
                Ok(())
            }
        }
    }

    /// The replay is complete; its first command is the input.
    fn filled(&mut self) -> Result<(), Failed> {
        let first = self.replay.left.pop_front();
        let Some(first) = first.filter(|first| first.ty == MessageType::INPUT) else {
            return Err(protocol("the journal does not begin with its input"));
        };
        let input = read::<pb::InputCommand>(first)?;
        if let Some(begin) = &mut self.begin {
            begin.input = input.value.map(|value| value.content).unwrap_or_default();
            begin.headers =
                input.headers.into_iter().map(|header| (header.key, header.value)).collect();
        }
        self.replay.index = 1;
        self.phase = Phase::Open;
        Ok(())
    }

    fn handle_news(&mut self, frame: Frame) -> Result<(), Failed> {
        match frame.ty {
            MessageType::PROPOSE_RUN_COMPLETION_ACK => {
                let ack = read::<pb::ProposeRunCompletionAck>(frame)?;
                self.news.acknowledged(ack.completion_id).map_err(protocol)
            }
            ty if ty.is_notification() => self.notified(frame),
            ty => Err(protocol(format!("{ty} after the replay"))),
        }
    }

    fn notified(&mut self, frame: Frame) -> Result<(), Failed> {
        let notification = read::<pb::Notification>(frame)?;
        self.news.came(notification).map_err(protocol)
    }
}

fn read<M: Message + Default>(frame: Frame) -> Result<M, Failed> {
    let ty = frame.ty;
    M::decode(frame.payload).map_err(|error| protocol(format!("{ty} cannot be read: {error}")))
}
