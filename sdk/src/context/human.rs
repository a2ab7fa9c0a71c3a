//! Asking a human, and telling who waits how it goes. The sidecar itself answers these calls.

use super::calls::{Call, Sent};
use super::kinds::Context;
use crate::request::Request;
use crate::schema::schema_of;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::marker::PhantomData;
use std::time::Duration;

const HUMAN: &str = "holdfast.Human";
const TASK: &str = "holdfast.Task";

impl Context {
    /// Asks a human, and waits for the answer, for days if need be.
    ///
    /// The fields of the answer are those of a struct; the question can be answered wherever the
    /// sidecar shows it. See [`Ask`].
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// # use holdfast_sdk::{Answer, schemars};
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Approval {
    ///     /// Why, if it is not obvious.
    ///     reason: Option<String>,
    /// }
    ///
    /// async fn approve(ctx: &Context, amount: f64) -> Result<bool> {
    ///     let asked = ctx.ask::<Approval>(&format!("Refund {amount}?")).to("approvers");
    ///     Ok(matches!(asked.begin().await?, Answer::Accept { .. }))
    /// }
    /// ```
    pub fn ask<T: DeserializeOwned + JsonSchema>(&self, message: &str) -> Ask<'_, T> {
        let mut question = Map::new();
        question.insert("message".to_owned(), json!(message));
        question.insert("schema".to_owned(), schema_of::<T>());
        Ask { context: self, question, answer: PhantomData }
    }

    /// Tells in a sentence what is done at the moment, to all who follow this invocation or the one
    /// that it was called by.
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// async fn import(ctx: &Context) {
    ///     ctx.progress("reading the first file");
    /// }
    /// ```
    #[track_caller]
    pub fn progress(&self, message: &str) -> Sent<'_> {
        self.send(Request::<()>::new(TASK, "progress", &json!({ "message": message })))
    }

    /// The same, and how much is done of how much.
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// async fn import(ctx: &Context) {
    ///     ctx.progress_of("reading the first file", 1.0, 10.0);
    /// }
    /// ```
    #[track_caller]
    pub fn progress_of(&self, message: &str, done: f64, total: f64) -> Sent<'_> {
        let told = json!({ "message": message, "progress": done, "total": total });
        self.send(Request::<()>::new(TASK, "progress", &told))
    }

    /// Gives something to all who follow, before the end or beside the result.
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// # use holdfast_sdk::Artifact;
    /// async fn write(ctx: &Context) {
    ///     ctx.artifact(Artifact::new("report").text("The first page."));
    ///     ctx.artifact(Artifact::new("report").text("The last page.").append().last());
    /// }
    /// ```
    #[track_caller]
    pub fn artifact(&self, artifact: Artifact) -> Sent<'_> {
        self.send(Request::<()>::new(TASK, "artifact", &artifact.0))
    }
}

/// A question that was not asked yet.
///
/// ```
/// # use holdfast_sdk::prelude::*;
/// # use holdfast_sdk::Answer;
/// # use std::time::Duration;
/// async fn colour(ctx: &Context) -> Result<Option<String>> {
///     let asked = ctx
///         .ask::<std::collections::HashMap<String, String>>("Which colour?")
///         .to("designers")
///         .expires_after(Duration::from_secs(3600));
///     Ok(match asked.begin().await? {
///         Answer::Accept { content, .. } => content.get("colour").cloned(),
///         Answer::Decline { .. } | Answer::Cancel { .. } => None,
///     })
/// }
/// ```
#[must_use = "a question is asked by `begin`"]
pub struct Ask<'a, T> {
    context: &'a Context,
    question: Map<String, Value>,
    answer: PhantomData<fn() -> T>,
}

