//! State of objects and workflows: written as the commands come, never rolled back.

use super::Turn;
use crate::command::StateMap;
use crate::id::InvocationId;
use crate::kv::{Fault, Kv};
use crate::model::Target;
use crate::tables::invocation::Record;
use crate::tables::state::{self, Owner};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use holdfast_wire::message::pb::notification::Result as Content;
use holdfast_wire::message::{MessageType, pb};
use sha2::{Digest, Sha256};

/// Whose state, promises and lock a target uses.
pub(super) fn owner(target: &Target) -> Option<Owner<'_>> {
    Some(Owner { service: &target.service, key: target.key.as_deref()? })
}

/// The version of a state map, as existing tools compute it: a hash over the pairs in the order
/// of their keys.
pub fn version(state: &StateMap) -> String {
    let mut hash = Sha256::new();
    for (number, (key, value)) in state.iter().enumerate() {
        hash.update((number as u64).to_be_bytes());
        hash.update([1]);
        hash.update(key);
        hash.update([2]);
        hash.update(value);
        hash.update([3]);
    }
    URL_SAFE_NO_PAD.encode(hash.finalize())
}

impl Turn<'_, '_> {
    pub(super) fn get_state(
        &mut self,
        id: InvocationId,
        record: &mut Record,
        command: &pb::GetLazyStateCommand,
    ) -> Result<(), Fault> {
        let value = match owner(&record.target) {
            Some(owner) => state::get(self.txn, self.here.partition, owner, &command.key)?,
            None => None,
        };
        let content = value.map_or_else(Content::void, Content::value);
        let completion = (command.result_completion_id, content);
        self.complete_command(id, record, MessageType::GET_LAZY_STATE_COMPLETION, completion)
            .map(drop)
    }

    pub(super) fn get_state_keys(
        &mut self,
        id: InvocationId,
        record: &mut Record,
        command: &pb::GetLazyStateKeysCommand,
    ) -> Result<(), Fault> {
        let keys = match owner(&record.target) {
            Some(owner) => self.state_map(owner)?.into_keys().collect(),
            None => vec![],
        };
        let completion = (command.result_completion_id, Content::state_keys(keys));
        self.complete_command(id, record, MessageType::GET_LAZY_STATE_KEYS_COMPLETION, completion)
            .map(drop)
    }

    pub(super) fn set_state(
        &mut self,
        record: &Record,
        command: pb::SetStateCommand,
    ) -> Result<(), Fault> {
        if let Some(owner) = owner(&record.target) {
            let value = command.value.unwrap_or_default().content;
            state::put(self.txn, self.here.partition, owner, &command.key, value);
        }
        Ok(())
    }

    pub(super) fn clear_state(
        &mut self,
        record: &Record,
        command: &pb::ClearStateCommand,
    ) -> Result<(), Fault> {
        if let Some(owner) = owner(&record.target) {
            state::delete(self.txn, self.here.partition, owner, &command.key);
        }
        Ok(())
    }

    pub(super) fn clear_all_state(&mut self, record: &Record) -> Result<(), Fault> {
        match owner(&record.target) {
            Some(owner) => state::delete_all(self.txn, self.here.partition, owner),
            None => Ok(()),
        }
    }

    /// Replaces the state of a key. If it does not have the version that was expected, nothing is
    /// changed, and the version it has is given back.
    pub(super) fn apply_patch(
        &mut self,
        owner: Owner<'_>,
        expected: Option<&str>,
        patch: &StateMap,
    ) -> Result<Option<String>, Fault> {
        if let Some(expected) = expected {
            let current = version(&self.state_map(owner)?);
            if current != expected {
                return Ok(Some(current));
            }
        }
        let partition = self.here.partition;
        state::delete_all(self.txn, partition, owner)?;
        for (key, value) in patch {
            state::put(self.txn, partition, owner, key, value.clone());
        }
        Ok(None)
    }

    fn state_map(&self, owner: Owner<'_>) -> Result<StateMap, Fault> {
        let mut map = StateMap::new();
        let kv: &dyn Kv = self.txn;
        state::scan(kv, self.here.partition, owner, &mut |key: Bytes, value: Bytes| {
            map.insert(key, value);
            true
        })?;
        Ok(map)
    }
}
