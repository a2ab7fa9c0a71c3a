//! Calls of other handlers, and of what became of them.

use super::durable::{Durable, Durably, Owner, read_invocation, read_optional, read_value};
use super::kinds::Context;
use super::time::after;
use crate::attempt::{At, CODE_INTERNAL, Failed, Leaf};
use crate::error::Terminal;
use crate::request::Request;
use holdfast_wire::message::pb;
use serde::de::DeserializeOwned;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

impl Context {
    /// Calls a handler, and awaits its result.
    ///
    /// The call is made at once, so that several can run at the same time. The callee runs once,
    /// whatever happens to the caller. It is cancelled along with the caller.
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// # struct Greeter;
    /// # #[service]
    /// # impl Greeter {
    /// #     async fn greet(&self, _ctx: &Context, name: String) -> Result<String> { Ok(name) }
    /// # }
    /// async fn greet_both(ctx: &Context) -> Result<String> {
    ///     let ada = ctx.call(GreeterClient::greet("Ada".to_owned()));
    ///     let bob = ctx.call(GreeterClient::greet("Bob".to_owned()));
    ///     Ok(format!("{} {}", ada.await?, bob.await?))
    /// }
    /// ```
    #[track_caller]
    #[must_use = "await it to get the result, or use `send` to wait for none"]
    pub fn call<T: DeserializeOwned>(&self, request: Request<T>) -> Call<'_, T> {
        let at = Location::caller();
        let target = self.target(request, at);
        let (invocation, result) = self.shared.act(|attempt| attempt.call(target, at));
        Call { context: self, invocation, at, result: Durable::new(self, result, at, read_value) }
    }

    /// Calls a handler without waiting for it. Await the answer to learn the id of its invocation.
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// # struct Greeter;
    /// # #[service]
    /// # impl Greeter {
    /// #     async fn greet(&self, _ctx: &Context, name: String) -> Result<String> { Ok(name) }
    /// # }
    /// async fn fire_and_forget(ctx: &Context) {
    ///     ctx.send(GreeterClient::greet("Ada".to_owned()));
    /// }
    /// ```
    #[track_caller]
    pub fn send<T>(&self, request: Request<T>) -> Sent<'_> {
        self.send_at(request, 0)
    }

    /// Calls a handler after a while, without waiting for it.
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// # use std::time::Duration;
    /// # struct Greeter;
    /// # #[service]
    /// # impl Greeter {
    /// #     async fn greet(&self, _ctx: &Context, name: String) -> Result<String> { Ok(name) }
    /// # }
    /// async fn greet_tomorrow(ctx: &Context) -> Result<String> {
    ///     let tomorrow = Duration::from_secs(24 * 3600);
    ///     Ok(ctx.send_after(tomorrow, GreeterClient::greet("Ada".to_owned())).await?)
    /// }
    /// ```
    #[track_caller]
    pub fn send_after<T>(&self, delay: Duration, request: Request<T>) -> Sent<'_> {
        self.send_at(request, after(delay))
    }

    #[track_caller]
    fn send_at<T>(&self, request: Request<T>, time_ms: u64) -> Sent<'_> {
        let at = Location::caller();
        let target = self.target(request, at);
        let leaf = self.shared.act(|attempt| attempt.send(target, time_ms, at));
        Sent(Durable::new(self, leaf, at, read_invocation))
    }

    /// Awaits the result of an invocation that is under way or done.
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// async fn join(ctx: &Context, invocation: String) -> Result<String> {
    ///     Ok(ctx.attach(&invocation).await?)
    /// }
    /// ```
    #[track_caller]
    #[must_use = "await it to get the result"]
    pub fn attach<T: DeserializeOwned>(&self, invocation: &str) -> Durable<'_, T> {
        let at = Location::caller();
        let target = pb::attach_invocation_command::Target::InvocationId(invocation.to_owned());
        let leaf = self.shared.act(|attempt| attempt.attach(target, at));
        Durable::new(self, leaf, at, read_value)
    }

    /// The result of an invocation, if it is done.
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// async fn is_done(ctx: &Context, invocation: String) -> Result<bool> {
    ///     Ok(ctx.output_of::<String>(&invocation).await?.is_some())
    /// }
    /// ```
    #[track_caller]
    #[must_use = "await it to get the result"]
    pub fn output_of<T: DeserializeOwned>(&self, invocation: &str) -> Durable<'_, Option<T>> {
        let at = Location::caller();
        let target = pb::get_invocation_output_command::Target::InvocationId(invocation.to_owned());
        let leaf = self.shared.act(|attempt| attempt.output_of(target, at));
        Durable::new(self, leaf, at, read_optional)
    }

    /// Cancels an invocation: its current await fails, so that it can undo what it did.
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// async fn enough(ctx: &Context, invocation: String) {
    ///     ctx.cancel(&invocation);
    /// }
    /// ```
    #[track_caller]
    pub fn cancel(&self, invocation: &str) {
        let at = Location::caller();
        self.shared.act(|attempt| attempt.cancel(invocation, at));
    }

    /// What is called; an input that cannot be written fails the attempt.
    fn target<T>(&self, request: Request<T>, at: At) -> crate::attempt::Target {
        let (target, error) = request.into_parts();
        if let Some(error) = error {
            let (service, handler) = (&target.service, &target.handler);
            let message = format!("input of `{service}/{handler}` at {at}: {error}");
            self.shared.fail(Failed::new(CODE_INTERNAL, message));
        }
        target
    }
}

