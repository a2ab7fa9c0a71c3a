//! The notifier at work: real rows, real partitions, real receivers.

mod bench;

use super::{Calls, Config, Event};
use crate::http::testing::until;
use crate::store::memory::Memory;
use bench::*;
use expect_test::expect;
use holdfast_machine::id::{PartitionId, Partitions};
use ring::hmac;
use std::time::Duration;

fn to(url: &str) -> Config {
    Config { url: Some(url.to_owned()), timeout_ms: 300, ..Config::default() }
}

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test]
async fn a_pause_is_told_once_and_forgotten() {
    let receiver = Receiver::answering(&[204]).await;
    let bench = Bench::start(to(&receiver.url)).await;
    let id = bench.call("Greeter/pause", 1).await;
    let got = receiver.wait(1).await.remove(0);
    assert_eq!(got.header("content-type"), "application/json");
    assert_eq!(got.header("x-holdfast-notice"), got.json()["id"]);
    assert!(got.headers.get("x-holdfast-signature").is_none());
    let text = got.text.replace(&id.to_string(), "INV");
    let text = text.replace(got.header("x-holdfast-notice"), "NOTICE");
    expect![[r#"{"type":"invocation.paused","id":"NOTICE","at":"2027-01-15T08:00:00.000Z","by":"service","invocation":{"id":"INV","target":"Greeter/pause","service":"Greeter","handler":"pause","status":"paused","attempts":1,"failure":{"code":500,"message":"no bank"}},"links":{"describe":"http://admin/holdfast/invocations/INV"}}"#]].assert_eq(&text);
    bench.nothing_waits().await;
    assert_eq!(receiver.got().len(), 1);
    let settled = || bench.metric(r#"settled_total{how="taken"}"#);
    within("it is counted", until(|| settled().as_deref() == Some("1"))).await;
    bench.stop().await;
}

#[tokio::test]
async fn a_failure_is_told_with_its_cause() {
    let receiver = Receiver::answering(&[200]).await;
    let bench = Bench::start(to(&receiver.url)).await;
    bench.call("Greeter/fail", 1).await;
    let told = receiver.wait(1).await[0].json();
    assert_eq!((&told["type"], &told["cause"]), (&"invocation.failed".into(), &"handler".into()));
    assert_eq!(told["invocation"]["failure"]["message"], "no money");
}

#[tokio::test]
async fn the_id_is_the_same_at_every_try() {
    let receiver = Receiver::answering(&[500, 0, 302, 200]).await;
    let bench = Bench::start(to(&receiver.url)).await;
    bench.call("Greeter/pause", 1).await;
    receiver.wait(1).await;
    let seen = |count| receiver.got().len() >= count;
    let noted = || bench.notifier.delivery(PartitionId(0), 1);
    within("the try is noted", until(|| noted().is_some())).await;
    assert_eq!(noted().unwrap().last_error, "the receiver answered 500");
    bench.pass_time_until(SECOND, || seen(4)).await;
    bench.nothing_waits().await;
    let got = receiver.got();
    assert_eq!(got.len(), 4);
    assert!(got.iter().all(|it| it.text == got[0].text), "{got:?}");
    within("nothing is noted of what is over", until(|| noted().is_none())).await;
}

#[tokio::test]
async fn notices_come_in_order_and_no_more_are_held_than_may_be() {
    let receiver = Receiver::answering(&[503]).await;
    let bench = Bench::start(Config { held_max: 3, ..to(&receiver.url) }).await;
    let mut called = vec![];
    for number in 0..20 {
        called.push(bench.call("Greeter/pause", number).await.to_string());
    }
    receiver.wait(1).await;
    within("all are written", until(|| bench.waiting() == 20)).await;
    assert!(bench.metric("held").unwrap().parse::<u32>().unwrap() <= 3);
    receiver.answer(200);
    bench.pass_time_until(SECOND, || bench.waiting() == 0).await;
    let mut told: Vec<_> = receiver.got().iter().map(Got::invocation).collect();
    told.dedup();
    assert_eq!(told, called);
}

#[tokio::test]
async fn partitions_do_not_hold_each_other_up() {
    let receiver = Receiver::answering(&[200]).await;
    let config = Config { held_max: 1, ..to(&receiver.url) };
    let bench = Bench::on(Memory::new(Partitions(4)), config).await;
    let mut called = vec![];
    for number in 0..40 {
        called.push(bench.call("Greeter/pause", number).await.to_string());
    }
    bench.nothing_waits().await;
    let mut told: Vec<_> = receiver.got().iter().map(Got::invocation).collect();
    told.sort();
    called.sort();
    assert_eq!(told, called);
}

#[tokio::test]
async fn deployments_have_receivers_of_their_own_and_a_slow_one_holds_up_nobody() {
    let (slow, of_server) = (Receiver::answering(&[0]).await, Receiver::answering(&[200]).await);
    let bench = Bench::start(to(&of_server.url)).await;
    let (one, other) = (Service::start("One").await, Service::start("Other").await);
    bench.register(&one, Some(&slow.url)).await;
    bench.register(&other, None).await;
    bench.call("One/pause", 1).await;
    slow.wait(1).await;
    bench.call("Other/pause", 2).await;
    let got = of_server.wait(1).await;
    assert_eq!(got[0].json()["invocation"]["service"], "Other");
    within("only the slow one waits", until(|| bench.waiting() == 1)).await;
    assert_eq!((slow.got().len(), of_server.got().len()), (1, 1));
}

#[tokio::test]
async fn a_deployment_is_enough_to_be_told() {
    let receiver = Receiver::answering(&[200]).await;
    let bench = Bench::start(Config::default()).await;
    let (told, quiet) = (Service::start("Told").await, Service::start("Quiet").await);
    bench.register(&quiet, None).await;
    bench.call("Quiet/pause", 1).await;
    assert_eq!(bench.waiting(), 0, "nobody wants to know");
    bench.register(&told, Some(&receiver.url)).await;
    bench.call("Told/pause", 2).await;
    bench.call("Quiet/pause", 3).await;
    let got = receiver.wait(1).await;
    assert_eq!(got[0].json()["invocation"]["service"], "Told");
    bench.nothing_waits().await;
    assert_eq!(receiver.got().len(), 1);
    let nowhere = || bench.metric(r#"settled_total{how="nowhere"}"#);
    within("it is counted", until(|| nowhere().as_deref() == Some("1"))).await;
}

#[tokio::test]
async fn what_waits_follows_a_deployment_to_its_new_receiver() {
    let (old, new) = (Receiver::answering(&[503]).await, Receiver::answering(&[200]).await);
    let bench = Bench::start(Config { held_max: 2, ..Config::default() }).await;
    let service = Service::start("Told").await;
    bench.register(&service, Some(&old.url)).await;
    let mut called = vec![];
    for number in 0..6 {
        called.push(bench.call("Told/pause", number).await.to_string());
    }
    old.wait(1).await;
    within("the try has failed", until(|| bench.metric("failing_receivers").unwrap() == "1")).await;
    bench.register(&service, Some(&new.url)).await;
    bench.nothing_waits().await;
    let told: Vec<_> = new.got().iter().map(Got::invocation).collect();
    assert_eq!(told, called);
    assert_eq!(old.got().len(), 1);
}

#[tokio::test]
async fn what_was_not_taken_is_told_by_the_next_process() {
    let receiver = Receiver::answering(&[503]).await;
    let bench = Bench::start(to(&receiver.url)).await;
    bench.call("Greeter/pause", 1).await;
    bench.call("Greeter/fail", 2).await;
    receiver.wait(1).await;
    within("both are written", until(|| bench.waiting() == 2)).await;
    let bench = bench.crash(to(&receiver.url)).await;
    let first = receiver.got()[0].text.clone();
    receiver.answer(200);
    bench.pass_time_until(SECOND, || bench.waiting() == 0).await;
    let got = receiver.got();
    assert_eq!(got[got.len() - 2].text, first);
    assert_eq!(got[got.len() - 1].json()["type"], "invocation.failed");
    let bench = bench.crash(to(&receiver.url)).await;
    bench.call("Greeter/pause", 3).await;
    let next = receiver.wait(got.len() + 1).await;
    assert_eq!(next.len(), got.len() + 1, "nothing is told twice once it was taken");
    let ids: Vec<_> = next.iter().map(|got| got.header("x-holdfast-notice")).collect();
    assert!(!ids[..got.len()].contains(&ids[got.len()]), "{ids:?}");
}

#[tokio::test]
async fn after_the_time_it_is_given_up() {
    let receiver = Receiver::answering(&[503]).await;
    let bench = Bench::start(to(&receiver.url)).await;
    for number in 0..40 {
        bench.call("Greeter/pause", number).await;
    }
    within("all are written", until(|| bench.waiting() == 40)).await;
    receiver.wait(1).await;
    bench.clock.advance(Duration::from_secs(2 * 24 * 3600));
    receiver.wait(2).await;
    assert_eq!(bench.waiting(), 40, "not yet");
    bench.clock.advance(Duration::from_secs(25 * 3600));
    bench.nothing_waits().await;
    let given_up = || bench.metric(r#"settled_total{how="given_up"}"#);
    within("all are counted", until(|| given_up().as_deref() == Some("40"))).await;
    receiver.answer(200);
    let id = bench.call("Greeter/pause", 41).await;
    bench.pass_time_until(SECOND, || bench.waiting() == 0).await;
    assert_eq!(receiver.got().last().unwrap().invocation(), id.to_string());
}

#[tokio::test]
async fn who_has_the_secret_can_check_a_notice() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("secret");
    std::fs::write(&file, "a secret of some length\n").unwrap();
    let receiver = Receiver::answering(&[200]).await;
    let bench = Bench::start(Config { secret_file: Some(file), ..to(&receiver.url) }).await;
    bench.call("Greeter/pause", 1).await;
    let got = receiver.wait(1).await.remove(0);
    let (time, tag) = got.header("x-holdfast-signature").split_once(",v1=").unwrap();
    assert_eq!(time, format!("t={}", NOW.0 / 1000));
    let digits = (0..tag.len()).step_by(2);
    let tag: Vec<u8> = digits.map(|at| u8::from_str_radix(&tag[at..at + 2], 16).unwrap()).collect();
    let key = hmac::Key::new(hmac::HMAC_SHA256, b"a secret of some length");
    let signed = format!("{}.{}", &time[2..], got.text);
    hmac::verify(&key, signed.as_bytes(), &tag).unwrap();
}

#[tokio::test]
async fn only_what_is_asked_for_is_told() {
    let receiver = Receiver::answering(&[200]).await;
    let config = Config { on: vec![Event::Failed], calls: Calls::All, ..to(&receiver.url) };
    let bench = Bench::start(config).await;
    bench.call("Greeter/pause", 1).await;
    bench.call("Greeter/fail", 2).await;
    assert_eq!(receiver.wait(1).await[0].json()["type"], "invocation.failed");
    bench.nothing_waits().await;
    assert_eq!(receiver.got().len(), 1);
}

#[test]
fn addresses_are_checked() {
    let problem = |config: Config| config.problem();
    assert_eq!(problem(Config::default()), None);
    assert_eq!(problem(to("https://h/a")), None);
    assert_eq!(problem(to("/a")), Some(("notify.url", "it has no scheme; write http://host:port")));
    let admin_url = Some("http://u@h".into());
    let reason = "it has a user or a password, which would not be sent";
    let config = Config { admin_url, ..Config::default() };
    assert_eq!(problem(config), Some(("notify.admin_url", reason)));
}
