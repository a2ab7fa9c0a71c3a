//! Manifests: what is taken and how it is understood, what is refused and in which words.

use expect_test::{Expect, expect};
use holdfast_wire::manifest::{ACCEPT, Handler, Manifest, ManifestVersion, Service};
use serde_json::{Value, json};

/// A manifest around these services.
pub fn manifest(services: Value) -> Value {
    json!({
        "protocolMode": "BIDI_STREAM",
        "minProtocolVersion": 5,
        "maxProtocolVersion": 7,
        "services": services,
    })
}

/// A manifest of one plain service with one handler, which has these fields besides its name.
pub fn handler(fields: Value) -> Value {
    of_type("SERVICE", fields)
}

pub fn of_type(ty: &str, fields: Value) -> Value {
    let mut handler = fields;
    handler["name"] = "h".into();
    manifest(json!([{"name": "S", "ty": ty, "handlers": [handler]}]))
}

pub fn parse(manifest: &Value) -> Result<Manifest, String> {
    let body = serde_json::to_vec(manifest).unwrap();
    Manifest::parse(ManifestVersion::V4.content_type(), &body).map_err(|error| error.to_string())
}

pub fn check(manifest: Value, expected: Expect) {
    let shown = match parse(&manifest) {
        Err(refusal) => refusal,
        Ok(manifest) => manifest.services.iter().map(show).collect::<Vec<_>>().join("\n"),
    };
    expected.assert_eq(&shown);
}

fn show(service: &Service) -> String {
    let handlers: Vec<_> = service.handlers.iter().map(show_handler).collect();
    format!("{} {}: {}", service.ty, service.name, handlers.join(", "))
}

fn show_handler(handler: &Handler) -> String {
    format!("{} ({})", handler.name, handler.ty)
}

