//! Ids in their binary and text forms. The text form is `{prefix}_1{payload}`; integers are
//! base62 over the *little-endian* reading of their big-endian bytes, as existing tools write them.

mod task;
#[cfg(test)]
mod tests;
pub mod ulid;

use self::ulid::CHANCE;
use crate::time::Timestamp;
use base64::{Engine, alphabet, engine::DecodePaddingMode, engine::GeneralPurposeConfig};
use sha2::{Digest, Sha256};
use std::{fmt, str::FromStr};
use xxhash_rust::xxh3::xxh3_64;

/// Bytes of an invocation id: partition key (8) and uuid (16), both big-endian.
pub const INVOCATION_ID_BYTES: usize = 24;
/// First signal index that an awakeable may have; lower ones are built in.
pub const FIRST_AWAKEABLE: u32 = 17;

/// Routes an id: all invocations of one object key share it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartitionKey(pub u64);

/// One slice of all keys, with one writer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartitionId(pub u16);

/// How many partitions a data directory was made with; never changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Partitions(pub u16);

/// One call of a target, from accepted to completed. The id never changes. Ids are in the order of
/// their rows: by time, as far as the uuid is one that begins with its time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InvocationId {
    pub uuid: u128,
    pub partition_key: PartitionKey,
}

/// One schedule. It has the form of an invocation id, so that it can be routed, stand in the timer
/// table and be told an outcome.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScheduleId(InvocationId);

/// One address of a service at one version.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeploymentId(pub u128);

/// One notice, which keeps its id however often it is delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NoticeId(pub u128);

/// The text that resolves one signal of one invocation (`sign_1…`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AwakeableId {
    pub invocation: InvocationId,
    pub signal: u32,
}

/// A text that is not an id of the expected kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not {expected}")]
pub struct Malformed {
    pub text: String,
    pub expected: &'static str,
}

impl PartitionKey {
    /// The partition key of everything that has `key`: an object, a workflow.
    pub fn of_key(key: &str) -> PartitionKey {
        PartitionKey(hash_str(key))
    }

    /// The partition key of an unkeyed service's invocation in bucket `bucket` of 512.
    pub fn of_service(service: &str, bucket: u64) -> PartitionKey {
        let mut bytes = Vec::with_capacity(service.len() + 32);
        bytes.extend(service.as_bytes());
        bytes.push(0xff);
        bytes.extend(b"unscoped/service\xff");
        bytes.extend((bucket % BUCKETS).to_le_bytes());
        PartitionKey(xxh3_64(&bytes))
    }
}

const BUCKETS: u64 = 512;

fn hash_str(text: &str) -> u64 {
    let mut bytes = Vec::with_capacity(text.len() + 1);
    bytes.extend(text.as_bytes());
    bytes.push(0xff);
    xxh3_64(&bytes)
}

impl Partitions {
    /// The partition that owns `key`: ranges of equal size over all keys.
    pub fn of(self, key: PartitionKey) -> PartitionId {
        let index = (u128::from(key.0) * u128::from(self.0)) >> 64;
        PartitionId(u16::try_from(index).expect("less than the number of partitions, a u16"))
    }

    /// Every partition, in order.
    pub fn all(self) -> impl Iterator<Item = PartitionId> {
        (0..self.0).map(PartitionId)
    }
}

impl InvocationId {
    /// The id of an idempotent call: the same target and key give the same id. It begins with the
    /// time of the key where that is a ULID, as the ones are that the ingress makes.
    pub fn idempotent(
        service: &str,
        key: Option<&str>,
        handler: &str,
        idempotency_key: &str,
    ) -> Self {
        let partition_key = match key {
            Some(key) => PartitionKey::of_key(key),
            None => PartitionKey::of_service(service, hash_str(idempotency_key) % BUCKETS),
        };
        let fields = ["ik", service].into_iter().chain(key).chain([handler, idempotency_key]);
        let digest = digest(fields);
        let uuid = match ulid::parse(idempotency_key) {
            Some(ulid) => ulid & !CHANCE | digest & CHANCE,
            None => digest,
        };
        InvocationId { partition_key, uuid }
    }

    /// The id of the one run of a workflow key.
    pub fn workflow(service: &str, key: &str) -> Self {
        InvocationId {
            partition_key: PartitionKey::of_key(key),
            uuid: digest(["wf", service, key].into_iter()),
        }
    }

    /// The id of a call that nobody can name twice. `random` is 80 bits of chance, made at a door.
    pub fn random(service: &str, key: Option<&str>, now_ms: u64, random: u128) -> Self {
        let partition_key = match key {
            Some(key) => PartitionKey::of_key(key),
            None => PartitionKey::of_service(service, random as u64),
        };
        InvocationId { partition_key, uuid: ulid::new(Timestamp(now_ms), random) }
    }

