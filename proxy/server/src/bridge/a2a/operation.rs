//! The eleven operations as values: what every binding makes of a request, and makes an answer of.

use super::core::Events;
use super::error::Error;
use super::json::{Fields, read, write};
use super::model::*;
use serde_json::{Map, Value};

/// What is asked for.
#[derive(Debug, Clone, PartialEq)]
pub enum Operation {
    Send(Box<params::Send>),
    SendStreaming(Box<params::Send>),
    Get(params::Get),
    List(params::List),
    Cancel(params::Cancel),
    Subscribe(params::Subscribe),
    CreatePushConfig(PushConfig),
    GetPushConfig(params::PushConfigOf),
    ListPushConfigs(params::PushConfigsOf),
    DeletePushConfig(params::PushConfigOf),
    ExtendedCard,
}

/// What came of it.
pub enum Outcome {
    Sent(SendResponse),
    Task(Box<Task>),
    Page(TaskPage),
    PushConfig(PushConfig),
    PushConfigs(PushConfigPage),
    Deleted,
    /// A card, as JSON.
    Card(Value),
    Events(Box<Events>),
}

impl Outcome {
    /// As both JSON bindings of 1.0 answer with it.
    pub fn to_json(&self) -> Value {
        match self {
            Outcome::Sent(sent) => write::send_response(sent),
            Outcome::Task(task) => write::task(task),
            Outcome::Page(page) => write::task_page(page),
            Outcome::PushConfig(config) => write::push_config(config),
            Outcome::PushConfigs(page) => write::push_config_page(page),
            Outcome::Card(card) => card.clone(),
            Outcome::Deleted | Outcome::Events(_) => Value::Object(Map::new()),
        }
    }
}

impl Operation {
    /// What a method of 1.0 with these parameters asks for.
    ///
    /// # Errors
    /// `MethodNotFound`, `InvalidParams`.
    pub fn of_method(method: &str, params: Option<&Value>) -> Result<Operation, Error> {
        let known = Method::ALL.iter().find(|(name, _)| *name == method);
        let (_, method) = known.ok_or_else(|| Error::MethodNotFound(shown(method)))?;
        let nothing = Value::Object(Map::new());
        let params = match params {
            Some(params) => params,
            None if matches!(method, Method::List | Method::ExtendedCard) => &nothing,
            None => return Err(Error::invalid("params", "is required")),
        };
        method.with(&Fields::top(params)?)
    }
}

/// Characters of a name that are told back.
const SHOWN_MAX: usize = 80;

fn shown(name: &str) -> String {
    name.chars().take(SHOWN_MAX).collect()
}

/// The methods of 1.0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    Send,
    SendStreaming,
    Get,
    List,
    Cancel,
    Subscribe,
    CreatePushConfig,
    GetPushConfig,
    ListPushConfigs,
    DeletePushConfig,
    ExtendedCard,
}

impl Method {
    pub const ALL: [(&'static str, Method); 11] = [
        ("SendMessage", Method::Send),
        ("SendStreamingMessage", Method::SendStreaming),
        ("GetTask", Method::Get),
        ("ListTasks", Method::List),
        ("CancelTask", Method::Cancel),
        ("SubscribeToTask", Method::Subscribe),
        ("CreateTaskPushNotificationConfig", Method::CreatePushConfig),
        ("GetTaskPushNotificationConfig", Method::GetPushConfig),
        ("ListTaskPushNotificationConfigs", Method::ListPushConfigs),
        ("DeleteTaskPushNotificationConfig", Method::DeletePushConfig),
        ("GetExtendedAgentCard", Method::ExtendedCard),
    ];

    /// With what the request message says.
    pub fn with(self, fields: &Fields<'_>) -> Result<Operation, Error> {
        Ok(match self {
            Method::Send => Operation::Send(Box::new(read::send(fields)?)),
            Method::SendStreaming => Operation::SendStreaming(Box::new(read::send(fields)?)),
            Method::Get => Operation::Get(read::get(fields)?),
            Method::List => Operation::List(read::list(fields)?),
            Method::Cancel => Operation::Cancel(read::cancel(fields)?),
            Method::Subscribe => Operation::Subscribe(read::subscribe(fields)?),
            Method::CreatePushConfig => Operation::CreatePushConfig(read::push_config(fields)?),
            Method::GetPushConfig => Operation::GetPushConfig(read::push_config_of(fields)?),
            Method::ListPushConfigs => Operation::ListPushConfigs(read::push_configs_of(fields)?),
            Method::DeletePushConfig => Operation::DeletePushConfig(read::push_config_of(fields)?),
            Method::ExtendedCard => Operation::ExtendedCard,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(method: &str, params: Option<Value>) -> Result<Operation, Error> {
        Operation::of_method(method, params.as_ref())
    }

    #[test]
    fn parameters_may_be_left_out_where_none_is_required() {
        assert_eq!(of("ListTasks", None), Ok(Operation::List(params::List::default())));
        assert_eq!(of("GetExtendedAgentCard", None), Ok(Operation::ExtendedCard));
        assert_eq!(of("GetTask", None), Err(Error::invalid("params", "is required")));
    }

    #[test]
    fn methods_are_told_apart_exactly() {
        for wrong in ["getTask", "message/send", "tasks/get", ""] {
            assert_eq!(of(wrong, Some(json!({}))), Err(Error::MethodNotFound(wrong.into())));
        }
        let get = params::Get { id: "t".into(), history_length: Some(0) };
        let told = of("GetTask", Some(json!({"id": "t", "historyLength": 0})));
        assert_eq!(told, Ok(Operation::Get(get)));
    }
}
