//! Asks, whatever the root is: pending ones for those who answer, and closed ones for as long as
//! their root is kept.

use super::error::unexpected;
use super::{Answer, Ask, AskId, AskKind, Closed, Error, Tasks};
use holdfast_machine::{
    command::{Command, Reply},
    id::{InvocationId, PartitionId},
    kv::{Fault, Kv},
    tables::{ask, invocation, task},
};

/// What became of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answered {
    Taken {
        /// The row of the feed that says so; of a task.
        sequence: Option<u64>,
    },
    /// It had been closed before, and nothing has happened now.
    Late(Closed),
}

/// Which asks to list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AskFilter {
    /// Closed ones too.
    pub closed: bool,
    pub kind: Option<AskKind>,
    pub to: Option<String>,
    /// The service whose handler asks.
    pub service: Option<String>,
    /// The root, or the invocation that asks.
    pub invocation: Option<InvocationId>,
    /// Under a task of this principal.
    pub principal: Option<String>,
    /// At most so many.
    pub limit: usize,
}

/// Some asks, those first that have waited for longest.
#[derive(Debug, Clone, PartialEq)]
pub struct Asks {
    pub asks: Vec<Ask>,
    /// There are more than were wanted.
    pub more: bool,
}

impl AskFilter {
    fn wants(&self, ask: &Ask) -> bool {
        (self.closed || ask.closed.is_none())
            && self.kind.is_none_or(|kind| ask.kind == kind)
            && self.to.as_ref().is_none_or(|to| ask.to.as_ref() == Some(to))
            && self.service.as_ref().is_none_or(|service| ask.asked_by.service == *service)
            && self.invocation.is_none_or(|id| ask.root == id || ask.caller == id)
    }
}

impl Tasks {
    /// Lists asks, oldest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn asks(&self, filter: AskFilter) -> Result<Asks, Error> {
        let tasks = self.clone();
        let read = tokio::task::spawn_blocking(move || tasks.list_asks(&filter)).await;
        Ok(read.map_err(|panicked| Error::Fault(panicked.to_string()))??)
    }

    fn list_asks(&self, filter: &AskFilter) -> Result<Asks, Fault> {
        let snapshot = self.router.store().snapshot()?;
        let mut kept = std::collections::BTreeMap::new();
        let mut more = false;
        let mut fault = None;
        for partition in self.router.partitions().all() {
            ask::scan(&*snapshot, partition, &mut |ask| {
                let seen = match &filter.principal {
                    None => Ok(true),
                    Some(principal) => is_of(&*snapshot, partition, principal, &ask),
                };
                let seen = seen.unwrap_or_else(|found| {
                    fault = Some(found);
                    false
                });
                if seen && filter.wants(&ask) {
                    kept.insert((ask.opened_at, ask.root, ask.number), ask);
                    if kept.len() > filter.limit {
                        kept.pop_last();
                        more = true;
                    }
                }
                true
            })?;
        }
        fault.map_or(Ok(Asks { asks: kept.into_values().collect(), more }), Err)
    }

    /// One ask.
    ///
    /// # Errors
    /// `NoSuchAsk`, and when the store cannot be read.
    pub async fn ask(&self, id: AskId) -> Result<Ask, Error> {
        let snapshot = self.router.store().snapshot()?;
        let home = self.home(id.invocation());
        ask::find(&*snapshot, home, id)?.ok_or(Error::NoSuchAsk)
    }

    /// Whether an ask stands under a task of that principal.
    pub(super) fn is_asked_for(&self, principal: &str, ask: &Ask) -> Result<bool, Error> {
        Ok(is_of(&**self.router.store(), self.home(ask.root), principal, ask)?)
    }

    /// Answers an ask, whoever may see it: a door asks for itself.
    ///
    /// # Errors
    /// `NoSuchAsk`; `Violation` where the answer does not fit, and nothing has happened.
    pub async fn answer_ask(&self, id: AskId, answer: Answer) -> Result<Answered, Error> {
        let ask = self.ask(id).await?;
        self.answer_of(&ask, answer).await
    }

    pub(super) async fn answer_of(&self, ask: &Ask, answer: Answer) -> Result<Answered, Error> {
        let (root, number, answer) = (ask.root, ask.number, Box::new(answer));
        let command = Command::AnswerAsk { root, number, ask: ask.id, answer };
        match self.router.of(root).call(command).await? {
            Reply::Answered { sequence } => Ok(Answered::Taken { sequence }),
            Reply::AskClosed(closed) => Ok(Answered::Late(closed)),
            Reply::Violation(violation) => Err(Error::Violation(violation)),
            Reply::Unknown => Err(Error::NoSuchAsk),
            reply => Err(unexpected(&reply)),
        }
    }
}

fn is_of(kv: &dyn Kv, partition: PartitionId, principal: &str, ask: &Ask) -> Result<bool, Fault> {
    let task = task::get(kv, partition, ask.root)?.filter(|task| task.principal == principal);
    // Not what was asked under an earlier invocation of that id.
    let root = task.map(|_| invocation::get(kv, partition, ask.root)).transpose()?.flatten();
    Ok(root.is_some_and(|root| root.asks.has(ask.number)))
}
