//! The door itself: which path is which agent's, who is let in, and which binding answers.

use super::answer::{self, JSON};
use super::core::{Agent, Caller, Core};
use super::error::Error;
use super::sse::Pace;
use super::version::{self, Served};
use super::{grpc, jsonrpc, rest};
use crate::guard::{Guard, Refusal, Resource};
use crate::http::door::{Answering, Door, is_below};
use crate::http::{Body, BodyError, body::keeping, read_body_in_time};
use bytes::Bytes;
use http::{
    HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header::AUTHORIZATION,
    request::Parts,
};
use serde_json::json;
use std::{sync::Arc, time::Duration};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// Below it stand the agents, by name.
const PREFIX: &str = "/a2a";
/// Where the card is, below the address of an agent.
const CARD: &str = "/.well-known/agent-card.json";
/// Where the keys are that cards are signed with.
const KEYS: &str = "/.well-known/jwks.json";
const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// The door of the agents.
pub struct A2a {
    core: Core,
    guard: Guard,
    /// What a token has to allow.
    scopes: Vec<String>,
    shutdown: CancellationToken,
    places: Arc<Semaphore>,
}

/// Where a request goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way<'p> {
    /// The list of agents.
    Index,
    /// An agent, and the path below its address.
    Agent { name: &'p str, rest: &'p str },
    /// The agent at the root, and the whole path.
    Root { rest: &'p str },
}

impl A2a {
    /// At `shutdown` streams end, and their clients come back to whoever is there then.
    pub fn new(core: Core, guard: Guard, scopes: Vec<String>, shutdown: CancellationToken) -> A2a {
        let places = core.config().requests_max.min(Semaphore::MAX_PERMITS);
        A2a { core, guard, scopes, shutdown, places: Arc::new(Semaphore::new(places)) }
    }

