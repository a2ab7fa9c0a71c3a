//! Questions over what the real machine wrote, as text.

mod tools;

use super::{Catalog, Config, Deployment, Error, Format, Service, Sql};
use crate::query::tests::{command, drifted, id, object, world};
use bytes::Bytes;
use expect_test::{Expect, expect};
use holdfast_machine::{
    command::Command,
    id::{DeploymentId, ScheduleId},
    model::{Callee, Retention},
    schedule::{CatchUp, Overlap, Plan},
    time::Timestamp,
};
use holdfast_wire::{
    manifest::{HandlerType, ServiceType},
    message::{MessageType, pb},
};

fn catalog() -> Catalog {
    let deployment = DeploymentId(7);
    let service = |name: &str, ty| Service {
        name: name.into(),
        revision: 1,
        public: true,
        ty,
        deployment,
        handlers: vec![],
    };
    Catalog {
        deployments: vec![Deployment {
            id: deployment,
            endpoint: "http://127.0.0.1:9080/".into(),
            created_at: Timestamp(1_800_000_000_000),
            min_version: 5,
            max_version: 7,
            services: vec!["Svc".into(), "Obj".into()],
            sdk_version: Some("sdk/1".into()),
        }],
        services: vec![
            service("Svc", ServiceType::Service),
            service("Obj", ServiceType::VirtualObject),
        ],
    }
}

/// One invocation of each status, and some state.
fn sql(config: Config) -> Sql {
    let (mut world, running) = world();
    let set = |key: &'static str, value: &'static [u8]| pb::SetStateCommand {
        key: key.into(),
        value: Some(pb::Value { content: value.into() }),
        name: String::new(),
    };
    let said = [set("name", b"\"Ada\""), set("raw", &[0xff, 0])];
    let said = said.map(|set| command(MessageType::SET_STATE, &set));
    world.say(id(4, &object("holds")), said.into(), None);
    let (store, live) = world.parts(&running);
    Sql::new(store, live, config)
}

async fn ask(config: Config, question: &str) -> Result<Vec<u8>, Error> {
    sql(config).ask(question.into(), catalog(), Format::Json).await
}

/// A row a line.
async fn check(question: &str, expected: Expect) {
    check_answer(ask(Config::default(), question).await, expected);
}

fn check_answer(answer: Result<Vec<u8>, Error>, expected: Expect) {
    let told = match answer {
        Ok(answer) => {
            let answer: serde_json::Value = serde_json::from_slice(&answer).unwrap();
            let rows = answer["rows"].as_array().unwrap();
            rows.iter().map(|row| format!("{row}\n")).collect()
        }
        Err(error) => format!("{} {error}", error.code()),
    };
    expected.assert_eq(&told);
}

#[test]
fn what_failed_is_backing_off_until_it_is_under_way_again() {
    let status = |live, failures| {
        let running = holdfast_machine::model::Status::Running;
        crate::query::view::status_of_attempts(&running, live, failures).as_str()
    };
    assert_eq!(status(false, 0), "ready");
    assert_eq!(status(false, 2), "backing-off");
    assert_eq!(status(true, 2), "running");
}

