//! Messages that no client should send, by chance but always the same ones: each is answered, soon,
//! as the protocol wants it, and never with a fault of ours.

use super::stage;
use hyper::Method;
use proptest::{
    collection::vec,
    prelude::*,
    strategy::ValueTree,
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tests::http;

const MESSAGES: usize = 1500;
/// Longest time that one answer may take; calls wait no longer than the settings say.
const SOON: Duration = Duration::from_secs(10);

#[test]
fn no_message_makes_a_fault_or_hangs() {
    let stage = stage("[mcp]\ncall_wait_ms = 200\nprogress_interval_ms = 50");
    let url = format!("{}/mcp", stage.sidecar.ingress);
    let seed = TestRng::from_seed(RngAlgorithm::ChaCha, &[42; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), seed);
    let strategy = (message(), headers());
    for number in 0..MESSAGES {
        let (body, headers) = strategy.new_tree(&mut runner).unwrap().current();
        let headers: Vec<_> = headers.iter().map(|(n, v)| (*n, v.as_str())).collect();
        let began = Instant::now();
        let shown = || format!("message {number}: {headers:?} {body}");
        let answer = http::request(Method::POST, &url, &headers, &body);
        let answer = answer.unwrap_or_else(|error| panic!("{}: {error:?}", shown()));
        assert!(answer.status < 500, "{}: {} {}", shown(), answer.status, answer.text());
        assert!(began.elapsed() < SOON, "{}: took {:?}", shown(), began.elapsed());
        if matches!(answer.status, 400 | 404) {
            assert!(answer.json()["error"]["code"].is_i64(), "{}: {}", shown(), answer.text());
        }
    }
    let health = http::get(&format!("{}/restate/health", stage.sidecar.ingress)).unwrap();
    assert_eq!(health.status, 200);
    let faults: Vec<_> =
        stage.sidecar.lines().into_iter().filter(|line| line.contains("\"ERROR\"")).collect();
    assert!(faults.is_empty(), "{faults:?}");
}

fn message() -> impl Strategy<Value = String> {
    prop_oneof![
        1 => any::<String>(),
        1 => anything().prop_map(|it| it.to_string()),
        1 => vec(envelope(), 0..3).prop_map(|it| Value::from(it).to_string()),
        8 => envelope().prop_map(|it| it.to_string()),
        1 => envelope().prop_map(|it| {
            let text = it.to_string();
            text.chars().take(text.chars().count() / 2).collect()
        }),
        1 => (1usize..200).prop_map(|depth| "[".repeat(depth)),
    ]
}

fn envelope() -> impl Strategy<Value = Value> {
    let id = prop_oneof![
        6 => any::<u32>().prop_map(Value::from),
        1 => Just(Value::Null),
        1 => anything(),
    ];
    let method = prop_oneof![
        10 => prop::sample::select(vec![
            "initialize", "ping", "server/discover", "tools/list", "tools/call", "tasks/get",
            "tasks/update", "tasks/cancel", "tasks/result", "tasks/list", "prompts/get",
            "resources/read", "notifications/cancelled", "notifications/initialized",
        ]).prop_map(Value::from),
        1 => any::<String>().prop_map(Value::from),
        1 => anything(),
    ];
    (id, method, params(), any::<u8>()).prop_map(|(id, method, params, without)| {
        let mut message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let fields = ["jsonrpc", "id", "method", "params"];
        if let Some(name) = fields.get(usize::from(without)) {
            message.as_object_mut().unwrap().remove(*name);
        }
        message
    })
}

fn params() -> impl Strategy<Value = Value> {
    let name = prop_oneof![
        prop::sample::select(vec!["echo", "refund", "Counter.add", "Shop.broken", "nobody"])
            .prop_map(Value::from),
        anything(),
    ];
    let arguments = prop_oneof![
        Just(json!({ "text": "x" })),
        Just(json!({ "orderId": "bad", "amount": 1 })),
        Just(json!({ "orderId": "o", "amount": 1 })),
        Just(json!({ "key": "k", "input": 1 })),
        anything(),
    ];
    let meta = prop_oneof![
        4 => Just(json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {
                "elicitation": {}, "extensions": { "io.modelcontextprotocol/tasks": {} } },
        })),
        1 => Just(json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {}, "progressToken": 1,
        })),
        1 => anything(),
    ];
    let rest = vec(
        (
            prop::sample::select(vec![
                "taskId",
                "inputResponses",
                "requestState",
                "cursor",
                "protocolVersion",
                "capabilities",
                "requestId",
                "notifications",
                "uri",
            ]),
            anything(),
        ),
        0..4,
    );
    let whole = (name, arguments, meta, rest).prop_map(|(name, arguments, meta, rest)| {
        let mut params = json!({ "name": name, "arguments": arguments, "_meta": meta });
        for (field, value) in rest {
            params[field] = value;
        }
        params
    });
    prop_oneof![6 => whole, 1 => anything()]
}

fn headers() -> impl Strategy<Value = Vec<(&'static str, String)>> {
    let modern = prop::sample::select(vec!["2026-07-28", "2025-11-25", "2025-03-26", "x", ""]);
    let method = prop::sample::select(vec!["tools/call", "tasks/get", "server/discover", "x"]);
    let name = prop::sample::select(vec!["echo", "refund", "=?base64?ZWNobw==?=", "=?base64?!?="]);
    let session = prop::sample::select(vec!["", "hf1.2025-11-25.10.aaaaaaaaaaaaaaaaaaaaaa", "x"]);
    (modern, method, name, session, any::<u8>()).prop_map(
        |(version, method, name, session, with)| {
            let mut headers = vec![
                ("content-type", "application/json".to_owned()),
                ("accept", "application/json, text/event-stream".to_owned()),
            ];
            let more = [
                ("mcp-protocol-version", version),
                ("mcp-method", method),
                ("mcp-name", name),
                ("mcp-session-id", session),
            ];
            for (bit, (name, value)) in more.into_iter().enumerate() {
                // Sessions are rare, so that the rest is reached.
                let wanted = with & (1 << bit) != 0 && (bit < 3 || with >= 192);
                if wanted {
                    headers.push((name, value.to_owned()));
                }
            }
            headers
        },
    )
}

fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z_/0-9]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec(("[a-z]{1,6}", inner), 0..4).prop_map(|it| it.into_iter().collect()),
        ]
    })
}
