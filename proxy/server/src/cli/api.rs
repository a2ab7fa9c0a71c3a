//! The listeners of a running sidecar, seen from a terminal.

mod door;

use super::Failure;
use door::Door;
use hyper::{Method, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

pub use door::{Answer, Ask};

/// The admin listener. Every call is a round trip that blocks.
pub struct Admin(Door);

/// The ingress.
pub struct Ingress(Door);

/// A status that is not a success, in the words of the server.
#[derive(Debug, thiserror::Error)]
#[error("{message} ({status})")]
pub struct Refused {
    pub status: StatusCode,
    pub message: String,
}

/// A row of an answer in SQL: columns without a value are absent.
pub type Row = Map<String, Value>;

/// An answer in SQL with its columns in order.
#[derive(Debug, serde::Deserialize)]
pub struct Table {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<Value>>,
}

impl Admin {
    pub fn new(url: &str) -> Result<Admin, Failure> {
        Door::new(url, "--admin").map(Admin)
    }

    /// Where it is.
    pub fn base(&self) -> &str {
        self.0.base()
    }

    pub fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Failure> {
        self.call(Method::GET, path, None)
    }

    pub fn post<T: DeserializeOwned>(&self, path: &str, body: &Value) -> Result<T, Failure> {
        self.call(Method::POST, path, Some(body))
    }

    pub fn put<T: DeserializeOwned>(&self, path: &str, body: &Value) -> Result<T, Failure> {
        self.call(Method::PUT, path, Some(body))
    }

    /// A PATCH with a body.
    pub fn change<T: DeserializeOwned>(&self, path: &str, body: &Value) -> Result<T, Failure> {
        self.call(Method::PATCH, path, Some(body))
    }

    pub fn delete(&self, path: &str) -> Result<Value, Failure> {
        self.call(Method::DELETE, path, None)
    }

    fn call<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<T, Failure> {
        self.ask(Ask::json(method, path, body))?.success()?.read()
    }

    /// An answer, whatever its status is.
    pub fn ask(&self, ask: Ask) -> Result<Answer, Failure> {
        self.0.ask(ask)
    }

    /// Many PATCHes at the same time; answers in their order.
    pub fn patch_each(&self, paths: Vec<String>) -> Vec<Result<Answer, Failure>> {
        let asks = paths.iter().map(|path| Ask::json(Method::PATCH, path, None));
        self.0.ask_each(asks.collect())
    }

    /// The rows of an answer in SQL.
    pub fn sql(&self, question: &str) -> Result<Vec<Row>, Failure> {
        #[derive(serde::Deserialize)]
        struct Rows {
            rows: Vec<Row>,
        }
        let answer = self.ask(sql(question, "application/json"))?.success()?;
        Ok(answer.read::<Rows>()?.rows)
    }

    /// An answer in SQL as a table.
    pub fn table(&self, question: &str) -> Result<Table, Failure> {
        self.ask(sql(question, crate::query::sql::Format::Table.content_type()))?.success()?.read()
    }
}

fn sql(question: &str, accept: &str) -> Ask {
    let ask = Ask::json(Method::POST, "/query", Some(&json!({ "query": question })));
    ask.header("accept", accept)
}

/// `text` as a text in SQL.
pub fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

impl Ingress {
    pub fn new(url: &str) -> Result<Ingress, Failure> {
        Door::new(url, "--ingress").map(Ingress)
    }

    /// An answer, whatever its status is.
    pub fn ask(&self, ask: Ask) -> Result<Answer, Failure> {
        self.0.ask(ask)
    }
}
