//! Request identity: what is sent to services is signed with an Ed25519 key (a JWS, scheme `v1`),
//! so that they can refuse everybody else. Never shows the private key but to who makes a new one.

use base64::{
    Engine,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use hyper::{HeaderMap, header::HeaderValue};
use ring::signature::{Ed25519KeyPair, KeyPair};
use rustls::pki_types::{PrivatePkcs8KeyDer, pem::PemObject};
use std::{
    fmt,
    path::Path,
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

/// How far the clocks of sidecar and service may differ, in seconds.
const LEEWAY_S: u64 = 60;
/// PKCS#8 around the 32 bytes of an Ed25519 key, as openssl writes it: every reader knows it.
const PKCS8_ED25519: [u8; 16] =
    *b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20";

/// Signs requests to services. Cheap to clone.
#[derive(Clone)]
pub struct Signer {
    key: Arc<Ed25519KeyPair>,
    /// `publickeyv1_…`
    public: Arc<str>,
    /// The part of the token that never changes, with its dot.
    header: Arc<str>,
}

/// The key cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("cannot read the identity key `{path}`: {reason}")]
    Unreadable { path: String, reason: String },
    #[error("`{path}` is not a PEM file with one Ed25519 `PRIVATE KEY` (PKCS#8)")]
    NotAKey { path: String },
}

/// A new key as the text of a PKCS#8 PEM file, which `Signer::from_file` reads.
///
/// # Errors
/// When the system has no chance to give.
pub fn new_key() -> Result<String, getrandom::Error> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed)?;
    Ok(pem(seed))
}

fn pem(seed: [u8; 32]) -> String {
    let body = STANDARD.encode([&PKCS8_ED25519[..], &seed].concat());
    format!("-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\n")
}

#[derive(serde::Serialize)]
struct Claims<'a> {
    aud: &'a str,
    exp: u64,
    iat: u64,
    nbf: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    sub: Option<&'a str>,
}

impl Signer {
    /// Reads a PKCS#8 PEM file.
    ///
    /// # Errors
    /// See `Error`.
    pub fn from_file(path: &Path) -> Result<Signer, Error> {
        let shown = || path.display().to_string();
        let pem = std::fs::read(path)
            .map_err(|error| Error::Unreadable { path: shown(), reason: error.to_string() })?;
        let not_a_key = || Error::NotAKey { path: shown() };
        let der = PrivatePkcs8KeyDer::from_pem_slice(&pem).map_err(|_| not_a_key())?;
        // Files made by openssl hold no public key to check the private one against.
        let key = Ed25519KeyPair::from_pkcs8_maybe_unchecked(der.secret_pkcs8_der())
            .map_err(|_| not_a_key())?;
        Ok(Signer::new(key))
    }

    fn new(key: Ed25519KeyPair) -> Signer {
        let public = format!("publickeyv1_{}", base58(key.public_key().as_ref()));
        let header = format!(r#"{{"typ":"JWT","alg":"EdDSA","kid":"{public}"}}"#);
        let header = format!("{}.", URL_SAFE_NO_PAD.encode(header));
        Signer { key: Arc::new(key), public: public.into(), header: header.into() }
    }

    /// The text that services are configured with: `publickeyv1_…`.
    pub fn public_key(&self) -> &str {
        &self.public
    }

    /// Adds the identity headers. `path` is the request path without the deployment's base path
    /// (`/discover`, `/invoke/{service}/{handler}`), `key` the object or workflow key.
    pub fn sign(&self, headers: &mut HeaderMap, path: &str, key: Option<&str>, now: SystemTime) {
        let seconds = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let token = HeaderValue::from_str(&self.token(path, key, seconds))
            .expect("base64url and dots can stand in a header");
        headers.insert("x-restate-signature-scheme", HeaderValue::from_static("v1"));
        headers.insert("x-restate-jwt-v1", token);
    }

    fn token(&self, path: &str, key: Option<&str>, now: u64) -> String {
        let claims = Claims {
            aud: path,
            exp: now + LEEWAY_S,
            iat: now,
            nbf: now.saturating_sub(LEEWAY_S),
            sub: key,
        };
        let claims = serde_json::to_vec(&claims).expect("strings and numbers can be written");
        let mut token = self.header.to_string();
        URL_SAFE_NO_PAD.encode_string(claims, &mut token);
        let signature = self.key.sign(token.as_bytes());
        token.push('.');
        URL_SAFE_NO_PAD.encode_string(signature, &mut token);
        token
    }
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Signer").field(&self.public).finish()
    }
}

