//! Which tasks belong together, and whose they are.

use super::{COMPLETED, INPUT_REQUIRED, order, state};
use hyper::Method;
use serde_json::{Value, json};
use tests::{
    a2a::{Agents, BINDINGS, Binding, Client, block, data, text, to},
    http,
};

#[test]
fn contexts_group_tasks() {
    let agents = Agents::start(&[]);
    for (binding, round) in BINDINGS.into_iter().zip(["a", "b"]) {
        let client = agents.client("refunds", binding);
        let context = format!("context {round}");
        let within = |id: &str, delay: u64| {
            let order = json!({ "orderId": "o", "amount": 1, "delayMs": delay });
            let mut order = data(&format!("{round}-{id}"), order);
            order["message"]["contextId"] = json!(context);
            order
        };
        let made: Vec<Value> =
            (0..5).map(|n| client.send(within(&n.to_string(), 0)).unwrap()).collect();
        let ids = |page: &Value| -> Vec<String> {
            let tasks = page["tasks"].as_array().unwrap().iter();
            tasks.map(|task| task["id"].as_str().unwrap().to_owned()).collect()
        };
        let list = |filters: Value| {
            let mut params = json!({ "contextId": context });
            let filters = filters.as_object().unwrap().clone();
            params.as_object_mut().unwrap().extend(filters);
            client.call("ListTasks", params)
        };
        client.send(to(text(&format!("{round}-y"), "yes"), &made[0])).unwrap();
        client.call("CancelTask", json!({ "id": made[1]["id"] })).unwrap();
        let whole = list(json!({})).unwrap();
        assert_eq!((&whole["totalSize"], &whole["pageSize"]), (&json!(5), &json!(50)));
        let stamps: Vec<&str> = whole["tasks"]
            .as_array()
            .unwrap()
            .iter()
            .map(|task| task["status"]["timestamp"].as_str().unwrap())
            .collect();
        assert!(stamps.is_sorted_by(|a, b| a >= b), "the newest first: {stamps:?}");
        let artifacts = |page: &Value| page["tasks"].to_string().contains("artifacts");
        assert!(
            !artifacts(&whole) && artifacts(&list(json!({ "includeArtifacts": true })).unwrap())
        );

        let (mut seen, mut token) = (vec![], String::new());
        loop {
            let page = list(json!({ "pageSize": 2, "pageToken": token })).unwrap();
            assert_eq!((&page["totalSize"], &page["pageSize"]), (&json!(5), &json!(2)));
            seen.extend(ids(&page));
            token = page["nextPageToken"].as_str().unwrap().to_owned();
            if token.is_empty() {
                break;
            }
            let other = list(json!({ "pageToken": token, "status": COMPLETED })).unwrap_err();
            assert_eq!(other.violations, ["pageToken"], "a token is of its filters");
        }
        assert_eq!(seen, ids(&whole));
        for (of, expected) in [(COMPLETED, &made[0]), ("TASK_STATE_CANCELED", &made[1])] {
            assert_eq!(
                ids(&list(json!({ "status": of })).unwrap()),
                [expected["id"].as_str().unwrap()]
            );
        }
        let later = list(json!({ "statusTimestampAfter": "2100-01-01T00:00:00Z" })).unwrap();
        assert_eq!(later["totalSize"], 0);
        let since = list(json!({ "statusTimestampAfter": stamps[0] })).unwrap();
        assert!(ids(&since).contains(&seen[0]), "not before means also at");
        for bad in
            [json!({ "pageSize": 0 }), json!({ "pageSize": 101 }), json!({ "pageToken": "x" })]
        {
            assert!(list(bad.clone()).is_err(), "{bad}");
        }

        let mut astray = to(text(&format!("{round}-z"), "yes"), &made[2]);
        astray["message"]["contextId"] = json!("another");
        assert_eq!(client.send(astray).unwrap_err().violations, ["message.contextId"]);
    }
}

