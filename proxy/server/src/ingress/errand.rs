//! What a request comes down to. Between reading a request and carrying it out there is nothing
//! else, so that whatever the request was made of is gone while an invocation runs.

use super::{call::Again, metrics::Kind, named::Named, route::Wish};
use crate::http::Body;
use crate::registry::{Handler, Schema};
use holdfast_machine::{
    id::{AwakeableId, InvocationId},
    model::{NewInvocation, SignalValue},
};
use http::Response;
use std::sync::Arc;

/// What a request comes down to, once it is read and found good. Owns all it needs, so that
/// neither the request nor the schema is kept while an invocation runs.
pub(super) enum Errand {
    Call {
        invocation: Box<NewInvocation>,
        handler: Arc<Handler>,
        again: Again,
    },
    Send {
        invocation: Box<NewInvocation>,
    },
    Outcome {
        wish: Wish,
        invocation: InvocationId,
        handler: Option<Arc<Handler>>,
    },
    Complete {
        awakeable: AwakeableId,
        value: SignalValue,
    },
    Cancel {
        invocation: InvocationId,
    },
    /// There is nothing to do: this is the answer.
    Told(Response<Body>),
}

impl Errand {
    pub fn outcome(wish: Wish, named: &Named, schema: &Schema) -> Errand {
        Errand::Outcome { wish, invocation: named.id(), handler: named.handler(schema) }
    }

    pub fn kind(&self) -> Kind {
        match self {
            Errand::Call { .. } => Kind::Call,
            Errand::Send { .. } => Kind::Send,
            Errand::Outcome { .. } => Kind::Outcome,
            Errand::Complete { .. } | Errand::Cancel { .. } => Kind::Signal,
            Errand::Told(_) => Kind::Other,
        }
    }

    /// The invocation that an answer is about, where the client may want to know.
    pub fn invocation(&self) -> Option<InvocationId> {
        match self {
            Errand::Call { invocation, .. } | Errand::Send { invocation } => Some(invocation.id),
            Errand::Outcome { invocation, .. } | Errand::Cancel { invocation } => Some(*invocation),
            Errand::Complete { .. } | Errand::Told(_) => None,
        }
    }
}
