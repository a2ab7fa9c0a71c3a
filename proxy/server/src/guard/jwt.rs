//! Signed tokens: their three parts, the keys they are checked with, and what they claim. Pure, and
//! takes nothing that it does not understand.

use super::{Principal, config::Jwt};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents,
    UnparsedPublicKey,
};
use serde::Deserialize;
use std::collections::HashMap;

/// Most keys of one issuer.
const KEYS_MAX: usize = 64;

/// A token whose signature was not checked yet.
pub struct Token<'t> {
    signed: &'t str,
    signature: Vec<u8>,
    pub header: Header,
    claims: &'t str,
}

#[derive(Deserialize)]
pub struct Header {
    alg: String,
    pub kid: Option<String>,
    crit: Option<serde_json::Value>,
}

/// What an issuer says of whoever has the token.
#[derive(Debug, Deserialize)]
pub struct Claims {
    iss: Option<String>,
    sub: Option<String>,
    #[serde(default)]
    aud: Audience,
    exp: Option<f64>,
    nbf: Option<f64>,
    client_id: Option<String>,
    azp: Option<String>,
    scope: Option<String>,
    scp: Option<Scopes>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(untagged)]
enum Audience {
    #[default]
    Nobody,
    One(String),
    Several(Vec<String>),
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Scopes {
    Text(String),
    List(Vec<String>),
}

impl<'t> Token<'t> {
    pub fn parse(text: &'t str) -> Result<Token<'t>, &'static str> {
        const SHAPE: &str = "it is not a signed token";
        let (signed, signature) = text.rsplit_once('.').ok_or(SHAPE)?;
        let (header, claims) = signed.split_once('.').ok_or(SHAPE)?;
        let decode = |part: &str| URL_SAFE_NO_PAD.decode(part).map_err(|_| SHAPE);
        let header: Header = serde_json::from_slice(&decode(header)?).map_err(|_| SHAPE)?;
        if header.crit.is_some() {
            return Err("it has extensions that must be understood");
        }
        Ok(Token { signed, signature: decode(signature)?, header, claims })
    }

    /// What it claims, where `key` made the signature.
    pub fn verified(&self, key: &Key) -> Result<Claims, &'static str> {
        const WRONG: &str = "its signature is wrong";
        let (message, signature) = (self.signed.as_bytes(), self.signature.as_slice());
        let right = match (self.header.alg.as_str(), &key.material) {
            ("RS256", Material::Rsa { n, e }) => RsaPublicKeyComponents { n, e }
                .verify(&RSA_PKCS1_2048_8192_SHA256, message, signature)
                .is_ok(),
            ("ES256", Material::P256(point)) => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point)
                    .verify(message, signature)
                    .is_ok()
            }
            ("EdDSA" | "Ed25519", Material::Ed25519(point)) => {
                UnparsedPublicKey::new(&ED25519, point).verify(message, signature).is_ok()
            }
            _ => return Err("its algorithm is not the one of the key"),
        };
        if !right || key.alg.as_ref().is_some_and(|alg| *alg != self.header.alg) {
            return Err(WRONG);
        }
        let claims = URL_SAFE_NO_PAD.decode(self.claims).map_err(|_| WRONG)?;
        serde_json::from_slice(&claims).map_err(|_| "its claims cannot be read")
    }
}

