//! Somebody outside is told of each event of a task, in order, until they have taken it: also if
//! they were away, and the sidecar was killed in the meantime.

use serde_json::{Value, json};
use std::sync::{
    Arc,
    atomic::{AtomicU16, Ordering::Relaxed},
};
use tests::{
    a2a::{Agents, BINDINGS, Binding, Client, at_once, data, to, told},
    eventually,
    receiver::{Got, Receiver},
};

/// Receivers on loopback are allowed, and do not wait long for the next try.
const FLAGS: [&str; 8] = [
    "--set",
    "a2a.push.private_networks=['127.0.0.0/8']",
    "--set",
    "a2a.push.allow_http=true",
    "--set",
    "a2a.push.retry_initial_ms=50",
    "--set",
    "a2a.push.retry_max_ms=200",
];

/// Answers with a status that can be changed.
fn receiver(status: u16) -> (Receiver, Arc<AtomicU16>) {
    let status = Arc::new(AtomicU16::new(status));
    let answer = status.clone();
    (Receiver::start(move |_, _| (answer.load(Relaxed), "text/plain", String::new())), status)
}

fn order(id: &str) -> Value {
    at_once(data(id, json!({ "orderId": "o-1", "amount": 42.5 })))
}

fn approve(id: &str, task: &Value) -> Value {
    to(at_once(data(id, json!({ "approved": true }))), task)
}

/// The events that came, each once, in short.
fn events(got: &[Got]) -> Vec<String> {
    let mut events: Vec<String> = got.iter().map(|got| told(&got.json())).collect();
    events.dedup();
    events
}

fn refunds(agents: &Agents) -> Client {
    agents.client("refunds", Binding::JsonRpc)
}

const STORY: [&str; 6] = [
    "task submitted",
    "status working",
    "status input_required Approve a refund of 42.5 for o-1?",
    "status working",
    "artifact result lastChunk {\"status\":\"refunded\",\"orderId\":\"o-1\",\"amount\":42.5}",
    "status completed",
];

#[test]
fn every_event_is_told_once_and_in_order_over_kill_9() {
    let mut agents = Agents::start(&FLAGS);
    let (receiver, status) = receiver(200);
    let client = refunds(&agents);
    let mut sent = order("m-1");
    sent["configuration"]["taskPushNotificationConfig"] = json!({
        "url": format!("{}/hook", receiver.url), "token": "t-1",
        "authentication": { "scheme": "Bearer", "credentials": "c-1" },
    });
    let task = client.send(sent).unwrap();
    let id = task["id"].as_str().unwrap().to_owned();
    eventually("the question is told", || (receiver.got().len() >= 3).then_some(()));
    let first = receiver.got()[0].clone();
    assert_eq!(first.path, "/hook");
    assert_eq!(first.header("content-type"), "application/a2a+json");
    assert_eq!(first.header("authorization"), "Bearer c-1");
    assert_eq!(first.header("x-a2a-notification-token"), "t-1");
    assert_eq!(first.header("a2a-version"), "1.0");
    assert_eq!(first.json()["task"]["id"], id);
    assert_eq!(first.json()["task"]["history"][0]["messageId"], "m-1");

    // Away while the task goes on, the sidecar killed before it was told.
    status.store(500, Relaxed);
    client.send(approve("m-2", &task)).unwrap();
    client.wait_for(&id, "TASK_STATE_COMPLETED");
    let before = receiver.got().len();
    eventually("it is tried again", || (receiver.got().len() > before + 1).then_some(()));
    agents.sidecar.kill9();
    agents.sidecar.restart();
    let before = receiver.got().len();
    eventually("the next process tries", || (receiver.got().len() > before).then_some(()));
    assert_eq!(events(&receiver.got()), STORY[..4], "the next one waits for the one before");
    status.store(204, Relaxed);
    eventually("all is told", || (events(&receiver.got()).len() >= STORY.len()).then_some(()));
    assert_eq!(events(&receiver.got()), STORY);
}

#[test]
fn receivers_are_registered_listed_and_deleted() {
    let agents = Agents::start(&FLAGS);
    for binding in BINDINGS {
        let client = agents.client("refunds", binding);
        let task = client.send(order(&format!("m-{binding:?}"))).unwrap();
        let id = task["id"].as_str().unwrap();
        client.wait_for(id, "TASK_STATE_INPUT_REQUIRED");
        let (receiver, _) = receiver(200);
        let create = |name: &str| {
            let config = json!({ "taskId": id, "id": name, "url": receiver.url, "token": "t" });
            client.call("CreateTaskPushNotificationConfig", config).unwrap()
        };
        let one = create("one");
        assert_eq!(one, json!({ "id": "one", "taskId": id, "url": receiver.url, "token": "t" }));
        let made = create("");
        assert!(made["id"].as_str().unwrap().starts_with("push_"), "{made}");
        assert_eq!(create("one"), one, "the same id replaces");
        let of = json!({ "taskId": id, "id": "one" });
        assert_eq!(client.call("GetTaskPushNotificationConfig", of.clone()), Ok(one.clone()));
        let list = || {
            let list = client.call("ListTaskPushNotificationConfigs", json!({ "taskId": id }));
            list.unwrap()["configs"].as_array().cloned().unwrap_or_default()
        };
        assert_eq!(list(), [one.clone(), made.clone()]);
        let gone = json!({ "taskId": id, "id": made["id"] });
        for _ in 0..2 {
            client.call("DeleteTaskPushNotificationConfig", gone.clone()).unwrap();
        }
        assert_eq!(list(), [one]);
        let missing = client.call("GetTaskPushNotificationConfig", gone).unwrap_err();
        assert_eq!(missing.reason.as_deref(), Some("TASK_NOT_FOUND"));
        client.send(approve(&format!("n-{binding:?}"), &task)).unwrap();
        eventually("the end is told", || (receiver.got().len() >= 3).then_some(()));
        assert_eq!(events(&receiver.got()), STORY[3..], "from its registration on, to one of two");
        let unknown = json!({ "taskId": "task_none", "url": receiver.url });
        let unknown = client.call("CreateTaskPushNotificationConfig", unknown).unwrap_err();
        assert_eq!(unknown.reason.as_deref(), Some("TASK_NOT_FOUND"));
    }
}

