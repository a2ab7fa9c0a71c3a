//! A part of the store at a time.

use bytes::Bytes;
use holdfast_machine::kv::{Fault, Kv};
use std::cell::RefCell;

/// Most rows of the store that are read at once.
const PAGE_ROWS_MAX: usize = 128;
/// A page ends behind the row with which it has so many bytes.
const PAGE_BYTES_MAX: usize = 256 * 1024;

/// Shows a page of the map to whoever scans it: nothing before `from`, nothing from `to` on, and no
/// more than is good for the memory. Whoever scans may stop only where it does not want the rest.
pub struct Window<'a> {
    kv: &'a dyn Kv,
    from: Vec<u8>,
    to: Vec<u8>,
    read: RefCell<Read>,
}

#[derive(Default)]
struct Read {
    rows: usize,
    bytes: usize,
    last: Vec<u8>,
}

impl Read {
    fn is_full(&self) -> bool {
        self.rows >= PAGE_ROWS_MAX || self.bytes >= PAGE_BYTES_MAX
    }
}

impl<'a> Window<'a> {
    pub fn new(kv: &'a dyn Kv, from: Vec<u8>, to: Vec<u8>) -> Window<'a> {
        Window { kv, from, to, read: RefCell::default() }
    }

    /// Where the next page begins, if this one is full.
    pub fn rest(self) -> Option<Vec<u8>> {
        let read = self.read.into_inner();
        read.is_full().then(|| {
            let mut next = read.last;
            next.push(0);
            next
        })
    }
}

impl Kv for Window<'_> {
    fn get(&self, key: &[u8]) -> Result<Option<Bytes>, Fault> {
        self.kv.get(key)
    }

    fn scan(
        &self,
        from: &[u8],
        to: &[u8],
        each: &mut dyn FnMut(&[u8], &[u8]) -> bool,
    ) -> Result<(), Fault> {
        let (from, to) = (from.max(&self.from), to.min(&self.to));
        if from >= to {
            return Ok(());
        }
        self.kv.scan(from, to, &mut |key, value| {
            let wanted = each(key, value);
            let mut read = self.read.borrow_mut();
            read.rows += 1;
            read.bytes += key.len() + value.len();
            read.last = key.to_vec();
            wanted && !read.is_full()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use holdfast_machine::kv::MemoryKv;

    #[test]
    fn pages_show_every_row_once() {
        let mut map = MemoryKv::default();
        for row in 0..1_000_u32 {
            map.0.insert(row.to_be_bytes().into(), Bytes::from_static(&[0; 1_000]));
        }
        let (mut from, to) = (10_u32.to_be_bytes().to_vec(), 990_u32.to_be_bytes().to_vec());
        let mut pages = vec![];
        loop {
            let window = Window::new(&map, from, to.clone());
            let mut rows = vec![];
            let each = &mut |key: &[u8], _: &[u8]| {
                rows.push(u32::from_be_bytes(key.try_into().unwrap()));
                true
            };
            window.scan(&[], &[0xff], each).unwrap();
            pages.push(rows);
            match window.rest() {
                Some(rest) => from = rest,
                None => break,
            }
        }
        assert!(pages.iter().all(|page| page.len() <= PAGE_ROWS_MAX) && pages.len() > 7);
        assert_eq!(pages.concat(), (10..990).collect::<Vec<_>>());
    }
}
