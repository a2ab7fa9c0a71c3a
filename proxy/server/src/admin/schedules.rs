//! Schedules: what a person puts becomes one command to the partition that owns the name.

use super::{App, error::Error};
use crate::query::{
    self, LIMIT_MAX,
    model::{CatchUp, Overlap, Plan as Wish, ScheduleDetail, Schedules, Upcoming},
};
use crate::registry;
use axum::{
    Json,
    extract::{Path, Query, State},
    http::{HeaderName, StatusCode, header},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use holdfast_machine::{
    cadence::Cadence,
    command::{Command, Reply},
    id::ScheduleId,
    schedule::{self, Plan},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Longest name, in bytes.
pub(super) const NAME_BYTES_MAX: usize = 128;
/// Headers of this kind are ours to set.
const OUR_HEADERS: &str = "x-holdfast-";

#[derive(Debug, Deserialize)]
pub(super) struct Which {
    limit: Option<usize>,
}

pub(super) async fn list(
    State(app): State<App>,
    Query(which): Query<Which>,
) -> Result<Json<Schedules>, Error> {
    let limit = which.limit.unwrap_or(LIMIT_MAX);
    if limit == 0 || limit > LIMIT_MAX {
        let reason = format!("expected 1 to {LIMIT_MAX}");
        return Err(Error::BadField { field: "limit", reason });
    }
    Ok(Json(app.query.schedules(limit).await?))
}

pub(super) async fn one(
    State(app): State<App>,
    Path(name): Path<String>,
) -> Result<Json<ScheduleDetail>, Error> {
    Ok(Json(find(&app, &name).await?))
}

async fn find(app: &App, name: &str) -> Result<ScheduleDetail, Error> {
    let found = app.query.schedule(name.to_owned()).await?;
    found.ok_or_else(|| Error::UnknownSchedule(name.into()))
}

#[derive(Debug, Deserialize)]
pub(super) struct How {
    #[serde(default, rename = "dryRun", alias = "dry_run")]
    dry_run: bool,
}

/// What would be, of a plan that is not put.
#[derive(Debug, Serialize)]
struct DryRun {
    upcoming: Vec<Upcoming>,
}

pub(super) async fn put(
    State(app): State<App>,
    Path(name): Path<String>,
    Query(how): Query<How>,
    Json(wish): Json<Wish>,
) -> Result<Response, Error> {
    let now = app.clock.now();
    let plan = plan(name, wish)?;
    check_target(&app, &plan)?;
    let cadence = Cadence::parse(&plan.cron, &plan.time_zone, now)?;
    if how.dry_run {
        let first = cadence.next(now);
        let upcoming = first.map(|first| query::upcoming(&cadence, &plan.time_zone, first));
        return Ok(Json(DryRun { upcoming: upcoming.unwrap_or_default() }).into_response());
    }
    let name = plan.name.clone();
    let status = match ask(&app, &name, Command::PutSchedule(Box::new(plan))).await? {
        Reply::Stored { new: true } => StatusCode::CREATED,
        Reply::Stored { new: false } => StatusCode::OK,
        reply => return Err(refusal("put", &name, reply)),
    };
    Ok((status, Json(find(&app, &name).await?)).into_response())
}

fn plan(name: String, wish: Wish) -> Result<Plan, Error> {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
    if name.is_empty() || name.len() > NAME_BYTES_MAX || !name.bytes().all(is_allowed) {
        return Err(Error::ScheduleName(name.chars().take(NAME_BYTES_MAX).collect()));
    }
    let argument = wish.argument.map(|json| Bytes::from(json.get().to_owned()));
    let mut headers = wish.headers.into_iter().map(header_in).collect::<Result<Vec<_>, _>>()?;
    let content_type = header::CONTENT_TYPE.as_str();
    if argument.is_some() && headers.iter().all(|(name, _)| name != content_type) {
        headers.push((content_type.into(), "application/json".into()));
    }
    Ok(Plan {
        name,
        cron: wish.cron.trim().to_owned(),
        time_zone: wish.time_zone,
        service: wish.service,
        handler: wish.handler,
        key: wish.key,
        argument: argument.unwrap_or_default(),
        headers,
        catch_up: match wish.catch_up {
            CatchUp::Skip => schedule::CatchUp::Skip,
            CatchUp::Once => schedule::CatchUp::Once,
        },
        overlap: match wish.overlap {
            Overlap::Allow => schedule::Overlap::Allow,
            Overlap::Skip => schedule::Overlap::Skip,
        },
    })
}

fn header_in((name, value): (String, String)) -> Result<(String, String), Error> {
    let wrong =
        |reason: &str| Error::BadField { field: "headers", reason: format!("`{name}` {reason}") };
    let parsed = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong("is no header name"))?;
    if parsed.as_str().starts_with(OUR_HEADERS) {
        return Err(wrong("is set by the sidecar itself"));
    }
    if !value.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()) {
        return Err(wrong("has characters other than visible ASCII"));
    }
    Ok((parsed.as_str().to_owned(), value))
}

