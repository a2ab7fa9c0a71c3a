//! The HTTP+JSON binding: a path and a verb for each operation.

use super::answer::{self, A2A_JSON, JSON};
use super::core::{Agent, Caller, Core, Event};
use super::error::Error;
use super::json::{Fields, read, write};
use super::legacy;
use super::model::params;
use super::operation::{Method as Asked10, Operation, Outcome};
use super::sse;
use super::version::{Asked, Served, Wire};
use crate::http::{Body, percent};
use bytes::Bytes;
use http::{HeaderMap, Method, Response, StatusCode, header, request::Parts};
use serde_json::{Map, Value};

/// How requests are answered.
pub struct Binding<'a> {
    pub core: &'a Core,
    pub served: Served,
    pub pace: sse::Pace,
}

/// What a path below the address of an agent stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    Send,
    Stream,
    Tasks,
    Task(String),
    Cancel(String),
    Subscribe(String),
    Configs(String),
    Config(String, String),
    Card,
}

impl Place {
    /// The place of a path, if there is one, and the version whose path it is. `agent` may stand
    /// before it, as the tenant.
    pub fn of(path: &str, agent: &str) -> Option<(Place, Wire)> {
        let whole: Vec<&str> = path.trim_start_matches('/').split('/').collect();
        let path = match whole.as_slice() {
            [tenant, rest @ ..] if *tenant == agent && !rest.is_empty() => {
                return Place::parse(rest).or_else(|| Place::parse(&whole));
            }
            path => path,
        };
        Place::parse(path)
    }

    fn parse(path: &[&str]) -> Option<(Place, Wire)> {
        match path {
            ["v1", "card"] => Some((Place::Card, Wire::V03)),
            ["v1", rest @ ..] => Place::below(rest).map(|place| (place, Wire::V03)),
            ["extendedAgentCard"] => Some((Place::Card, Wire::V1)),
            path => Place::below(path).map(|place| (place, Wire::V1)),
        }
    }

    fn below(path: &[&str]) -> Option<Place> {
        let decoded = |text: &str| percent::segment(text).map(|text| text.into_owned());
        Some(match path {
            ["message:send"] => Place::Send,
            ["message:stream"] => Place::Stream,
            ["tasks"] => Place::Tasks,
            ["tasks", ""] => return None,
            ["tasks", task] => match task.rsplit_once(':') {
                Some((task, "cancel")) => Place::Cancel(decoded(task)?),
                Some((task, "subscribe")) => Place::Subscribe(decoded(task)?),
                _ => Place::Task(decoded(task)?),
            },
            ["tasks", task, "pushNotificationConfigs"] => Place::Configs(decoded(task)?),
            ["tasks", task, "pushNotificationConfigs", config] => {
                Place::Config(decoded(task)?, decoded(config)?)
            }
            _ => return None,
        })
    }

    /// The verbs it is asked with.
    fn allowed(&self) -> &'static str {
        match self {
            Place::Send | Place::Stream | Place::Cancel(_) => "POST",
            Place::Tasks | Place::Task(_) | Place::Card => "GET",
            Place::Subscribe(_) | Place::Configs(_) => "GET, POST",
            Place::Config(..) => "GET, DELETE",
        }
    }

    fn takes(&self, method: &Method) -> bool {
        self.allowed().split(", ").any(|allowed| allowed == method.as_str())
    }
}

impl Binding<'_> {
    /// Answers one request of a caller that was let in, at a place that there is.
    pub async fn answer(
        &self,
        agent: &Agent,
        mut caller: Caller,
        asked: &Asked,
        head: &Parts,
        place: (Place, Wire),
        body: &Bytes,
    ) -> Response<Body> {
        let media_type = media_type(&head.headers);
        let wire = match self.wire(place.1, asked) {
            Ok(wire) => wire,
            Err(error) => return answer::refusal(&error, media_type),
        };
        caller.wire = wire;
        match self.perform(agent, &caller, head, &place.0, body).await {
            Ok(Outcome::Events(events)) => {
                sse::response(*events, InStream { wire }, self.pace.clone())
            }
            Ok(outcome) => {
                let value = match wire {
                    Wire::V1 => outcome.to_json(),
                    Wire::V03 => legacy::rest::result(&outcome),
                };
                answer::json(StatusCode::OK, media_type, &value)
            }
            Err(error) => answer::refusal(&error, media_type),
        }
    }

    fn wire(&self, of_path: Wire, asked: &Asked) -> Result<Wire, Error> {
        match of_path {
            Wire::V1 => self.served.current(asked),
            Wire::V03 => self
                .served
                .old(asked)?
                .ok_or_else(|| Error::NotFound("this path is of A2A 0.3".into())),
        }
    }

    async fn perform(
        &self,
        agent: &Agent,
        caller: &Caller,
        head: &Parts,
        place: &Place,
        body: &Bytes,
    ) -> Result<Outcome, Error> {
        if !place.takes(&head.method) {
            return Err(Error::MethodNotAllowed { allowed: place.allowed() });
        }
        agent.check_extensions(caller)?;
        let operation = operation(head, place, body, caller.wire)?;
        self.core.perform(agent, caller, operation).await
    }
}

