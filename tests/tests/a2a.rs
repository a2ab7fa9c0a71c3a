//! Agents of A2A over both JSON bindings, against the real sidecar and real handlers.

#[path = "a2a/contexts.rs"]
mod contexts;
#[path = "a2a/streams.rs"]
mod streams;

use hyper::Method;
use serde_json::{Value, json};
use tests::{
    a2a::{Agents, BINDINGS, Binding, Client, at_once, block, data, text, to, told},
    http,
};

const INPUT_REQUIRED: &str = "TASK_STATE_INPUT_REQUIRED";
const COMPLETED: &str = "TASK_STATE_COMPLETED";

fn order(id: &str) -> Value {
    data(id, json!({ "orderId": "o-1", "amount": 42.5 }))
}

fn state(task: &Value) -> &str {
    task["status"]["state"].as_str().unwrap_or("no state")
}

/// Everything of a stream in short, up to its end.
fn heard(client: &Client, operation: &str, params: &Value) -> Vec<String> {
    let events = block(async {
        client.stream(operation, params, None).await.unwrap().rest().await.unwrap()
    });
    events.iter().map(|event| told(&client.payload(event))).collect()
}

#[test]
fn a_refund_over_three_calls() {
    let agents = Agents::start(&[]);
    for (binding, [first, second]) in BINDINGS.into_iter().zip([["a-1", "a-2"], ["b-1", "b-2"]]) {
        let client = agents.client("refunds", binding);
        let asked = client.send(order(first)).unwrap();
        assert_eq!(state(&asked), INPUT_REQUIRED, "{binding:?}");
        let question = &asked["status"]["message"];
        assert_eq!(question["role"], "ROLE_AGENT");
        assert_eq!(question["parts"][0]["text"], "Approve a refund of 42.5 for o-1?");
        assert_eq!(question["parts"][1]["mediaType"], "application/schema+json");
        assert_eq!(question["taskId"], asked["id"]);
        let history = asked["history"].as_array().unwrap();
        assert_eq!(history.len(), 1, "the question is not in the history yet");
        assert_eq!(history[0]["messageId"], first);
        assert_eq!(history[0]["contextId"], asked["contextId"]);

        let approved = data(second, json!({ "approved": true }));
        let done = client.send(to(approved, &asked)).unwrap();
        assert_eq!(state(&done), COMPLETED);
        let result = &done["artifacts"][0]["parts"][0]["data"];
        assert_eq!(*result, json!({ "status": "refunded", "orderId": "o-1", "amount": 42.5 }));
        let ids = |task: &Value| -> Vec<String> {
            let history = task["history"].as_array().into_iter().flatten();
            history.map(|it| it["messageId"].as_str().unwrap().to_owned()).collect()
        };
        let question = question["messageId"].as_str().unwrap();
        assert_eq!(ids(&done), [first, question, second]);
        let id = done["id"].as_str().unwrap();
        assert_eq!(client.get(id), done, "it is told as it is stored");
        let last = client.call("GetTask", json!({ "id": id, "historyLength": 1 })).unwrap();
        assert_eq!(ids(&last), [second]);
        let none = client.call("GetTask", json!({ "id": id, "historyLength": 0 })).unwrap();
        assert_eq!(none.get("history"), None);
    }
}

#[test]
fn an_answer_has_to_fit_the_question() {
    let agents = Agents::start(&[]);
    for (binding, round) in BINDINGS.into_iter().zip(["a", "b"]) {
        let client = agents.client("refunds", binding);
        let id = |name: &str| format!("{round}-{name}");
        let asked = client.send(order(&id("1"))).unwrap();
        let wrong = data(&id("2"), json!({ "approved": "perhaps" }));
        let refused = client.send(to(wrong, &asked)).unwrap_err();
        assert_eq!(refused.reason.as_deref(), Some("INVALID_PARAMS"));
        assert_eq!(refused.violations, ["message.parts"]);
        let still = client.get(asked["id"].as_str().unwrap());
        assert_eq!(still, asked, "nothing has happened");
        let yes = text(&id("3"), "yes");
        let done = client.send(to(yes, &asked)).unwrap();
        assert_eq!(done["artifacts"][0]["parts"][0]["data"]["status"], "refunded");

        let asked = client.send(order(&id("4"))).unwrap();
        let mut declined = text(&id("5"), "no, thanks");
        declined["message"]["metadata"] = json!({ "action": "decline" });
        let done = client.send(to(declined, &asked)).unwrap();
        assert_eq!(done["artifacts"][0]["parts"][0]["data"]["status"], "declined");
    }
}