impl Claims {
    /// Whether the token is made by this issuer, for one of `audiences`, and for this moment.
    pub fn check(&self, jwt: &Jwt, audiences: &[String], now_s: u64) -> Result<(), &'static str> {
        let (now, leeway) = (now_s as f64, jwt.leeway_s as f64);
        let Some(exp) = self.exp else {
            return Err("it never expires");
        };
        if exp + leeway <= now {
            return Err("it has expired");
        }
        if self.nbf.is_some_and(|nbf| nbf - leeway > now) {
            return Err("it is not valid yet");
        }
        if self.iss.as_deref() != Some(&jwt.issuer) {
            return Err("it is made by another issuer");
        }
        let is_for = |audience: &String| audiences.contains(audience);
        let for_us = match &self.aud {
            Audience::Nobody => false,
            Audience::One(audience) => is_for(audience),
            Audience::Several(several) => several.iter().any(is_for),
        };
        if !for_us {
            return Err("it is made for another audience");
        }
        match self.subject() {
            Some(_) => Ok(()),
            None => Err("it does not say for whom it stands"),
        }
    }

    fn client(&self) -> Option<&str> {
        self.client_id.as_deref().or(self.azp.as_deref())
    }

    /// For whom the token stands: a client that says no `sub` stands for itself.
    fn subject(&self) -> Option<&str> {
        self.sub.as_deref().or(self.client()).filter(|it| !it.is_empty())
    }

    /// Call it after `check`. A client for itself is never the same as a person of that name.
    pub fn principal(&self, by_client: bool) -> Principal {
        let issuer = self.iss.as_deref().unwrap_or_default();
        let subject = self.subject().unwrap_or_default();
        match (&self.sub, self.client().filter(|_| by_client)) {
            (None, _) => Principal::new(format!("jwt-client:{issuer}|{subject}")),
            (Some(_), Some(client)) => Principal::new(format!("jwt:{issuer}|{subject}|{client}")),
            (Some(_), None) => Principal::new(format!("jwt:{issuer}|{subject}")),
        }
    }

    pub fn scopes(&self) -> Vec<String> {
        let words = |text: &String| text.split_whitespace().map(str::to_owned).collect();
        match (&self.scope, &self.scp) {
            (Some(text), _) | (None, Some(Scopes::Text(text))) => words(text),
            (None, Some(Scopes::List(list))) => list.clone(),
            (None, None) => Vec::new(),
        }
    }
}

/// The public keys of an issuer.
#[derive(Default)]
pub struct KeySet {
    by_id: HashMap<String, Key>,
    nameless: Vec<Key>,
}

pub struct Key {
    /// What it is for, where it says so.
    alg: Option<String>,
    material: Material,
}

enum Material {
    Rsa { n: Vec<u8>, e: Vec<u8> },
    P256(Vec<u8>),
    Ed25519(Vec<u8>),
}

#[derive(Deserialize)]
struct Document {
    keys: Vec<serde_json::Value>,
}

#[derive(Deserialize)]
struct Jwk {
    kty: String,
    kid: Option<String>,
    alg: Option<String>,
    #[serde(rename = "use")]
    usage: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

impl KeySet {
    /// Reads a JWK set. What is not a key that could be used here is skipped.
    pub fn parse(json: &[u8]) -> Result<KeySet, String> {
        let document: Document = serde_json::from_slice(json).map_err(|error| error.to_string())?;
        let mut set = KeySet::default();
        for jwk in document.keys.into_iter().take(KEYS_MAX) {
            let Ok(jwk) = serde_json::from_value::<Jwk>(jwk) else { continue };
            let Some(material) = material(&jwk) else { continue };
            let key = Key { alg: jwk.alg, material };
            match jwk.kid {
                Some(kid) => drop(set.by_id.insert(kid, key)),
                None => set.nameless.push(key),
            }
        }
        match set.by_id.is_empty() && set.nameless.is_empty() {
            true => Err("there is no key for RS256, ES256 or EdDSA in it".to_owned()),
            false => Ok(set),
        }
    }

    /// The keys that may have signed a token with this header.
    pub fn candidates(&self, header: &Header) -> Vec<&Key> {
        match &header.kid {
            Some(kid) => self.by_id.get(kid).into_iter().collect(),
            None => self.nameless.iter().chain(self.by_id.values()).collect(),
        }
    }
}

fn material(jwk: &Jwk) -> Option<Material> {
    if jwk.usage.as_deref().is_some_and(|usage| usage != "sig") {
        return None;
    }
    let bytes = |field: &Option<String>| URL_SAFE_NO_PAD.decode(field.as_ref()?).ok();
    match (jwk.kty.as_str(), jwk.crv.as_deref()) {
        ("RSA", _) => Some(Material::Rsa { n: bytes(&jwk.n)?, e: bytes(&jwk.e)? }),
        ("EC", Some("P-256")) => {
            let (x, y) = (bytes(&jwk.x)?, bytes(&jwk.y)?);
            let point = [&[4][..], &x, &y].concat();
            (x.len() == 32 && y.len() == 32).then_some(Material::P256(point))
        }
        ("OKP", Some("Ed25519")) => Some(Material::Ed25519(bytes(&jwk.x)?)),
        _ => None,
    }
}
