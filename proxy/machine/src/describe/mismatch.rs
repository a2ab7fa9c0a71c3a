//! A journal mismatch, side by side: what is recorded at a place of the journal, and what the
//! handler did there instead. SDKs find mismatches and tell them in a text, in which some exchange
//! the two sides; so what is recorded always comes from the journal, and only what was received
//! comes from the text. A text that is not understood is shown as it is.

use super::{
    fields::{self, Field, NAME},
    form,
};
use crate::model::{AttemptFailure, Entry, JOURNAL_MISMATCH};
use holdfast_wire::message::MessageType;
use std::collections::BTreeMap;

/// The two sides of a mismatch. Fields have the names of the protocol; `type` is the kind of the
/// command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Mismatch {
    /// Number of the command, as SDKs count them: the input is 0, notifications do not count.
    pub command: Option<u32>,
    /// The journal entry of that command.
    pub entry: Option<u32>,
    /// As the handler named the recorded command, or else the received one.
    pub name: Option<String>,
    pub recorded: BTreeMap<String, String>,
    /// Without what is not compared, and without what the SDK did not tell.
    pub received: BTreeMap<String, String>,
    /// The fields in which the two differ.
    pub differing: Vec<String>,
}

const TYPE: &str = "type";
/// Stands for the whole text of an SDK where there is nothing better.
const SAID: &str = "said";
const AWAITS: &str = "awaits";
/// How SDKs put the two sides of a field together.
const AGAINST: &str = " != ";
/// Ahead of each field of a list of differences.
const INDENT: &str = "\n   ";

/// Whether a failure is a mismatch.
pub(super) fn is_mismatch(failure: &AttemptFailure) -> bool {
    failure.code == JOURNAL_MISMATCH
}

/// The number of the command at which it happened; `None` where the SDK does not tell.
pub(super) fn command(failure: &AttemptFailure) -> Option<u32> {
    let related = failure.related.as_ref().and_then(|related| related.index);
    let told = || failure.message.split_once("(index '")?.1.split_once('\'')?.0.parse().ok();
    related.or_else(told)
}

/// Puts the two sides together. `recorded` is the command that the journal has at that place.
pub(super) fn compare(failure: &AttemptFailure, recorded: Option<&Entry>) -> Mismatch {
    let fields = recorded.map(fields::of).unwrap_or_default();
    let mut mismatch = Mismatch {
        command: command(failure),
        entry: recorded.map(|entry| entry.index),
        ..Mismatch::default()
    };
    if let Some(entry) = recorded {
        mismatch.recorded = shown(&fields);
        mismatch.recorded.insert(TYPE.into(), entry.ty.kind().into());
    }
    let received = received_type(failure);
    match (recorded, received) {
        (Some(entry), received) if received.is_none_or(|ty| is_same_kind(ty, entry.ty)) => {
            mismatch.same_kind(failure, &fields);
        }
        _ => mismatch.other_kind(failure, received),
    }
    let name = |side: &BTreeMap<String, String>| side.get(NAME).cloned();
    mismatch.name = name(&mismatch.recorded).or_else(|| name(&mismatch.received));
    mismatch
}

impl Mismatch {
    /// The handler did the same with other words: the SDK tells the fields that differ.
    fn same_kind(&mut self, failure: &AttemptFailure, fields: &[Field]) {
        let told = differences(&failure.message, fields);
        let name = failure.related.as_ref().and_then(|related| related.name.clone());
        if told.is_empty() {
            self.received.extend(name.map(|name| (NAME.into(), name)));
            let received = received_type(failure);
            self.received.extend(received.map(|ty| (TYPE.into(), ty.kind().into())));
            self.received.extend(said(failure));
        } else {
            let equal = fields.iter().filter(|field| field.compared);
            self.received = shown(equal);
            self.received.extend(self.recorded.get(TYPE).map(|ty| (TYPE.into(), ty.clone())));
        }
        for (field, text) in told {
            self.received.remove(field.name);
            let shown = text.and_then(|text| field.form.shown(text));
            self.received.extend(shown.map(|shown| (field.name.into(), shown)));
            self.differing.push(field.name.into());
        }
        let both = (self.recorded.get(NAME), self.received.get(NAME));
        if let (Some(recorded), Some(received)) = both
            && recorded != received
            && !self.differing.iter().any(|field| field == NAME)
        {
            self.differing.push(NAME.into());
        }
    }

