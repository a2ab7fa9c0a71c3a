//! Steering and showing invocations.

use super::bench::{Bench, Service};
use bytes::Bytes;
use expect_test::expect;
use holdfast_machine::{
    command::{AttemptEnd, AttemptSaid, Command, Reply, Said},
    id::{DeploymentId, InvocationId},
    model::{NewInvocation, Pin, Retention, Source, Target},
    time::Timestamp,
};
use holdfast_wire::{
    manifest::HandlerType,
    message::{MessageType, pb},
    version::Version,
};
use prost::Message;
use std::{fmt::Write, time::Duration};

const LATER: Timestamp = Timestamp(1_900_000_000_000);
const VERBS: [&str; 7] =
    ["cancel", "pause", "resume", "purge-journal", "restart-as-new", "purge", "kill"];

fn id(number: u128) -> InvocationId {
    InvocationId::random("Svc", None, 1, number)
}

impl Bench {
    async fn invoke(&self, number: u128, start_at: Option<Timestamp>) -> InvocationId {
        let id = id(number);
        let target = Target {
            service: "Svc".into(),
            key: None,
            handler: "run".into(),
            ty: HandlerType::Service,
        };
        let hour = Duration::from_secs(3600);
        let new = NewInvocation {
            id,
            target,
            argument: Bytes::from_static(b"1"),
            headers: vec![],
            idempotency_key: None,
            source: Source::Ingress,
            root: id,
            start_at,
            retention: Retention { completion: hour, journal: hour },
            lazy_state: false,
            random_seed: 1,
        };
        let reply = self.router.of(id).call(Command::Invoke(Box::new(new))).await;
        assert!(matches!(reply, Ok(Reply::Accepted { new: true, .. })), "{reply:?}");
        id
    }

    /// Completes attempt 1 as its hands would.
    async fn complete(&self, invocation: InvocationId) {
        let output = pb::OutputCommand {
            name: String::new(),
            result: Some(pb::output_command::Result::Value(pb::Value { content: "2".into() })),
        };
        let payload = output.encode_to_vec().into();
        let said = Said::Command { ty: MessageType::OUTPUT, payload, callee: None };
        let pin = Some(Pin { deployment: DeploymentId(7), version: Version::V6 });
        let end = Some(AttemptEnd::Completed);
        let partition = self.router.of(invocation);
        partition.say(AttemptSaid { invocation, attempt: 1, pin, said: vec![said], end });
        // Commands keep their order: this one is answered after the attempt was heard.
        let output = partition.call(Command::Output { invocation }).await.unwrap();
        assert!(matches!(output, Reply::Completed { .. }), "{output:?}");
    }

    /// What each verb answers, each to a fresh invocation.
    async fn matrix(
        &self,
        name: &str,
        text: &mut String,
        make: impl AsyncFn(u128) -> InvocationId,
    ) {
        write!(text, "{name:9}").unwrap();
        for (number, verb) in VERBS.into_iter().enumerate() {
            let id = make(number as u128).await;
            let (status, _) = self.call("PATCH", &format!("/invocations/{id}/{verb}"), "").await;
            write!(text, " {verb}={status}").unwrap();
        }
        text.push('\n');
    }
}