#[tokio::test]
async fn invocations_have_the_status_that_people_see() {
    check(
        "SELECT target, status, retry_count, next_retry_at FROM sys_invocation ORDER BY target",
        expect![[r#"
            {"target":"Obj/k/holds","status":"ready","retry_count":0}
            {"target":"Obj/k/queued","status":"pending"}
            {"target":"Svc/done","status":"completed"}
            {"target":"Svc/failing","status":"backing-off","retry_count":1,"next_retry_at":"2027-01-15T08:00:07.503Z"}
            {"target":"Svc/later","status":"scheduled"}
            {"target":"Svc/paused","status":"paused"}
            {"target":"Svc/ready","status":"ready","retry_count":0}
            {"target":"Svc/running","status":"running","retry_count":1}
            {"target":"Svc/waiting","status":"suspended"}
        "#]],
    )
    .await;
    check(
        "SELECT ss.target_handler_name AS h, ss.status, sis.in_flight, sis.last_failure
         FROM sys_invocation_status ss LEFT JOIN sys_invocation_state sis ON ss.id = sis.id
         WHERE ss.status == 'invoked' ORDER BY h",
        expect![[r#"
            {"h":"failing","status":"invoked","in_flight":false,"last_failure":"[500] no route to bank\nat charge"}
            {"h":"holds","status":"invoked","in_flight":false}
            {"h":"ready","status":"invoked","in_flight":false}
            {"h":"running","status":"invoked","in_flight":true}
        "#]],
    )
    .await;
}

#[tokio::test]
async fn schedules_have_a_table() {
    let (mut world, running) = world();
    let plan = |name: &str, key: Option<&str>| Plan {
        name: name.into(),
        cron: "0 9 * * MON-FRI".into(),
        time_zone: "Europe/Berlin".into(),
        service: "Svc".into(),
        handler: "tick".into(),
        key: key.map(String::from),
        argument: Bytes::new(),
        headers: vec![],
        catch_up: CatchUp::Once,
        overlap: Overlap::Skip,
    };
    world.apply(Command::PutSchedule(Box::new(plan("daily", None))));
    world.apply(Command::PutSchedule(Box::new(plan("held", Some("k")))));
    let [daily, held] = ["daily", "held"].map(ScheduleId::of);
    let callee = Callee {
        ty: HandlerType::Service,
        retention: Retention::default(),
        idempotent_retention: Retention::default(),
        lazy_state: false,
    };
    let called = ("Svc".into(), "tick".into());
    world.apply(Command::TriggerSchedule { schedule: daily, called, callee });
    world.apply(Command::PauseSchedule { schedule: held });
    let (store, live) = world.parts(&running);
    let sql = Sql::new(store, live, Config::default());
    let ask = |question: &str| sql.ask(question.into(), catalog(), Format::Json);
    check_answer(
        ask("SELECT name, cron, time_zone, target, paused, next_at, last_status, runs, overlap
             FROM holdfast_schedule ORDER BY name")
        .await,
        expect![[r#"
            {"name":"daily","cron":"0 9 * * MON-FRI","time_zone":"Europe/Berlin","target":"Svc/tick","paused":false,"next_at":"2027-01-18T08:00:00.000Z","last_status":"running","runs":1,"overlap":"skip"}
            {"name":"held","cron":"0 9 * * MON-FRI","time_zone":"Europe/Berlin","target":"Svc/k/tick","paused":true,"runs":0,"overlap":"skip"}
        "#]],
    );
    check_answer(
        ask("SELECT sys_invocation.target, invoked_by, invoked_by_target FROM sys_invocation
             JOIN holdfast_schedule ON last_invocation_id = id")
        .await,
        expect![[r#"
            {"target":"Svc/tick","invoked_by":"schedule","invoked_by_target":"daily"}
        "#]],
    );
}

#[tokio::test]
async fn columns_have_their_types() {
    check(
        "SELECT partition_key, journal_size, created_at, completion_retention, completion_result,
                suspended_waiting_for_signals, target_service_ty
         FROM sys_invocation_status WHERE target LIKE '%/waiting' OR target LIKE '%/done'",
        expect![[r#"
            {"partition_key":15473502163978278702,"journal_size":4,"created_at":"2027-01-15T08:00:08.000Z","completion_retention":"PT60S","suspended_waiting_for_signals":[1,17],"target_service_ty":"service"}
            {"partition_key":15473502163978278702,"journal_size":2,"created_at":"2027-01-15T08:00:10.000Z","completion_retention":"PT60S","completion_result":"success","target_service_ty":"service"}
        "#]],
    )
    .await;
    check(
        "SELECT inv.id, dp.id IS NOT NULL AS pinned_deployment_exists, dp.services, dp.created_at
         FROM sys_invocation inv LEFT JOIN sys_deployment dp ON dp.id = inv.pinned_deployment_id
         WHERE inv.target_handler_name IN ('waiting', 'ready') ORDER BY inv.created_at DESC",
        expect![[r#"
            {"id":"inv_141kvpM925260dcWFx8PYDagweFaxtvbBC","pinned_deployment_exists":true,"services":["Svc","Obj"],"created_at":"2027-01-15T08:00:00.000Z"}
            {"id":"inv_141kvpM9252603LZ30BX8sU4IDCkIZztT2","pinned_deployment_exists":false}
        "#]],
    )
    .await;
    check("SELECT name, public, ty, deployment_id FROM sys_service", expect![[r#"
        {"name":"Svc","public":true,"ty":"service","deployment_id":"dp_10dcWFx8PYDagweFaxtvbBC"}
        {"name":"Obj","public":true,"ty":"virtual_object","deployment_id":"dp_10dcWFx8PYDagweFaxtvbBC"}
    "#]]).await;
}

#[tokio::test]
async fn a_journal_is_found_by_its_id() {
    check(
        "SELECT sj.index, entry_type, name, version, entry_json FROM sys_journal sj
         WHERE sj.id = (SELECT id FROM sys_invocation WHERE target = 'Svc/waiting')
         ORDER BY index",
        expect![[r#"
            {"index":0,"entry_type":"Command: Input","name":"","version":2,"entry_json":"{\"Command\":{\"Input\":{\"headers\":[{\"name\":\"authorization\",\"value\":\"(hidden)\"},{\"name\":\"x-a\",\"value\":\"b\"}],\"payload\":[34,105,110,34],\"name\":\"\"}}}"}
            {"index":1,"entry_type":"Command: Run","name":"charge","version":2,"entry_json":"{\"Command\":{\"Run\":{\"completion_id\":1,\"name\":\"charge\"}}}"}
            {"index":2,"entry_type":"Notification: Run","version":2,"entry_json":"{\"Notification\":{\"Completion\":{\"Run\":{\"completion_id\":1,\"result\":{\"Success\":[255,254]}}}}}"}
            {"index":3,"entry_type":"Command: Sleep","name":"a day","version":2,"entry_json":"{\"Command\":{\"Sleep\":{\"wake_up_time\":1800086400000,\"completion_id\":2,\"name\":\"a day\"}}}"}
        "#]],
    )
    .await;
    check(
        "SELECT index, entry_lite_json FROM sys_journal WHERE entry_type LIKE 'Command: S%'",
        expect![[r#"
            {"index":1,"entry_lite_json":"{\"Command\":{\"SetState\":{\"key\":\"name\"}}}"}
            {"index":2,"entry_lite_json":"{\"Command\":{\"SetState\":{\"key\":\"raw\"}}}"}
            {"index":3,"entry_lite_json":"{\"Command\":{\"Sleep\":{\"wake_up_time\":1800086400000,\"completion_id\":2,\"name\":\"a day\"}}}"}
        "#]],
    )
    .await;
    check(
        "SELECT count(*) AS n FROM sys_journal WHERE id = 'nonsense'",
        expect![[r#"
        {"n":0}
    "#]],
    )
    .await;
    check(
        "SELECT after_journal_entry_index AS i, event_type, event_json FROM sys_journal_events",
        expect![[r#"
            {"i":0,"event_type":"TransientError","event_json":"{\"ty\":\"TransientError\",\"error_code\":500,\"error_message\":\"no route to bank\",\"error_stacktrace\":\"at charge\",\"restate_doc_error_code\":\"HF0071\"}"}
            {"i":0,"event_type":"TransientError","event_json":"{\"ty\":\"TransientError\",\"error_code\":500,\"error_message\":\"no\",\"error_stacktrace\":\"at charge\",\"restate_doc_error_code\":\"HF0071\"}"}
            {"i":0,"event_type":"Paused","event_json":"{\"ty\":\"Paused\",\"last_failure\":{\"ty\":\"TransientError\",\"error_code\":500,\"error_message\":\"no\",\"error_stacktrace\":\"at charge\",\"restate_doc_error_code\":\"HF0071\"}}"}
        "#]],
    )
    .await;
}

#[tokio::test]
async fn an_event_of_a_mismatch_has_both_sides() {
    let (store, live) = drifted().0.parts(&[]);
    let question = "SELECT json_extract(event_json, '$.restate_doc_error_code') AS code,
                           json_extract(event_json, '$.mismatch') AS mismatch
                    FROM sys_journal_events";
    let sql = Sql::new(store, live, Config::default());
    let answer = sql.ask(question.into(), catalog(), Format::Json).await.unwrap();
    let answer: serde_json::Value = serde_json::from_slice(&answer).unwrap();
    expect![[r#"[{"code":"HF0094","mismatch":"{\"command\":1,\"index\":1,\"recorded\":{\"key\":\"a\",\"type\":\"SetState\",\"value\":\"8 bytes, sha256 c1980264\"},\"received\":{\"key\":\"b\",\"type\":\"SetState\",\"value\":\"1 bytes, sha256 d4735e3a\"},\"differing\":[\"key\",\"value\"]}"}]"#]].assert_eq(&answer["rows"].to_string());
}

#[tokio::test]
async fn keys_have_state_holders_and_an_inbox() {
    check(
        "select key, value, value_utf8, value_length from state
         where service_name='Obj' and service_key='k' ;",
        expect![[r#"
            {"key":"name","value":"2241646122","value_utf8":"\"Ada\"","value_length":5}
            {"key":"raw","value":"ff00","value_length":2}
        "#]],
    )
    .await;
    check(
        "SELECT s.service_key, h.id = s.invocation_id AS same, i.sequence_number, w.target
         FROM sys_keyed_service_status s
         JOIN sys_inbox i ON i.service_name = s.service_name AND i.service_key = s.service_key
         JOIN sys_invocation w ON w.id = i.id JOIN sys_invocation h ON h.id = s.invocation_id",
        expect![[r#"
            {"service_key":"k","same":true,"sequence_number":0,"target":"Obj/k/queued"}
        "#]],
    )
    .await;
    check(
        "SELECT lock_name FROM sys_locks",
        expect![[r#"
        {"lock_name":"Obj/k"}
    "#]],
    )
    .await;
}

#[tokio::test]
async fn the_dialect_of_existing_tools_is_understood() {
    check(
        "SELECT target_service_name AS s, status, COUNT(1) AS n, MIN(created_at) AS oldest_at,
                FIRST_VALUE(target ORDER BY created_at ASC) AS oldest
         FROM sys_invocation WHERE status != 'completed' GROUP BY 1, 2 ORDER BY 1, 2",
        expect![[r#"
            {"s":"Obj","status":"pending","n":1,"oldest_at":"2027-01-15T08:00:05.000Z","oldest":"Obj/k/queued"}
            {"s":"Obj","status":"ready","n":1,"oldest_at":"2027-01-15T08:00:04.000Z","oldest":"Obj/k/holds"}
            {"s":"Svc","status":"backing-off","n":1,"oldest_at":"2027-01-15T08:00:06.000Z","oldest":"Svc/failing"}
            {"s":"Svc","status":"paused","n":1,"oldest_at":"2027-01-15T08:00:12.000Z","oldest":"Svc/paused"}
            {"s":"Svc","status":"ready","n":1,"oldest_at":"2027-01-15T08:00:02.000Z","oldest":"Svc/ready"}
            {"s":"Svc","status":"running","n":1,"oldest_at":"2027-01-15T08:00:01.000Z","oldest":"Svc/running"}
            {"s":"Svc","status":"scheduled","n":1,"oldest_at":"2027-01-15T08:00:03.000Z","oldest":"Svc/later"}
            {"s":"Svc","status":"suspended","n":1,"oldest_at":"2027-01-15T08:00:08.000Z","oldest":"Svc/waiting"}
        "#]],
    )
    .await;
    check(
        "WITH a AS (SELECT id FROM sys_deployment EXCEPT
                    SELECT pinned_deployment_id FROM sys_invocation_status)
         SELECT COUNT(*) AS drained FROM a",
        expect![[r#"
            {"drained":0}
        "#]],
    )
    .await;
    check(
        "SELECT arrow_cast(count(*), 'Utf8') AS n, 'A' LIKE 'a' AS like_is_exact FROM sys_invocation",
        expect![[r#"
            {"n":"9","like_is_exact":false}
        "#]],
    )
    .await;
}

#[tokio::test]
async fn points_and_lengths_of_time_are_calculated_with() {
    check(
        "SELECT target, created_at + INTERVAL '1 minute' AS later, modified_at - created_at AS age,
                date_trunc('hour', created_at) AS hour, now() > '2020-01-01' AS past
         FROM sys_invocation
         WHERE created_at BETWEEN '2027-01-15 08:00:08' AND '2027-01-15 08:00:11' ORDER BY target",
        expect![[r#"
            {"target":"Svc/done","later":"2027-01-15T08:01:10.000Z","age":"PT1S","hour":"2027-01-15T08:00:00.000Z","past":true}
            {"target":"Svc/waiting","later":"2027-01-15T08:01:08.000Z","age":"PT1S","hour":"2027-01-15T08:00:00.000Z","past":true}
        "#]],
    )
    .await;
    check(
        "WITH t AS (SELECT created_at AS at, completion_retention AS kept FROM sys_invocation_status)
         SELECT max(at) - min(at), max(at + kept) AS last, sum(kept)::interval AS kept FROM t",
        expect![[r#"
            {"max(at) - min(at)":11000,"last":"2027-01-15T08:01:12.000Z","kept":"PT540S"}
        "#]],
    )
    .await;
}

#[tokio::test]
async fn casts_and_functions_of_the_other_engine_work() {
    check(
        "SELECT journal_size::text || '!' AS t, TRY_CAST(target AS BIGINT) AS n,
                (status = 'paused')::int AS i, '1.5'::double AS d, split_part(target, '/', 2) AS p
         FROM sys_invocation WHERE target ILIKE 'SVC/P_USED'",
        expect![[r#"
            {"t":"1!","i":1,"d":1.5,"p":"paused"}
        "#]],
    )
    .await;
    check(
        "SELECT target::int FROM sys_invocation",
        expect!["HF0063 `Svc/running` cannot be cast to `int`; `try_cast` gives null for it"],
    )
    .await;
    check(
        "SELECT services[1] AS first, array_has(services, 'Obj') AS has, array_length(services) AS n
         FROM sys_deployment",
        expect![[r#"
            {"first":"Svc","has":true,"n":2}
        "#]],
    )
    .await;
    check(
        "SELECT array_agg(DISTINCT status) AS list, bool_or(status = 'paused') AS any,
                count(*) FILTER (WHERE next_retry_at IS NULL) AS n
         FROM (SELECT status, next_retry_at FROM sys_invocation ORDER BY status)",
        expect![[r#"
            {"list":["backing-off","completed","paused","pending","ready","running","scheduled","suspended"],"any":true,"n":8}
        "#]],
    )
    .await;
}

#[tokio::test]
async fn absent_values_are_the_largest() {
    let question = "SELECT target FROM sys_invocation WHERE target LIKE '%/running'
                    OR target LIKE '%/failing' ORDER BY next_retry_at";
    check(
        question,
        expect![[r#"
        {"target":"Svc/failing"}
        {"target":"Svc/running"}
    "#]],
    )
    .await;
    check(
        &format!("{question} DESC"),
        expect![[r#"
        {"target":"Svc/running"}
        {"target":"Svc/failing"}
    "#]],
    )
    .await;
    check(
        "(SELECT 2 AS n) UNION (SELECT 1) ORDER BY n",
        expect![[r#"
        {"n":1}
        {"n":2}
    "#]],
    )
    .await;
}

#[tokio::test]
async fn the_last_attempt_is_told_between_attempts_too() {
    check(
        "SELECT target, last_start_at, last_attempt_deployment_id AS dp, last_attempt_server AS sdk,
                last_failure_error_code AS code, last_failure
         FROM sys_invocation WHERE status IN ('running', 'backing-off', 'suspended')",
        expect![[r#"
            {"target":"Svc/running","last_start_at":"2027-01-15T08:00:00.000Z","dp":"dp_10dcWFx8PYDagweFaxtvbBC","sdk":"sdk/1"}
            {"target":"Svc/failing","last_start_at":"2027-01-15T08:00:07.000Z","dp":"dp_10dcWFx8PYDagweFaxtvbBC","sdk":"sdk/1","code":"HF0071","last_failure":"[500] no route to bank\nat charge"}
            {"target":"Svc/waiting"}
        "#]],
    )
    .await;
}

#[tokio::test]
async fn the_schema_can_be_asked_for() {
    check(
        "SELECT COUNT(*) AS n FROM information_schema.columns
         WHERE table_name='sys_journal' AND column_name IN ('version','entry_json','appended_at')",
        expect![[r#"
            {"n":3}
        "#]],
    )
    .await;
    check(
        "SELECT count(*) AS tables FROM information_schema.tables WHERE table_type = 'BASE TABLE'",
        expect![[r#"
            {"tables":20}
        "#]],
    )
    .await;
    check(
        "DESCRIBE sys_service",
        expect![[r#"
        {"column_name":"name","data_type":"LargeUtf8","is_nullable":"YES"}
        {"column_name":"revision","data_type":"UInt64","is_nullable":"YES"}
        {"column_name":"public","data_type":"Boolean","is_nullable":"YES"}
        {"column_name":"ty","data_type":"LargeUtf8","is_nullable":"YES"}
        {"column_name":"deployment_id","data_type":"LargeUtf8","is_nullable":"YES"}
    "#]],
    )
    .await;
}

#[tokio::test]
async fn what_is_no_question_is_refused() {
    check("select 1 from nowhere", expect!["HF0063 no such table: nowhere; `show tables` lists the tables, docs/sql.md columns and functions"]).await;
    check("select \"nothing\" from state", expect![[r#"HF0063 no such column: "nothing" - should this be a string literal in single-quotes?; `show tables` lists the tables, docs/sql.md columns and functions"#]]).await;
    check("please", expect![[r#"HF0063 near "please": syntax error"#]]).await;
    for changes in [
        "create table t(a)",
        "insert into sys_rules values (1)",
        "delete from state",
        "pragma temp_store = 1",
        "attach 'somewhere' as other",
        "vacuum into 'somewhere'",
        "select load_extension('somewhere')",
        "begin",
    ] {
        let error = ask(Config::default(), changes).await.unwrap_err();
        assert!(error.is_of_the_question(), "{changes}: {error}");
        assert!(["HF0063", "HF0064"].contains(&error.code()), "{changes}: {error}");
    }
    check(
        "select 1; drop table state",
        expect!["HF0064 more than one statement was given; ask one question at a time"],
    )
    .await;
}

#[tokio::test]
async fn a_table_has_every_column() {
    let question = "SELECT target, next_retry_at, status = 'paused' AS paused FROM sys_invocation
                    WHERE target LIKE '%/paused'";
    let ask = async |question: &str| {
        let answer = sql(Config::default()).ask(question.into(), catalog(), Format::Table).await;
        String::from_utf8(answer.unwrap()).unwrap()
    };
    expect![[
        r#"{"columns":["target","next_retry_at","paused"],"rows":[["Svc/paused",null,true]]}"#
    ]]
    .assert_eq(&ask(question).await);
    expect![[r#"{"columns":["pattern","version"],"rows":[]}"#]]
        .assert_eq(&ask("SELECT pattern, version FROM sys_rules").await);
}

#[tokio::test]
async fn bounds_hold() {
    let all = "SELECT * FROM sys_invocation";
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) \
                   SELECT count(*) FROM n";
    let rows = Config { sql_rows_max: 8, ..Config::default() };
    assert_eq!(ask(rows, all).await, Err(Error::TooLarge { max: 8, unit: "rows" }));
    let bytes = Config { sql_bytes_max: 100, ..Config::default() };
    assert_eq!(ask(bytes, all).await, Err(Error::TooLarge { max: 100, unit: "bytes" }));
    let time = Config { sql_ms_max: 50, ..Config::default() };
    assert_eq!(ask(time, endless).await, Err(Error::TooSlow { ms: 50 }));
}