    /// The id of the call that `parent` makes with the journal entry `entry`. An unkeyed callee
    /// lives in its parent's partition. Its uuid begins as the parent's does, with the time if that
    /// has one: their rows are neighbours.
    pub fn child(parent: InvocationId, entry: u32, key: Option<&str>) -> Self {
        let partition_key = key.map_or(parent.partition_key, PartitionKey::of_key);
        let mut hash = Sha256::new();
        hash.update(b"child");
        hash.update(parent.to_bytes());
        hash.update(entry.to_be_bytes());
        let uuid = parent.uuid & !CHANCE | first_16(hash) & CHANCE;
        InvocationId { partition_key, uuid }
    }

    /// The id of what `schedule` calls for the time `planned`, so that it happens once. `asked` is
    /// the number of the run where a person asked for it. An unkeyed target lives in the partition
    /// of its schedule.
    pub fn scheduled(
        schedule: ScheduleId,
        planned: Timestamp,
        asked: Option<u32>,
        key: Option<&str>,
    ) -> Self {
        let partition_key = key.map_or(schedule.0.partition_key, PartitionKey::of_key);
        let mut hash = Sha256::new();
        hash.update(b"scheduled");
        hash.update(schedule.0.to_bytes());
        hash.update(planned.0.to_be_bytes());
        hash.update(asked.map(u32::to_be_bytes).unwrap_or_default());
        InvocationId { partition_key, uuid: first_16(hash) }
    }

    pub fn to_bytes(self) -> [u8; INVOCATION_ID_BYTES] {
        let mut bytes = [0; INVOCATION_ID_BYTES];
        bytes[..8].copy_from_slice(&self.partition_key.0.to_be_bytes());
        bytes[8..].copy_from_slice(&self.uuid.to_be_bytes());
        bytes
    }

    pub fn from_bytes(bytes: [u8; INVOCATION_ID_BYTES]) -> Self {
        let (key, uuid) = bytes.split_first_chunk::<8>().expect("24 bytes");
        InvocationId {
            partition_key: PartitionKey(u64::from_be_bytes(*key)),
            uuid: u128::from_be_bytes(uuid.try_into().expect("16 bytes are left")),
        }
    }

    pub fn from_slice(bytes: &[u8]) -> Option<Self> {
        Some(Self::from_bytes(bytes.try_into().ok()?))
    }
}

impl ScheduleId {
    /// The schedule of that name.
    pub fn of(name: &str) -> Self {
        let uuid = digest(["schedule", name].into_iter());
        ScheduleId(InvocationId { partition_key: PartitionKey::of_key(name), uuid })
    }

    /// The schedule that a timer or a sink names.
    pub fn from_row(id: InvocationId) -> Self {
        ScheduleId(id)
    }

    /// As it stands where invocation ids stand.
    pub fn row(self) -> InvocationId {
        self.0
    }
}

impl DeploymentId {
    /// `random` is 80 bits of chance.
    pub fn new(now_ms: u64, random: u128) -> Self {
        DeploymentId(ulid::new(Timestamp(now_ms), random))
    }
}

impl NoticeId {
    /// The id of row `sequence` of a partition. What it is about goes in too: other data
    /// directories have rows of that number as well.
    pub fn new(
        partition: PartitionId,
        sequence: u64,
        invocation: InvocationId,
        at: Timestamp,
    ) -> Self {
        let mut hash = Sha256::new();
        hash.update(b"notice");
        hash.update(partition.0.to_be_bytes());
        hash.update(sequence.to_be_bytes());
        hash.update(invocation.to_bytes());
        hash.update(at.0.to_be_bytes());
        NoticeId(first_16(hash))
    }
}

fn digest<'a>(fields: impl Iterator<Item = &'a str>) -> u128 {
    let mut hash = Sha256::new();
    for (i, field) in fields.enumerate() {
        if i > 0 {
            hash.update(b",");
        }
        hash.update(field.as_bytes());
    }
    first_16(hash)
}

fn first_16(hash: Sha256) -> u128 {
    let digest = hash.finalize();
    u128::from_be_bytes(digest[..16].try_into().expect("a digest has 32 bytes"))
}

// --- text forms

const DIGITS: &[u8; 62] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const U64_DIGITS: usize = 11;
const U128_DIGITS: usize = 22;

/// So many digits are taken at once: a division of 128 bits costs as much as many of 64.
const LIMB_DIGITS: usize = 10;
const LIMB: u64 = 62u64.pow(LIMB_DIGITS as u32);

