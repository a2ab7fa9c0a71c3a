//! `D | deployment id:16` and `S | service name`: keys of the registry's tables, which belong to no
//! partition. Their values are the registry's own.

use super::TableId;
use super::codec::{KeyReader, KeyWriter};
use crate::id::DeploymentId;

pub fn deployment_key(id: DeploymentId) -> Vec<u8> {
    KeyWriter::global(TableId::Deployment).rest(&id.0.to_be_bytes()).done()
}

pub fn parse_deployment_key(key: &[u8]) -> Option<DeploymentId> {
    let id = KeyReader::global(TableId::Deployment, key)?.rest();
    Some(DeploymentId(u128::from_be_bytes(id.try_into().ok()?)))
}

pub fn service_key(name: &str) -> Vec<u8> {
    KeyWriter::global(TableId::Service).rest(name.as_bytes()).done()
}

pub fn parse_service_key(key: &[u8]) -> Option<String> {
    String::from_utf8(KeyReader::global(TableId::Service, key)?.rest().to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn keys_round_trip_and_keep_order(a: u128, b: u128, one: String, other: String) {
            let [a, b] = [a, b].map(DeploymentId);
            prop_assert_eq!(parse_deployment_key(&deployment_key(a)), Some(a));
            prop_assert_eq!(a.cmp(&b), deployment_key(a).cmp(&deployment_key(b)));
            prop_assert_eq!(parse_service_key(&service_key(&one)), Some(one.clone()));
            prop_assert_eq!(one.cmp(&other), service_key(&one).cmp(&service_key(&other)));
        }
    }
}
