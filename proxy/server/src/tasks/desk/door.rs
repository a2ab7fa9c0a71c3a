//! Asks at the listener of the ingress, behind the guard of the doors for agents: where tokens are
//! asked for, each principal sees what its own tasks ask; else whoever is on this machine sees all.

use super::{Desk, Tasks, Viewer};
use crate::guard::{Guard, Resource};
use crate::http::door::{self, Answering, is_below};
use crate::http::{Body, full, read_body_in_time};
use http::{Request, Response, StatusCode, header};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

const PATH: &str = "/holdfast/asks";
/// Largest answer, in bytes.
const BODY_BYTES_MAX: usize = 1024 * 1024;

/// The door.
pub struct Door {
    desk: Desk,
    guard: Guard,
    /// What a token has to allow.
    scopes: Vec<String>,
}

/// Settings of the door.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// What a token has to allow at `/holdfast/asks` of the ingress listener; all of it. Unset: as
    /// `mcp.scopes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scopes: Option<Vec<String>>,
}

impl Door {
    pub fn new(tasks: Tasks, guard: Guard, scopes: Vec<String>) -> Door {
        Door { desk: Desk::new(tasks), guard, scopes }
    }

    async fn respond(&self, request: Request<Body>) -> Response<Body> {
        let (head, body) = request.into_parts();
        let resource = Resource { path: PATH, scopes: &self.scopes };
        let caller = match self.guard.place(&head) {
            Ok(()) => self.guard.caller(&head, &resource).await,
            Err(refusal) => Err(refusal),
        };
        let mut response = match caller {
            Err(refusal) => refusal.response(),
            Ok(caller) if self.guard.is_open() && !caller.is_local => not_local(),
            Ok(caller) => {
                let viewer = match self.guard.is_open() {
                    true => Viewer::Operator,
                    false => Viewer::Principal(caller.principal.as_str().to_owned()),
                };
                match read_body_in_time(body, BODY_BYTES_MAX).await {
                    Err(error) => refused(StatusCode::BAD_REQUEST, &format!("{error} (HF0212)")),
                    Ok(body) => {
                        let rest = &head.uri.path()[PATH.len()..];
                        self.desk.serve(&viewer, (&head.method, &head.uri, rest), body).await
                    }
                }
            }
        };
        self.guard.allow_origin(&head.headers, response.headers_mut());
        response
    }
}

impl door::Door for Door {
    fn takes(&self, path: &str) -> bool {
        is_below(path, PATH)
    }

    fn answer(self: Arc<Self>, request: Request<Body>) -> Answering {
        Box::pin(async move { self.respond(request).await })
    }
}

fn not_local() -> Response<Body> {
    let why = "asks are shown here to callers on this machine only; ask for tokens in `[guard]`, or \
               use the admin listener (HF0213)";
    refused(StatusCode::FORBIDDEN, why)
}

fn refused(status: StatusCode, message: &str) -> Response<Body> {
    let body = serde_json::json!({ "message": message, "restate_code": null });
    let mut response = Response::new(full(body.to_string()));
    *response.status_mut() = status;
    let json = http::HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}