fn operation(head: &Parts, place: &Place, body: &Bytes, wire: Wire) -> Result<Operation, Error> {
    let creates = *place != Place::Tasks && head.method == Method::POST;
    let query = query(head.uri.query());
    let fields = Fields::top(&query)?;
    Ok(match place {
        Place::Send => Operation::Send(Box::new(send(head, body, wire)?)),
        Place::Stream => Operation::SendStreaming(Box::new(send(head, body, wire)?)),
        Place::Tasks => Asked10::List.with(&fields)?,
        Place::Task(id) => {
            let mut get = read::get(&fields)?;
            get.id.clone_from(id);
            get.history_length = limit(get.history_length, wire);
            Operation::Get(get)
        }
        Place::Cancel(id) => {
            let body = optional(head, body)?;
            let mut cancel = read::cancel(&Fields::top(&body)?)?;
            cancel.id.clone_from(id);
            Operation::Cancel(cancel)
        }
        Place::Subscribe(id) => Operation::Subscribe(subscribe(head, id)?),
        Place::Configs(task) if creates => {
            let body = required(head, body)?;
            let fields = Fields::top(&body)?;
            let mut config = match wire {
                Wire::V1 => read::push_config(&fields)?,
                Wire::V03 => legacy::rest::push_config(&fields)?,
            };
            if !config.task_id.is_empty() && config.task_id != *task {
                return Err(fields.wrong("taskId", "is not the task of the path"));
            }
            config.task_id.clone_from(task);
            Operation::CreatePushConfig(config)
        }
        Place::Configs(task) => {
            let mut of = read::push_configs_of(&fields)?;
            of.task_id.clone_from(task);
            Operation::ListPushConfigs(of)
        }
        Place::Config(task, id) => {
            let of = params::PushConfigOf { task_id: task.clone(), id: id.clone() };
            match head.method {
                Method::DELETE => Operation::DeletePushConfig(of),
                _ => Operation::GetPushConfig(of),
            }
        }
        Place::Card => Operation::ExtendedCard,
    })
}

fn send(head: &Parts, body: &Bytes, wire: Wire) -> Result<params::Send, Error> {
    let body = required(head, body)?;
    let fields = Fields::top(&body)?;
    match wire {
        Wire::V1 => read::send(&fields),
        Wire::V03 => legacy::rest::send(&fields),
    }
}

/// In 0.3 a limit of 0 was none.
fn limit(length: Option<i32>, wire: Wire) -> Option<i32> {
    length.filter(|length| wire == Wire::V1 || *length != 0)
}

fn subscribe(head: &Parts, id: &str) -> Result<params::Subscribe, Error> {
    Ok(params::Subscribe { id: id.to_owned(), after: after(&head.headers)? })
}

/// Where a client that comes back says that it was.
pub fn after(headers: &HeaderMap) -> Result<Option<super::model::Cursor>, Error> {
    let Some(text) = headers.get("last-event-id").and_then(|value| value.to_str().ok()) else {
        return Ok(None);
    };
    match text.trim() {
        "" => Ok(None),
        text => text.parse().map(Some).map_err(|error: super::model::BadCursor| {
            Error::invalid("Last-Event-ID", error.to_string())
        }),
    }
}

/// The parameters of the query as an object; what is repeated becomes a list.
fn query(query: Option<&str>) -> Value {
    let mut object = Map::new();
    for (name, value) in percent::query_pairs(query) {
        let value = match &*value {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            text => Value::from(text),
        };
        // An empty value is an unset one, as in JSON.
        if value != "" {
            object.insert(name.to_owned(), value);
        }
    }
    Value::Object(object)
}

/// A body that must be there.
fn required(head: &Parts, body: &Bytes) -> Result<Value, Error> {
    check_type(&head.headers)?;
    serde_json::from_slice(body).map_err(|error| Error::Parse(error.to_string()))
}

/// A body that may be nothing or `null`.
fn optional(head: &Parts, body: &Bytes) -> Result<Value, Error> {
    let nothing = Value::Object(Map::new());
    if body.iter().all(u8::is_ascii_whitespace) {
        return Ok(nothing);
    }
    Ok(match required(head, body)? {
        Value::Null => nothing,
        body => body,
    })
}

/// The type of a request's body, or of no body.
pub fn check_type(headers: &HeaderMap) -> Result<(), Error> {
    let Some(value) = headers.get(header::CONTENT_TYPE) else {
        return Ok(());
    };
    let text = String::from_utf8_lossy(value.as_bytes());
    let essence = text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match essence.as_str() {
        "" | JSON | A2A_JSON => Ok(()),
        _ => Err(Error::MediaType(essence.chars().take(SHOWN_MAX).collect())),
    }
}

