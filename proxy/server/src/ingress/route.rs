//! What a path asks for. A pure function of method, path and schema; never reads a body and never
//! looks at an invocation.

use super::{Error, named::Named};
use crate::http::percent;
use crate::registry::{Handler, Schema, Service};
use holdfast_machine::id::AwakeableId;
use http::Method;
use std::{borrow::Cow, sync::Arc};

/// Most segments that any route has.
const SEGMENTS_MAX: usize = 7;
/// No route has fewer.
const SEGMENTS_MIN: usize = 2;

/// What is asked for.
pub(super) enum Route<'r> {
    /// Call and wait for the outcome.
    Call(Called<'r>),
    /// Call and do not wait.
    Send(Called<'r>),
    /// The outcome of what the path names.
    Outcome(Wish, Named),
    /// The outcome of what the body names.
    OutcomeOfBody(Wish),
    /// The id of what the body names.
    Lookup,
    Awakeable(Answer, AwakeableId),
    Cancel(Named),
    CancelOfBody,
    Health,
}

/// A handler and the key it is called with.
pub(super) struct Called<'r> {
    pub service: &'r Arc<Service>,
    pub handler: &'r Arc<Handler>,
    /// Of objects and workflows.
    pub key: Option<Cow<'r, str>>,
}

/// Whether to wait for an outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wish {
    Attach,
    Output,
}

/// How an awakeable is completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    Resolve,
    Reject,
}

/// Reads method and path. The method of calls and sends is checked later, after their target.
pub(super) fn parse<'r>(
    method: &Method,
    path: &'r str,
    schema: &'r Schema,
) -> Result<Route<'r>, Error> {
    let mut segments = [""; SEGMENTS_MAX];
    let mut count = 0;
    for segment in path.trim_matches('/').split('/') {
        *segments.get_mut(count).ok_or(TOO_LONG)? = segment;
        count += 1;
    }
    match &segments[..count] {
        few if few.len() < SEGMENTS_MIN => Err(TOO_SHORT),
        ["restate", rest @ ..] => reserved(method, rest, schema).unwrap_or_else(|| unknown(path)),
        ["holdfast", rest @ ..] => ours(method, rest).unwrap_or_else(|| unknown(path)),
        ["openapi", ..] => unknown(path),
        target => legacy(target, schema),
    }
}

const TOO_LONG: Error = Error::BadPath("it has more than 7 segments");
const TOO_SHORT: Error = Error::BadPath(
    "it has fewer than 2 segments; call /{service}/{handler} or /{object}/{key}/{handler}",
);
const SERVICE_SHAPE: Error = Error::BadPath("expected /{service}/{handler}, and /send or nothing");
const KEYED_SHAPE: Error = Error::BadPath(
    "expected /{service}/{key}/{handler}, and /send or nothing: the service has keys",
);
const NAMED_SHAPE: Error = Error::BadPath(
    "expected /restate/invocation/{id}/… or \
     /restate/invocation/{service}[/{key}]/{handler}/{idempotencyKey}/…",
);
const WORKFLOW_SHAPE: Error = Error::BadPath("expected /restate/workflow/{workflow}/{key}/…");

fn unknown<T>(path: &str) -> Result<T, Error> {
    Err(Error::UnknownRoute(path.chars().take(PATH_CHARS_SHOWN).collect()))
}

/// How much of a path or name an error repeats.
const PATH_CHARS_SHOWN: usize = 200;

// --- calls and sends

/// `/{service}[/{key}]/{handler}[/send]`.
fn legacy<'r>(target: &[&'r str], schema: &'r Schema) -> Result<Route<'r>, Error> {
    let service = service(target[0], schema)?;
    match (service.ty.is_keyed(), &target[1..]) {
        (false, [handler]) => called(service, None, handler).map(Route::Call),
        (false, [handler, "send"]) => called(service, None, handler).map(Route::Send),
        (true, [key, handler]) => called(service, Some(key), handler).map(Route::Call),
        (true, [key, handler, "send"]) => called(service, Some(key), handler).map(Route::Send),
        (false, _) => Err(SERVICE_SHAPE),
        (true, _) => Err(KEYED_SHAPE),
    }
}

/// `{service}[/{key}]/{handler}` after `/restate/call` or `/restate/send`.
fn target<'r>(target: &[&'r str], schema: &'r Schema) -> Result<Called<'r>, Error> {
    let [name, rest @ ..] = target else {
        return Err(SERVICE_SHAPE);
    };
    let service = service(name, schema)?;
    match (service.ty.is_keyed(), rest) {
        (false, [handler]) => called(service, None, handler),
        (true, [key, handler]) => called(service, Some(key), handler),
        (false, _) => Err(SERVICE_SHAPE),
        (true, _) => Err(KEYED_SHAPE),
    }
}

fn service<'r>(name: &str, schema: &'r Schema) -> Result<&'r Arc<Service>, Error> {
    let unknown = || Error::UnknownService(name.chars().take(PATH_CHARS_SHOWN).collect());
    schema.services.get(name).ok_or_else(unknown)
}