    fn way<'p>(&self, path: &'p str) -> Way<'p> {
        let Some(below) = path.strip_prefix(PREFIX).filter(|_| is_below(path, PREFIX)) else {
            return Way::Root { rest: path };
        };
        match below.trim_start_matches('/') {
            "" => Way::Index,
            below => {
                let end = below.find('/').unwrap_or(below.len());
                let (name, rest) = below.split_at(end);
                Way::Agent { name, rest }
            }
        }
    }

    async fn respond(&self, request: Request<Body>) -> Response<Body> {
        let (head, body) = request.into_parts();
        let Ok(place) = self.places.clone().try_acquire_owned() else {
            let most = self.core.config().requests_max;
            let message = format!("{most} requests are open already; try again later");
            let error = Error::Overloaded { message, code: "HF0258", retry_after_seconds: 1 };
            return match grpc::is_call(&head) {
                true => grpc::refused(&error),
                false => rest::refused(&head.headers, &error),
            };
        };
        let mut response = match self.way(head.uri.path()) {
            way if grpc::is_call(&head) => {
                let named = match way {
                    Way::Agent { name, .. } => Some(name.to_owned()),
                    Way::Index | Way::Root { .. } => None,
                };
                let call = Request::from_parts(head.clone(), body);
                grpc::answer(self, named.as_deref(), call).await
            }
            Way::Index => self.index(&head),
            way => self.agent(&head, body, way).await,
        };
        self.guard.allow_origin(&head.headers, response.headers_mut());
        response.map(|body| keeping(place, body))
    }

    /// The agents that there are. No part of A2A.
    fn index(&self, head: &Parts) -> Response<Body> {
        if let Err(error) = self.place(head) {
            return rest::refused(&head.headers, &error);
        }
        if head.method != Method::GET {
            let error = Error::MethodNotAllowed { allowed: "GET" };
            return rest::refused(&head.headers, &error);
        }
        let base = self.guard.base_url(head);
        let agents = self.core.agents(self.guard.is_local(head));
        let agents: Vec<_> = agents
            .iter()
            .map(|name| {
                let url = format!("{base}{PREFIX}/{name}");
                json!({ "name": name, "url": url, "card": format!("{url}{CARD}") })
            })
            .collect();
        answer::json(StatusCode::OK, JSON, &json!({ "agents": agents }))
    }

    async fn agent(&self, head: &Parts, body: Body, way: Way<'_>) -> Response<Body> {
        let is_rpc = match way {
            Way::Agent { rest, .. } | Way::Root { rest } => rest.is_empty() || rest == "/",
            Way::Index => false,
        };
        let refuse = |error: &Error| match is_rpc && head.method == Method::POST {
            true => jsonrpc::refused_unread(error),
            false => rest::refused(&head.headers, error),
        };
        if let Err(error) = self.place(head) {
            return refuse(&error);
        }
        let Some((agent, rest)) = self.found(head, way) else {
            return refuse(&Error::NotFound("there is no such agent here; see /a2a".into()));
        };
        let url = self.url(head, &agent, matches!(way, Way::Root { .. }));
        match rest {
            CARD => return self.core.public_card(&agent, &url, head),
            KEYS => return self.core.card_keys(head),
            _ => {}
        }
        let caller = match self.caller(head, &agent, url).await {
            Ok(caller) => caller,
            Err(error) => return refuse(&error),
        };
        let mut response = match is_rpc {
            true => self.rpc(&agent, caller.clone(), head, body).await,
            false => self.rest(&agent, caller.clone(), head, rest, body).await,
        };
        tell_extensions(&agent, &caller, response.headers_mut());
        response
    }

    /// # Errors
    /// `Forbidden` where the client came by a name that is not ours, or from a stranger's page.
    pub fn place(&self, head: &Parts) -> Result<(), Error> {
        self.guard.place(head).map_err(refused)
    }

    /// Who asks an agent.
    ///
    /// # Errors
    /// `Unauthenticated`, `Forbidden`, and `Overloaded` where the keys of an issuer are not there.
    pub async fn caller(&self, head: &Parts, agent: &Agent, url: String) -> Result<Caller, Error> {
        let path = format!("{PREFIX}/{}", agent.name);
        let resource = Resource { path: &path, scopes: &self.scopes };
        let known = self.guard.caller(head, &resource).await.map_err(refused)?;
        Ok(Caller {
            principal: known.principal,
            is_local: known.is_local,
            extensions: version::extensions(&head.headers),
            idempotency_key: text(&head.headers, IDEMPOTENCY_KEY),
            wire: Default::default(),
            url,
        })
    }

    /// Whether the client may come in at all, asked before anything of the body is read: to the
    /// agent of that name, or to any where only the body says which one is meant.
    pub(super) async fn admit(&self, head: &Parts, named: Option<&str>) -> Result<(), Error> {
        self.place(head)?;
        let is_local = self.guard.is_local(head);
        let agents = match named {
            Some(name) => vec![name.to_owned()],
            None => self.core.agents(is_local),
        };
        let door = Resource { path: PREFIX, scopes: &[] };
        let Err(refusal) = self.guard.caller(head, &door).await else {
            return Ok(());
        };
        // A token may be for one agent only.
        if head.headers.contains_key(AUTHORIZATION) {
            for agent in agents.iter().filter_map(|name| self.core.agent(name, is_local)) {
                if self.caller(head, &agent, String::new()).await.is_ok() {
                    return Ok(());
                }
            }
        }
        Err(refused(refusal))
    }

    pub(super) fn core(&self) -> &Core {
        &self.core
    }

    /// Where the agent is for who asks so.
    fn url(&self, head: &Parts, agent: &Agent, is_root: bool) -> String {
        let base = self.guard.base_url(head);
        if is_root { base } else { format!("{base}{PREFIX}/{}", agent.name) }
    }

    /// The agent of that name, else the one at the root.
    pub(super) fn named(&self, head: &Parts, name: Option<&str>) -> Option<Agent> {
        let is_local = self.guard.is_local(head);
        match name {
            Some(name) => self.core.agent(name, is_local),
            None => self.core.root_agent(is_local),
        }
    }

    /// Who calls over gRPC, which is spoken since 1.0 only.
    pub(super) async fn caller_of_grpc(
        &self,
        head: &Parts,
        agent: &Agent,
    ) -> Result<Caller, Error> {
        let is_root = self.core.config().root.as_ref() == Some(&agent.name);
        let url = self.url(head, agent, is_root);
        let caller = self.caller(head, agent, url).await?;
        let wire = self.served().current(&version::asked(&head.headers, None))?;
        Ok(Caller { wire, ..caller })
    }

    fn found<'p>(&self, head: &Parts, way: Way<'p>) -> Option<(Agent, &'p str)> {
        let is_local = self.guard.is_local(head);
        match way {
            Way::Index => None,
            Way::Agent { name, rest } => Some((self.core.agent(name, is_local)?, rest)),
            Way::Root { rest } => Some((self.core.root_agent(is_local)?, rest)),
        }
    }

    async fn rpc(&self, agent: &Agent, caller: Caller, head: &Parts, body: Body) -> Response<Body> {
        if head.method != Method::POST {
            let error = Error::MethodNotAllowed { allowed: "POST" };
            return rest::refused(&head.headers, &error);
        }
        let body = match rest::check_type(&head.headers) {
            Ok(()) => self.body(body).await,
            Err(error) => Err(error),
        };
        let body = match body {
            Ok(body) => body,
            Err(error) => return jsonrpc::refused_unread(&error),
        };
        let after = match rest::after(&head.headers) {
            Ok(after) => after,
            Err(error) => return jsonrpc::refused_unread(&error),
        };
        let binding =
            jsonrpc::Binding { core: &self.core, served: self.served(), pace: self.pace() };
        let asked = version::asked(&head.headers, head.uri.query());
        binding.answer(agent, caller, &asked, &body, after).await
    }

    async fn rest(
        &self,
        agent: &Agent,
        caller: Caller,
        head: &Parts,
        path: &str,
        body: Body,
    ) -> Response<Body> {
        let Some(place) = rest::Place::of(path, &agent.name) else {
            let error = Error::NotFound(format!("`{}` has nothing at this path", agent.name));
            return rest::refused(&head.headers, &error);
        };
        let body = match self.body(body).await {
            Ok(body) => body,
            Err(error) => return rest::refused(&head.headers, &error),
        };
        let binding = rest::Binding { core: &self.core, served: self.served(), pace: self.pace() };
        let asked = version::asked(&head.headers, head.uri.query());
        binding.answer(agent, caller, &asked, head, place, &body).await
    }

    fn served(&self) -> Served {
        let config = self.core.config();
        Served { v03: config.serve_0_3, required: config.require_version }
    }

    fn pace(&self) -> Pace {
        let silence = Duration::from_millis(self.core.config().keep_alive_ms.max(1));
        Pace { silence, shutdown: self.shutdown.clone() }
    }

    async fn body(&self, body: Body) -> Result<Bytes, Error> {
        let most = self.core.config().request_bytes_max;
        read_body_in_time(body, most).await.map_err(|error| match error {
            BodyError::TooLarge { .. } => Error::InvalidRequest(error.to_string()),
            BodyError::Broken(why) => Error::InvalidRequest(format!("the body broke off: {why}")),
        })
    }
}

