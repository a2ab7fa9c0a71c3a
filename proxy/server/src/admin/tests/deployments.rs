//! Deployments, services and what is said about the server.

use super::bench::{Bench, Service};
use expect_test::expect;
use serde_json::Value;
use std::io::Read;

const SERVICES: &str = r#"[
    {"name":"Greeter","ty":"SERVICE","handlers":[{"name":"greet",
        "input":{"required":true,"contentType":"application/json","jsonSchema":{"type":"string"}},
        "inactivityTimeout":90000,"retryPolicyMaxAttempts":3}]},
    {"name":"Flow","ty":"WORKFLOW","handlers":[
        {"name":"run","ty":"WORKFLOW","workflowCompletionRetention":3600000},
        {"name":"peek","ty":"SHARED","output":{}}]}
]"#;

#[tokio::test]
async fn registration_answers_as_existing_tools_expect() {
    let (bench, service) = (Bench::start().await, Service::start(SERVICES).await);
    let (status, dry) = bench.register(&service, r#","dry_run":true"#).await;
    assert_eq!(
        (status, bench.json("GET", "/services", "").await.1["services"].clone()),
        (201, Value::Array(vec![]))
    );
    assert_eq!(dry["services"].as_array().unwrap().len(), 2);

    let (status, first) = bench.register(&service, "").await;
    assert_eq!(status, 201);
    let (status, same) = bench.register(&service, "").await;
    assert_eq!((status, &same["id"]), (200, &first["id"]));
    let (status, forced) = bench.register(&service, r#","force":true"#).await;
    assert_eq!((status, &forced["id"]), (200, &first["id"]));
    assert_eq!(forced["services"][0]["revision"], 2);
    bench.stop().await;
}

#[tokio::test]
async fn the_older_api_forces_by_default() {
    let (bench, service) = (Bench::start().await, Service::start(SERVICES).await);
    let body = format!(r#"{{"uri":"{}"}}"#, service.uri);
    assert_eq!(bench.call("POST", "/v2/deployments", &body).await.0, 201);
    assert_eq!(bench.call("POST", "/v2/deployments", &body).await.0, 201);
    let soft = format!(r#"{{"uri":"{}","force":false}}"#, service.uri);
    assert_eq!(bench.call("POST", "/v2/deployments", &soft).await.0, 409);
    assert_eq!(bench.call("POST", "/v3/deployments", &soft).await.0, 200);
    assert_eq!(bench.call("GET", "/v4/services", "").await.0, 200);
    assert_eq!(bench.call("GET", "/v1/services", "").await.0, 400);
    assert_eq!(bench.call("GET", "/v5/services", "").await, (404, String::new()));
    assert_eq!(bench.call("PUT", "/services", "").await.0, 405);
}

#[tokio::test]
async fn services_show_effective_values_and_handlers_their_own() {
    let (bench, service) = (Bench::start().await, Service::start(SERVICES).await);
    bench.register(&service, "").await;
    let (_, mut flow) = bench.json("GET", "/services/Flow", "").await;
    assert!(flow["deployment_id"].as_str().unwrap().starts_with("dp_1"));
    flow["deployment_id"] = "dp_…".into();
    expect![[r#"
        {
          "name": "Flow",
          "ty": "Workflow",
          "handlers": [
            {
              "name": "peek",
              "ty": "Shared",
              "public": true,
              "input_description": "*/*",
              "output_description": "none",
              "retry_policy": {
                "max_attempts": null
              }
            },
            {
              "name": "run",
              "ty": "Workflow",
              "workflow_completion_retention": "1h",
              "public": true,
              "input_description": "*/*",
              "output_description": "application/json",
              "retry_policy": {
                "max_attempts": null
              }
            }
          ],
          "deployment_id": "dp_…",
          "revision": 1,
          "public": true,
          "idempotency_retention": "1d",
          "workflow_completion_retention": "1h",
          "journal_retention": "1d",
          "inactivity_timeout": "1m",
          "abort_timeout": "10m",
          "enable_lazy_state": false,
          "retry_policy": {
            "initial_interval": "500ms",
            "exponentiation_factor": 2.0,
            "max_attempts": 70,
            "max_interval": "1m",
            "on_max_attempts": "Pause"
          }
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&flow).unwrap());
    let (_, greet) = bench.json("GET", "/services/Greeter/handlers/greet", "").await;
    expect![[r#"
        {
          "name": "greet",
          "inactivity_timeout": "1m 30s",
          "public": true,
          "input_description": "JSON string",
          "output_description": "application/json",
          "input_json_schema": {
            "type": "string"
          },
          "retry_policy": {
            "max_attempts": 3
          }
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&greet).unwrap());
    let (_, openapi) = bench.json("GET", "/services/Flow/openapi", "").await;
    let paths: Vec<_> = openapi["paths"].as_object().unwrap().keys().cloned().collect();
    expect![[r#"
        /restate/call/Flow/{key}/peek
        /restate/send/Flow/{key}/peek
        /restate/call/Flow/{key}/run
        /restate/send/Flow/{key}/run"#]]
    .assert_eq(&paths.join("\n"));
    assert_eq!(bench.json("GET", "/services/Greeter/handlers/nope", "").await.0, 404);
    let (status, error) = bench.json("GET", "/services/Nope", "").await;
    assert_eq!(status, 404);
    assert!(error["message"].as_str().unwrap().contains("Nope"), "{error}");
    assert!(error["restate_code"].is_null());
}

#[tokio::test]
async fn settings_are_changed_until_the_next_registration() {
    let (bench, service) = (Bench::start().await, Service::start(SERVICES).await);
    bench.register(&service, "").await;
    let change = r#"{"idempotency_retention":"2 hours","public":false,"unknown":1}"#;
    let (status, greeter) = bench.json("PATCH", "/services/Greeter", change).await;
    assert_eq!((status, &greeter["idempotency_retention"]), (200, &"2h".into()));
    assert_eq!(
        (&greeter["public"], &greeter["handlers"][0]["public"]),
        (&false.into(), &false.into())
    );
    let flow_only = r#"{"workflow_completion_retention":"PT5M"}"#;
    assert_eq!(bench.json("PATCH", "/services/Greeter", flow_only).await.0, 400);
    let (_, flow) = bench.json("PATCH", "/services/Flow", flow_only).await;
    assert_eq!(flow["workflow_completion_retention"], "5m");
    assert!(flow.get("info").is_none(), "nothing that was asked for is cut: {flow}");
    let longer = r#"{"journal_retention":"1h"}"#;
    let (_, flow) = bench.json("PATCH", "/services/Flow", longer).await;
    let sentence =
        "the journal of a run is kept for 5m and not 1h: workflow_completion_retention is 5m";
    assert_eq!(flow["info"], serde_json::json!([{ "code": "RT0022", "message": sentence }]));
    let (status, error) = bench.json("PATCH", "/services/Flow", r#"{"abort_timeout":"12"}"#).await;
    assert!(
        status == 400 && error["message"].as_str().unwrap().contains("abort_timeout"),
        "{error}"
    );
    assert_eq!(bench.json("PATCH", "/services/Nope", "{}").await.0, 404);
    bench.register(&service, r#","force":true"#).await;
    let (_, greeter) = bench.json("GET", "/services/Greeter", "").await;
    assert_eq!(
        (&greeter["idempotency_retention"], &greeter["public"]),
        (&"1d".into(), &true.into())
    );
}

#[tokio::test]
async fn what_is_wrong_with_a_registration_is_told() {
    let (bench, service) = (Bench::start().await, Service::start(SERVICES).await);
    bench.register(&service, "").await;
    service.offer(r#"[{"name":"Greeter","ty":"VIRTUAL_OBJECT","handlers":[]}]"#);
    let other = Service::start(r#"[{"name":"Greeter","ty":"VIRTUAL_OBJECT","handlers":[]}]"#).await;
    let (status, error) = bench.register(&other, "").await;
    assert_eq!((status, &error["restate_code"]), (409, &"META0006".into()));
    assert_eq!(bench.register(&other, r#","breaking":true"#).await.0, 201);

    let gone = Service::start("[]").await;
    let uri = gone.uri.clone();
    drop(gone);
    let (status, error) =
        bench.json("POST", "/deployments", &format!(r#"{{"uri":"{uri}"}}"#)).await;
    assert_eq!((status, &error["restate_code"]), (500, &"META0003".into()));
    assert!(error["message"].as_str().unwrap().starts_with("[META0003] "), "{error}");

    let post = async |body: &str| bench.call("POST", "/deployments", body).await.0;
    assert_eq!(post(r#"{"uri":"127.0.0.1:1"}"#).await, 400);
    assert_eq!(post(r#"{"arn":"arn:aws:lambda:x"}"#).await, 501);
    assert_eq!(post("{}").await, 400);
    assert_eq!(post("{").await, 400);
    assert_eq!(post(r#"{"uri":1}"#).await, 422);
    assert_eq!(post(&format!(r#"{{"uri":"{}"}}"#, "x".repeat(5_000))).await, 413);
}

#[tokio::test]
async fn deployments_are_shown_changed_and_removed() {
    let (bench, service) = (Bench::start().await, Service::start(SERVICES).await);
    let id = bench.register(&service, r#","metadata":{"git":"abc"}"#).await.1["id"].clone();
    let path = format!("/deployments/{}", id.as_str().unwrap());
    let (_, mut list) = bench.json("GET", "/deployments", "").await;
    list["deployments"][0]["id"] = "dp_…".into();
    list["deployments"][0]["uri"] = "URI".into();
    expect![[r#"
        {
          "deployments": [
            {
              "id": "dp_…",
              "uri": "URI",
              "protocol_type": "BidiStream",
              "http_version": "HTTP/2.0",
              "metadata": {
                "git": "abc"
              },
              "created_at": "2027-01-15T08:00:00.000000000Z",
              "min_protocol_version": 5,
              "max_protocol_version": 7,
              "services": [
                {
                  "name": "Flow",
                  "revision": 1
                },
                {
                  "name": "Greeter",
                  "revision": 1
                }
              ]
            }
          ]
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&list).unwrap());
    let (_, one) = bench.json("GET", &path, "").await;
    assert_eq!(one["services"][0]["handlers"].as_array().unwrap().len(), 2);

    assert_eq!(bench.call("GET", "/deployments/nonsense", "").await.0, 400);
    let unknown = "/deployments/dp_101SZwviYzes2mjOamuMJWw";
    assert_eq!(bench.json("GET", unknown, "").await.0, 404);
    assert_eq!(bench.json("DELETE", &format!("{unknown}?force=true"), "").await.0, 404);

    assert_eq!(bench.json("PATCH", &path, "{}").await.0, 200);
    let (status, changed) =
        bench.json("PATCH", &path, r#"{"additional_headers":{"x-a":"b"}}"#).await;
    assert_eq!((status, &changed["additional_headers"]["x-a"]), (200, &"b".into()));
    assert_eq!(bench.json("PATCH", &path, r#"{"additional_headers":{"x a":"b"}}"#).await.0, 400);

    assert_eq!(bench.json("DELETE", &path, "").await.0, 409);
    assert_eq!(bench.call("DELETE", &format!("{path}?force=true"), "").await, (202, String::new()));
    assert_eq!(bench.json("GET", "/services/Greeter", "").await.0, 404);
    assert_eq!(bench.json("GET", &path, "").await.0, 404);
}

#[tokio::test]
async fn the_server_tells_about_itself() {
    let bench = Bench::start().await;
    assert_eq!(bench.call("GET", "/health", "").await, (200, String::new()));
    let (_, version) = bench.json("GET", "/version", "").await;
    assert_eq!(version["version"], "1.7.12");
    assert_eq!(
        (&version["min_admin_api_version"], &version["max_admin_api_version"]),
        (&2.into(), &4.into())
    );
    assert!(version["ingress_endpoint"].is_null() && version["features"].is_object());
    let (status, health) = bench.json("GET", "/holdfast/health", "").await;
    assert_eq!((status, health["partitions"].as_array().unwrap().len()), (200, 2));
    assert!(bench.call("GET", "/metrics", "").await.1.contains("# EOF"));
    let asked = bench.json("POST", "/query", r#"{"query":"SELECT 1 AS one"}"#).await;
    assert_eq!(asked, (200, serde_json::json!({ "rows": [{ "one": 1 }] })));
    assert_eq!(bench.call("GET", "/nowhere", "").await, (404, String::new()));
}

#[tokio::test]
async fn large_answers_are_compressed_for_who_takes_it() {
    let (bench, service) = (Bench::start().await, Service::start(SERVICES).await);
    bench.register(&service, "").await;
    let ask = async |path: &str, encoding: &str| bench.ask(path, "accept-encoding", encoding).await;
    let (head, plain) = ask("/services", "br").await;
    assert_eq!(head.get("content-encoding"), None);
    assert_eq!(&head["vary"], "accept-encoding");
    let (head, packed) = ask("/services", "gzip, br").await;
    assert_eq!(&head["content-encoding"], "gzip");
    assert!(packed.len() < plain.len() / 2, "{} of {}", packed.len(), plain.len());
    let mut unpacked = vec![];
    flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut unpacked).unwrap();
    assert_eq!(unpacked, plain);
    let (head, _) = ask("/health", "gzip").await;
    assert_eq!(head.get("content-encoding"), None);
}

#[tokio::test]
async fn who_knows_no_route_is_told_them() {
    let bench = Bench::start().await;
    for path in ["/", "/ui", "/ui/"] {
        let (head, body) = bench.ask(path, "accept", "text/html,*/*;q=0.8").await;
        assert!(head["content-type"].to_str().unwrap().starts_with("text/html"), "{path}");
        assert!(String::from_utf8(body).unwrap().contains("<a href=\"/holdfast/health\">"));
    }
    let (_, map) = bench.json("GET", "/", "").await;
    for route in map["routes"].as_object().unwrap().keys().filter(|route| *route != "/query") {
        assert_eq!(bench.call("GET", route, "").await.0, 200, "{route}");
    }
}

#[tokio::test]
async fn what_is_not_here_is_listed_as_none_and_refused_with_a_sentence() {
    let bench = Bench::start().await;
    for (path, name) in [("/subscriptions", "subscriptions"), ("/v4/kafka-clusters", "clusters")] {
        let (status, list) = bench.json("GET", path, "").await;
        assert_eq!((status, &list[name]), (200, &Value::Array(vec![])), "{path}");
        let (status, error) = bench.json("POST", path, "{}").await;
        let message = error["message"].as_str().unwrap();
        assert!(status == 501 && message.ends_with("(HF0058)"), "{path}: {status} {message}");
    }
    assert_eq!(bench.json("PUT", "/limits/rules", "[]").await.0, 501);
    assert_eq!(bench.json("POST", "/vqueues/vq_1/pause", "").await.0, 501);
}
