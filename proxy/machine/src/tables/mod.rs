//! The tables: what the machine knows, as rows of an ordered map of bytes. One file for each
//! table, which begins with its layout and ends with the test that holds it. Never decides
//! anything; a row that this program cannot have written is a [`Fault`](crate::kv::Fault).
//!
//! A key is the table's byte, then the partition (u16), then the fields in scan order; numbers are
//! big-endian. A text that is followed by another field has its length (u32) before it; a last one
//! stands bare, so that it sorts by its bytes. A value is a protobuf message of
//! `proto/tables.proto`, or empty. The registry's tables belong to no partition.

#[cfg(test)]
mod arbitrary;
pub mod ask;
pub mod codec;
mod convert;
pub mod dedup;
pub mod event;
pub mod feed;
/// As generated, to the byte: included, so that no formatter rewrites it.
#[expect(clippy::large_enum_variant, reason = "generated; boxes would cost more than they save")]
pub(crate) mod generated {
    include!("generated.rs");
}
pub mod inbox;
pub mod invocation;
pub mod journal;
pub mod listing;
pub mod lock;
pub mod message;
pub mod notice;
pub mod notified;
pub mod outbox;
pub mod promise;
mod protobuf;
pub mod push;
pub mod push_config;
pub mod queue;
pub mod registry;
pub mod running;
pub mod schedule;
pub mod state;
pub mod task;
pub mod timer;

/// First byte of every key. A byte once given is never given again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum TableId {
    /// Deployments; the registry's.
    Deployment = b'D',
    /// Services; the registry's.
    Service = b'S',
    /// Questions to people.
    Ask = b'a',
    /// Which of them are open.
    AskOpen = b'b',
    /// What runs at which times.
    Schedule = b'c',
    /// The last message that came from each other partition.
    Dedup = b'd',
    /// Failed attempts and pauses.
    Event = b'e',
    /// What those who follow a task are told.
    Feed = b'f',
    /// The tasks of a principal.
    TaskListing = b'g',
    /// What somebody outside is to be told.
    Notice = b'h',
    /// One row for each invocation.
    Invocation = b'i',
    /// What invocations did.
    Journal = b'j',
    /// What is kept of a task beside its invocation.
    Task = b'k',
    /// Who holds an object key.
    Lock = b'l',
    /// Counters of the outbox, of notices and of pushes.
    Meta = b'm',
    /// Which notifications a journal holds.
    Notified = b'n',
    /// Promises of workflows.
    Promise = b'o',
    /// Where the feeds of tasks are sent.
    PushConfig = b'p',
    /// Who waits for an object key.
    Inbox = b'q',
    /// Invocations with an attempt under way.
    Running = b'r',
    /// State of objects and workflows.
    State = b's',
    /// What is to happen at a time.
    Timer = b't',
    /// Messages to tasks that may come again.
    TaskMessage = b'u',
    /// Events of feeds that are to be sent.
    Push = b'w',
    /// Messages to other partitions.
    Outbox = b'x',
    /// Where the ask with an id is.
    AskPlace = b'y',
}

/// What has rows for single invocations, which go when one is forgotten.
pub const INVOCATION_TABLES: [TableId; 13] = [
    TableId::Ask,
    TableId::AskOpen,
    TableId::AskPlace,
    TableId::Event,
    TableId::Feed,
    TableId::Invocation,
    TableId::Journal,
    TableId::Notified,
    TableId::PushConfig,
    TableId::Task,
    TableId::TaskListing,
    TableId::TaskMessage,
    TableId::Timer,
];

impl TableId {
    /// Every table, in the order of their bytes.
    pub const ALL: [TableId; 26] = [
        TableId::Deployment,
        TableId::Service,
        TableId::Ask,
        TableId::AskOpen,
        TableId::Schedule,
        TableId::Dedup,
        TableId::Event,
        TableId::Feed,
        TableId::TaskListing,
        TableId::Notice,
        TableId::Invocation,
        TableId::Journal,
        TableId::Task,
        TableId::Lock,
        TableId::Meta,
        TableId::Notified,
        TableId::Promise,
        TableId::PushConfig,
        TableId::Inbox,
        TableId::Running,
        TableId::State,
        TableId::Timer,
        TableId::TaskMessage,
        TableId::Push,
        TableId::Outbox,
        TableId::AskPlace,
    ];

    /// The table a key belongs to.
    pub fn of_key(key: &[u8]) -> Option<TableId> {
        TableId::ALL.into_iter().find(|table| key.first() == Some(&(*table as u8)))
    }

    /// As people read it.
    pub const fn name(self) -> &'static str {
        match self {
            TableId::Deployment => "deployment",
            TableId::Service => "service",
            TableId::Ask => "ask",
            TableId::AskOpen => "ask-open",
            TableId::Schedule => "schedule",
            TableId::Dedup => "dedup",
            TableId::Event => "event",
            TableId::Feed => "feed",
            TableId::TaskListing => "task-listing",
            TableId::Notice => "notice",
            TableId::Invocation => "invocation",
            TableId::Journal => "journal",
            TableId::Task => "task",
            TableId::Lock => "lock",
            TableId::Meta => "meta",
            TableId::Notified => "notified",
            TableId::Promise => "promise",
            TableId::PushConfig => "push-config",
            TableId::Push => "push",
            TableId::Inbox => "inbox",
            TableId::Running => "running",
            TableId::State => "state",
            TableId::Timer => "timer",
            TableId::TaskMessage => "task-message",
            TableId::Outbox => "outbox",
            TableId::AskPlace => "ask-place",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::TableId;

    #[test]
    fn every_table_has_its_own_byte_and_name() {
        let bytes: Vec<u8> = TableId::ALL.iter().map(|table| *table as u8).collect();
        assert!(bytes.is_sorted_by(|a, b| a < b), "{bytes:?}");
        for table in TableId::ALL {
            assert_eq!(TableId::of_key(&[table as u8, 0, 1]), Some(table));
            assert!(TableId::ALL.iter().filter(|other| other.name() == table.name()).count() == 1);
        }
        assert_eq!(TableId::of_key(b""), None);
    }
}
