//! Rows of the registry in the store: `D | deployment:16` -> `DeploymentRow` and `S | service` ->
//! `ServiceRow`. Field numbers are never given again. Never interprets a manifest.

use super::{
    error::Error,
    tables::{Listing, Overrides, Record},
};
use crate::http::client::Protocol;
use bytes::Bytes;
use holdfast_machine::{
    id::DeploymentId,
    tables::{
        TableId,
        registry::{parse_deployment_key, parse_service_key},
    },
    time::Timestamp,
};
use holdfast_wire::manifest::Manifest;
use prost::Message;
use std::{collections::BTreeMap, time::Duration};

#[derive(Clone, PartialEq, prost::Message)]
struct DeploymentRow {
    #[prost(string, tag = "1")]
    uri: String,
    /// HTTP/1.1 instead of HTTP/2.
    #[prost(bool, tag = "2")]
    http1: bool,
    #[prost(string, optional, tag = "3")]
    sdk_version: Option<String>,
    #[prost(btree_map = "string, string", tag = "4")]
    additional_headers: BTreeMap<String, String>,
    #[prost(btree_map = "string, string", tag = "5")]
    metadata: BTreeMap<String, String>,
    #[prost(uint64, tag = "6")]
    created_at_ms: u64,
    /// The manifest as JSON, after it was read and checked.
    #[prost(bytes = "bytes", tag = "7")]
    manifest: Bytes,
    /// Revision of each service of the manifest.
    #[prost(btree_map = "string, uint32", tag = "8")]
    revisions: BTreeMap<String, u32>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct ServiceRow {
    /// Deployment of the latest revision.
    #[prost(bytes = "bytes", tag = "1")]
    deployment: Bytes,
    #[prost(uint32, tag = "2")]
    revision: u32,
    #[prost(bool, optional, tag = "3")]
    public: Option<bool>,
    #[prost(uint64, optional, tag = "4")]
    idempotency_retention_ms: Option<u64>,
    #[prost(uint64, optional, tag = "5")]
    workflow_completion_retention_ms: Option<u64>,
    #[prost(uint64, optional, tag = "6")]
    journal_retention_ms: Option<u64>,
    #[prost(uint64, optional, tag = "7")]
    inactivity_timeout_ms: Option<u64>,
    #[prost(uint64, optional, tag = "8")]
    abort_timeout_ms: Option<u64>,
}

/// All rows of deployments, as a range of keys.
pub fn deployments() -> (Vec<u8>, Vec<u8>) {
    range(TableId::Deployment)
}

/// All rows of services, as a range of keys.
pub fn services() -> (Vec<u8>, Vec<u8>) {
    range(TableId::Service)
}

fn range(table: TableId) -> (Vec<u8>, Vec<u8>) {
    (vec![table as u8], vec![table as u8 + 1])
}

pub fn encode_deployment(record: &Record) -> Bytes {
    let manifest = serde_json::to_vec(&*record.manifest).expect("a manifest has string keys only");
    let row = DeploymentRow {
        uri: record.uri.to_string(),
        http1: record.protocol == Protocol::Http1,
        sdk_version: record.sdk_version.clone(),
        additional_headers: record.additional_headers.clone(),
        metadata: record.metadata.clone(),
        created_at_ms: record.created_at.0,
        manifest: manifest.into(),
        revisions: record.revisions.clone(),
    };
    row.encode_to_vec().into()
}

/// # Errors
/// `Store` where this program cannot have written the row.
pub fn decode_deployment(key: &[u8], value: &[u8]) -> Result<(DeploymentId, Record), Error> {
    let corrupt = |what: &str| Error::Store(format!("corrupt row of a deployment: {what}"));
    let id = parse_deployment_key(key).ok_or_else(|| corrupt("key"))?;
    let row = DeploymentRow::decode(value).map_err(|_| corrupt("value"))?;
    let manifest: Manifest = serde_json::from_slice(&row.manifest)
        .map_err(|error| corrupt(&format!("manifest: {error}")))?;
    let record = Record {
        uri: row.uri.parse().map_err(|_| corrupt("address"))?,
        protocol: if row.http1 { Protocol::Http1 } else { Protocol::Http2 },
        sdk_version: row.sdk_version,
        additional_headers: row.additional_headers,
        metadata: row.metadata,
        created_at: Timestamp(row.created_at_ms),
        manifest: manifest.into(),
        revisions: row.revisions,
    };
    Ok((id, record))
}

pub fn encode_service(listing: &Listing) -> Bytes {
    let ms = |duration: Option<Duration>| duration.map(super::config::millis);
    let overrides = &listing.overrides;
    let row = ServiceRow {
        deployment: Bytes::copy_from_slice(&listing.deployment.0.to_be_bytes()),
        revision: listing.revision,
        public: overrides.public,
        idempotency_retention_ms: ms(overrides.idempotency_retention),
        workflow_completion_retention_ms: ms(overrides.workflow_completion_retention),
        journal_retention_ms: ms(overrides.journal_retention),
        inactivity_timeout_ms: ms(overrides.inactivity_timeout),
        abort_timeout_ms: ms(overrides.abort_timeout),
    };
    row.encode_to_vec().into()
}

/// # Errors
/// `Store` where this program cannot have written the row.
pub fn decode_service(key: &[u8], value: &[u8]) -> Result<(String, Listing), Error> {
    let corrupt = |what: &str| Error::Store(format!("corrupt row of a service: {what}"));
    let name = parse_service_key(key).ok_or_else(|| corrupt("key"))?;
    let row = ServiceRow::decode(value).map_err(|_| corrupt("value"))?;
    let deployment = row.deployment.as_ref().try_into().map_err(|_| corrupt("deployment"))?;
    let duration = |ms: Option<u64>| ms.map(Duration::from_millis);
    let listing = Listing {
        deployment: DeploymentId(u128::from_be_bytes(deployment)),
        revision: row.revision,
        overrides: Overrides {
            public: row.public,
            idempotency_retention: duration(row.idempotency_retention_ms),
            workflow_completion_retention: duration(row.workflow_completion_retention_ms),
            journal_retention: duration(row.journal_retention_ms),
            inactivity_timeout: duration(row.inactivity_timeout_ms),
            abort_timeout: duration(row.abort_timeout_ms),
        },
    };
    Ok((name, listing))
}
