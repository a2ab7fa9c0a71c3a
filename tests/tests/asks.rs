//! Asks from end to end: a handler on our own SDK asks, people answer over HTTP and from a
//! terminal, and the sidecar is killed meanwhile.

use holdfast_sdk::prelude::*;
use holdfast_sdk::{
    Answer, Artifact, Request,
    schemars::{self, JsonSchema},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{
    process::{Command, Output},
    time::Duration,
};
use tests::{
    eventually, http,
    process::{free_port, holdfast},
    sidecar::Sidecar,
};

/// What an answer has to say.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Approval {
    approved: bool,
    /// Why, if it is not obvious.
    reason: Option<String>,
}

struct Desk;

#[service(
    inactivity_timeout = "200ms",
    retry(initial_interval = "50ms", factor = 1.0, max_interval = "50ms")
)]
impl Desk {
    async fn approve(&self, ctx: &Context, question: String) -> Result<Value> {
        ctx.progress("asking");
        ctx.artifact(Artifact::new("draft").text("one").last());
        let answer = ctx.ask::<Approval>(&question).to("approvers").begin().await?;
        Ok(json!(answer))
    }

    /// Two questions at once.
    async fn both(&self, ctx: &Context) -> Result<Value> {
        let one = ctx.ask::<Approval>("One?").begin();
        let two = ctx.ask::<Approval>("Two?").auth().begin();
        let (one, two) = (one.await?, two.await?);
        Ok(json!([one, two]))
    }

    async fn race(&self, ctx: &Context) -> Result<Value> {
        let asked = ctx.ask::<Approval>("In time?").begin();
        let answer = asked.or_timeout(Duration::from_millis(300)).await?;
        Ok(json!(answer.is_some()))
    }

    async fn expires(&self, ctx: &Context) -> Result<Value> {
        let asked = ctx.ask::<Approval>("Quick?").expires_after(Duration::from_millis(300));
        Ok(json!(matches!(asked.begin().await?, Answer::Cancel { by: None, .. })))
    }

    async fn misspelt(&self, ctx: &Context) -> Result<Value> {
        let question = json!({ "massage": "typo" });
        Ok(ctx.call(Request::<Value>::new("holdfast.Human", "ask", &question)).await?)
    }

    /// Asks on behalf of whoever calls, in another partition perhaps.
    async fn delegate(&self, ctx: &Context, question: String) -> Result<Value> {
        Ok(ctx.call(Request::<Value>::new("Desk", "approve", &question)).await?)
    }
}

/// The service on a thread of its own, for as long as the test runs.
fn serve() -> String {
    let port = free_port();
    let address = format!("127.0.0.1:{port}");
    let listen = address.clone();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let endpoint = Endpoint::builder().bind(Desk).build();
        runtime.block_on(endpoint.listen(&listen)).unwrap();
    });
    eventually("the service listens", || std::net::TcpStream::connect(&address).ok());
    format!("http://{address}")
}

struct World {
    _directory: tempfile::TempDir,
    sidecar: Sidecar,
}

impl World {
    fn start() -> World {
        let directory = tempfile::tempdir().unwrap();
        let sidecar = Sidecar::start(directory.path(), &["--partitions", "4"]);
        sidecar.register(&serve());
        World { _directory: directory, sidecar }
    }

    /// Sends to a handler of the desk; gives the invocation.
    fn send(&self, handler: &str, input: &Value) -> String {
        let url = format!("{}/restate/send/Desk/{handler}", self.sidecar.ingress);
        let sent = match input {
            Value::Null => http::request(hyper::Method::POST, &url, &[], "").unwrap(),
            input => http::post_json(&url, input).unwrap(),
        };
        assert_eq!(sent.status, 202, "{}", sent.text());
        sent.json()["invocationId"].as_str().unwrap().to_owned()
    }

    /// What an invocation came to: status and body.
    fn outcome(&self, invocation: &str) -> (u16, Value) {
        let url = format!("{}/restate/invocation/{invocation}/attach", self.sidecar.ingress);
        let answer = http::get(&url).unwrap();
        (answer.status, answer.json())
    }

    /// The asks under an invocation, as the admin listener shows them.
    fn asks(&self, invocation: &str, more: &str) -> Vec<Value> {
        let url = format!("{}/holdfast/asks?invocation={invocation}{more}", self.sidecar.admin);
        let answer = http::get(&url).unwrap();
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()["asks"].as_array().unwrap().clone()
    }

    /// The ids of the pending asks under an invocation, once there are so many.
    fn pending(&self, invocation: &str, count: usize) -> Vec<String> {
        let asks = eventually("it is asked", || {
            Some(self.asks(invocation, "")).filter(|asks| asks.len() == count)
        });
        asks.iter().map(|ask| ask["id"].as_str().unwrap().to_owned()).collect()
    }

    fn answer(&self, listener: &str, ask: &str, body: &Value) -> (u16, Value) {
        let answer = http::post_json(&format!("{listener}/holdfast/asks/{ask}"), body).unwrap();
        (answer.status, answer.json())
    }

    /// `holdfast asks …`
    fn asks_by_hand(&self, words: &[&str]) -> Output {
        let mut command = Command::new(holdfast());
        command.arg("asks").args(words).args(["--admin", &self.sidecar.admin]);
        command.output().unwrap()
    }
}