    /// The handler did something else, of which the SDK tells the kind and the name, or it waits
    /// where it did not wait before.
    fn other_kind(&mut self, failure: &AttemptFailure, received: Option<MessageType>) {
        let name = failure.related.as_ref().and_then(|related| related.name.clone());
        self.received.extend(name.map(|name| (NAME.into(), name)));
        match (received, awaited(&failure.message)) {
            (Some(ty), _) => self.received.extend([(TYPE.into(), ty.kind().into())]),
            (None, Some(awaited)) => self.received.extend([(AWAITS.into(), awaited)]),
            (None, None) => self.received.extend(said(failure)),
        }
        let differs = |field: &&&str| self.recorded.get(**field) != self.received.get(**field);
        self.differing =
            [TYPE, NAME, AWAITS].iter().filter(differs).map(|it| (*it).into()).collect();
    }
}

/// The text of the SDK as it is, where there is one.
fn said(failure: &AttemptFailure) -> Option<(String, String)> {
    let text = Some(&failure.message).filter(|message| !message.is_empty())?;
    Some((SAID.into(), form::shortened(text)))
}

fn received_type(failure: &AttemptFailure) -> Option<MessageType> {
    failure.related.as_ref()?.ty.filter(|ty| ty.is_command())
}

/// State that is read is the same wherever it came from.
fn is_same_kind(one: MessageType, other: MessageType) -> bool {
    use MessageType as T;
    let eager = |ty| match ty {
        T::GET_LAZY_STATE => T::GET_EAGER_STATE,
        T::GET_LAZY_STATE_KEYS => T::GET_EAGER_STATE_KEYS,
        ty => ty,
    };
    eager(one) == eager(other)
}

fn shown<'a>(fields: impl IntoIterator<Item = &'a Field>) -> BTreeMap<String, String> {
    let shown = |field: &Field| Some((field.name.to_owned(), field.form.shown(&field.text)?));
    fields.into_iter().filter_map(shown).collect()
}

/// A field that a text says differs.
struct Told<'a> {
    field: &'a Field,
    /// Where it stands in the text.
    at: usize,
    /// Where what was received begins; `None` where that cannot be told.
    received: Option<usize>,
}

/// The fields that a text says differ, in its order, and what was received of them. Since what was
/// recorded is known, it is known where what was received begins, whatever stands in the two.
fn differences<'f, 't>(text: &'t str, fields: &'f [Field]) -> Vec<(&'f Field, Option<&'t str>)> {
    let compared = || fields.iter().filter(|field| field.compared);
    let mut told: Vec<Told<'f>> = compared().filter_map(|field| exact(text, field)).collect();
    for field in compared() {
        let known = told.iter().any(|told| told.field.name == field.name);
        let place = if known { None } else { inexact(text, field) };
        // It is no field where it is a part of what was recorded of another.
        let within = |told: &Told<'_>, at| told.at < at && told.received.is_some_and(|it| at < it);
        told.extend(place.filter(|new| !told.iter().any(|told| within(told, new.at))));
    }
    told.sort_by_key(|told| told.at);
    let ends = told.iter().skip(1).map(|told| told.at).chain([text.len()]);
    let received = |told: &Told<'_>, end| text.get(told.received?..end);
    told.iter().zip(ends).map(|(told, end)| (told.field, received(told, end))).collect()
}

fn exact<'f>(text: &str, field: &'f Field) -> Option<Told<'f>> {
    let recorded = format!("{INDENT}{}: {}{AGAINST}", field.name, field.text);
    let at = text.find(&recorded)?;
    Some(Told { field, at, received: Some(at + recorded.len()) })
}

/// A field that was cut off, or that is written in a way that we do not know.
fn inexact<'f>(text: &str, field: &'f Field) -> Option<Told<'f>> {
    let at = text.find(&format!("{INDENT}{}: ", field.name))?;
    let line = text[at + 1..].lines().next().unwrap_or_default();
    let received = line.find(AGAINST).map(|end| at + 1 + end + AGAINST.len());
    Some(Told { field, at, received })
}

/// What a handler waits for where nothing was awaited before.
fn awaited(text: &str) -> Option<String> {
    let (_, list) = text.split_once("awaited on this await point:")?;
    let awaited = list.lines().filter_map(|line| line.trim().strip_prefix("- "));
    Some(form::shortened(&awaited.collect::<Vec<_>>().join(", ")))
}

#[cfg(test)]
mod tests;
