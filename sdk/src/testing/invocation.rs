//! One invocation of a double: its journal, and the attempt that is under way.

use crate::attempt::Target;
use crate::drive::Drive;
use bytes::Bytes;
use holdfast_wire::frame::{Decoder, Frame};
use holdfast_wire::message::{MessageType, pb};

/// How far an invocation is.
pub(super) enum Status {
    /// It waits for the key of its object.
    Queued,
    Running(Box<Attempt>),
    Suspended,
    Done(Result<Bytes, pb::Failure>),
}

/// An attempt under way.
pub(super) struct Attempt {
    pub(super) drive: Drive,
    pub(super) decoder: Decoder,
}

/// Who is told the outcome: an invocation, under a completion of that type.
pub(super) type Sink = (usize, u32, MessageType);

/// One invocation.
pub(super) struct Invocation {
    /// The 24 raw bytes of its id.
    pub(super) id: Bytes,
    pub(super) target: Target,
    /// Whether it is the only one of its key that runs.
    pub(super) exclusive: bool,
    pub(super) journal: Vec<Frame>,
    /// How long the journal was when the attempt began.
    pub(super) replayed: usize,
    pub(super) status: Status,
    pub(super) awaiting: pb::Future,
    pub(super) sinks: Vec<Sink>,
    pub(super) output: Option<Result<Bytes, pb::Failure>>,
    /// Attempts that failed since the last new command.
    pub(super) failed: u32,
}

impl Invocation {
    pub(super) fn new(number: usize, target: Target, exclusive: bool) -> Invocation {
        let headers = target
            .headers
            .iter()
            .map(|(key, value)| pb::Header { key: key.clone(), value: value.clone() });
        let input = pb::InputCommand {
            headers: headers.collect(),
            name: String::new(),
            value: Some(pb::Value { content: target.parameter.clone() }),
        };
        let mut id = vec![0; 24];
        id[16..].copy_from_slice(&(number as u64).to_be_bytes());
        Invocation {
            id: id.into(),
            target,
            exclusive,
            journal: vec![Frame::of(MessageType::INPUT, &input)],
            replayed: 0,
            status: Status::Queued,
            awaiting: pb::Future::default(),
            sinks: vec![],
            output: None,
            failed: 0,
        }
    }

    /// As handlers see it.
    pub(super) fn name(number: usize) -> String {
        format!("inv_double_{number}")
    }

    /// The service and the key, for state, promises and locks.
    pub(super) fn owner(&self) -> (String, String) {
        (self.target.service.clone(), self.target.key.clone())
    }

    /// In a message.
    pub(super) fn label(&self) -> String {
        let Target { service, key, handler, .. } = &self.target;
        match key.as_str() {
            "" => format!("{service}/{handler}"),
            key => format!("{service}/{key}/{handler}"),
        }
    }
}
