//! The ordered map of bytes that the machine reads, and the transaction that collects what it
//! wants written. Knows bytes, not invocations.

mod recent;

pub use recent::{Bounds, Fresh, Kept, Recent};

use bytes::Bytes;
use foldhash::HashMap;
use std::{
    any::Any,
    collections::{BTreeMap, btree_map::Entry},
    sync::Arc,
};

/// Why the machine cannot go on. The partition stops: better no answer than a wrong one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A row that this program cannot have written.
    #[error("corrupt row in table {table}: {what}")]
    Corrupt { table: &'static str, what: String },
    /// The engine could not read.
    #[error("cannot read the store: {0}")]
    Read(String),
}

/// Reads of an ordered map of bytes.
pub trait Kv {
    fn get(&self, key: &[u8]) -> Result<Option<Bytes>, Fault>;

    /// Calls `each` with the rows of `from..to` in ascending order until it answers false.
    fn scan(
        &self,
        from: &[u8],
        to: &[u8],
        each: &mut dyn FnMut(&[u8], &[u8]) -> bool,
    ) -> Result<(), Fault>;

    /// What the value under this key says, where that is remembered beside the value. `None` says
    /// nothing: there may be a value or not.
    fn form(&self, _key: &[u8]) -> Option<Form> {
        None
    }
}

/// What a batch writes: a value, or nothing in its place.
pub type Writes = BTreeMap<Vec<u8>, Option<Bytes>>;

/// What a value says, in the form in which it is worked with: what decoding it would give.
pub type Form = Arc<dyn Any + Send + Sync>;

/// Forms of values that are written, by their keys: of none that was replaced or deleted.
pub type Forms = HashMap<Vec<u8>, Form>;

/// Reads see the store with this transaction's own writes on top of it.
pub struct Txn<'a> {
    base: &'a dyn Kv,
    writes: Writes,
    forms: Forms,
}

impl<'a> Txn<'a> {
    pub fn new(base: &'a dyn Kv) -> Self {
        Txn { base, writes: Writes::new(), forms: Forms::default() }
    }

    pub fn put(&mut self, key: Vec<u8>, value: Bytes) {
        self.write(key, Some(value));
    }

    /// As `put`. Whoever reads the value in this transaction, or in one that remembers it, need not
    /// decode it: `form` is what that would give.
    pub fn put_with(&mut self, key: Vec<u8>, value: Bytes, form: Form) {
        self.write(key.clone(), Some(value));
        self.forms.insert(key, form);
    }

    pub fn delete(&mut self, key: Vec<u8>) {
        self.write(key, None);
    }

    /// No form outlives its value.
    fn write(&mut self, key: Vec<u8>, value: Option<Bytes>) {
        match self.writes.entry(key) {
            Entry::Vacant(new) => {
                new.insert(value);
            }
            Entry::Occupied(mut old) => {
                self.forms.remove(old.key());
                old.insert(value);
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        self.writes.is_empty()
    }

    /// How many rows it writes.
    pub fn len(&self) -> usize {
        self.writes.len()
    }

    pub fn into_writes(self) -> Writes {
        self.writes
    }

    /// As `into_writes`, and the forms of what it writes.
    pub fn into_writes_and_forms(self) -> (Writes, Forms) {
        (self.writes, self.forms)
    }

    fn over(&self) -> Over<'_> {
        Over { base: self.base, writes: &self.writes, forms: &self.forms }
    }
}

impl Kv for Txn<'_> {
    fn get(&self, key: &[u8]) -> Result<Option<Bytes>, Fault> {
        self.over().get(key)
    }

    fn scan(
        &self,
        from: &[u8],
        to: &[u8],
        each: &mut dyn FnMut(&[u8], &[u8]) -> bool,
    ) -> Result<(), Fault> {
        self.over().scan(from, to, each)
    }

    fn form(&self, key: &[u8]) -> Option<Form> {
        self.over().form(key)
    }
}

/// A store with writes on top of it. What has just been committed is read from memory this way.
pub struct Over<'a> {
    pub base: &'a dyn Kv,
    pub writes: &'a Writes,
    /// Of what is in `writes`.
    pub forms: &'a Forms,
}

impl Kv for Over<'_> {
    fn get(&self, key: &[u8]) -> Result<Option<Bytes>, Fault> {
        match self.writes.get(key) {
            Some(written) => Ok(written.clone()),
            None => self.base.get(key),
        }
    }

    /// Merges the store's rows with the writes, the writes winning.
    fn scan(
        &self,
        from: &[u8],
        to: &[u8],
        each: &mut dyn FnMut(&[u8], &[u8]) -> bool,
    ) -> Result<(), Fault> {
        if from >= to {
            return Ok(());
        }
        let mut written = self.writes.range(from.to_vec()..to.to_vec()).peekable();
        let mut wanted = true;
        self.base.scan(from, to, &mut |key, value| {
            while let Some((own, own_value)) = written.next_if(|(own, _)| own.as_slice() < key) {
                if let Some(own_value) = own_value {
                    wanted = wanted && each(own, own_value);
                }
            }
            let row = match written.next_if(|(own, _)| own.as_slice() == key) {
                Some((_, own_value)) => own_value.as_deref(),
                None => Some(value),
            };
            if let Some(row) = row {
                wanted = wanted && each(key, row);
            }
            wanted
        })?;
        for (own, own_value) in written {
            if let Some(own_value) = own_value {
                wanted = wanted && each(own, own_value);
            }
        }
        Ok(())
    }

    fn form(&self, key: &[u8]) -> Option<Form> {
        match self.forms.get(key) {
            Some(form) => Some(form.clone()),
            None if self.writes.contains_key(key) => None,
            None => self.base.form(key),
        }
    }
}

/// A map in memory: the store of the machine's own tests and of the simulator.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemoryKv(pub BTreeMap<Vec<u8>, Bytes>);

impl MemoryKv {
    pub fn apply(&mut self, writes: Writes) {
        for (key, value) in writes {
            match value {
                Some(value) => self.0.insert(key, value),
                None => self.0.remove(&key),
            };
        }
    }
}

impl Kv for MemoryKv {
    fn get(&self, key: &[u8]) -> Result<Option<Bytes>, Fault> {
        Ok(self.0.get(key).cloned())
    }

    fn scan(
        &self,
        from: &[u8],
        to: &[u8],
        each: &mut dyn FnMut(&[u8], &[u8]) -> bool,
    ) -> Result<(), Fault> {
        if from >= to {
            return Ok(());
        }
        for (key, value) in self.0.range(from.to_vec()..to.to_vec()) {
            if !each(key, value) {
                break;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
