//! A2A over gRPC: the same operations, the errors of the specification with their details, streams
//! that outlive the sidecar, deadlines, and what is no call of gRPC at all.

use bytes::Bytes;
use expect_test::expect;
use serde_json::json;
use std::fmt::Write;
use tests::{
    a2a::{Agents, block},
    grpc::{Client, Status, Stream, data, pb, text},
};

fn send(tenant: &str, message: pb::Message) -> pb::SendMessageRequest {
    pb::SendMessageRequest { tenant: tenant.into(), message: Some(message), ..Default::default() }
}

fn at_once(mut request: pb::SendMessageRequest) -> pb::SendMessageRequest {
    request.configuration.get_or_insert_default().return_immediately = true;
    request
}

fn order(id: &str) -> pb::SendMessageRequest {
    send("refunds", data(id, &json!({ "orderId": "o-1", "amount": 42.5 })))
}

fn approve(id: &str, task: &pb::Task) -> pb::SendMessageRequest {
    let message =
        pb::Message { task_id: task.id.clone(), ..data(id, &json!({ "approved": true })) };
    send("refunds", message)
}

async fn sent(client: &mut Client, request: &pb::SendMessageRequest) -> pb::Task {
    let sent: pb::SendMessageResponse = client.call("SendMessage", request).await.unwrap();
    match sent.payload {
        Some(pb::send_message_response::Payload::Task(task)) => task,
        other => panic!("no task: {other:?}"),
    }
}

fn state(task: &pb::Task) -> &'static str {
    state_of(task.status.as_ref().unwrap())
}

fn state_of(status: &pb::TaskStatus) -> &'static str {
    pb::TaskState::try_from(status.state).unwrap().as_str_name().trim_start_matches("TASK_STATE_")
}

fn told(event: pb::StreamResponse) -> String {
    use pb::stream_response::Payload;
    match event.payload.unwrap() {
        Payload::Task(task) => format!("task {}", state(&task)),
        Payload::Message(message) => format!("message {}", message.parts.len()),
        Payload::StatusUpdate(update) => state_of(&update.status.unwrap()).to_owned(),
        Payload::ArtifactUpdate(update) => {
            let artifact = update.artifact.unwrap();
            format!("artifact {} {} {}", artifact.artifact_id, update.append, update.last_chunk)
        }
    }
}

/// To its end, or to where the connection breaks.
async fn rest(stream: &mut Stream) -> Vec<String> {
    let mut events = vec![];
    while let Some(event) = stream.next::<pb::StreamResponse>().await {
        match event {
            Ok(event) => events.push(told(event)),
            Err(status) => {
                events.push(format!("ended with {}", status.code));
                break;
            }
        }
    }
    events
}

fn get(tenant: &str, id: &str) -> pb::GetTaskRequest {
    pb::GetTaskRequest { tenant: tenant.into(), id: id.into(), history_length: None }
}

#[test]
fn a_refund_over_three_calls() {
    let agents = Agents::start(&[]);
    block(async {
        let mut client = Client::connect(&agents.sidecar.ingress).await;
        let task = sent(&mut client, &order("m-1")).await;
        assert_eq!((state(&task), task.history.len()), ("INPUT_REQUIRED", 1));
        let same = sent(&mut client, &order("m-1")).await;
        assert_eq!(same.id, task.id, "the same message makes no second task");

        let done = sent(&mut client, &approve("m-2", &task)).await;
        assert_eq!((state(&done), &done.context_id), ("COMPLETED", &task.context_id));
        let Some(pb::part::Content::Data(result)) = &done.artifacts[0].parts[0].content else {
            panic!("{done:?}");
        };
        assert_eq!(
            *result,
            tests::grpc::json(&json!({ "status": "refunded", "orderId": "o-1", "amount": 42.5 }))
        );
        let got: pb::Task = client.call("GetTask", &get("refunds", &task.id)).await.unwrap();
        assert_eq!(state(&got), "COMPLETED");
        let list = pb::ListTasksRequest {
            tenant: "refunds".into(),
            context_id: task.context_id.clone(),
            page_size: Some(1),
            ..Default::default()
        };
        let page: pb::ListTasksResponse = client.call("ListTasks", &list).await.unwrap();
        assert_eq!((page.tasks[0].id.as_str(), page.total_size), (task.id.as_str(), 1));
        assert!(page.tasks[0].artifacts.is_empty(), "they were not asked for");

        let waits = sent(&mut client, &order("m-3")).await;
        let cancel = pb::CancelTaskRequest {
            tenant: "refunds".into(),
            id: waits.id.clone(),
            metadata: None,
        };
        let canceled: pb::Task = client.call("CancelTask", &cancel).await.unwrap();
        assert_eq!(state(&canceled), "CANCELED");
        let direct = send("talker", text("m-4", "hello"));
        let direct: pb::SendMessageResponse = client.call("SendMessage", &direct).await.unwrap();
        let payload = direct.payload.unwrap();
        assert!(matches!(payload, pb::send_message_response::Payload::Message(_)), "{payload:?}");
    });
}

