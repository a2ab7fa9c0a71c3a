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

proptest! {
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
