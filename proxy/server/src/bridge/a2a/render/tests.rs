//! What those who follow are told of each row, and what the task shows then.

use super::{Fold, Head, output::direct_message};
use crate::bridge::a2a::error::Error;
use crate::bridge::a2a::json::write;
use crate::tasks::{
    Action, Ask, AskId, Closed, Closing, Ended, Event, Message, Progress, State, Taken, What,
};
use expect_test::{Expect, expect};
use holdfast_machine::{
    ask::Question,
    id::InvocationId,
    model::{FailedBy, Failure, Outcome, Target},
    task::Artifact,
    time::Timestamp,
};
use holdfast_wire::manifest::HandlerType;
use serde_json::{Value, json};

fn head() -> Head {
    Head {
        id: "t".into(),
        context_id: "c".into(),
        output_type: None,
        text_only: false,
        says_how: false,
    }
}

/// Tells rows one after the other; then the task, each on a line.
fn check(rows: Vec<(State, What)>, expected: Expect) {
    let mut fold = Fold::new(head(), Timestamp(0));
    let mut said = String::new();
    for (sequence, (state, what)) in (1..).zip(rows) {
        let row = Event { sequence, at: Timestamp(sequence * 1000), state, what };
        for event in fold.take(&row) {
            said += &format!("{sequence} {}\n", short(write::stream_response(&event)));
        }
    }
    said += &format!("= {}\n", short(write::task(&fold.task())));
    expected.assert_eq(&said);
}

/// Without what is the same in every line.
fn short(mut value: Value) -> String {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(object) => {
                for name in ["taskId", "contextId", "metadata", "role", "timestamp"] {
                    object.remove(name);
                }
                object.values_mut().for_each(strip);
            }
            Value::Array(list) => list.iter_mut().for_each(strip),
            _ => {}
        }
    }
    strip(&mut value);
    value.to_string().replace("TASK_STATE_", "")
}

fn ask(number: u32, message: &str) -> Ask {
    let id = InvocationId::random("Clerk", None, 0, u128::from(number));
    let question = json!({ "message": message, "schema": { "type": "object" } });
    let question = Question::read(&question.to_string().into()).unwrap();
    Ask {
        id: AskId::of(id),
        number,
        root: id,
        caller: id,
        asked_by: Target {
            service: "Clerk".into(),
            key: None,
            handler: "ask".into(),
            ty: HandlerType::Service,
        },
        kind: question.kind,
        message: question.message,
        form: question.form,
        to: None,
        url: None,
        opened_at: Timestamp(0),
        expires_at: None,
        whole_message: false,
        sink: None,
        closed: None,
    }
}

fn asked(number: u32, message: &str) -> (State, What) {
    (State::InputRequired, What::Asked(Box::new(ask(number, message))))
}

fn answered(number: u32, state: State) -> (State, What) {
    let closed = Closed {
        at: Timestamp(0),
        how: Closing::Answered,
        action: Action::Accept,
        by: Some("ada".into()),
        content: r#"{"x":1}"#.into(),
    };
    (state, What::Answered { number, closed })
}

fn message(id: &str, text: &str, answers: Option<u32>, state: State) -> (State, What) {
    let body = json!({ "messageId": id, "role": "ROLE_USER", "parts": [{ "text": text }] });
    let message = Message {
        id: id.into(),
        body: body.to_string().into(),
        action: Action::Accept,
        content: None,
        text: Some(text.into()),
        by: None,
    };
    (state, What::Message(Taken { message, answers, waiting: false }))
}

fn progress(message: &str, state: State) -> (State, What) {
    let at = Timestamp(0);
    (state, What::Progress(Progress { message: message.into(), progress: None, total: None, at }))
}

fn artifact(text: &str, append: bool) -> (State, What) {
    let artifact = json!({ "artifactId": "r", "parts": [{ "text": text }] }).to_string().into();
    (State::Working, What::Artifact(Artifact { artifact, append, last: append }))
}

fn ended(output: &'static str) -> (State, What) {
    let outcome = Outcome::Success(output.into());
    (State::Completed, What::Ended(Ended { outcome, by: None }))
}

