//! State of an object or workflow: values by name, as durable as the journal.

use super::durable::{Durable, read_keys, read_optional};
use super::kinds::{ObjectContext, SharedObjectContext, WorkflowContext};
use crate::attempt::{CODE_INTERNAL, Failed, Got, GotKeys};
use crate::payload;
use bytes::Bytes;
use holdfast_wire::message::pb::notification::Result as Outcome;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::panic::Location;

impl SharedObjectContext {
    /// The value under a name, if there is one.
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// async fn seats(ctx: &SharedObjectContext) -> Result<u32> {
    ///     Ok(ctx.get("seats").await?.unwrap_or(0))
    /// }
    /// ```
    #[track_caller]
    #[must_use = "await it to get the value"]
    pub fn get<T: DeserializeOwned>(&self, name: &str) -> Durable<'_, Option<T>> {
        let at = Location::caller();
        let key = Bytes::copy_from_slice(name.as_bytes());
        match self.shared.act(|attempt| attempt.get_state(key, at)) {
            Got::Later(leaf) => Durable::new(self, leaf, at, read_optional),
            Got::Now(value) => {
                let outcome = value.map_or_else(Outcome::void, Outcome::value);
                Durable::now(self, outcome, at, read_optional)
            }
        }
    }

    /// The names under which there are values, in order.
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// async fn is_empty(ctx: &SharedObjectContext) -> Result<bool> {
    ///     Ok(ctx.keys().await?.is_empty())
    /// }
    /// ```
    #[track_caller]
    #[must_use = "await it to get the names"]
    pub fn keys(&self) -> Durable<'_, Vec<String>> {
        let at = Location::caller();
        match self.shared.act(|attempt| attempt.state_keys(at)) {
            GotKeys::Later(leaf) => Durable::new(self, leaf, at, read_keys),
            GotKeys::Now(keys) => Durable::now(self, Outcome::state_keys(keys), at, read_keys),
        }
    }

    #[track_caller]
    fn write<T: Serialize + ?Sized>(&self, name: &str, value: &T) {
        let at = Location::caller();
        match payload::encode(value) {
            Ok(value) => {
                let key = Bytes::copy_from_slice(name.as_bytes());
                self.shared.act(|attempt| attempt.set_state(key, value.bytes, at));
            }
            Err(error) => {
                let message = format!("state `{name}` set at {at}: {error}");
                self.shared.fail(Failed::new(CODE_INTERNAL, message));
            }
        }
    }

    #[track_caller]
    fn erase(&self, name: &str) {
        let at = Location::caller();
        let key = Bytes::copy_from_slice(name.as_bytes());
        self.shared.act(|attempt| attempt.clear_state(key, at));
    }

    #[track_caller]
    fn erase_all(&self) {
        let at = Location::caller();
        self.shared.act(|attempt| attempt.clear_all_state(at));
    }
}

/// The same three for the two contexts that may write.
macro_rules! writable {
    ($context:ident) => {
        impl $context {
            /// Sets the value under a name. A value that cannot be written fails the attempt.
            ///
            /// ```
            /// # use holdfast_sdk::prelude::*;
            #[doc = concat!("async fn begin(ctx: &", stringify!($context), ") {")]
            ///     ctx.set("step", "begun");
            /// }
            /// ```
            #[track_caller]
            pub fn set<T: Serialize + ?Sized>(&self, name: &str, value: &T) {
                self.write(name, value);
            }

            /// Removes the value under a name.
            ///
            /// ```
            /// # use holdfast_sdk::prelude::*;
            #[doc = concat!("async fn reset(ctx: &", stringify!($context), ") {")]
            ///     ctx.clear("step");
            /// }
            /// ```
            #[track_caller]
            pub fn clear(&self, name: &str) {
                self.erase(name);
            }

            /// Removes all values of this key.
            ///
            /// ```
            /// # use holdfast_sdk::prelude::*;
            #[doc = concat!("async fn forget(ctx: &", stringify!($context), ") {")]
            ///     ctx.clear_all();
            /// }
            /// ```
            #[track_caller]
            pub fn clear_all(&self) {
                self.erase_all();
            }
        }
    };
}

writable!(ObjectContext);
writable!(WorkflowContext);
