//! The SQL engine: a connection in memory with our tables, for one question. Refuses whatever is
//! not a question, and stops at the bounds.

use super::{
    answer::{Answer, Column},
    config::Config,
    dialect::{self, Question},
    error::Error,
    functions,
    source::Source,
    tables,
    types::Type,
};
use rusqlite::{
    Connection, ErrorCode, OpenFlags,
    config::DbConfig,
    hooks::{AuthAction, AuthContext, Authorization},
};
use std::sync::Arc;

/// Steps of the engine between two looks at the clock; a step takes some ten nanoseconds.
const STEPS_BETWEEN_LOOKS: i32 = 4_096;

/// Answers one question.
///
/// # Errors
/// As `Sql::ask`.
pub fn run(question: &str, source: &Arc<Source>, config: &Config) -> Result<Answer, Error> {
    let question = dialect::read(question, &tables::columns())?;
    let connection = open(&question, source, config).map_err(|error| engine_failed(&error))?;
    let answered = collect(&connection, &question, config);
    // The first fault is the cause of whatever the engine says.
    match source.take_fault() {
        Some(fault) => Err(fault.into()),
        None => answered.map_err(|failure| failure.tell(source, config)),
    }
}

fn engine_failed(error: &rusqlite::Error) -> Error {
    Error::Engine(error.to_string())
}

fn open(
    question: &Question,
    source: &Arc<Source>,
    config: &Config,
) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_in_memory_with_flags(flags)?;
    // Otherwise a misspelt column in double quotes is a text.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false)?;
    connection.execute_batch(&format!(
        "PRAGMA case_sensitive_like = ON; PRAGMA temp_store = MEMORY; \
         PRAGMA hard_heap_limit = {};",
        config.sql_memory_bytes_max
    ))?;
    functions::add(&connection)?;
    tables::add(&connection, source, question.asks_for_schema)?;
    connection.authorizer(Some(authorize))?;
    let source = source.clone();
    connection.progress_handler(STEPS_BETWEEN_LOOKS, Some(move || source.is_over()))?;
    Ok(connection)
}

/// Questions read, call functions and may be recursive; everything else changes something.
fn authorize(context: AuthContext<'_>) -> Authorization {
    match context.action {
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Recursive => {
            Authorization::Allow
        }
        AuthAction::Function { function_name } if function_name != "load_extension" => {
            Authorization::Allow
        }
        _ => Authorization::Deny,
    }
}

/// Why there is no answer, before it is known what to say.
enum Failure {
    Engine(rusqlite::Error),
    Ours(Error),
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Failure::Engine(error)
    }
}

impl Failure {
    fn tell(self, source: &Source, config: &Config) -> Error {
        let error = match self {
            Failure::Ours(error) => return error,
            Failure::Engine(error) => error,
        };
        if source.is_over() {
            return Error::TooSlow { ms: config.sql_ms_max };
        }
        match error.sqlite_error_code() {
            Some(ErrorCode::AuthorizationForStatementDenied) => Error::ReadOnly,
            Some(ErrorCode::OutOfMemory) => {
                Error::TooLarge { max: config.sql_memory_bytes_max, unit: "bytes of memory" }
            }
            _ => Error::Wrong(sentence(error)),
        }
    }
}

/// What the engine says, without the question it says it about.
fn sentence(error: rusqlite::Error) -> String {
    let said = match error {
        rusqlite::Error::SqlInputError { msg, .. } => msg,
        rusqlite::Error::SqliteFailure(_, Some(message)) => message,
        other => other.to_string(),
    };
    match said.starts_with("no such ") {
        true => {
            format!("{said}; `show tables` lists the tables, docs/sql.md columns and functions")
        }
        false => said,
    }
}

fn collect(
    connection: &Connection,
    question: &Question,
    config: &Config,
) -> Result<Answer, Failure> {
    let mut statement = connection.prepare(&question.text)?;
    if !statement.readonly() {
        return Err(Failure::Ours(Error::ReadOnly));
    }
    let count = statement.column_count();
    let columns = statement.columns();
    let columns = columns.enumerate().map(|(index, column)| {
        let declared = column.decl_type().and_then(Type::declared);
        Column::new(column.name(), declared.or_else(|| question.ty(index, count)))
    });
    let mut answer = Answer::new(columns.collect());
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        answer.push(row, config).map_err(Failure::Ours)?;
    }
    Ok(answer)
}
