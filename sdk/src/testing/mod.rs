//! Tests of handlers without a sidecar, and a proof that they are deterministic.
//!
//! A [`Double`] plays the sidecar in this process: it keeps journals, state, promises and timers,
//! and calls handlers again with their journals. Its time is its own: when nothing else can
//! happen, the next timer goes off at once.
//!
//! ```
//! use holdfast_sdk::prelude::*;
//! use holdfast_sdk::testing::Double;
//! use std::time::Duration;
//!
//! struct Reminder;
//!
//! #[service]
//! impl Reminder {
//!     async fn remind(&self, ctx: &Context, name: String) -> Result<String> {
//!         ctx.sleep(Duration::from_secs(7 * 24 * 3600)).await?;
//!         Ok(ctx.run("send", async || Ok(format!("dear {name}"))).await?)
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let double = Double::new(Endpoint::builder().bind(Reminder).build());
//! assert_eq!(double.call(ReminderClient::remind("Ada")).await.unwrap(), "dear Ada");
//! double.prove(|| ReminderClient::remind("Ada")).await; // crashes it everywhere
//! # }
//! ```

mod effects;
mod invocation;
mod world;

use crate::attempt::{Target, payloads_agree};
use crate::endpoint::Endpoint;
use crate::error::Terminal;
use crate::payload;
use crate::request::Request;
use bytes::Bytes;
use holdfast_wire::message::pb;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;
use world::{Finished, World};

/// A sidecar for tests.
///
/// ```
/// # use holdfast_sdk::Endpoint;
/// use holdfast_sdk::testing::Double;
/// let double = Double::new(Endpoint::builder().build());
/// # let _ = double;
/// ```
pub struct Double {
    endpoint: Endpoint,
    script: Script,
}

/// What a test prepared.
#[derive(Clone, Default)]
struct Script {
    /// Service, key, name, value.
    state: Vec<(String, String, Bytes, Bytes)>,
    /// What comes from outside, in this order, each when nothing else can happen.
    events: Vec<Event>,
    answers: HashMap<(String, String), Answering>,
}

/// Answers in place of a handler.
type Answering = Arc<dyn Fn(Value) -> Result<Value, Terminal> + Send + Sync>;

/// Something that comes from outside.
#[derive(Clone)]
enum Event {
    /// For the awakeable that is waited for.
    Awakeable(Result<Bytes, pb::Failure>),
    /// For the invocation that was called first.
    Signal(String, Bytes),
    Cancel,
}

/// How a proof went.
///
/// ```
/// # use holdfast_sdk::prelude::*;
/// # struct Greeter;
/// # #[service]
/// # impl Greeter {
/// #     async fn greet(&self, _ctx: &Context, name: String) -> Result<String> { Ok(name) }
/// # }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// # let double = holdfast_sdk::testing::Double::new(Endpoint::builder().bind(Greeter).build());
/// let proof = double.prove(|| GreeterClient::greet("Ada")).await;
/// assert_eq!(proof.crashes, 2); // after its input and after its output
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proof {
    /// At how many entries of a journal something was crashed.
    pub crashes: u32,
}

impl Double {
    /// Plays the sidecar of an endpoint.
    ///
    /// ```
    /// # use holdfast_sdk::{Endpoint, testing::Double};
    /// let double = Double::new(Endpoint::builder().build());
    /// # let _ = double;
    /// ```
    #[must_use]
    pub fn new(endpoint: Endpoint) -> Double {
        Double { endpoint, script: Script::default() }
    }

    /// State that is there before.
    ///
    /// ```
    /// # use holdfast_sdk::{Endpoint, testing::Double};
    /// let double = Double::new(Endpoint::builder().build()).state("Counter", "k", "total", &7);
    /// # let _ = double;
    /// ```
    ///
    /// # Panics
    /// When the value cannot be written.
    #[must_use]
    pub fn state<T: Serialize + ?Sized>(
        mut self,
        service: &str,
        key: &str,
        name: &str,
        value: &T,
    ) -> Double {
        let (service, key) = (service.to_owned(), key.to_owned());
        self.script.state.push((service, key, name.to_owned().into(), bytes_of(value)));
        self
    }