fn push_base62(out: &mut String, mut value: u128, width: usize) {
    let mut digits = [b'0'; U128_DIGITS];
    for limb_digits in digits[..width].rchunks_mut(LIMB_DIGITS) {
        let mut limb = take_limb(&mut value);
        for digit in limb_digits.iter_mut().rev() {
            *digit = DIGITS[(limb % 62) as usize];
            limb /= 62;
        }
    }
    out.push_str(std::str::from_utf8(&digits[..width]).expect("digits are ASCII"));
}

/// Takes the last digits off; one division, and none of 128 bits where 64 are enough.
fn take_limb(value: &mut u128) -> u64 {
    if let Ok(short) = u64::try_from(*value) {
        *value = u128::from(short / LIMB);
        return short % LIMB;
    }
    let rest = *value / u128::from(LIMB);
    let limb = *value - rest * u128::from(LIMB);
    *value = rest;
    limb as u64
}

fn parse_base62(text: &[u8]) -> Option<u128> {
    text.iter().try_fold(0u128, |value, byte| {
        let digit = DIGITS.iter().position(|digit| digit == byte)?;
        value.checked_mul(62)?.checked_add(digit as u128)
    })
}

impl fmt::Display for InvocationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::with_capacity(38);
        text.push_str("inv_1");
        push_base62(&mut text, u128::from(self.partition_key.0.swap_bytes()), U64_DIGITS);
        push_base62(&mut text, self.uuid.swap_bytes(), U128_DIGITS);
        f.pad(&text)
    }
}

impl FromStr for InvocationId {
    type Err = Malformed;
    fn from_str(text: &str) -> Result<Self, Malformed> {
        let parse = || {
            let payload = text.strip_prefix("inv_1")?.as_bytes();
            if payload.len() != U64_DIGITS + U128_DIGITS {
                return None;
            }
            let (key, uuid) = payload.split_at(U64_DIGITS);
            let key = u64::try_from(parse_base62(key)?).ok()?.swap_bytes();
            let uuid = parse_base62(uuid)?.swap_bytes();
            Some(InvocationId { partition_key: PartitionKey(key), uuid })
        };
        parse().ok_or_else(|| Malformed::new(text, "an invocation id (inv_1 and 33 characters)"))
    }
}

impl fmt::Display for DeploymentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::from("dp_1");
        push_base62(&mut text, self.0.swap_bytes(), U128_DIGITS);
        f.pad(&text)
    }
}

impl FromStr for DeploymentId {
    type Err = Malformed;
    fn from_str(text: &str) -> Result<Self, Malformed> {
        let payload = text.strip_prefix("dp_1").filter(|payload| payload.len() == U128_DIGITS);
        payload
            .and_then(|payload| parse_base62(payload.as_bytes()))
            .map(|value| DeploymentId(value.swap_bytes()))
            .ok_or_else(|| Malformed::new(text, "a deployment id (dp_1 and 22 characters)"))
    }
}

impl fmt::Display for NoticeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::from("ntc_1");
        push_base62(&mut text, self.0.swap_bytes(), U128_DIGITS);
        f.pad(&text)
    }
}

const URL_SAFE: base64::engine::GeneralPurpose = base64::engine::GeneralPurpose::new(
    &alphabet::URL_SAFE,
    GeneralPurposeConfig::new()
        .with_encode_padding(false)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

impl fmt::Display for AwakeableId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = self.invocation.to_bytes().to_vec();
        bytes.extend(self.signal.to_be_bytes());
        write!(f, "sign_1{}", URL_SAFE.encode(bytes))
    }
}

impl FromStr for AwakeableId {
    type Err = Malformed;
    fn from_str(text: &str) -> Result<Self, Malformed> {
        let parse = || {
            let bytes = URL_SAFE.decode(text.strip_prefix("sign_1")?).ok()?;
            let (id, signal) = bytes.split_first_chunk::<INVOCATION_ID_BYTES>()?;
            let signal = u32::from_be_bytes(signal.try_into().ok()?);
            Some(AwakeableId { invocation: InvocationId::from_bytes(*id), signal })
        };
        parse().ok_or_else(|| Malformed::new(text, "an awakeable id (sign_1 and 38 characters)"))
    }
}

impl Malformed {
    fn new(text: &str, expected: &'static str) -> Self {
        Malformed { text: text.chars().take(80).collect(), expected }
    }
}

impl fmt::Debug for InvocationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for ScheduleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "schedule of {}", self.0)
    }
}

impl fmt::Debug for DeploymentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

pub use task::{AskId, TaskId};
