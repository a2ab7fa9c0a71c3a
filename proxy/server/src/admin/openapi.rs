//! What callers of a service can send to the ingress, as OpenAPI 3.1.

use crate::registry::{Handler, Service};
use holdfast_wire::manifest::ServiceType;
use serde_json::{Map, Value, json};

/// The document of one service; `ingress` is where clients reach the ingress.
pub(super) fn document(service: &Service, ingress: Option<&str>) -> Value {
    let mut paths = Map::new();
    for handler in service.handlers.values() {
        let target = target(service, handler);
        paths.insert(format!("/restate/call/{target}"), call(service, handler));
        paths.insert(format!("/restate/send/{target}"), send(service, handler));
    }
    let mut document = json!({
        "openapi": "3.1.0",
        "info": { "title": service.name, "version": service.revision.to_string() },
        "paths": paths,
        "components": { "schemas": { "RestateError": error_schema(), "Send": send_schema() } },
    });
    if let Some(text) = &service.documentation {
        document["info"]["description"] = text.as_str().into();
    }
    if let Some(ingress) = ingress {
        document["servers"] = json!([{ "url": ingress, "description": "Ingress" }]);
    }
    document
}

fn target(service: &Service, handler: &Handler) -> String {
    match service.ty {
        ServiceType::Service => format!("{}/{}", service.name, handler.name),
        ServiceType::VirtualObject | ServiceType::Workflow => {
            format!("{}/{{key}}/{}", service.name, handler.name)
        }
    }
}

fn call(service: &Service, handler: &Handler) -> Value {
    let mut answer = json!({ "description": "The output of the handler" });
    if let Some(content_type) = &handler.output.content_type {
        let schema = handler.output.json_schema.clone().unwrap_or_else(|| json!({}));
        answer["content"] = json!({ content_type: { "schema": schema } });
    }
    operation(service, handler, "Call and wait for the output", ("200", answer))
}

fn send(service: &Service, handler: &Handler) -> Value {
    let answer = json!({
        "description": "Accepted",
        "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Send" } } },
    });
    let mut path = operation(service, handler, "Send and do not wait", ("202", answer));
    let delay = json!({
        "name": "delay", "in": "query", "required": false, "schema": { "type": "string" },
        "description": "Start so much later: 10s, 1h 30m, PT3H",
    });
    if let Some(Value::Array(parameters)) = path["post"].get_mut("parameters") {
        parameters.push(delay);
    }
    path
}

fn operation(
    service: &Service,
    handler: &Handler,
    summary: &str,
    (status, answer): (&str, Value),
) -> Value {
    let mut parameters = vec![json!({
        "name": "idempotency-key", "in": "header", "required": false,
        "schema": { "type": "string" },
    })];
    if service.ty.is_keyed() {
        let key = json!({
            "name": "key", "in": "path", "required": true, "schema": { "type": "string" },
        });
        parameters.insert(0, key);
    }
    let failure = json!({
        "description": "Failed",
        "content": {
            "application/json": { "schema": { "$ref": "#/components/schemas/RestateError" } },
        },
    });
    let mut post = json!({
        "summary": summary,
        "operationId": format!("{}-{}-{status}", service.name, handler.name),
        "parameters": parameters,
        "responses": { status: answer, "default": failure },
    });
    if let Some(content_type) = &handler.input.content_type {
        let schema = handler.input.json_schema.clone().unwrap_or_else(|| json!({}));
        post["requestBody"] = json!({
            "required": handler.input.required,
            "content": { content_type: { "schema": schema } },
        });
    }
    if let Some(text) = &handler.documentation {
        post["description"] = text.as_str().into();
    }
    json!({ "post": post })
}

fn error_schema() -> Value {
    json!({
        "type": "object",
        "required": ["message"],
        "properties": {
            "code": { "type": "integer" },
            "message": { "type": "string" },
            "source": { "type": "string", "enum": ["ingress", "invocation"] },
        },
    })
}

fn send_schema() -> Value {
    json!({
        "type": "object",
        "required": ["invocationId", "status"],
        "properties": {
            "invocationId": { "type": "string" },
            "status": { "type": "string", "enum": ["Accepted", "PreviouslyAccepted"] },
            "executionTime": { "type": "string", "format": "date-time" },
        },
    })
}