    /// Completes the awakeable that a handler waits for, when nothing else can happen. Several come
    /// in the order in which they are said, with [`Double::signal`] and [`Double::cancel`].
    ///
    /// ```
    /// # use holdfast_sdk::{Endpoint, testing::Double};
    /// let double = Double::new(Endpoint::builder().build()).awakeable("approved");
    /// # let _ = double;
    /// ```
    ///
    /// # Panics
    /// When the value cannot be written.
    #[must_use]
    pub fn awakeable<T: Serialize + ?Sized>(mut self, value: &T) -> Double {
        self.script.events.push(Event::Awakeable(Ok(bytes_of(value))));
        self
    }

    /// Lets the awakeable that a handler waits for fail.
    ///
    /// ```
    /// # use holdfast_sdk::{Endpoint, Terminal, testing::Double};
    /// let double = Double::new(Endpoint::builder().build()).no_awakeable(Terminal::new("no"));
    /// # let _ = double;
    /// ```
    #[must_use]
    pub fn no_awakeable(mut self, failure: Terminal) -> Double {
        self.script.events.push(Event::Awakeable(Err(failure.into_failure())));
        self
    }

    /// Sends a signal to the invocation that is called.
    ///
    /// ```
    /// # use holdfast_sdk::{Endpoint, testing::Double};
    /// let double = Double::new(Endpoint::builder().build()).signal("stop", "now");
    /// # let _ = double;
    /// ```
    ///
    /// # Panics
    /// When the value cannot be written.
    #[must_use]
    pub fn signal<T: Serialize + ?Sized>(mut self, name: &str, value: &T) -> Double {
        self.script.events.push(Event::Signal(name.to_owned(), bytes_of(value)));
        self
    }

    /// Cancels the invocation that is called.
    ///
    /// ```
    /// # use holdfast_sdk::{Endpoint, testing::Double};
    /// let double = Double::new(Endpoint::builder().build()).cancel();
    /// # let _ = double;
    /// ```
    #[must_use]
    pub fn cancel(mut self) -> Double {
        self.script.events.push(Event::Cancel);
        self
    }

    /// Answers calls of a handler that is not part of the endpoint.
    ///
    /// ```
    /// # use holdfast_sdk::{Endpoint, testing::Double};
    /// use serde_json::json;
    /// let double = Double::new(Endpoint::builder().build())
    ///     .answer("holdfast.Human", "ask", |_| Ok(json!({"action": "accept", "content": {}})));
    /// # let _ = double;
    /// ```
    #[must_use]
    pub fn answer(
        mut self,
        service: &str,
        handler: &str,
        answer: impl Fn(Value) -> Result<Value, Terminal> + Send + Sync + 'static,
    ) -> Double {
        let target = (service.to_owned(), handler.to_owned());
        self.script.answers.insert(target, Arc::new(answer));
        self
    }

    /// Calls a handler, through to its end.
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// # struct Greeter;
    /// # #[service]
    /// # impl Greeter {
    /// #     async fn greet(&self, _ctx: &Context, name: String) -> Result<String> { Ok(name) }
    /// # }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// # let double = holdfast_sdk::testing::Double::new(Endpoint::builder().bind(Greeter).build());
    /// assert_eq!(double.call(GreeterClient::greet("Ada")).await.unwrap(), "Ada");
    /// # }
    /// ```
    ///
    /// # Errors
    /// The failure that the invocation ended with.
    ///
    /// # Panics
    /// When it does not come to its end: it contradicts its journal, fails again and again, or
    /// waits for something that nobody will do.
    pub async fn call<T: DeserializeOwned>(&self, request: Request<T>) -> Result<T, Terminal> {
        let finished = self.run(target_of(request), None, false).await;
        let outcome = finished.unwrap_or_else(|problem| panic!("{problem}")).outcome;
        let output = outcome.map_err(Terminal::from_failure)?;
        let output = payload::decode(&output);
        Ok(output.unwrap_or_else(|problem| panic!("the output of the handler: {problem}")))
    }

