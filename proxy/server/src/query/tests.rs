//! Views over what the real machine wrote, as text.

mod bench;
mod describe;

pub(super) use bench::*;

use super::{Filter, Order, model::*};
use bytes::Bytes;
use expect_test::{Expect, expect};
use holdfast_machine::{command::Command, id::DeploymentId};
use holdfast_wire::message::{MessageType, pb};

fn everything(limit: usize) -> Filter {
    Filter {
        statuses: Status::ALL.into(),
        service: None,
        handler: None,
        key: None,
        deployment: None,
        pinned_beside: None,
        keyed: false,
        failed: false,
        order: Order::Newest,
        limit,
    }
}

fn lines(list: &Invocations) -> String {
    let line = |it: &Invocation| {
        let waits = it.waits_for.as_deref().unwrap_or("-");
        format!("{} {} | {waits}\n", it.target, it.status.as_str())
    };
    let more = if list.more { "…\n" } else { "" };
    list.invocations.iter().map(line).collect::<String>() + more
}

async fn check(filter: Filter, expected: Expect) {
    let (world, running) = world();
    let list = world.query(&running).list(filter).await.unwrap();
    expected.assert_eq(&lines(&list));
}

#[tokio::test]
async fn every_status_says_what_it_waits_for() {
    check(
        everything(100),
        expect![[r#"
            Svc/paused paused | a person to resume it, after: no
            Svc/done completed | -
            Svc/waiting suspended | completion 2, an awakeable (signal 17)
            Svc/failing backing-off | attempt 2 at 2027-01-15T08:00:07.503Z, after: no route to bank
            Obj/k/queued pending | the lock of Obj/k, held by inv_10T5Thwsbi8d07xY61dUgVO9rheFrZ8XM4
            Obj/k/holds ready | a place: limit Svc/run (5 of 5 running)
            Svc/later scheduled | its start time, 2027-01-15T09:00:00.000Z
            Svc/ready ready | a place: limit Svc/run (5 of 5 running)
            Svc/running running | -
        "#]],
    )
    .await;
}

#[tokio::test]
async fn filters_narrow_and_the_limit_keeps_the_newest() {
    check(
        everything(2),
        expect![[r#"
        Svc/paused paused | a person to resume it, after: no
        Svc/done completed | -
        …
    "#]],
    )
    .await;
    let bound = Filter { deployment: Some(BOUND), ..everything(100) };
    check(
        bound,
        expect![[r#"
        Svc/done completed | -
        Svc/waiting suspended | completion 2, an awakeable (signal 17)
    "#]],
    )
    .await;
    let queued = Filter { key: Some("k".into()), handler: Some("queued".into()), ..everything(9) };
    check(
        queued,
        expect![[r#"
        Obj/k/queued pending | the lock of Obj/k, held by inv_10T5Thwsbi8d07xY61dUgVO9rheFrZ8XM4
    "#]],
    )
    .await;
    let paused = Filter { statuses: vec![Status::Paused], ..everything(9) };
    check(
        paused,
        expect![[r#"
        Svc/paused paused | a person to resume it, after: no
    "#]],
    )
    .await;
    let none = Filter { service: Some("Nope".into()), ..everything(9) };
    check(none, expect![[""]]).await;
}

#[tokio::test]
async fn what_is_odd_is_found() {
    let oldest = Filter { order: Order::Oldest, ..everything(2) };
    check(
        oldest,
        expect![[r#"
        Svc/running running | -
        Svc/ready ready | a place: limit Svc/run (5 of 5 running)
        …
    "#]],
    )
    .await;
    let keyed = Filter { keyed: true, ..everything(9) };
    check(
        keyed,
        expect![[r#"
        Obj/k/queued pending | the lock of Obj/k, held by inv_10T5Thwsbi8d07xY61dUgVO9rheFrZ8XM4
        Obj/k/holds ready | a place: limit Svc/run (5 of 5 running)
    "#]],
    )
    .await;
    let failed = Filter { failed: true, ..everything(9) };
    check(failed, expect![]).await;
    let zombies = Filter { pinned_beside: Some([].into()), ..everything(9) };
    check(
        zombies,
        expect![[r#"
        Svc/done completed | -
        Svc/waiting suspended | completion 2, an awakeable (signal 17)
    "#]],
    )
    .await;
    let none = Filter { pinned_beside: Some([BOUND].into()), ..everything(9) };
    check(none, expect![[""]]).await;
}

#[tokio::test]
async fn notices_are_shown_oldest_first_with_their_tries() {
    let (mut world, running) = world();
    world.apply(Command::Kill { invocation: id(9, &service("paused")) });
    let query = world.query(&running);
    let show = |notices: &Notices| {
        let shown = serde_json::to_string_pretty(notices).unwrap();
        let id = notices.notices[0].invocation.clone();
        notices
            .notices
            .iter()
            .fold(shown.replace(&id, "INV"), |shown, notice| shown.replace(&notice.id, "NTC"))
    };
    let first = query.notices(1).await.unwrap();
    expect![[r#"
        {
          "notices": [
            {
              "id": "NTC",
              "type": "invocation.paused",
              "at": "2027-01-15T08:00:14.000Z",
              "by": "operator",
              "invocation": "INV",
              "target": "Svc/paused",
              "attempts": 1,
              "failure": {
                "code": 500,
                "message": "no",
                "doc_code": "HF0071"
              },
              "tries": 2,
              "last_error": "nobody is there",
              "next_try_at": "2027-01-15T08:00:00.000Z"
            }
          ],
          "more": true
        }"#]]
    .assert_eq(&show(&first));
    let both = query.notices(2).await.unwrap();
    assert!(!both.more);
    let killed = Notices { notices: both.notices[1..].to_vec(), more: false };
    expect![[r#"
        {
          "notices": [
            {
              "id": "NTC",
              "type": "invocation.failed",
              "at": "2027-01-15T08:00:15.000Z",
              "cause": "killed",
              "invocation": "INV",
              "target": "Svc/paused",
              "attempts": 1,
              "failure": {
                "code": 409,
                "message": "killed"
              },
              "tries": 0
            }
          ],
          "more": false
        }"#]]
    .assert_eq(&show(&killed));
}

#[tokio::test]
async fn counts_leave_completed_ones_out_where_they_say_so() {
    let (world, running) = world();
    let query = world.query(&running);
    let counts = serde_json::to_string_pretty(&query.counts().await.unwrap()).unwrap();
    expect![[r#"
        {
          "total": 9,
          "by_status": {
            "pending": 1,
            "scheduled": 1,
            "ready": 2,
            "running": 1,
            "backing-off": 1,
            "suspended": 1,
            "paused": 1,
            "completed": 1
          },
          "by_service": {
            "Obj": 2,
            "Svc": 6
          },
          "by_deployment": {
            "dp_10dcWFx8PYDagweFaxtvbBC": 1
          }
        }"#]]
    .assert_eq(&counts);
    assert_eq!(query.pinned_to(BOUND).await, Ok(1));
    assert_eq!(query.pinned_to(DeploymentId(8)).await, Ok(0));
}

#[tokio::test]
async fn state_has_a_version_and_a_holder() {
    let mut world = World::new();
    let set = |key: &'static [u8], value: &'static [u8]| pb::SetStateCommand {
        key: Bytes::from_static(key),
        value: Some(pb::Value { content: Bytes::from_static(value) }),
        name: String::new(),
    };
    let holder = world.invoke(1, object("set"), None);
    world.say(holder, vec![command(MessageType::SET_STATE, &set(b"name", b"bob"))], None);
    let query = world.query(&[]);
    let state = query.state("Obj".into(), "k".into()).await.unwrap();
    assert_eq!(state.version, "tDqA04Lj3_qJ-PgNPTecXDGZgpwy6jm2Ni2BYqJIthM");
    assert_eq!(state.locked_by, Some(holder.to_string()));
    assert_eq!(state.entries[0].value.text.as_deref(), Some("bob"));
    let nobody = query.state("Obj".into(), "other".into()).await.unwrap();
    assert_eq!(nobody.version, "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU");
}
