//! One invocation with its journal, its failures and a mismatch.

use super::bench::*;
use crate::query::{model::*, text::preview};
use expect_test::expect;

async fn described(number: u8, handler: &str) -> String {
    let (world, running) = world();
    let id = id(number, &service(handler));
    let detail = world.query(&running).describe(id).await.unwrap().unwrap();
    serde_json::to_string_pretty(&detail).unwrap()
}

#[tokio::test]
async fn a_suspended_one_shows_its_journal() {
    expect![[r#"
        {
          "id": "inv_141kvpM925260dcWFx8PYDagweFaxtvbBC",
          "target": "Svc/waiting",
          "service": "Svc",
          "handler": "waiting",
          "handler_type": "service",
          "status": "suspended",
          "waits_for": "Sleep a day until 2027-01-16T08:00:00.000Z (completion 2), an awakeable (signal 17)",
          "created_at": "2027-01-15T08:00:08.000Z",
          "modified_at": "2027-01-15T08:00:09.000Z",
          "deployment": "dp_10dcWFx8PYDagweFaxtvbBC",
          "protocol_version": 6,
          "attempt": 1,
          "failed_attempts": 0,
          "invoked_by": {
            "kind": "ingress"
          },
          "root": "inv_141kvpM925260dcWFx8PYDagweFaxtvbBC",
          "journal_entries": 4,
          "completion_retention_ms": 60000,
          "journal_retention_ms": 60000,
          "awaiting": [
            {
              "kind": "completion",
              "id": "2",
              "what": "Sleep a day until 2027-01-16T08:00:00.000Z"
            },
            {
              "kind": "signal",
              "id": "1",
              "what": "a cancellation"
            },
            {
              "kind": "signal",
              "id": "17",
              "what": "an awakeable"
            }
          ],
          "journal": [
            {
              "index": 0,
              "class": "command",
              "kind": "Input",
              "details": {
                "header authorization": "(hidden)",
                "header x-a": "b"
              },
              "value": {
                "bytes": 4,
                "text": "\"in\""
              },
              "appended_at": "2027-01-15T08:00:08.000Z"
            },
            {
              "index": 1,
              "class": "command",
              "kind": "Run",
              "name": "charge",
              "completions": [
                1
              ],
              "completed": true,
              "appended_at": "2027-01-15T08:00:09.000Z"
            },
            {
              "index": 2,
              "class": "notification",
              "kind": "Run",
              "completions": [
                1
              ],
              "value": {
                "bytes": 2,
                "base64": "//4="
              },
              "appended_at": "2027-01-15T08:00:09.000Z"
            },
            {
              "index": 3,
              "class": "command",
              "kind": "Sleep",
              "name": "a day",
              "completions": [
                2
              ],
              "completed": false,
              "details": {
                "until": "2027-01-16T08:00:00.000Z"
              },
              "appended_at": "2027-01-15T08:00:09.000Z"
            }
          ],
          "events": [],
          "more": false
        }"#]].assert_eq(&described(7, "waiting").await);
}

#[tokio::test]
async fn a_failing_one_shows_why() {
    expect![[r#"
        {
          "id": "inv_141kvpM925260bjX91PRpoIe9UR0aYIrF6",
          "target": "Svc/failing",
          "service": "Svc",
          "handler": "failing",
          "handler_type": "service",
          "status": "backing-off",
          "waits_for": "attempt 2 at 2027-01-15T08:00:07.503Z, after: no route to bank",
          "created_at": "2027-01-15T08:00:06.000Z",
          "modified_at": "2027-01-15T08:00:07.000Z",
          "attempt": 1,
          "failed_attempts": 1,
          "next_retry_at": "2027-01-15T08:00:07.503Z",
          "last_failure": {
            "code": 500,
            "message": "no route to bank",
            "doc_code": "HF0071",
            "stacktrace": "at charge"
          },
          "invoked_by": {
            "kind": "ingress"
          },
          "root": "inv_141kvpM925260bjX91PRpoIe9UR0aYIrF6",
          "journal_entries": 1,
          "completion_retention_ms": 60000,
          "journal_retention_ms": 60000,
          "journal": [
            {
              "index": 0,
              "class": "command",
              "kind": "Input",
              "details": {
                "header authorization": "(hidden)",
                "header x-a": "b"
              },
              "value": {
                "bytes": 4,
                "text": "\"in\""
              },
              "appended_at": "2027-01-15T08:00:06.000Z"
            }
          ],
          "events": [
            {
              "at": "2027-01-15T08:00:07.000Z",
              "last_at": "2027-01-15T08:00:07.000Z",
              "count": 1,
              "after_entry": 1,
              "kind": "attempt-failed",
              "failure": {
                "code": 500,
                "message": "no route to bank",
                "doc_code": "HF0071",
                "stacktrace": "at charge"
              }
            }
          ],
          "more": false
        }"#]]
    .assert_eq(&described(6, "failing").await);
}

#[tokio::test]
async fn a_mismatch_shows_both_sides() {
    let (world, drifted) = drifted();
    let detail = world.query(&[]).describe(drifted).await.unwrap().unwrap();
    let mismatch = serde_json::to_string_pretty(&detail.events[0].mismatch).unwrap();
    expect![[r#"
        {
          "command": 1,
          "index": 1,
          "recorded": {
            "key": "a",
            "type": "SetState",
            "value": "8 bytes, sha256 c1980264"
          },
          "received": {
            "key": "b",
            "type": "SetState",
            "value": "1 bytes, sha256 d4735e3a"
          },
          "differing": [
            "key",
            "value"
          ]
        }"#]]
    .assert_eq(&mismatch);
    let failure = detail.invocation.last_failure.unwrap();
    assert_eq!((failure.code, failure.doc_code.as_deref()), (570, Some("HF0094")));
    assert!(failure.message.contains("key: 'a' != 'b'"), "the failure has the whole text");
    let waits_for = detail.invocation.waits_for.unwrap();
    assert!(waits_for.ends_with(", after: Found a mismatch"), "a sentence: {waits_for}");
}

#[tokio::test]
async fn what_was_read_can_be_read_back() {
    let mut all = vec![];
    for (number, handler) in [(6, "failing"), (7, "waiting"), (8, "done"), (9, "paused")] {
        all.push(described(number, handler).await);
    }
    let (world, drifted) = drifted();
    let drifted = world.query(&[]).describe(drifted).await.unwrap().unwrap();
    all.push(serde_json::to_string_pretty(&drifted).unwrap());
    for json in all {
        let back: InvocationDetail = serde_json::from_str(&json).unwrap();
        assert_eq!(serde_json::to_string_pretty(&back).unwrap(), json);
    }
}

#[test]
fn a_preview_is_cut_between_characters() {
    let long = "ä".repeat(3_000);
    let shown = preview(&long.as_bytes()[1..]);
    assert!(shown.text.is_none() && shown.base64.is_some() && shown.cut);
    let shown = preview(format!("x{long}").as_bytes());
    assert_eq!(shown.text.map(|text| text.len()), Some(4_095));
    assert_eq!((shown.bytes, shown.cut), (6_001, true));
}
