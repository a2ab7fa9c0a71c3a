//! Settings of the guard.

use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use std::{fmt, path::PathBuf};

/// Most tokens that can be listed.
const TOKENS_MAX: usize = 10_000;

/// Who may use the doors for agents.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Where clients reach this listener: `https://agents.example.com`. Its host is answered, and
    /// it stands in what clients are told. Unset: what the client itself calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public_url: Option<String>,
    /// Hosts that requests may name beside `localhost` and loopback addresses, without a port. `*`
    /// answers to all names.
    pub hosts: Vec<String>,
    /// Origins of pages that may ask beside those on this machine: `https://app.example.com`.
    pub origins: Vec<String>,
    /// Tokens that stand for somebody. With none of them and no `jwt`, nobody is asked for one.
    pub tokens: Vec<Token>,
    /// An issuer of signed tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jwt: Option<Jwt>,
}

/// A token of the list. Only its SHA-256 is kept, and shown by `holdfast config`.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct Token {
    pub principal: String,
    pub digest: [u8; 32],
    /// What it allows; `None`: everything.
    pub scopes: Option<Vec<String>>,
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Token").field(&self.principal).finish()
    }
}

/// A token as it is written in a configuration file.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    /// Whom it stands for.
    principal: String,
    /// The token itself, or
    #[serde(default, skip_serializing_if = "Option::is_none")]
    token: Option<String>,
    /// its SHA-256 in hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    token_sha256: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    scopes: Option<Vec<String>>,
}

impl TryFrom<Written> for Token {
    type Error = &'static str;

    fn try_from(written: Written) -> Result<Token, &'static str> {
        let Written { principal, token, token_sha256, scopes } = written;
        if principal.is_empty() {
            return Err("`principal` of a token is empty; name whom it stands for");
        }
        let digest = match (token, token_sha256) {
            (Some(token), None) if token.is_empty() || token.contains(char::is_whitespace) => {
                return Err("`token` is empty or has spaces in it");
            }
            (Some(token), None) => {
                let digest = digest(&SHA256, token.as_bytes());
                digest.as_ref().try_into().expect("SHA-256 has 32 bytes")
            }
            (None, Some(hex)) => from_hex(&hex).ok_or("`token_sha256` is not 64 digits")?,
            _ => return Err("a token has either `token` or `token_sha256`"),
        };
        Ok(Token { principal, digest, scopes })
    }
}

impl From<Token> for Written {
    fn from(token: Token) -> Written {
        let hex = token.digest.iter().map(|byte| format!("{byte:02x}")).collect();
        Written {
            principal: token.principal,
            token: None,
            token_sha256: Some(hex),
            scopes: token.scopes,
        }
    }
}

fn from_hex(text: &str) -> Option<[u8; 32]> {
    let text = text.as_bytes();
    if text.len() != 64 || !text.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let mut bytes = [0; 32];
    for (byte, digits) in bytes.iter_mut().zip(text.chunks(2)) {
        let digits = std::str::from_utf8(digits).ok()?;
        *byte = u8::from_str_radix(digits, 16).ok()?;
    }
    Some(bytes)
}

/// An issuer whose tokens (JWT, signed with RS256, ES256 or EdDSA) are taken.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Jwt {
    /// Exactly as `iss` of its tokens says it.
    pub issuer: String,
    /// For whom tokens may be made (`aud`); one of them is enough. Empty: for the address of what
    /// is asked for, below `public_url`.
    pub audiences: Vec<String>,
    /// Where its public keys are (a JWK set).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jwks_url: Option<String>,
    /// A file of them, in place of an address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jwks_file: Option<PathBuf>,
    /// Keys are fetched again after this long, in ms.
    pub keys_fresh_ms: u64,
    /// Where that fails, the keys of before are good for this long, in ms.
    pub keys_stale_ms: u64,
    /// A key that nobody knows makes them be fetched again, but not more often than this, in ms.
    pub fetch_interval_ms: u64,
    /// How long one fetch may take, in ms.
    pub fetch_timeout_ms: u64,
    /// How far the clocks of issuer and sidecar may differ, in seconds.
    pub leeway_s: u64,
    /// Clients that act for the same person are told apart (`client_id` or `azp`).
    pub by_client: bool,
}

impl Default for Jwt {
    fn default() -> Self {
        Jwt {
            issuer: String::new(),
            audiences: Vec::new(),
            jwks_url: None,
            jwks_file: None,
            keys_fresh_ms: 600_000,
            keys_stale_ms: 86_400_000,
            fetch_interval_ms: 10_000,
            fetch_timeout_ms: 5_000,
            leeway_s: 60,
            by_client: false,
        }
    }
}

impl Config {
    /// What no type can say: the name of a setting, and what is wrong with it.
    pub fn problem(&self) -> Option<(&'static str, &'static str)> {
        if let Some(url) = &self.public_url
            && (crate::http::address_without_user(url).is_err() || url.ends_with('/'))
        {
            return Some(("guard.public_url", "is no address; write https://HOST, and no slash"));
        }
        if self.origins.iter().any(|it| it.ends_with('/') || !it.contains("://")) {
            return Some(("guard.origins", "holds no origin; write https://HOST, and no slash"));
        }
        if self.tokens.len() > TOKENS_MAX {
            return Some(("guard.tokens", "has more than 10000 tokens"));
        }
        let mut digests: Vec<_> = self.tokens.iter().map(|token| token.digest).collect();
        digests.sort_unstable();
        if digests.windows(2).any(|pair| pair[0] == pair[1]) {
            return Some(("guard.tokens", "has the same token twice"));
        }
        let jwt = self.jwt.as_ref()?;
        if jwt.issuer.is_empty() {
            return Some(("guard.jwt.issuer", "is empty; write what `iss` of its tokens says"));
        }
        match (&jwt.jwks_url, &jwt.jwks_file) {
            (Some(url), None) if crate::http::address_without_user(url).is_err() => {
                return Some(("guard.jwt.jwks_url", "is no address; write https://HOST/PATH"));
            }
            (Some(_), None) | (None, Some(_)) => {}
            _ => return Some(("guard.jwt", "needs either `jwks_url` or `jwks_file`")),
        }
        if jwt.audiences.is_empty() && self.public_url.is_none() {
            return Some((
                "guard.jwt.audiences",
                "is empty; name for whom tokens are made, or set guard.public_url",
            ));
        }
        None
    }
}
