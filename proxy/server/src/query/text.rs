//! Points in time and payloads as text.

use super::model::Preview;
use base64::{Engine, prelude::BASE64_STANDARD};
use holdfast_machine::time::Timestamp;

/// Most of a payload that is shown, in bytes.
const PREVIEW_BYTES_MAX: usize = 4 * 1024;

/// RFC 3339 in UTC with milliseconds.
pub(super) fn rfc3339(at: Timestamp) -> String {
    at.rfc3339()
}

/// The beginning of a payload.
pub(super) fn preview(payload: &[u8]) -> Preview {
    let begin = &payload[..payload.len().min(PREVIEW_BYTES_MAX)];
    let cut = begin.len() < payload.len();
    let text = match std::str::from_utf8(begin) {
        Ok(text) => Some(text),
        // A character that the cut went through.
        Err(error) if cut && error.error_len().is_none() => {
            std::str::from_utf8(&begin[..error.valid_up_to()]).ok()
        }
        Err(_) => None,
    };
    let base64 = text.is_none().then(|| BASE64_STANDARD.encode(begin));
    Preview { bytes: payload.len(), text: text.map(String::from), base64, cut }
}
