//! The kinds of contexts: what a handler is decides what it may do.

use super::shared::Shared;
use std::ops::Deref;
use std::sync::Arc;

/// The context of a handler of a service; every other context leads to it.
///
/// ```
/// # use holdfast_sdk::prelude::*;
/// struct Greeter;
///
/// #[service]
/// impl Greeter {
///     async fn greet(&self, ctx: &Context, name: String) -> Result<String> {
///         let sent = ctx.run("send", async || Ok(format!("Hello {name}"))).await?;
///         Ok(sent)
///     }
/// }
/// ```
pub struct Context {
    pub(crate) shared: Arc<Shared>,
}

/// The context of a shared handler of an object: state can be read.
///
/// ```
/// # use holdfast_sdk::prelude::*;
/// struct Counter;
///
/// #[object]
/// impl Counter {
///     async fn total(&self, ctx: &SharedObjectContext) -> Result<i64> {
///         Ok(ctx.get("total").await?.unwrap_or(0))
///     }
/// }
/// ```
///
/// Writing does not compile:
///
/// ```compile_fail,E0599
/// # use holdfast_sdk::prelude::*;
/// fn write(ctx: &SharedObjectContext) {
///     ctx.set("total", &7);
/// }
/// ```
pub struct SharedObjectContext {
    context: Context,
}

/// The context of an exclusive handler of an object: state can be read and written, and no other
/// exclusive handler of the same key runs meanwhile.
///
/// ```
/// # use holdfast_sdk::prelude::*;
/// struct Counter;
///
/// #[object]
/// impl Counter {
///     async fn add(&self, ctx: &ObjectContext, more: i64) -> Result<i64> {
///         let total = ctx.get("total").await?.unwrap_or(0) + more;
///         ctx.set("total", &total);
///         Ok(total)
///     }
/// }
/// ```
pub struct ObjectContext {
    shared: SharedObjectContext,
}

/// The context of handlers of a workflow beside its run: promises, and state to read.
///
/// ```
/// # use holdfast_sdk::prelude::*;
/// # struct Signup;
/// # #[workflow]
/// # impl Signup {
/// # async fn run(&self, ctx: &WorkflowContext) -> Result<String> {
/// #     Ok(ctx.promise("confirmed").await?)
/// # }
/// async fn confirm(&self, ctx: &SharedWorkflowContext, code: String) -> Result<()> {
///     Ok(ctx.resolve_promise("confirmed", &code).await?)
/// }
/// # }
/// ```
pub struct SharedWorkflowContext {
    shared: SharedObjectContext,
}

/// The context of the run of a workflow: promises, and state to read and write.
///
/// ```
/// # use holdfast_sdk::prelude::*;
/// struct Signup;
///
/// #[workflow]
/// impl Signup {
///     async fn run(&self, ctx: &WorkflowContext, email: String) -> Result<String> {
///         ctx.set("email", &email);
///         Ok(ctx.promise("confirmed").await?)
///     }
/// }
/// ```
pub struct WorkflowContext {
    shared: SharedWorkflowContext,
}

impl Context {
    pub(crate) fn new(shared: Arc<Shared>) -> Context {
        Context { shared }
    }
}

/// How the code of the macros gets the context that a handler asks for.
#[doc(hidden)]
pub trait FromContext {
    fn from_context(context: Context) -> Self;
}

impl FromContext for Context {
    fn from_context(context: Context) -> Context {
        context
    }
}

impl FromContext for SharedObjectContext {
    fn from_context(context: Context) -> SharedObjectContext {
        SharedObjectContext { context }
    }
}

impl FromContext for ObjectContext {
    fn from_context(context: Context) -> ObjectContext {
        ObjectContext { shared: SharedObjectContext { context } }
    }
}

impl FromContext for SharedWorkflowContext {
    fn from_context(context: Context) -> SharedWorkflowContext {
        SharedWorkflowContext { shared: SharedObjectContext { context } }
    }
}

impl FromContext for WorkflowContext {
    fn from_context(context: Context) -> WorkflowContext {
        WorkflowContext { shared: SharedWorkflowContext::from_context(context) }
    }
}

impl Deref for SharedObjectContext {
    type Target = Context;

    fn deref(&self) -> &Context {
        &self.context
    }
}

impl Deref for ObjectContext {
    type Target = SharedObjectContext;

    fn deref(&self) -> &SharedObjectContext {
        &self.shared
    }
}

impl Deref for SharedWorkflowContext {
    type Target = SharedObjectContext;

    fn deref(&self) -> &SharedObjectContext {
        &self.shared
    }
}

impl Deref for WorkflowContext {
    type Target = SharedWorkflowContext;

    fn deref(&self) -> &SharedWorkflowContext {
        &self.shared
    }
}