#[test]
fn a_question_and_its_answer() {
    check(
        vec![
            (State::Submitted, What::State),
            message("m-1", "begin", None, State::Submitted),
            (State::Working, What::State),
            asked(1, "Sure?"),
            message("m-2", "yes", Some(1), State::InputRequired),
            answered(1, State::Working),
            ended(r#"{"done":true}"#),
        ],
        expect![[r#"
            1 {"statusUpdate":{"status":{"state":"SUBMITTED"}}}
            3 {"statusUpdate":{"status":{"state":"WORKING"}}}
            4 {"statusUpdate":{"status":{"state":"INPUT_REQUIRED","message":{"messageId":"ask_1hw2JqMUSke501SZwviYzes2mjOamuMJWw","parts":[{"text":"Sure?"}]}}}}
            6 {"statusUpdate":{"status":{"state":"WORKING"}}}
            7 {"artifactUpdate":{"artifact":{"artifactId":"result","name":"result","parts":[{"data":{"done":true},"mediaType":"application/json"}]},"lastChunk":true}}
            7 {"statusUpdate":{"status":{"state":"COMPLETED"}}}
            = {"id":"t","history":[{"messageId":"m-1","parts":[{"text":"begin"}]},{"messageId":"ask_1hw2JqMUSke501SZwviYzes2mjOamuMJWw","parts":[{"text":"Sure?"}]},{"messageId":"m-2","parts":[{"text":"yes"}]}],"status":{"state":"COMPLETED"},"artifacts":[{"artifactId":"result","name":"result","parts":[{"data":{"done":true},"mediaType":"application/json"}]}]}
        "#]],
    );
}

#[test]
fn the_oldest_question_is_the_one_that_is_shown() {
    check(
        vec![
            (State::Submitted, What::State),
            (State::Working, What::State),
            asked(1, "First?"),
            asked(2, "Second?"),
            progress("meanwhile", State::InputRequired),
            answered(1, State::InputRequired),
            answered(2, State::Working),
        ],
        expect![[r#"
            1 {"statusUpdate":{"status":{"state":"SUBMITTED"}}}
            2 {"statusUpdate":{"status":{"state":"WORKING"}}}
            3 {"statusUpdate":{"status":{"state":"INPUT_REQUIRED","message":{"messageId":"ask_1hw2JqMUSke501SZwviYzes2mjOamuMJWw","parts":[{"text":"First?"}]}}}}
            4 {"statusUpdate":{"status":{"state":"INPUT_REQUIRED","message":{"messageId":"ask_1hw2JqMUSke501SZwviYzes2mjOamuMJWw","parts":[{"text":"First?"}]}}}}
            5 {"statusUpdate":{"status":{"state":"INPUT_REQUIRED","message":{"messageId":"ask_1hw2JqMUSke501SZwviYzes2mjOamuMJWw","parts":[{"text":"First?"}]}}}}
            6 {"statusUpdate":{"status":{"state":"INPUT_REQUIRED","message":{"messageId":"ask_1lC8vs2lCUGZ03LZ30BX8sU4IDCkIZztT2","parts":[{"text":"Second?"}]}}}}
            7 {"statusUpdate":{"status":{"state":"WORKING"}}}
            = {"id":"t","history":[{"messageId":"ask_1hw2JqMUSke501SZwviYzes2mjOamuMJWw","parts":[{"text":"First?"}]},{"messageId":"ask_1lC8vs2lCUGZ03LZ30BX8sU4IDCkIZztT2","parts":[{"text":"Second?"}]},{"messageId":"t-6","parts":[{"data":{"x":1},"mediaType":"application/json"}]},{"messageId":"t-7","parts":[{"data":{"x":1},"mediaType":"application/json"}]}],"status":{"state":"WORKING"}}
        "#]],
    );
}

#[test]
fn progress_and_chunks() {
    check(
        vec![
            (State::Submitted, What::State),
            (State::Working, What::State),
            progress("one", State::Working),
            artifact("a", false),
            artifact("b", true),
            progress("two", State::Working),
            artifact("c", false),
            ended("\"the end\""),
        ],
        expect![[r#"
            1 {"statusUpdate":{"status":{"state":"SUBMITTED"}}}
            2 {"statusUpdate":{"status":{"state":"WORKING"}}}
            3 {"statusUpdate":{"status":{"state":"WORKING","message":{"messageId":"t-3","parts":[{"text":"one"}]}}}}
            4 {"artifactUpdate":{"artifact":{"artifactId":"r","parts":[{"text":"a"}]}}}
            5 {"artifactUpdate":{"append":true,"lastChunk":true,"artifact":{"artifactId":"r","parts":[{"text":"b"}]}}}
            6 {"statusUpdate":{"status":{"state":"WORKING","message":{"messageId":"t-6","parts":[{"text":"two"}]}}}}
            7 {"artifactUpdate":{"artifact":{"artifactId":"r","parts":[{"text":"c"}]}}}
            8 {"artifactUpdate":{"artifact":{"artifactId":"result","name":"result","parts":[{"text":"the end"}]},"lastChunk":true}}
            8 {"statusUpdate":{"status":{"state":"COMPLETED"}}}
            = {"id":"t","history":[{"messageId":"t-3","parts":[{"text":"one"}]},{"messageId":"t-6","parts":[{"text":"two"}]}],"status":{"state":"COMPLETED"},"artifacts":[{"artifactId":"r","parts":[{"text":"c"}]},{"artifactId":"result","name":"result","parts":[{"text":"the end"}]}]}
        "#]],
    );
}

#[test]
fn a_message_that_fits_no_question() {
    check(
        vec![
            (State::Working, What::State),
            message("m-1", "perhaps", None, State::Working),
            asked(1, "Sure?"),
            (
                State::InputRequired,
                What::NotTaken { message: "m-1".into(), number: 1, why: "say yes or no".into() },
            ),
        ],
        expect![[r#"
            1 {"statusUpdate":{"status":{"state":"WORKING"}}}
            3 {"statusUpdate":{"status":{"state":"INPUT_REQUIRED","message":{"messageId":"ask_1hw2JqMUSke501SZwviYzes2mjOamuMJWw","parts":[{"text":"Sure?"}]}}}}
            4 {"statusUpdate":{"status":{"state":"INPUT_REQUIRED","message":{"messageId":"ask_1hw2JqMUSke501SZwviYzes2mjOamuMJWw","parts":[{"text":"The message m-1 is no answer to it: say yes or no"},{"text":"Sure?"}]}}}}
            = {"id":"t","history":[{"messageId":"m-1","parts":[{"text":"perhaps"}]}],"status":{"state":"INPUT_REQUIRED","message":{"messageId":"ask_1hw2JqMUSke501SZwviYzes2mjOamuMJWw","parts":[{"text":"The message m-1 is no answer to it: say yes or no"},{"text":"Sure?"}]}}}
        "#]],
    );
}

#[test]
fn endings() {
    let failure = |code, message: &str| {
        Outcome::Failure(Failure { code, message: message.into(), ..Failure::default() })
    };
    let failed =
        |state, outcome| vec![(state, What::Ended(Ended { outcome, by: Some(FailedBy::Handler) }))];
    check(
        failed(State::Failed, failure(500, "no luck")),
        expect![[r#"
        1 {"statusUpdate":{"status":{"state":"FAILED","message":{"messageId":"t-1","parts":[{"text":"no luck"}]}}}}
        = {"id":"t","status":{"state":"FAILED","message":{"messageId":"t-1","parts":[{"text":"no luck"}]}}}
    "#]],
    );
    check(
        failed(State::Rejected, failure(422, "not for me")),
        expect![[r#"
        1 {"statusUpdate":{"status":{"state":"REJECTED","message":{"messageId":"t-1","parts":[{"text":"not for me"}]}}}}
        = {"id":"t","status":{"state":"REJECTED","message":{"messageId":"t-1","parts":[{"text":"not for me"}]}}}
    "#]],
    );
    check(
        failed(State::Cancelled, failure(409, "cancelled")),
        expect![[r#"
        1 {"statusUpdate":{"status":{"state":"CANCELED","message":{"messageId":"t-1","parts":[{"text":"cancelled"}]}}}}
        = {"id":"t","status":{"state":"CANCELED","message":{"messageId":"t-1","parts":[{"text":"cancelled"}]}}}
    "#]],
    );
    check(
        vec![ended("")],
        expect![[r#"
        1 {"statusUpdate":{"status":{"state":"COMPLETED"}}}
        = {"id":"t","status":{"state":"COMPLETED"}}
    "#]],
    );
    check(
        vec![ended("null")],
        expect![[r#"
        1 {"statusUpdate":{"status":{"state":"COMPLETED"}}}
        = {"id":"t","status":{"state":"COMPLETED"}}
    "#]],
    );
    check(
        vec![ended("not json")],
        expect![[r#"
        1 {"artifactUpdate":{"artifact":{"artifactId":"result","name":"result","parts":[{"text":"not json"}]},"lastChunk":true}}
        1 {"statusUpdate":{"status":{"state":"COMPLETED"}}}
        = {"id":"t","artifacts":[{"artifactId":"result","name":"result","parts":[{"text":"not json"}]}],"status":{"state":"COMPLETED"}}
    "#]],
    );
}

#[test]
fn results_by_their_type() {
    let of = |ty: &str, text_only, output: &'static [u8]| {
        let head = Head { output_type: Some(ty.into()), text_only, ..head() };
        let parts = super::output::parts(&output.into(), &head);
        parts.iter().map(|part| write::part(part).to_string()).collect::<String>()
    };
    assert_eq!(of("text/plain", false, b"42"), r#"{"text":"42","mediaType":"text/plain"}"#);
    assert_eq!(of("application/json", true, b"[1]"), r#"{"text":"[1]"}"#);
    let bytes = r#"{"raw":"//4=","mediaType":"image/png"}"#;
    assert_eq!(of("image/png", false, &[0xff, 0xfe]), bytes);
    assert_eq!(of("application/json", false, &[0xff, 0xfe]), r#"{"raw":"//4="}"#);
}

#[test]
fn results_that_are_last_words() {
    let of = |says_how, output: &'static str| {
        let mut fold = Fold::new(Head { says_how, ..head() }, Timestamp(0));
        let (state, what) = ended(output);
        fold.take(&Event { sequence: 1, at: Timestamp(0), state, what });
        let task = fold.task();
        let message = task.status.message.map(|it| write::part(&it.parts[0]).to_string());
        (message, task.artifacts.len())
    };
    let words = Some(r#"{"text":"bye"}"#.to_owned());
    assert_eq!(of(true, r#"{"status":"bye"}"#), (words.clone(), 0));
    assert_eq!(of(true, r#"{"status":{"parts":[{"text":"bye"}]}}"#), (words, 0));
    assert_eq!(of(true, r#"{"status":"bye","more":1}"#), (None, 1));
    assert_eq!(of(false, r#"{"status":"bye"}"#), (None, 1), "an ordinary result");
}

#[test]
fn results_that_are_messages() {
    let of = |output: Value| direct_message(&output.to_string().into(), &head());
    let said = of(json!({ "message": { "parts": [{ "text": "hi" }] } })).unwrap().unwrap();
    let written = write::message(&said).to_string();
    let expected =
        r#"{"messageId":"t-answer","contextId":"c","role":"ROLE_AGENT","parts":[{"text":"hi"}]}"#;
    assert_eq!(written, expected);
    assert_eq!(of(json!({ "message": "hi" })), Ok(None), "an ordinary result");
    assert_eq!(of(json!({ "message": {}, "more": 1 })), Ok(None));
    for bad in [json!({}), json!({ "parts": [] }), json!({ "parts": [{}] })] {
        let wrong = of(json!({ "message": bad }));
        assert!(matches!(wrong, Err(Error::InvalidAgentResponse(_))), "{wrong:?}");
    }
}
