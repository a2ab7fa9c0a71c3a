//! Conversations as text. A script has one input a line; what is polled after it is written below.
//!
//! ```text
//! open Greeter/greet v6 unchanged=1   the target, then options (see `Opening`)
//! entry FRAME                         one entry of the journal the attempt starts from
//! head 200 [CONTENT-TYPE] [; RETRY-AFTER]   without a content type: the right one; `-`: none
//! chunk FRAME…                        frames that arrive together
//! raw HEX                             bytes that arrive together
//! stored INDEX FRAME                  a notification was stored
//! end | broken REASON | suspend | abort
//! deadline                            time passes until the deadline
//! wait MS                             time passes, nothing else
//! sends FRAME…                        expects that exactly this was sent; comes after the input
//! ```
//!
//! A FRAME is hex, or `Name{1:"text" 2:7 3:{…} 4:x0aff}` with the fields of its message; `Name!{…}`
//! has the acknowledgement flag.

mod captures;
mod commands;
mod endings;
pub(crate) mod frames;
mod properties;
mod request;
mod timers;
mod told;

use super::*;
use crate::{model::*, retry::RetryPolicy};
use expect_test::Expect;
use frames::{frames, hex, show_frames};
use holdfast_wire::{frame::Frame, manifest::HandlerType, message::MessageType};
use std::{collections::VecDeque, fmt::Write, time::Duration};

/// Runs a script and compares what was said.
fn check(script: &str, expected: Expect) {
    expected.assert_eq(&transcript(script));
}

fn transcript(script: &str) -> String {
    let mut lines = script.lines().map(str::trim).filter(|line| !line.is_empty()).peekable();
    let mut opening = Opening::parse(lines.next().expect("a script begins with `open`"));
    while let Some(line) = lines.next_if(|line| line.starts_with("entry ")) {
        opening.entry(&line["entry ".len()..]);
    }
    let mut run = Run::new(opening);
    for line in lines {
        run.line(line);
    }
    run.show_polled();
    run.text
}

/// The handlers that exist in these tests.
pub(super) struct TestCallees;

impl Callees for TestCallees {
    fn resolve(&self, service: &str, handler: &str) -> Option<Callee> {
        let (ty, _) = handler_type(&format!("{service}/{handler}"))?;
        let retention = Retention::default();
        Some(Callee { ty, retention, idempotent_retention: retention, lazy_state: false })
    }
}

fn handler_type(path: &str) -> Option<(HandlerType, ServiceType)> {
    Some(match path {
        "Greeter/greet" | "Greeter/sleep" | "Greeter/callSlow" | "Greeter/awakeable" => {
            (HandlerType::Service, ServiceType::Service)
        }
        "Counter/add" => (HandlerType::Exclusive, ServiceType::VirtualObject),
        "Counter/get" => (HandlerType::Shared, ServiceType::VirtualObject),
        "Wf/run" => (HandlerType::Workflow, ServiceType::Workflow),
        "Wf/signal" => (HandlerType::Shared, ServiceType::Workflow),
        _ => return None,
    })
}

const START_MS: u64 = 1_000_000;

/// What a conversation starts from. Options: `v5 v6 v7`, `request-response`, `key=`, `id=`,
/// `seed=`, `unchanged=` (ms since the last change), `retries=`, `idempotency=`, `partial`,
/// `state=NAME:VALUE`, `inactivity=` and `abort=` (ms), `message-max=` (bytes).
pub(super) struct Opening {
    pub start: Start,
    pub terms: Terms,
}

impl Opening {
    pub fn parse(line: &str) -> Opening {
        let mut words = line.strip_prefix("open ").expect("`open`").split(' ');
        let path = words.next().expect("a path");
        let mut opening = Opening::of(path);
        words.for_each(|word| opening.option(word));
        opening
    }

    fn of(path: &str) -> Opening {
        let (service, handler) = path.split_once('/').expect("a path");
        let (ty, service_type) = handler_type(path).expect("a handler that exists");
        let key = (ty != HandlerType::Service).then(|| "k1".to_owned());
        let options = AttemptOptions {
            inactivity_timeout: Duration::from_secs(60),
            abort_timeout: Duration::from_secs(600),
            retry: RetryPolicy::default(),
            message_bytes_max: 1 << 20,
            eager_state_bytes_max: 1 << 20,
        };
        Opening {
            start: Start {
                invocation: InvocationId::from_bytes([7; 24]),
                attempt: 1,
                target: Target { service: service.into(), handler: handler.into(), key, ty },
                idempotency_key: None,
                pin: None,
                random_seed: 0,
                entries: vec![],
                state: vec![],
                partial_state: false,
                retry_count_since_last_stored_entry: 0,
                last_stored_at: Timestamp(START_MS),
            },
            terms: Terms {
                options,
                version: Version::V6,
                service: service_type,
                bidirectional: true,
                jitter: 42,
                callees: Box::new(TestCallees),
            },
        }
    }

