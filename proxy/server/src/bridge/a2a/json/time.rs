//! Times in JSON: RFC 3339.

use crate::bridge::a2a::model::Timestamp;

/// Reads a time with any offset; what is finer than a millisecond is cut off.
pub fn read(text: &str) -> Option<Timestamp> {
    let at: jiff::Timestamp = text.parse().ok()?;
    u64::try_from(at.as_millisecond()).ok().map(Timestamp)
}
