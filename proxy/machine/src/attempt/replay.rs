//! What the service is sent: the start, the replay of the journal, and what is stored after it.
//! Never changes the bytes of an entry.

use super::Start;
use crate::{model::Entry, time::Timestamp};
use bytes::{BufMut, Bytes, BytesMut};
use holdfast_wire::{
    frame::{Frame, HEADER_BYTES},
    message::{MessageType, pb},
    version::{Feature, Version},
};
use prost::Message;

/// Payloads up to here are copied behind their header; larger ones are sent as they are.
const COPIED_BYTES_MAX: usize = 4096;

/// `Start` and the whole journal. `id` is the text of the invocation's id.
pub(super) fn replay(now: Timestamp, start: &Start, id: &str, version: Version) -> Vec<Bytes> {
    let message = start_message(now, start, id, version);
    let copied: usize = start.entries.iter().map(copied_bytes).sum();
    let mut frames = Frames::with_capacity(HEADER_BYTES + message.encoded_len() + copied);
    frames.message(MessageType::START, &message);
    for entry in &start.entries {
        frames.push(&Frame::raw(entry.ty, entry.payload.clone()));
    }
    frames.finish()
}

/// How much of the frame of an entry is copied.
fn copied_bytes(entry: &Entry) -> usize {
    match entry.payload.len() {
        small @ ..=COPIED_BYTES_MAX => HEADER_BYTES + small,
        _ => HEADER_BYTES,
    }
}

/// One notification that was stored, verbatim.
pub(super) fn notification(entry: Entry) -> Vec<Bytes> {
    let mut frames = Frames::default();
    frames.push(&Frame::raw(entry.ty, entry.payload));
    frames.finish()
}

/// A proposed run result is stored; the service kept the value itself.
pub(super) fn run_ack(completion_id: u32) -> Vec<Bytes> {
    let ack = pb::ProposeRunCompletionAck { completion_id };
    vec![Frame::of(MessageType::PROPOSE_RUN_COMPLETION_ACK, &ack).encode()]
}

fn start_message(now: Timestamp, start: &Start, id: &str, version: Version) -> pb::Start {
    let state = start.state.iter().cloned();
    let unchanged_ms = now.since(start.last_stored_at).as_millis();
    let idempotency_key = start.idempotency_key.clone();
    pb::Start {
        id: start.invocation.to_bytes().to_vec().into(),
        debug_id: id.to_owned(),
        known_entries: u32::try_from(start.entries.len()).expect("entries are numbered by u32"),
        state_map: state.map(|(key, value)| pb::start::StateEntry { key, value }).collect(),
        partial_state: start.partial_state,
        key: start.target.key.clone().unwrap_or_default(),
        retry_count_since_last_stored_entry: start.retry_count_since_last_stored_entry,
        duration_since_last_stored_entry: u64::try_from(unchanged_ms).unwrap_or(u64::MAX),
        random_seed: start.random_seed,
        scope: None,
        limit_key: None,
        idempotency_key: idempotency_key
            .filter(|_| version.supports(Feature::IdempotencyKeyInStart)),
    }
}

/// Frames one after the other, in as few pieces as copying little allows.
#[derive(Default)]
struct Frames {
    done: Vec<Bytes>,
    open: BytesMut,
}

impl Frames {
    fn with_capacity(bytes: usize) -> Frames {
        Frames { done: vec![], open: BytesMut::with_capacity(bytes) }
    }

    fn message(&mut self, ty: MessageType, message: &impl Message) {
        Frame::encode_message_into(ty, message, &mut self.open);
    }

    fn push(&mut self, frame: &Frame) {
        self.open.put_slice(&frame.header());
        if frame.payload.len() <= COPIED_BYTES_MAX {
            self.open.put_slice(&frame.payload);
        } else {
            self.done.push(self.open.split().freeze());
            self.done.push(frame.payload.clone());
        }
    }

    fn finish(mut self) -> Vec<Bytes> {
        if !self.open.is_empty() {
            self.done.push(self.open.freeze());
        }
        self.done
    }
}