#[test]
fn large_tasks_are_listed_on_several_pages() {
    let agents = Agents::start(&[]);
    let client = agents.client("stories", Binding::HttpJson);
    let mut ids: Vec<Value> = vec![];
    for number in 0..4 {
        let mut told = data(&format!("m-{number}"), json!({ "chapters": 1 }));
        let more = json!({ "text": "x".repeat(6 << 20) });
        told["message"]["parts"].as_array_mut().unwrap().push(more);
        ids.push(client.send(told).unwrap()["id"].clone());
    }
    ids.reverse();
    let list = |params: Value| {
        let page = client.call("ListTasks", params).unwrap();
        let tasks = page["tasks"].as_array().unwrap().iter();
        let ids: Vec<Value> = tasks.map(|task| task["id"].clone()).collect();
        (ids, page["nextPageToken"].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(list(json!({ "historyLength": 0 })), (ids.clone(), String::new()));
    let (first, next) = list(json!({}));
    assert_eq!(first, ids[..3], "a page is full with 16 MiB");
    let (second, end) = list(json!({ "pageToken": next }));
    assert_eq!((second.as_slice(), end.as_str()), (&ids[3..], ""));
}

#[test]
fn an_object_is_as_one_with_its_context() {
    let agents = Agents::start(&[]);
    let client = agents.client("ledger", Binding::JsonRpc);
    let add = |id: &str, context: &str, amount: i64| {
        let mut add = data(id, json!(amount));
        add["message"]["contextId"] = json!(context);
        client.send(add).unwrap()["artifacts"][0]["parts"][0]["data"].clone()
    };
    assert_eq!(add("m-1", "ada", 2), json!({ "key": "ada", "sum": 2 }));
    assert_eq!(add("m-2", "ada", 3), json!({ "key": "ada", "sum": 5 }));
    assert_eq!(add("m-3", "bob", 1), json!({ "key": "bob", "sum": 1 }));
    let mut keyed = data("m-4", json!(1));
    keyed["message"]["metadata"] = json!({ "key": "ada" });
    let sum = client.send(keyed).unwrap()["artifacts"][0]["parts"][0]["data"]["sum"].clone();
    assert_eq!(sum, 6);
}

#[test]
fn a_message_without_a_context_is_done_once_by_an_object_too() {
    let agents = Agents::start(&[]);
    for binding in BINDINGS {
        let client = agents.client("ledger", binding);
        let keyed = client.clone().with("idempotency-key", &format!("k-{binding:?}"));
        for (client, name) in [(client, "id"), (keyed, "header")] {
            let add = data(&format!("{name}-{binding:?}"), json!(2));
            let [one, two] = [(); 2].map(|()| client.send(add.clone()).unwrap());
            assert_eq!(one, two, "{name} over {binding:?}");
            assert_eq!(one["artifacts"][0]["parts"][0]["data"]["sum"], 2);
            assert!(one["contextId"].as_str().unwrap().starts_with("ctx_"), "{one}");
        }
    }
}

#[test]
fn a_context_of_one_owner_is_not_that_of_another() {
    let tokens =
        "guard.tokens=[{principal='ada',token='ada-token'},{principal='bob',token='bob-token'}]";
    let agents = Agents::start(&["--set", tokens]);
    let add = |who: &str, id: &str, key: Option<&str>| {
        let client = agents.client("ledger", Binding::JsonRpc);
        let client = client.with("authorization", &format!("Bearer {who}-token"));
        let mut add = data(id, json!(1));
        add["message"]["contextId"] = json!("ours");
        if let Some(key) = key {
            add["message"]["metadata"] = json!({ "key": key });
        }
        client.send(add).unwrap()["artifacts"][0]["parts"][0]["data"]["sum"].clone()
    };
    assert_eq!([add("ada", "m-1", None), add("ada", "m-2", None)], [1, 2]);
    assert_eq!(add("bob", "m-3", None), 1);
    assert_eq!([add("ada", "m-4", Some("k")), add("bob", "m-5", Some("k"))], [1, 2]);
}

#[test]
fn nobody_sees_the_tasks_of_others() {
    let tokens =
        "guard.tokens=[{principal='ada',token='ada-token'},{principal='bob',token='bob-token'}]";
    let agents = Agents::start(&["--set", tokens]);
    for (binding, id) in BINDINGS.into_iter().zip(["a", "b"]) {
        let client = agents.client("refunds", binding);
        let of = |who: &str| client.clone().with("authorization", &format!("Bearer {who}-token"));
        let (ada, bob) = (of("ada"), of("bob"));
        let asked = ada.send(order(id)).unwrap();
        let task = json!({ "id": asked["id"] });
        for operation in ["GetTask", "CancelTask"] {
            let refused = bob.call(operation, task.clone()).unwrap_err();
            assert_eq!(refused.reason.as_deref(), Some("TASK_NOT_FOUND"), "{operation}");
        }
        let refused = bob.send(to(text("m", "yes"), &asked)).unwrap_err();
        assert_eq!(refused.reason.as_deref(), Some("TASK_NOT_FOUND"));
        let stream = block(async { bob.stream("SubscribeToTask", &task, None).await.err() });
        assert_eq!(stream.unwrap().reason.as_deref(), Some("TASK_NOT_FOUND"));
        let listed = bob.call("ListTasks", json!({})).unwrap();
        assert!(!listed.to_string().contains(asked["id"].as_str().unwrap()), "{listed}");
        // The same message id of somebody else is another message.
        assert_ne!(bob.send(order(id)).unwrap()["id"], asked["id"]);
        // And another agent does not know the task.
        let office = Client { url: client.url.replace("refunds", "office"), ..ada.clone() };
        assert!(office.call("GetTask", task.clone()).is_err());

        for nobody in [client.clone(), of("eve")] {
            let answer = nobody.answer("GetTask", &task);
            assert_eq!(answer.status, 401);
            assert!(answer.header("www-authenticate").unwrap().starts_with("Bearer"));
        }
        assert_eq!(state(&ada.get(asked["id"].as_str().unwrap())), INPUT_REQUIRED);
    }
}

#[test]
fn a_token_must_allow_what_agents_and_asks_need() {
    let tokens = "guard.tokens=[{principal='ada',token='ada-token',scopes=['tools:call']},\
                  {principal='bob',token='bob-token',scopes=['read']}]";
    let may = |settings: &[&str], who: &str| {
        let agents = Agents::start(&[&["--set", tokens], settings].concat());
        let token = format!("Bearer {who}-token");
        let asks = format!("{}/holdfast/asks", agents.sidecar.ingress);
        let asks = http::request(Method::GET, &asks, &[("authorization", &token)], "").unwrap();
        let calls = BINDINGS.into_iter().map(|binding| {
            let client = agents.client("refunds", binding).with("authorization", &token);
            client.answer("ListTasks", &json!({})).status
        });
        calls.chain([asks.status]).collect::<Vec<_>>()
    };
    assert_eq!(may(&[], "ada"), [200, 200, 200]);
    assert_eq!(may(&[], "bob"), [403, 403, 403], "as MCP has it");
    let other = ["--set", "a2a.scopes=['read']", "--set", "asks.scopes=[]"];
    assert_eq!(may(&other, "bob"), [200, 200, 200]);
    assert_eq!(may(&other, "ada"), [403, 403, 200]);
}
