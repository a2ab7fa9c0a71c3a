//! The words that scripts are made of: numbers, texts, targets, retention.

use crate::ask::{Action, Answer};
use crate::id::DeploymentId;
use crate::model::*;
use crate::schedule::{CatchUp, Overlap, Plan};
use crate::tables::push_config::PushConfig;
use crate::task::{Message, NewMessage, NewTask};
use crate::time::Timestamp;
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

/// A schedule; blanks of the expression are written as `_`.
pub fn plan(name: &str, mut words: Words<'_>) -> Plan {
    let target = target(words.next());
    let skip = |policy| words.text(policy).is_some_and(|word| word == "skip");
    Plan {
        name: name.into(),
        cron: words.text("cron").unwrap_or_default().replace('_', " "),
        time_zone: words.text("tz").unwrap_or("UTC".into()),
        service: target.service,
        handler: target.handler,
        key: target.key,
        headers: vec![("x".into(), "y".into())],
        catch_up: if skip("catch-up") { CatchUp::Skip } else { CatchUp::Once },
        overlap: if skip("overlap") { Overlap::Skip } else { Overlap::Allow },
        argument: words.bytes(),
    }
}

/// What is registered for the target of a schedule.
pub fn registered(plan: &Plan) -> Option<Callee> {
    let key = plan.key.iter().map(|key| format!("/{key}"));
    let called = format!("{}{}/{}", plan.service, key.collect::<String>(), plan.handler);
    let callee = callee_of(&target(&called), &Words::new("keep=100000"));
    (!plan.service.starts_with("Gone")).then_some(callee)
}

pub fn notices(mut words: Words<'_>) -> NoticesWanted {
    let failed = match (words.has("roots"), words.has("all")) {
        (true, _) => FailuresWanted::Roots,
        (_, true) => FailuresWanted::All,
        _ => FailuresWanted::None,
    };
    NoticesWanted { paused: words.has("paused"), failed }
}

pub fn signal_name(word: &str) -> SignalName {
    match word.parse() {
        Ok(index) => SignalName::Index(index),
        Err(_) => SignalName::Name(word.into()),
    }
}

pub fn new_task(words: &Words<'_>) -> NewTask {
    NewTask {
        secret: 42,
        principal: words.text("by").unwrap_or("ada".into()),
        context: "c".into(),
        door: "test".into(),
        meta: Bytes::from_static(b"meta"),
        digest: words.text("digest").unwrap_or_default().into(),
        message: words.text("message").map(|id| NewMessage {
            message: message(id, None, None),
            digest: words.text("digest").map(Bytes::from),
            answers: None,
        }),
        pushes: words.text("push").map(|name| (name, push_config())).into_iter().collect(),
    }
}

pub fn push_config() -> PushConfig {
    PushConfig {
        url: "http://h/".into(),
        token: "t".into(),
        authentication: None,
        form: 0,
        created_at: Timestamp(0),
    }
}

fn message(id: String, content: Option<Bytes>, text: Option<String>) -> Message {
    Message { id, body: Bytes::from_static(b"{}"), action: Action::Accept, content, text, by: None }
}

pub fn new_message(words: &mut Words<'_>) -> NewMessage {
    let decline = words.has("decline");
    let id = words.next().to_owned();
    let content = Some(words.bytes()).filter(|content| !content.is_empty());
    let mut message = message(id, content, words.text("text"));
    if decline {
        message.action = Action::Decline;
    }
    NewMessage { message, digest: words.text("digest").map(Bytes::from), answers: None }
}

pub fn answer(mut words: Words<'_>) -> Answer {
    let action = Action::from_name(words.next()).expect("an action");
    let content = Some(words.bytes()).filter(|content| !content.is_empty());
    Answer { action, content, by: words.text("by") }
}
