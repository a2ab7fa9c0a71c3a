//! What a card says, and how it is told.

use super::*;
use crate::clock::Manual;
use crate::registry::exposure::{self, Exposed};
use crate::registry::{Declared, Handler, Options, Schema, Service};
use expect_test::{Expect, expect};
use holdfast_machine::{id::DeploymentId, retry::RetryPolicy};
use holdfast_wire::manifest::{HandlerType, Input, Output, ServiceType};
use http::Request;
use std::{collections::BTreeMap, time::Duration};

type Metadata<'m> = &'m [(&'m str, &'m str)];

fn metadata(said: Metadata<'_>) -> BTreeMap<String, String> {
    said.iter().map(|(name, value)| (format!("holdfast.{name}"), (*value).to_owned())).collect()
}

fn handler(name: &str, documentation: Option<&str>, said: Metadata<'_>) -> Handler {
    let options = Options {
        inactivity_timeout: Duration::ZERO,
        abort_timeout: Duration::ZERO,
        journal_retention: Duration::ZERO,
        idempotency_retention: Duration::ZERO,
        workflow_completion_retention: Duration::ZERO,
        lazy_state: false,
        retry: RetryPolicy::default(),
    };
    let schema = json_value!({
        "type": "object", "properties": { "orderId": { "type": "string" } },
        "required": ["orderId"], "examples": [{ "orderId": "o-1" }],
    });
    let content_type = Some("application/json".to_owned());
    let input = Input { required: true, content_type, json_schema: Some(schema) };
    Handler {
        name: name.to_owned(),
        ty: HandlerType::Service,
        public: true,
        documentation: documentation.map(str::to_owned),
        metadata: metadata(said),
        input,
        output: Output::default(),
        options,
        declared: Declared::default(),
        cuts: vec![],
    }
}

fn exposed(said: Metadata<'_>, handlers: Vec<Handler>) -> Vec<Arc<Exposed>> {
    let options = handlers[0].options.clone();
    let handlers = handlers.into_iter().map(|it| (it.name.clone(), Arc::new(it))).collect();
    let service = Service {
        name: "Refunds".to_owned(),
        ty: ServiceType::Service,
        revision: 3,
        deployment: DeploymentId(1),
        public: true,
        documentation: None,
        metadata: metadata(said),
        handlers,
        options,
        cuts: vec![],
    };
    let services = [("Refunds".to_owned(), Arc::new(service))];
    let schema = Schema { services: services.into(), ..Schema::default() };
    let catalogue = exposure::catalogue(&schema, &exposure::Config::default(), 1);
    catalogue.shown(exposure::Bridge::A2a, true).cloned().collect()
}

fn subject(skills: &[Arc<Exposed>]) -> Subject<'_> {
    Subject {
        name: "refunds",
        title: None,
        description: None,
        skills,
        extensions: vec![],
        streaming: true,
        push: false,
    }
}

const READER: Reader<'_> =
    Reader { url: "http://127.0.0.1:8080/a2a/refunds", extended: false, tokens: false };

fn check(config: &Config, skills: &[Arc<Exposed>], reader: Reader<'_>, expected: Expect) {
    let card = build::card(config, &subject(skills), reader);
    expected.assert_eq(&serde_json::to_string_pretty(&json(&card)).unwrap());
}

