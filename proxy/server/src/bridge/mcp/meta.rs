//! What every request of the modern protocol says of itself: version, capabilities, and whatever
//! else stands in `_meta`. Nothing of it is remembered from one request to the next.

use super::{
    error::{Error, TASKS},
    headers,
};
use http::{HeaderMap, HeaderValue};
use serde_json::{Map, Value};

/// The modern protocol.
pub(super) const MODERN: &str = "2026-07-28";
/// Of the older protocols, the newest first.
pub(super) const LEGACY: [&str; 3] = ["2025-11-25", "2025-06-18", "2025-03-26"];
/// All of them.
pub(super) const SUPPORTED: [&str; 4] = [MODERN, LEGACY[0], LEGACY[1], LEGACY[2]];

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const IDEMPOTENCY_KEY: &str = "dev.holdfast/idempotencyKey";
/// What belongs to the trace of the caller, and is passed on.
const TRACE: [&str; 3] = ["traceparent", "tracestate", "baggage"];
const TRACE_CHARS_MAX: usize = 8192;

/// What a client can do.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Capabilities {
    /// It can follow tasks.
    pub tasks: bool,
    /// It can ask a human with a form.
    pub form: bool,
    /// It can send a human to an address.
    pub url: bool,
    /// The names of all that it states.
    stated: Vec<String>,
}

impl Capabilities {
    pub fn of(stated: &Map<String, Value>) -> Capabilities {
        let elicitation = stated.get("elicitation").and_then(Value::as_object);
        let mode = |name: &str| elicitation.is_some_and(|modes| modes.contains_key(name));
        let extensions = stated.get("extensions").and_then(Value::as_object);
        let names = stated.iter().filter(|(_, stated)| stated.is_object());
        Capabilities {
            tasks: extensions.and_then(|it| it.get(TASKS)).is_some_and(Value::is_object),
            // Without modes, forms are meant.
            form: mode("form") || elicitation.is_some_and(|modes| !modes.contains_key("url")),
            url: mode("url"),
            stated: names.map(|(name, _)| name.clone()).collect(),
        }
    }

    /// Of a client that can ask a human in these ways, and nothing else.
    pub fn asking(form: bool, url: bool) -> Capabilities {
        Capabilities { form, url, ..Capabilities::default() }
    }

    /// Whether the client states a capability of that name.
    pub fn has(&self, name: &str) -> bool {
        self.stated.iter().any(|stated| stated == name)
    }
}

/// What a request says of itself.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Meta {
    pub capabilities: Capabilities,
    pub progress_token: Option<Value>,
    pub idempotency_key: Option<String>,
    /// Headers for the handler.
    pub trace: Vec<(String, String)>,
}

/// The version that the body of a modern request states.
pub(super) fn version(params: &Map<String, Value>) -> Option<&str> {
    params.get("_meta")?.get(VERSION)?.as_str()
}

/// Whether a request is one of the modern protocol.
pub(super) fn is_modern(params: &Map<String, Value>, headers: &HeaderMap) -> bool {
    let stated = headers.get(headers::VERSION).map(HeaderValue::as_bytes).unwrap_or_default();
    let in_body = params.get("_meta").is_some_and(|meta| meta.get(VERSION).is_some());
    in_body || is_date(stated) && stated >= MODERN.as_bytes()
}

fn is_date(text: &[u8]) -> bool {
    let shape = |(at, byte): (usize, &u8)| match at {
        4 | 7 => *byte == b'-',
        _ => byte.is_ascii_digit(),
    };
    text.len() == MODERN.len() && text.iter().enumerate().all(shape)
}

impl Meta {
    /// Reads everything of a modern request but the version.
    pub fn read(params: &Map<String, Value>, headers: &HeaderMap) -> Result<Meta, Error> {
        let meta = params.get("_meta").and_then(Value::as_object);
        let stated = meta.and_then(|meta| meta.get(CAPABILITIES)).and_then(Value::as_object);
        let Some(stated) = stated else {
            return Err(Error::Meta(format!("`_meta` lacks `{CAPABILITIES}`, an object")));
        };
        let meta = Meta::common(params, headers)?;
        Ok(Meta { capabilities: Capabilities::of(stated), ..meta })
    }

    /// Reads what older protocols have too.
    pub fn common(params: &Map<String, Value>, headers: &HeaderMap) -> Result<Meta, Error> {
        let none = Map::new();
        let meta = params.get("_meta").and_then(Value::as_object).unwrap_or(&none);
        let token =
            meta.get("progressToken").filter(|it| it.is_string() || it.is_i64() || it.is_u64());
        let in_meta = match meta.get(IDEMPOTENCY_KEY) {
            None => None,
            Some(Value::String(key)) if !key.is_empty() => Some(key.as_str()),
            Some(_) => return Err(Error::Params(format!("`{IDEMPOTENCY_KEY}` is no text"))),
        };
        let key = match (headers::idempotency_key(headers)?, in_meta) {
            (Some(one), Some(other)) if one != other => {
                return Err(Error::Params("there are two idempotency keys that differ".to_owned()));
            }
            (one, other) => one.or(other).map(str::to_owned),
        };
        Ok(Meta {
            capabilities: Capabilities::default(),
            progress_token: token.cloned(),
            idempotency_key: key,
            trace: trace(meta, headers),
        })
    }
}

fn trace(meta: &Map<String, Value>, headers: &HeaderMap) -> Vec<(String, String)> {
    let of = |name: &&str| {
        let in_meta = meta.get(*name).and_then(Value::as_str);
        let text = in_meta.or_else(|| headers.get(*name)?.to_str().ok())?;
        let visible = text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        (visible && text.len() <= TRACE_CHARS_MAX).then(|| ((*name).to_owned(), text.to_owned()))
    };
    TRACE.iter().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn capabilities_are_read() {
        let of = |stated: Value| {
            let it = Capabilities::of(stated.as_object().unwrap());
            (it.tasks, it.form, it.url)
        };
        assert_eq!(of(json!({})), (false, false, false));
        assert_eq!(of(json!({ "elicitation": {} })), (false, true, false));
        assert_eq!(of(json!({ "elicitation": { "url": {} } })), (false, false, true));
        assert_eq!(of(json!({ "elicitation": { "form": {}, "url": {} } })), (false, true, true));
        assert_eq!(of(json!({ "extensions": { TASKS: {} } })), (true, false, false));
        assert_eq!(
            of(json!({ "extensions": { TASKS: true }, "tasks": {} })),
            (false, false, false)
        );
    }

    #[test]
    fn eras_are_told_apart() {
        let is = |params: Value, version: Option<&'static str>| {
            let mut headers = HeaderMap::new();
            if let Some(version) = version {
                headers.insert(headers::VERSION, HeaderValue::from_static(version));
            }
            is_modern(params.as_object().unwrap(), &headers)
        };
        let modern = json!({ "_meta": { VERSION: "2026-07-28" } });
        assert!(is(modern.clone(), None));
        assert!(is(modern, Some("2025-11-25")));
        assert!(is(json!({}), Some("2026-07-28")));
        assert!(is(json!({}), Some("2027-01-01")));
        assert!(!is(json!({}), Some("2025-11-25")));
        assert!(!is(json!({}), Some("x")));
        assert!(!is(json!({ "_meta": {} }), None));
    }
}
