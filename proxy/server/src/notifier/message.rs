//! What a notice says, as JSON. Fields without a value are absent, and none is ever taken away.

use crate::query::target;
use bytes::Bytes;
use holdfast_machine::tables::notice::{Notice, What};
use serde::Serialize;

#[derive(Serialize)]
struct Message<'a> {
    #[serde(rename = "type")]
    ty: &'static str,
    id: &'a str,
    at: String,
    /// Who paused it.
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<&'static str>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<&'static str>,
    invocation: Invocation<'a>,
    links: Links,
}

#[derive(Serialize)]
struct Invocation<'a> {
    id: String,
    target: String,
    service: &'a str,
    handler: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deployment: Option<String>,
    /// When it happened; it may be another by now.
    status: &'static str,
    attempts: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<Failure<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Failure<'a> {
    code: u32,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    doc_code: Option<&'a str>,
}

#[derive(Serialize)]
struct Links {
    describe: String,
}

/// The body that tells of `notice`. `admin_url` is where the admin listener is reached.
pub(super) fn body(id: &str, notice: &Notice, admin_url: &str) -> Bytes {
    let (by, cause, status) = match notice.what {
        What::Paused(by) => (Some(by.as_str()), None, "paused"),
        What::Failed(by) => (None, Some(by.as_str()), "completed"),
    };
    let admin_url = admin_url.trim_end_matches('/');
    let invocation = notice.invocation.to_string();
    let message = Message {
        ty: notice.what.as_str(),
        id,
        at: notice.at.rfc3339(),
        by,
        cause,
        links: Links { describe: format!("{admin_url}/holdfast/invocations/{invocation}") },
        invocation: Invocation {
            id: invocation,
            target: target(&notice.target),
            service: &notice.target.service,
            handler: &notice.target.handler,
            key: notice.target.key.as_deref(),
            deployment: notice.deployment.map(|deployment| deployment.to_string()),
            status,
            attempts: notice.attempts,
            failure: notice.failure.as_ref().map(|failure| Failure {
                code: failure.code,
                message: &failure.message,
                doc_code: failure.doc_code.as_deref(),
            }),
        },
    };
    serde_json::to_vec(&message).expect("texts and numbers have a JSON form").into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use holdfast_machine::{
        id::{DeploymentId, InvocationId, PartitionId, PartitionKey},
        model::{FailedBy, PausedBy, Target},
        tables::notice::FailureSummary,
        time::Timestamp,
    };
    use holdfast_wire::manifest::HandlerType;

    fn check(notice: &Notice, expected: Expect) {
        let id = notice.id(PartitionId(0), 1).to_string();
        let body = body(&id, notice, "http://admin:9070/");
        let value: serde_json::Value = serde_json::from_slice(&body).unwrap();
        expected.assert_eq(&serde_json::to_string_pretty(&value).unwrap());
    }

    #[test]
    fn a_notice_says_all_there_is() {
        let mut notice = Notice {
            what: What::Paused(PausedBy::Retries),
            invocation: InvocationId { partition_key: PartitionKey(1), uuid: 2 },
            target: Target {
                service: "Counter".into(),
                key: Some("k \"1\"".into()),
                handler: "add".into(),
                ty: HandlerType::Exclusive,
            },
            deployment: Some(DeploymentId(3)),
            at: Timestamp(1_800_000_000_123),
            attempts: 2,
            failure: Some(FailureSummary {
                code: 500,
                message: "no bank".into(),
                doc_code: Some("HF0100".into()),
            }),
        };
        check(
            &notice,
            expect![[r#"
            {
              "type": "invocation.paused",
              "id": "ntc_16eid2fklpqcuOCZds3ClIR",
              "at": "2027-01-15T08:00:00.123Z",
              "by": "retries",
              "invocation": {
                "id": "inv_105k1wlNFHb203LZ30BX8sU4IDCkIZztT2",
                "target": "Counter/k \"1\"/add",
                "service": "Counter",
                "handler": "add",
                "key": "k \"1\"",
                "deployment": "dp_105EYzvUVHHm74Xqv5umdPy",
                "status": "paused",
                "attempts": 2,
                "failure": {
                  "code": 500,
                  "message": "no bank",
                  "docCode": "HF0100"
                }
              },
              "links": {
                "describe": "http://admin:9070/holdfast/invocations/inv_105k1wlNFHb203LZ30BX8sU4IDCkIZztT2"
              }
            }"#]],
        );
        notice.what = What::Failed(FailedBy::Kill);
        notice.target.key = None;
        notice.deployment = None;
        notice.failure = None;
        check(
            &notice,
            expect![[r#"
            {
              "type": "invocation.failed",
              "id": "ntc_16eid2fklpqcuOCZds3ClIR",
              "at": "2027-01-15T08:00:00.123Z",
              "cause": "killed",
              "invocation": {
                "id": "inv_105k1wlNFHb203LZ30BX8sU4IDCkIZztT2",
                "target": "Counter/add",
                "service": "Counter",
                "handler": "add",
                "status": "completed",
                "attempts": 2
              },
              "links": {
                "describe": "http://admin:9070/holdfast/invocations/inv_105k1wlNFHb203LZ30BX8sU4IDCkIZztT2"
              }
            }"#]],
        );
    }
}
