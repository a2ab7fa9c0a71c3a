//! Everything the machine wants done outside. An effect is a hint: lost, it is derived again from
//! the table it names; received twice, it changes nothing.

use crate::{command::Reply, id::InvocationId, id::PartitionId, model::*, time::Timestamp};
use bytes::Bytes;

#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Start attempt number `attempt`. Derived again from invocation rows in `Status::Running`.
    Invoke { invocation: InvocationId, attempt: u32 },
    /// A notification was appended while attempt `attempt` may be live. Derived again from the
    /// journal, which every attempt replays.
    Notify { invocation: InvocationId, attempt: u32, entry: Entry },
    /// Attempt `attempt` should suspend as soon as it can (pause). Derived again from the
    /// invocation row's wish to pause.
    Suspend { invocation: InvocationId, attempt: u32 },
    /// Attempt `attempt` is void: cut it off. Nothing to derive: a restart cuts off all attempts.
    Abort { invocation: InvocationId, attempt: u32 },
    /// The answer to the command that is being applied. Lost with the connection that asked.
    Reply(Reply),
    /// An invocation ended; whoever waits for it is told. Derived again from its row by `Attach`.
    Ended { invocation: InvocationId, outcome: Outcome, expires_at: Option<Timestamp> },
    /// A timer row with this due time was written. Derived again from the timer table.
    WakeAt(Timestamp),
    /// A notice was written, and perhaps more behind it. Derived again from the notice table.
    Notice { sequence: u64 },
    /// Rows of a task's feed were written, the last one `sequence`. Derived again from the feed, by
    /// whoever reads on.
    Told { task: InvocationId, sequence: u64 },
    /// Events were queued for receivers, and perhaps more behind the first. Derived again from the
    /// push table.
    Push { sequence: u64 },
    /// An outbox row to another partition. Derived again from the outbox table.
    Send { to: PartitionId, sequence: u64, message: Bytes },
}
