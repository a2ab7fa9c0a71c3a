//! Asks a service what it offers: one GET, repeated while the answer may still come. Never changes
//! what is registered.

use super::{config, error::Error};
use crate::http::{
    self as our_http,
    client::{self, Client, Protocol},
    identity::Signer,
};
use bytes::Bytes;
use holdfast_wire::{
    manifest::{self, Manifest, ManifestVersion, ServiceProblem},
    version::{self, Version},
};
use hyper::{HeaderMap, Request, Response, StatusCode, Uri, header};
use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime},
};
use tokio::time::timeout;

/// Most of what a service says about an error that is repeated to people, in bytes.
const ERROR_BODY_BYTES_MAX: usize = 600;

/// Whom to ask.
#[derive(Debug, Clone)]
pub struct Address {
    pub uri: Uri,
    pub protocol: Protocol,
    pub additional_headers: BTreeMap<String, String>,
}

/// What a service answered.
#[derive(Debug, Clone)]
pub struct Discovered {
    pub manifest: Manifest,
    /// The protocol that it answered over.
    pub protocol: Protocol,
    pub sdk_version: Option<String>,
}

/// Asks services for manifests.
#[derive(Clone)]
pub struct Discovery {
    pub client: Client,
    pub signer: Option<Signer>,
    pub config: config::Discovery,
    pub cluster_name: String,
}

/// One request that came to nothing.
enum Failed {
    /// It may come to something later.
    ForNow(Error),
    ForGood(Error),
}

impl Discovery {
    /// Asks until there is an answer, a reason why there never will be, or `attempts_max` is
    /// reached.
    ///
    /// # Errors
    /// Whatever keeps `address` from being registered.
    pub async fn ask(&self, address: &Address) -> Result<Discovered, Error> {
        let mut wait = Duration::from_millis(self.config.retry_initial_ms);
        let mut attempts = 1;
        loop {
            match self.ask_once(address).await {
                Ok(discovered) => return Ok(discovered),
                Err(Failed::ForGood(error)) => return Err(error),
                Err(Failed::ForNow(error)) if attempts >= self.config.attempts_max => {
                    return Err(with_attempts(error, attempts));
                }
                Err(Failed::ForNow(_)) => tokio::time::sleep(wait).await,
            }
            attempts += 1;
            wait = (wait * 2).min(Duration::from_millis(self.config.retry_max_ms));
        }
    }

    /// Asks once.
    ///
    /// # Errors
    /// As `ask`.
    pub async fn ask_now(&self, address: &Address) -> Result<Discovered, Error> {
        self.ask_once(address).await.map_err(|failed| match failed {
            Failed::ForNow(error) | Failed::ForGood(error) => error,
        })
    }

    async fn ask_once(&self, address: &Address) -> Result<Discovered, Failed> {
        let protocol = match (address.protocol, address.uri.scheme_str()) {
            (Protocol::Http2, Some("https")) => match self.client.negotiate(&address.uri).await {
                Ok(protocol) => protocol,
                Err(error) => return Err(unreachable(address, &error)),
            },
            (protocol, _) => protocol,
        };
        let limit = Duration::from_millis(self.config.timeout_ms);
        match timeout(limit, self.exchange(address, protocol)).await {
            Ok(answer) => answer,
            Err(_) => Err(self.silent(address)),
        }
    }

    async fn exchange(&self, address: &Address, protocol: Protocol) -> Result<Discovered, Failed> {
        let request = self.request(address).map_err(Failed::ForGood)?;
        let response = match self.client.send(protocol, request).await {
            Ok(response) => response,
            Err(error) => return Err(self.no_response(address, protocol, error).await),
        };
        let (head, body) = response.into_parts();
        let read = our_http::read_body(body, self.config.manifest_bytes_max).await;
        let response = match read {
            Ok(body) => Response::from_parts(head, body),
            Err(error) => {
                let (uri, reason) = (address.uri.to_string(), error.to_string());
                return Err(Failed::ForNow(Error::Unreachable { uri, reason, attempts: 1 }));
            }
        };
        read_response(&address.uri, protocol, response, self.signer.is_some())
    }

    fn request(&self, address: &Address) -> Result<Request<our_http::Body>, Error> {
        let mut headers = header_map(&address.additional_headers)?;
        headers.insert(header::ACCEPT, header::HeaderValue::from_static(manifest::ACCEPT));
        if let Ok(name) = self.cluster_name.parse() {
            headers.insert("x-restate-cluster-name", name);
        }
        if let Some(signer) = &self.signer {
            signer.sign(&mut headers, "/discover", None, SystemTime::now());
        }
        let wrong = |reason| Error::Address { uri: address.uri.to_string(), reason };
        let uri = our_http::below(&address.uri, "/discover").map_err(wrong)?;
        let request = Request::get(uri).body(our_http::empty());
        let mut request = request.map_err(|error| wrong(error.to_string()))?;
        *request.headers_mut() = headers;
        Ok(request)
    }

