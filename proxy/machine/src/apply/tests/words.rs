//! The words that scripts are made of: numbers, texts, targets, retention.

use crate::id::DeploymentId;
use crate::model::*;
use bytes::Bytes;
use holdfast_wire::manifest::HandlerType;
use holdfast_wire::version::Version;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// `key=value` words and the others.
pub struct Words<'a> {
    plain: VecDeque<&'a str>,
    pub named: BTreeMap<&'a str, &'a str>,
}

impl<'a> Words<'a> {
    pub fn new(text: &'a str) -> Self {
        let (named, plain): (Vec<_>, Vec<_>) =
            text.split_whitespace().partition(|word| word.contains('='));
        let named = named.into_iter().map(|word| word.split_once('=').unwrap()).collect();
        Words { plain: plain.into(), named }
    }

    pub fn next(&mut self) -> &'a str {
        self.plain.pop_front().expect("a word is missing")
    }

    pub fn bytes(&mut self) -> Bytes {
        self.plain.pop_front().unwrap_or_default().to_owned().into()
    }

    pub fn number(&mut self) -> u32 {
        let word = self.next();
        word.parse().unwrap_or_else(|_| panic!("`{word}` is no number"))
    }

    pub fn ms(&self, name: &str) -> Option<u64> {
        self.named.get(name).map(|value| value.parse().unwrap())
    }

    pub fn text(&self, name: &str) -> Option<String> {
        self.named.get(name).map(|value| (*value).to_owned())
    }

    pub fn has(&mut self, flag: &str) -> bool {
        let before = self.plain.len();
        self.plain.retain(|word| *word != flag);
        before > self.plain.len()
    }
}

pub fn target(text: &str) -> Target {
    let parts: Vec<&str> = text.split('/').collect();
    let (service, key, handler) = match parts[..] {
        [service, handler] => (service, None, handler),
        [service, key, handler] => (service, Some(key.to_owned()), handler),
        _ => panic!("`{text}` is no target"),
    };
    let ty = match (&key, service.starts_with("Wf"), handler) {
        (None, ..) => HandlerType::Service,
        (_, true, "run") => HandlerType::Workflow,
        (_, true, _) | (_, _, "get") => HandlerType::Shared,
        _ => HandlerType::Exclusive,
    };
    Target { service: service.into(), key, handler: handler.into(), ty }
}

pub fn pin(number: u64) -> Pin {
    let version = if number == 5 { Version::V5 } else { Version::V7 };
    Pin { deployment: DeploymentId(u128::from(number)), version }
}

pub fn retention(words: &Words<'_>) -> Retention {
    let completion = words.ms("keep").unwrap_or(0);
    let journal = words.ms("journal").unwrap_or(completion);
    Retention {
        completion: Duration::from_millis(completion),
        journal: Duration::from_millis(journal),
    }
}

pub fn callee_of(target: &Target, words: &Words<'_>) -> Callee {
    let retention = retention(words);
    let idempotent_retention = match words.ms("idem-keep").map(Duration::from_millis) {
        Some(completion) => Retention { completion, journal: completion },
        None => retention,
    };
    Callee { ty: target.ty, retention, idempotent_retention, lazy_state: false }
}

pub fn signal_name(word: &str) -> SignalName {
    match word.parse() {
        Ok(index) => SignalName::Index(index),
        Err(_) => SignalName::Name(word.into()),
    }
}