#[test]
fn who_says_to_be_gone_is_told_nothing_more() {
    let agents = Agents::start(&FLAGS);
    let client = refunds(&agents);
    let (gone, _) = receiver(410);
    let (there, _) = receiver(200);
    let task = client.send(order("m-1")).unwrap();
    let id = task["id"].as_str().unwrap();
    client.wait_for(id, "TASK_STATE_INPUT_REQUIRED");
    for (name, receiver) in [("gone", &gone), ("there", &there)] {
        let config = json!({ "taskId": id, "id": name, "url": receiver.url });
        client.call("CreateTaskPushNotificationConfig", config).unwrap();
    }
    client.send(approve("m-2", &task)).unwrap();
    eventually("the end is told", || (there.got().len() >= 3).then_some(()));
    assert_eq!(gone.got().len(), 1);
    let list = client.call("ListTaskPushNotificationConfigs", json!({ "taskId": id })).unwrap();
    let names: Vec<_> = list["configs"].as_array().unwrap().iter().map(|it| &it["id"]).collect();
    assert_eq!(names, ["there"]);
}

#[test]
fn receivers_that_fail_keep_nothing_from_others() {
    let few = ["--set", "a2a.push.held_all_max=3", "--set", "a2a.push.concurrent_max=2"];
    let agents = Agents::start(&[&FLAGS[..], &few[..]].concat());
    let client = refunds(&agents);
    let (dead, status) = receiver(500);
    let (there, _) = receiver(200);
    let registered = |id: &str, url: &str| {
        let mut order = order(id);
        order["configuration"]["taskPushNotificationConfig"] = json!({ "url": url });
        client.send(order).unwrap()
    };
    for number in 0..8 {
        let task = registered(&format!("dead-{number}"), &dead.url);
        client.wait_for(task["id"].as_str().unwrap(), "TASK_STATE_INPUT_REQUIRED");
    }
    eventually("the dead one is tried", || (dead.got().len() >= 16).then_some(()));
    let task = registered("there", &there.url);
    client.wait_for(task["id"].as_str().unwrap(), "TASK_STATE_INPUT_REQUIRED");
    client.send(approve("yes", &task)).unwrap();
    eventually("the others are told", || (there.got().len() >= STORY.len()).then_some(()));
    assert_eq!(events(&there.got()), STORY);
    // What waited on disk comes, in order, when there is somebody to take it.
    status.store(200, Relaxed);
    eventually("all is told", || {
        let told = dead.got().iter().map(|got| told(&got.json())).collect::<Vec<_>>();
        let asked = told.iter().filter(|told| told.as_str() == STORY[2]);
        (asked.count() >= 8).then_some(())
    });
}

#[test]
fn private_hosts_are_refused_unless_they_are_allowed() {
    let agents = Agents::start(&[]);
    let client = refunds(&agents);
    let task = client.send(order("m-1")).unwrap();
    for url in ["https://127.0.0.1/x", "https://localhost/x", "http://example.com/x", "nonsense"] {
        let config = json!({ "taskId": task["id"], "url": url });
        let refused = client.call("CreateTaskPushNotificationConfig", config).unwrap_err();
        assert_eq!(
            (refused.code, refused.violations.as_slice()),
            (-32602, ["url".to_owned()].as_slice())
        );
        let mut inline = order("m-2");
        inline["configuration"]["taskPushNotificationConfig"] = json!({ "url": url });
        assert_eq!(client.send(inline).unwrap_err().code, -32602);
    }
    // A name is looked up when something is sent to it.
    let config = json!({ "taskId": task["id"], "url": "https://example.com/hook" });
    client.call("CreateTaskPushNotificationConfig", config).unwrap();
}

#[test]
fn an_agent_without_push_says_so() {
    let agents = Agents::start(&["--set", "a2a.agents.refunds.push_notifications=false"]);
    let client = refunds(&agents);
    let task = client.send(order("m-1")).unwrap();
    let of = json!({ "taskId": task["id"], "id": "x", "url": "https://example.com" });
    for operation in ["Create", "Get", "Delete"] {
        let operation = format!("{operation}TaskPushNotificationConfig");
        let refused = client.call(&operation, of.clone()).unwrap_err();
        assert_eq!(refused.reason.as_deref(), Some("PUSH_NOTIFICATION_NOT_SUPPORTED"));
    }
    let mut inline = order("m-2");
    inline["configuration"]["taskPushNotificationConfig"] = json!({ "url": "https://example.com" });
    let refused = client.send(inline).unwrap_err();
    assert_eq!(refused.reason.as_deref(), Some("PUSH_NOTIFICATION_NOT_SUPPORTED"));
}
