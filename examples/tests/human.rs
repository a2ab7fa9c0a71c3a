//! What our SDK says to `holdfast.Human` and `holdfast.Task`, read as the sidecar reads it, and the
//! sidecar's answers read by the SDK: the two are written apart, and must agree in every shape.

use bytes::Bytes;
use holdfast_machine::ask::{Action, AskKind, Closed, Closing, Question};
use holdfast_machine::task::Told;
use holdfast_machine::time::Timestamp;
use holdfast_sdk::prelude::*;
use holdfast_sdk::schemars::{self, JsonSchema};
use holdfast_sdk::testing::Double;
use holdfast_sdk::{Answer, Artifact};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Every kind of field that a form can have.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Form {
    /// Whether it is fine.
    approved: bool,
    /// Why, if it is not obvious.
    reason: Option<String>,
    amount: f64,
    count: u32,
    temperature: i64,
    urgency: Urgency,
    colours: Vec<Colour>,
    #[schemars(length(min = 2, max = 40))]
    name: String,
    #[serde(default)]
    note: String,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Urgency {
    Low,
    High,
}

/// With words to each.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
enum Colour {
    /// Like the sea.
    Blue,
    /// Like the grass.
    Green,
}

struct Desk;

#[service]
impl Desk {
    async fn plain(&self, ctx: &Context) -> Result<Answer<Form>> {
        Ok(ctx.ask("Is this fine?").begin().await?)
    }

    async fn with_everything(&self, ctx: &Context) -> Result<Answer<Form>> {
        let asked = ctx.ask("Is this fine?").to("approvers").auth_at("https://example.com/ok");
        Ok(asked.expires_after(Duration::from_secs(60)).begin().await?)
    }

    async fn yes_or_no(&self, ctx: &Context) -> Result<Answer<()>> {
        Ok(ctx.ask("Go on?").expires_after(Duration::ZERO).begin().await?)
    }

    async fn anything(&self, ctx: &Context) -> Result<Answer<HashMap<String, String>>> {
        Ok(ctx.ask("What?").begin().await?)
    }

    async fn message(&self, ctx: &Context) -> Result<Answer<Map<String, Value>>> {
        Ok(ctx.ask("Which picture?").whole_message().begin().await?)
    }

    async fn tells(&self, ctx: &Context) {
        ctx.progress("reading");
        ctx.progress_of("reading", 1.0, 10.0);
        ctx.artifact(Artifact::new("report").description("All of it").text("One.").data(&[1, 2]));
        ctx.artifact(Artifact::new("report").file("a.svg", "image/svg+xml", b"<svg/>").append());
        ctx.artifact(Artifact::new("film").link("https://example.com/f", "video/webm").last());
    }
}

/// Calls a handler whose questions are read, and answered, as the sidecar does.
async fn asked<T: serde::de::DeserializeOwned>(
    request: holdfast_sdk::Request<Answer<T>>,
    action: Action,
    content: &Value,
) -> (Question, Answer<T>) {
    let question = Arc::new(Mutex::new(None));
    let (seen, content) = (question.clone(), content.clone());
    let double = Double::new(Endpoint::builder().bind(Desk).build()).answer(
        "holdfast.Human",
        "ask",
        move |parameter| {
            let read = Question::read(&parameter.to_string().into());
            let read = read.unwrap_or_else(|why| panic!("{why}, in {parameter}"));
            let content = closed(&read, action, &content).result();
            *seen.lock().unwrap() = Some(read);
            Ok(serde_json::from_slice(&content).unwrap())
        },
    );
    let answer = double.call(request).await.unwrap();
    (question.lock().unwrap().take().unwrap(), answer)
}

/// How the sidecar closes an ask with that answer.
fn closed(question: &Question, action: Action, content: &Value) -> Closed {
    let accepted = action == Action::Accept;
    if accepted && !question.whole_message {
        let none = Map::new();
        let fields = content.as_object().unwrap_or(&none);
        question.form.check(fields).unwrap_or_else(|why| panic!("{why}"));
    }
    let content = if accepted { Bytes::from(content.to_string()) } else { Bytes::new() };
    let by = Some("ada".to_owned());
    Closed { at: Timestamp(1_000), how: Closing::Answered, action, by, content }
}

fn filled_in() -> Value {
    json!({
        "approved": true, "reason": null, "amount": 12.5, "count": 3, "temperature": -4,
        "urgency": "high", "colours": ["Blue", "Green"], "name": "Ada",
    })
}

#[tokio::test]
async fn a_struct_is_a_form_with_all_its_kinds_of_fields() {
    let (question, answer) = asked(DeskClient::plain(), Action::Accept, &filled_in()).await;
    assert_eq!((question.kind, question.message.as_str()), (AskKind::Input, "Is this fine?"));
    let form = question.form.to_json();
    let wanted =
        json!(["approved", "amount", "count", "temperature", "urgency", "colours", "name"]);
    let mut required: Vec<_> = form["required"].as_array().unwrap().clone();
    let mut wanted: Vec<_> = wanted.as_array().unwrap().clone();
    required.sort_by_key(Value::to_string);
    wanted.sort_by_key(Value::to_string);
    assert_eq!(required, wanted, "{form}");
    assert_eq!(form["properties"]["reason"]["description"], "Why, if it is not obvious.");
    assert_eq!(form["properties"]["name"]["minLength"], 2);
    match answer {
        Answer::Accept { content, by, at } => {
            assert_eq!((content.amount, content.urgency), (12.5, Urgency::High));
            assert_eq!(content.colours, [Colour::Blue, Colour::Green]);
            assert_eq!((by.as_deref(), content.note.as_str()), (Some("ada"), ""));
            assert!(at.unwrap().starts_with("1970-01-01T00:00:01"));
        }
        other => panic!("{other:?}"),
    }
    for wrong in [json!({ "amount": "much" }), json!({ "urgency": "some" }), json!({ "name": "A" })]
    {
        let mut fields = filled_in().as_object().unwrap().clone();
        fields.extend(wrong.as_object().unwrap().clone());
        assert!(question.form.check(&fields).is_err(), "{wrong}");
    }
}

#[tokio::test]
async fn what_is_said_of_a_question_arrives() {
    let (question, answer) =
        asked(DeskClient::with_everything(), Action::Decline, &Value::Null).await;
    assert_eq!((question.kind, question.to.as_deref()), (AskKind::Auth, Some("approvers")));
    assert_eq!(question.url.as_deref(), Some("https://example.com/ok"));
    assert_eq!(question.expires_after, Some(Duration::from_secs(60)));
    assert!(matches!(answer, Answer::Decline { .. }), "{answer:?}");
    let (_, answer) = asked(DeskClient::plain(), Action::Cancel, &Value::Null).await;
    assert!(matches!(answer, Answer::Cancel { .. }), "{answer:?}");
}

#[tokio::test]
async fn a_question_may_want_nothing_or_anything() {
    let (question, answer) = asked(DeskClient::yes_or_no(), Action::Accept, &Value::Null).await;
    assert_eq!(question.expires_after, Some(Duration::from_millis(1)));
    assert!(matches!(answer, Answer::Accept { content: (), .. }), "{answer:?}");
    let colour = json!({ "colour": "red" });
    let (_, answer) = asked(DeskClient::anything(), Action::Accept, &colour).await;
    assert!(matches!(answer, Answer::Accept { content, .. } if content["colour"] == "red"));
    let message = json!({ "messageId": "m", "parts": [{ "text": "this one" }] });
    let (question, answer) = asked(DeskClient::message(), Action::Accept, &message).await;
    assert!(question.whole_message);
    assert!(matches!(answer, Answer::Accept { content, .. } if content["messageId"] == "m"));
}

#[tokio::test]
async fn what_is_told_is_understood() {
    let told = Arc::new(Mutex::new(vec![]));
    let mut double = Double::new(Endpoint::builder().bind(Desk).build());
    for handler in ["progress", "artifact"] {
        let told = told.clone();
        double = double.answer("holdfast.Task", handler, move |parameter| {
            let read = Told::read(handler, &parameter.to_string().into(), Timestamp(7));
            told.lock().unwrap().push(read.unwrap_or_else(|why| panic!("{why}, in {parameter}")));
            Ok(Value::Null)
        });
    }
    double.call(DeskClient::tells()).await.unwrap();
    let told = std::mem::take(&mut *told.lock().unwrap());
    let artifact = |at: usize| match &told[at] {
        Told::Artifact(it) => {
            let json: Value = serde_json::from_slice(&it.artifact).unwrap();
            (json, it.append, it.last)
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(told.len(), 5);
    assert!(matches!(&told[0], Told::Progress(it) if it.message == "reading"));
    assert!(matches!(&told[1], Told::Progress(it) if it.total == Some(10.0)));
    let (report, append, last) = artifact(2);
    assert_eq!((&report["description"], append, last), (&json!("All of it"), false, false));
    assert_eq!(report["parts"], json!([{ "text": "One." }, { "data": [1, 2] }]));
    let (file, append, _) = artifact(3);
    let part = json!({ "raw": "PHN2Zy8+", "mediaType": "image/svg+xml", "filename": "a.svg" });
    assert_eq!((&file["parts"][0], append), (&part, true));
    let (film, _, last) = artifact(4);
    assert_eq!((&film["parts"][0]["url"], last), (&json!("https://example.com/f"), true));
}
