//! The card of an agent, as clients and caches find it.

use serde_json::{Value, json};
use std::process::Command;
use tests::{
    a2a::{Agents, Binding},
    http,
};

fn card(agents: &Agents, agent: &str, headers: &[(&str, &str)]) -> http::Answer {
    let url = format!("{}/a2a/{agent}/.well-known/agent-card.json", agents.sidecar.ingress);
    http::request(hyper::Method::GET, &url, headers, "").unwrap()
}

#[test]
fn an_agent_is_found_by_its_card() {
    let agents = Agents::start(&["--set", "a2a.root='refunds'"]);
    let answer = card(&agents, "refunds", &[]);
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(answer.header("cache-control"), Some("public, max-age=300"));
    assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
    assert!(answer.header("last-modified").unwrap().ends_with(" GMT"));
    let told = answer.json();
    assert_eq!(told["name"], "refunds");
    assert_eq!(told["description"], "Refunds orders after an approval.");
    let url = format!("{}/a2a/refunds", agents.sidecar.ingress);
    let address = agents.sidecar.ingress.trim_start_matches("http://");
    let interfaces = json!([
        { "url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0" },
        { "url": url, "protocolBinding": "HTTP+JSON", "protocolVersion": "1.0" },
        { "url": address, "protocolBinding": "GRPC", "tenant": "refunds", "protocolVersion": "1.0" },
    ]);
    assert_eq!(told["supportedInterfaces"], interfaces);
    assert_eq!(told["capabilities"]["streaming"], true);
    assert_eq!(told["capabilities"]["pushNotifications"], true);
    assert_eq!(told["skills"][0]["id"], "refund");
    assert_eq!(told["skills"][0]["description"], "Asks for an approval, then refunds.");
    let schemas = &told["capabilities"]["extensions"][0]["params"]["skills"];
    assert!(schemas["refund"]["input"]["properties"]["orderId"].is_object(), "{schemas}");

    let etag = answer.header("etag").unwrap().to_owned();
    let known = card(&agents, "refunds", &[("if-none-match", &etag)]);
    assert_eq!((known.status, known.body.len()), (304, 0));
    assert_eq!(known.header("etag"), Some(etag.as_str()));
    let head = format!("{url}/.well-known/agent-card.json");
    let head = http::request(hyper::Method::HEAD, &head, &[], "").unwrap();
    assert_eq!((head.status, head.header("etag")), (200, Some(etag.as_str())));

    let root = format!("{}/.well-known/agent-card.json", agents.sidecar.ingress);
    let root = http::get(&root).unwrap().json();
    assert_eq!(root["supportedInterfaces"][0]["url"], agents.sidecar.ingress);
    assert_eq!(root["supportedInterfaces"][2].get("tenant"), None);
    assert_eq!(card(&agents, "nobody", &[]).status, 404);
    let skills = card(&agents, "office", &[]).json()["skills"].as_array().unwrap().len();
    assert_eq!(skills, 2);
}

/// A key made by others, and a look at what is signed.
#[test]
fn a_card_is_signed() {
    let directory = tempfile::tempdir().unwrap();
    let key = directory.path().join("card.pem");
    let made = Command::new("openssl")
        .args(["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out"])
        .arg(&key)
        .output();
    let Ok(made) = made else {
        // Without openssl there is no key of others; the unit tests have one.
        return;
    };
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let set = format!("a2a.card.signing_key_file={}", key.display());
    let agents = Agents::start(&["--set", &set, "--set", "a2a.card.signing_key_id=k1"]);
    let told = card(&agents, "refunds", &[]).json();
    let signatures = told["signatures"].as_array().unwrap();
    assert!(!signatures.is_empty());
    assert!(signatures.iter().all(|it| it["signature"].as_str().unwrap().len() == 86), "{told}");
    let keys = format!("{}/a2a/refunds/.well-known/jwks.json", agents.sidecar.ingress);
    let keys: Value = http::get(&keys).unwrap().json();
    assert_eq!((&keys["keys"][0]["kid"], &keys["keys"][0]["alg"]), (&json!("k1"), &json!("ES256")));
    assert_eq!(card(&agents, "refunds", &[]).json(), told, "it is signed once");
}

#[test]
fn the_extended_card_is_for_those_who_have_shown_who_they_are() {
    let set = ["--set", "a2a.card.extended=true", "--set", "a2a.card.schemas='extended'"];
    let agents = Agents::start(&set);
    for binding in [Binding::JsonRpc, Binding::HttpJson] {
        let client = agents.client("refunds", binding);
        let refused = client.call("GetExtendedAgentCard", json!({})).unwrap_err();
        let code = if binding == Binding::JsonRpc { -32007 } else { 400 };
        let told = (refused.code, refused.reason.as_deref());
        assert_eq!(told, (code, Some("EXTENDED_AGENT_CARD_NOT_CONFIGURED")), "nobody can");
    }
    let tokens = "guard.tokens=[{principal='ada', token='0123456789abcdef0123456789abcdef'}]";
    let agents = Agents::start(&[&set[..], &["--set", tokens]].concat());
    let public = card(&agents, "refunds", &[]).json();
    assert_eq!(public["capabilities"]["extensions"], Value::Null);
    assert_eq!(public["securitySchemes"]["bearer"]["httpAuthSecurityScheme"]["scheme"], "Bearer");
    for binding in [Binding::JsonRpc, Binding::HttpJson] {
        let client = agents.client("refunds", binding);
        assert_eq!(client.answer("GetExtendedAgentCard", &json!({})).status, 401);
        let client = client.with("authorization", "Bearer 0123456789abcdef0123456789abcdef");
        let extended = client.call("GetExtendedAgentCard", json!({})).unwrap();
        let schemas = &extended["capabilities"]["extensions"][0]["params"]["skills"];
        assert!(schemas["refund"]["input"].is_object(), "{extended}");
    }
    let agents = Agents::start(&[]);
    let client = agents.client("refunds", Binding::JsonRpc);
    let refused = client.call("GetExtendedAgentCard", json!({})).unwrap_err();
    assert_eq!(refused.reason.as_deref(), Some("UNSUPPORTED_OPERATION"));
}
