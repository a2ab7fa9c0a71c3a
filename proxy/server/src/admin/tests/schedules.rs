//! Schedules: putting, showing, steering, and what is refused.

use super::bench::{Bench, Service};
use expect_test::expect;
use serde_json::{Value, json};
use std::fmt::Write;

const SERVICES: &str = r#"[
    {"name":"Reports","ty":"SERVICE","handlers":[{"name":"build","input":{}},
        {"name":"send","input":{"required":true,"contentType":"application/json",
            "jsonSchema":{"type":"string"}}}]},
    {"name":"Counter","ty":"VIRTUAL_OBJECT","handlers":[{"name":"add","ty":"EXCLUSIVE"}]},
    {"name":"Flow","ty":"WORKFLOW","handlers":[{"name":"run","ty":"WORKFLOW"}]}
]"#;

const NIGHTLY: &str = r#"{"cron":"0 2 * * *","time_zone":"Europe/Berlin","service":"Reports",
    "handler":"build"}"#;

async fn bench() -> (Bench, Service) {
    let (bench, service) = (Bench::start().await, Service::start(SERVICES).await);
    assert_eq!(bench.register(&service, "").await.0, 201);
    (bench, service)
}

#[tokio::test]
async fn what_is_put_is_shown() {
    let (bench, _service) = bench().await;
    let path = "/holdfast/schedules/nightly";
    let put = json!({
        "cron": " 0 2 * * * ", "time_zone": "Europe/Berlin", "service": "Counter", "handler": "add",
        "key": "k", "argument": { "n": 1.50 }, "headers": { "X-Who": "me" },
        "catch_up": "skip", "overlap": "skip",
    });
    let (status, shown) = bench.json("PUT", path, &put.to_string()).await;
    assert_eq!(status, 201);
    expect![[r#"
        {
          "name": "nightly",
          "cron": "0 2 * * *",
          "time_zone": "Europe/Berlin",
          "target": "Counter/k/add",
          "service": "Counter",
          "key": "k",
          "handler": "add",
          "argument": {
            "bytes": 9,
            "text": "{\"n\":1.5}"
          },
          "headers": {
            "content-type": "application/json",
            "x-who": "me"
          },
          "catch_up": "skip",
          "overlap": "skip",
          "paused": false,
          "created_at": "2027-01-15T08:00:00.000Z",
          "modified_at": "2027-01-15T08:00:00.000Z",
          "next_at": "2027-01-16T01:00:00.000Z",
          "runs": 0,
          "caught_up": 0,
          "skipped": 0,
          "failed": 0,
          "upcoming": [
            {
              "at": "2027-01-16T01:00:00.000Z",
              "local": "2027-01-16T02:00:00+01:00[Europe/Berlin]"
            },
            {
              "at": "2027-01-17T01:00:00.000Z",
              "local": "2027-01-17T02:00:00+01:00[Europe/Berlin]"
            },
            {
              "at": "2027-01-18T01:00:00.000Z",
              "local": "2027-01-18T02:00:00+01:00[Europe/Berlin]"
            },
            {
              "at": "2027-01-19T01:00:00.000Z",
              "local": "2027-01-19T02:00:00+01:00[Europe/Berlin]"
            },
            {
              "at": "2027-01-20T01:00:00.000Z",
              "local": "2027-01-20T02:00:00+01:00[Europe/Berlin]"
            }
          ]
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&shown).unwrap());
    assert_eq!(bench.json("PUT", path, &put.to_string()).await, (200, shown.clone()));
    assert_eq!(bench.json("GET", path, "").await, (200, shown.clone()));
    assert_eq!(bench.call("PUT", "/holdfast/schedules/a.B-c_1", NIGHTLY).await.0, 201);
    let (_, list) = bench.json("GET", "/holdfast/schedules", "").await;
    let names = |list: &Value| -> Vec<String> {
        let schedules = list["schedules"].as_array().unwrap().iter();
        schedules.map(|schedule| schedule["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(
        (names(&list), &list["more"]),
        (vec!["a.B-c_1".into(), "nightly".into()], &json!(false))
    );
    let (_, list) = bench.json("GET", "/holdfast/schedules?limit=1", "").await;
    assert_eq!((names(&list), &list["more"]), (vec!["a.B-c_1".into()], &json!(true)));
    assert_eq!(bench.call("GET", "/holdfast/schedules?limit=0", "").await.0, 400);
    assert_eq!(bench.call("DELETE", path, "").await.0, 204);
    assert_eq!(bench.call("DELETE", path, "").await.0, 404);
    assert_eq!(bench.call("GET", path, "").await.0, 404);
}

#[tokio::test]
async fn a_dry_run_shows_the_next_times_and_puts_nothing() {
    let (bench, _service) = bench().await;
    let path = "/holdfast/schedules/nightly";
    let (status, shown) = bench.json("PUT", &format!("{path}?dryRun=true"), NIGHTLY).await;
    assert_eq!(status, 200);
    assert_eq!(bench.call("GET", path, "").await.0, 404);
    let (_, put) = bench.json("PUT", path, NIGHTLY).await;
    assert_eq!(shown, json!({ "upcoming": put["upcoming"] }));
    assert_eq!(shown["upcoming"].as_array().unwrap().len(), 5);
}

#[tokio::test]
async fn what_is_wrong_with_a_plan_is_told() {
    let (bench, _service) = bench().await;
    let mut text = String::new();
    let mut check = async |name: &str, change: Value| {
        let mut plan: Value = serde_json::from_str(NIGHTLY).unwrap();
        plan.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let path = format!("/holdfast/schedules/{name}");
        let (status, told) = bench.call("PUT", &path, &plan.to_string()).await;
        let told = serde_json::from_str::<Value>(&told)
            .map_or(told, |json| json["message"].as_str().unwrap_or_default().into());
        writeln!(text, "{change} {status} {told}").unwrap();
    };
    check("n", json!({ "cron": "0 2 * *" })).await;
    check("n", json!({ "cron": "0 0 30 2 *" })).await;
    check("n", json!({ "time_zone": "Mars/Olympus" })).await;
    check("n", json!({ "service": "Nope" })).await;
    check("n", json!({ "handler": "nope" })).await;
    check("n", json!({ "key": "k" })).await;
    check("n", json!({ "service": "Counter", "handler": "add" })).await;
    check("n", json!({ "service": "Flow", "handler": "run", "key": "k" })).await;
    check("n", json!({ "handler": "send" })).await;
    check("n", json!({ "argument": 1 })).await;
    check(
        "n",
        json!({ "handler": "send", "argument": "a", "headers": { "content-type": "text/plain" } }),
    )
    .await;
    check("n", json!({ "headers": { "a b": "c" } })).await;
    check("n", json!({ "headers": { "a": "é" } })).await;
    check("n", json!({ "headers": { "X-Holdfast-Schedule": "x" } })).await;
    check("n", json!({ "catch_up": "twice" })).await;
    check("n", json!({ "time-zone": "UTC" })).await;
    check("a%20b", json!({})).await;
    check(&"n".repeat(129), json!({})).await;
    expect![[r#"
        {"cron":"0 2 * *"} 400 `0 2 * *` is not a cron expression: expected the 5 fields minute, hour, day of month, month and day of week, or 6 with the second in front, and found 4 (HF0182)
        {"cron":"0 0 30 2 *"} 400 `0 0 30 2 *` is never due: no such day ever comes (HF0184)
        {"time_zone":"Mars/Olympus"} 400 `Mars/Olympus` is not a time zone; write a name of the IANA database, as `Europe/Berlin`, or `UTC` (HF0183)
        {"service":"Nope"} 404 no service `Nope` is registered; register its deployment first (HF0052)
        {"handler":"nope"} 404 the service `Reports` has no handler `nope` (HF0053)
        {"key":"k"} 400 `Reports/build` is of a plain service and takes no key (HF0181)
        {"service":"Counter","handler":"add"} 400 `Counter/add` is of an object or a workflow; say which key it is called with (HF0181)
        {"service":"Flow","handler":"run","key":"k"} 400 `Flow/run` runs once for each key; put `{time}` into the key, which stands for the time of the run (HF0181)
        {"handler":"send"} 400 `Reports/send` does not take such an input: no content type given; expected `application/json`; set the header content-type (HF0172)
        {"argument":1} 400 `Reports/build` does not take such an input: handler takes no input; send neither a body nor a content type (HF0172)
        {"handler":"send","argument":"a","headers":{"content-type":"text/plain"}} 400 `Reports/send` does not take such an input: content type `text/plain` is not what the handler takes; expected `application/json` (HF0172)
        {"headers":{"a b":"c"}} 400 `headers` is wrong: `a b` is no header name (HF0164)
        {"headers":{"a":"é"}} 400 `headers` is wrong: `a` has characters other than visible ASCII (HF0164)
        {"headers":{"X-Holdfast-Schedule":"x"}} 400 `headers` is wrong: `X-Holdfast-Schedule` is set by the sidecar itself (HF0164)
        {"catch_up":"twice"} 422 Failed to deserialize the JSON body into the target type: catch_up: unknown variant `twice`, expected `skip` or `once` at line 1 column 104
        {"time-zone":"UTC"} 422 Failed to deserialize the JSON body into the target type: time-zone: unknown field `time-zone`, expected one of `cron`, `time_zone`, `service`, `handler`, `key`, `argument`, `headers`, `catch_up`, `overlap` at line 1 column 97
        {} 400 `a b` cannot name a schedule: write 1 to 128 letters, digits, `.`, `-` or `_` (HF0169)
        {} 400 `nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn` cannot name a schedule: write 1 to 128 letters, digits, `.`, `-` or `_` (HF0169)
    "#]].assert_eq(&text);
    let (_, list) = bench.json("GET", "/holdfast/schedules", "").await;
    assert_eq!(list["schedules"], json!([]));
    for (schedule, plan) in [
        ("flow", json!({ "service": "Flow", "handler": "run", "key": "day-{time}" })),
        ("send", json!({ "handler": "send", "argument": "a" })),
    ] {
        let mut whole: Value = serde_json::from_str(NIGHTLY).unwrap();
        whole.as_object_mut().unwrap().extend(plan.as_object().unwrap().clone());
        let path = format!("/holdfast/schedules/{schedule}");
        assert_eq!(bench.call("PUT", &path, &whole.to_string()).await.0, 201, "{schedule}");
    }
}

#[tokio::test]
async fn schedules_are_paused_resumed_and_triggered() {
    let (bench, service) = bench().await;
    let plan = NIGHTLY.replace("\"build\"", "\"build\",\"overlap\":\"skip\"");
    assert_eq!(bench.call("PUT", "/holdfast/schedules/n", &plan).await.0, 201);
    let post =
        async |verb: &str| bench.json("POST", &format!("/holdfast/schedules/n/{verb}"), "").await;
    let (status, paused) = post("pause").await;
    assert_eq!((status, &paused["paused"], &paused["next_at"]), (200, &true.into(), &Value::Null));
    assert_eq!(paused["upcoming"], json!([]));
    let (status, triggered) = post("trigger").await;
    assert_eq!(status, 202);
    let invocation = triggered["invocation"].as_str().unwrap();
    let (_, shown) = bench.json("GET", &format!("/holdfast/invocations/{invocation}"), "").await;
    expect![[r#"{"kind":"schedule","name":"n","planned_at":"2027-01-15T08:00:00.000Z"}"#]]
        .assert_eq(&shown["invoked_by"].to_string());
    let (_, shown) = bench.json("GET", "/holdfast/schedules/n", "").await;
    assert_eq!(shown["last_run"]["invocation"], invocation);
    assert_eq!(shown["last_run"]["status"], "running");
    let (status, again) = post("trigger").await;
    assert_eq!(status, 409);
    assert!(again["message"].as_str().unwrap().contains(invocation), "{again}");
    assert_eq!(bench.call("PATCH", &format!("/invocations/{invocation}/kill"), "").await.0, 200);
    let (_, resumed) = post("resume").await;
    assert_eq!(resumed["next_at"], "2027-01-16T01:00:00.000Z");
    expect![[r#""[409] killed""#]].assert_eq(&resumed["last_run"]["failure"].to_string());
    service.offer(r#"[{"name":"Reports","ty":"SERVICE","handlers":[]}]"#);
    bench.register(&service, r#","force":true"#).await;
    assert_eq!(post("trigger").await.0, 404);
    for verb in ["pause", "resume", "trigger"] {
        let path = format!("/holdfast/schedules/other/{verb}");
        assert_eq!(bench.call("POST", &path, "").await.0, 404, "{verb}");
    }
}