fn called<'r>(
    service: &'r Arc<Service>,
    key: Option<&'r str>,
    handler: &str,
) -> Result<Called<'r>, Error> {
    let key = key.map(|key| decoded(key, "key")).transpose()?;
    let unknown = || Error::UnknownHandler {
        service: service.name.clone(),
        handler: handler.chars().take(PATH_CHARS_SHOWN).collect(),
    };
    let handler = service.handlers.get(handler).ok_or_else(unknown)?;
    Ok(Called { service, handler, key })
}

// --- everything else

/// `None`: there is no such route.
type Found<'r> = Option<Result<Route<'r>, Error>>;

fn reserved<'r>(method: &Method, path: &[&'r str], schema: &'r Schema) -> Found<'r> {
    Some(match path {
        ["call", path @ ..] => target(path, schema).map(Route::Call),
        ["send", path @ ..] => target(path, schema).map(Route::Send),
        ["scope", ..] => Err(Error::Scope("a scope")),
        ["attach" | "output"] => post(method, || Ok(Route::OutcomeOfBody(wish(path[0])?))),
        [verb @ ("attach" | "output"), id] => {
            get(method, || Ok(Route::Outcome(wish(verb)?, Named::by_id(id)?)))
        }
        ["lookup"] => post(method, || Ok(Route::Lookup)),
        ["invocation", path @ .., verb @ ("attach" | "output")] => {
            get(method, || Ok(Route::Outcome(wish(verb)?, invocation(path, schema)?)))
        }
        ["workflow", path @ .., verb @ ("attach" | "output")] => {
            get(method, || Ok(Route::Outcome(wish(verb)?, workflow(path)?)))
        }
        ["awakeables" | "a", id, verb @ ("resolve" | "reject")] => {
            post(method, || Ok(Route::Awakeable(answer(verb), awakeable(id)?)))
        }
        ["health", ..] => get(method, || Ok(Route::Health)),
        _ => return None,
    })
}

fn ours<'r>(method: &Method, path: &[&'r str]) -> Found<'r> {
    Some(match path {
        ["invocations", id, "cancel"] => post(method, || Ok(Route::Cancel(Named::by_id(id)?))),
        ["cancel"] => post(method, || Ok(Route::CancelOfBody)),
        _ => return None,
    })
}

fn get<T>(method: &Method, then: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    if method == Method::GET { then() } else { Err(Error::Method(method.clone(), "GET")) }
}

fn post<T>(method: &Method, then: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    if method == Method::POST { then() } else { Err(Error::Method(method.clone(), "POST")) }
}

fn wish(verb: &str) -> Result<Wish, Error> {
    match verb {
        "attach" => Ok(Wish::Attach),
        "output" => Ok(Wish::Output),
        _ => unknown(verb),
    }
}

fn answer(verb: &str) -> Answer {
    if verb == "resolve" { Answer::Resolve } else { Answer::Reject }
}

/// `{id}` or `{service}[/{key}]/{handler}/{idempotencyKey}`; the type of the service says whether
/// there is a key.
fn invocation(path: &[&str], schema: &Schema) -> Result<Named, Error> {
    if let [id] = path {
        return Named::by_id(id);
    }
    let [name, rest @ ..] = path else {
        return Err(NAMED_SHAPE);
    };
    let (key, handler, idempotency_key) = match (service(name, schema)?.ty.is_keyed(), rest) {
        (false, [handler, idempotency_key]) => (None, handler, idempotency_key),
        (true, [key, handler, idempotency_key]) => (Some(*key), handler, idempotency_key),
        _ => return Err(NAMED_SHAPE),
    };
    let key = key.map(|key| decoded(key, "key")).transpose()?;
    Ok(Named::Idempotent {
        service: (*name).to_owned(),
        key: key.map(Cow::into_owned),
        handler: (*handler).to_owned(),
        idempotency_key: (*idempotency_key).to_owned(),
    })
}

fn workflow(path: &[&str]) -> Result<Named, Error> {
    let [name, key] = path else {
        return Err(WORKFLOW_SHAPE);
    };
    let key = decoded(key, "workflow key")?.into_owned();
    Ok(Named::Workflow { service: (*name).to_owned(), key })
}

/// A path segment; `what` names it in the error.
fn decoded<'p>(segment: &'p str, what: &'static str) -> Result<Cow<'p, str>, Error> {
    percent::segment(segment).ok_or(Error::KeyEncoding(what))
}

/// Signals below the first awakeable have other meanings; an id that names one was not made by us.
fn awakeable(text: &str) -> Result<AwakeableId, Error> {
    let id: AwakeableId = text
        .parse()
        .map_err(|error: holdfast_machine::id::Malformed| Error::AwakeableId(error.to_string()))?;
    if id.signal < holdfast_machine::id::FIRST_AWAKEABLE {
        return Err(Error::AwakeableId("it names a signal that is not an awakeable".to_owned()));
    }
    Ok(id)
}

#[cfg(test)]
mod tests;