    /// Proves that a handler is deterministic, and all it calls: runs it once, then suspending it
    /// wherever it waits, then crashing it after each entry of each journal in turn. Every time
    /// the outcome and the state have to be the same.
    ///
    /// Steps are executed again and again, so let them do what a test may do; what they return is
    /// part of the outcome.
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// # struct Greeter;
    /// # #[service]
    /// # impl Greeter {
    /// #     async fn greet(&self, _ctx: &Context, name: String) -> Result<String> { Ok(name) }
    /// # }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// # let double = holdfast_sdk::testing::Double::new(Endpoint::builder().bind(Greeter).build());
    /// double.prove(|| GreeterClient::greet("Ada")).await;
    /// # }
    /// ```
    ///
    /// # Panics
    /// When it is not, with what differs and after which entry.
    pub async fn prove<T>(&self, request: impl Fn() -> Request<T>) -> Proof {
        let target = target_of(request());
        let run = |crash_after, suspending| self.run(target.clone(), crash_after, suspending);
        let plain = run(None, false).await.unwrap_or_else(|problem| panic!("{problem}"));
        let compare = |how: &str, other: Result<Finished, String>| {
            let problem = match other {
                Ok(other) => differs(&plain, &other),
                Err(problem) => Some(problem),
            };
            if let Some(problem) = problem {
                panic!("not deterministic, {how}: {problem}");
            }
        };
        compare("when it is suspended wherever it waits", run(None, true).await);
        for (at, entry) in plain.entries.iter().enumerate() {
            let crash_after = u32::try_from(at).unwrap_or(u32::MAX) + 1;
            let how = format!("when it crashes after {entry}");
            compare(&how, run(Some(crash_after), false).await);
        }
        Proof { crashes: u32::try_from(plain.entries.len()).unwrap_or(u32::MAX) }
    }

    async fn run(
        &self,
        target: Target,
        crash_after: Option<u32>,
        suspending: bool,
    ) -> Result<Finished, String> {
        let script = self.script.clone();
        let mut world = World::new(self.endpoint.clone(), script, crash_after, suspending);
        world.begin_first(target)?;
        std::future::poll_fn(|task| world.turn(task)).await
    }
}

/// What differs between two runs, if something does.
fn differs(plain: &Finished, other: &Finished) -> Option<String> {
    let show = |outcome: &Result<Bytes, pb::Failure>| match outcome {
        Ok(output) => format!("`{}`", String::from_utf8_lossy(output)),
        Err(failure) => format!("failure {} `{}`", failure.code, failure.message),
    };
    let same = match (&plain.outcome, &other.outcome) {
        (Ok(one), Ok(two)) => payloads_agree(one, two),
        (one, two) => one == two,
    };
    if !same {
        let (one, two) = (show(&plain.outcome), show(&other.outcome));
        return Some(format!("the outcome was {one}, and is {two}"));
    }
    let keys = plain.state.keys().chain(other.state.keys());
    let differing =
        keys.into_iter().find(|key| match (plain.state.get(*key), other.state.get(*key)) {
            (Some(one), Some(two)) => !payloads_agree(one, two),
            _ => true,
        });
    differing.map(|(service, key, name)| {
        format!("state `{}` of `{service}/{key}` differs", String::from_utf8_lossy(name))
    })
}

fn target_of<T>(request: Request<T>) -> Target {
    let (target, error) = request.into_parts();
    match error {
        None => target,
        Some(error) => panic!("the input of the request: {error}"),
    }
}

fn bytes_of<T: Serialize + ?Sized>(value: &T) -> Bytes {
    match payload::encode(value) {
        Ok(encoded) => encoded.bytes,
        Err(error) => panic!("a value of the test: {error}"),
    }
}
