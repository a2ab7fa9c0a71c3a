//! The nouns of `model`, to and from their protobuf form. What is missing or unknown on the way
//! back is `Bad`: no default is ever made up.

use super::codec::Bad;
use super::generated as pb;
use crate::id::{DeploymentId, InvocationId};
use crate::model::*;
use crate::time::Timestamp;
use bytes::Bytes;
use holdfast_wire::manifest::HandlerType;
use holdfast_wire::message::MessageType;
use holdfast_wire::version::Version;
use std::time::Duration;

pub fn id_out(id: InvocationId) -> Bytes {
    Bytes::copy_from_slice(&id.to_bytes())
}

pub fn id_in(bytes: &[u8]) -> Result<InvocationId, Bad> {
    InvocationId::from_slice(bytes).ok_or(Bad("an invocation id does not have 24 bytes"))
}

pub fn ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

pub fn type_in(number: u32) -> Result<MessageType, Bad> {
    u16::try_from(number).map(MessageType).map_err(|_| Bad("a frame type is above 65535"))
}

pub fn handler_type_out(ty: HandlerType) -> pb::HandlerType {
    match ty {
        HandlerType::Service => pb::HandlerType::Service,
        HandlerType::Exclusive => pb::HandlerType::Exclusive,
        HandlerType::Shared => pb::HandlerType::Shared,
        HandlerType::Workflow => pb::HandlerType::Workflow,
    }
}

pub fn handler_type_in(ty: pb::HandlerType) -> Result<HandlerType, Bad> {
    match ty {
        pb::HandlerType::Service => Ok(HandlerType::Service),
        pb::HandlerType::Exclusive => Ok(HandlerType::Exclusive),
        pb::HandlerType::Shared => Ok(HandlerType::Shared),
        pb::HandlerType::Workflow => Ok(HandlerType::Workflow),
        pb::HandlerType::Unspecified => Err(Bad("the type of a handler is unknown")),
    }
}

pub fn target_out(target: &Target) -> pb::Target {
    pb::Target {
        service: target.service.clone(),
        key: target.key.clone(),
        handler: target.handler.clone(),
        r#type: handler_type_out(target.ty).into(),
    }
}