#[track_caller]
fn told(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn yes() -> Value {
    json!({ "action": "accept", "content": { "approved": true }, "by": "ada" })
}

#[test]
fn a_person_answers_over_http_although_the_sidecar_was_killed() {
    let mut world = World::start();
    let invocation = world.send("approve", &json!("Refund 12.50?"));
    let ask = world.pending(&invocation, 1).remove(0);
    eventually("it is suspended", || {
        (world.sidecar.describe(&invocation)["status"] == "suspended").then_some(())
    });
    world.sidecar.kill9();
    world.sidecar.restart();

    let shown = world.asks(&invocation, "").remove(0);
    assert_eq!((&shown["message"], &shown["to"]), (&json!("Refund 12.50?"), &json!("approvers")));
    assert_eq!(shown["schema"]["required"], json!(["approved"]));
    let wrong = json!({ "action": "accept", "content": { "approved": "yes" } });
    let (status, refused) = world.answer(&world.sidecar.admin, &ask, &wrong);
    assert_eq!(status, 422, "{refused}");
    assert!(refused["message"].as_str().unwrap().contains("HF0201"), "{refused}");
    assert_eq!(world.asks(&invocation, "").len(), 1, "nothing was stored");

    // At the listener of the ingress, too.
    let (status, closed) = world.answer(&world.sidecar.ingress, &ask, &yes());
    assert_eq!((status, &closed["status"]), (200, &json!("answered")), "{closed}");
    let late = json!({ "action": "decline", "by": "bob" });
    let (status, refused) = world.answer(&world.sidecar.admin, &ask, &late);
    assert_eq!((status, &refused["answer"]["by"]), (409, &json!("ada")), "{refused}");

    world.sidecar.kill9();
    world.sidecar.restart();
    let (status, outcome) = world.outcome(&invocation);
    assert_eq!(status, 200, "{outcome}");
    assert_eq!((&outcome["action"], &outcome["by"]), (&json!("accept"), &json!("ada")));
    assert_eq!(outcome["content"], json!({ "approved": true, "reason": null }));
    assert_eq!(outcome["at"], closed["answer"]["at"]);
}

#[test]
fn a_person_answers_from_a_terminal() {
    let world = World::start();
    let invocation = world.send("delegate", &json!("Go on?"));
    let ask = world.pending(&invocation, 1).remove(0);
    let list = told(&world.asks_by_hand(&["list", "--to", "approvers"]));
    assert!(
        list.contains(&ask) && list.contains("Go on?") && list.contains("Desk/approve"),
        "{list}"
    );
    let shown = told(&world.asks_by_hand(&["show", &ask]));
    assert!(shown.contains("approved") && shown.contains("boolean"), "{shown}");
    let refused = world.asks_by_hand(&["answer", &ask, "accept"]);
    assert!(!refused.status.success());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("`approved` is missing"));
    let set = ["--set", "approved=true", "--set", "reason=fine", "--by", "eve"];
    told(&world.asks_by_hand(&[&["answer", &ask, "accept"], &set[..]].concat()));
    let late = world.asks_by_hand(&["answer", &ask, "decline"]);
    assert!(!late.status.success());
    assert!(String::from_utf8_lossy(&late.stderr).contains("HF0202"));
    assert!(told(&world.asks_by_hand(&["list"])).contains("nobody is asked anything"));
    assert!(told(&world.asks_by_hand(&["list", "--closed"])).contains("answered"));
    let (status, outcome) = world.outcome(&invocation);
    assert_eq!((status, &outcome["by"]), (200, &json!("eve")), "{outcome}");
    assert_eq!(outcome["content"]["reason"], "fine");
}

#[test]
fn questions_at_once_in_time_and_without_an_answer() {
    let world = World::start();
    let both = world.send("both", &Value::Null);
    let race = world.send("race", &Value::Null);
    let expires = world.send("expires", &Value::Null);
    let (status, misspelt) = world.outcome(&world.send("misspelt", &Value::Null));
    assert_eq!(status, 400, "{misspelt}");
    assert!(misspelt["message"].as_str().unwrap().contains("massage"), "{misspelt}");

    assert_eq!(world.outcome(&race), (200, json!(false)));
    assert_eq!(world.asks(&race, "&closed=true")[0]["status"], "withdrawn");
    assert_eq!(world.outcome(&expires), (200, json!(true)));
    assert_eq!(world.asks(&expires, "&closed=true")[0]["status"], "expired");

    let asks = world.pending(&both, 2);
    let (status, _) = world.answer(&world.sidecar.admin, &asks[1], &json!({ "action": "decline" }));
    assert_eq!((status, world.asks(&both, "").len()), (200, 1));
    assert_eq!(world.answer(&world.sidecar.admin, &asks[0], &yes()).0, 200);
    let (status, outcome) = world.outcome(&both);
    assert_eq!(status, 200, "{outcome}");
    let actions = (&outcome[0]["action"], &outcome[1]["action"]);
    assert_eq!(actions, (&json!("accept"), &json!("decline")));
}

#[test]
fn nobody_is_asked_for_what_was_cancelled() {
    let world = World::start();
    for verb in ["cancel", "kill"] {
        let invocation = world.send("delegate", &json!("Still?"));
        let ask = world.pending(&invocation, 1).remove(0);
        let url = format!("{}/invocations/{invocation}/{verb}", world.sidecar.admin);
        let done = http::request(hyper::Method::PATCH, &url, &[], "").unwrap();
        assert!(done.status < 300, "{}", done.text());
        assert_eq!(world.outcome(&invocation).0, 409, "{verb}");
        let (status, late) = world.answer(&world.sidecar.admin, &ask, &yes());
        assert_eq!(status, 409, "{late}");
        assert!(late["message"].as_str().unwrap().contains("withdrawn"), "{late}");
    }
}
