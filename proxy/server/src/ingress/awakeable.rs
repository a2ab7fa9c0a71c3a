//! Awakeables, completed over HTTP. The first completion wins; later ones are answered alike.

use super::{Error, Ingress, answer, route::Answer};
use crate::http::Body;
use bytes::Bytes;
use holdfast_machine::{
    command::Command,
    id::AwakeableId,
    model::{Failure, SignalName, SignalValue},
};
use http::Response;

/// The code of a rejection.
const REJECTED: u32 = 500;

/// What a body says: a value as it is, or the message of a rejection.
pub(super) fn value(answer: Answer, body: Bytes) -> SignalValue {
    match answer {
        Answer::Resolve => SignalValue::Success(body),
        Answer::Reject => SignalValue::Failure(Failure {
            code: REJECTED,
            message: String::from_utf8_lossy(&body).into_owned(),
            ..Failure::default()
        }),
    }
}

impl Ingress {
    pub(super) async fn complete(
        &self,
        awakeable: AwakeableId,
        value: SignalValue,
    ) -> Result<Response<Body>, Error> {
        let AwakeableId { invocation, signal } = awakeable;
        let command = Command::Signal { invocation, signal: SignalName::Index(signal), value };
        // Whatever the reply: who completes an awakeable may come late, and is not told.
        let _ = self.router.of(invocation).call(command).await?;
        Ok(answer::signalled())
    }
}