    fn option(&mut self, word: &str) {
        let (start, terms) = (&mut self.start, &mut self.terms);
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        let ms = || Duration::from_millis(value.parse().unwrap());
        match name {
            "v5" => terms.version = Version::V5,
            "v6" => terms.version = Version::V6,
            "v7" => terms.version = Version::V7,
            "request-response" => terms.bidirectional = false,
            "key" => start.target.key = Some(value.to_owned()),
            "id" => start.invocation = value.parse().unwrap(),
            "seed" => start.random_seed = value.parse().unwrap(),
            "unchanged" => start.last_stored_at = Timestamp(START_MS - ms().as_millis() as u64),
            "retries" => start.retry_count_since_last_stored_entry = value.parse().unwrap(),
            "idempotency" => start.idempotency_key = Some(value.to_owned()),
            "partial" => start.partial_state = true,
            "state" => {
                let (name, value) = value.split_once(':').unwrap();
                start.state.push((name.to_owned().into(), value.to_owned().into()));
            }
            "inactivity" => terms.options.inactivity_timeout = ms(),
            "abort" => terms.options.abort_timeout = ms(),
            "message-max" => terms.options.message_bytes_max = value.parse().unwrap(),
            _ => panic!("no option `{word}`"),
        }
    }

    pub fn entry(&mut self, frame: &str) {
        let index = self.start.entries.len() as u32;
        self.start.entries.push(entry(index, frame));
    }
}

fn entry(index: u32, frame: &str) -> Entry {
    let [frame] = frames(frame).try_into().expect("one frame");
    let Frame { ty, payload, .. } = frame;
    Entry { index, ty, payload, appended_at: Timestamp(START_MS) }
}

/// A conversation under way.
struct Run {
    attempt: Attempt,
    now: Timestamp,
    polled: VecDeque<Output>,
    text: String,
}

impl Run {
    fn new(mut opening: Opening) -> Run {
        if opening.start.entries.is_empty() {
            opening.entry("Input{14:{}}");
        }
        let now = Timestamp(START_MS);
        let attempt = Attempt::new(now, opening.start, opening.terms);
        let mut run = Run { attempt, now, polled: VecDeque::new(), text: String::new() };
        writeln!(run.text, "open").unwrap();
        run.poll();
        run
    }

    fn line(&mut self, line: &str) {
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        if verb == "sends" {
            return self.expect_sent(rest);
        }
        self.show_polled();
        writeln!(self.text, "{}", line.chars().take(88).collect::<String>()).unwrap();
        self.input(verb, rest);
        self.poll();
    }

    fn input(&mut self, verb: &str, rest: &str) {
        let now = self.now;
        match verb {
            "head" => self.head(rest),
            "chunk" => {
                let frames = frames(rest).iter().map(Frame::encode).collect::<Vec<_>>();
                self.attempt.handle_chunk(now, frames.concat().into());
            }
            "raw" => self.attempt.handle_chunk(now, hex(rest)),
            "stored" => {
                let (index, frame) = rest.split_once(' ').unwrap();
                self.attempt.handle_stored(now, entry(index.parse().unwrap(), frame));
            }
            "end" => self.attempt.handle_response_end(now),
            "broken" => self.attempt.handle_broken(now, rest),
            "suspend" => self.attempt.handle_suspend(now),
            "abort" => self.attempt.handle_abort(now),
            "wait" => self.now = now.plus(Duration::from_millis(rest.parse().unwrap())),
            "deadline" => self.pass_deadline(),
            _ => panic!("no input `{verb}`"),
        }
    }

    fn head(&mut self, rest: &str) {
        let (head, retry_after) = match rest.split_once(" ; ") {
            Some((head, retry_after)) => (head, Some(retry_after)),
            None => (rest, None),
        };
        let (status, content_type) = match head.split_once(' ') {
            Some((status, "-")) => (status, None),
            Some((status, content_type)) => (status, Some(content_type)),
            None => (head, Some(self.attempt.request_head().content_type)),
        };
        let status = status.parse().unwrap();
        self.attempt.handle_response_head(self.now, status, content_type, retry_after);
    }

