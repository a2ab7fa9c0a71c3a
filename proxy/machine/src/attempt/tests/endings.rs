//! How a conversation comes to its end, by its own words or without.

use super::*;
use expect_test::expect;

/// The failure that each response head leads to.
fn check_heads(heads: &[&str], expected: Expect) {
    let mut text = String::new();
    for head in heads {
        let transcript = transcript(&format!("open Greeter/greet v6\nhead {head}"));
        let failed = transcript.lines().find(|line| line.contains("failed")).map(str::trim);
        writeln!(text, "{head}\n    {}", failed.unwrap_or("goes on")).unwrap();
    }
    expected.assert_eq(&text);
}

#[test]
fn response_heads() {
    check_heads(
        &[
            "200",
            "204",
            "200 -",
            "200 text/html",
            "200 application/vnd.restate.invocation.v7",
            "200 application/vnd.restate.invocation.v6; charset=utf-8",
            "400",
            "401",
            "404 text/plain",
            "413",
            "415 application/json",
            "429",
            "429 - ; 30",
            "503 text/plain ; Thu, 01 Jan 1970 00:20:00 GMT",
            "503 text/plain ; later",
            "500",
            "502",
            "504",
            "302",
            "100",
        ],
        expect![[r#"
            200
                goes on
            204
                goes on
            200 -
                failed 500 HF0074 Retry: the service answered with content type (none), expected `application/vnd.restate.invocation.v6`
            200 text/html
                failed 500 HF0074 Retry: the service answered with content type `text/html`, expected `application/vnd.restate.invocation.v6`
            200 application/vnd.restate.invocation.v7
                failed 500 HF0074 Retry: the service answered with content type `application/vnd.restate.invocation.v7`, expected `application/vnd.restate.invocation.v6`
            200 application/vnd.restate.invocation.v6; charset=utf-8
                failed 500 HF0074 Retry: the service answered with content type `application/vnd.restate.invocation.v6; charset=utf-8`, expected `application/vnd.restate.invocation.v6`
            400
                failed 500 HF0081 Retry: the service answered 400, expected 200
            401
                failed 500 HF0076 Retry: the service answered 401: it does not accept the identity of this server
            404 text/plain
                failed 500 HF0075 Retry: the service answered 404: handler `Greeter/greet` is not at this address; deploy it there, or register the deployment again
            413
                failed 500 HF0077 Retry: the service answered 413: the journal or its state is too large for it
            415 application/json
                failed 415 HF0078 Retry (does not count): the service answered 415: it does not speak `application/vnd.restate.invocation.v6`; register the deployment again after a change of its SDK
            429
                failed 500 HF0079 Retry: the service answered 429: it is overloaded or not ready
            429 - ; 30
                failed 500 HF0079 RetryAfter(30s): the service answered 429: it is overloaded or not ready
            503 text/plain ; Thu, 01 Jan 1970 00:20:00 GMT
                failed 500 HF0079 RetryAfter(200s): the service answered 503: it is overloaded or not ready
            503 text/plain ; later
                failed 500 HF0079 Retry: the service answered 503: it is overloaded or not ready
            500
                failed 500 HF0081 Retry: the service answered 500, expected 200
            502
                failed 500 HF0080 Retry: the service answered 502: a gateway in between could not reach it
            504
                failed 500 HF0080 Retry: the service answered 504: a gateway in between could not reach it
            302
                failed 500 HF0081 Retry: the service answered 302, expected 200
            100
                failed 500 HF0081 Retry: the service answered 100, expected 200
        "#]],
    );
}

#[test]
fn a_refused_attempt_is_cut_off() {
    check(
        "open Greeter/greet v6
         head 500 text/plain
         raw 6f6f7073
         end
         broken reset
         deadline",
        expect![[r#"
            open
                send Start 00000000000000440a180707070707070707070707070707070707070707070707071226696e765f31304270656c617534455166306467394d4b6f56324c36614b7350337753705879371801
                send Input 04000000000000027200
            head 500 text/plain
                say
                  failed 500 HF0081 Retry: the service answered 500, expected 200
                reset
                finished
            raw 6f6f7073
            end
            broken reset
            deadline
                there is none
        "#]],
    );
}

#[test]
fn a_second_head_is_ignored() {
    check(
        "open Greeter/greet v6
         head 200
         head 500",
        expect![[r#"
            open
                send Start 00000000000000440a180707070707070707070707070707070707070707070707071226696e765f31304270656c617534455166306467394d4b6f56324c36614b7350337753705879371801
                send Input 04000000000000027200
            head 200
            head 500
        "#]],
    );
}

#[test]
fn a_connection_that_breaks() {
    check(
        "open Greeter/greet v6
         broken connection refused",
        expect![[r#"
            open
                send Start 00000000000000440a180707070707070707070707070707070707070707070707071226696e765f31304270656c617534455166306467394d4b6f56324c36614b7350337753705879371801
                send Input 04000000000000027200
            broken connection refused
                say
                  failed 500 HF0070 Retry: the conversation with the service broke: connection refused
                reset
                finished
        "#]],
    );
    check(
        "open Greeter/greet v6
         head 200
         chunk Run{11:1}
         broken stream reset: INTERNAL_ERROR
         broken again
         chunk Output{14:{}} End{}",
        expect![[r#"
            open
                send Start 00000000000000440a180707070707070707070707070707070707070707070707071226696e765f31304270656c617534455166306467394d4b6f56324c36614b7350337753705879371801
                send Input 04000000000000027200
            head 200
            chunk Run{11:1}
            broken stream reset: INTERNAL_ERROR
                say
                  Run 5801
                  failed 500 HF0070 Retry: the conversation with the service broke: stream reset: INTERNAL_ERROR
                reset
                finished
            broken again
            chunk Output{14:{}} End{}
        "#]],
    );
}

#[test]
fn a_response_without_a_final_message() {
    for (name, script, expected) in [
        (
            "before the head",
            "end",
            expect![
                "before the head: failed 500 HF0071 Retry: the response ended before any message, without a final message (end, suspension or error); the service's log may say why, a crash and a proxy in between are the usual causes"
            ],
        ),
        (
            "with no message",
            "head 200\nend",
            expect![
                "with no message: failed 500 HF0071 Retry: the response ended before any message, without a final message (end, suspension or error); the service's log may say why, a crash and a proxy in between are the usual causes"
            ],
        ),
        (
            "after a message",
            "head 200\nchunk Run{11:1}\nend",
            expect![
                "after a message: failed 500 HF0071 Retry: the response ended after some messages, without a final message (end, suspension or error); the service's log may say why, a crash and a proxy in between are the usual causes"
            ],
        ),
        (
            "inside a message",
            "head 200\nraw 04110000\nend",
            expect![
                "inside a message: failed 500 HF0071 Retry: the response ended in the middle of a message, without a final message (end, suspension or error); the service's log may say why, a crash and a proxy in between are the usual causes"
            ],
        ),
    ] {
        let text = transcript(&format!("open Greeter/greet v6\n{script}"));
        let failed = text.lines().filter(|line| line.contains("failed")).map(str::trim);
        expected.assert_eq(&format!("{name}: {}", failed.collect::<Vec<_>>().join("\n")));
    }
}

#[test]
fn a_message_that_is_too_large() {
    check(
        "open Greeter/greet v6 message-max=100
         head 200
         chunk Run{11:1}
         raw 0401000000000065",
        expect![[r#"
            open
                send Start 00000000000000440a180707070707070707070707070707070707070707070707071226696e765f31304270656c617534455166306467394d4b6f56324c36614b7350337753705879371801
                send Input 04000000000000027200
            head 200
            chunk Run{11:1}
            raw 0401000000000065
                say
                  Run 5801
                  failed 500 HF0082 Retry: the response cannot be read: message Output (0x0401) of 101 bytes is larger than the limit of 100 bytes; send less or raise the limit
                reset
                finished
        "#]],
    );
}

#[test]
fn errors_of_a_service_and_what_it_wants_done() {
    for (error, expected) in [
        ("v7 Error{1:500 2:\"a\"}", expect!["failed 500 Retry: a"]),
        (
            "v7 Error{2:\"no code\" 3:\"at line 1\"}",
            expect!["failed 500 Retry: no code [at line 1]"],
        ),
        ("v7 Error{1:500 2:\"a\" 8:0}", expect!["failed 500 RetryAfter(0ns): a"]),
        ("v7 Error{1:500 2:\"a\" 8:1500}", expect!["failed 500 RetryAfter(1.5s): a"]),
        ("v7 Error{1:500 2:\"a\" 8:1500 9:1}", expect!["failed 500 Pause: a"]),
        ("v7 Error{1:418 2:\"a\" 9:2}", expect!["failed 418 Fail: a"]),
        ("v7 Error{1:500 2:\"a\" 9:99}", expect!["failed 500 Retry: a"]),
        ("v6 Error{1:500 2:\"a\" 9:1}", expect!["failed 500 Retry: a"]),
        ("v6 Error{1:500 2:\"a\" 9:2 8:7}", expect!["failed 500 RetryAfter(7ms): a"]),
        ("v7 Error{1:500 2:\"a\" 4:0}", expect!["failed 500 Retry at Some(0) None None: a"]),
        (
            "v7 Error{1:500 2:\"a\" 4:3 5:\"x\" 6:70000}",
            expect![[r#"failed 500 Retry at Some(3) Some("x") None: a"#]],
        ),
    ] {
        let (version, error) = error.split_once(' ').unwrap();
        let text = transcript(&format!("open Greeter/greet {version}\nhead 200\nchunk {error}"));
        let failed = text.lines().find(|line| line.contains("failed")).unwrap();
        expected.assert_eq(failed.trim());
    }
}

#[test]
fn a_long_failure_is_cut() {
    let long = "ä".repeat(40_000);
    let error = format!("Error{{1:500 2:\"x{long}\" 3:\"{long}\" 5:\"{long}\"}}");
    let mut attempt = transcript(&format!("open Greeter/greet v6\nhead 200\nchunk {error}"));
    attempt.retain(|c| c == 'ä');
    // Two texts of 64 KiB, one of which begins with another letter, and a name of 256 bytes; then
    // the echo of the input.
    let kept = (32 * 1024 - 1) + 32 * 1024 + 128;
    let echoed = "chunk Error{1:500 2:\"x".len();
    assert_eq!(attempt.chars().count(), kept + 88 - echoed);
}

#[test]
fn bytes_after_the_final_message_are_noted_once() {
    check(
        "open Greeter/greet v6
         head 200
         chunk Output{14:{}} End{} Run{11:1}
         chunk Run{11:2}
         raw 00
         end",
        expect![[r#"
            open
                send Start 00000000000000440a180707070707070707070707070707070707070707070707071226696e765f31304270656c617534455166306467394d4b6f56324c36614b7350337753705879371801
                send Input 04000000000000027200
            head 200
            chunk Output{14:{}} End{} Run{11:1}
                say
                  Output 7200
                  completed
                half-close
                note: the service sent bytes after its final message
            chunk Run{11:2}
            raw 00
            end
                finished
        "#]],
    );
    check(
        "open Greeter/greet v6
         head 200
         chunk Output{14:{}} End{}
         raw 
         chunk Run{11:2}
         broken reset",
        expect![[r#"
            open
                send Start 00000000000000440a180707070707070707070707070707070707070707070707071226696e765f31304270656c617534455166306467394d4b6f56324c36614b7350337753705879371801
                send Input 04000000000000027200
            head 200
            chunk Output{14:{}} End{}
                say
                  Output 7200
                  completed
                half-close
            raw
            chunk Run{11:2}
                note: the service sent bytes after its final message
            broken reset
                finished
        "#]],
    );
}

#[test]
fn after_an_abort_nothing_is_said() {
    check(
        "open Greeter/greet v6
         head 200
         chunk Run{11:1}
         abort
         abort
         chunk Output{14:{}} End{}
         end
         deadline
         stored 1 Signal{2:1 4:{}}
         suspend",
        expect![[r#"
            open
                send Start 00000000000000440a180707070707070707070707070707070707070707070707071226696e765f31304270656c617534455166306467394d4b6f56324c36614b7350337753705879371801
                send Input 04000000000000027200
            head 200
            chunk Run{11:1}
            abort
                reset
                finished
            abort
            chunk Output{14:{}} End{}
            end
            deadline
                there is none
            stored 1 Signal{2:1 4:{}}
            suspend
        "#]],
    );
}

#[test]
fn what_was_not_polled_is_forgotten_by_an_abort() {
    let mut opening = Opening::parse("open Greeter/greet v6");
    opening.entry("Input{14:{}}");
    let mut attempt = Attempt::new(Timestamp(0), opening.start, opening.terms);
    attempt.handle_response_head(
        Timestamp(0),
        200,
        Some("application/vnd.restate.invocation.v6"),
        None,
    );
    attempt.handle_chunk(Timestamp(0), frames("Run{11:1}")[0].encode());
    attempt.handle_abort(Timestamp(0));
    let polled = std::iter::from_fn(|| attempt.poll()).collect::<Vec<_>>();
    assert_eq!(polled, [Output::Reset, Output::Finished]);
    assert!(attempt.is_finished());
}

#[test]
fn an_abort_while_the_response_drains() {
    check(
        "open Greeter/greet v6
         head 200
         chunk Output{14:{}} End{}
         abort",
        expect![[r#"
            open
                send Start 00000000000000440a180707070707070707070707070707070707070707070707071226696e765f31304270656c617534455166306467394d4b6f56324c36614b7350337753705879371801
                send Input 04000000000000027200
            head 200
            chunk Output{14:{}} End{}
                say
                  Output 7200
                  completed
                half-close
            abort
                reset
                finished
        "#]],
    );
}

/// Each code has a page that begins with it, and each page of ours has a code.
#[test]
fn every_failure_has_a_page() {
    use super::error::{Error, Place, Silence};
    let ty = MessageType::RUN;
    let frame = holdfast_wire::frame::Error::Truncated { bytes: 1 };
    let all = [
        Error::Broken { reason: String::new() },
        Error::Unfinished { place: Place::BeforeAnyMessage },
        Error::Silent { waited_ms: 1, after: Silence::Request },
        Error::Mute { waited_ms: 1 },
        Error::ContentType { seen: String::new(), expected: "" },
        Error::NotFound { handler: String::new() },
        Error::Unauthorized,
        Error::PayloadTooLarge,
        Error::VersionUnsupported { content_type: "" },
        Error::NotNow { status: 503, retry_after: None },
        Error::Gateway { status: 502 },
        Error::Status { status: 500 },
        Error::Frame(frame),
        Error::Unexpected { ty, why: "" },
        Error::Malformed { ty, reason: String::new() },
        Error::EmptyFuture,
        Error::FutureTooDeep { depth_max: 1 },
        Error::UnknownCallee { service: String::new(), handler: String::new() },
        Error::Key { service: String::new() },
        Error::State { access: "", place: "" },
        Error::Promise { service: String::new() },
        Error::Id("x".parse::<InvocationId>().unwrap_err()),
        Error::Scoped,
        Error::EmptyIdempotencyKey,
    ];
    let pages = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors");
    for (number, error) in (70..).zip(all) {
        assert_eq!(error.code(), format!("HF{number:04}"));
        let page = std::fs::read_to_string(pages.join(format!("{}.md", error.code()))).unwrap();
        assert!(page.starts_with(&format!("# {}: ", error.code())), "{page}");
        assert!(page.contains("\n## What happened\n") && page.contains("\n## What to do\n"));
    }
}
