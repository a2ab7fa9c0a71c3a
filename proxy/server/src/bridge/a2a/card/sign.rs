//! Signatures over cards: a JWS over the canonical form, with an ES256 or an Ed25519 key. Signed is
//! the form of the specification and, where it differs, the one that the protocol's SDKs verify.
//! Never shows the private key.

use super::canonical;
use super::model::{AgentCard, AgentCardSignature, json};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::{
    rand::SystemRandom,
    signature::{self, EcdsaKeyPair, Ed25519KeyPair, KeyPair},
};
use rustls::pki_types::{PrivatePkcs8KeyDer, pem::PemObject};
use serde_json::{Value, json};
use std::path::Path;

/// Signs cards.
pub struct Signer {
    key: Key,
    kid: String,
    /// Where the public key can be had, if that is told.
    jku: Option<String>,
}

enum Key {
    Es256(EcdsaKeyPair),
    EdDsa(Ed25519KeyPair),
}

/// The key cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("cannot read the key that cards are signed with, `{path}`: {reason}")]
    Unreadable { path: String, reason: String },
    #[error(
        "`{path}` is not a PEM file with one P-256 or Ed25519 `PRIVATE KEY` (PKCS#8); make one \
         with `openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256`"
    )]
    NotAKey { path: String },
}

impl Error {
    pub fn code(&self) -> &'static str {
        "HF0260"
    }
}

impl Signer {
    /// Reads a PKCS#8 PEM file. Without a `kid` it is the thumbprint of the public key (RFC 7638).
    ///
    /// # Errors
    /// See `Error`.
    pub fn from_file(path: &Path, kid: Option<&str>, jku: Option<&str>) -> Result<Signer, Error> {
        let shown = || path.display().to_string();
        let pem = std::fs::read(path)
            .map_err(|error| Error::Unreadable { path: shown(), reason: error.to_string() })?;
        let not_a_key = || Error::NotAKey { path: shown() };
        let der = PrivatePkcs8KeyDer::from_pem_slice(&pem).map_err(|_| not_a_key())?;
        let key = Key::from_pkcs8(der.secret_pkcs8_der()).ok_or_else(not_a_key)?;
        Ok(Signer::new(key, kid, jku))
    }

    fn new(key: Key, kid: Option<&str>, jku: Option<&str>) -> Signer {
        let kid = kid.map_or_else(|| thumbprint(&key.jwk()), str::to_owned);
        Signer { key, kid, jku: jku.map(str::to_owned) }
    }

    /// Puts the signatures into the card, in place of those that are there.
    pub fn sign(&self, card: &mut AgentCard) {
        card.signatures = vec![];
        let card_json = json(card);
        let specified = canonical::text(&card_json);
        let of_sdks = canonical::text(&canonical::without_empty(&card_json));
        card.signatures.push(self.signature(&specified));
        if of_sdks != specified {
            card.signatures.push(self.signature(&of_sdks));
        }
    }

    fn signature(&self, payload: &str) -> AgentCardSignature {
        let protected = URL_SAFE_NO_PAD.encode(self.header().to_string());
        let input = format!("{protected}.{}", URL_SAFE_NO_PAD.encode(payload));
        let signature = URL_SAFE_NO_PAD.encode(self.key.sign(input.as_bytes()));
        AgentCardSignature { protected, signature }
    }

    fn header(&self) -> Value {
        let mut header = json!({ "alg": self.key.algorithm(), "kid": self.kid, "typ": "JOSE" });
        if let Some(jku) = &self.jku {
            header["jku"] = json!(jku);
        }
        header
    }

    /// The public key, as a JWK set.
    pub fn key_set(&self) -> Value {
        let mut key = self.key.jwk();
        key["kid"] = json!(self.kid);
        key["alg"] = json!(self.key.algorithm());
        key["use"] = json!("sig");
        json!({ "keys": [key] })
    }
}

impl Key {
    fn from_pkcs8(der: &[u8]) -> Option<Key> {
        let p256 = &signature::ECDSA_P256_SHA256_FIXED_SIGNING;
        if let Ok(key) = EcdsaKeyPair::from_pkcs8(p256, der, &SystemRandom::new()) {
            return Some(Key::Es256(key));
        }
        // Files made by openssl hold no public key to check the private one against.
        Ed25519KeyPair::from_pkcs8_maybe_unchecked(der).ok().map(Key::EdDsa)
    }

