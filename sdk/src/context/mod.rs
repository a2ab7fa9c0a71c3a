//! What a handler holds in its hand: the context, by which everything durable happens.
//!
//! There is one type for each kind of handler, so that what a handler must not do does not compile.
//! All lead to [`Context`] by dereference, and functions that take `&Context` take any of them.

mod awakeables;
mod calls;
mod combine;
mod durable;
mod facts;
mod human;
mod kinds;
mod promises;
mod saga;
mod shared;
mod state;
mod step;
mod time;

pub use calls::{Call, Sent};
pub use combine::{
    FirstOk, JoinAll, OrTimeout, Race, TryJoinAll, Unordered, first_ok, join_all, race,
    try_join_all, unordered,
};
pub use durable::{BoxDurable, Durable, Durably, MapOk};
pub use human::{Answer, Artifact, Ask};
#[doc(hidden)]
pub use kinds::FromContext;
pub use kinds::{
    Context, ObjectContext, SharedObjectContext, SharedWorkflowContext, WorkflowContext,
};
pub(crate) use shared::{Facts, Shared};
pub use step::{Run, Unrecorded};
pub(crate) use time::millis;
