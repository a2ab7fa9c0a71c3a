//! Requests in, responses out, with the partitions between them.

mod bench;

use super::{Config, headers};
use crate::partition::News;
use bench::*;
use expect_test::{Expect, expect};
use holdfast_machine::id::{AwakeableId, InvocationId};
use std::time::Duration;

const GREET: &str = "POST /Greeter/greet\ncontent-type: application/json\n\n\"Ada\"";

async fn check(bench: &Bench, request: &str, expected: Expect) {
    expected.assert_eq(&bench.ask(request).await);
}

#[tokio::test]
async fn a_call_is_answered_and_can_be_attached_to() {
    let mut bench = Bench::new().await;
    let answer =
        bench.begin("POST /Greeter/greet?x=1\ncontent-type: application/json\nx-a: b\n\n\"Ada\"");
    let attempt = bench.attempt().await;
    let input = attempt.input();
    let headers: Vec<_> =
        input.headers.iter().map(|header| format!("{}: {}", header.key, header.value)).collect();
    expect![[r#"
        x-restate-ingress-path: /Greeter/greet?x=1
        content-type: application/json
        x-a: b"#]]
    .assert_eq(&headers.join("\n"));
    assert_eq!(input.value.unwrap().content, "\"Ada\"");
    let key = attempt.start.idempotency_key.clone().unwrap();
    assert_eq!(key.len(), 26, "{key} is not a ULID");
    assert!(bench.telemetry.encode().contains("ingress_requests_in_progress 1"));
    attempt.complete("Hello Ada");
    expect![[r#"
        200
        content-type: text/plain
        x-restate-id: {id}

        Hello Ada
    "#]]
    .assert_eq(&show(answer).await);
    let id = attempt.start.invocation;
    check(
        &bench,
        &format!("GET /restate/attach/{id}"),
        expect![[r#"
        200
        content-type: text/plain
        idempotency-expires: 2026-12-01T15:18:08.000+00:00
        x-restate-id: {id}

        Hello Ada
    "#]],
    )
    .await;
    check(
        &bench,
        &format!("GET /restate/invocation/{id}/output"),
        expect![[r#"
            200
            content-type: text/plain
            idempotency-expires: 2026-12-01T15:18:08.000+00:00
            x-restate-id: {id}

            Hello Ada
        "#]],
    )
    .await;
    let counted = bench.telemetry.encode();
    assert!(counted.contains(r#"ingress_requests_total{kind="call",status="completed"} 1"#));
    assert!(counted.contains("ingress_requests_in_progress 0"));
}

#[tokio::test]
async fn an_idempotency_key_makes_one_of_many() {
    let mut bench = Bench::new().await;
    let add = "POST /Counter/k1/add\nidempotency-key: idem-1";
    let first = bench.begin(add);
    let attempt = bench.attempt().await;
    let second = bench.begin(add);
    let id = InvocationId::idempotent("Counter", Some("k1"), "add", "idem-1");
    assert_eq!(attempt.start.invocation, id);
    attempt.complete("1");
    assert!(
        show(first).await.starts_with("200\ncontent-type: application/json\nx-restate-id: {id}")
    );
    assert!(show(second).await.ends_with("\n1\n"));
    check(
        &bench,
        add,
        expect![[r#"
        200
        content-type: application/json
        idempotency-expires: 2026-12-01T15:18:08.000+00:00
        x-restate-id: {id}

        1
    "#]],
    )
    .await;
    check(
        &bench,
        "GET /restate/invocation/Counter/k1/add/idem-1/output",
        expect![[r#"
            200
            content-type: application/json
            idempotency-expires: 2026-12-01T15:18:08.000+00:00
            x-restate-id: {id}

            1
        "#]],
    )
    .await;
    let named = r#"{"target":"idempotentInvocation","service":"Counter","key":"k1","handler":"add","idempotencyKey":"idem-1"}"#;
    check(
        &bench,
        &format!("POST /restate/lookup\n\n{named}"),
        expect![[r#"
            200
            content-type: application/json

            {"invocationId":"inv_1foAirY4KKzi0XqKwft6YemHoMs0867T1j"}
        "#]],
    )
    .await;
    check(
        &bench,
        &format!("POST /restate/attach\n\n{named}"),
        expect![[r#"
            200
            content-type: application/json
            idempotency-expires: 2026-12-01T15:18:08.000+00:00
            x-restate-id: {id}

            1
        "#]],
    )
    .await;
}

#[tokio::test]
async fn a_send_is_accepted_once() {
    let mut bench = Bench::new().await;
    let send = "POST /Counter/k1/add/send\nidempotency-key: s";
    check(
        &bench,
        send,
        expect![[r#"
        202
        content-type: application/json
        x-restate-id: {id}

        {"invocationId":"{id}","status":"Accepted"}
    "#]],
    )
    .await;
    check(
        &bench,
        send,
        expect![[r#"
        202
        content-type: application/json
        x-restate-id: {id}

        {"invocationId":"{id}","status":"PreviouslyAccepted"}
    "#]],
    )
    .await;
    let output = "GET /restate/invocation/Counter/k1/add/s/output";
    check(&bench, output, expect![[r#"
        470
        content-type: application/json
        x-holdfast-error: HF0129
        x-restate-error-source: ingress
        x-restate-id: {id}

        {"code":470,"message":"invocation `{id}` has not completed yet; attach to wait for it","source":"ingress","error_code":"HF0129"}
    "#]]).await;
    let attempt = bench.attempt().await;
    let attached = bench.begin("GET /restate/invocation/Counter/k1/add/s/attach");
    attempt.fail(418, "no tea");
    expect![[r#"
        418
        content-type: application/json
        idempotency-expires: 2026-12-01T15:18:08.000+00:00
        x-restate-error-source: invocation
        x-restate-id: {id}

        {"code":418,"message":"no tea","source":"invocation"}
    "#]]
    .assert_eq(&show(attached).await);
    check(
        &bench,
        output,
        expect![[r#"
        418
        content-type: application/json
        idempotency-expires: 2026-12-01T15:18:08.000+00:00
        x-restate-error-source: invocation
        x-restate-id: {id}

        {"code":418,"message":"no tea","source":"invocation"}
    "#]],
    )
    .await;
}

#[tokio::test]
async fn a_delayed_send_starts_later() {
    let mut bench = Bench::new().await;
    check(
        &bench,
        "POST /Counter/k1/add/send?delay=PT2S",
        expect![[r#"
            202
            content-type: application/json
            x-restate-id: {id}

            {"invocationId":"{id}","executionTime":"2026-11-30T15:18:10.000000000Z","status":"Accepted"}
        "#]],
    )
    .await;
    bench.clock.advance(Duration::from_secs(2));
    bench.attempt().await;
}

#[tokio::test]
async fn a_workflow_runs_once() {
    let mut bench = Bench::new().await;
    let run = "POST /Wf/w1/run";
    let first = bench.begin(run);
    let attempt = bench.attempt().await;
    check(
        &bench,
        run,
        expect![[r#"
        409
        content-type: application/json
        x-restate-error-source: invocation
        x-restate-id: {id}

        {"code":409,"message":"the workflow method was already invoked","source":"invocation"}
    "#]],
    )
    .await;
    check(
        &bench,
        "POST /Wf/w1/run/send",
        expect![[r#"
        202
        content-type: application/json
        x-restate-id: {id}

        {"invocationId":"{id}","status":"PreviouslyAccepted"}
    "#]],
    )
    .await;
    check(&bench, "GET /restate/workflow/Wf/w1/output", expect![[r#"
        470
        content-type: application/json
        x-holdfast-error: HF0129
        x-restate-error-source: ingress
        x-restate-id: {id}

        {"code":470,"message":"invocation `{id}` has not completed yet; attach to wait for it","source":"ingress","error_code":"HF0129"}
    "#]]).await;
    let joined = bench.begin("POST /Wf/w1/run?attach=true");
    attempt.complete("\"done\"");
    expect![[r#"
        200
        content-type: application/json
        x-restate-id: {id}

        "done"
    "#]]
    .assert_eq(&show(first).await);
    assert!(show(joined).await.starts_with("200\n"));
    assert!(bench.ask(run).await.starts_with("409\n"));
    check(
        &bench,
        "POST /Wf/w1/run\nprefer: holdfast-attach",
        expect![[r#"
            200
            content-type: application/json
            idempotency-expires: 2026-12-01T15:18:08.000+00:00
            x-restate-id: {id}

            "done"
        "#]],
    )
    .await;
    check(
        &bench,
        "GET /restate/workflow/Wf/w1/attach",
        expect![[r#"
        200
        content-type: application/json
        idempotency-expires: 2026-12-01T15:18:08.000+00:00
        x-restate-id: {id}

        "done"
    "#]],
    )
    .await;
    check(&bench, "GET /restate/workflow/Wf/w2/attach", expect![[r#"
        404
        content-type: application/json
        x-restate-error-source: invocation
        x-restate-id: {id}

        {"code":404,"message":"invocation `{id}` not found; it never was, or its retention is over","source":"invocation"}
    "#]]).await;
    check(&bench, "GET /restate/workflow/Wf/w2/output", expect![[r#"
        404
        content-type: application/json
        x-holdfast-error: HF0130
        x-restate-error-source: ingress
        x-restate-id: {id}

        {"code":404,"message":"invocation `{id}` not found; it never was, or its retention is over","source":"ingress","error_code":"HF0130"}
    "#]]).await;
}

#[tokio::test]
async fn a_cancel_is_told_or_done() {
    let mut bench = Bench::new().await;
    let call = bench.begin(GREET);
    let mut attempt = bench.attempt().await;
    let cancel = format!("POST /holdfast/invocations/{}/cancel", attempt.start.invocation);
    check(
        &bench,
        &cancel,
        expect![[r#"
        202
        content-type: application/json
        x-restate-id: {id}

        {"invocationId":"{id}"}
    "#]],
    )
    .await;
    assert!(matches!(attempt.news.recv().await, Some(News::Notification(_))));
    attempt.fail(409, "Cancelled");
    assert!(show(call).await.starts_with("409\n"));
    check(&bench, &cancel, expect![[r#"
        409
        content-type: application/json
        x-holdfast-error: HF0131
        x-restate-error-source: ingress
        x-restate-id: {id}

        {"code":409,"message":"invocation `{id}` has completed; there is nothing to cancel","source":"ingress","error_code":"HF0131"}
    "#]]).await;
    bench.ask("POST /Wf/w1/run/send?delay=1d").await;
    let named = r#"{"target":"workflow","workflowName":"Wf","workflowKey":"w1"}"#;
    check(
        &bench,
        &format!("POST /holdfast/cancel\n\n{named}"),
        expect![[r#"
            200
            content-type: application/json
            x-restate-id: {id}

            {"invocationId":"{id}"}
        "#]],
    )
    .await;
    check(
        &bench,
        &format!("POST /holdfast/cancel\n\n{named}"),
        expect![[r#"
            404
            content-type: application/json
            x-holdfast-error: HF0130
            x-restate-error-source: ingress
            x-restate-id: {id}

            {"code":404,"message":"invocation `{id}` not found; it never was, or its retention is over","source":"ingress","error_code":"HF0130"}
        "#]],
    )
    .await;
}

#[tokio::test]
async fn an_awakeable_is_completed() {
    let mut bench = Bench::new().await;
    let _call = bench.begin(GREET);
    let mut attempt = bench.attempt().await;
    let awakeable = AwakeableId { invocation: attempt.start.invocation, signal: 17 };
    check(
        &bench,
        &format!("POST /restate/a/{awakeable}/resolve\n\n{{}}"),
        expect![[r#"
            202


        "#]],
    )
    .await;
    assert!(matches!(attempt.news.recv().await, Some(News::Notification(_))));
    check(
        &bench,
        &format!("POST /restate/awakeables/{awakeable}/reject\n\nlate"),
        expect![[r#"
            202


        "#]],
    )
    .await;
    let nobody = AwakeableId { invocation: InvocationId::workflow("Wf", "w"), signal: 17 };
    check(
        &bench,
        &format!("POST /restate/a/{nobody}/reject\n\nno"),
        expect![[r#"
            202


        "#]],
    )
    .await;
}

#[tokio::test]
async fn a_client_that_leaves_changes_nothing() {
    let mut bench = Bench::new().await;
    let call = bench.begin(GREET);
    let attempt = bench.attempt().await;
    call.abort();
    attempt.complete("Hello");
    let attached = bench.ask(&format!("GET /restate/attach/{}", attempt.start.invocation)).await;
    assert!(attached.starts_with("200\n"), "{attached}");
}

#[tokio::test]
async fn a_body_has_a_bound() {
    let bench = Bench::with(Config { request_bytes_max: 8, ..Config::default() }).await;
    check(
        &bench,
        "POST /Counter/k1/add/send\ncontent-type: a/b\n\n123456789",
        expect![[r#"
            413
            content-type: text/plain; charset=utf-8
            x-holdfast-error: HF0125

            length limit exceeded
        "#]],
    )
    .await;
    let body = chunked(&["12345", "6789"]).await;
    let request = request("POST /Counter/k1/add/send\ncontent-type: a/b").body(body).unwrap();
    let ingress = bench.ingress.clone();
    let answer = tokio::spawn(async move { ingress.answer(request).await });
    expect![[r#"
        413
        content-type: application/json
        x-holdfast-error: HF0125
        x-restate-error-source: ingress

        {"code":413,"message":"the body is larger than 8 bytes; send less, or raise `ingress.request_bytes_max`","source":"ingress","error_code":"HF0125"}
    "#]].assert_eq(&show(answer).await);
    let fits = bench.ask("POST /Counter/k1/add/send\ncontent-type: a/b\n\n12345678").await;
    assert!(fits.starts_with("202\n"), "{fits}");
}

#[tokio::test]
async fn requests_in_progress_have_a_bound() {
    let mut bench = Bench::with(Config { requests_max: 1, ..Config::default() }).await;
    let call = bench.begin(GREET);
    let attempt = bench.attempt().await;
    check(&bench, "GET /restate/health", expect![[r#"
        429
        content-type: application/json
        retry-after: 1
        x-holdfast-error: HF0128
        x-restate-error-source: ingress

        {"code":429,"message":"too many requests at once; the limit is 1; try again later, or raise `ingress.requests_max`","source":"ingress","error_code":"HF0128"}
    "#]]).await;
    attempt.complete("Hello");
    show(call).await;
    check(
        &bench,
        "GET /restate/health",
        expect![[r#"
        200
        content-type: application/json

        {"services":["Counter","Greeter","Wf"]}
    "#]],
    )
    .await;
}

#[tokio::test]
async fn browsers_are_welcome() {
    let bench = Bench::new().await;
    let answer = |request: &str| bench.begin(request);
    let asked = "OPTIONS /Greeter/greet\norigin: http://a.b\naccess-control-request-method: POST\n\
                 access-control-request-headers: x-a, content-type";
    let preflight = super::testing::show(answer(asked).await.unwrap()).await;
    expect![[r#"
        200
        access-control-allow-credentials: true
        access-control-allow-headers: x-a, content-type
        access-control-allow-methods: POST
        access-control-allow-origin: http://a.b
        access-control-expose-headers: x-restate-id, x-restate-error-source, idempotency-expires, x-holdfast-error
        vary: origin, access-control-request-method, access-control-request-headers


    "#]].assert_eq(&preflight);
    let health = answer("GET /restate/health\norigin: http://a.b").await.unwrap();
    expect![[r#"
        200
        access-control-allow-credentials: true
        access-control-allow-origin: http://a.b
        access-control-expose-headers: x-restate-id, x-restate-error-source, idempotency-expires, x-holdfast-error
        content-type: application/json
        vary: origin, access-control-request-method, access-control-request-headers

        {"services":["Counter","Greeter","Wf"]}
    "#]].assert_eq(&super::testing::show(health).await);
    let health = answer("GET /restate/health").await.unwrap();
    expect![[r#"
        200
        access-control-allow-credentials: true
        content-type: application/json
        vary: origin, access-control-request-method, access-control-request-headers

        {"services":["Counter","Greeter","Wf"]}
    "#]]
    .assert_eq(&super::testing::show(health).await);
}

#[tokio::test]
async fn who_waits_is_told_of_the_shutdown() {
    let mut bench = Bench::new().await;
    let call = bench.begin(GREET);
    bench.attempt().await;
    tokio::task::spawn_blocking(move || bench.running.stop()).await.unwrap();
    let answer = call.await.unwrap();
    assert!(answer.headers().contains_key(headers::ID));
    assert_eq!(answer.headers()["retry-after"], "1");
    assert_eq!(answer.headers()[headers::ERROR_CODE], "HF0032");
    assert_eq!(answer.status(), 503);
}