/// Characters of a media type that are told back.
const SHOWN_MAX: usize = 80;

/// The type of the answer: A2A's own for who names it.
fn media_type(headers: &HeaderMap) -> &'static str {
    let named = [header::CONTENT_TYPE, header::ACCEPT];
    let values = named.iter().flat_map(|name| headers.get_all(name));
    let names_it = |text: &str| text.to_ascii_lowercase().contains(A2A_JSON);
    match { values }.any(|value| value.to_str().is_ok_and(names_it)) {
        true => A2A_JSON,
        false => JSON,
    }
}

/// A refusal before the place was looked at, in the type that the client wants.
pub fn refused(headers: &HeaderMap, error: &Error) -> Response<Body> {
    answer::refusal(error, media_type(headers))
}

/// What is in a stream: the bare events.
struct InStream {
    wire: Wire,
}

impl sse::Dress for InStream {
    fn event(&self, event: &Event) -> Value {
        match self.wire {
            Wire::V1 => write::stream_response(&event.payload),
            Wire::V03 => legacy::rest::event(event),
        }
    }

    fn error(&self, error: &Error) -> Value {
        answer::http_error(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(path: &str) -> Option<(Place, Wire)> {
        Place::of(path, "refund")
    }

    #[test]
    fn paths() {
        let (task, config) = (|| "t".to_owned(), || "c".to_owned());
        for (path, expected) in [
            ("/message:send", Place::Send),
            ("/message:stream", Place::Stream),
            ("/tasks", Place::Tasks),
            ("/tasks/t", Place::Task(task())),
            ("/tasks/t:cancel", Place::Cancel(task())),
            ("/tasks/%74:subscribe", Place::Subscribe(task())),
            ("/tasks/t/pushNotificationConfigs", Place::Configs(task())),
            ("/tasks/t/pushNotificationConfigs/c", Place::Config(task(), config())),
        ] {
            assert_eq!(place(path), Some((expected.clone(), Wire::V1)), "{path}");
            let of_tenant = format!("/refund{path}");
            assert_eq!(place(&of_tenant), Some((expected.clone(), Wire::V1)), "{of_tenant}");
            let old = format!("/v1{path}");
            assert_eq!(place(&old), Some((expected, Wire::V03)), "{old}");
        }
        assert_eq!(place("/extendedAgentCard"), Some((Place::Card, Wire::V1)));
        assert_eq!(place("/v1/card"), Some((Place::Card, Wire::V03)));
        for nothing in ["/", "", "/tasks/", "/other/tasks", "/refund", "/v1", "/tasks/t/u", "/card"]
        {
            assert_eq!(place(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn an_agent_may_be_called_tasks() {
        assert_eq!(Place::of("/tasks/t", "tasks"), Some((Place::Task("t".into()), Wire::V1)));
        let twice = Place::of("/tasks/tasks/t", "tasks");
        assert_eq!(twice, Some((Place::Task("t".into()), Wire::V1)));
    }

    #[test]
    fn a_query_is_read_like_a_body() {
        let query = query(Some(
            "contextId=c+1&status=TASK_STATE_WORKING&page_size=2&includeArtifacts=true\
             &statusTimestampAfter=2026-11-29T15:40:23Z&stranger=1&pageToken=",
        ));
        let list = read::list(&Fields::top(&query).unwrap()).unwrap();
        assert_eq!((list.context_id.as_str(), list.page_size), ("c 1", Some(2)));
        assert!(list.include_artifacts && list.page_token.is_empty());
        let wrong = |text: &str| {
            let query = self::query(Some(text));
            read::list(&Fields::top(&query).unwrap()).unwrap_err().to_string()
        };
        assert!(wrong("pageSize=many").contains("pageSize"));
        assert!(wrong("includeArtifacts=1").contains("includeArtifacts"));
        assert!(wrong("status=NOPE").contains("status"));
    }

    #[test]
    fn media_types() {
        let of = |name: &str, value: &str| {
            let mut headers = HeaderMap::new();
            let name: http::HeaderName = name.parse().unwrap();
            headers.insert(name, value.parse().unwrap());
            (media_type(&headers), check_type(&headers).is_ok())
        };
        assert_eq!(of("content-type", "application/json; charset=utf-8"), (JSON, true));
        assert_eq!(of("content-type", "application/a2a+json"), (A2A_JSON, true));
        assert_eq!(of("content-type", "text/plain"), (JSON, false));
        assert_eq!(of("accept", "application/a2a+json, application/json"), (A2A_JSON, true));
        assert_eq!(of("accept", "*/*"), (JSON, true));
    }
}
