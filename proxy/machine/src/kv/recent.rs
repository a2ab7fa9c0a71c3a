//! What whoever alone writes a store may remember of it, instead of looking for it there: rows that
//! were written not long ago, and small ranges that were read as a whole. Never holds more than its
//! bounds, and never what the store has not. The form of a row goes with the row.

use super::{Fault, Form, Forms, Kv, Writes};
use bytes::Bytes;
use foldhash::HashMap;
use std::{cell::RefCell, collections::BTreeMap, sync::Arc};

/// What is remembered of a row with this key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    Nothing,
    /// The row.
    Row,
    /// All rows that begin with the first so many bytes of its key.
    Range(usize),
}

/// How much is remembered, twice: of the younger half of the time, and of the older.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    pub rows: usize,
    /// Rows with more bytes in key and value are left to the store. A form is about as large.
    pub row_bytes: usize,
    pub ranges: usize,
    /// Ranges with more bytes in what they begin with, keys and values are left to the store.
    pub range_bytes: usize,
}

/// What is remembered of a store.
#[derive(Debug)]
pub struct Recent {
    rows: Generations<Row>,
    /// By what their keys begin with. Filled by reading.
    ranges: RefCell<Generations<Arc<Range>>>,
    bounds: Bounds,
    kept: fn(&[u8]) -> Kept,
}

/// The younger ones push out the older ones.
#[derive(Debug)]
struct Generations<V> {
    young: HashMap<Vec<u8>, V>,
    old: HashMap<Vec<u8>, V>,
    max: usize,
}

#[derive(Debug)]
struct Row {
    value: Option<Bytes>,
    form: Option<Form>,
}

#[derive(Debug, Clone)]
struct Range {
    rows: BTreeMap<Vec<u8>, Bytes>,
    /// With what all its keys begin with once more.
    bytes: usize,
}

/// A store with what is remembered of it.
pub struct Fresh<'a> {
    pub base: &'a dyn Kv,
    pub recent: &'a Recent,
}

impl Recent {
    pub fn new(bounds: Bounds, kept: fn(&[u8]) -> Kept) -> Self {
        let ranges = RefCell::new(Generations::new(bounds.ranges));
        Recent { rows: Generations::new(bounds.rows), ranges, bounds, kept }
    }

    /// Takes what was just committed, and forms of it.
    pub fn remember(&mut self, writes: Writes, mut forms: Forms) {
        for (key, value) in writes {
            match (self.kept)(&key) {
                Kept::Nothing => {}
                Kept::Row => {
                    let form = forms.remove(&key);
                    self.remember_row(key, Row { value, form });
                }
                Kept::Range(bytes) => self.remember_in_range(bytes, key, value),
            }
        }
    }

    fn remember_row(&mut self, key: Vec<u8>, row: Row) {
        // Keys are as long as whoever calls makes them.
        let bytes = key.len() + row.value.as_ref().map_or(0, Bytes::len);
        match bytes > self.bounds.row_bytes {
            true => drop(self.rows.take(&key)),
            false => self.rows.insert(key, row),
        }
    }

    /// A range that nobody has read stays unknown.
    fn remember_in_range(&mut self, bytes: usize, key: Vec<u8>, value: Option<Bytes>) {
        let ranges = self.ranges.get_mut();
        let Some(mut range) = ranges.take(&key[..bytes]) else {
            return;
        };
        let prefix = key[..bytes].to_vec();
        Arc::make_mut(&mut range).set(key, value);
        if range.bytes <= self.bounds.range_bytes {
            ranges.insert(prefix, range);
        }
    }

    fn is_range(&self, from: &[u8], to: &[u8]) -> bool {
        (self.kept)(from) == Kept::Range(from.len()) && is_all_with(from, to)
    }

    /// Reads a range out of the store, and keeps it if it was read to its end and is small.
    fn read_range(
        &self,
        base: &dyn Kv,
        (from, to): (&[u8], &[u8]),
        each: &mut dyn FnMut(&[u8], &[u8]) -> bool,
    ) -> Result<(), Fault> {
        let begun = Range { rows: BTreeMap::new(), bytes: from.len() };
        let mut read = Some(begun).filter(|range| range.bytes <= self.bounds.range_bytes);
        base.scan(from, to, &mut |key, value| {
            let wanted = each(key, value);
            if let Some(range) = &mut read {
                range.set(key.to_vec(), Some(Bytes::copy_from_slice(value)));
            }
            read.take_if(|range| !wanted || range.bytes > self.bounds.range_bytes);
            wanted
        })?;
        if let Some(range) = read {
            self.ranges.borrow_mut().insert(from.to_vec(), Arc::new(range));
        }
        Ok(())
    }
}

