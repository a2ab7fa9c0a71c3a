//! Whom a call calls: its target and the id of the new invocation, as the machine derives them.

use super::super::source::{Catalog, Service};
use holdfast_machine::id::InvocationId;
use holdfast_wire::manifest::{HandlerType, ServiceType};
use serde_json::{Value, json};

/// Of which entry a call is, and what can be called.
pub struct Called<'a> {
    pub id: InvocationId,
    pub entry: u32,
    pub catalog: &'a Catalog,
}

/// What is sent with a call.
pub struct Sent<'a> {
    pub idempotency_key: Option<&'a str>,
    pub headers: Value,
    pub parameter: Value,
}

impl Called<'_> {
    /// With all fields that existing tools insist on: no traces are kept here, and retentions stand
    /// with the new invocation.
    pub fn request(&self, service: &str, key: &str, handler: &str, sent: &Sent<'_>) -> Value {
        let none = json!({ "secs": 0, "nanos": 0 });
        json!({
            "invocation_id": self.callee(service, key, handler, sent.idempotency_key),
            "invocation_target": self.target(service, key, handler),
            "span_context": {
                "span_context": { "trace_id": vec![0; 16], "span_id": vec![0; 8], "trace_flags": 0,
                    "is_remote": false, "trace_state": "" },
                "cause": null,
            },
            "parameter": sent.parameter,
            "headers": sent.headers,
            "idempotency_key": sent.idempotency_key,
            "completion_retention_duration": none,
            "journal_retention_duration": none,
        })
    }

    fn handler_type(&self, service: &str, handler: &str) -> Option<HandlerType> {
        let handlers = &self.catalog.service(service)?.handlers;
        handlers.iter().find(|(name, _)| name == handler).map(|(_, ty)| *ty)
    }

    /// An object may have the empty key; what is not registered any more is taken by its key.
    fn key<'k>(&self, service: &str, key: &'k str) -> Option<&'k str> {
        let is_keyed = match self.catalog.service(service) {
            Some(service) => service.ty != ServiceType::Service,
            None => !key.is_empty(),
        };
        is_keyed.then_some(key)
    }

    pub fn target(&self, service: &str, key: &str, handler: &str) -> Value {
        let ty = self.handler_type(service, handler);
        let Some(key) = self.key(service, key) else {
            return json!({ "Service": { "name": service, "handler": handler, "scope": null } });
        };
        let is_workflow = |it: &Service| it.ty == ServiceType::Workflow;
        let (kind, only) = match self.catalog.service(service).is_some_and(is_workflow) {
            true => ("Workflow", "Workflow"),
            false => ("VirtualObject", "Exclusive"),
        };
        let ty = if ty == Some(HandlerType::Shared) { "Shared" } else { only };
        json!({ kind: { "name": service, "key": key, "handler": handler, "handler_ty": ty,
            "scope": null } })
    }

    /// As the machine derives it.
    pub fn callee(
        &self,
        service: &str,
        key: &str,
        handler: &str,
        idempotency: Option<&str>,
    ) -> Value {
        let key = self.key(service, key);
        let is_run = self.handler_type(service, handler) == Some(HandlerType::Workflow);
        let id = match (key, idempotency) {
            (Some(key), _) if is_run => InvocationId::workflow(service, key),
            (_, Some(idempotency)) => InvocationId::idempotent(service, key, handler, idempotency),
            _ => InvocationId::child(self.id, self.entry, key),
        };
        id.to_string().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use holdfast_machine::id::{DeploymentId, PartitionKey};

    fn service(ty: ServiceType, name: &str, handlers: &[(&str, HandlerType)]) -> Service {
        Service {
            name: name.into(),
            revision: 1,
            public: true,
            ty,
            deployment: DeploymentId(1),
            handlers: handlers.iter().map(|(name, ty)| ((*name).into(), *ty)).collect(),
        }
    }

    #[test]
    fn targets_and_ids_are_those_of_the_machine() {
        let objects = [("add", HandlerType::Exclusive), ("get", HandlerType::Shared)];
        let flows = [("run", HandlerType::Workflow), ("get", HandlerType::Shared)];
        let catalog = Catalog {
            deployments: vec![],
            services: vec![
                service(ServiceType::Service, "Svc", &[("h", HandlerType::Service)]),
                service(ServiceType::VirtualObject, "Obj", &objects),
                service(ServiceType::Workflow, "Flow", &flows),
            ],
        };
        let id = InvocationId { partition_key: PartitionKey(1), uuid: 2 };
        let called = Called { id, entry: 3, catalog: &catalog };
        let check = |(service, key, handler), idempotency, target: &str, id: InvocationId| {
            assert_eq!(called.target(service, key, handler).to_string(), target);
            assert_eq!(called.callee(service, key, handler, idempotency), json!(id.to_string()));
        };
        let child = |key| InvocationId::child(id, 3, key);
        check(
            ("Svc", "", "h"),
            None,
            r#"{"Service":{"name":"Svc","handler":"h","scope":null}}"#,
            child(None),
        );
        check(
            ("Obj", "", "get"),
            None,
            r#"{"VirtualObject":{"name":"Obj","key":"","handler":"get","handler_ty":"Shared","scope":null}}"#,
            child(Some("")),
        );
        check(
            ("Obj", "k", "add"),
            Some("i"),
            r#"{"VirtualObject":{"name":"Obj","key":"k","handler":"add","handler_ty":"Exclusive","scope":null}}"#,
            InvocationId::idempotent("Obj", Some("k"), "add", "i"),
        );
        check(
            ("Flow", "k", "run"),
            Some("i"),
            r#"{"Workflow":{"name":"Flow","key":"k","handler":"run","handler_ty":"Workflow","scope":null}}"#,
            InvocationId::workflow("Flow", "k"),
        );
        check(
            ("Gone", "k", "h"),
            None,
            r#"{"VirtualObject":{"name":"Gone","key":"k","handler":"h","handler_ty":"Exclusive","scope":null}}"#,
            child(Some("k")),
        );
    }
}
