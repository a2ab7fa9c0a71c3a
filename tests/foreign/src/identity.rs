//! Request identity: with `IDENTITY_KEY` (`publickeyv1_…`) an endpoint takes only what is signed by
//! that key. The SDK leaves the cryptography to whoever links it; its own choice brings sixty
//! packages for algorithms that are never used here, so this is Ed25519 by `ring` and nothing else.

use crate::http::Error;
use jsonwebtoken::{
    Algorithm,
    crypto::{CryptoProvider, JwkUtils, JwtVerifier},
    errors::ErrorKind,
    signature::{self, Verifier},
};
use restate_sdk::endpoint::Builder;
use ring::signature::{ED25519, UnparsedPublicKey};

static ED25519_ONLY: CryptoProvider = CryptoProvider {
    signer_factory: |_, _| Err(ErrorKind::InvalidAlgorithm.into()),
    verifier_factory: |algorithm, key| match algorithm {
        Algorithm::EdDSA => Ok(Box::new(PublicKey(key.as_bytes().to_vec()))),
        _ => Err(ErrorKind::InvalidAlgorithm.into()),
    },
    jwk_utils: JwkUtils::new_unimplemented(),
};

struct PublicKey(Vec<u8>);

impl Verifier<Vec<u8>> for PublicKey {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), signature::Error> {
        let key = UnparsedPublicKey::new(&ED25519, &self.0);
        key.verify(message, signature).map_err(|_| signature::Error::new())
    }
}

impl JwtVerifier for PublicKey {
    fn algorithm(&self) -> Algorithm {
        Algorithm::EdDSA
    }
}

/// Lets the endpoint refuse what `IDENTITY_KEY` did not sign, if it is set.
///
/// # Errors
/// When it is set and is no public key.
pub fn from_env(endpoint: Builder) -> Result<Builder, Error> {
    let Ok(key) = std::env::var("IDENTITY_KEY") else {
        return Ok(endpoint);
    };
    // Fails where it was installed before, by whoever asked first.
    let _ = ED25519_ONLY.install_default();
    Ok(endpoint.identity_key(&key)?)
}
