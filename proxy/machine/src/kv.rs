//! The ordered map of bytes that the machine reads, and the transaction that collects what it
//! wants written. Knows bytes, not invocations.

use bytes::Bytes;
use foldhash::HashMap;
use std::collections::BTreeMap;

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
}

/// What a batch writes: a value, or nothing in its place.
pub type Writes = BTreeMap<Vec<u8>, Option<Bytes>>;

/// Reads see the store with this transaction's own writes on top of it.
pub struct Txn<'a> {
    base: &'a dyn Kv,
    writes: Writes,
}

impl<'a> Txn<'a> {
    pub fn new(base: &'a dyn Kv) -> Self {
        Txn { base, writes: Writes::new() }
    }

    pub fn put(&mut self, key: Vec<u8>, value: Bytes) {
        self.writes.insert(key, Some(value));
    }

    pub fn delete(&mut self, key: Vec<u8>) {
        self.writes.insert(key, None);
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
}

impl Kv for Txn<'_> {
    fn get(&self, key: &[u8]) -> Result<Option<Bytes>, Fault> {
        Over { base: self.base, writes: &self.writes }.get(key)
    }

    fn scan(
        &self,
        from: &[u8],
        to: &[u8],
        each: &mut dyn FnMut(&[u8], &[u8]) -> bool,
    ) -> Result<(), Fault> {
        Over { base: self.base, writes: &self.writes }.scan(from, to, each)
    }
}

/// A store with writes on top of it. What has just been committed is read from memory this way.
pub struct Over<'a> {
    pub base: &'a dyn Kv,
    pub writes: &'a Writes,
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
}

/// Rows that were written not long ago, for whoever is the only one that writes them: what is under
/// way is read again soon, and need not be looked for in the store. Holds two generations of them;
/// the older one goes when the younger is full.
#[derive(Debug, Default)]
pub struct Recent {
    young: HashMap<Vec<u8>, Option<Bytes>>,
    old: HashMap<Vec<u8>, Option<Bytes>>,
    rows_max: usize,
    row_bytes_max: usize,
}

impl Recent {
    /// Two generations of `rows_max` rows whose values have up to `row_bytes_max` bytes.
    pub fn new(rows_max: usize, row_bytes_max: usize) -> Self {
        Recent { rows_max, row_bytes_max, ..Recent::default() }
    }

    /// Takes what was just written of the rows that `wanted` names by their keys.
    pub fn remember(&mut self, writes: Writes, wanted: impl Fn(&[u8]) -> bool) {
        for (key, value) in writes {
            if !wanted(&key) {
                continue;
            }
            if value.as_ref().is_some_and(|value| value.len() > self.row_bytes_max) {
                self.young.remove(&key);
                self.old.remove(&key);
                continue;
            }
            if self.young.len() >= self.rows_max {
                self.old = std::mem::take(&mut self.young);
            }
            self.young.insert(key, value);
        }
    }

    fn get(&self, key: &[u8]) -> Option<&Option<Bytes>> {
        self.young.get(key).or_else(|| self.old.get(key))
    }
}

/// A store with what was written to it not long ago.
pub struct Fresh<'a> {
    pub base: &'a dyn Kv,
    pub recent: &'a Recent,
}

impl Kv for Fresh<'_> {
    fn get(&self, key: &[u8]) -> Result<Option<Bytes>, Fault> {
        match self.recent.get(key) {
            Some(written) => Ok(written.clone()),
            None => self.base.get(key),
        }
    }

    fn scan(
        &self,
        from: &[u8],
        to: &[u8],
        each: &mut dyn FnMut(&[u8], &[u8]) -> bool,
    ) -> Result<(), Fault> {
        self.base.scan(from, to, each)
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
