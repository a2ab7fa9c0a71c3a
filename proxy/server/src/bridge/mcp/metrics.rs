//! What the door for MCP counts.

use super::error::Error;
use http::{Response, StatusCode};
use prometheus_client::{
    metrics::{counter::Counter, family::Family},
    registry::Registry,
};
use std::{
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};

/// Methods that are counted by their names; all others are counted together, for names come from
/// clients.
const METHODS: [&str; 17] = [
    "initialize",
    "notifications/cancelled",
    "notifications/initialized",
    "ping",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "server/discover",
    "subscriptions/listen",
    "tasks/cancel",
    "tasks/get",
    "tasks/list",
    "tasks/update",
    "tools/call",
    "tools/list",
];

/// Counters of the door. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Metrics(Arc<Families>);

#[derive(Debug, Default)]
struct Families {
    requests: Family<[(&'static str, &'static str); 2], Counter>,
    request_seconds: Family<[(&'static str, &'static str); 1], Counter<f64, AtomicU64>>,
    tasks_shown: Family<[(&'static str, &'static str); 1], Counter>,
}

/// How a request was answered; goes with the response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Result,
    /// A stream was begun.
    Stream,
    /// The client's fault.
    Refused,
    /// No token, not the right one, or from a place that is not answered.
    Forbidden,
    /// It may be asked again.
    NotNow,
    /// Ours.
    Fault,
}

impl Metrics {
    pub fn new(registry: &mut Registry) -> Metrics {
        let metrics = Metrics::default();
        let f = &metrics.0;
        let help = "Messages of clients, by method and by what was answered";
        registry.register("requests", help, f.requests.clone());
        let help = "Time from a message to its answer, waits for handlers included, summed";
        registry.register("request_seconds", help, f.request_seconds.clone());
        let help = "Tasks that clients were shown when they asked for one, by status";
        registry.register("tasks_shown", help, f.tasks_shown.clone());
        metrics
    }

    pub(super) fn answered<B>(&self, method: &'static str, response: &Response<B>, took: Duration) {
        let outcome = ("outcome", Outcome::of(response).as_str());
        self.0.requests.get_or_create(&[("method", method), outcome]).inc();
        let seconds = self.0.request_seconds.get_or_create(&[("method", method)]);
        seconds.inc_by(took.as_secs_f64());
    }

    pub(super) fn shown(&self, status: &'static str) {
        self.0.tasks_shown.get_or_create(&[("status", status)]).inc();
    }
}

/// A method as it is counted.
pub(super) fn counted(method: &str) -> &'static str {
    METHODS.into_iter().find(|known| *known == method).unwrap_or("other")
}

impl Outcome {
    pub fn of_error(error: &Error) -> Outcome {
        match error {
            Error::Internal(_) => Outcome::Fault,
            Error::NotNow(_) | Error::Busy => Outcome::NotNow,
            _ => Outcome::Refused,
        }
    }

    fn of<B>(response: &Response<B>) -> Outcome {
        let stated = response.extensions().get::<Outcome>().copied();
        stated.unwrap_or(match response.status() {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Outcome::Forbidden,
            status if status.is_client_error() => Outcome::Refused,
            status if status.is_server_error() => Outcome::NotNow,
            _ => Outcome::Result,
        })
    }

    const fn as_str(self) -> &'static str {
        match self {
            Outcome::Result => "result",
            Outcome::Stream => "stream",
            Outcome::Refused => "refused",
            Outcome::Forbidden => "forbidden",
            Outcome::NotNow => "not_now",
            Outcome::Fault => "fault",
        }
    }
}
