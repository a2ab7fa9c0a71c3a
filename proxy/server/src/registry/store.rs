//! The tables of the registry and their rows in the store: the one writer of both. A change is in
//! the store before it is in the tables.

use super::{error::Error, rows, tables::Tables};
use crate::store::{Batch, CommitError, Durability, Lease, REGISTRY, Sequence, Store};
use holdfast_machine::{
    kv::{Kv, Writes},
    tables::registry::{deployment_key, service_key},
};
use std::{collections::BTreeMap, sync::Arc};

pub(super) struct Ledger {
    store: Arc<dyn Store>,
    lease: Lease,
    tables: Tables,
}

impl Ledger {
    pub(super) fn open(store: Arc<dyn Store>) -> Result<Ledger, Error> {
        let lease = store.acquire(REGISTRY).map_err(|error| failed(&error))?;
        let tables = Tables {
            deployments: read(&*store, rows::deployments(), rows::decode_deployment)?,
            services: read(&*store, rows::services(), rows::decode_service)?,
        };
        Ok(Ledger { store, lease, tables })
    }

    pub(super) fn tables(&self) -> &Tables {
        &self.tables
    }

    /// Stores what is different in `tables`, then takes them over.
    pub(super) fn replace(&mut self, tables: Tables) -> Result<(), Error> {
        let writes = differences(&self.tables, &tables);
        if !writes.is_empty() {
            let sequence = self.lease.applied.next();
            let durability = Durability::Sync;
            let batch = Batch { fence: self.lease.fence, sequence, writes, durability };
            match self.store.commit(&batch) {
                Err(CommitError::Unknown { .. }) => self.find_out(sequence)?,
                done => done.map_err(|error| failed(&error))?,
            }
            self.lease.applied = sequence;
        }
        self.tables = tables;
        Ok(())
    }
}

impl Ledger {
    /// Whether a commit happened whose outcome nobody could say.
    fn find_out(&self, sequence: Sequence) -> Result<(), Error> {
        let applied = self.store.applied(REGISTRY).map_err(|error| failed(&error))?;
        match applied == sequence {
            true => Ok(()),
            false => Err(Error::Store("it was not written; try again".into())),
        }
    }
}

fn failed(error: &dyn std::fmt::Display) -> Error {
    Error::Store(error.to_string())
}

fn read<K: Ord, V>(
    store: &dyn Store,
    (from, to): (Vec<u8>, Vec<u8>),
    decode: impl Fn(&[u8], &[u8]) -> Result<(K, V), Error>,
) -> Result<BTreeMap<K, V>, Error> {
    let mut read = Ok(BTreeMap::new());
    let mut each = |key: &[u8], value: &[u8]| match (&mut read, decode(key, value)) {
        (Ok(map), Ok((key, value))) => {
            map.insert(key, value);
            true
        }
        (_, Err(error)) => {
            read = Err(error);
            false
        }
        (Err(_), _) => false,
    };
    Kv::scan(store, &from, &to, &mut each).map_err(|error| failed(&error))?;
    read
}

fn differences(old: &Tables, new: &Tables) -> Writes {
    let mut writes = Writes::new();
    for (id, record) in &new.deployments {
        if old.deployments.get(id) != Some(record) {
            writes.insert(deployment_key(*id), Some(rows::encode_deployment(record)));
        }
    }
    for id in old.deployments.keys().filter(|id| !new.deployments.contains_key(id)) {
        writes.insert(deployment_key(*id), None);
    }
    for (name, listing) in &new.services {
        if old.services.get(name) != Some(listing) {
            writes.insert(service_key(name), Some(rows::encode_service(listing)));
        }
    }
    for name in old.services.keys().filter(|name| !new.services.contains_key(*name)) {
        writes.insert(service_key(name), None);
    }
    writes
}
