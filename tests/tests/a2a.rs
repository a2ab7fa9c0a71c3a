//! Agents of A2A over both JSON bindings, against the real sidecar and real handlers.

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
fn a_stream_tells_everything_in_order() {
    let agents = Agents::start(&[]);
    for (binding, id) in BINDINGS.into_iter().zip(["a", "b"]) {
        let client = agents.client("stories", binding);
        let heard = heard(&client, "SendStreamingMessage", &data(id, json!({ "chapters": 3 })));
        let expected = [
            "task submitted",
            "status working",
            "status working writing 1",
            "artifact story chapter 1",
            "status working writing 2",
            "artifact story append chapter 2",
            "status working writing 3",
            "artifact story append lastChunk chapter 3",
            "artifact result lastChunk the end",
            "status completed",
        ];
        assert_eq!(heard, expected);
        let listed = client.call("ListTasks", json!({ "includeArtifacts": true })).unwrap();
        let task = &listed["tasks"][0];
        let story = &task["artifacts"][0];
        assert_eq!(story["parts"].as_array().unwrap().len(), 3, "the chunks, one after the other");
        let said = task["history"].as_array().unwrap();
        let said: Vec<_> = said.iter().filter_map(|it| it["parts"][0]["text"].as_str()).collect();
        assert_eq!(said, ["writing 1", "writing 2", "writing 3"]);
        assert_eq!(task["history"][1]["metadata"]["urn:holdfast:progress"]["total"], 3.0);
    }
}

#[test]
fn the_stream_of_a_message_ends_at_a_question_and_a_subscription_does_not() {
    let agents = Agents::start(&[]);
    for (binding, round) in BINDINGS.into_iter().zip(["a", "b"]) {
        let client = agents.client("refunds", binding);
        let question = "Approve a refund of 42.5 for o-1?";
        let sent = heard(&client, "SendStreamingMessage", &order(&format!("{round}-1")));
        let asked = format!("status input_required {question}");
        assert_eq!(sent, ["task submitted", "status working", &asked]);
        let listed = client.call("ListTasks", json!({ "status": INPUT_REQUIRED })).unwrap();
        let task = listed["tasks"][0].clone();
        let events = block(async {
            let of = json!({ "id": task["id"] });
            let mut streams = vec![];
            for _ in 0..2 {
                let mut stream = client.stream("SubscribeToTask", &of, None).await.unwrap();
                let first = stream.next().await.unwrap().unwrap();
                assert_eq!(told(&client.payload(&first)), "task input_required");
                streams.push(stream);
            }
            let approved = to(data(&format!("{round}-2"), json!({ "approved": true })), &task);
            let answering = client.clone();
            let done = tokio::task::spawn_blocking(move || answering.send(approved).unwrap()).await;
            assert_eq!(state(&done.unwrap()), COMPLETED);
            let [mut one, mut two] = <[_; 2]>::try_from(streams).ok().unwrap();
            let events = one.rest().await.unwrap();
            assert_eq!(events, two.rest().await.unwrap(), "both are told the same");
            events
        });
        let heard: Vec<String> = events.iter().map(|it| told(&client.payload(it))).collect();
        let result =
            r#"artifact result lastChunk {"status":"refunded","orderId":"o-1","amount":42.5}"#;
        assert_eq!(heard, ["status working", result, "status completed"]);
    }
}

#[test]
fn a_handler_may_answer_with_a_message() {
    let agents = Agents::start(&[]);
    for (binding, round) in BINDINGS.into_iter().zip(["a", "b"]) {
        let client = agents.client("talker", binding);
        let hello = |id: &str| {
            let mut hello = text(&format!("{round}-{id}"), "hello");
            hello["message"]["contextId"] = json!("c-1");
            hello
        };
        let sent = client.call("SendMessage", hello("1")).unwrap();
        let message = &sent["message"];
        assert_eq!(message["parts"], json!([{ "text": "you said hello in \"c-1\"" }]));
        assert_eq!(
            (&message["role"], &message["contextId"]),
            (&json!("ROLE_AGENT"), &json!("c-1"))
        );
        assert_eq!(sent.get("task"), None);
        let heard = heard(&client, "SendStreamingMessage", &hello("2"));
        assert_eq!(heard, ["message you said hello in \"c-1\""]);

        let work = client.send(text(&format!("{round}-3"), "work")).unwrap();
        assert_eq!(state(&work), COMPLETED, "it may do something else as well");
        assert_eq!(work["artifacts"][0]["parts"][0]["data"], json!([{ "text": "work" }]));
        let wrong = client.send(text(&format!("{round}-4"), "wrong")).unwrap_err();
        assert_eq!(wrong.reason.as_deref(), Some("INVALID_AGENT_RESPONSE"));
        let failed = client.send(text(&format!("{round}-5"), "fail")).unwrap();
        assert_eq!(state(&failed), "TASK_STATE_FAILED");
        assert_eq!(failed["status"]["message"]["parts"][0]["text"], "no luck");
        let rejected = client.send(text(&format!("{round}-6"), "reject")).unwrap();
        assert_eq!(state(&rejected), "TASK_STATE_REJECTED");
    }
}

#[test]
fn what_is_asked_for_out_of_band_keeps_streams_open() {
    let agents = Agents::start(&[]);
    let client = agents.client("talker", Binding::HttpJson);
    let heard: Vec<String> = block(async {
        let login = text("m-1", "login");
        let mut stream = client.stream("SendStreamingMessage", &login, None).await.unwrap();
        let mut heard = vec![];
        while !heard.iter().any(|it: &String| it.starts_with("status auth_required")) {
            let event = stream.next().await.unwrap().expect("the stream is open");
            heard.push(told(&client.payload(&event)));
        }
        let listed = client.clone();
        tokio::task::spawn_blocking(move || {
            let tasks = listed.call("ListTasks", json!({ "status": "TASK_STATE_AUTH_REQUIRED" }));
            let task = tasks.unwrap()["tasks"][0].clone();
            let parts = &task["status"]["message"]["parts"];
            assert_eq!(parts[1]["url"], "https://example.com/login");
            listed.send(to(text("m-2", "me"), &task)).unwrap();
        })
        .await
        .unwrap();
        let rest = stream.rest().await.unwrap();
        heard.extend(rest.iter().map(|event| told(&client.payload(event))));
        heard
    });
    assert_eq!(heard.last().unwrap(), "status completed", "{heard:?}");
    let result = &heard[heard.len() - 2];
    assert!(result.contains(r#""messageId":"m-2""#), "the whole message: {result}");
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
