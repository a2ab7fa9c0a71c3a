//! The ways to name an invocation that exists: by id, by workflow key, by idempotency key. Never
//! asks whether it does exist.

use super::Error;
use crate::registry::{Handler, Schema};
use holdfast_machine::id::InvocationId;
use holdfast_wire::manifest::HandlerType;
use serde::Deserialize;
use std::sync::Arc;

/// An invocation, named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Named {
    Id(InvocationId),
    /// The run of a workflow key.
    Workflow {
        service: String,
        key: String,
    },
    Idempotent {
        service: String,
        key: Option<String>,
        handler: String,
        idempotency_key: String,
    },
}

/// What bodies of `/restate/attach`, `/restate/output`, `/restate/lookup` say.
#[derive(Deserialize)]
#[serde(tag = "target", rename_all = "camelCase", rename_all_fields = "camelCase")]
enum Target {
    Workflow {
        workflow_name: String,
        workflow_key: String,
        scope: Option<String>,
    },
    IdempotentInvocation {
        service: String,
        key: Option<String>,
        handler: String,
        idempotency_key: String,
        scope: Option<String>,
    },
    Invocation {
        invocation_id: String,
    },
}

impl Named {
    /// # Errors
    /// `InvocationId` where it is none.
    pub fn by_id(text: &str) -> Result<Named, Error> {
        text.parse().map(Named::Id).map_err(Error::InvocationId)
    }

    /// Reads a JSON body.
    ///
    /// # Errors
    /// `Target` and `InvocationId` where it names nothing, `Scope` where it names a scope.
    pub fn by_body(body: &[u8]) -> Result<Named, Error> {
        let target =
            serde_json::from_slice(body).map_err(|error| Error::Target(error.to_string()))?;
        match target {
            Target::Workflow { scope: Some(_), .. }
            | Target::IdempotentInvocation { scope: Some(_), .. } => Err(Error::Scope("a scope")),
            Target::Workflow { workflow_name, workflow_key, scope: None } => {
                Ok(Named::Workflow { service: workflow_name, key: workflow_key })
            }
            Target::IdempotentInvocation {
                service,
                key,
                handler,
                idempotency_key,
                scope: None,
            } => Ok(Named::Idempotent { service, key, handler, idempotency_key }),
            Target::Invocation { invocation_id } => Named::by_id(&invocation_id),
        }
    }

    pub fn id(&self) -> InvocationId {
        match self {
            Named::Id(id) => *id,
            Named::Workflow { service, key } => InvocationId::workflow(service, key),
            Named::Idempotent { service, key, handler, idempotency_key } => {
                InvocationId::idempotent(service, key.as_deref(), handler, idempotency_key)
            }
        }
    }

    /// The handler it ran, where the name tells it and the handler is still registered.
    pub fn handler(&self, schema: &Schema) -> Option<Arc<Handler>> {
        match self {
            Named::Id(_) => None,
            Named::Workflow { service, .. } => {
                let handlers = schema.services.get(service)?.handlers.values();
                { handlers }.find(|handler| handler.ty == HandlerType::Workflow).cloned()
            }
            Named::Idempotent { service, handler, .. } => {
                Some(schema.handler(service, handler)?.1.clone())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(bodies: &str, expected: Expect) {
        let lines = bodies.lines().map(|body| match Named::by_body(body.trim().as_bytes()) {
            Ok(named) => format!("{named:?}\n  {}\n", named.id()),
            Err(error) => format!("{} {error}\n", error.code()),
        });
        expected.assert_eq(&lines.collect::<String>());
    }

    #[test]
    fn bodies() {
        check(
            r#"{"target":"workflow","workflowName":"Wf","workflowKey":"w1"}
            {"target":"idempotentInvocation","service":"Greeter","handler":"greet","idempotencyKey":"my-key"}
            {"target":"idempotentInvocation","service":"Counter","key":"k1","handler":"add","idempotencyKey":"idem-1"}
            {"target":"invocation","invocationId":"inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8"}"#,
            expect![[r#"
                Workflow { service: "Wf", key: "w1" }
                  inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8
                Idempotent { service: "Greeter", key: None, handler: "greet", idempotency_key: "my-key" }
                  inv_11x6cJlusUs54YqNdo5AAzdYrYOmeoHQrU
                Idempotent { service: "Counter", key: Some("k1"), handler: "add", idempotency_key: "idem-1" }
                  inv_1foAirY4KKzi0XqKwft6YemHoMs0867T1j
                Id(inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8)
                  inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8
            "#]],
        );
    }

    #[test]
    fn bodies_that_name_nothing() {
        check(
            r#"{"target":"workflow","workflowName":"Wf"}
            {"target":"workflow","workflowName":"Wf","workflowKey":"w1","scope":"s"}
            {"target":"invocation","invocationId":"inv_1"}
            {"target":"signal"}
            []

            {"#,
            expect![[r#"
                HF0127 the body does not name an invocation: missing field `workflowKey`
                HF0124 a scope is not supported: scopes and limit keys are not part of this server; leave it out
                HF0116 bad invocation id: `inv_1` is not an invocation id (inv_1 and 33 characters)
                HF0127 the body does not name an invocation: unknown variant `signal`, expected one of `workflow`, `idempotentInvocation`, `invocation` at line 1 column 18
                HF0127 the body does not name an invocation: missing field `target` at line 1 column 2
                HF0127 the body does not name an invocation: EOF while parsing a value at line 1 column 0
                HF0127 the body does not name an invocation: EOF while parsing an object at line 1 column 1
            "#]],
        );
    }
}