#[test]
fn a_captured_manifest_is_understood_whole() {
    let body = br#"{"minProtocolVersion":5,"maxProtocolVersion":7,"services":[{"name":"G","ty":"SERVICE","handlers":[{"name":"g","input":{"required":false,"contentType":"application/json"},"output":{"setContentTypeIfEmpty":false,"contentType":"application/json"}}]}],"protocolMode":"BIDI_STREAM"}"#;
    let manifest = Manifest::parse(ManifestVersion::V4.content_type(), body).unwrap();
    expect![[r#"
        Manifest {
            protocol_mode: BidiStream,
            min_protocol_version: 5,
            max_protocol_version: 7,
            lambda_compression: None,
            services: [
                Service {
                    name: "G",
                    ty: Service,
                    handlers: [
                        Handler {
                            name: "g",
                            ty: Service,
                            input: Input {
                                required: false,
                                content_type: Some(
                                    "application/json",
                                ),
                                json_schema: None,
                            },
                            output: Output {
                                content_type: Some(
                                    "application/json",
                                ),
                                set_content_type_if_empty: false,
                                json_schema: None,
                            },
                            workflow_completion_retention_ms: None,
                            options: Options {
                                documentation: None,
                                metadata: {},
                                inactivity_timeout_ms: None,
                                abort_timeout_ms: None,
                                journal_retention_ms: None,
                                idempotency_retention_ms: None,
                                enable_lazy_state: None,
                                ingress_private: None,
                                retry: RetryPolicy {
                                    initial_interval_ms: None,
                                    max_interval_ms: None,
                                    max_attempts: None,
                                    exponentiation_factor: None,
                                    on_max_attempts: None,
                                },
                            },
                        },
                    ],
                    options: Options {
                        documentation: None,
                        metadata: {},
                        inactivity_timeout_ms: None,
                        abort_timeout_ms: None,
                        journal_retention_ms: None,
                        idempotency_retention_ms: None,
                        enable_lazy_state: None,
                        ingress_private: None,
                        retry: RetryPolicy {
                            initial_interval_ms: None,
                            max_interval_ms: None,
                            max_attempts: None,
                            exponentiation_factor: None,
                            on_max_attempts: None,
                        },
                    },
                },
            ],
        }
    "#]]
    .assert_debug_eq(&manifest);
}

#[test]
fn every_field_is_read_and_written_again() {
    let written = json!({
        "protocolMode": "REQUEST_RESPONSE",
        "minProtocolVersion": 5,
        "maxProtocolVersion": 6,
        "lambdaCompression": "zstd",
        "services": [{
            "name": "Orders.v-1_",
            "ty": "WORKFLOW",
            "handlers": [{
                "name": "run",
                "ty": "WORKFLOW",
                "input": {"required": true, "contentType": "text/*", "jsonSchema": {"type": "string"}},
                "output": {"contentType": "a/b", "setContentTypeIfEmpty": true, "jsonSchema": true},
                "workflowCompletionRetention": 10,
                "documentation": "runs",
                "metadata": {"a": "b"},
                "inactivityTimeout": 0,
                "abortTimeout": 2,
                "journalRetention": 3,
                "enableLazyState": false,
                "ingressPrivate": true,
                "retryPolicyInitialInterval": 5,
                "retryPolicyMaxInterval": 6,
                "retryPolicyMaxAttempts": 7,
                "retryPolicyExponentiationFactor": 1.5,
                "retryPolicyOnMaxAttempts": "KILL",
            }],
            "documentation": "orders",
            "metadata": {"c": "d"},
            "inactivityTimeout": 11,
            "abortTimeout": 12,
            "journalRetention": 13,
            "idempotencyRetention": 14,
            "enableLazyState": true,
            "ingressPrivate": true,
            "retryPolicyInitialInterval": 15,
            "retryPolicyMaxInterval": 16,
            "retryPolicyMaxAttempts": 17,
            "retryPolicyExponentiationFactor": 18.0,
            "retryPolicyOnMaxAttempts": "PAUSE",
        }],
    });
    let manifest = parse(&written).unwrap();
    assert_eq!(serde_json::to_value(&manifest).unwrap(), written);
    assert_eq!(serde_json::from_value::<Manifest>(written).unwrap(), manifest);
}

#[test]
fn what_a_handler_says_goes_over_what_its_service_says() {
    let manifest = manifest(json!([{
        "name": "S", "ty": "VIRTUAL_OBJECT", "documentation": "of the service",
        "inactivityTimeout": 1, "abortTimeout": 2, "enableLazyState": true,
        "retryPolicyMaxAttempts": 3, "retryPolicyMaxInterval": 4,
        "handlers": [{"name": "h", "abortTimeout": 20, "enableLazyState": false,
                      "retryPolicyMaxAttempts": 30}],
    }]));
    let service = parse(&manifest).unwrap().services.remove(0);
    let resolved = service.handlers[0].options.over(&service.options);
    let expected = json!({
        "inactivityTimeout": 1, "abortTimeout": 20, "enableLazyState": false,
        "retryPolicyMaxAttempts": 30, "retryPolicyMaxInterval": 4,
    });
    assert_eq!(serde_json::to_value(resolved).unwrap(), expected);
}

#[test]
fn types_of_handlers() {
    for service in ["SERVICE", "VIRTUAL_OBJECT", "WORKFLOW"] {
        assert_eq!(
            parse(&of_type(service, json!({}))),
            parse(&of_type(service, json!({"ty": null}))),
        );
    }
    check(handler(json!({})), expect!["service S: h (service)"]);
    check(handler(json!({"ty": "SHARED"})), expect!["service S: h (service)"]);
    check(
        handler(json!({"ty": "EXCLUSIVE"})),
        expect!["handler `S/h`: type `exclusive` does not go with a service; expected no type"],
    );
    check(
        handler(json!({"ty": "WORKFLOW"})),
        expect!["handler `S/h`: type `workflow` does not go with a service; expected no type"],
    );
    check(of_type("VIRTUAL_OBJECT", json!({})), expect!["virtual object S: h (exclusive)"]);
    check(
        of_type("VIRTUAL_OBJECT", json!({"ty": "EXCLUSIVE"})),
        expect!["virtual object S: h (exclusive)"],
    );
    check(
        of_type("VIRTUAL_OBJECT", json!({"ty": "SHARED"})),
        expect!["virtual object S: h (shared)"],
    );
    check(
        of_type("VIRTUAL_OBJECT", json!({"ty": "WORKFLOW"})),
        expect![
            "handler `S/h`: type `workflow` does not go with a virtual object; expected `exclusive` or `shared`"
        ],
    );
    check(of_type("WORKFLOW", json!({})), expect!["workflow S: h (shared)"]);
    check(of_type("WORKFLOW", json!({"ty": "WORKFLOW"})), expect!["workflow S: h (workflow)"]);
    check(of_type("WORKFLOW", json!({"ty": "SHARED"})), expect!["workflow S: h (shared)"]);
    check(
        of_type("WORKFLOW", json!({"ty": "EXCLUSIVE"})),
        expect![
            "handler `S/h`: type `exclusive` does not go with a workflow; expected `workflow` or `shared`"
        ],
    );
    check(
        of_type("SERVICE", json!({"ty": "SERVICE"})),
        expect![
            "handler `S/h`: field `ty`: unknown variant `SERVICE`, expected one of `WORKFLOW`, `EXCLUSIVE`, `SHARED`"
        ],
    );
    check(
        of_type("THING", json!({})),
        expect![
            "service `S`: field `ty`: unknown variant `THING`, expected one of `SERVICE`, `VIRTUAL_OBJECT`, `WORKFLOW`"
        ],
    );
}

#[test]
fn unknown_fields_are_skipped_and_null_is_nothing() {
    let mut manifest = handler(json!({
        "new": 1, "input": null, "output": null, "abortTimeout": null, "metadata": null,
        "retryPolicyMaxAttempts": null,
    }));
    manifest["newer"] = json!({"a": []});
    manifest["services"][0]["newest"] = json!([]);
    assert_eq!(parse(&manifest), parse(&handler(json!({}))));
}

#[test]
fn names_of_services() {
    let named = |name: &str| manifest(json!([{"name": name, "ty": "SERVICE", "handlers": []}]));
    for name in ["Greeter", "g", "_1", "a.b-c_d", "restful", "holdfasts", "Mcp", "openapi2"] {
        assert_eq!(parse(&named(name)).map(|manifest| manifest.services.len()), Ok(1), "{name}");
    }
    for name in ["", "_", "__", "1a", "-a", "a/b", "a b", "ä", "a\n"] {
        let refusal = parse(&named(name)).unwrap_err();
        assert!(refusal.contains("name is not allowed"), "{name:?}: {refusal}");
    }
    check(
        named("1a"),
        expect![
            "service `1a`: name is not allowed; expected a letter, then letters, digits, `_`, `.` and `-`; rename the service"
        ],
    );
    check(
        named("ReState.Internal"),
        expect![
            "service `ReState.Internal`: names that begin with `restate` are reserved; rename the service"
        ],
    );
    check(
        named("Holdfast.Human"),
        expect![
            "service `Holdfast.Human`: names that begin with `holdfast.` are reserved; rename the service"
        ],
    );
    check(
        named("OpenAPI"),
        expect![
            "service `OpenAPI`: it could not be called, since `/openapi` is an address of the sidecar itself; rename the service"
        ],
    );
    check(
        named("mcp"),
        expect![
            "service `mcp`: it could not be called, since `/mcp` is an address of the sidecar itself; rename the service"
        ],
    );
    check(
        named("a2a"),
        expect![
            "service `a2a`: it could not be called, since `/a2a` is an address of the sidecar itself; rename the service"
        ],
    );
    check(
        named("holdfast"),
        expect![
            "service `holdfast`: it could not be called, since `/holdfast` is an address of the sidecar itself; rename the service"
        ],
    );
    check(
        named(".well-known"),
        expect![
            "service `.well-known`: it could not be called, since `/.well-known` is an address of the sidecar itself; rename the service"
        ],
    );
}

#[test]
fn names_of_handlers() {
    let named = |name: &str| {
        manifest(json!([{"name": "S", "ty": "SERVICE", "handlers": [{"name": name}]}]))
    };
    for name in ["greet", "g", "_1", "a_b", "restate", "mcp"] {
        assert_eq!(parse(&named(name)).map(|manifest| manifest.services.len()), Ok(1), "{name}");
    }
    for name in ["", "_", "1a", "a.b", "a-b", "a/b", "ä"] {
        let refusal = parse(&named(name)).unwrap_err();
        assert!(refusal.contains("name is not allowed"), "{name:?}: {refusal}");
    }
    check(
        named("a-b"),
        expect![
            "handler `S/a-b`: name is not allowed; expected a letter, then letters, digits and `_`; rename the handler"
        ],
    );
}

#[test]
fn names_appear_once_and_are_there() {
    let service = json!({"name": "S", "ty": "SERVICE", "handlers": []});
    check(
        manifest(json!([service, service])),
        expect!["service `S`: name appears twice in the manifest; names must differ"],
    );
    let twice = json!({"name": "S", "ty": "SERVICE", "handlers": [{"name": "h"}, {"name": "h"}]});
    check(
        manifest(json!([twice])),
        expect!["handler `S/h`: name appears twice in the service; names must differ"],
    );
    check(
        manifest(json!([{"ty": "SERVICE", "handlers": []}])),
        expect!["service 1 of the manifest has no name; expected the field `name`"],
    );
    let nameless = json!({"name": "S", "ty": "SERVICE", "handlers": [{"name": "h"}, {"name": 3}]});
    check(
        manifest(json!([nameless])),
        expect!["service `S`: handler 2 has no name; expected the field `name`"],
    );
}

#[test]
fn options_that_do_not_go_together() {
    let run = |fields| of_type("WORKFLOW", fields);
    check(
        run(json!({"ty": "WORKFLOW", "idempotencyRetention": 1})),
        expect![
            "handler `S/h`: idempotencyRetention means nothing for the run of a workflow; use workflowCompletionRetention"
        ],
    );
    check(
        run(json!({"ty": "SHARED", "idempotencyRetention": 1})),
        expect!["workflow S: h (shared)"],
    );
    check(
        run(json!({"ty": "WORKFLOW", "workflowCompletionRetention": 1})),
        expect!["workflow S: h (workflow)"],
    );
    check(
        run(json!({"ty": "SHARED", "workflowCompletionRetention": 1})),
        expect![
            "handler `S/h`: workflowCompletionRetention is only for the run of a workflow; leave it out"
        ],
    );
    check(
        handler(json!({"workflowCompletionRetention": 1})),
        expect![
            "handler `S/h`: workflowCompletionRetention is only for the run of a workflow; leave it out"
        ],
    );

    let mut private = handler(json!({"ingressPrivate": false}));
    check(private.clone(), expect!["service S: h (service)"]);
    private["services"][0]["ingressPrivate"] = true.into();
    check(
        private.clone(),
        expect![
            "handler `S/h`: ingressPrivate is false but the service is private; a handler cannot be more public than its service"
        ],
    );
    private["services"][0]["handlers"][0]["ingressPrivate"] = true.into();
    check(private, expect!["service S: h (service)"]);
}

#[test]
fn fields_that_cannot_be_read() {
    check(
        handler(json!({"abortTimeout": -1})),
        expect!["handler `S/h`: field `abortTimeout`: invalid value: integer `-1`, expected u64"],
    );
    check(
        handler(json!({"abortTimeout": "1s"})),
        expect![[
            r#"handler `S/h`: field `abortTimeout`: invalid type: string "1s", expected u64"#
        ]],
    );
    check(
        handler(json!({"retryPolicyOnMaxAttempts": "STOP"})),
        expect![
            "handler `S/h`: field `retryPolicyOnMaxAttempts`: unknown variant `STOP`, expected `PAUSE` or `KILL`"
        ],
    );
    check(
        handler(json!({"metadata": {"a": 1}})),
        expect!["handler `S/h`: field `metadata`: invalid type: integer `1`, expected a string"],
    );
    check(
        manifest(json!([{"name": "S", "ty": "SERVICE"}])),
        expect!["service `S`: missing field `handlers`"],
    );
    check(
        manifest(json!([{"name": "S", "handlers": []}])),
        expect!["service `S`: missing field `ty`"],
    );
    check(
        manifest(json!([{"name": "S", "ty": "SERVICE", "handlers": {}}])),
        expect!["service `S`: field `handlers`: invalid type: map, expected a sequence"],
    );
    check(
        manifest(json!([1])),
        expect!["service 1 of the manifest has no name; expected the field `name`"],
    );
    check(json!([]), expect!["manifest cannot be read: expected an object"]);
    check(json!({}), expect!["manifest cannot be read: missing field `minProtocolVersion`"]);
}

#[test]
fn the_top_of_a_manifest() {
    let with = |field: &str, value: Value| {
        let mut manifest = manifest(json!([]));
        manifest[field] = value;
        manifest
    };
    check(
        with("protocolMode", Value::Null),
        expect![
            "manifest does not say its protocolMode; expected `BIDI_STREAM` or `REQUEST_RESPONSE`; update the SDK of the service"
        ],
    );
    check(
        with("protocolMode", "SMOKE".into()),
        expect![
            "manifest cannot be read: field `protocolMode`: unknown variant `SMOKE`, expected `BIDI_STREAM` or `REQUEST_RESPONSE`"
        ],
    );
    check(
        with("minProtocolVersion", 0.into()),
        expect![
            "manifest says protocol versions 0 to 7; expected a rising range from 1 to 2147483647"
        ],
    );
    check(
        with("minProtocolVersion", 8.into()),
        expect![
            "manifest says protocol versions 8 to 7; expected a rising range from 1 to 2147483647"
        ],
    );
    check(
        with("maxProtocolVersion", 2_147_483_648_u32.into()),
        expect![
            "manifest says protocol versions 5 to 2147483648; expected a rising range from 1 to 2147483647"
        ],
    );
    check(
        with("minProtocolVersion", (-1).into()),
        expect![
            "manifest says protocol versions -1 to 7; expected a rising range from 1 to 2147483647"
        ],
    );
    assert!(parse(&with("maxProtocolVersion", 2_147_483_647.into())).is_ok());
}

#[test]
fn content_types_of_manifests() {
    let body = serde_json::to_vec(&manifest(json!([]))).unwrap();
    for version in ManifestVersion::ALL {
        assert!(ACCEPT.contains(version.content_type()));
        assert!(Manifest::parse(version.content_type(), &body).is_ok());
    }
    for seen in ["application/json", "application/vnd.restate.endpointmanifest.v4+json; a=b", ""] {
        assert!(Manifest::parse(seen, &body).is_err(), "{seen}");
    }
    expect![[r#"discovery answered with content type "text/html"; expected application/vnd.restate.endpointmanifest.vN+json with N from 1 to 4; check that the address is that of a service"#]].assert_eq(&Manifest::parse("text/html", &body).unwrap_err().to_string());
    expect![
        "discovery answered with something that is not JSON: expected value at line 1 column 1"
    ]
    .assert_eq(
        &Manifest::parse(ManifestVersion::V4.content_type(), b"<html>").unwrap_err().to_string(),
    );
}
