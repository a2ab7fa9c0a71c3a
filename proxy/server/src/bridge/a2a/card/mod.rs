//! Agent cards: what is registered and configured of an agent, as clients find it. Signed once, told
//! with what caches need. Never holds a secret but the key that it signs with.

mod build;
mod canonical;
mod config;
pub mod model;
mod sign;
#[cfg(test)]
mod tests;

pub use build::{Reader, SCHEMAS_URI, Subject};
pub use config::{Binding, Config, Shown};
pub use model::{AgentCard, json};
pub use sign::Error;

use crate::clock::Clock;
use crate::http::{Body, empty, full};
use bytes::Bytes;
use holdfast_machine::time::Timestamp;
use http::{
    HeaderMap, HeaderValue, Method, Response, StatusCode,
    header::{
        ACCESS_CONTROL_ALLOW_ORIGIN, ALLOW, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, ETAG,
        IF_NONE_MATCH, LAST_MODIFIED,
    },
    request::Parts,
};
use ring::digest::{SHA256, digest};
use serde_json::json as json_value;
use sign::Signer;
use std::{
    collections::HashMap,
    fmt::Write,
    sync::{Arc, Mutex},
};

/// Cards that are kept as they were signed: one for each agent, address and kind of reader.
const KEPT_MAX: usize = 256;

/// Makes cards, and keeps those it made.
pub struct Cards {
    config: Config,
    signer: Option<Signer>,
    clock: Arc<dyn Clock>,
    /// By the hash of the unsigned card.
    kept: Mutex<HashMap<[u8; 32], Arc<Rendered>>>,
}

/// A card as it is sent.
struct Rendered {
    card: AgentCard,
    bytes: Bytes,
    etag: HeaderValue,
    modified: HeaderValue,
}

impl Cards {
    /// # Errors
    /// Where the key cannot be used.
    pub fn new(config: Config, clock: Arc<dyn Clock>) -> Result<Cards, Error> {
        let signer = config.signing_key_file.as_deref().map(|path| {
            let (kid, jku) = (config.signing_key_id.as_deref(), config.signing_key_url.as_deref());
            Signer::from_file(path, kid, jku)
        });
        Ok(Cards { signer: signer.transpose()?, config, clock, kept: Mutex::default() })
    }

    /// Whether there is a card for those who have shown who they are.
    pub fn extended(&self) -> bool {
        self.config.extended
    }

    /// The card of an agent, signed.
    pub fn card(&self, subject: &Subject<'_>, reader: Reader<'_>) -> AgentCard {
        self.rendered(subject, reader).card.clone()
    }

    /// Answers who asks for the public card.
    pub fn answer(
        &self,
        subject: &Subject<'_>,
        reader: Reader<'_>,
        head: &Parts,
    ) -> Response<Body> {
        if !matches!(head.method, Method::GET | Method::HEAD) {
            return not_allowed();
        }
        let rendered = self.rendered(subject, reader);
        let is_known = names(&head.headers, &rendered.etag);
        let body = match head.method {
            Method::GET if !is_known => full(rendered.bytes.clone()),
            _ => empty(),
        };
        let mut response = Response::new(body);
        let headers = response.headers_mut();
        if !is_known {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            headers.insert(CONTENT_LENGTH, HeaderValue::from(rendered.bytes.len()));
        }
        headers.insert(ETAG, rendered.etag.clone());
        headers.insert(LAST_MODIFIED, rendered.modified.clone());
        self.cache_for(headers);
        if is_known {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
        }
        response
    }

    /// Answers who asks for the keys that cards are signed with.
    pub fn keys(&self, head: &Parts) -> Response<Body> {
        if !matches!(head.method, Method::GET | Method::HEAD) {
            return not_allowed();
        }
        let keys = match &self.signer {
            Some(signer) => signer.key_set(),
            None => json_value!({ "keys": [] }),
        };
        let bytes = Bytes::from(keys.to_string());
        let length = HeaderValue::from(bytes.len());
        let is_get = head.method == Method::GET;
        let mut response = Response::new(if is_get { full(bytes) } else { empty() });
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/jwk-set+json"));
        headers.insert(CONTENT_LENGTH, length);
        self.cache_for(headers);
        response
    }

    fn cache_for(&self, headers: &mut HeaderMap) {
        let cached = format!("public, max-age={}", self.config.max_age_s);
        let cached = HeaderValue::from_str(&cached).expect("a number is visible ASCII");
        headers.insert(CACHE_CONTROL, cached);
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    }

    fn rendered(&self, subject: &Subject<'_>, reader: Reader<'_>) -> Arc<Rendered> {
        let card = build::card(&self.config, subject, reader);
        let unsigned = json(&card).to_string();
        let hash = hash(unsigned.as_bytes());
        let mut kept = self.kept.lock().expect("nobody panics while holding the lock");
        if let Some(rendered) = kept.get(&hash) {
            return rendered.clone();
        }
        if kept.len() >= KEPT_MAX {
            kept.clear();
        }
        let rendered = Arc::new(self.render(card));
        kept.insert(hash, rendered.clone());
        rendered
    }

    fn render(&self, mut card: AgentCard) -> Rendered {
        if let Some(signer) = &self.signer {
            signer.sign(&mut card);
        }
        let bytes = Bytes::from(json(&card).to_string());
        let etag = etag(&bytes);
        Rendered { card, bytes, etag, modified: date(self.clock.now()) }
    }
}

fn not_allowed() -> Response<Body> {
    let mut response = Response::new(empty());
    *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
    response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
    response
}

fn hash(bytes: &[u8]) -> [u8; 32] {
    digest(&SHA256, bytes).as_ref().try_into().expect("SHA-256 has 32 bytes")
}

fn etag(bytes: &[u8]) -> HeaderValue {
    let mut text = String::from("\"");
    for byte in &hash(bytes)[..16] {
        write!(text, "{byte:02x}").expect("a string takes everything");
    }
    text.push('"');
    HeaderValue::from_str(&text).expect("hexadecimal digits can stand in a header")
}

/// Whether the client has this version already.
fn names(headers: &HeaderMap, etag: &HeaderValue) -> bool {
    let known = headers.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    let mut tags = known.flat_map(|value| value.split(',')).map(str::trim);
    tags.any(|tag| tag == "*" || tag.trim_start_matches("W/").as_bytes() == etag.as_bytes())
}

/// As HTTP writes a date.
fn date(at: Timestamp) -> HeaderValue {
    let at = jiff::Timestamp::from_millisecond(i64::try_from(at.0).unwrap_or(i64::MAX));
    let at = at.unwrap_or(jiff::Timestamp::MAX);
    let text = at.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
    HeaderValue::from_str(&text).expect("a date is visible ASCII")
}
