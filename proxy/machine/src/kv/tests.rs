//! A transaction reads as if its writes had been made.

use super::*;
use proptest::prelude::*;

type Rows = Vec<(Vec<u8>, Vec<u8>)>;

fn rows(kv: &dyn Kv, from: &[u8], to: &[u8], max: usize) -> Rows {
    let mut rows = vec![];
    if max > 0 {
        kv.scan(from, to, &mut |key, value| {
            rows.push((key.to_vec(), value.to_vec()));
            rows.len() < max
        })
        .unwrap();
    }
    rows
}

fn key() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(0..3u8, 0..3)
}

/// Writes a value that its first byte tells, with its form or without; or nothing.
pub(super) fn write(txn: &mut Txn<'_>, key: Vec<u8>, value: Option<(u8, bool)>) {
    let bytes = |byte: u8| Bytes::from(vec![byte; usize::from(byte)]);
    match value {
        Some((byte, true)) => txn.put_with(key, bytes(byte), Arc::new(bytes(byte))),
        Some((byte, false)) => txn.put(key, bytes(byte)),
        None => txn.delete(key),
    }
}

/// The form of such a value: the value.
pub(super) fn form(kv: &dyn Kv, key: &[u8]) -> Option<Bytes> {
    kv.form(key).map(|form| form.downcast_ref::<Bytes>().unwrap().clone())
}

proptest! {
    #[test]
    fn a_form_is_what_its_value_says(
        turns in proptest::collection::vec(
            proptest::collection::vec((key(), any::<Option<(u8, bool)>>()), 0..8),
            1..3,
        ),
    ) {
        let store = MemoryKv::default();
        let mut below = Txn::new(&store);
        let (last, before) = turns.split_last().unwrap();
        for (key, value) in before.iter().flatten() {
            write(&mut below, key.clone(), *value);
        }
        let mut txn = Txn::new(&below);
        for (key, value) in last {
            write(&mut txn, key.clone(), *value);
            let formed = value.is_some_and(|(_, formed)| formed);
            prop_assert_eq!(form(&txn, key).is_some(), formed);
        }
        for (key, _) in turns.iter().flatten() {
            if let Some(form) = form(&txn, key) {
                prop_assert_eq!(Some(form), txn.get(key).unwrap());
            }
        }
        let (writes, forms) = txn.into_writes_and_forms();
        prop_assert!(forms.keys().all(|key| writes.get(key).is_some_and(Option::is_some)));
    }

    #[test]
    fn a_transaction_reads_its_own_writes(
        stored in proptest::collection::btree_map(key(), any::<u8>(), 0..8),
        written in proptest::collection::vec((key(), any::<Option<u8>>()), 0..8),
        (from, to, max) in (key(), key(), 0..8usize),
    ) {
        let value = |byte: u8| Bytes::copy_from_slice(&[byte]);
        let base =
            MemoryKv(stored.into_iter().map(|(key, byte)| (key, value(byte))).collect());
        let mut after = base.clone();
        let mut txn = Txn::new(&base);
        prop_assert!(txn.is_empty());
        for (key, byte) in written {
            match byte {
                Some(byte) => txn.put(key, value(byte)),
                None => txn.delete(key),
            }
        }
        let seen = rows(&txn, &from, &to, max);
        let got: Vec<_> = after.0.keys().map(|key| txn.get(key).unwrap()).collect();
        let keys: Vec<_> = after.0.keys().cloned().collect();
        after.apply(txn.into_writes());
        prop_assert_eq!(seen, rows(&after, &from, &to, max));
        prop_assert_eq!(got, keys.iter().map(|key| after.get(key).unwrap()).collect::<Vec<_>>());
    }
}