/// A call under way: await it for the result.
///
/// ```
/// # use holdfast_sdk::prelude::*;
/// # struct Greeter;
/// # #[service]
/// # impl Greeter {
/// #     async fn greet(&self, _ctx: &Context, name: String) -> Result<String> { Ok(name) }
/// # }
/// async fn greet(ctx: &Context) -> Result<String> {
///     let call: holdfast_sdk::Call<'_, String> = ctx.call(GreeterClient::greet("Ada".to_owned()));
///     println!("runs as {}", call.invocation_id().await?);
///     Ok(call.await?)
/// }
/// ```
pub struct Call<'a, T> {
    context: &'a Context,
    invocation: Leaf,
    at: At,
    result: Durable<'a, T>,
}

impl<'a, T> Call<'a, T> {
    /// The id of the invocation that was begun.
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// async fn who(call: &holdfast_sdk::Call<'_, String>) -> Result<String> {
    ///     Ok(call.invocation_id().await?)
    /// }
    /// ```
    #[must_use = "await it to get the id"]
    pub fn invocation_id(&self) -> Durable<'a, String> {
        Durable::new(self.context, self.invocation.clone(), self.at, read_invocation)
    }

    /// Cancels it; awaiting it afterwards shows how it ended.
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// async fn enough(call: holdfast_sdk::Call<'_, String>) -> Result<()> {
    ///     call.cancel().await?;
    ///     let _cancelled = call.await;
    ///     Ok(())
    /// }
    /// ```
    #[track_caller]
    pub fn cancel(&self) -> impl Future<Output = Result<(), Terminal>> + Send + use<'a, T> {
        let (context, id, at) = (self.context, self.invocation_id(), Location::caller());
        async move {
            let id = id.await?;
            context.shared.act(|attempt| attempt.cancel(&id, at));
            Ok(())
        }
    }
}

impl<T> Future for Call<'_, T> {
    type Output = Result<T, Terminal>;

    fn poll(self: Pin<&mut Self>, task: &mut std::task::Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.get_mut().result).poll(task)
    }
}

impl<T> Durably for Call<'_, T> {
    type Ok = T;

    fn belongs_to(&self) -> Option<Owner> {
        self.result.belongs_to()
    }
}

/// A call that nobody waits for. Await it for the id of its invocation, or drop it.
///
/// ```
/// # use holdfast_sdk::prelude::*;
/// async fn id(sent: holdfast_sdk::Sent<'_>) -> Result<String> {
///     Ok(sent.await?)
/// }
/// ```
pub struct Sent<'a>(Durable<'a, String>);

impl Future for Sent<'_> {
    type Output = Result<String, Terminal>;

    fn poll(self: Pin<&mut Self>, task: &mut std::task::Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.get_mut().0).poll(task)
    }
}

impl Durably for Sent<'_> {
    type Ok = String;

    fn belongs_to(&self) -> Option<Owner> {
        self.0.belongs_to()
    }
}