impl<'a, T: DeserializeOwned> Ask<'a, T> {
    /// Who is asked; else whoever sees it.
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// # #[derive(serde::Deserialize, holdfast_sdk::schemars::JsonSchema)]
    /// # struct Consent {}
    /// async fn ask(ctx: &Context) -> Result<()> {
    ///     ctx.ask::<Consent>("Go on?").to("operators").begin().await?;
    ///     Ok(())
    /// }
    /// ```
    pub fn to(self, whom: &str) -> Self {
        self.with("to", json!(whom))
    }

    /// What is asked for are credentials or a consent.
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// # #[derive(serde::Deserialize, holdfast_sdk::schemars::JsonSchema)]
    /// # struct Consent {}
    /// async fn ask(ctx: &Context) -> Result<()> {
    ///     ctx.ask::<Consent>("Allow access to the calendar?").auth().begin().await?;
    ///     Ok(())
    /// }
    /// ```
    pub fn auth(self) -> Self {
        self.with("kind", json!("auth"))
    }

    /// The same, and where the human has to go for it.
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// # #[derive(serde::Deserialize, holdfast_sdk::schemars::JsonSchema)]
    /// # struct Consent {}
    /// async fn ask(ctx: &Context) -> Result<()> {
    ///     let asked = ctx.ask::<Consent>("Allow access to the calendar?");
    ///     asked.auth_at("https://calendar.example.com/allow?state=4f6b").begin().await?;
    ///     Ok(())
    /// }
    /// ```
    pub fn auth_at(self, url: &str) -> Self {
        self.auth().with("url", json!(url))
    }

    /// After that time the answer is [`Answer::Cancel`].
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// # use std::time::Duration;
    /// # #[derive(serde::Deserialize, holdfast_sdk::schemars::JsonSchema)]
    /// # struct Consent {}
    /// async fn ask(ctx: &Context) -> Result<()> {
    ///     ctx.ask::<Consent>("Go on?").expires_after(Duration::from_secs(60)).begin().await?;
    ///     Ok(())
    /// }
    /// ```
    pub fn expires_after(self, time: Duration) -> Self {
        let ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        self.with("expiresAfterMs", json!(ms.max(1)))
    }

    /// Takes whatever is answered as the content, where the question is answered by a message of an
    /// agent: with all its parts, and not only the fields of a form.
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// async fn ask(ctx: &Context) -> Result<()> {
    ///     let asked = ctx.ask::<serde_json::Map<String, serde_json::Value>>("Which picture?");
    ///     asked.whole_message().begin().await?;
    ///     Ok(())
    /// }
    /// ```
    pub fn whole_message(self) -> Self {
        self.with("wants", json!("message"))
    }

    /// Asks. Await it for the answer, or race it with something else.
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// # use std::time::Duration;
    /// # #[derive(serde::Deserialize, holdfast_sdk::schemars::JsonSchema)]
    /// # struct Consent {}
    /// async fn ask(ctx: &Context) -> Result<bool> {
    ///     let asked = ctx.ask::<Consent>("Go on?").begin();
    ///     Ok(asked.or_timeout(Duration::from_secs(60)).await?.is_some())
    /// }
    /// ```
    #[track_caller]
    pub fn begin(self) -> Call<'a, Answer<T>> {
        self.context.call(Request::new(HUMAN, "ask", &self.question))
    }

    fn with(mut self, name: &str, value: Value) -> Self {
        self.question.insert(name.to_owned(), value);
        self
    }
}

/// What a human answered.
///
/// ```
/// # use holdfast_sdk::Answer;
/// let answer: Answer<serde_json::Value> =
///     serde_json::from_str(r#"{"action": "decline", "by": "ada"}"#).unwrap();
/// assert!(matches!(answer, Answer::Decline { .. }));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "lowercase")]
pub enum Answer<T> {
    /// Yes, and this.
    Accept {
        /// The fields that were asked for.
        content: T,
        /// Who.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
        /// When.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<String>,
    },
    /// No.
    Decline {
        /// Who.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
        /// When.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<String>,
    },
    /// The question was put aside, or its time is over.
    Cancel {
        /// Who.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
        /// When.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<String>,
    },
}

