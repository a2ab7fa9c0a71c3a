//! Signatures of what is delivered: HMAC-SHA256 with a secret that the receiver has too, over the
//! time and the body. Never shows the secret.

use ring::hmac;
use std::{fmt::Write, path::Path};

/// A shorter one could be guessed, in bytes.
const SECRET_BYTES_MIN: usize = 16;

/// Where a signature stands.
pub const SIGNATURE_HEADER: &str = "x-holdfast-signature";

/// Signs.
pub struct Secret(hmac::Key);

impl Secret {
    /// Reads a file; blanks around the secret do not count.
    ///
    /// # Errors
    /// The reason why it cannot be used.
    pub fn from_file(path: &Path) -> Result<Secret, String> {
        let text = std::fs::read(path).map_err(|error| error.to_string())?;
        let secret = text.trim_ascii();
        if secret.len() < SECRET_BYTES_MIN {
            return Err(format!("it has {} bytes, expected {SECRET_BYTES_MIN}", secret.len()));
        }
        Ok(Secret::new(secret))
    }

    fn new(secret: &[u8]) -> Secret {
        Secret(hmac::Key::new(hmac::HMAC_SHA256, secret))
    }

    /// `t=SECONDS,v1=HEX`, where the tag is of `SECONDS.BODY`.
    pub fn sign(&self, seconds: u64, body: &[u8]) -> String {
        let mut context = hmac::Context::with_key(&self.0);
        context.update(format!("{seconds}.").as_bytes());
        context.update(body);
        let mut text = format!("t={seconds},v1=");
        for byte in context.sign().as_ref() {
            write!(text, "{byte:02x}").expect("writing to a string does not fail");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    /// The tag is the one of `printf '1700000000.{"a":1}' | openssl dgst -sha256 -hmac …`.
    #[test]
    fn the_tag_is_of_time_and_body() {
        let secret = Secret::new(b"0123456789abcdef0123456789abcdef");
        expect!["t=1700000000,v1=f05f2539e3ae1c49aec5f8cfdad75ef6b06480b133973ffbb7ec9e18827af177"]
            .assert_eq(&secret.sign(1_700_000_000, br#"{"a":1}"#));
    }

    #[test]
    fn a_secret_that_is_none_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("secret");
        let complaint = |text: &str| {
            std::fs::write(&path, text).unwrap();
            Secret::from_file(&path).map(drop).unwrap_err()
        };
        expect!["it has 5 bytes, expected 16"].assert_eq(&complaint(
            " short
",
        ));
        std::fs::write(&path, "0123456789abcdef\n").unwrap();
        let read = Secret::from_file(&path).unwrap();
        assert_eq!(read.sign(1, b"x"), Secret::new(b"0123456789abcdef").sign(1, b"x"));
        assert!(Secret::from_file(&directory.path().join("none")).is_err());
    }
}
