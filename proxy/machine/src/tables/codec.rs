//! How keys are put together and taken apart, and how rows are read. Knows no table.

use super::TableId;
use crate::id::{InvocationId, PartitionId, PartitionKey};
use crate::kv::{Fault, Kv, Txn};
use bytes::Bytes;

/// Puts a key together, field by field.
pub struct KeyWriter(Vec<u8>);

impl KeyWriter {
    /// A key of a table that every partition has its own of.
    pub fn new(table: TableId, partition: PartitionId) -> Self {
        let mut bytes = Vec::with_capacity(64);
        bytes.push(table as u8);
        bytes.extend(partition.0.to_be_bytes());
        KeyWriter(bytes)
    }

    /// A key of a table that belongs to no partition.
    pub fn global(table: TableId) -> Self {
        KeyWriter(vec![table as u8])
    }

    #[must_use]
    pub fn u8(mut self, value: u8) -> Self {
        self.0.push(value);
        self
    }

    #[must_use]
    pub fn u16(mut self, value: u16) -> Self {
        self.0.extend(value.to_be_bytes());
        self
    }

    #[must_use]
    pub fn u32(mut self, value: u32) -> Self {
        self.0.extend(value.to_be_bytes());
        self
    }

    #[must_use]
    pub fn u64(mut self, value: u64) -> Self {
        self.0.extend(value.to_be_bytes());
        self
    }

    /// The uuid before the partition key: most uuids begin with their time, so that what is written
    /// at one time lies side by side, in memory and in the files.
    #[must_use]
    pub fn id(mut self, id: InvocationId) -> Self {
        self.0.extend(id.uuid.to_be_bytes());
        self.0.extend(id.partition_key.0.to_be_bytes());
        self
    }

    /// A text with more fields behind it.
    #[must_use]
    pub fn text(mut self, text: &str) -> Self {
        let length = u32::try_from(text.len()).expect("a text in a key is far below 4 GiB");
        self.0.extend(length.to_be_bytes());
        self.0.extend(text.as_bytes());
        self
    }

    /// The last field, bare.
    #[must_use]
    pub fn rest(mut self, rest: &[u8]) -> Self {
        self.0.extend(rest);
        self
    }

    pub fn done(self) -> Vec<u8> {
        self.0
    }
}

/// Takes a key apart; every step says `None` where the key is shorter than it should be.
pub struct KeyReader<'a>(&'a [u8]);

impl<'a> KeyReader<'a> {
    /// Reads behind the table's byte and the partition. `None` for a key of another table.
    pub fn new(table: TableId, key: &'a [u8]) -> Option<(PartitionId, Self)> {
        let mut reader = Self::global(table, key)?;
        let partition = PartitionId(reader.u16()?);
        Some((partition, reader))
    }

    /// Reads behind the table's byte.
    pub fn global(table: TableId, key: &'a [u8]) -> Option<Self> {
        let (byte, rest) = key.split_first()?;
        (*byte == table as u8).then_some(KeyReader(rest))
    }

    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (field, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*field)
    }

    pub fn u8(&mut self) -> Option<u8> {
        self.take::<1>().map(|[byte]| byte)
    }

    pub fn u16(&mut self) -> Option<u16> {
        self.take().map(u16::from_be_bytes)
    }

    pub fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_be_bytes)
    }

    pub fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_be_bytes)
    }

    pub fn id(&mut self) -> Option<InvocationId> {
        let uuid = self.take().map(u128::from_be_bytes)?;
        Some(InvocationId { uuid, partition_key: PartitionKey(self.u64()?) })
    }

    pub fn text(&mut self) -> Option<String> {
        String::from_utf8(self.text_bytes()?.to_vec()).ok()
    }

    /// Passes a text over.
    pub fn skip_text(&mut self) -> Option<()> {
        self.text_bytes().map(drop)
    }

    fn text_bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.u32()?).ok()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(text)
    }

    pub fn rest(self) -> &'a [u8] {
        self.0
    }

    /// The end of the key: nothing may be left.
    pub fn end<T>(self, value: T) -> Option<T> {
        self.0.is_empty().then_some(value)
    }
}

/// The first key after all that begin with `prefix`.
pub fn after(prefix: &[u8]) -> Vec<u8> {
    let mut end = prefix.to_vec();
    while let Some(byte) = end.pop() {
        if byte < u8::MAX {
            end.push(byte + 1);
            return end;
        }
    }
    vec![u8::MAX; prefix.len() + 1]
}