/// Whether the target can be called as it is registered now. What it is when a time comes is looked
/// up then.
fn check_target(app: &App, plan: &Plan) -> Result<(), Error> {
    let schema = app.registry.schema();
    let (service, name) = (&plan.service, &plan.handler);
    let Some((_, handler)) = schema.handler(service, name) else {
        return Err(unregistered(app, service, name).into());
    };
    plan.target(app.clock.now(), handler.ty)?;
    let content_type = header::CONTENT_TYPE.as_str();
    let content_type = plan.headers.iter().find(|(name, _)| name == content_type);
    let content_type = content_type.map(|(_, value)| value.as_str());
    handler.input.accepts(content_type, plan.argument.is_empty()).map_err(|refusal| {
        Error::Argument { service: service.clone(), handler: name.clone(), refusal }
    })
}

fn unregistered(app: &App, service: &str, handler: &str) -> registry::Error {
    let (service, handler) = (service.to_owned(), handler.to_owned());
    match app.registry.schema().services.contains_key(&service) {
        true => registry::Error::UnknownHandler { service, handler },
        false => registry::Error::UnknownService(service),
    }
}

pub(super) async fn delete(
    State(app): State<App>,
    Path(name): Path<String>,
) -> Result<StatusCode, Error> {
    let schedule = ScheduleId::of(&name);
    match ask(&app, &name, Command::DeleteSchedule { schedule }).await? {
        Reply::Done => Ok(StatusCode::NO_CONTENT),
        reply => Err(refusal("delete", &name, reply)),
    }
}

pub(super) async fn pause(
    State(app): State<App>,
    Path(name): Path<String>,
) -> Result<Json<ScheduleDetail>, Error> {
    let schedule = ScheduleId::of(&name);
    match ask(&app, &name, Command::PauseSchedule { schedule }).await? {
        Reply::Done => Ok(Json(find(&app, &name).await?)),
        reply => Err(refusal("pause", &name, reply)),
    }
}

pub(super) async fn resume(
    State(app): State<App>,
    Path(name): Path<String>,
) -> Result<Json<ScheduleDetail>, Error> {
    let schedule = ScheduleId::of(&name);
    match ask(&app, &name, Command::ResumeSchedule { schedule }).await? {
        Reply::Done => Ok(Json(find(&app, &name).await?)),
        reply => Err(refusal("resume", &name, reply)),
    }
}

pub(super) async fn trigger(
    State(app): State<App>,
    Path(name): Path<String>,
) -> Result<(StatusCode, Json<Value>), Error> {
    let shown = find(&app, &name).await?.schedule;
    let (service, handler) = (shown.service, shown.handler);
    let Some(callee) = app.registry.callee(&service, &handler) else {
        return Err(unregistered(&app, &service, &handler).into());
    };
    let schedule = ScheduleId::of(&name);
    let called = (service, handler);
    match ask(&app, &name, Command::TriggerSchedule { schedule, called, callee }).await? {
        Reply::Triggered { invocation } => {
            let body = json!({ "invocation": invocation.to_string() });
            Ok((StatusCode::ACCEPTED, Json(body)))
        }
        reply => Err(refusal("trigger", &name, reply)),
    }
}

async fn ask(app: &App, name: &str, command: Command) -> Result<Reply, Error> {
    Ok(app.router.of_schedule(ScheduleId::of(name)).call(command).await?)
}

/// A reply that is not the one that was hoped for.
fn refusal(verb: &'static str, name: &str, reply: Reply) -> Error {
    match reply {
        Reply::Unknown => Error::UnknownSchedule(name.into()),
        Reply::NoCadence(error) => error.into(),
        Reply::NotTriggered(unfired) => unfired.into(),
        reply => Error::Unexpected { verb, reply: format!("{reply:?}") },
    }
}
