//! What is kept for a shorter time than was asked for, as sentences for the operator. Pure.

use super::options::{Declared, Options};
use crate::duration::Friendly;
use std::time::Duration;

/// The setting that says how long an outcome is kept, and whose outcome that is.
#[derive(Debug, Clone, Copy)]
pub(super) enum OutcomeOf {
    /// The run of a workflow.
    Run,
    /// A call with an idempotency key; without one an outcome is kept as long as its journal.
    Call,
}

/// Compares what was declared with what is in force.
pub(super) fn cuts(declared: &Declared, options: &Options, outcome: OutcomeOf) -> Vec<String> {
    let asked = [
        ("journal_retention", declared.journal_retention, options.journal_retention),
        ("idempotency_retention", declared.idempotency_retention, options.idempotency_retention),
        (
            "workflow_completion_retention",
            declared.workflow_completion_retention,
            options.workflow_completion_retention,
        ),
    ];
    let by_maximum = asked.into_iter().filter_map(|(name, asked, in_force)| {
        let asked = asked.filter(|asked| *asked > in_force)?;
        Some(by_maximum(name, asked, in_force))
    });
    let by_outcome = declared.journal_retention.and_then(|_| by_outcome(options, outcome));
    by_maximum.chain(by_outcome).collect()
}

fn by_maximum(name: &str, asked: Duration, in_force: Duration) -> String {
    let (asked, in_force) = (Friendly(asked), Friendly(in_force));
    format!("{name} is {in_force} and not {asked}: the server allows no more (registry.maxima)")
}

/// A journal never outlives its outcome.
fn by_outcome(options: &Options, outcome: OutcomeOf) -> Option<String> {
    let (name, kept, whose) = match outcome {
        OutcomeOf::Run => (
            "workflow_completion_retention",
            options.workflow_completion_retention,
            "the journal of a run is",
        ),
        OutcomeOf::Call => (
            "idempotency_retention",
            options.idempotency_retention,
            "journals of calls with an idempotency key are",
        ),
    };
    let journal = options.journal_retention;
    (journal > kept).then(|| {
        let (journal, kept) = (Friendly(journal), Friendly(kept));
        format!("{whose} kept for {kept} and not {journal}: {name} is {kept}")
    })
}