/// A row of `table` that this program cannot have written.
pub fn corrupt(table: TableId, what: impl Into<String>) -> Fault {
    Fault::Corrupt { table: table.name(), what: what.into() }
}

/// What a conversion found wrong in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bad(pub &'static str);

impl Bad {
    pub fn of(self, table: TableId) -> Fault {
        corrupt(table, self.0)
    }
}

/// Decodes a value into its message.
pub fn decode<M: prost::Message + Default>(table: TableId, value: Bytes) -> Result<M, Fault> {
    M::decode(value).map_err(|error| corrupt(table, error.to_string()))
}

/// Encodes a message into a value.
pub fn encode(message: &impl prost::Message) -> Bytes {
    message.encode_to_vec().into()
}

/// What is shown the rows of a scan; false ends it.
pub type Visitor<'a> = dyn FnMut(&[u8], Bytes) -> Result<bool, Fault> + 'a;

/// As [`Kv::scan`], for a visitor that can fail.
pub fn scan(kv: &dyn Kv, from: &[u8], to: &[u8], each: &mut Visitor<'_>) -> Result<(), Fault> {
    let mut fault = None;
    kv.scan(from, to, &mut |key, value| {
        each(key, Bytes::copy_from_slice(value)).unwrap_or_else(|found| {
            fault = Some(found);
            false
        })
    })?;
    fault.map_or(Ok(()), Err)
}

/// Shows all rows of a partition in one table, their keys taken apart by `parse`, until `each`
/// answers false.
pub fn scan_table<K>(
    kv: &dyn Kv,
    (table, partition): (TableId, PartitionId),
    parse: impl Fn(&[u8]) -> Option<K>,
    each: &mut dyn FnMut(K, Bytes) -> Result<bool, Fault>,
) -> Result<(), Fault> {
    let prefix = KeyWriter::new(table, partition).done();
    scan(kv, &prefix, &after(&prefix), &mut |key, value| {
        each(parse(key).ok_or_else(|| corrupt(table, "a key is malformed"))?, value)
    })
}

/// Removes rows that begin with `prefix`, at most `max`; true where none is left.
pub fn delete_some(txn: &mut Txn<'_>, prefix: &[u8], max: usize) -> Result<bool, Fault> {
    let (mut keys, mut more) = (vec![], false);
    txn.scan(prefix, &after(prefix), &mut |key, _| {
        more = keys.len() == max;
        if !more {
            keys.push(key.to_vec());
        }
        !more
    })?;
    keys.into_iter().for_each(|key| txn.delete(key));
    Ok(!more)
}

/// The keys of all rows that begin with `prefix`.
pub fn keys(kv: &dyn Kv, prefix: &[u8]) -> Result<Vec<Vec<u8>>, Fault> {
    let mut keys = vec![];
    kv.scan(prefix, &after(prefix), &mut |key, _| {
        keys.push(key.to_vec());
        true
    })?;
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_prefix_ends_before_the_next_one() {
        assert_eq!(after(&[1, 2]), [1, 3]);
        assert_eq!(after(&[1, 255]), [2]);
        assert!(after(&[255, 255]) > vec![255, 255]);
    }

    proptest! {
        #[test]
        fn texts_do_not_run_into_each_other(a: (String, String), b: (String, String)) {
            let key = |(one, two): &(String, String)| {
                KeyWriter::new(TableId::Lock, PartitionId(3)).text(one).text(two).done()
            };
            prop_assert_eq!(a == b, key(&a) == key(&b));
            let key = key(&a);
            let (partition, mut reader) = KeyReader::new(TableId::Lock, &key).unwrap();
            let read = (reader.text().unwrap(), reader.text().unwrap());
            prop_assert_eq!(reader.end((partition, read)), Some((PartitionId(3), a)));
        }

        #[test]
        fn whatever_begins_with_a_prefix_lies_before_its_end(prefix: Vec<u8>, rest: Vec<u8>) {
            prop_assume!(!prefix.is_empty() && prefix[0] != u8::MAX);
            let key = [prefix.clone(), rest].concat();
            prop_assert!(prefix <= key && key < after(&prefix));
        }
    }
}
