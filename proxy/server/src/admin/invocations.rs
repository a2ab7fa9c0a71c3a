//! Steers invocations: each route is one command to the partition that owns the id, and its reply
//! as a status.

use super::{App, error::Error, pin};
use axum::{
    Json,
    extract::{Path, Query, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use holdfast_machine::{
    command::{Command, Refusal, Reply},
    id::InvocationId,
};
use serde::Deserialize;
use serde_json::json;

/// What can be done to an invocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    Cancel,
    Kill,
    Pause,
    Resume,
    Purge,
    PurgeJournal,
    RestartAsNew,
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Done {
    /// It is done.
    Now,
    /// It is stored and takes effect when the handler gets there.
    Accepted,
    Restarted(InvocationId),
}

/// How a verb is to be done.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct Choice {
    /// `keep`, `latest` or the id of a deployment.
    pub deployment: Option<String>,
    /// Last journal entry that a restarted invocation keeps.
    #[serde(default)]
    pub from: u32,
}

impl Verb {
    pub(super) const ALL: [Verb; 7] = [
        Verb::Cancel,
        Verb::Kill,
        Verb::Pause,
        Verb::Resume,
        Verb::Purge,
        Verb::PurgeJournal,
        Verb::RestartAsNew,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Verb::Cancel => "cancel",
            Verb::Kill => "kill",
            Verb::Pause => "pause",
            Verb::Resume => "resume",
            Verb::Purge => "purge",
            Verb::PurgeJournal => "purge-journal",
            Verb::RestartAsNew => "restart-as-new",
        }
    }

    /// # Errors
    /// Whatever keeps the invocation from it.
    pub(super) async fn run(
        self,
        app: &App,
        id: InvocationId,
        choice: &Choice,
    ) -> Result<Done, Error> {
        let invocation = id;
        let command = match self {
            Verb::Cancel => Command::Cancel { invocation },
            Verb::Kill => Command::Kill { invocation },
            Verb::Pause => Command::Pause { invocation },
            Verb::Purge => Command::Purge { invocation },
            Verb::PurgeJournal => Command::PurgeJournal { invocation },
            Verb::Resume => {
                let pin = pin::for_resume(app, id, choice).await?;
                Command::Resume { invocation, pin }
            }
            Verb::RestartAsNew => {
                let pin = pin::for_restart(app, id, choice).await?;
                let new = sibling(app, id);
                Command::RestartAsNew { invocation, new, from: choice.from, pin }
            }
        };
        let reply = app.router.of(id).call(command).await?;
        self.judge(id, choice, reply)
    }

    fn judge(self, id: InvocationId, choice: &Choice, reply: Reply) -> Result<Done, Error> {
        match reply {
            Reply::Done => Ok(Done::Now),
            Reply::Appended => Ok(Done::Accepted),
            Reply::Restarted { invocation } => Ok(Done::Restarted(invocation)),
            Reply::Unknown => Err(Error::UnknownInvocation(id)),
            Reply::Refused(Refusal::AlreadyPaused) if self == Verb::Pause => Ok(Done::Now),
            Reply::Refused(refusal) => Err(self.refused(id, choice, refusal)),
            reply => Err(Error::Unexpected { verb: self.name(), reply: format!("{reply:?}") }),
        }
    }

    fn refused(self, id: InvocationId, choice: &Choice, refusal: Refusal) -> Error {
        let reason = match refusal {
            Refusal::NotStarted if matches!(self, Verb::Resume | Verb::RestartAsNew) => {
                return Error::NotStarted(id);
            }
            Refusal::JournalGone => return Error::JournalGone(id),
            Refusal::BadPrefix => {
                return Error::BadPrefix { id, from: choice.from };
            }
            Refusal::Unsupported => return Error::Unsupported(id),
            Refusal::NotStarted => "has not started yet; wait until it has, or cancel it",
            Refusal::AlreadyCompleted => "is completed already; restart it as new to run it again",
            Refusal::NotCompleted => "is not completed yet; cancel or kill it first",
            Refusal::NotRunning => "is not running; there is nothing to stop",
            Refusal::AlreadyPaused => "is paused already; resume it",
            Refusal::NotMovable => {
                "can only change its deployment while it is paused or suspended; pause it first"
            }
        };
        Error::Refused { id, reason }
    }
}

/// An id for the restarted one, in the same partition.
fn sibling(app: &App, original: InvocationId) -> InvocationId {
    let random = InvocationId::random("", None, app.clock.now().0, crate::chance::u128());
    InvocationId { partition_key: original.partition_key, ..random }
}

impl IntoResponse for Done {
    fn into_response(self) -> Response {
        match self {
            Done::Now => StatusCode::OK.into_response(),
            Done::Accepted => StatusCode::ACCEPTED.into_response(),
            Done::Restarted(id) => {
                Json(json!({ "new_invocation_id": id.to_string() })).into_response()
            }
        }
    }
}

pub(super) fn parse_id(text: &str) -> Result<InvocationId, Error> {
    text.parse().map_err(Error::BadInvocationId)
}

async fn run(app: App, verb: Verb, id: &str, choice: Choice) -> Result<Done, Error> {
    verb.run(&app, parse_id(id)?, &choice).await
}

pub(super) async fn cancel(State(app): State<App>, Path(id): Path<String>) -> Result<Done, Error> {
    run(app, Verb::Cancel, &id, Choice::default()).await
}

pub(super) async fn kill(State(app): State<App>, Path(id): Path<String>) -> Result<Done, Error> {
    run(app, Verb::Kill, &id, Choice::default()).await
}

pub(super) async fn pause(State(app): State<App>, Path(id): Path<String>) -> Result<Done, Error> {
    run(app, Verb::Pause, &id, Choice::default()).await
}

pub(super) async fn resume(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(choice): Query<Choice>,
) -> Result<Done, Error> {
    run(app, Verb::Resume, &id, choice).await
}

pub(super) async fn purge(State(app): State<App>, Path(id): Path<String>) -> Result<Done, Error> {
    run(app, Verb::Purge, &id, Choice::default()).await
}

pub(super) async fn purge_journal(
    State(app): State<App>,
    Path(id): Path<String>,
) -> Result<Done, Error> {
    run(app, Verb::PurgeJournal, &id, Choice::default()).await
}

pub(super) async fn restart_as_new(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(choice): Query<Choice>,
) -> Result<Done, Error> {
    run(app, Verb::RestartAsNew, &id, choice).await
}

/// How the deprecated `DELETE` ends an invocation.
#[derive(Debug, Deserialize)]
pub(super) struct End {
    #[serde(default)]
    mode: Mode,
}

#[derive(Debug, Default, Deserialize)]
enum Mode {
    #[default]
    #[serde(rename = "cancel", alias = "Cancel")]
    Cancel,
    #[serde(rename = "kill", alias = "Kill")]
    Kill,
    #[serde(rename = "purge", alias = "Purge")]
    Purge,
}

/// Answers 202 whatever becomes of it, as existing tools expect.
pub(super) async fn end(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(end): Query<End>,
) -> Result<StatusCode, Error> {
    let verb = match end.mode {
        Mode::Cancel => Verb::Cancel,
        Mode::Kill => Verb::Kill,
        Mode::Purge => Verb::Purge,
    };
    let id = parse_id(&id)?;
    if let Err(error) = verb.run(&app, id, &Choice::default()).await {
        tracing::debug!(invocation = %id, verb = verb.name(), %error, "DELETE changed nothing");
    }
    Ok(StatusCode::ACCEPTED)
}