#[test]
fn receivers_are_registered_over_grpc_too() {
    let agents = Agents::start(&[]);
    block(async {
        let mut client = Client::connect(&agents.sidecar.ingress).await;
        let task = sent(&mut client, &order("m-1")).await;
        let tenant = || "refunds".to_owned();
        let config = pb::TaskPushNotificationConfig {
            tenant: tenant(),
            id: "p".into(),
            task_id: task.id.clone(),
            url: "https://example.com/hook".into(),
            token: "t".into(),
            authentication: None,
        };
        let expected = pb::TaskPushNotificationConfig { tenant: String::new(), ..config.clone() };
        let created: pb::TaskPushNotificationConfig =
            client.call("CreateTaskPushNotificationConfig", &config).await.unwrap();
        assert_eq!(created, expected);
        let of = pb::GetTaskPushNotificationConfigRequest {
            tenant: tenant(),
            task_id: task.id.clone(),
            id: "p".into(),
        };
        let got: pb::TaskPushNotificationConfig =
            client.call("GetTaskPushNotificationConfig", &of).await.unwrap();
        assert_eq!(got, expected);
        let list = pb::ListTaskPushNotificationConfigsRequest {
            tenant: tenant(),
            task_id: task.id.clone(),
            ..Default::default()
        };
        let listed: pb::ListTaskPushNotificationConfigsResponse =
            client.call("ListTaskPushNotificationConfigs", &list).await.unwrap();
        assert_eq!(listed.configs, [expected]);
        let delete = pb::DeleteTaskPushNotificationConfigRequest {
            tenant: tenant(),
            task_id: task.id.clone(),
            id: "p".into(),
        };
        client.call::<()>("DeleteTaskPushNotificationConfig", &delete).await.unwrap();
        let listed: pb::ListTaskPushNotificationConfigsResponse =
            client.call("ListTaskPushNotificationConfigs", &list).await.unwrap();
        assert_eq!(listed.configs, []);
    });
}

#[test]
fn a_stream_is_followed_over_kill_9() {
    let mut agents = Agents::start(&[]);
    block(async {
        let mut client = Client::connect(&agents.sidecar.ingress).await;
        let mut stream =
            client.stream("SendStreamingMessage", &order("m-1")).await.expect("a stream");
        let events = rest(&mut stream).await;
        assert_eq!(events[0], "task SUBMITTED");
        assert_eq!(events.last().unwrap(), "INPUT_REQUIRED", "then the client has to speak");

        let task = sent(&mut client, &at_once(order("m-2"))).await;
        let subscribe =
            pb::SubscribeToTaskRequest { tenant: "refunds".into(), id: task.id.clone() };
        let mut before = client.stream("SubscribeToTask", &subscribe).await.unwrap();
        let first: pb::StreamResponse = before.next().await.unwrap().unwrap();
        assert!(told(first).starts_with("task "));
        agents.sidecar.kill9();
        assert_eq!(rest(&mut before).await.last().unwrap(), "ended with -1");
        tokio::task::block_in_place(|| agents.sidecar.restart());

        let mut client = Client::connect(&agents.sidecar.ingress).await;
        let mut after = client.stream("SubscribeToTask", &subscribe).await.unwrap();
        let first: pb::StreamResponse = after.next().await.unwrap().unwrap();
        assert!(told(first).starts_with("task "));
        let mut other = Client::connect(&agents.sidecar.ingress).await;
        sent(&mut other, &approve("m-3", &task)).await;
        let events = rest(&mut after).await;
        assert!(
            events.ends_with(&["artifact result false true".into(), "COMPLETED".into()]),
            "{events:?}"
        );
    });
}

