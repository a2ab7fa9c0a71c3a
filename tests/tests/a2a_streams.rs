//! Streams over the death of the sidecar: whoever comes back with the id of the last event that
//! arrived is told everything after it, in order and once.

use hyper::Method;
use serde_json::{Value, json};
use std::time::Duration;
use tests::{
    a2a::{Agents, BINDINGS, Client, at_once, block, data, told},
    eventually_within,
    sse::Event,
};

/// How many tasks are followed at once; `make a2a-streams` takes 1000.
fn tasks() -> u32 {
    let count = std::env::var("A2A_STREAMS").ok();
    count.map_or(100, |count| count.parse().expect("A2A_STREAMS is a number"))
}

const CHAPTERS: u32 = 8;

/// What follows one task over everything that may happen.
struct Follower {
    client: Client,
    task: Value,
    /// Events in order, but for the tasks that each stream begins with.
    events: Vec<Event>,
    last: Option<String>,
    streams: u32,
}

impl Follower {
    fn new(client: Client, task: Value) -> Follower {
        Follower { client, task, events: vec![], last: None, streams: 0 }
    }

    /// Follows to the end, and comes back as often as it takes.
    async fn follow(&mut self) {
        let of = json!({ "id": self.task["id"] });
        loop {
            let wire = self.client.wire("SubscribeToTask", &of);
            let mut headers = vec![("content-type", "application/json"), ("a2a-version", "1.0")];
            headers.extend(self.last.as_deref().map(|last| ("last-event-id", last)));
            let opened =
                tests::sse::Stream::open(Method::POST, &wire.url, &headers, &wire.body).await;
            let Ok(mut stream) = opened else {
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            };
            self.streams += 1;
            let mut first = true;
            loop {
                match stream.next().await {
                    Ok(Some(event)) => {
                        assert_eq!(event.event, None, "an error: {}", event.data);
                        self.last.clone_from(&event.id);
                        let payload = self.client.payload(&event);
                        if first {
                            assert!(payload.get("task").is_some(), "{payload}");
                        } else {
                            self.events.push(event);
                        }
                        first = false;
                        if told(&payload).starts_with("status completed") {
                            return;
                        }
                    }
                    Ok(None) => panic!("the stream ended before the task: {:?}", self.told()),
                    Err(_) => break,
                }
            }
        }
    }

    fn told(&self) -> Vec<String> {
        self.events.iter().map(|event| told(&self.client.payload(event))).collect()
    }
}

/// Every event of a story, but for those before the subscription.
fn story() -> Vec<String> {
    let mut expected = vec!["status working".to_owned()];
    for chapter in 1..=CHAPTERS {
        expected.push(format!("status working writing {chapter}"));
        let append = if chapter > 1 { " append" } else { "" };
        let last = if chapter == CHAPTERS { " lastChunk" } else { "" };
        expected.push(format!("artifact story{append}{last} chapter {chapter}"));
    }
    expected.push("artifact result lastChunk the end".into());
    expected.push("status completed".into());
    expected
}

fn check(follower: &Follower) {
    let (heard, whole) = (follower.told(), story());
    assert!(!heard.is_empty() && whole.ends_with(&heard), "in order and once: {heard:?}");
    let ids: Vec<_> = follower.events.iter().map(|event| event.id.clone().unwrap()).collect();
    let mut once = ids.clone();
    once.dedup();
    assert_eq!(ids, once);
}

