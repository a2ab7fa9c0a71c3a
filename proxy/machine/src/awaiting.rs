//! Whether the wait of a suspended attempt is over: a tree of combinators over what was notified.
//! Waking too early costs an attempt, waking too late is a hang: where in doubt, it is over.

use crate::model::{Awaiting, Combinator};
use crate::tables::notified::NotificationId;

/// Levels that a tree may have; the attempt cuts deeper ones before anybody else sees them.
pub const DEPTH_MAX: usize = 32;

/// What is known of a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Pending,
    Succeeded,
    Failed,
    /// Something has happened; only the service knows what it means.
    Undetermined,
}

/// Evaluates a tree. `leaf` tells of one notification whether it failed, `None` if there is none.
///
/// # Errors
/// Those of `leaf`.
pub fn evaluate<E>(
    awaiting: &Awaiting,
    leaf: &mut dyn FnMut(NotificationId) -> Result<Option<bool>, E>,
) -> Result<Verdict, E> {
    let completions = awaiting.completions.iter().map(|id| NotificationId::Completion(*id));
    let signals = awaiting.signals.iter().cloned().map(NotificationId::Signal);
    let mut children = Vec::new();
    for id in completions.chain(signals) {
        children.push(match leaf(id)? {
            None => Verdict::Pending,
            Some(false) => Verdict::Succeeded,
            Some(true) => Verdict::Failed,
        });
    }
    for nested in &awaiting.nested {
        children.push(evaluate(nested, leaf)?);
    }
    Ok(combine(awaiting.combinator, &children))
}

/// Whether a wait can end by what `comes`, whatever it brings. In doubt it can.
pub fn can_end(awaiting: &Awaiting, comes: &dyn Fn(&NotificationId) -> bool) -> bool {
    let completions = awaiting.completions.iter().map(|id| NotificationId::Completion(*id));
    let signals = awaiting.signals.iter().cloned().map(NotificationId::Signal);
    let mut leaves = completions.chain(signals);
    let mut nested = awaiting.nested.iter();
    match awaiting.combinator {
        Combinator::AllCompleted => {
            leaves.all(|leaf| comes(&leaf)) && nested.all(|nested| can_end(nested, comes))
        }
        _ => leaves.any(|leaf| comes(&leaf)) || nested.any(|nested| can_end(nested, comes)),
    }
}

/// Whether a completion is waited for.
pub fn names(awaiting: &Awaiting, completion: u32) -> bool {
    awaiting.completions.contains(&completion)
        || awaiting.nested.iter().any(|nested| names(nested, completion))
}

fn combine(combinator: Combinator, children: &[Verdict]) -> Verdict {
    use Verdict::{Failed, Pending, Succeeded, Undetermined};
    let any = |verdict| children.contains(&verdict);
    let first = children.iter().copied().find(|child| *child != Pending);
    match combinator {
        Combinator::FirstCompleted => first.unwrap_or(Pending),
        Combinator::Unknown => first.map_or(Pending, |_| Undetermined),
        Combinator::AllCompleted => {
            if any(Pending) {
                Pending
            } else {
                Succeeded
            }
        }
        Combinator::FirstSucceededOrAllFailed => decided(children, Succeeded, Failed),
        Combinator::AllSucceededOrFirstFailed => decided(children, Failed, Succeeded),
    }
}

/// `one` child decides alone; else it is `all` as soon as every child is.
fn decided(children: &[Verdict], one: Verdict, all: Verdict) -> Verdict {
    if children.contains(&one) {
        one
    } else if children.contains(&Verdict::Undetermined) {
        Verdict::Undetermined
    } else if children.contains(&Verdict::Pending) {
        Verdict::Pending
    } else {
        all
    }
}

/// How many levels a tree has.
pub fn depth(awaiting: &Awaiting) -> usize {
    let mut deepest = 0;
    let mut open = vec![(awaiting, 1)];
    while let Some((node, depth)) = open.pop() {
        deepest = deepest.max(depth);
        open.extend(node.nested.iter().map(|nested| (nested, depth + 1)));
    }
    deepest
}

#[cfg(test)]
pub(crate) mod tests;
