//! Who may come in by a door that agents use: bearer tokens, the principal that they stand for, and
//! which hosts and origins are answered at all. Never knows what is asked for, never passes a token
//! on, and never tells one.

mod config;
mod jwks;
mod jwt;
mod metadata;
mod place;
mod refusal;
#[cfg(test)]
mod tests;

pub use config::{Config, Jwt, Token};
pub use metadata::WELL_KNOWN;
pub use refusal::Refusal;

use crate::clock::Clock;
use crate::http::{client::Client, listen::Peer};
use http::{HeaderMap, header, request::Parts};
use jwks::Keys;
use ring::digest::{SHA256, digest};
use std::{collections::HashMap, fmt, sync::Arc};

/// Longest token that is looked at, in bytes.
const TOKEN_BYTES_MAX: usize = 16 << 10;

/// Somebody with a name of their own; `anonymous` where nobody is asked for one. What one
/// principal made, no other one sees.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Principal(Arc<str>);

impl Principal {
    /// Everybody, where no tokens are asked for.
    pub fn anonymous() -> Principal {
        Principal("anonymous".into())
    }

    pub fn new(name: impl Into<Arc<str>>) -> Principal {
        Principal(name.into())
    }

    /// As it is stored.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Who made a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    pub principal: Principal,
    /// The request came from this machine, see `Guard::is_local`.
    pub is_local: bool,
}

/// What a request is for.
#[derive(Debug, Clone, Copy)]
pub struct Resource<'r> {
    /// Where it is below the address of the listener: `/mcp`.
    pub path: &'r str,
    /// What a token has to allow; all of it.
    pub scopes: &'r [String],
}

/// The guard cannot do its work.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// HF0226
    #[error("HF0226: cannot use the keys in `{path}`: {reason}")]
    KeyFile { path: String, reason: String },
}

impl Error {
    /// Names the page in `docs/errors`.
    pub fn code(&self) -> &'static str {
        match self {
            Error::KeyFile { .. } => "HF0226",
        }
    }
}

/// Stands before doors. Cheap to clone.
#[derive(Clone)]
pub struct Guard {
    shared: Arc<Shared>,
}

struct Shared {
    config: Config,
    /// By the SHA-256 of the token, so that no comparison tells how much of one was right.
    tokens: HashMap<[u8; 32], Known>,
    keys: Option<Keys>,
    clock: Arc<dyn Clock>,
}

/// Whom a token of the list stands for.
struct Known {
    principal: Principal,
    /// `None`: everything.
    scopes: Option<Vec<String>>,
}

impl Guard {
    /// `client` fetches keys, where there is an issuer of tokens.
    ///
    /// # Errors
    /// Where keys are to come from a file that has none.
    pub fn new(config: Config, client: Client, clock: Arc<dyn Clock>) -> Result<Guard, Error> {
        let known = |token: &Token| {
            let principal = Principal::new(format!("token:{}", token.principal));
            (token.digest, Known { principal, scopes: token.scopes.clone() })
        };
        let tokens = config.tokens.iter().map(known).collect();
        let keys = config.jwt.as_ref().map(|jwt| Keys::new(jwt.clone(), client)).transpose()?;
        Ok(Guard { shared: Arc::new(Shared { config, tokens, keys, clock }) })
    }

    /// Whether nobody is asked for a token.
    pub fn is_open(&self) -> bool {
        self.shared.tokens.is_empty() && self.shared.keys.is_none()
    }

    /// Whether this place is answered by the name that the client used, and to the page that sent
    /// the client: browsers are easily led to `localhost` by a stranger's page.
    ///
    /// # Errors
    /// `Host` and `Origin`.
    pub fn place(&self, head: &Parts) -> Result<(), Refusal> {
        place::check(&self.shared.config, head)
    }

    /// Whether a request comes from this machine, and not from elsewhere through a proxy on it.
    pub fn is_local(&self, head: &Parts) -> bool {
        let peer = head.extensions.get::<Peer>();
        let is_loopback = peer.is_some_and(|peer| peer.0.ip().to_canonical().is_loopback());
        is_loopback && place::is_local(&self.shared.config, head)
    }

    /// Who asks for `resource`. Waits only while the keys of an issuer are fetched.
    ///
    /// # Errors
    /// Whatever is wrong with the token.
    pub async fn caller(&self, head: &Parts, resource: &Resource<'_>) -> Result<Caller, Refusal> {
        let is_local = self.is_local(head);
        let principal = match self.is_open() {
            true => Principal::anonymous(),
            false => self.principal(head, resource).await?,
        };
        Ok(Caller { principal, is_local })
    }

    async fn principal(&self, head: &Parts, resource: &Resource<'_>) -> Result<Principal, Refusal> {
        let challenge = || self.challenge(head, resource);
        let Some(token) = bearer(&head.headers) else {
            return Err(Refusal::NoToken { challenge: challenge() });
        };
        let bad = |reason| Refusal::BadToken { reason, challenge: challenge() };
        if token.len() > TOKEN_BYTES_MAX {
            return Err(bad("it is too long"));
        }
        let digest: [u8; 32] =
            digest(&SHA256, token.as_bytes()).as_ref().try_into().expect("SHA-256 has 32 bytes");
        let (principal, scopes) = match (self.shared.tokens.get(&digest), &self.shared.keys) {
            (Some(known), _) => (known.principal.clone(), known.scopes.clone()),
            (None, Some(keys)) => {
                let accepted = self.audiences(head, resource);
                let now = self.shared.clock.now();
                let claims = keys.verify(token, &accepted, now).await.map_err(|why| match why {
                    jwks::NotVerified::Bad(reason) => bad(reason),
                    jwks::NotVerified::Unavailable => Refusal::KeysUnavailable,
                })?;
                (claims.principal(keys.by_client()), Some(claims.scopes()))
            }
            (None, None) => return Err(bad("nobody here knows it")),
        };
        match scopes.as_ref().is_none_or(|has| resource.scopes.iter().all(|it| has.contains(it))) {
            true => Ok(principal),
            false => Err(Refusal::Scope {
                scopes: resource.scopes.join(" "),
                metadata: self.metadata_url(head, resource),
            }),
        }
    }

    /// For whom a token must be made.
    fn audiences(&self, head: &Parts, resource: &Resource<'_>) -> Vec<String> {
        let configured = self.shared.config.jwt.as_ref().map(|jwt| jwt.audiences.clone());
        match configured {
            Some(audiences) if !audiences.is_empty() => audiences,
            _ => {
                let (base, path) = (self.base_url(head), resource.path);
                // A token for a door is good for all that is below it.
                let door = path.split('/').nth(1).unwrap_or_default();
                vec![format!("{base}/{door}"), format!("{base}{path}")]
            }
        }
    }
}

/// The token of a request.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}