/// Something that is given to those who follow. See [`Context::artifact`].
///
/// ```
/// # use holdfast_sdk::Artifact;
/// let table = Artifact::new("table").data(&[1, 2, 3]).last();
/// # let _ = table;
/// ```
#[must_use = "it is given by `ctx.artifact`"]
pub struct Artifact(Map<String, Value>);

impl Artifact {
    /// An empty one; what has the same name belongs together.
    ///
    /// ```
    /// # use holdfast_sdk::Artifact;
    /// let report = Artifact::new("report");
    /// # let _ = report;
    /// ```
    pub fn new(name: &str) -> Artifact {
        let mut artifact = Map::new();
        artifact.insert("artifactId".to_owned(), json!(name));
        artifact.insert("name".to_owned(), json!(name));
        artifact.insert("parts".to_owned(), json!([]));
        Artifact(artifact)
    }

    /// With text in it.
    ///
    /// ```
    /// # use holdfast_sdk::Artifact;
    /// let report = Artifact::new("report").text("All is well.");
    /// # let _ = report;
    /// ```
    pub fn text(self, text: &str) -> Artifact {
        self.part(json!({ "text": text }))
    }

    /// With a value in it. One that cannot be written as JSON is left out.
    ///
    /// ```
    /// # use holdfast_sdk::Artifact;
    /// let table = Artifact::new("table").data(&[1, 2, 3]);
    /// # let _ = table;
    /// ```
    pub fn data<T: Serialize + ?Sized>(self, data: &T) -> Artifact {
        match serde_json::to_value(data) {
            Ok(data) => self.part(json!({ "data": data })),
            Err(_) => self,
        }
    }

    /// With a file in it.
    ///
    /// ```
    /// # use holdfast_sdk::Artifact;
    /// let logo = Artifact::new("logo").file("logo.svg", "image/svg+xml", b"<svg/>");
    /// # let _ = logo;
    /// ```
    pub fn file(self, name: &str, media_type: &str, bytes: &[u8]) -> Artifact {
        let raw = STANDARD.encode(bytes);
        self.part(json!({ "raw": raw, "mediaType": media_type, "filename": name }))
    }

    /// With something in it that is found elsewhere.
    ///
    /// ```
    /// # use holdfast_sdk::Artifact;
    /// let film = Artifact::new("film").link("https://example.com/film.webm", "video/webm");
    /// # let _ = film;
    /// ```
    pub fn link(self, url: &str, media_type: &str) -> Artifact {
        self.part(json!({ "url": url, "mediaType": media_type }))
    }

    /// Says what it is.
    ///
    /// ```
    /// # use holdfast_sdk::Artifact;
    /// let report = Artifact::new("report").description("What was found").text("Nothing.");
    /// # let _ = report;
    /// ```
    pub fn description(mut self, text: &str) -> Artifact {
        self.0.insert("description".to_owned(), json!(text));
        self
    }

    /// Goes on with what was given before under the same name.
    ///
    /// ```
    /// # use holdfast_sdk::Artifact;
    /// let more = Artifact::new("report").text("More.").append();
    /// # let _ = more;
    /// ```
    pub fn append(mut self) -> Artifact {
        self.0.insert("append".to_owned(), json!(true));
        self
    }

    /// Nothing will follow under this name.
    ///
    /// ```
    /// # use holdfast_sdk::Artifact;
    /// let all = Artifact::new("report").text("All.").last();
    /// # let _ = all;
    /// ```
    pub fn last(mut self) -> Artifact {
        self.0.insert("last".to_owned(), json!(true));
        self
    }

    fn part(mut self, part: Value) -> Artifact {
        if let Some(parts) = self.0.get_mut("parts").and_then(Value::as_array_mut) {
            parts.push(part);
        }
        self
    }
}