#[test]
fn what_nobody_says_is_derived() {
    let skills = exposed(&[], vec![handler("refund", None, &[])]);
    check(
        &Config::default(),
        &skills,
        READER,
        expect![[r#"
        {
          "name": "refunds",
          "description": "The durable service `Refunds`.",
          "supportedInterfaces": [
            {
              "url": "http://127.0.0.1:8080/a2a/refunds",
              "protocolBinding": "JSONRPC",
              "protocolVersion": "1.0"
            },
            {
              "url": "http://127.0.0.1:8080/a2a/refunds",
              "protocolBinding": "HTTP+JSON",
              "protocolVersion": "1.0"
            },
            {
              "url": "127.0.0.1:8080",
              "protocolBinding": "GRPC",
              "tenant": "refunds",
              "protocolVersion": "1.0"
            }
          ],
          "version": "3.0.0",
          "capabilities": {
            "streaming": true,
            "pushNotifications": false,
            "extensions": [
              {
                "uri": "urn:holdfast:a2a:schemas:1",
                "description": "JSON schemas of what each skill takes and gives",
                "params": {
                  "skills": {
                    "refund": {
                      "input": {
                        "type": "object",
                        "properties": {
                          "orderId": {
                            "type": "string"
                          }
                        },
                        "required": [
                          "orderId"
                        ],
                        "examples": [
                          {
                            "orderId": "o-1"
                          }
                        ]
                      }
                    }
                  }
                }
              }
            ],
            "extendedAgentCard": false
          },
          "defaultInputModes": [
            "application/json",
            "text/plain"
          ],
          "defaultOutputModes": [
            "application/json",
            "text/plain"
          ],
          "skills": [
            {
              "id": "refund",
              "name": "refund",
              "description": "Calls `refund` of `Refunds`.",
              "tags": [
                "Refunds"
              ],
              "examples": [
                "{\"orderId\":\"o-1\"}"
              ]
            }
          ]
        }"#]],
    );
}

#[test]
fn what_is_said_is_told() {
    let refund = handler(
        "refund",
        Some("Asks, then pays back."),
        &[("skill", "pay-back"), ("title", "Pay back"), ("tags", "orders, money,")],
    );
    let secret = handler(
        "audit",
        None,
        &[("card", "extended"), ("examples", "Audit o-1\nAudit all\n"), ("version", "2.1.0")],
    );
    let skills = exposed(&[], vec![refund, secret]);
    let config = Config {
        provider: Some(model::AgentProvider {
            organization: "Example".into(),
            url: "https://example.com".into(),
        }),
        icon_url: Some("https://example.com/icon.png".into()),
        documentation_url: Some("https://example.com/docs".into()),
        bindings: vec![Binding::Grpc, Binding::Jsonrpc],
        schemas: Shown::Nobody,
        extended: true,
        ..Config::default()
    };
    let root = Reader { url: "https://agents.example.com", extended: true, tokens: true };
    check(
        &config,
        &skills,
        root,
        expect![[r#"
        {
          "name": "refunds",
          "description": "The durable service `Refunds`.",
          "supportedInterfaces": [
            {
              "url": "agents.example.com:443",
              "protocolBinding": "GRPC",
              "protocolVersion": "1.0"
            },
            {
              "url": "https://agents.example.com",
              "protocolBinding": "JSONRPC",
              "protocolVersion": "1.0"
            }
          ],
          "provider": {
            "organization": "Example",
            "url": "https://example.com"
          },
          "version": "2.1.0",
          "documentationUrl": "https://example.com/docs",
          "capabilities": {
            "streaming": true,
            "pushNotifications": false,
            "extendedAgentCard": true
          },
          "securitySchemes": {
            "bearer": {
              "httpAuthSecurityScheme": {
                "scheme": "Bearer"
              }
            }
          },
          "securityRequirements": [
            {
              "schemes": {
                "bearer": {}
              }
            }
          ],
          "defaultInputModes": [
            "application/json",
            "text/plain"
          ],
          "defaultOutputModes": [
            "application/json",
            "text/plain"
          ],
          "skills": [
            {
              "id": "audit",
              "name": "audit",
              "description": "Calls `audit` of `Refunds`.",
              "tags": [
                "Refunds"
              ],
              "examples": [
                "Audit o-1",
                "Audit all"
              ]
            },
            {
              "id": "pay-back",
              "name": "Pay back",
              "description": "Asks, then pays back.",
              "tags": [
                "orders",
                "money"
              ],
              "examples": [
                "{\"orderId\":\"o-1\"}"
              ]
            }
          ],
          "iconUrl": "https://example.com/icon.png"
        }"#]],
    );
    let public = build::card(&config, &subject(&skills), READER);
    assert_eq!(public.skills.len(), 1, "the audit is for those who have shown who they are");
}

#[test]
fn addresses_of_grpc_have_a_port() {
    let grpc = |url: &str| {
        let config = Config { bindings: vec![Binding::Grpc], ..Config::default() };
        let card = build::card(&config, &subject(&[]), Reader { url, ..READER });
        let interface = &card.supported_interfaces[0];
        format!("{} {}", interface.url, interface.tenant)
    };
    assert_eq!(grpc("http://127.0.0.1:8080/a2a/x"), "127.0.0.1:8080 refunds");
    assert_eq!(grpc("https://a.example/a2a/x"), "a.example:443 refunds");
    assert_eq!(grpc("http://[::1]/a2a/x"), "[::1]:80 refunds");
    assert_eq!(grpc("http://[::1]:9"), "[::1]:9 ");
}

fn asked(method: &str, known: Option<&str>) -> Parts {
    let mut request = Request::builder().method(method).uri("/.well-known/agent-card.json");
    if let Some(known) = known {
        request = request.header(IF_NONE_MATCH, known);
    }
    request.body(()).unwrap().into_parts().0
}

#[tokio::test]
async fn caches_are_told_what_they_need() {
    let clock = Arc::new(Manual::new(Timestamp(1_800_000_000_000)));
    let cards = Cards::new(Config::default(), clock.clone()).unwrap();
    let skills = exposed(&[], vec![handler("refund", None, &[])]);
    let answer = |head: &Parts| cards.answer(&subject(&skills), READER, head);

    let first = answer(&asked("GET", None));
    assert_eq!(first.status(), 200);
    let headers = first.headers().clone();
    assert_eq!(headers[CONTENT_TYPE], "application/json");
    assert_eq!(headers[CACHE_CONTROL], "public, max-age=300");
    assert_eq!(headers[LAST_MODIFIED], "Fri, 15 Jan 2027 08:00:00 GMT");
    let tag = headers[ETAG].to_str().unwrap().to_owned();
    let body = crate::http::read_body(first.into_body(), 1 << 20).await.unwrap();
    assert_eq!(headers[CONTENT_LENGTH], body.len().to_string().as_str());
    let read: serde_json::Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(read["name"], "refunds");

    clock.advance(Duration::from_secs(60));
    let head = answer(&asked("HEAD", None));
    assert_eq!(head.headers(), &headers, "nothing has changed since");
    let known = format!("\"x\", W/{tag}");
    for known in [tag.as_str(), &known, "*"] {
        let answer = answer(&asked("GET", Some(known)));
        assert_eq!((answer.status().as_u16(), &answer.headers()[ETAG]), (304, &headers[ETAG]));
        assert!(!answer.headers().contains_key(CONTENT_TYPE));
    }
    assert_eq!(answer(&asked("GET", Some("\"x\""))).status(), 200);
    let posted = answer(&asked("POST", None));
    assert_eq!(
        (posted.status().as_u16(), &posted.headers()[ALLOW]),
        (405, &"GET, HEAD".parse().unwrap())
    );

    let other = exposed(&[], vec![handler("refund", Some("New words."), &[])]);
    let changed = cards.answer(&subject(&other), READER, &asked("GET", Some(&tag)));
    assert_eq!(changed.status(), 200);
    assert_eq!(changed.headers()[LAST_MODIFIED], "Fri, 15 Jan 2027 08:01:00 GMT");
    let keys = cards.keys(&asked("GET", None));
    let keys = crate::http::read_body(keys.into_body(), 1 << 20).await.unwrap();
    assert_eq!(&*keys, br#"{"keys":[]}"#);
}
