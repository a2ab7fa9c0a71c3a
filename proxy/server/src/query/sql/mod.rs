//! SQL for operators: one question at a time over one snapshot of the store. An SQLite connection
//! in memory answers it; its tables are virtual and read the machine's tables row by row. Never
//! changes anything, never blocks a partition, and never runs without a bound.

mod answer;
mod arrow;
mod config;
mod dialect;
mod engine;
mod entry;
mod error;
mod functions;
mod json;
mod source;
mod table;
mod tables;
#[cfg(test)]
mod tests;
mod types;

pub use config::Config;
pub use error::Error;
pub use source::{Catalog, Deployment, Service};

use super::Live;
use crate::store::Store;
use source::Source;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// Answers questions in SQL. Cheap to clone.
#[derive(Clone)]
pub struct Sql {
    store: Arc<dyn Store>,
    live: Arc<dyn Live>,
    config: Config,
    turns: Arc<Semaphore>,
}

/// How an answer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// `{"rows":[{…}]}`
    Json,
    /// `{"columns":[…],"rows":[[…]]}`: every column, also where no row has a value for it.
    Table,
    /// The streaming format of Arrow IPC.
    Arrow,
}

impl Format {
    /// Its media type.
    pub const fn content_type(self) -> &'static str {
        match self {
            Format::Json => "application/json",
            Format::Table => "application/vnd.holdfast.table+json",
            Format::Arrow => "application/vnd.apache.arrow.stream",
        }
    }
}

impl Sql {
    pub fn new(store: Arc<dyn Store>, live: Arc<dyn Live>, config: Config) -> Sql {
        let turns = Arc::new(Semaphore::new(config.sql_concurrent_max.max(1)));
        Sql { store, live, config, turns }
    }

    /// Answers one question. `catalog` is what is registered at this moment. Whoever stops to wait
    /// stops the work as well.
    ///
    /// # Errors
    /// What is wrong with the question; that it costs too much; that the store cannot be read.
    pub async fn ask(
        &self,
        question: String,
        catalog: Catalog,
        format: Format,
    ) -> Result<Vec<u8>, Error> {
        let gone = CancellationToken::new();
        let _whoever_waits = gone.clone().drop_guard();
        let turn = self.turns.clone().acquire_owned().await;
        let turn = turn.expect("the semaphore is never closed");
        let sql = self.clone();
        let work = move || {
            let answer = sql.answer(&question, catalog, gone)?;
            drop(turn);
            Ok(match format {
                Format::Json => json::encode(&answer),
                Format::Table => json::encode_table(&answer),
                Format::Arrow => arrow::encode(&answer),
            })
        };
        let answered = tokio::task::spawn_blocking(work).await;
        answered.unwrap_or_else(|panicked| Err(Error::Engine(panicked.to_string())))
    }

    fn answer(
        &self,
        question: &str,
        catalog: Catalog,
        gone: CancellationToken,
    ) -> Result<answer::Answer, Error> {
        let source = Arc::new(Source::new(source::Parts {
            snapshot: self.store.snapshot()?,
            partitions: self.store.partitions(),
            live: self.live.clone(),
            catalog,
            deadline: Instant::now() + Duration::from_millis(self.config.sql_ms_max),
            gone,
        }));
        engine::run(question, &source, &self.config)
    }
}