/// Whether `from..to` are all keys that begin with `from`. False for a few that are.
fn is_all_with(from: &[u8], to: &[u8]) -> bool {
    match (from.split_last(), to.split_last()) {
        (Some((last, before)), Some((end, same))) => {
            before == same && last.checked_add(1) == Some(*end)
        }
        _ => false,
    }
}

impl<V> Generations<V> {
    fn new(max: usize) -> Self {
        Generations { young: HashMap::default(), old: HashMap::default(), max }
    }

    fn get(&self, key: &[u8]) -> Option<&V> {
        self.young.get(key).or_else(|| self.old.get(key))
    }

    fn insert(&mut self, key: Vec<u8>, value: V) {
        if self.young.len() >= self.max {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, value);
    }

    fn take(&mut self, key: &[u8]) -> Option<V> {
        let old = self.old.remove(key);
        self.young.remove(key).or(old)
    }
}

impl Range {
    fn set(&mut self, key: Vec<u8>, value: Option<Bytes>) {
        let key_bytes = key.len();
        let added = value.as_ref().map_or(0, |value| key_bytes + value.len());
        let before = match value {
            Some(value) => self.rows.insert(key, value),
            None => self.rows.remove(&key),
        };
        self.bytes -= before.map_or(0, |before| key_bytes + before.len());
        self.bytes += added;
    }
}

