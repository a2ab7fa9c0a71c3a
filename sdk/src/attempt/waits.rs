//! What the handler waits for at the moment.
//!
//! Each future of ours that is polled and not ready leaves a mark here. Marks last from one poll of
//! the handler to the next, so that a future which is no longer polled is no longer waited for. A
//! combinator that is not ours may poll only those of its futures that were woken: a future that is
//! polled with a waker other than the handler's own is remembered until it is done or dropped.

use holdfast_wire::message::pb::{CombinatorType, Future};
use std::panic::Location;
use std::sync::Arc;
use std::task::Waker;

/// One thing that can be waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Leaf {
    /// The result of a command.
    Completion(u32),
    /// An awakeable.
    Signal(u32),
    /// A signal with a name.
    Named(Arc<str>),
    /// Something that the journal knows nothing of, and that was said to be so.
    Unrecorded(u32),
}

/// Whether a future is a step, and how far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// It is none, or its result is proposed.
    None,
    /// It has not begun, since the journal may still hold its result.
    Held,
    /// It is being executed in this process.
    Executing,
}

/// A future that is waited for.
#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    pub(crate) leaf: Leaf,
    pub(crate) step: Step,
    /// Where the handler made it.
    pub(crate) at: &'static Location<'static>,
}

#[derive(Debug)]
enum Mark {
    Open(CombinatorType),
    Close,
    Leaf(Waiting),
}

/// All that is waited for.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    marks: Vec<Mark>,
    foreign: Vec<(Waiting, Waker)>,
}

impl Waits {
    /// The handler is about to be polled.
    pub(crate) fn begin(&mut self) {
        self.marks.clear();
    }

    /// A future is not ready. `waker` is given if it is not the handler's own.
    pub(crate) fn wait(&mut self, waiting: Waiting, waker: Option<&Waker>) {
        match waker {
            None => self.marks.push(Mark::Leaf(waiting)),
            Some(waker) => {
                self.forget(&waiting.leaf);
                self.foreign.push((waiting, waker.clone()));
            }
        }
    }

    /// A future is done or dropped.
    pub(crate) fn forget(&mut self, leaf: &Leaf) {
        self.foreign.retain(|(waiting, _)| waiting.leaf != *leaf);
        self.marks.retain(|mark| !matches!(mark, Mark::Leaf(waiting) if waiting.leaf == *leaf));
    }

    /// A combinator begins to poll its futures. Says where, for [`Waits::resolve`].
    pub(crate) fn open(&mut self, combinator: CombinatorType) -> usize {
        self.marks.push(Mark::Open(combinator));
        self.marks.len() - 1
    }

    /// The combinator has polled all its futures and is not ready.
    pub(crate) fn close(&mut self) {
        self.marks.push(Mark::Close);
    }

    /// The combinator that began there is ready: its futures are no longer waited for.
    pub(crate) fn resolve(&mut self, begun: usize) {
        self.marks.truncate(begun);
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Waiting> {
        let marked = self.marks.iter().filter_map(|mark| match mark {
            Mark::Leaf(waiting) => Some(waiting),
            Mark::Open(_) | Mark::Close => None,
        });
        marked.chain(self.foreign.iter().map(|(waiting, _)| waiting))
    }

    /// What the journal can end: all but what it knows nothing of.
    pub(crate) fn recorded(&self) -> impl Iterator<Item = &Waiting> {
        self.all().filter(|waiting| !matches!(waiting.leaf, Leaf::Unrecorded(_)))
    }

    pub(crate) fn contains(&self, leaf: &Leaf) -> bool {
        self.all().any(|waiting| waiting.leaf == *leaf)
    }

    pub(crate) fn has(&self, step: Step) -> bool {
        self.all().any(|waiting| waiting.step == step)
    }

    /// Wakes the futures whose combinator polls only those that are woken.
    pub(crate) fn foreign_wakers(&self) -> Vec<Waker> {
        self.foreign.iter().map(|(_, waker)| waker.clone()).collect()
    }

    /// What is waited for as the tree that the sidecar understands; the root is ready with the
    /// first of its children.
    pub(crate) fn tree(&self) -> Future {
        let mut open = vec![node(CombinatorType::FirstCompleted)];
        for mark in &self.marks {
            match mark {
                Mark::Open(combinator) => open.push(node(*combinator)),
                Mark::Leaf(waiting) => add(open.last_mut(), &waiting.leaf),
                Mark::Close => close(&mut open),
            }
        }
        while open.len() > 1 {
            close(&mut open);
        }
        for (waiting, _) in &self.foreign {
            add(open.last_mut(), &waiting.leaf);
        }
        open.pop().expect("the root is never closed")
    }

    /// The same without structure, for peers that know only lists.
    pub(crate) fn list(&self) -> Future {
        let mut list = node(CombinatorType::FirstCompleted);
        for waiting in self.all() {
            add(Some(&mut list), &waiting.leaf);
        }
        list
    }
}

fn node(combinator: CombinatorType) -> Future {
    Future { combinator_type: combinator.into(), ..Future::default() }
}

fn add(node: Option<&mut Future>, leaf: &Leaf) {
    let Some(node) = node else {
        return;
    };
    match leaf {
        Leaf::Completion(id) => node.waiting_completions.push(*id),
        Leaf::Signal(index) => node.waiting_signals.push(*index),
        Leaf::Named(name) => node.waiting_named_signals.push(name.to_string()),
        Leaf::Unrecorded(_) => {}
    }
}

/// Ends the innermost node; one without children says nothing and is left out.
fn close(open: &mut Vec<Future>) {
    if open.len() > 1
        && let Some(done) = open.pop()
        && !done.is_empty()
        && let Some(parent) = open.last_mut()
    {
        parent.nested_futures.push(done);
    }
}
