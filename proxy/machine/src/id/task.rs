//! Ids of tasks and of asks. A task's id is no invocation id: it carries a secret beside one, since
//! an invocation id can be derived from a key that others know.

use super::{InvocationId, Malformed, U64_DIGITS, U128_DIGITS, digest, parse_base62, push_base62};
use crate::id::{PartitionKey, hash_str};
use std::{fmt, str::FromStr};

/// One task, for those who may see it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId {
    invocation: InvocationId,
    secret: u128,
}

/// One ask: the callee of the call that asks. Begins with the partition key of its root.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AskId(InvocationId);

impl TaskId {
    /// `secret` is 128 bits of chance, made at a door.
    pub fn new(invocation: InvocationId, secret: u128) -> TaskId {
        TaskId { invocation, secret }
    }

    pub fn invocation(self) -> InvocationId {
        self.invocation
    }

    pub fn secret(self) -> u128 {
        self.secret
    }
}

impl InvocationId {
    /// The id of a task that is asked for with an idempotency key. `scope` is who asks and for
    /// what: the same key in another scope is another task.
    pub fn task(
        (service, key, handler): (&str, Option<&str>, &str),
        scope: [&str; 2],
        idempotency_key: &str,
    ) -> InvocationId {
        let partition_key = match key {
            Some(key) => PartitionKey::of_key(key),
            None => PartitionKey::of_service(service, hash_str(idempotency_key)),
        };
        // Lengths, so that no two lists of texts run into the same.
        let texts =
            [service, handler, key.unwrap_or_default(), scope[0], scope[1], idempotency_key];
        let lengths = texts.map(|text| text.len().to_string());
        let fields = ["task"].into_iter().chain(lengths.iter().map(String::as_str)).chain(texts);
        InvocationId { partition_key, uuid: digest(fields) }
    }
}

impl AskId {
    /// The id of what `caller` asks with the journal entry `entry`.
    pub fn new(root: InvocationId, caller: InvocationId, entry: u32) -> AskId {
        let child = InvocationId::child(caller, entry, None);
        AskId(InvocationId { partition_key: root.partition_key, ..child })
    }

    /// The ask that stands under an invocation's id, if one does.
    pub fn of(id: InvocationId) -> AskId {
        AskId(id)
    }

    /// As the callee of a call.
    pub fn invocation(self) -> InvocationId {
        self.0
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::from("task_1");
        push_id(&mut text, self.invocation);
        push_base62(&mut text, self.secret, U128_DIGITS);
        f.pad(&text)
    }
}

impl fmt::Display for AskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::from("ask_1");
        push_id(&mut text, self.0);
        f.pad(&text)
    }
}

/// The secret stays where it is.
impl fmt::Debug for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "task of {}", self.invocation)
    }
}

impl FromStr for TaskId {
    type Err = Malformed;
    fn from_str(text: &str) -> Result<Self, Malformed> {
        let parse = || {
            let payload = text.strip_prefix("task_1")?.as_bytes();
            let (id, secret) = payload.split_at_checked(U64_DIGITS + U128_DIGITS)?;
            if secret.len() != U128_DIGITS {
                return None;
            }
            Some(TaskId { invocation: parse_id(id)?, secret: parse_base62(secret)? })
        };
        parse().ok_or_else(|| Malformed::new(text, "a task id (task_1 and 55 characters)"))
    }
}

impl FromStr for AskId {
    type Err = Malformed;
    fn from_str(text: &str) -> Result<Self, Malformed> {
        let parse = || {
            let payload = text.strip_prefix("ask_1")?.as_bytes();
            (payload.len() == U64_DIGITS + U128_DIGITS).then(|| parse_id(payload))?.map(AskId)
        };
        parse().ok_or_else(|| Malformed::new(text, "an ask id (ask_1 and 33 characters)"))
    }
}

fn push_id(text: &mut String, id: InvocationId) {
    push_base62(text, u128::from(id.partition_key.0.swap_bytes()), U64_DIGITS);
    push_base62(text, id.uuid.swap_bytes(), U128_DIGITS);
}

fn parse_id(text: &[u8]) -> Option<InvocationId> {
    let (key, uuid) = text.split_at_checked(U64_DIGITS)?;
    let key = u64::try_from(parse_base62(key)?).ok()?.swap_bytes();
    let partition_key = PartitionKey(key);
    Some(InvocationId { partition_key, uuid: parse_base62(uuid)?.swap_bytes() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn texts_round_trip(key: u64, uuid: u128, secret: u128) {
            let id = InvocationId { partition_key: PartitionKey(key), uuid };
            let task = TaskId::new(id, secret);
            prop_assert_eq!(task.to_string().parse(), Ok(task));
            prop_assert_eq!(task.to_string().len(), 61);
            let ask = AskId::of(id);
            prop_assert_eq!(ask.to_string().parse(), Ok(ask));
        }

        #[test]
        fn no_text_breaks_the_parsers(text: String) {
            let _ = text.parse::<TaskId>();
            let _ = text.parse::<AskId>();
            let _ = format!("task_1{text}").parse::<TaskId>();
            let _ = format!("ask_1{text}").parse::<AskId>();
        }
    }

    #[test]
    fn another_scope_or_split_of_texts_is_another_task() {
        let task = |key, scope| InvocationId::task(("s", None, "h"), scope, key);
        assert_eq!(task("k", ["a", "b"]), task("k", ["a", "b"]));
        assert_ne!(task("k", ["a", "b"]).uuid, task("k", ["ab", ""]).uuid);
        assert_ne!(task("k", ["a", "b"]).uuid, task("k", ["a,b", ""]).uuid);
        assert_ne!(task("k", ["a", "b,k"]).uuid, task("k,k", ["a", "b"]).uuid);
    }

    #[test]
    fn an_ask_lives_where_its_root_does() {
        let id = |key, uuid| InvocationId { partition_key: PartitionKey(key), uuid };
        let ask = AskId::new(id(1, 2), id(3, 4), 5);
        assert_eq!(ask.invocation().partition_key, PartitionKey(1));
        assert_eq!(ask.invocation().uuid, InvocationId::child(id(3, 4), 5, None).uuid);
    }
}
