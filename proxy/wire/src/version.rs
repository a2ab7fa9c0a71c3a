//! All that differs between the versions of the service protocol.
//!
//! Nobody else compares version numbers: others ask [`Version::supports`].

use std::fmt;
use std::ops::RangeInclusive;

/// A version of the service protocol that we speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    V5 = 5,
    V6 = 6,
    V7 = 7,
}

/// What not every version can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Feature {
    /// `Start.random_seed` is honoured; before, the service derives a seed from the id.
    RandomSeed,
    /// `Failure.metadata`.
    FailureMetadata,
    /// A suspension says what it waits for as a tree and not as flat lists.
    FutureTree,
    /// `AwaitingOn` tells what a running attempt waits for.
    AwaitingOn,
    /// The service keeps what it proposes for a run and takes an acknowledgement for it; before, it
    /// needs the whole completion back.
    RunAck,
    /// `Error.behavior`: retry, pause or fail.
    ErrorBehavior,
    /// Scopes and limit keys on calls, attach targets and `Start`.
    Scopes,
    /// `Start.idempotency_key`.
    IdempotencyKeyInStart,
}

/// Why there is no version that both sides speak.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error(
        "service speaks protocol versions {min} to {max}, all older than {ours}, the oldest we \
         speak; update the SDK of the service"
    )]
    TooOld { min: u32, max: u32, ours: Version },
    #[error(
        "service speaks protocol versions {min} to {max}, all newer than {ours}, the newest \
         allowed here; raise the limit or update the sidecar"
    )]
    TooNew { min: u32, max: u32, ours: Version },
    #[error("service speaks protocol versions {min} to {max}; expected a range in rising order")]
    Disordered { min: u32, max: u32 },
}

impl Version {
    /// Every version we speak, oldest first.
    pub const ALL: [Version; 3] = [Version::V5, Version::V6, Version::V7];
    /// The oldest version we speak.
    pub const OLDEST: Version = Version::V5;
    /// The newest version we speak.
    pub const NEWEST: Version = Version::V7;

    /// The newest version that a service speaks which speaks `min` to `max`, but none above `cap`.
    ///
    /// # Errors
    /// If there is none.
    pub fn negotiate(min: u32, max: u32, cap: Version) -> Result<Version, Error> {
        if min > max {
            return Err(Error::Disordered { min, max });
        }
        if min > cap.number() {
            return Err(Error::TooNew { min, max, ours: cap });
        }
        Version::from_number(max.min(cap.number())).ok_or(Error::TooOld {
            min,
            max,
            ours: Version::OLDEST,
        })
    }

    /// The number as manifests, media types and the registry write it.
    pub const fn number(self) -> u32 {
        self as u32
    }

    /// The version of that number, if we speak it.
    pub fn from_number(number: u32) -> Option<Version> {
        Version::ALL.into_iter().find(|version| version.number() == number)
    }

    /// The media type of requests and responses of an attempt.
    pub const fn content_type(self) -> &'static str {
        match self {
            Version::V5 => "application/vnd.restate.invocation.v5",
            Version::V6 => "application/vnd.restate.invocation.v6",
            Version::V7 => "application/vnd.restate.invocation.v7",
        }
    }

    /// Whether this version has that feature.
    pub fn supports(self, feature: Feature) -> bool {
        self >= feature.since()
    }

    /// The versions a service that uses this crate can announce.
    pub fn range() -> RangeInclusive<u32> {
        Version::OLDEST.number()..=Version::NEWEST.number()
    }
}

impl Feature {
    fn since(self) -> Version {
        match self {
            Feature::RandomSeed | Feature::FailureMetadata => Version::V6,
            Feature::FutureTree
            | Feature::AwaitingOn
            | Feature::RunAck
            | Feature::ErrorBehavior
            | Feature::Scopes
            | Feature::IdempotencyKeyInStart => Version::V7,
        }
    }
}

/// The version that a media type stands for. It has to be written exactly, without parameters.
pub fn parse_content_type(content_type: &str) -> Option<Version> {
    Version::ALL.into_iter().find(|version| version.content_type() == content_type)
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "V{}", self.number())
    }
}