/// How calls are refused, by number, reason and fields.
#[test]
fn errors_have_their_status_and_their_reason() {
    let agents = Agents::start(&[
        "--set",
        "a2a.card.extended=true",
        "--set",
        "a2a.agents.office.push_notifications=false",
        "--set",
        "a2a.agents.office.streaming=false",
        "--set",
        "a2a.agents.refunds.strict_media_types=true",
        "--set",
        "a2a.agents.ledger.extensions=[{uri='urn:x', required=true}]",
    ]);
    let mut lines = String::new();
    let mut note = |what: &str, refused: Result<String, Status>| {
        let status = match refused {
            Ok(done) => return writeln!(lines, "{what}: {done}").unwrap(),
            Err(status) => status,
        };
        let fields = status.fields().join(" ");
        let line = format!("{what}: {} {} {fields}", status.code, status.reason());
        writeln!(lines, "{}", line.trim_end()).unwrap();
    };
    block(async {
        let mut client = Client::connect(&agents.sidecar.ingress).await;
        let done = send("stories", data("m-1", &json!({ "chapters": 1 })));
        let done = sent(&mut client, &done).await;
        assert_eq!(state(&done), "COMPLETED");
        macro_rules! refused {
            ($what:literal, $method:literal, $request:expr) => {
                let called = client.call::<()>($method, &$request).await;
                note($what, called.map(|()| "done".into()));
            };
        }
        refused!("task not found", "GetTask", get("refunds", "nope"));
        refused!("another agent's task", "GetTask", get("refunds", &done.id));
        let cancel =
            pb::CancelTaskRequest { tenant: "stories".into(), id: done.id.clone(), metadata: None };
        refused!("not cancelable", "CancelTask", cancel);
        let push = pb::TaskPushNotificationConfig { tenant: "office".into(), ..Default::default() };
        refused!("no push", "CreateTaskPushNotificationConfig", push);
        let ended = pb::Message { task_id: done.id.clone(), ..text("m-2", "more") };
        refused!("it has ended", "SendMessage", send("stories", ended));
        let subscribe =
            pb::SubscribeToTaskRequest { tenant: "stories".into(), id: done.id.clone() };
        refused!("nothing to come", "SubscribeToTask", subscribe);
        refused!("no streams", "SendStreamingMessage", send("office", text("m-3", "x")));
        let mut picture = text("m-4", "x");
        picture.parts[0].media_type = "image/png".into();
        refused!("content type", "SendMessage", send("refunds", picture));
        refused!("no answer", "SendMessage", send("talker", text("m-5", "wrong")));
        let card = pb::GetExtendedAgentCardRequest { tenant: "refunds".into() };
        refused!("no extended card", "GetExtendedAgentCard", card);
        refused!("extension", "SendMessage", send("ledger", text("m-6", "1")));
        let list = pb::ListTasksRequest {
            tenant: "refunds".into(),
            page_size: Some(0),
            ..Default::default()
        };
        refused!("page size", "ListTasks", list);
        let empty = pb::SendMessageRequest { tenant: "refunds".into(), ..Default::default() };
        refused!("no message", "SendMessage", empty);
        refused!("no such agent", "GetTask", get("nobody", "x"));
        refused!("which agent", "GetTask", get("", "x"));
        refused!("no such operation", "Nope", get("refunds", "x"));

        let mut raw = async |what: &str, body: &'static [u8], headers: &[(&str, &str)]| {
            let called = client.raw("GetTask", Bytes::from_static(body), headers).await;
            note(what, called.map(|_| "a stream".into()));
        };
        raw("no frame", b"", &[]).await;
        raw("no protobuf", b"\0\0\0\0\x02\xff\xff", &[]).await;
        raw("compressed", b"\x01\0\0\0\0", &[]).await;
        raw("no time", b"\0\0\0\0\0", &[("grpc-timeout", "soon")]).await;

        client.metadata = vec![("a2a-version".into(), "99.0".into())];
        refused!("another version", "GetTask", get("refunds", "x"));
        client.metadata = vec![("a2a-version".into(), "0.3".into())];
        refused!("an old version", "GetTask", get("refunds", "x"));
        client.metadata = vec![("grpc-timeout".into(), "300m".into())];
        let slow = json!({ "orderId": "o", "amount": 1.0, "delayMs": 60_000 });
        refused!("too late", "SendMessage", send("refunds", data("m-7", &slow)));
        client.metadata = vec![];
        client.authority = "evil.example".into();
        refused!("a strange host", "GetTask", get("refunds", "x"));
        let called = client.raw("GetTask", Bytes::new(), &[]).await;
        note("a strange host, before the body", called.map(|_| "a stream".into()));
    });
    let tokens = "guard.tokens=[{principal='ada', token='0123456789abcdef0123456789abcdef'}]";
    let guarded = Agents::start(&["--set", tokens]);
    let busy = Agents::start(&["--set", "a2a.requests_max=0"]);
    block(async {
        let mut client = Client::connect(&guarded.sidecar.ingress).await;
        let called = client.call::<()>("GetTask", &get("refunds", "x")).await;
        note("no token", called.map(|()| "done".into()));
        let called = client.raw("GetTask", Bytes::new(), &[]).await;
        note("no token, before the body", called.map(|_| "a stream".into()));
        let token = "Bearer 0123456789abcdef0123456789abcdef";
        client.metadata.push(("authorization".into(), token.into()));
        let called = client.call::<()>("GetTask", &get("refunds", "x")).await;
        note("with a token", called.map(|()| "done".into()));
        let mut client = Client::connect(&busy.sidecar.ingress).await;
        let called = client.call::<()>("GetTask", &get("refunds", "x")).await;
        note("overload", called.map(|()| "done".into()));
    });
    expect![[r#"
        task not found: 5 TASK_NOT_FOUND
        another agent's task: 5 TASK_NOT_FOUND
        not cancelable: 9 TASK_NOT_CANCELABLE
        no push: 9 PUSH_NOTIFICATION_NOT_SUPPORTED
        it has ended: 9 UNSUPPORTED_OPERATION
        nothing to come: 9 UNSUPPORTED_OPERATION
        no streams: 9 UNSUPPORTED_OPERATION
        content type: 3 CONTENT_TYPE_NOT_SUPPORTED
        no answer: 13 INVALID_AGENT_RESPONSE
        no extended card: 9 EXTENDED_AGENT_CARD_NOT_CONFIGURED
        extension: 9 EXTENSION_SUPPORT_REQUIRED
        page size: 3 INVALID_PARAMS pageSize
        no message: 3 INVALID_PARAMS message
        no such agent: 5
        which agent: 5
        no such operation: 12
        no frame: 3 INVALID_REQUEST
        no protobuf: 3 INVALID_REQUEST
        compressed: 12
        no time: 3 INVALID_PARAMS grpc-timeout
        another version: 9 VERSION_NOT_SUPPORTED
        an old version: 9 VERSION_NOT_SUPPORTED
        too late: 4
        a strange host: 7
        a strange host, before the body: 7
        no token: 16
        no token, before the body: 16
        with a token: 5 TASK_NOT_FOUND
        overload: 14
    "#]]
    .assert_eq(&lines);
}
