//! Tables of what we do not have, for tools that ask for them without looking: limits by rule, and
//! virtual queues. They have columns and no rows.

use super::{Shape, declaration};
use crate::query::sql::types::Type::{
    self, Boolean as Bool, Duration as Dur, Text, Timestamp as Time, UInt32 as U32, UInt64 as U64,
};
use rusqlite::Connection;

type Columns = &'static [(&'static str, Type)];

const TABLES: [(&str, Columns); 6] = [
    (
        "sys_rules",
        &[
            ("pattern", Text),
            ("concurrency", U32),
            ("description", Text),
            ("disabled", Bool),
            ("version", U32),
            ("last_modified", Time),
        ],
    ),
    (
        "sys_user_limits",
        &[
            ("partition_key", U64),
            ("scope", Text),
            ("l1", Text),
            ("l2", Text),
            ("level", Text),
            ("usage", U32),
            ("concurrency_limit", U32),
            ("rule_pattern", Text),
            ("available", U32),
            ("num_waiters", U64),
        ],
    ),
    (
        "sys_scheduler",
        &[
            ("partition_key", U64),
            ("id", Text),
            ("num_inbox", U64),
            ("status", Text),
            ("head_entry_id", Text),
            ("scheduled_at", Time),
            ("blocked_on", Text),
            ("blocked_on_json", Text),
            ("invoker_concurrency_block_duration", Dur),
            ("throttling_rules_block_duration", Dur),
            ("invoker_throttling_block_duration", Dur),
            ("invoker_memory_block_duration", Dur),
            ("concurrency_rules_block_duration", Dur),
            ("lock_block_duration", Dur),
            ("deployment_concurrency_block_duration", Dur),
        ],
    ),
    (
        "sys_vqueue_meta",
        &[
            ("partition_key", U64),
            ("id", Text),
            ("is_active", Bool),
            ("queue_is_paused", Bool),
            ("service_name", Text),
            ("scope", Text),
            ("limit_key", Text),
            ("lock_name", Text),
            ("created_at", Time),
            ("last_enqueued_at", Time),
            ("last_start_at", Time),
            ("last_attempt_at", Time),
            ("last_finish_at", Time),
            ("avg_queue_duration", Dur),
            ("avg_inbox_duration", Dur),
            ("avg_run_duration", Dur),
            ("avg_suspension_duration", Dur),
            ("avg_end_to_end_duration", Dur),
            ("avg_blocked_on_concurrency_rules", Dur),
            ("avg_blocked_on_invoker_concurrency", Dur),
            ("avg_blocked_on_invoker_throttling", Dur),
            ("avg_blocked_on_lock", Dur),
            ("num_inbox", U64),
            ("num_running", U64),
            ("num_suspended", U64),
            ("num_paused", U64),
            ("num_finished", U64),
        ],
    ),
    (
        "sys_vqueues",
        &[
            ("partition_key", U64),
            ("id", Text),
            ("stage", Text),
            ("status", Text),
            ("has_lock", Bool),
            ("run_at", Time),
            ("sequence_number", U64),
            ("entry_id", Text),
            ("entry_kind", Text),
            ("created_at", Time),
            ("transitioned_at", Time),
            ("num_attempts", U32),
            ("num_errors", U32),
            ("num_pauses", U32),
            ("num_suspensions", U32),
            ("num_yields", U32),
            ("first_attempt_at", Time),
            ("latest_attempt_at", Time),
            ("first_runnable_at", Time),
            ("deployment", Text),
        ],
    ),
    (
        "sys_vqueue_entry_status",
        &[
            ("partition_key", U64),
            ("entry_id", Text),
            ("vqueue_id", Text),
            ("stage", Text),
            ("status", Text),
            ("has_lock", Bool),
            ("next_at", Time),
            ("sequence_number", U64),
            ("entry_kind", Text),
            ("created_at", Time),
            ("transitioned_at", Time),
            ("num_attempts", U32),
            ("num_errors", U32),
            ("num_pauses", U32),
            ("num_suspensions", U32),
            ("num_yields", U32),
            ("first_attempt_at", Time),
            ("latest_attempt_at", Time),
            ("first_runnable_at", Time),
            ("deployment", Text),
            ("needed_memory", U64),
            ("retry_attempts", U32),
            ("retry_count_since_last_stored_command", U32),
            ("latest_attempt_blocked_on_invoker_concurrency", Dur),
            ("latest_attempt_blocked_on_throttling_rules", Dur),
            ("latest_attempt_blocked_on_invoker_throttling", Dur),
            ("latest_attempt_blocked_on_invoker_memory", Dur),
            ("latest_attempt_blocked_on_concurrency_rules", Dur),
            ("latest_attempt_blocked_on_lock", Dur),
            ("latest_attempt_blocked_on_deployment_concurrency", Dur),
            ("total_blocked_on_invoker_concurrency", Dur),
            ("total_blocked_on_throttling_rules", Dur),
            ("total_blocked_on_invoker_throttling", Dur),
            ("total_blocked_on_invoker_memory", Dur),
            ("total_blocked_on_concurrency_rules", Dur),
            ("total_blocked_on_lock", Dur),
            ("total_blocked_on_deployment_concurrency", Dur),
        ],
    ),
];

pub fn shapes() -> impl Iterator<Item = Shape> {
    TABLES.into_iter().map(|(name, columns)| Shape { name, columns: columns.to_vec() })
}

pub fn add(connection: &Connection) -> rusqlite::Result<()> {
    let declared: Vec<String> = TABLES
        .into_iter()
        .map(|(name, columns)| declaration(name, columns.iter().copied()))
        .collect();
    connection.execute_batch(&declared.join(";"))
}
