//! `p | partition:u16 | id:24 | config` -> `PushConfig`. Where the feed of a task is sent to, by the
//! name that a client or a door gave. The rows go with the invocation; its task row counts them.

use super::codec::{KeyReader, KeyWriter, after, corrupt, decode, encode, keys, scan as scan_rows};
use super::{TableId, generated as pb};
use crate::id::{InvocationId, PartitionId};
use crate::kv::{Fault, Kv, Txn};
use crate::time::Timestamp;
use bytes::Bytes;
use std::fmt;

const TABLE: TableId = TableId::PushConfig;

/// A receiver of one task's feed.
#[derive(Clone, PartialEq, Eq)]
pub struct PushConfig {
    /// Absolute, `http` or `https`.
    pub url: String,
    /// A secret by which the receiver knows the sender; empty: none.
    pub token: String,
    /// For the header `authorization`.
    pub authentication: Option<Authentication>,
    /// In which form the door writes what it sends; the door's own number.
    pub form: u32,
    pub created_at: Timestamp,
}

#[derive(Clone, PartialEq, Eq)]
pub struct Authentication {
    pub scheme: String,
    pub credentials: String,
}

/// Without the secrets.
impl fmt::Debug for PushConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PushConfig")
            .field("url", &self.url)
            .field("form", &self.form)
            .field("created_at", &self.created_at)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Authentication {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authentication").field("scheme", &self.scheme).finish_non_exhaustive()
    }
}

fn prefix(partition: PartitionId, id: InvocationId) -> Vec<u8> {
    KeyWriter::new(TABLE, partition).id(id).done()
}

fn key(partition: PartitionId, id: InvocationId, config: &str) -> Vec<u8> {
    KeyWriter::new(TABLE, partition).id(id).rest(config.as_bytes()).done()
}

pub fn get(
    kv: &dyn Kv,
    partition: PartitionId,
    id: InvocationId,
    config: &str,
) -> Result<Option<PushConfig>, Fault> {
    kv.get(&key(partition, id, config))?.map(config_in).transpose()
}

pub fn put(
    txn: &mut Txn<'_>,
    partition: PartitionId,
    id: InvocationId,
    name: &str,
    config: &PushConfig,
) {
    let authentication = config.authentication.as_ref();
    let row = pb::PushConfig {
        url: config.url.clone(),
        token: config.token.clone(),
        scheme: authentication.map(|it| it.scheme.clone()),
        credentials: authentication.map(|it| it.credentials.clone()).unwrap_or_default(),
        form: config.form,
        created_at: config.created_at.0,
    };
    txn.put(key(partition, id, name), encode(&row));
}

pub fn delete(txn: &mut Txn<'_>, partition: PartitionId, id: InvocationId, config: &str) {
    txn.delete(key(partition, id, config));
}

pub fn delete_all(
    txn: &mut Txn<'_>,
    partition: PartitionId,
    id: InvocationId,
) -> Result<(), Fault> {
    for key in keys(&*txn, &prefix(partition, id))? {
        txn.delete(key);
    }
    Ok(())
}

/// All receivers of a task, by name.
pub fn all(
    kv: &dyn Kv,
    partition: PartitionId,
    id: InvocationId,
) -> Result<Vec<(String, PushConfig)>, Fault> {
    let prefix = prefix(partition, id);
    let mut configs = vec![];
    scan_rows(kv, &prefix, &after(&prefix), &mut |key, value| {
        let (.., name) = parse(key).ok_or_else(|| corrupt(TABLE, "a key is malformed"))?;
        configs.push((name, config_in(value)?));
        Ok(true)
    })?;
    Ok(configs)
}

fn config_in(value: Bytes) -> Result<PushConfig, Fault> {
    let row: pb::PushConfig = decode(TABLE, value)?;
    let credentials = row.credentials;
    Ok(PushConfig {
        url: row.url,
        token: row.token,
        authentication: row.scheme.map(|scheme| Authentication { scheme, credentials }),
        form: row.form,
        created_at: Timestamp(row.created_at),
    })
}

/// Takes a key apart.
pub fn parse(key: &[u8]) -> Option<(PartitionId, InvocationId, String)> {
    let (partition, mut reader) = KeyReader::new(TABLE, key)?;
    let id = reader.id()?;
    let config = String::from_utf8(reader.rest().to_vec()).ok()?;
    Some((partition, id, config))
}

#[cfg(test)]
mod tests {
    use super::super::arbitrary;
    use super::*;
    use crate::kv::MemoryKv;
    use proptest::prelude::*;

    fn config() -> impl Strategy<Value = PushConfig> {
        let authentication = any::<(String, String)>()
            .prop_map(|(scheme, credentials)| Authentication { scheme, credentials });
        let texts = any::<(String, String)>();
        let authentication = proptest::option::of(authentication);
        (texts, authentication, any::<u32>(), arbitrary::time()).prop_map(
            |((url, token), authentication, form, created_at)| PushConfig {
                url,
                token,
                authentication,
                form,
                created_at,
            },
        )
    }

    proptest! {
        #[test]
        fn rows_round_trip_and_go_together(
            partition in arbitrary::partition(),
            (id, other) in (arbitrary::id(), arbitrary::id()),
            (one, two) in any::<(String, String)>(),
            (a, b) in (config(), config()),
        ) {
            prop_assume!(id != other && one < two);
            let mut kv = MemoryKv::default();
            let mut txn = Txn::new(&kv);
            put(&mut txn, partition, id, &one, &a);
            put(&mut txn, partition, id, &two, &b);
            put(&mut txn, partition, other, &two, &a);
            kv.apply(txn.into_writes());
            prop_assert_eq!(get(&kv, partition, id, &two).unwrap(), Some(b.clone()));
            prop_assert_eq!(all(&kv, partition, id).unwrap(), vec![(one.clone(), a), (two, b)]);
            let mut txn = Txn::new(&kv);
            delete(&mut txn, partition, id, &one);
            prop_assert_eq!(all(&txn, partition, id).unwrap().len(), 1);
            delete_all(&mut txn, partition, id).unwrap();
            kv.apply(txn.into_writes());
            prop_assert_eq!(all(&kv, partition, id).unwrap(), vec![]);
            prop_assert_eq!(all(&kv, partition, other).unwrap().len(), 1);
        }

        #[test]
        fn keys_round_trip_and_keep_order(
            a in (arbitrary::partition(), arbitrary::id(), any::<String>()),
            b in (arbitrary::partition(), arbitrary::id(), any::<String>()),
        ) {
            prop_assert_eq!(parse(&key(a.0, a.1, &a.2)), Some(a.clone()));
            prop_assert_eq!(a.cmp(&b), key(a.0, a.1, &a.2).cmp(&key(b.0, b.1, &b.2)));
        }
    }

    #[test]
    fn secrets_are_not_shown() {
        let config = PushConfig {
            url: "https://h/".into(),
            token: "hush-1".into(),
            authentication: Some(Authentication {
                scheme: "Bearer".into(),
                credentials: "hush-2".into(),
            }),
            form: 0,
            created_at: Timestamp(1),
        };
        assert!(!format!("{config:?} {:?}", config.authentication).contains("hush"));
    }
}