impl Kv for Fresh<'_> {
    fn get(&self, key: &[u8]) -> Result<Option<Bytes>, Fault> {
        match self.recent.rows.get(key) {
            Some(written) => Ok(written.value.clone()),
            None => self.base.get(key),
        }
    }

    fn form(&self, key: &[u8]) -> Option<Form> {
        self.recent.rows.get(key)?.form.clone()
    }

    fn scan(
        &self,
        from: &[u8],
        to: &[u8],
        each: &mut dyn FnMut(&[u8], &[u8]) -> bool,
    ) -> Result<(), Fault> {
        if !self.recent.is_range(from, to) {
            return self.base.scan(from, to, each);
        }
        // Not borrowed while `each` runs: it may read, too.
        let known = self.recent.ranges.borrow().get(from).cloned();
        match known {
            Some(range) => {
                let _ = range.rows.iter().all(|(key, value)| each(key, value));
                Ok(())
            }
            None => self.recent.read_range(self.base, (from, to), each),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{form, write};
    use super::super::{MemoryKv, Txn};
    use super::*;
    use proptest::prelude::*;

    /// Keys that begin with 0 are ranges by their first two bytes, those with 1 rows.
    fn kept(key: &[u8]) -> Kept {
        match key {
            [0, _, ..] => Kept::Range(2),
            [1, ..] => Kept::Row,
            _ => Kept::Nothing,
        }
    }

    fn key() -> impl Strategy<Value = Vec<u8>> {
        proptest::collection::vec(0..3u8, 1..4)
    }

    fn rows(kv: &dyn Kv, from: &[u8], to: &[u8], max: usize) -> Vec<(Vec<u8>, Vec<u8>)> {
        let mut rows = vec![];
        kv.scan(from, to, &mut |key, value| {
            rows.push((key.to_vec(), value.to_vec()));
            rows.len() < max
        })
        .unwrap();
        rows
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_000))]

        /// Whoever alone writes reads the same from what it remembers as from the store.
        #[test]
        fn what_is_remembered_is_what_is_stored(
            turns in proptest::collection::vec(
                (
                    proptest::collection::vec((key(), any::<Option<(u8, bool)>>()), 0..6),
                    proptest::collection::vec((key(), 1..4usize), 0..4),
                ),
                0..12,
            ),
            (rows_max, ranges) in (1..5usize, 1..4usize),
        ) {
            let mut store = MemoryKv::default();
            let bounds = Bounds { rows: rows_max, row_bytes: 100, ranges, range_bytes: 300 };
            let mut recent = Recent::new(bounds, kept);
            for (turn, scans) in turns {
                let base = Fresh { base: &store, recent: &recent };
                let mut txn = Txn::new(&base);
                for (key, value) in turn {
                    write(&mut txn, key, value);
                }
                let (writes, forms) = txn.into_writes_and_forms();
                store.apply(writes.clone());
                recent.remember(writes, forms);
                let fresh = Fresh { base: &store, recent: &recent };
                for (from, max) in scans {
                    let mut to = from.clone();
                    *to.last_mut().unwrap() += 1;
                    let expected = rows(&store, &from, &to, max);
                    prop_assert_eq!(rows(&fresh, &from, &to, max), expected);
                    let stored = store.get(&from).unwrap();
                    prop_assert_eq!(&fresh.get(&from).unwrap(), &stored);
                    if let Some(form) = form(&fresh, &from) {
                        prop_assert_eq!(Some(form), stored);
                    }
                }
            }
        }
    }

    /// A store that is read at most once.
    struct Once(MemoryKv, RefCell<usize>);

    impl Kv for Once {
        fn get(&self, key: &[u8]) -> Result<Option<Bytes>, Fault> {
            self.0.get(key)
        }

        fn scan(
            &self,
            from: &[u8],
            to: &[u8],
            each: &mut dyn FnMut(&[u8], &[u8]) -> bool,
        ) -> Result<(), Fault> {
            *self.1.borrow_mut() += 1;
            self.0.scan(from, to, each)
        }
    }

    #[test]
    fn nothing_with_a_long_key_is_held_in_memory() {
        fn by_all_but_the_last(key: &[u8]) -> Kept {
            match key {
                [0, .., _] => Kept::Range(key.len().min(101)),
                _ => Kept::Row,
            }
        }
        let store = MemoryKv::default();
        let bounds = Bounds { rows: 8, row_bytes: 100, ranges: 8, range_bytes: 100 };
        let mut recent = Recent::new(bounds, by_all_but_the_last);
        let writes = Writes::from([(vec![1; 101], None), (vec![1; 99], None)]);
        recent.remember(writes, Forms::default());
        let (from, mut to) = (vec![0; 101], vec![0; 101]);
        to[100] = 1;
        assert_eq!(rows(&Fresh { base: &store, recent: &recent }, &from, &to, 9), []);
        assert_eq!(recent.rows.young.keys().map(Vec::len).collect::<Vec<_>>(), [99]);
        assert!(recent.ranges.borrow().young.is_empty());
    }

    #[test]
    fn a_form_goes_with_its_row() {
        let bounds = Bounds { rows: 8, row_bytes: 100, ranges: 8, range_bytes: 100 };
        let mut recent = Recent::new(bounds, kept);
        let mut turn = |key: u8, value| {
            let store = MemoryKv::default();
            let base = Fresh { base: &store, recent: &recent };
            let mut txn = Txn::new(&base);
            write(&mut txn, vec![key], value);
            let (writes, forms) = txn.into_writes_and_forms();
            recent.remember(writes, forms);
            form(&Fresh { base: &store, recent: &recent }, &[1]).map(|form| form.len())
        };
        assert_eq!(turn(1, Some((7, true))), Some(7));
        assert_eq!(turn(2, Some((8, true))), Some(7));
        assert_eq!(turn(1, Some((9, false))), None, "it is of another value");
        assert_eq!(turn(1, Some((10, true))), Some(10));
        assert_eq!(turn(1, None), None, "it is deleted");
        assert_eq!(turn(1, Some((200, true))), None, "it is too large");
    }

    #[test]
    fn a_range_is_read_once_and_followed_from_then_on() {
        let store = Once(MemoryKv::default(), RefCell::default());
        let bounds = Bounds { rows: 8, row_bytes: 100, ranges: 8, range_bytes: 100 };
        let mut recent = Recent::new(bounds, kept);
        let seen =
            |recent: &Recent| rows(&Fresh { base: &store, recent }, &[0, 7], &[0, 8], 9).len();
        assert_eq!(seen(&recent), 0);
        let remember = |recent: &mut Recent, key: u8, value: Vec<u8>| {
            let writes = Writes::from([(vec![0, 7, key], Some(Bytes::from(value)))]);
            recent.remember(writes, Forms::default());
        };
        remember(&mut recent, 1, b"one".to_vec());
        assert_eq!(seen(&recent), 1);
        assert_eq!(*store.1.borrow(), 1);
        // One that has become large is left to the store.
        remember(&mut recent, 2, vec![0; 200]);
        seen(&recent);
        assert_eq!(*store.1.borrow(), 2);
    }
}