impl Door for A2a {
    fn takes(&self, path: &str) -> bool {
        if is_below(path, PREFIX) || path.starts_with(grpc::SERVICE) {
            return true;
        }
        let Some(name) = &self.core.config().root else {
            return false;
        };
        path == "/" || path == CARD || path == KEYS || rest::Place::of(path, name).is_some()
    }

    fn answer(self: Arc<Self>, request: Request<Body>) -> Answering {
        Box::pin(async move { self.respond(request).await })
    }
}

fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
}

/// The extensions that were asked for and are there.
fn tell_extensions(agent: &Agent, caller: &Caller, headers: &mut HeaderMap) {
    let activated = agent.activated(caller);
    if activated.is_empty() {
        return;
    }
    if let Ok(value) = HeaderValue::from_str(&activated.join(", ")) {
        headers.insert(version::EXTENSIONS, value);
    }
}

/// What the guard refuses.
fn refused(refusal: Refusal) -> Error {
    let message = refusal.to_string();
    match refusal.status() {
        StatusCode::UNAUTHORIZED => {
            let challenge = refusal.challenge();
            let challenge = challenge.as_ref().and_then(|value| value.to_str().ok());
            let challenge = challenge.unwrap_or("Bearer").to_owned();
            Error::Unauthenticated { challenge, message }
        }
        StatusCode::SERVICE_UNAVAILABLE => {
            Error::Overloaded { message, code: refusal.code(), retry_after_seconds: 5 }
        }
        _ => Error::Forbidden(message),
    }
}
