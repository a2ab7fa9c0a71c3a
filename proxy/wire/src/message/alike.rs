//! Commands that say the same under two names.

use super::pb::{
    AttachInvocationCommand, CallCommand, GetInvocationOutputCommand, OneWayCallCommand,
    attach_invocation_command, get_invocation_output_command,
};

/// Who is called and with what is said alike, whether the outcome is awaited or not. There is no
/// completion of an outcome, and the time to start is left out.
impl From<OneWayCallCommand> for CallCommand {
    fn from(it: OneWayCallCommand) -> CallCommand {
        CallCommand {
            service_name: it.service_name,
            handler_name: it.handler_name,
            parameter: it.parameter,
            headers: it.headers,
            key: it.key,
            idempotency_key: it.idempotency_key,
            scope: it.scope,
            limit_key: it.limit_key,
            invocation_id_notification_idx: it.invocation_id_notification_idx,
            result_completion_id: 0,
            name: it.name,
        }
    }
}

/// Which invocation is meant is said alike by who waits for its outcome and by who only looks.
impl From<GetInvocationOutputCommand> for AttachInvocationCommand {
    fn from(it: GetInvocationOutputCommand) -> AttachInvocationCommand {
        use attach_invocation_command::Target as To;
        use get_invocation_output_command::Target as From;
        AttachInvocationCommand {
            target: it.target.map(|target| match target {
                From::InvocationId(id) => To::InvocationId(id),
                From::IdempotentRequestTarget(it) => To::IdempotentRequestTarget(it),
                From::WorkflowTarget(it) => To::WorkflowTarget(it),
            }),
            result_completion_id: it.result_completion_id,
            name: it.name,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prost::Message;

    #[test]
    fn both_have_the_same_bytes() {
        use get_invocation_output_command::Target;
        let of = super::super::pb::WorkflowTarget {
            workflow_name: "W".into(),
            workflow_key: "k".into(),
            scope: None,
        };
        for target in
            [None, Some(Target::InvocationId("inv_1".into())), Some(Target::WorkflowTarget(of))]
        {
            let get =
                GetInvocationOutputCommand { target, result_completion_id: 7, name: "n".into() };
            let bytes = get.encode_to_vec();
            assert_eq!(AttachInvocationCommand::from(get).encode_to_vec(), bytes);
        }
    }
}
