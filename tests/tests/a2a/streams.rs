//! What streams tell, and when they end.

use super::{COMPLETED, INPUT_REQUIRED, heard, order, state};
use serde_json::json;
use tests::a2a::{Agents, BINDINGS, Binding, block, data, text, to, told};

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
