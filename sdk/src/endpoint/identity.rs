//! Who may call this endpoint: sidecars that sign their requests with a known key.
//!
//! A request carries a JWT, signed with Ed25519, for the path that it asks for and for a short
//! time. Without a key nothing is looked at.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::HeaderMap;
use ring::signature::{ED25519, UnparsedPublicKey};
use serde_json::Value;

const SCHEME: &str = "x-restate-signature-scheme";
const TOKEN: &str = "x-restate-jwt-v1";
const PREFIX: &str = "publickeyv1_";
const KEY_BYTES: usize = 32;

/// A public key.
pub(super) struct Key([u8; KEY_BYTES]);

/// Why a key is none.
///
/// ```
/// # use holdfast_sdk::Endpoint;
/// let error = Endpoint::builder().identity_key("secret").err().expect("this is no key");
/// assert!(error.to_string().contains("publickeyv1_"));
/// ```
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("an identity key is `publickeyv1_` and 32 bytes in base58; this is none")]
pub struct IdentityKeyError;

/// Why a request is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Stranger {
    #[error("the request is not signed; this service only answers to sidecars with a known key")]
    NotSigned,
    #[error("the signature of the request cannot be read")]
    Malformed,
    #[error("the request is signed by none of the known keys")]
    UnknownKey,
    #[error("the signature is for another path")]
    OtherPath,
    #[error("the signature is not valid at this time; compare the clocks")]
    OtherTime,
}

impl Key {
    pub(super) fn parse(key: &str) -> Result<Key, IdentityKeyError> {
        let bytes = key.strip_prefix(PREFIX).and_then(base58).ok_or(IdentityKeyError)?;
        bytes.try_into().map(Key).map_err(|_| IdentityKeyError)
    }

    fn signed(&self, message: &[u8], signature: &[u8]) -> bool {
        UnparsedPublicKey::new(&ED25519, self.0).verify(message, signature).is_ok()
    }
}

/// Looks whether a request for a path is signed, at a time in seconds since 1970. The path is that
/// of the endpoint, without what stands before it in the address.
pub(super) fn verify(
    keys: &[Key],
    headers: &HeaderMap,
    path: &str,
    now: u64,
) -> Result<(), Stranger> {
    if keys.is_empty() {
        return Ok(());
    }
    let header = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let token = match (header(SCHEME), header(TOKEN)) {
        (Some("v1"), Some(token)) => token,
        _ => return Err(Stranger::NotSigned),
    };
    let (message, signature) = token.rsplit_once('.').ok_or(Stranger::Malformed)?;
    let (head, claims) = message.split_once('.').ok_or(Stranger::Malformed)?;
    let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| Stranger::Malformed)?;
    if json(head)?["alg"] != "EdDSA" {
        return Err(Stranger::Malformed);
    }
    if !keys.iter().any(|key| key.signed(message.as_bytes(), &signature)) {
        return Err(Stranger::UnknownKey);
    }
    check(&json(claims)?, path, now)
}

fn check(claims: &Value, path: &str, now: u64) -> Result<(), Stranger> {
    let time = |name: &str| claims[name].as_u64().ok_or(Stranger::Malformed);
    let (expires, valid_from) = (time("exp")?, time("nbf")?);
    time("iat")?;
    if claims["aud"] != path {
        return Err(Stranger::OtherPath);
    }
    match valid_from <= now && now < expires {
        true => Ok(()),
        false => Err(Stranger::OtherTime),
    }
}

fn json(part: &str) -> Result<Value, Stranger> {
    let bytes = URL_SAFE_NO_PAD.decode(part).map_err(|_| Stranger::Malformed)?;
    serde_json::from_slice(&bytes).map_err(|_| Stranger::Malformed)
}