/// Base58 with the alphabet of Bitcoin.
fn base58(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
    // Least significant digit first.
    let mut digits: Vec<u8> = Vec::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let mut carry = u32::from(*byte);
        for digit in &mut digits {
            carry += u32::from(*digit) << 8;
            *digit = (carry % 58) as u8;
            carry /= 58;
        }
        while carry > 0 {
            digits.push((carry % 58) as u8);
            carry /= 58;
        }
    }
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    let digits = std::iter::repeat_n(0, zeros).chain(digits.into_iter().rev());
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signer(seed: [u8; 32]) -> Signer {
        Signer::new(Ed25519KeyPair::from_seed_unchecked(&seed).unwrap())
    }

    const SEED: [u8; 32] = [
        0xf7, 0xbe, 0xfb, 0x86, 0x53, 0x3d, 0x00, 0xc5, 0xf3, 0x5a, 0x2d, 0xa6, 0x85, 0x3f, 0x98,
        0xe1, 0x87, 0x0b, 0x6b, 0xce, 0x01, 0x5a, 0x7d, 0x59, 0xb8, 0x82, 0x6e, 0x5b, 0xe7, 0xde,
        0x75, 0xce,
    ];

    #[test]
    fn public_keys_read_as_services_write_them() {
        let public = |seed| signer(seed).public_key().to_owned();
        assert_eq!(public(SEED), "publickeyv1_AfQwmwfgEZhrWpvv8N52SHpRtZqGGaFr4AZN6qtYWSiY");
        assert_eq!(public([0; 32]), "publickeyv1_4zvwRjXUKGfvwnParsHAS3HuSVzV5cA4McphgmoCtajS");
        assert_eq!(public([1; 32]), "publickeyv1_AKnL4NNf3DGWZJS6cPknBuEGnVsV4A4m5tgebLHaRSZ9");
        assert_eq!(public([2; 32]), "publickeyv1_9hSR6S7WPtxmTojgo6GG3k4yDPecgJY292j7xrsUGWBu");
    }

    #[test]
    fn base58_keeps_leading_zeros() {
        assert_eq!(base58(&[0, 0, 1]), "112");
        assert_eq!(base58(&[]), "");
    }

    #[test]
    fn a_token_is_the_known_one() {
        let token = signer(SEED).token("/invoke/foo", None, 1_721_662_649);
        assert_eq!(
            token,
            "eyJ0eXAiOiJKV1QiLCJhbGciOiJFZERTQSIsImtpZCI6InB1YmxpY2tleXYxX0FmUXdtd2ZnRVpocldwdnY4Tj\
             UyU0hwUnRacUdHYUZyNEFaTjZxdFlXU2lZIn0.eyJhdWQiOiIvaW52b2tlL2ZvbyIsImV4cCI6MTcyMTY2Mjcw\
             OSwiaWF0IjoxNzIxNjYyNjQ5LCJuYmYiOjE3MjE2NjI1ODl9.UBReG_9cdFQ5VcaJxAV0rM8U_zaNw9kMXJZt6\
             91SiI0SWw7Ucmz5Zz3wtmVUc1jrkNsnTDhNEvOFGEZoKXTMCQ"
        );
    }

    #[test]
    fn a_key_is_the_subject() {
        let token = signer(SEED).token("/invoke/S/h", Some("k"), 100);
        let claims = token.split('.').nth(1).unwrap();
        let claims = String::from_utf8(URL_SAFE_NO_PAD.decode(claims).unwrap()).unwrap();
        assert_eq!(claims, r#"{"aud":"/invoke/S/h","exp":160,"iat":100,"nbf":40,"sub":"k"}"#);
    }

    #[test]
    fn a_key_file_is_read_and_a_wrong_one_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("key.pem");
        std::fs::write(&path, pem(SEED)).unwrap();
        let signer = Signer::from_file(&path).unwrap();
        assert_eq!(
            format!("{signer:?}"),
            r#"Signer("publickeyv1_AfQwmwfgEZhrWpvv8N52SHpRtZqGGaFr4AZN6qtYWSiY")"#
        );
        std::fs::write(&path, "hello").unwrap();
        let shown = path.display().to_string();
        assert_eq!(Signer::from_file(&path).err(), Some(Error::NotAKey { path: shown }));
        let missing = Signer::from_file(&directory.path().join("none"));
        assert!(matches!(missing, Err(Error::Unreadable { .. })));
    }

    #[test]
    fn a_file_is_the_one_that_openssl_makes_of_a_key() {
        // Of the seed that is 32 times 1: `openssl pkey -inform DER`.
        let expected = "-----BEGIN PRIVATE KEY-----\n\
                        MC4CAQAwBQYDK2VwBCIEIAEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB\n\
                        -----END PRIVATE KEY-----\n";
        assert_eq!(pem([1; 32]), expected);
    }

    #[test]
    fn no_two_new_keys_are_the_same() {
        assert_ne!(new_key().unwrap(), new_key().unwrap());
    }
}