    fn algorithm(&self) -> &'static str {
        match self {
            Key::Es256(_) => "ES256",
            Key::EdDsa(_) => "EdDSA",
        }
    }

    fn sign(&self, input: &[u8]) -> Vec<u8> {
        match self {
            Key::Es256(key) => {
                let signed = key.sign(&SystemRandom::new(), input);
                signed.expect("the system has chance to give").as_ref().to_vec()
            }
            Key::EdDsa(key) => key.sign(input).as_ref().to_vec(),
        }
    }

    /// The members that a thumbprint is of, no others.
    fn jwk(&self) -> Value {
        match self {
            Key::Es256(key) => {
                // 0x04, then both coordinates.
                let (x, y) = key.public_key().as_ref()[1..].split_at(32);
                let encode = |bytes| URL_SAFE_NO_PAD.encode(bytes);
                json!({ "crv": "P-256", "kty": "EC", "x": encode(x), "y": encode(y) })
            }
            Key::EdDsa(key) => {
                let x = URL_SAFE_NO_PAD.encode(key.public_key().as_ref());
                json!({ "crv": "Ed25519", "kty": "OKP", "x": x })
            }
        }
    }
}

/// RFC 7638: the hash of the canonical form.
fn thumbprint(jwk: &Value) -> String {
    let hash = ring::digest::digest(&ring::digest::SHA256, canonical::text(jwk).as_bytes());
    URL_SAFE_NO_PAD.encode(hash)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bridge::a2a::card::model::*;
    use base64::engine::general_purpose::STANDARD;
    use expect_test::expect;
    use ring::signature::UnparsedPublicKey;

    /// PKCS#8 of the P-256 key whose private number is 0x1f, 32 times.
    fn vector_key() -> Key {
        let public = [
            vec![4],
            URL_SAFE_NO_PAD.decode("a_hdX-hFmLEMphmewJzNfTXc1xlf3R3Hc3oMZwBu8lE").unwrap(),
            URL_SAFE_NO_PAD.decode("uVLyXuwd7tH8oZGDiZBGY1fTFK37fpdguNmvyPOala0").unwrap(),
        ];
        let head = b"\x30\x81\x87\x02\x01\x00\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\
            \x2a\x86\x48\xce\x3d\x03\x01\x07\x04\x6d\x30\x6b\x02\x01\x01\x04\x20";
        let der = [&head[..], &[0x1f; 32], b"\xa1\x44\x03\x42\x00", &public.concat()].concat();
        Key::from_pkcs8(&der).expect("it is a key")
    }

    fn vector_card() -> AgentCard {
        let required =
            SecurityRequirement { schemes: [("bearer".to_owned(), StringList::default())].into() };
        let http = HttpAuth {
            description: String::new(),
            scheme: "Bearer".into(),
            bearer_format: String::new(),
        };
        AgentCard {
            name: "Ref\u{fc}nds".into(),
            description: "Pays orders back".into(),
            supported_interfaces: vec![AgentInterface {
                url: "https://agents.example.com/refunds".into(),
                protocol_binding: "JSONRPC".into(),
                tenant: String::new(),
                protocol_version: "1.0".into(),
            }],
            provider: None,
            version: "1.0.0".into(),
            documentation_url: None,
            capabilities: AgentCapabilities {
                streaming: Some(true),
                push_notifications: Some(false),
                extensions: vec![],
                extended_agent_card: None,
            },
            security_schemes: [("bearer".into(), SecurityScheme::HttpAuthSecurityScheme(http))]
                .into(),
            security_requirements: vec![required],
            default_input_modes: vec!["application/json".into()],
            default_output_modes: vec!["application/json".into()],
            skills: vec![AgentSkill {
                id: "refund".into(),
                name: "Refund".into(),
                description: "Refunds an order".into(),
                tags: vec!["orders".into()],
                examples: vec![],
                input_modes: vec![],
                output_modes: vec![],
            }],
            signatures: vec![],
            icon_url: None,
        }
    }

    const SPECIFIED: &str = r#"{"capabilities":{"pushNotifications":false,"streaming":true},"defaultInputModes":["application/json"],"defaultOutputModes":["application/json"],"description":"Pays orders back","name":"Refünds","securityRequirements":[{"schemes":{"bearer":{}}}],"securitySchemes":{"bearer":{"httpAuthSecurityScheme":{"scheme":"Bearer"}}},"skills":[{"description":"Refunds an order","id":"refund","name":"Refund","tags":["orders"]}],"supportedInterfaces":[{"protocolBinding":"JSONRPC","protocolVersion":"1.0","url":"https://agents.example.com/refunds"}],"version":"1.0.0"}"#;

    fn verifies(key: &Key, payload: &str, signed: &AgentCardSignature) -> bool {
        let input = format!("{}.{}", signed.protected, URL_SAFE_NO_PAD.encode(payload));
        let signature = URL_SAFE_NO_PAD.decode(&signed.signature).unwrap();
        match key {
            Key::Es256(key) => {
                let public = key.public_key().as_ref();
                UnparsedPublicKey::new(&signature::ECDSA_P256_SHA256_FIXED, public)
                    .verify(input.as_bytes(), &signature)
                    .is_ok()
            }
            Key::EdDsa(key) => UnparsedPublicKey::new(&signature::ED25519, key.public_key())
                .verify(input.as_bytes(), &signature)
                .is_ok(),
        }
    }

    /// The signatures were made by another implementation.
    #[test]
    fn both_forms_are_those_that_others_sign() {
        let (key, card) = (vector_key(), json(&vector_card()));
        assert_eq!(canonical::text(&card), SPECIFIED);
        let of_sdks =
            SPECIFIED.replace(r#""securityRequirements":[{"schemes":{"bearer":{}}}],"#, "");
        assert_eq!(canonical::text(&canonical::without_empty(&card)), of_sdks);
        let foreign = |signature: &str| AgentCardSignature {
            protected: "eyJhbGciOiJFUzI1NiIsImtpZCI6ImsxIiwidHlwIjoiSk9TRSJ9".into(),
            signature: signature.into(),
        };
        let specified = foreign(
            "5tSCNtijKJvW50ax5h1ownQ25nX-0BtNjDhzwyCrlWvhozCsq57v8LfRTnFcUiIlFTDSDLwzGqDH8oF-o-nt7w",
        );
        assert!(verifies(&key, SPECIFIED, &specified));
        let sdks = foreign(
            "n2tDyOhjly-avcmfe916x0RNHLSehHfJGiJyiB3tzU5qpszgffYj7k8h-8ADoPu3nbkwEfpkge7Yt89QUYCO5g",
        );
        assert!(verifies(&key, &of_sdks, &sdks));
        assert!(!verifies(&key, SPECIFIED, &sdks));

        let signer = Signer::new(key, Some("k1"), None);
        let mut card = vector_card();
        signer.sign(&mut card);
        assert_eq!(card.signatures.len(), 2);
        assert_eq!(card.signatures[0].protected, specified.protected);
        assert!(verifies(&signer.key, SPECIFIED, &card.signatures[0]));
        assert!(verifies(&signer.key, &of_sdks, &card.signatures[1]));
        signer.sign(&mut card);
        assert!(verifies(&signer.key, SPECIFIED, &card.signatures[0]), "signatures are not signed");
        card.security_requirements = vec![];
        signer.sign(&mut card);
        assert_eq!(card.signatures.len(), 1, "both forms are the same");
    }

    #[test]
    fn the_public_key_is_told() {
        let signer = Signer::new(vector_key(), Some("k1"), None);
        expect![[r#"{"keys":[{"crv":"P-256","kty":"EC","x":"a_hdX-hFmLEMphmewJzNfTXc1xlf3R3Hc3oMZwBu8lE","y":"uVLyXuwd7tH8oZGDiZBGY1fTFK37fpdguNmvyPOala0","kid":"k1","alg":"ES256","use":"sig"}]}"#]]
            .assert_eq(&signer.key_set().to_string());
        // The key and the thumbprint of RFC 8037, appendix A.
        let seed = URL_SAFE_NO_PAD.decode("nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A").unwrap();
        let head = b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20";
        let der = [&head[..], &seed].concat();
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("key.pem");
        let body = STANDARD.encode(&der);
        let pem = format!("-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\n");
        std::fs::write(&path, pem).unwrap();
        let signer = Signer::from_file(&path, None, Some("https://a.example/keys")).unwrap();
        assert_eq!(signer.kid, "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
        let mut card = vector_card();
        signer.sign(&mut card);
        assert!(verifies(&signer.key, SPECIFIED, &card.signatures[0]));
        let header = URL_SAFE_NO_PAD.decode(&card.signatures[0].protected).unwrap();
        expect![[r#"{"alg":"EdDSA","kid":"kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k","typ":"JOSE","jku":"https://a.example/keys"}"#]]
            .assert_eq(&String::from_utf8(header).unwrap());
        std::fs::write(&path, "no key").unwrap();
        let refused = Signer::from_file(&path, None, None).map(drop).unwrap_err();
        assert!(matches!(refused, Error::NotAKey { .. }), "{refused}");
        let refused = Signer::from_file(&directory.path().join("none"), None, None).map(drop);
        assert!(matches!(refused, Err(Error::Unreadable { .. })));
    }
}
