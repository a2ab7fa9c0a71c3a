//! Outcomes, replies and errors in, responses out.

use super::*;
use crate::ingress::testing::{self, show};
use crate::partition::Unavailable;
use expect_test::{Expect, expect};
use holdfast_machine::id::PartitionId;
use holdfast_wire::manifest::{HandlerType, Output};

fn some_id() -> InvocationId {
    InvocationId::workflow("Wf", "w1")
}

async fn check(response: Response<Body>, expected: Expect) {
    expected.assert_eq(&show(response).await);
}

fn success(output: &'static str, handler: Option<&Handler>) -> Response<Body> {
    let outcome = Outcome::Success(output.into());
    ended(some_id(), Ended { outcome, expires_at: None }, handler)
}

fn failure(failure: Failure) -> Response<Body> {
    let outcome = Outcome::Failure(failure);
    ended(some_id(), Ended { outcome, expires_at: None }, None)
}

#[tokio::test]
async fn an_output_has_the_content_type_of_its_handler() {
    let mut handler = testing::handler("run", HandlerType::Workflow);
    check(
        success("\"x\"", Some(&handler)),
        expect![[r#"
        200
        content-type: application/json
        x-restate-id: inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8

        "x"
    "#]],
    )
    .await;
    check(
        success("", Some(&handler)),
        expect![[r#"
        200
        x-restate-id: inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8


    "#]],
    )
    .await;
    handler.output = Output {
        content_type: Some("text/plain".to_owned()),
        set_content_type_if_empty: true,
        json_schema: None,
    };
    check(
        success("", Some(&handler)),
        expect![[r#"
        200
        content-type: text/plain
        x-restate-id: inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8


    "#]],
    )
    .await;
    handler.output = Output { content_type: None, ..handler.output };
    check(
        success("x", Some(&handler)),
        expect![[r#"
        200
        x-restate-id: inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8

        x
    "#]],
    )
    .await;
}

#[tokio::test]
async fn an_output_of_nobody_knows_whom_is_json() {
    check(
        success("1", None),
        expect![[r#"
        200
        content-type: application/json
        x-restate-id: inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8

        1
    "#]],
    )
    .await;
    check(
        success("", None),
        expect![[r#"
        200
        x-restate-id: inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8


    "#]],
    )
    .await;
}

#[tokio::test]
async fn a_retained_outcome_says_until_when() {
    let outcome = Outcome::Success("1".into());
    let expires_at = Some(Timestamp(1_796_051_888_801));
    check(
        ended(some_id(), Ended { outcome, expires_at }, None),
        expect![[r#"
            200
            content-type: application/json
            idempotency-expires: 2026-11-30T15:18:08.801+00:00
            x-restate-id: inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8

            1
        "#]],
    )
    .await;
    let outcome = Outcome::Success("1".into());
    let expires_at = Some(Timestamp(u64::MAX));
    check(
        ended(some_id(), Ended { outcome, expires_at }, None),
        expect![[r#"
            200
            content-type: application/json
            idempotency-expires: 9999-12-30T22:00:00.999+00:00
            x-restate-id: inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8

            1
        "#]],
    )
    .await;
}

#[tokio::test]
async fn a_failure_is_told_whole() {
    check(
        failure(Failure {
            code: 418,
            message: "no \"tea\"\nhere".to_owned(),
            metadata: vec![
                ("k2".to_owned(), "v2".to_owned()),
                ("k1".to_owned(), "v1".to_owned()),
            ],
            stacktrace: "at pot".to_owned(),
        }),
        expect![[r#"
            418
            content-type: application/json
            x-restate-error-source: invocation
            x-restate-id: inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8

            {"code":418,"message":"no \"tea\"\nhere","stacktrace":"at pot","metadata":{"k2":"v2","k1":"v1"},"source":"invocation"}
        "#]],
    )
    .await;
}

#[test]
fn the_status_of_a_failure_is_its_code_where_that_is_an_error() {
    let status = |code| failure(Failure { code, ..Failure::default() }).status().as_u16();
    let codes = [400, 404, 499, 500, 599, 700, 999, 1000, 70_000, 0, 100, 200, 204, 302, 399];
    let statuses = codes.map(status);
    assert_eq!(
        statuses,
        [400, 404, 499, 500, 599, 700, 999, 500, 500, 500, 500, 500, 500, 500, 500]
    );
}

#[tokio::test]
async fn replies() {
    check(
        accepted(some_id(), true, None),
        expect![[r#"
        202
        content-type: application/json
        x-restate-id: inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8

        {"invocationId":"inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8","status":"Accepted"}
    "#]],
    )
    .await;
    check(
        accepted(some_id(), false, Some(Timestamp(1_796_051_893_842))),
        expect![[r#"
            202
            content-type: application/json
            x-restate-id: inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8

            {"invocationId":"inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8","executionTime":"2026-11-30T15:18:13.842000000Z","status":"PreviouslyAccepted"}
        "#]],
    )
    .await;
    check(
        id(some_id()),
        expect![[r#"
        200
        content-type: application/json

        {"invocationId":"inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8"}
    "#]],
    )
    .await;
    check(
        cancel(some_id(), StatusCode::ACCEPTED),
        expect![[r#"
        202
        content-type: application/json
        x-restate-id: inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8

        {"invocationId":"inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8"}
    "#]],
    )
    .await;
    check(
        signalled(),
        expect![[r#"
        202


    "#]],
    )
    .await;
    check(
        already_run(some_id()),
        expect![[r#"
        409
        content-type: application/json
        x-restate-error-source: invocation
        x-restate-id: inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8

        {"code":409,"message":"the workflow method was already invoked","source":"invocation"}
    "#]],
    )
    .await;
    check(not_found(some_id()), expect![[r#"
        404
        content-type: application/json
        x-restate-error-source: invocation
        x-restate-id: inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8

        {"code":404,"message":"invocation `inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8` not found; it never was, or its retention is over","source":"invocation"}
    "#]]).await;
    check(
        health(["A".to_owned(), "B".to_owned()].iter()),
        expect![[r#"
        200
        content-type: application/json

        {"services":["A","B"]}
    "#]],
    )
    .await;
    check(
        too_large_at_once(),
        expect![[r#"
        413
        content-type: text/plain; charset=utf-8
        x-holdfast-error: HF0125

        length limit exceeded
    "#]],
    )
    .await;
}

#[tokio::test]
async fn refusals() {
    check(
        refusal(&Error::UnknownService("Nobody".to_owned()), None),
        expect![[r#"
            404
            content-type: application/json
            x-holdfast-error: HF0112
            x-restate-error-source: ingress

            {"code":404,"message":"service `Nobody` not found; register its deployment, and check the spelling","source":"ingress","error_code":"HF0112"}
        "#]],
    )
    .await;
    check(
        refusal(&Error::NotCompleted(some_id()), Some(some_id())),
        expect![[r#"
            470
            content-type: application/json
            x-holdfast-error: HF0129
            x-restate-error-source: ingress
            x-restate-id: inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8

            {"code":470,"message":"invocation `inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8` has not completed yet; attach to wait for it","source":"ingress","error_code":"HF0129"}
        "#]],
    )
    .await;
    let overloaded = Unavailable::Overloaded { partition: PartitionId(3), retry_after_ms: 1_200 };
    check(refusal(&overloaded.into(), Some(some_id())), expect![[r#"
        503
        content-type: application/json
        retry-after: 2
        x-holdfast-error: HF0030
        x-restate-error-source: ingress
        x-restate-id: inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8

        {"code":503,"message":"partition 3 is overloaded; try again in 1200 ms","source":"ingress","error_code":"HF0030"}
    "#]]).await;
    check(
        refusal(&Unavailable::ShuttingDown.into(), None),
        expect![[r#"
            503
            content-type: application/json
            retry-after: 1
            x-holdfast-error: HF0032
            x-restate-error-source: ingress

            {"code":503,"message":"shutting down","source":"ingress","error_code":"HF0032"}
        "#]],
    )
    .await;
}