    /// Why there is no response; where HTTP/2 may be the reason, HTTP/1.1 is tried to be sure. Asking
    /// again stays worth it, since the service may have started in between.
    async fn no_response(
        &self,
        address: &Address,
        protocol: Protocol,
        error: client::Error,
    ) -> Failed {
        let may_speak =
            matches!(error, client::Error::Broken { .. } | client::Error::Connect { .. });
        if may_speak && protocol == Protocol::Http2 && self.answers_http1(address).await {
            return Failed::ForNow(Error::SpeaksHttp1 { uri: address.uri.to_string() });
        }
        unreachable(address, &error)
    }

    async fn answers_http1(&self, address: &Address) -> bool {
        match self.request(address) {
            Ok(request) => self.client.send(Protocol::Http1, request).await.is_ok(),
            Err(_) => false,
        }
    }

    fn silent(&self, address: &Address) -> Failed {
        let (uri, timeout_ms) = (address.uri.to_string(), self.config.timeout_ms);
        Failed::ForGood(Error::Silent { uri, timeout_ms })
    }
}

/// Judges a response by the rules of discovery.
fn read_response(
    uri: &Uri,
    protocol: Protocol,
    response: Response<Bytes>,
    signed: bool,
) -> Result<Discovered, Failed> {
    let status = response.status();
    if !status.is_success() {
        return Err(refused(uri, status, response.body(), signed));
    }
    read_manifest(uri, protocol, response).map_err(Failed::ForGood)
}

fn refused(uri: &Uri, status: StatusCode, body: &[u8], signed: bool) -> Failed {
    let uri = uri.to_string();
    match status.as_u16() {
        404 => Failed::ForGood(Error::NotFound { uri }),
        401 => {
            let hint = match signed {
                true => "it does not know this server's public key",
                false => "this server has no identity key; configure one",
            };
            Failed::ForGood(Error::Unauthorized { uri, hint })
        }
        code => {
            let error = Error::Status { uri, status: code, body: excerpt(body) };
            match code {
                408 | 429 | 500 | 502 | 503 | 504 => Failed::ForNow(error),
                _ => Failed::ForGood(error),
            }
        }
    }
}

fn read_manifest(
    uri: &Uri,
    protocol: Protocol,
    response: Response<Bytes>,
) -> Result<Discovered, Error> {
    let text = |name: &str| {
        let value = response.headers().get(name)?;
        Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    let content_type = text("content-type").unwrap_or_default();
    if ManifestVersion::from_content_type(&content_type).is_none() {
        return Err(Error::ContentType { uri: uri.to_string(), content_type });
    }
    let sdk_version = text("x-restate-server");
    let manifest = Manifest::parse(&content_type, response.body())
        .map_err(|error| wrong_manifest(uri, error))?;
    let (min, max) = (manifest.min_protocol_version, manifest.max_protocol_version);
    Version::negotiate(min, max, Version::NEWEST)
        .map_err(|error| wrong_range(uri, (min, max), &error))?;
    Ok(Discovered { manifest, protocol, sdk_version })
}

fn wrong_manifest(uri: &Uri, error: manifest::Error) -> Error {
    match error {
        manifest::Error::Service { service, problem: ServiceProblem::NameReserved { .. } } => {
            Error::ReservedName { name: service }
        }
        manifest::Error::Service { service, problem: ServiceProblem::HiddenByDoor { .. } } => {
            Error::HiddenByDoor { name: service }
        }
        error => Error::Manifest { uri: uri.to_string(), reason: error.to_string() },
    }
}

fn wrong_range(uri: &Uri, (min, max): (u32, u32), error: &version::Error) -> Error {
    let ours = format!("{} to {}", Version::OLDEST.number(), Version::NEWEST.number());
    let uri = uri.to_string();
    Error::ProtocolRange { uri, min, max, ours, reason: error.to_string() }
}

fn unreachable(address: &Address, error: &client::Error) -> Failed {
    let (uri, reason) = (address.uri.to_string(), error.to_string());
    Failed::ForNow(Error::Unreachable { uri, reason, attempts: 1 })
}

fn with_attempts(error: Error, attempts: u32) -> Error {
    match error {
        Error::Unreachable { uri, reason, .. } => Error::Unreachable { uri, reason, attempts },
        other => other,
    }
}

fn excerpt(body: &[u8]) -> String {
    let cut = &body[..body.len().min(ERROR_BODY_BYTES_MAX)];
    String::from_utf8_lossy(cut).trim().to_owned()
}

/// The headers that a deployment asks for.
///
/// # Errors
/// `Header` where a name or a value cannot be sent.
pub fn header_map(headers: &BTreeMap<String, String>) -> Result<HeaderMap, Error> {
    let mut map = HeaderMap::with_capacity(headers.len() + 4);
    for (name, value) in headers {
        let wrong = |reason: &str| Error::Header { name: name.clone(), reason: reason.into() };
        let header_name: header::HeaderName =
            name.parse().map_err(|_| wrong("it is not a header name"))?;
        let value = value.parse().map_err(|_| wrong("its value has characters no header has"))?;
        map.insert(header_name, value);
    }
    Ok(map)
}

/// Reads and normalises the address of a deployment.
///
/// # Errors
/// `Address` where it has no scheme or host, or a scheme that is not spoken.
pub fn parse_address(text: &str) -> Result<Uri, Error> {
    our_http::address(text)
        .map_err(|reason| Error::Address { uri: text.into(), reason: reason.into() })
}