    fn pass_deadline(&mut self) {
        let Some(deadline) = self.attempt.deadline() else {
            return writeln!(self.text, "    there is none").unwrap();
        };
        writeln!(self.text, "    after {} ms", deadline.since(self.now).as_millis()).unwrap();
        self.now = deadline;
        self.attempt.handle_deadline(deadline);
    }

    fn poll(&mut self) {
        self.polled.extend(std::iter::from_fn(|| self.attempt.poll()));
    }

    fn expect_sent(&mut self, expected: &str) {
        let Some(Output::Send(pieces)) = self.polled.pop_front() else {
            panic!("nothing was sent where `{expected}` was expected\n{}", self.text);
        };
        let expected = frames(expected).iter().map(Frame::encode).collect::<Vec<_>>().concat();
        let (sent, expected) = (show_frames(&pieces.concat()), show_frames(&expected));
        assert_eq!(sent, expected, "after\n{}", self.text);
        let names = sent.lines().map(|line| line.split(' ').next().unwrap());
        writeln!(self.text, "    sends {}", names.collect::<Vec<_>>().join(", ")).unwrap();
    }

    fn show_polled(&mut self) {
        for output in std::mem::take(&mut self.polled) {
            show(&mut self.text, output);
        }
    }
}

fn show(text: &mut String, output: Output) {
    match output {
        Output::Send(pieces) => {
            for line in show_frames(&pieces.concat()).lines() {
                writeln!(text, "    send {line}").unwrap();
            }
        }
        Output::HalfClose => writeln!(text, "    half-close").unwrap(),
        Output::Say { said, end } => {
            writeln!(text, "    say").unwrap();
            said.iter().for_each(|said| writeln!(text, "      {}", show_said(said)).unwrap());
            end.iter().for_each(|end| writeln!(text, "      {}", show_end(end)).unwrap());
        }
        Output::AwaitingOn(awaiting) => {
            writeln!(text, "    awaiting {}", show_awaiting(&awaiting)).unwrap();
        }
        Output::Note(note) => writeln!(text, "    note: {note}").unwrap(),
        Output::Reset => writeln!(text, "    reset").unwrap(),
        Output::Finished => writeln!(text, "    finished").unwrap(),
    }
}

fn show_said(said: &Said) -> String {
    match said {
        Said::Command { ty, payload, callee } => {
            let callee = callee.as_ref().map(|callee| format!(" -> {}", callee.ty));
            format!("{} {payload:x}{}", ty.name(), callee.unwrap_or_default())
        }
        Said::RunCompletion { completion, payload } => {
            format!("result of {completion} {payload:x}")
        }
    }
}

fn show_end(end: &AttemptEnd) -> String {
    let failed = match end {
        AttemptEnd::Completed => return "completed".to_owned(),
        AttemptEnd::Suspended(awaiting) => return format!("suspended {}", show_awaiting(awaiting)),
        AttemptEnd::Unstarted => return "unstarted".to_owned(),
        AttemptEnd::Failed(failed) => failed,
    };
    let AttemptFailure { code, message, stacktrace, doc_code, related } = &failed.failure;
    let mut text = format!("failed {code}");
    doc_code.iter().for_each(|doc_code| write!(text, " {doc_code}").unwrap());
    write!(text, " {:?}", failed.reaction).unwrap();
    if !failed.counts_for_entry {
        text.push_str(" (does not count)");
    }
    if let Some(RelatedCommand { index, name, ty }) = related {
        write!(text, " at {index:?} {name:?} {ty:?}").unwrap();
    }
    write!(text, ": {message}").unwrap();
    if !stacktrace.is_empty() {
        write!(text, " [{stacktrace}]").unwrap();
    }
    text
}

fn show_awaiting(awaiting: &Awaiting) -> String {
    let completions = awaiting.completions.iter().map(|id| id.to_string());
    let signals = awaiting.signals.iter().map(|signal| match signal {
        SignalName::Index(index) => format!("signal {index}"),
        SignalName::Name(name) => format!("signal `{name}`"),
    });
    let nested = awaiting.nested.iter().map(show_awaiting);
    let children = completions.chain(signals).chain(nested).collect::<Vec<_>>().join(", ");
    format!("{:?}({children})", awaiting.combinator)
}
