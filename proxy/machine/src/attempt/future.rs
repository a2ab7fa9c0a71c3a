//! Reads what an attempt waits for. By hand and without recursion, because the depth of the tree
//! is the service's choice. Never gives out a tree deeper than `awaiting::DEPTH_MAX`: what is deeper
//! is merged into one `Unknown` node. The invocation may wake too early by that, which is safe, and
//! never too late.

use super::{
    error::Error,
    field::{self, Broken, Value},
};
use crate::awaiting;
use crate::model::{Awaiting, Combinator, SignalName};
use holdfast_wire::message::MessageType;

/// Levels of combinators a service may nest.
const DEPTH_MAX: usize = 1000;

/// Reads the encoded `Future` in a message of type `ty`.
pub(super) fn read(ty: MessageType, tree: &[u8]) -> Result<Awaiting, Error> {
    let mut open = vec![Node::new(tree)];
    loop {
        let node = open.last_mut().expect("the loop ends when the root is closed");
        match node.step().map_err(|reason| Error::Malformed { ty, reason: reason.to_owned() })? {
            Step::Read => {}
            Step::Child(_) if open.len() == DEPTH_MAX => {
                return Err(Error::FutureTooDeep { depth_max: DEPTH_MAX });
            }
            Step::Child(child) => open.push(Node::new(child)),
            Step::Closed => {
                let depth = open.len();
                let closed = open.pop().expect("it was there above").awaiting;
                match open.last_mut() {
                    None => return Ok(closed),
                    Some(parent) if depth <= awaiting::DEPTH_MAX => {
                        parent.awaiting.nested.push(closed)
                    }
                    Some(parent) => parent.merge(closed),
                }
            }
        }
    }
}

/// Whether no id at all is named: who waits for it never wakes.
pub(super) fn is_empty(awaiting: &Awaiting) -> bool {
    awaiting.completions.is_empty()
        && awaiting.signals.is_empty()
        && awaiting.nested.iter().all(is_empty)
}

/// A node whose fields are being read.
struct Node<'t> {
    rest: &'t [u8],
    awaiting: Awaiting,
    /// It has taken in a child: its own combinator no longer fits.
    merged: bool,
}

enum Step<'t> {
    Read,
    Child(&'t [u8]),
    Closed,
}

impl<'t> Node<'t> {
    fn new(rest: &'t [u8]) -> Node<'t> {
        let awaiting = Awaiting { combinator: Combinator::Unknown, ..Awaiting::default() };
        Node { rest, awaiting, merged: false }
    }

    fn merge(&mut self, child: Awaiting) {
        self.merged = true;
        self.awaiting.combinator = Combinator::Unknown;
        self.awaiting.completions.extend(child.completions);
        self.awaiting.signals.extend(child.signals);
    }

    fn step(&mut self) -> Result<Step<'t>, Broken> {
        let Some((number, value)) = field::next(&mut self.rest)? else {
            return Ok(Step::Closed);
        };
        let awaiting = &mut self.awaiting;
        match (number, value) {
            (1, ids) => awaiting.completions.extend(ids.numbers()?),
            (2, ids) => awaiting.signals.extend(ids.numbers()?.into_iter().map(SignalName::Index)),
            (3, Value::Bytes(name)) => {
                let name = String::from_utf8(name.to_vec()).map_err(|_| "a name is not UTF-8")?;
                awaiting.signals.push(SignalName::Name(name));
            }
            (4, Value::Bytes(child)) => return Ok(Step::Child(child)),
            (5, Value::Number(combinator)) if !self.merged => {
                awaiting.combinator = named(combinator);
            }
            _ => {} // A field of a later version.
        }
        Ok(Step::Read)
    }
}

/// An unknown combinator wakes at any completion, as `Unknown` does: early, never late.
fn named(combinator: usize) -> Combinator {
    match combinator {
        1 => Combinator::FirstCompleted,
        2 => Combinator::AllCompleted,
        3 => Combinator::FirstSucceededOrAllFailed,
        4 => Combinator::AllSucceededOrFirstFailed,
        _ => Combinator::Unknown,
    }
}