/// Base58 with the alphabet of Bitcoin, for numbers of a few dozen bytes.
fn base58(text: &str) -> Option<Vec<u8>> {
    const ALPHABET: &[u8] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
    // Little-endian while it grows.
    let mut number: Vec<u8> = vec![];
    for letter in text.bytes().take(2 * KEY_BYTES) {
        let mut carry = ALPHABET.iter().position(|known| *known == letter)?;
        for byte in &mut number {
            carry += usize::from(*byte) * ALPHABET.len();
            *byte = (carry & 0xff) as u8;
            carry >>= 8;
        }
        if carry > 0 {
            number.push(u8::try_from(carry).ok()?);
        }
    }
    let zeros = text.bytes().take_while(|letter| *letter == ALPHABET[0]).count();
    number.extend(std::iter::repeat_n(0, zeros));
    number.reverse();
    Some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "publickeyv1_AfQwmwfgEZhrWpvv8N52SHpRtZqGGaFr4AZN6qtYWSiY";
    const TOKEN_OF_KEY: &str = "eyJ0eXAiOiJKV1QiLCJhbGciOiJFZERTQSIsImtpZCI6InB1YmxpY2tleXYxX0FmUXdtd2ZnRVpocldwdnY4TjUyU0hwUnRacUdHYUZyNEFaTjZxdFlXU2lZIn0.eyJhdWQiOiIvaW52b2tlL2ZvbyIsImV4cCI6MTcyMTY2MjcwOSwiaWF0IjoxNzIxNjYyNjQ5LCJuYmYiOjE3MjE2NjI1ODl9.UBReG_9cdFQ5VcaJxAV0rM8U_zaNw9kMXJZt691SiI0SWw7Ucmz5Zz3wtmVUc1jrkNsnTDhNEvOFGEZoKXTMCQ";
    const WITHIN: u64 = 1_721_662_650;

    fn verified(keys: &[&str], headers: &[(&'static str, &str)], path: &str, now: u64) -> String {
        let keys: Vec<_> = keys.iter().map(|key| Key::parse(key).unwrap()).collect();
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, value.parse().unwrap());
        }
        match verify(&keys, &map, path, now) {
            Ok(()) => "welcome".to_owned(),
            Err(stranger) => format!("{stranger:?}"),
        }
    }

    #[test]
    fn only_a_signed_request_is_taken() {
        let signed = [(SCHEME, "v1"), (TOKEN, TOKEN_OF_KEY)];
        let other = "publickeyv1_4zvwRjXUKGfvwnParsHAS3HuSVzV5cA4McphgmoCtajS";
        let forged = format!("{}AAAA", &TOKEN_OF_KEY[..TOKEN_OF_KEY.len() - 4]);
        assert_eq!(verified(&[KEY], &signed, "/invoke/foo", WITHIN), "welcome");
        assert_eq!(verified(&[other, KEY], &signed, "/invoke/foo", WITHIN), "welcome");
        assert_eq!(verified(&[], &[], "/invoke/foo", WITHIN), "welcome");
        assert_eq!(verified(&[KEY], &[], "/invoke/foo", WITHIN), "NotSigned");
        assert_eq!(verified(&[KEY], &[(SCHEME, "unsigned")], "/x", WITHIN), "NotSigned");
        assert_eq!(verified(&[other], &signed, "/invoke/foo", WITHIN), "UnknownKey");
        assert_eq!(verified(&[KEY], &signed, "/invoke/bar", WITHIN), "OtherPath");
        assert_eq!(verified(&[KEY], &signed, "/invoke/foo", WITHIN + 60), "OtherTime");
        assert_eq!(verified(&[KEY], &signed, "/invoke/foo", WITHIN - 62), "OtherTime");
        let forged = [(SCHEME, "v1"), (TOKEN, forged.as_str())];
        assert_eq!(verified(&[KEY], &forged, "/invoke/foo", WITHIN), "UnknownKey");
    }

    #[test]
    fn keys_are_read_as_they_are_written() {
        let zeros = "publickeyv1_4zvwRjXUKGfvwnParsHAS3HuSVzV5cA4McphgmoCtajS";
        assert_eq!(Key::parse(zeros).unwrap().0[..4], [0x3b, 0x6a, 0x27, 0xbc]);
        for wrong in ["", "publickeyv1_", "publickeyv1_0OIl", "publickeyv1_abc", &zeros[1..]] {
            assert!(Key::parse(wrong).is_err(), "{wrong}");
        }
    }
}
