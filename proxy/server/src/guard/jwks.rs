//! The keys of an issuer, fetched when they are needed and kept for a while. One fetch at a time,
//! none of them without bounds, and never more often than the settings allow.

use super::{
    Error,
    config::Jwt,
    jwt::{Claims, KeySet, Token},
};
use crate::http::{address_without_user, client::Client, client::Protocol, empty, read_body};
use holdfast_machine::time::Timestamp;
use hyper::{Request, StatusCode, Uri, header};
use std::{
    sync::{Arc, RwLock},
    time::Duration,
};
use tokio::{sync::Mutex, task::JoinSet};

/// Largest key set, in bytes.
const DOCUMENT_BYTES_MAX: usize = 256 << 10;

/// The keys of one issuer.
pub struct Keys {
    jwt: Jwt,
    source: Source,
    current: Arc<RwLock<Option<Fetched>>>,
    /// Held while keys are fetched.
    fetching: Mutex<Fetching>,
}

#[derive(Default)]
struct Fetching {
    /// When that was tried last.
    last: Option<Timestamp>,
    /// The fetch that goes on, whether or not whoever wanted it still waits.
    task: JoinSet<()>,
}

enum Source {
    /// They are all there.
    File,
    Address {
        uri: Uri,
        client: Client,
    },
}

#[derive(Clone)]
struct Fetched {
    keys: Arc<KeySet>,
    at: Timestamp,
}

/// Why a token is not taken.
#[derive(Debug, PartialEq, Eq)]
pub enum NotVerified {
    Bad(&'static str),
    /// The log says why.
    Unavailable,
}

impl Keys {
    pub fn new(jwt: Jwt, client: Client) -> Result<Keys, Error> {
        let (source, current) = match (&jwt.jwks_file, &jwt.jwks_url) {
            (Some(path), _) => {
                let unusable = |reason| Error::KeyFile { path: path.display().to_string(), reason };
                let json = std::fs::read(path).map_err(|error| unusable(error.to_string()))?;
                let keys = Arc::new(KeySet::parse(&json).map_err(unusable)?);
                (Source::File, Some(Fetched { keys, at: Timestamp(0) }))
            }
            (None, url) => {
                let url = url.clone().unwrap_or_default();
                let unusable =
                    |reason: &str| Error::KeyFile { path: url.clone(), reason: reason.to_owned() };
                let uri = address_without_user(&url).map_err(unusable)?;
                (Source::Address { uri, client }, None)
            }
        };
        let current = Arc::new(RwLock::new(current));
        Ok(Keys { jwt, source, current, fetching: Mutex::default() })
    }

    pub fn by_client(&self) -> bool {
        self.jwt.by_client
    }

    /// What a token claims, where its signature and its claims are right.
    pub async fn verify(
        &self,
        text: &str,
        audiences: &[String],
        now: Timestamp,
    ) -> Result<Claims, NotVerified> {
        let token = Token::parse(text).map_err(NotVerified::Bad)?;
        let mut keys = self.keys(now).await?;
        if keys.candidates(&token.header).is_empty() {
            // The issuer may have a new key.
            keys = self.again(now).await.unwrap_or(keys);
        }
        let mut why = "it is signed with a key that its issuer does not have";
        for key in keys.candidates(&token.header) {
            match token.verified(key) {
                Ok(claims) => {
                    claims.check(&self.jwt, audiences, now.0 / 1000).map_err(NotVerified::Bad)?;
                    return Ok(claims);
                }
                Err(reason) => why = reason,
            }
        }
        Err(NotVerified::Bad(why))
    }

    async fn keys(&self, now: Timestamp) -> Result<Arc<KeySet>, NotVerified> {
        let (fresh, stale) = (self.jwt.keys_fresh_ms, self.jwt.keys_stale_ms);
        let younger = |than_ms: u64| {
            self.current().filter(|it| {
                matches!(self.source, Source::File)
                    || now.since(it.at) < Duration::from_millis(than_ms)
            })
        };
        if let Some(fetched) = younger(fresh) {
            return Ok(fetched.keys);
        }
        match self.again(now).await {
            Some(keys) => Ok(keys),
            None => younger(stale).map(|it| it.keys).ok_or(NotVerified::Unavailable),
        }
    }

    fn current(&self) -> Option<Fetched> {
        self.current.read().expect("no writer panics while it holds the lock").clone()
    }

    /// Fetches the keys, unless that was done a moment ago. `None`: there are none that new.
    async fn again(&self, now: Timestamp) -> Option<Arc<KeySet>> {
        let Source::Address { uri, client } = &self.source else { return None };
        let mut fetching = self.fetching.lock().await;
        // One that somebody began who went away.
        while fetching.task.join_next().await.is_some() {}
        let interval = Duration::from_millis(self.jwt.fetch_interval_ms);
        if fetching.last.is_none_or(|last| now.since(last) >= interval) {
            fetching.last = Some(now);
            let fetch = self.fetch(client.clone(), uri.clone(), now);
            fetching.task.spawn(fetch);
            while fetching.task.join_next().await.is_some() {}
        }
        let last = fetching.last?;
        self.current().filter(|fetched| fetched.at >= last).map(|fetched| fetched.keys)
    }

    /// A fetch that stands for itself.
    fn fetch(&self, client: Client, uri: Uri, now: Timestamp) -> impl Future<Output = ()> + use<> {
        let current = self.current.clone();
        let timeout = Duration::from_millis(self.jwt.fetch_timeout_ms);
        async move {
            let fetched = tokio::time::timeout(timeout, fetch(&client, &uri)).await;
            match fetched.unwrap_or_else(|_| Err("it takes too long".to_owned())) {
                Ok(keys) => {
                    let fetched = Fetched { keys: Arc::new(keys), at: now };
                    *current.write().expect("readers do not panic") = Some(fetched);
                }
                Err(reason) => tracing::warn!(
                    %uri, reason, "the keys of the issuer of tokens cannot be fetched"
                ),
            }
        }
    }
}

async fn fetch(client: &Client, uri: &Uri) -> Result<KeySet, String> {
    let protocol = match uri.scheme_str() {
        Some("https") => client.negotiate(uri).await.map_err(|error| error.to_string())?,
        _ => Protocol::Http1,
    };
    let request = Request::get(uri.clone())
        .header(header::ACCEPT, "application/json")
        .body(empty())
        .expect("an address and a header make a request");
    let response = client.send(protocol, request).await.map_err(|error| error.to_string())?;
    if response.status() != StatusCode::OK {
        return Err(format!("the issuer answered {}", response.status().as_u16()));
    }
    let body = read_body(response.into_body(), DOCUMENT_BYTES_MAX).await;
    KeySet::parse(&body.map_err(|error| error.to_string())?)
}
