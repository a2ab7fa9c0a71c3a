//! The head of the request that carries an attempt. Never knows where it is sent.

use super::{
    Head,
    field::{self, Value},
};
use crate::model::{Entry, Target};
use holdfast_wire::{percent, version::Version};

/// Headers of W3C trace context, and their values.
pub(super) type Trace = Vec<(&'static str, String)>;

const TRACE_PARENT: &str = "traceparent";
const TRACE_STATE: &str = "tracestate";
/// The field of an input with one header, and the fields of that.
const HEADERS_FIELD: usize = 1;
const HEADER_KEY_FIELD: usize = 1;
const HEADER_VALUE_FIELD: usize = 2;
/// Longest trace state that is passed on; it says nothing about the call, so a longer one goes.
const TRACE_STATE_BYTES_MAX: usize = 512;

/// `invocation` is the text of its id.
pub(super) fn head(invocation: &str, target: &Target, version: Version, trace: &Trace) -> Head {
    let mut headers = vec![("x-restate-invocation-id", invocation.to_owned())];
    if let Some(key) = &target.key {
        headers.push(("x-restate-service-key", percent::escaped(key)));
    }
    headers.extend(trace.iter().cloned());
    Head {
        path: format!("/invoke/{}/{}", target.service, target.handler),
        content_type: version.content_type(),
        headers,
    }
}

/// The trace that an invocation came in with, which is the same for all of its attempts; nothing
/// where it came in with none.
pub(super) fn trace(input: &Entry) -> Trace {
    let (parents, states) = trace_headers(input);
    let [parent] = &parents[..] else {
        return vec![];
    };
    if !is_trace_parent(parent) {
        return vec![];
    }
    let state = states.join(",");
    let fits = (1..=TRACE_STATE_BYTES_MAX).contains(&state.len());
    let readable = state.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    let state = (fits && readable).then_some((TRACE_STATE, state));
    [(TRACE_PARENT, parent.clone())].into_iter().chain(state).collect()
}

/// The values of the two headers. Each attempt asks, so that the others are not decoded.
fn trace_headers(input: &Entry) -> (Vec<String>, Vec<String>) {
    let (mut parents, mut states) = (vec![], vec![]);
    let mut rest = &input.payload[..];
    // What was stored can be read; what cannot be has no trace.
    while let Ok(Some((number, value))) = field::next(&mut rest) {
        let (HEADERS_FIELD, Value::Bytes(header)) = (number, value) else {
            continue;
        };
        let part = |number| field::bytes(header, number).ok().flatten();
        let into = match part(HEADER_KEY_FIELD) {
            Some(key) if key == TRACE_PARENT.as_bytes() => &mut parents,
            Some(key) if key == TRACE_STATE.as_bytes() => &mut states,
            _ => continue,
        };
        let value = part(HEADER_VALUE_FIELD).unwrap_or_default();
        into.extend(String::from_utf8(value.to_vec()));
    }
    (parents, states)
}

/// `00-TRACE-PARENT-FLAGS` in lower-case hex, neither id all zeros. Later versions may have more
/// behind it.
fn is_trace_parent(text: &str) -> bool {
    let mut parts = text.splitn(5, '-');
    let mut hex = |digits: usize| {
        let is_digit = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        parts.next().filter(|part| part.len() == digits && part.bytes().all(is_digit))
    };
    let (Some(version), Some(trace), Some(parent), Some(_flags)) =
        (hex(2), hex(32), hex(16), hex(2))
    else {
        return false;
    };
    let has_more = parts.next().is_some();
    let is_some = |id: &str| id.bytes().any(|digit| digit != b'0');
    version != "ff" && !(version == "00" && has_more) && is_some(trace) && is_some(parent)
}