#[test]
fn input_is_checked_before_there_is_a_task() {
    let agents = Agents::start(&[]);
    for binding in BINDINGS {
        let client = agents.client("refunds", binding);
        let refused = client.send(data("m-1", json!({ "orderId": 7 }))).unwrap_err();
        assert_eq!(refused.violations, ["message.parts"], "{}", refused.message);
        let listed = client.call("ListTasks", json!({})).unwrap();
        let nothing = json!({ "tasks": [], "nextPageToken": "", "pageSize": 50, "totalSize": 0 });
        assert_eq!(listed, nothing);
    }
}

#[test]
fn text_is_read_as_json_or_taken_as_it_is() {
    let agents = Agents::start(&[]);
    let refunds = agents.client("refunds", Binding::JsonRpc);
    let asked = refunds.send(text("m-1", r#"{"orderId":"o-2","amount":7}"#)).unwrap();
    assert_eq!(state(&asked), INPUT_REQUIRED);

    let office = agents.client("office", Binding::HttpJson);
    let refused = office.send(text("m-1", "hello")).unwrap_err();
    assert_eq!(refused.violations, ["message.metadata.skill"], "two skills, and none is named");
    let mut note = text("m-2", "42");
    note["message"]["metadata"] = json!({ "skill": "file" });
    let noted = office.send(note).unwrap();
    assert_eq!(noted["artifacts"][0]["parts"][0]["text"], "noted: 42");
}

#[test]
fn who_does_not_wait_is_told_at_once() {
    let agents = Agents::start(&[]);
    for (binding, id) in BINDINGS.into_iter().zip(["a", "b"]) {
        let client = agents.client("refunds", binding);
        let slow = data(id, json!({ "orderId": "slow", "amount": 1, "delayMs": 700 }));
        let begun = client.send(at_once(slow)).unwrap();
        assert!(["TASK_STATE_SUBMITTED", "TASK_STATE_WORKING"].contains(&state(&begun)));
        let task = begun["id"].as_str().unwrap();
        client.wait_for(task, "TASK_STATE_WORKING");
        client.wait_for(task, INPUT_REQUIRED);
    }
}

#[test]
fn an_early_message_waits_for_its_question() {
    let agents = Agents::start(&[]);
    for (binding, round) in BINDINGS.into_iter().zip(["a", "b"]) {
        let client = agents.client("refunds", binding);
        let slow = json!({ "orderId": "slow", "amount": 1, "delayMs": 700 });
        let begun = client.send(at_once(data(&format!("{round}-1"), slow))).unwrap();
        let approved = data(&format!("{round}-2"), json!({ "approved": true }));
        let heard = heard(&client, "SendStreamingMessage", &to(approved, &begun));
        assert!(heard[0].starts_with("task "), "{heard:?}");
        assert_eq!(heard.last().unwrap(), "status completed", "{heard:?}");
        let asked = heard.iter().filter(|it| it.starts_with("status input_required"));
        assert_eq!(asked.count(), 0, "nobody has to be asked: {heard:?}");

        let office = agents.client("office", binding);
        let mut first = text(&format!("{round}-3"), "begin");
        first["message"]["metadata"] = json!({ "skill": "interview" });
        let asked = office.send(first).unwrap();
        assert_eq!(asked["status"]["message"]["parts"][0]["text"], "Name?");
        for (id, answer) in [("4", "Ada"), ("5", "36")] {
            let answer = text(&format!("{round}-{id}"), answer);
            office.send(at_once(to(answer, &asked))).unwrap();
        }
        let done = office.wait_for(asked["id"].as_str().unwrap(), COMPLETED);
        let answers = json!({ "answers": ["Ada", "36"] });
        assert_eq!(done["artifacts"][0]["parts"][0]["data"], answers, "in their order");
    }
}

#[test]
fn tasks_are_cancelled_once() {
    let agents = Agents::start(&[]);
    for (binding, round) in BINDINGS.into_iter().zip(["a", "b"]) {
        let client = agents.client("refunds", binding);
        let asked = client.send(order(&format!("{round}-1"))).unwrap();
        let id = asked["id"].as_str().unwrap();
        for _ in 0..2 {
            let gone = client.call("CancelTask", json!({ "id": id })).unwrap();
            assert_eq!(state(&gone), "TASK_STATE_CANCELED");
        }
        assert_eq!(state(&client.get(id)), "TASK_STATE_CANCELED");
        let late = client.send(to(text(&format!("{round}-2"), "yes"), &asked)).unwrap_err();
        assert_eq!(late.reason.as_deref(), Some("UNSUPPORTED_OPERATION"));

        let slow = json!({ "orderId": "slow", "amount": 1, "delayMs": 60_000 });
        let working = client.send(at_once(data(&format!("{round}-3"), slow))).unwrap();
        let gone = client.call("CancelTask", json!({ "id": working["id"] })).unwrap();
        assert_eq!(state(&gone), "TASK_STATE_CANCELED");
    }
}

#[test]
fn messages_that_come_twice_are_one() {
    let agents = Agents::start(&["--set", "a2a.agents.stories.idempotency=off"]);
    for (binding, round) in BINDINGS.into_iter().zip(["a", "b"]) {
        let client = agents.client("refunds", binding);
        let first = order(&format!("{round}-1"));
        let asked = client.send(first.clone()).unwrap();
        assert_eq!(client.send(first.clone()).unwrap()["id"], asked["id"]);
        let other = data(&format!("{round}-1"), json!({ "orderId": "o-2", "amount": 1 }));
        let refused = client.send(other).unwrap_err();
        assert_eq!(refused.violations, ["message.messageId"]);
        let answer = to(data(&format!("{round}-2"), json!({ "approved": true })), &asked);
        let once = client.send(answer.clone()).unwrap();
        let twice = client.send(answer).unwrap();
        assert_eq!((state(&once), &once), (COMPLETED, &twice), "also after the end");
        let users = once["history"].as_array().unwrap().iter();
        assert_eq!(users.filter(|it| it["role"] == "ROLE_USER").count(), 2);

        let stories = agents.client("stories", binding);
        let story = data("always the same", json!({ "chapters": 1 }));
        let [one, two] = [(); 2].map(|()| stories.send(story.clone()).unwrap()["id"].clone());
        assert_ne!(one, two, "this agent does not tell messages apart");
        let keyed = stories.with("idempotency-key", round);
        let [one, two] = [(); 2].map(|()| keyed.send(story.clone()).unwrap()["id"].clone());
        assert_eq!(one, two, "but a header is honoured");
    }
}

#[test]
fn one_agent_may_be_at_the_root() {
    let agents = Agents::start(&["--set", "a2a.root=refunds"]);
    for (binding, id) in BINDINGS.into_iter().zip(["a", "b"]) {
        let below = agents.client("refunds", binding);
        let root = Client { url: agents.sidecar.ingress.clone(), ..below.clone() };
        let asked = root.send(order(id)).unwrap();
        assert_eq!(below.get(asked["id"].as_str().unwrap()), asked);
    }
    let index = http::get(&format!("{}/a2a", agents.sidecar.ingress)).unwrap().json();
    let names: Vec<&str> =
        index["agents"].as_array().unwrap().iter().filter_map(|it| it["name"].as_str()).collect();
    assert_eq!(names, ["ledger", "office", "refunds", "stories", "talker"]);
    let health = http::get(&format!("{}/restate/health", agents.sidecar.ingress)).unwrap();
    assert_eq!(health.status, 200, "the ingress is still there");
}

#[test]
fn clients_of_0_3_are_served() {
    let agents = Agents::start(&[]);
    let base = format!("{}/a2a/refunds", agents.sidecar.ingress);
    let rpc = |method: &str, params: Value| {
        let call = json!({ "jsonrpc": "2.0", "id": "x", "method": method, "params": params });
        http::post_json(&base, &call).unwrap().json()
    };
    let message = |id: &str, data: Value| {
        json!({ "kind": "message", "messageId": id, "role": "user",
            "parts": [{ "kind": "data", "data": data }] })
    };
    let order = json!({ "orderId": "o-3", "amount": 1 });
    let asked = rpc("message/send", json!({ "message": message("old-1", order.clone()) }));
    let asked = &asked["result"];
    assert_eq!(
        (&asked["kind"], &asked["status"]["state"]),
        (&json!("task"), &json!("input-required"))
    );
    let mut approved = message("old-2", json!({ "approved": true }));
    approved["taskId"] = asked["id"].clone();
    let done = rpc("message/send", json!({ "message": approved }));
    let result = &done["result"]["artifacts"][0]["parts"][0];
    assert_eq!((&result["kind"], &result["data"]["status"]), (&json!("data"), &json!("refunded")));
    let late = rpc("tasks/resubscribe", json!({ "id": asked["id"] }));
    assert_eq!(late["error"]["code"], -32004);

    let body = json!({ "request": { "messageId": "old-3", "role": "ROLE_USER",
        "content": [{ "data": { "data": order } }] } });
    let sent = http::post_json(&format!("{base}/v1/message:send"), &body).unwrap().json();
    let task = &sent["task"];
    assert_eq!(task["status"]["state"], INPUT_REQUIRED);
    assert_eq!(task["history"][0]["content"][0]["data"]["data"]["orderId"], "o-3");
    let path = format!("{base}/v1/tasks/{}:cancel", task["id"].as_str().unwrap());
    let gone = http::request(Method::POST, &path, &[], "").unwrap().json();
    assert_eq!(gone["status"]["state"], "TASK_STATE_CANCELLED");
    // Both versions see the same tasks.
    let current = agents.client("refunds", Binding::HttpJson);
    assert_eq!(current.call("ListTasks", json!({})).unwrap()["totalSize"], 2);
}
