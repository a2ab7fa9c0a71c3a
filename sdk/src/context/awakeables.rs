//! Being woken from outside: awakeables by their id, signals by name.

use super::durable::{Durable, read_value};
use super::kinds::Context;
use crate::attempt::{CODE_INTERNAL, Failed, Leaf};
use crate::error::Terminal;
use crate::payload;
use bytes::Bytes;
use holdfast_wire::message::pb;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::panic::Location;

impl Context {
    /// Something to be completed by someone else: give the id away, await the future.
    ///
    /// It is completed with `POST /restate/awakeables/{id}/resolve` at the ingress, by
    /// [`Context::resolve_awakeable`] in any other handler, or by [`Ingress`](crate::Ingress).
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// async fn wait_for_scan(ctx: &Context) -> Result<String> {
    ///     let (id, scan) = ctx.awakeable::<String>();
    ///     ctx.run("ask for a scan", async || { println!("send it to {id}"); Ok(()) }).await?;
    ///     Ok(scan.await?)
    /// }
    /// ```
    #[track_caller]
    pub fn awakeable<T: DeserializeOwned>(&self) -> (String, Durable<'_, T>) {
        let at = Location::caller();
        self.forbid_inside_of_steps("awakeables");
        let id = &self.shared.facts().id;
        let (id, leaf) = self.shared.attempt().awakeable(id);
        (id, Durable::new(self, leaf, at, read_value))
    }

    /// Completes an awakeable of any invocation.
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// async fn scanned(ctx: &Context, id: String) {
    ///     ctx.resolve_awakeable(&id, "a scan");
    /// }
    /// ```
    #[track_caller]
    pub fn resolve_awakeable<T: Serialize + ?Sized>(&self, id: &str, value: &T) {
        let at = Location::caller();
        if let Some(value) = self.encoded("an awakeable", value) {
            self.shared.act(|attempt| attempt.complete_awakeable(id, Ok(value), at));
        }
    }

    /// Lets the awaiting of an awakeable fail.
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// async fn refuse(ctx: &Context, id: String) {
    ///     ctx.reject_awakeable(&id, Terminal::new("not readable"));
    /// }
    /// ```
    #[track_caller]
    pub fn reject_awakeable(&self, id: &str, failure: Terminal) {
        let at = Location::caller();
        let failure = failure.into_failure();
        self.shared.act(|attempt| attempt.complete_awakeable(id, Err(failure), at));
    }

    /// The next signal of that name which is sent to this invocation. Signals that came before
    /// anybody waited are kept; each is given once, in their order.
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// async fn until_told(ctx: &Context) -> Result<String> {
    ///     Ok(ctx.signal("stop").await?)
    /// }
    /// ```
    #[track_caller]
    #[must_use = "await it to get the signal"]
    pub fn signal<T: DeserializeOwned>(&self, name: &str) -> Durable<'_, T> {
        let at = Location::caller();
        Durable::new(self, Leaf::Named(name.into()), at, read_value)
    }

    /// Sends a signal to an invocation.
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// async fn stop(ctx: &Context, invocation: String) {
    ///     ctx.send_signal(&invocation, "stop", "it is enough");
    /// }
    /// ```
    #[track_caller]
    pub fn send_signal<T: Serialize + ?Sized>(&self, invocation: &str, name: &str, value: &T) {
        let at = Location::caller();
        if let Some(value) = self.encoded("a signal", value) {
            self.shared.act(|attempt| attempt.send_signal(invocation, name, Ok(value), at));
        }
    }

    /// Lets the awaiting of a signal fail.
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// async fn abort(ctx: &Context, invocation: String) {
    ///     ctx.send_failure(&invocation, "stop", Terminal::new("something is wrong"));
    /// }
    /// ```
    #[track_caller]
    pub fn send_failure(&self, invocation: &str, name: &str, failure: Terminal) {
        let at = Location::caller();
        let failure: pb::Failure = failure.into_failure();
        self.shared.act(|attempt| attempt.send_signal(invocation, name, Err(failure), at));
    }

    /// The bytes of a value; if it has none the attempt fails.
    #[track_caller]
    pub(super) fn encoded<T: Serialize + ?Sized>(&self, what: &str, value: &T) -> Option<Bytes> {
        let at = Location::caller();
        match payload::encode(value) {
            Ok(encoded) => Some(encoded.bytes),
            Err(error) => {
                let message = format!("value of {what} at {at}: {error}");
                self.shared.fail(Failed::new(CODE_INTERNAL, message));
                None
            }
        }
    }
}