#[tokio::test]
async fn verbs_answer_by_status() {
    let bench = Bench::start().await;
    let mut text = String::new();
    bench.matrix("scheduled", &mut text, async |n| bench.invoke(100 + n, Some(LATER)).await).await;
    bench.matrix("ready", &mut text, async |n| bench.invoke(200 + n, None).await).await;
    bench
        .matrix("completed", &mut text, async |n| {
            let id = bench.invoke(300 + n, None).await;
            bench.complete(id).await;
            id
        })
        .await;
    bench.matrix("unknown", &mut text, async |n| id(400 + n)).await;
    expect![[r#"
        scheduled cancel=200 pause=409 resume=425 purge-journal=409 restart-as-new=425 purge=409 kill=200
        ready     cancel=202 pause=202 resume=200 purge-journal=409 restart-as-new=409 purge=409 kill=200
        completed cancel=409 pause=409 resume=409 purge-journal=200 restart-as-new=200 purge=200 kill=409
        unknown   cancel=404 pause=404 resume=404 purge-journal=404 restart-as-new=404 purge=404 kill=404
    "#]].assert_eq(&text);
}

#[tokio::test]
async fn ids_that_are_none_are_refused_in_json() {
    let bench = Bench::start().await;
    for verb in VERBS {
        let path = format!("/invocations/inv_garbage/{verb}");
        let (status, error) = bench.json("PATCH", &path, "").await;
        assert_eq!(status, 400, "{verb}");
        assert!(error["message"].as_str().unwrap().contains("invocation_id"), "{error}");
    }
    assert_eq!(bench.call("DELETE", "/invocations/inv_garbage", "").await.0, 400);
    let unknown = format!("/invocations/{}?mode=kill", id(1));
    assert_eq!(bench.call("DELETE", &unknown, "").await.0, 202);
}

#[tokio::test]
async fn a_restarted_one_has_a_new_id_in_the_same_partition() {
    let bench = Bench::start().await;
    let old = bench.invoke(1, None).await;
    bench.complete(old).await;
    let (_, json) = bench.json("PATCH", &format!("/invocations/{old}/restart-as-new"), "").await;
    let new: InvocationId = json["new_invocation_id"].as_str().unwrap().parse().unwrap();
    assert_ne!(new, old);
    assert_eq!(new.partition_key, old.partition_key);
    let (_, shown) = bench.json("GET", &format!("/holdfast/invocations/{new}"), "").await;
    assert_eq!(
        (&shown["status"], &shown["invoked_by"]["id"]),
        (&"ready".into(), &old.to_string().into())
    );
    let odd = format!("/invocations/{old}/restart-as-new?deployment=dp_x");
    assert_eq!(bench.json("PATCH", &odd, "").await.0, 400);
}

#[tokio::test]
async fn a_batch_tells_what_became_of_each() {
    let bench = Bench::start().await;
    let (known, unknown) = (bench.invoke(1, None).await, id(2));
    let path = "/internal/invocations_batch_operations/kill";
    let body = format!(r#"{{"invocation_ids":["{known}","{unknown}"]}}"#);
    let (status, told) = bench.json("POST", path, &body).await;
    assert_eq!((status, &told["succeeded"][0]), (200, &known.to_string().into()));
    assert_eq!(told["failed"][0]["invocation_id"], unknown.to_string());
    assert_eq!(bench.call("POST", path, r#"{"invocation_ids":["x"]}"#).await.0, 422);
    let nothing = "/internal/invocations_batch_operations/dance";
    assert_eq!(bench.call("POST", nothing, r#"{"invocation_ids":[]}"#).await.0, 404);
}

#[tokio::test]
async fn lists_and_counts_are_served() {
    let bench = Bench::start().await;
    let done = bench.invoke(1, None).await;
    bench.complete(done).await;
    let ready = bench.invoke(2, None).await;
    let (_, list) = bench.json("GET", "/holdfast/invocations", "").await;
    assert_eq!(list["invocations"][0]["id"], ready.to_string());
    assert_eq!(list["invocations"].as_array().unwrap().len(), 1);
    let (_, list) = bench.json("GET", "/holdfast/invocations?status=all&limit=1", "").await;
    assert_eq!(list["more"], true);
    let ids = async |order: &str| -> Vec<serde_json::Value> {
        let path = format!("/holdfast/invocations?status=all&order={order}");
        let list = bench.json("GET", &path, "").await.1;
        list["invocations"].as_array().unwrap().iter().map(|it| it["id"].clone()).collect()
    };
    let (newest, oldest) = (ids("newest").await, ids("oldest").await);
    assert!(newest.len() == 2 && newest.iter().eq(oldest.iter().rev()), "{newest:?} {oldest:?}");
    for nobody in ["keyed=true", "failed=true", "status=ready&zombie=true"] {
        let path = format!("/holdfast/invocations?{nobody}");
        let (_, list) = bench.json("GET", &path, "").await;
        assert_eq!(list["invocations"], serde_json::json!([]), "{nobody}");
    }
    let (_, zombies) = bench.json("GET", "/holdfast/invocations?status=all&zombie=true", "").await;
    assert_eq!(zombies["invocations"][0]["id"], done.to_string(), "its deployment is unknown");
    for wrong in [
        "order=random",
        "keyed=perhaps",
        "status=sleeping",
        "limit=0",
        "limit=9999",
        "deployment=x",
        "limit=x",
    ] {
        let path = format!("/holdfast/invocations?{wrong}");
        assert_eq!(bench.call("GET", &path, "").await.0, 400, "{wrong}");
    }
    let (_, counts) = bench.json("GET", "/holdfast/counts", "").await;
    assert_eq!((&counts["total"], &counts["by_service"]["Svc"]), (&2.into(), &1.into()));
    let path = format!("/holdfast/invocations/{ready}");
    let (_, shown) = bench.json("GET", &path, "").await;
    assert_eq!(shown["waits_for"], "a place: limit Svc/run (2 of 2 running, 3 before it)");
    let unknown = format!("/holdfast/invocations/{}", id(9));
    assert_eq!(bench.json("GET", &unknown, "").await.0, 404);
}

#[tokio::test]
async fn state_is_replaced_where_there_is_some() {
    let services = r#"[{"name":"Obj","ty":"VIRTUAL_OBJECT","handlers":[]},
                       {"name":"Svc","ty":"SERVICE","handlers":[]}]"#;
    let (bench, service) = (Bench::start().await, Service::start(services).await);
    bench.register(&service, "").await;
    let post = async |service: &str, body: &str| {
        bench.call("POST", &format!("/services/{service}/state"), body).await.0
    };
    let set = r#"{"object_key":"k","new_state":{"a":[98,111,98],"b":"text"}}"#;
    assert_eq!(post("Obj", set).await, 202);
    let (_, state) = bench.json("GET", "/holdfast/state/Obj/k", "").await;
    assert_eq!(state["entries"][0]["value"]["text"], "bob");
    assert_eq!(state["entries"][1]["value"]["text"], "text");
    let stale = r#"{"object_key":"k","new_state":{},"version":"stale"}"#;
    assert_eq!(post("Obj", stale).await, 409);
    assert_eq!(post("Svc", set).await, 400);
    assert_eq!(post("Nope", set).await, 404);
    assert_eq!(post("Nope", r#"{"object_key":"k","new_state":{}}"#).await, 202);
    assert_eq!(post("Obj", r#"{"object_key":"k","new_state":{}}"#).await, 202);
    let (_, state) = bench.json("GET", "/holdfast/state/Obj/k", "").await;
    assert_eq!(state["entries"].as_array().unwrap().len(), 0);
}

#[tokio::test]
async fn limits_are_shown_with_who_waits() {
    let bench = Bench::start().await;
    let (status, limits) = bench.json("GET", "/holdfast/limits", "").await;
    assert_eq!(status, 200);
    expect![[r#"
        {
          "attempts": {
            "concurrency": 1000,
            "running": 2,
            "waiting": 0
          },
          "limits": [
            {
              "limit": "Svc/run",
              "service": "Svc",
              "handler": "run",
              "from": "metadata",
              "concurrency": 2,
              "running": 2,
              "waiting": 4,
              "oldest_waiter": "inv_16W1ifuPS0qO03LZ30BX8sU4IDCE59SdHy",
              "waiting_since": "2027-01-15T08:00:00.000Z"
            }
          ]
        }
    "#]]
    .assert_eq(&format!("{limits:#}\n"));
}