pub fn target_in(target: Option<pb::Target>) -> Result<Target, Bad> {
    let target = target.ok_or(Bad("a target is missing"))?;
    let ty = handler_type_in(target.r#type())?;
    Ok(Target { service: target.service, key: target.key, handler: target.handler, ty })
}

pub fn pairs_out(pairs: &[(String, String)]) -> Vec<pb::Pair> {
    pairs.iter().map(|(key, value)| pb::Pair { key: key.clone(), value: value.clone() }).collect()
}

pub fn pairs_in(pairs: Vec<pb::Pair>) -> Vec<(String, String)> {
    pairs.into_iter().map(|pair| (pair.key, pair.value)).collect()
}

pub fn failure_out(failure: &Failure) -> pb::Failure {
    pb::Failure {
        code: failure.code,
        message: failure.message.clone(),
        metadata: pairs_out(&failure.metadata),
        stacktrace: failure.stacktrace.clone(),
    }
}

pub fn failure_in(failure: pb::Failure) -> Failure {
    Failure {
        code: failure.code,
        message: failure.message,
        metadata: pairs_in(failure.metadata),
        stacktrace: failure.stacktrace,
    }
}

pub fn outcome_out(outcome: &Outcome) -> pb::Outcome {
    use pb::outcome::Result;
    let result = match outcome {
        Outcome::Success(value) => Result::Success(value.clone()),
        Outcome::Failure(failure) => Result::Failure(failure_out(failure)),
    };
    pb::Outcome { result: Some(result) }
}

pub fn outcome_in(outcome: pb::Outcome) -> Result<Outcome, Bad> {
    use pb::outcome::Result;
    match outcome.result {
        Some(Result::Success(value)) => Ok(Outcome::Success(value)),
        Some(Result::Failure(failure)) => Ok(Outcome::Failure(failure_in(failure))),
        None => Err(Bad("an outcome has no result")),
    }
}

pub fn source_out(source: &Source) -> pb::Source {
    use pb::source::By;
    let by = match source {
        Source::Ingress => By::Ingress(pb::Empty {}),
        Source::Service { invocation, target } => By::Service(pb::source::Service {
            invocation: id_out(*invocation),
            target: Some(target_out(target)),
        }),
        Source::RestartAsNew { original } => By::RestartOf(id_out(*original)),
        Source::Schedule { name, planned } => {
            By::Schedule(pb::source::Schedule { name: name.clone(), planned: planned.0 })
        }
    };
    pb::Source { by: Some(by) }
}

pub fn source_in(source: Option<pb::Source>) -> Result<Source, Bad> {
    use pb::source::By;
    match source.and_then(|source| source.by) {
        Some(By::Ingress(pb::Empty {})) => Ok(Source::Ingress),
        Some(By::Service(by)) => Ok(Source::Service {
            invocation: id_in(&by.invocation)?,
            target: target_in(by.target)?,
        }),
        Some(By::RestartOf(original)) => Ok(Source::RestartAsNew { original: id_in(&original)? }),
        Some(By::Schedule(by)) => {
            Ok(Source::Schedule { name: by.name, planned: Timestamp(by.planned) })
        }
        None => Err(Bad("the source of an invocation is missing")),
    }
}

pub fn retention_out(retention: Retention) -> pb::Retention {
    pb::Retention { completion: ms(retention.completion), journal: ms(retention.journal) }
}

pub fn retention_in(retention: Option<pb::Retention>) -> Result<Retention, Bad> {
    let retention = retention.ok_or(Bad("the retention is missing"))?;
    Ok(Retention {
        completion: Duration::from_millis(retention.completion),
        journal: Duration::from_millis(retention.journal),
    })
}

pub fn deployment_out(id: DeploymentId) -> Bytes {
    Bytes::copy_from_slice(&id.0.to_be_bytes())
}

pub fn deployment_in(bytes: &[u8]) -> Result<DeploymentId, Bad> {
    let bytes = <[u8; 16]>::try_from(bytes);
    let bytes = bytes.map_err(|_| Bad("a deployment id does not have 16 bytes"))?;
    Ok(DeploymentId(u128::from_be_bytes(bytes)))
}

pub fn pin_in(pin: pb::Pin) -> Result<Pin, Bad> {
    Ok(Pin {
        deployment: deployment_in(&pin.deployment)?,
        version: Version::from_number(pin.version)
            .ok_or(Bad("a pinned protocol version is not one that we speak"))?,
    })
}

pub fn signal_name_out(name: &SignalName) -> pb::SignalName {
    use pb::signal_name::Name;
    let name = match name {
        SignalName::Index(index) => Name::Index(*index),
        SignalName::Name(name) => Name::Text(name.clone()),
    };
    pb::SignalName { name: Some(name) }
}

pub fn signal_name_in(name: pb::SignalName) -> Result<SignalName, Bad> {
    use pb::signal_name::Name;
    match name.name {
        Some(Name::Index(index)) => Ok(SignalName::Index(index)),
        Some(Name::Text(name)) => Ok(SignalName::Name(name)),
        None => Err(Bad("a signal has no name")),
    }
}

pub fn signal_value_out(value: &SignalValue) -> pb::SignalValue {
    use pb::signal_value::Value;
    let value = match value {
        SignalValue::Void => Value::Void(pb::Empty {}),
        SignalValue::Success(value) => Value::Success(value.clone()),
        SignalValue::Failure(failure) => Value::Failure(failure_out(failure)),
    };
    pb::SignalValue { value: Some(value) }
}

pub fn signal_value_in(value: pb::SignalValue) -> Result<SignalValue, Bad> {
    use pb::signal_value::Value;
    match value.value {
        Some(Value::Void(pb::Empty {})) => Ok(SignalValue::Void),
        Some(Value::Success(value)) => Ok(SignalValue::Success(value)),
        Some(Value::Failure(failure)) => Ok(SignalValue::Failure(failure_in(failure))),
        None => Err(Bad("a signal has no value")),
    }
}

pub fn awaiting_out(awaiting: &Awaiting) -> pb::Awaiting {
    let combinator = match awaiting.combinator {
        Combinator::Unknown => pb::Combinator::Unknown,
        Combinator::FirstCompleted => pb::Combinator::FirstCompleted,
        Combinator::AllCompleted => pb::Combinator::AllCompleted,
        Combinator::FirstSucceededOrAllFailed => pb::Combinator::FirstSucceededOrAllFailed,
        Combinator::AllSucceededOrFirstFailed => pb::Combinator::AllSucceededOrFirstFailed,
    };
    pb::Awaiting {
        combinator: combinator.into(),
        completions: awaiting.completions.clone(),
        signals: awaiting.signals.iter().map(signal_name_out).collect(),
        nested: awaiting.nested.iter().map(awaiting_out).collect(),
    }
}

pub fn awaiting_in(awaiting: pb::Awaiting) -> Result<Awaiting, Bad> {
    let combinator = match awaiting.combinator() {
        pb::Combinator::Unknown => Combinator::Unknown,
        pb::Combinator::FirstCompleted => Combinator::FirstCompleted,
        pb::Combinator::AllCompleted => Combinator::AllCompleted,
        pb::Combinator::FirstSucceededOrAllFailed => Combinator::FirstSucceededOrAllFailed,
        pb::Combinator::AllSucceededOrFirstFailed => Combinator::AllSucceededOrFirstFailed,
        pb::Combinator::Unspecified => return Err(Bad("a combinator is unknown")),
    };
    Ok(Awaiting {
        combinator,
        completions: awaiting.completions,
        signals: awaiting.signals.into_iter().map(signal_name_in).collect::<Result<_, _>>()?,
        nested: awaiting.nested.into_iter().map(awaiting_in).collect::<Result<_, _>>()?,
    })
}

pub fn failed_by_out(by: FailedBy) -> pb::FailedBy {
    match by {
        FailedBy::Handler => pb::FailedBy::Handler,
        FailedBy::Retries => pb::FailedBy::Retries,
        FailedBy::Service => pb::FailedBy::Service,
        FailedBy::Kill => pb::FailedBy::Kill,
        FailedBy::Cancel => pb::FailedBy::Cancel,
        FailedBy::Endless => pb::FailedBy::Endless,
    }
}

/// `None` where nothing failed.
pub fn failed_by_in(by: pb::FailedBy) -> Result<Option<FailedBy>, Bad> {
    Ok(match by {
        pb::FailedBy::Handler => Some(FailedBy::Handler),
        pb::FailedBy::Retries => Some(FailedBy::Retries),
        pb::FailedBy::Service => Some(FailedBy::Service),
        pb::FailedBy::Kill => Some(FailedBy::Kill),
        pb::FailedBy::Cancel => Some(FailedBy::Cancel),
        pb::FailedBy::Endless => Some(FailedBy::Endless),
        pb::FailedBy::Unspecified => None,
    })
}

pub fn attempt_failure_out(failure: &AttemptFailure) -> pb::AttemptFailure {
    let related = failure.related.as_ref().map(|related| pb::RelatedCommand {
        index: related.index,
        name: related.name.clone(),
        r#type: related.ty.map(|ty| u32::from(ty.0)),
    });
    pb::AttemptFailure {
        code: failure.code,
        message: failure.message.clone(),
        stacktrace: failure.stacktrace.clone(),
        doc_code: failure.doc_code.clone(),
        related,
    }
}

pub fn attempt_failure_in(failure: pb::AttemptFailure) -> Result<AttemptFailure, Bad> {
    let related = failure.related.map(|related| {
        let ty = related.r#type.map(type_in).transpose()?;
        Ok(RelatedCommand { index: related.index, name: related.name, ty })
    });
    Ok(AttemptFailure {
        code: failure.code,
        message: failure.message,
        stacktrace: failure.stacktrace,
        doc_code: failure.doc_code,
        related: related.transpose()?,
    })
}