#[test]
fn a_stream_goes_on_where_it_broke_off() {
    let mut agents = Agents::start(&[]);
    for (binding, id) in BINDINGS.into_iter().zip(["a", "b"]) {
        let client = agents.client("stories", binding);
        let plot = json!({ "chapters": CHAPTERS, "everyMs": 150 });
        let task = client.send(at_once(data(id, plot))).unwrap();
        let follower = block(async {
            let mut follower = Follower::new(client.clone(), task.clone());
            let following = tokio::spawn(async move {
                follower.follow().await;
                follower
            });
            // Killed in the middle: some chapters are told, some are not.
            let looking = client.clone();
            let agents = &mut agents;
            tokio::task::block_in_place(|| {
                eventually_within(Duration::from_secs(30), "two chapters are written", || {
                    let task = looking.get(task["id"].as_str().unwrap());
                    let written = task["artifacts"][0]["parts"].as_array().map_or(0, Vec::len);
                    (written >= 2).then_some(())
                });
                agents.sidecar.kill9();
                agents.sidecar.restart();
            });
            following.await.unwrap()
        });
        check(&follower);
        assert_eq!(follower.streams, 2, "it was told in two streams");
        // Who missed the end may still ask for it, and who was told all of it may not.
        let (missed, end) = block(async {
            let of = json!({ "id": follower.task["id"] });
            let before = &follower.events[follower.events.len() - 2];
            let mut rest =
                client.stream("SubscribeToTask", &of, before.id.as_deref()).await.unwrap();
            let rest = rest.rest().await.unwrap();
            let last = follower.events.last().unwrap();
            (rest, client.stream("SubscribeToTask", &of, last.id.as_deref()).await.err())
        });
        assert_eq!(missed.len(), 2, "the task, and the one event that is left");
        assert_eq!(missed[1], *follower.events.last().unwrap());
        assert!(end.is_some_and(|it| it.reason.as_deref() == Some("UNSUPPORTED_OPERATION")));
    }
}

#[test]
fn many_subscribers_are_told_everything_over_a_kill() {
    let mut agents = Agents::start(&[]);
    let client = agents.client("stories", BINDINGS[1]);
    let count = tasks();
    // Slow enough that all are under way when the sidecar is killed.
    let every_ms = 250 + 3 * u64::from(count);
    let plot = json!({ "chapters": CHAPTERS, "everyMs": every_ms });
    let began = std::time::Instant::now();
    let followers = block(async {
        let mut following = tokio::task::JoinSet::new();
        for number in 0..count {
            let (client, plot) = (client.clone(), plot.clone());
            following.spawn(async move {
                let sent = at_once(data(&format!("m-{number}"), plot));
                let wire = client.wire("SendMessage", &sent);
                let headers = [("content-type", "application/json"), ("a2a-version", "1.0")];
                let body = wire.body.into();
                let answer = tests::http::send(wire.method, &wire.url, &headers, body).await;
                let task = client.read(&answer.unwrap()).unwrap()["task"].clone();
                let mut follower = Follower::new(client, task);
                follower.follow().await;
                follower
            });
        }
        let (agents, looking) = (&mut agents, client.clone());
        tokio::task::block_in_place(|| {
            eventually_within(Duration::from_secs(120), "all have begun", || {
                let page = looking.call("ListTasks", json!({ "pageSize": 1 })).unwrap();
                (page["totalSize"] == count).then_some(())
            });
            eventually_within(Duration::from_secs(120), "one is in the middle", || {
                let filter = json!({ "pageSize": 1, "includeArtifacts": true });
                let page = looking.call("ListTasks", filter).unwrap();
                let written =
                    page["tasks"][0]["artifacts"][0]["parts"].as_array().map_or(0, Vec::len);
                (written >= 2).then_some(())
            });
            agents.sidecar.kill9();
            agents.sidecar.restart();
        });
        let mut followers = vec![];
        while let Some(follower) = following.join_next().await {
            followers.push(follower.unwrap());
        }
        followers
    });
    followers.iter().for_each(check);
    assert_eq!(followers.len(), count as usize);
    let twice = followers.iter().filter(|it| it.streams > 1).count();
    let events: usize = followers.iter().map(|it| it.events.len()).sum();
    println!(
        "{count} subscribers, {events} events, {twice} came back after the kill, {:.1} s",
        began.elapsed().as_secs_f64()
    );
    assert!(twice * 10 >= followers.len() * 9, "the kill was in the middle: {twice} of {count}");
}
