//! What a client may register as a receiver. Looks at the text alone: what a name leads to is
//! looked at when something is sent there.

use super::Config;
use crate::bridge::a2a::error::{Error, Violation};
use crate::bridge::a2a::model::PushConfig;
use crate::http::address_without_user;
use http::{HeaderValue, Uri};
use std::net::{IpAddr, Ipv4Addr};

const ID_BYTES_MAX: usize = 128;
const URL_BYTES_MAX: usize = 4_096;
/// Of a token, and of credentials.
const SECRET_BYTES_MAX: usize = 8_192;

/// # Errors
/// `InvalidParams` with everything that is wrong.
pub fn check(config: &Config, wanted: &PushConfig) -> Result<(), Error> {
    let mut violations = vec![];
    let mut violated = |field: &str, why: Option<&'static str>| {
        violations.extend(
            why.map(|why| Violation { field: field.to_owned(), description: why.to_owned() }),
        );
    };
    violated("id", id(&wanted.id));
    violated("url", url(config, &wanted.url));
    violated("token", secret(&wanted.token));
    if let Some(authentication) = &wanted.authentication {
        violated("authentication.scheme", scheme(&authentication.scheme));
        violated("authentication.credentials", secret(&authentication.credentials));
    }
    match violations.is_empty() {
        true => Ok(()),
        false => Err(Error::InvalidParams(violations)),
    }
}

/// It is a part of paths.
fn id(id: &str) -> Option<&'static str> {
    if id.len() > ID_BYTES_MAX {
        return Some("is longer than 128 bytes");
    }
    let bad = |character: char| character.is_control() || character == '/';
    id.contains(bad).then_some("has a slash or a control character in it")
}

fn url(config: &Config, text: &str) -> Option<&'static str> {
    if text.is_empty() {
        return Some("is required");
    }
    if text.len() > URL_BYTES_MAX {
        return Some("is longer than 4096 bytes");
    }
    let uri = match address_without_user(text) {
        Ok(uri) => uri,
        Err(_) => return Some("is not an absolute http or https URL without a user"),
    };
    if uri.scheme_str() == Some("http") && !config.allow_http {
        return Some("is not https, which this agent insists on");
    }
    let refused = literal(&uri).and_then(|ip| config.check_address(ip).err());
    refused.map(|_| "leads to an address that this agent sends nothing to")
}

/// The address that a URL names without a look-up.
fn literal(uri: &Uri) -> Option<IpAddr> {
    let host = uri.host()?.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.');
    if host.eq_ignore_ascii_case("localhost") || host.to_ascii_lowercase().ends_with(".localhost") {
        return Some(Ipv4Addr::LOCALHOST.into());
    }
    host.parse().ok()
}

/// A token as HTTP knows it.
fn scheme(scheme: &str) -> Option<&'static str> {
    if scheme.is_empty() {
        return Some("is required");
    }
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    (!scheme.bytes().all(plain)).then_some("is not the name of a scheme, such as Bearer")
}

/// It will stand in a header.
fn secret(secret: &str) -> Option<&'static str> {
    if secret.len() > SECRET_BYTES_MAX {
        return Some("is longer than 8192 bytes");
    }
    let stands = HeaderValue::from_str(secret).is_ok() && secret.is_ascii();
    (!stands).then_some("has characters that cannot stand in a header")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bridge::a2a::model::Authentication;
    use expect_test::expect;

    fn wanted(url: &str) -> PushConfig {
        PushConfig {
            id: String::new(),
            task_id: "t".into(),
            url: url.into(),
            token: String::new(),
            authentication: None,
        }
    }

    fn told(config: &Config, wanted: &PushConfig) -> String {
        check(config, wanted).err().map_or("fine".into(), |error| error.to_string())
    }

    #[test]
    fn private_hosts_are_refused_unless_allowed() {
        let strict = Config::default();
        let open = Config {
            allow_http: true,
            private_networks: vec!["127.0.0.0/8".parse().unwrap()],
            ..Config::default()
        };
        let line = |url: &str| {
            format!("{url}\n  {}\n  {}\n", told(&strict, &wanted(url)), told(&open, &wanted(url)))
        };
        let urls = [
            "https://example.com/hook",
            "http://example.com/hook",
            "https://127.0.0.1/x",
            "http://127.0.0.1:9/x",
            "http://LocalHost:9/x",
            "https://a.localhost./x",
            "https://[::1]/x",
            "https://[::ffff:127.0.0.1]/x",
            "https://169.254.169.254/latest",
            "https://10.0.0.1/",
            "https://user@example.com/",
            "ftp://example.com/",
            "example.com",
            "",
        ];
        expect![[r#"
            https://example.com/hook
              fine
              fine
            http://example.com/hook
              Invalid parameters: url is not https, which this agent insists on
              fine
            https://127.0.0.1/x
              Invalid parameters: url leads to an address that this agent sends nothing to
              fine
            http://127.0.0.1:9/x
              Invalid parameters: url is not https, which this agent insists on
              fine
            http://LocalHost:9/x
              Invalid parameters: url is not https, which this agent insists on
              fine
            https://a.localhost./x
              Invalid parameters: url leads to an address that this agent sends nothing to
              fine
            https://[::1]/x
              Invalid parameters: url leads to an address that this agent sends nothing to
              Invalid parameters: url leads to an address that this agent sends nothing to
            https://[::ffff:127.0.0.1]/x
              Invalid parameters: url leads to an address that this agent sends nothing to
              fine
            https://169.254.169.254/latest
              Invalid parameters: url leads to an address that this agent sends nothing to
              Invalid parameters: url leads to an address that this agent sends nothing to
            https://10.0.0.1/
              Invalid parameters: url leads to an address that this agent sends nothing to
              Invalid parameters: url leads to an address that this agent sends nothing to
            https://user@example.com/
              Invalid parameters: url is not an absolute http or https URL without a user
              Invalid parameters: url is not an absolute http or https URL without a user
            ftp://example.com/
              Invalid parameters: url is not an absolute http or https URL without a user
              Invalid parameters: url is not an absolute http or https URL without a user
            example.com
              Invalid parameters: url is not an absolute http or https URL without a user
              Invalid parameters: url is not an absolute http or https URL without a user

              Invalid parameters: url is required
              Invalid parameters: url is required
        "#]]
        .assert_eq(&urls.map(line).concat());
    }

    #[test]
    fn everything_that_is_wrong_is_told() {
        let bad = PushConfig {
            id: "a/b".into(),
            token: "a\nb".into(),
            authentication: Some(Authentication {
                scheme: "Bearer x".into(),
                credentials: "ü".into(),
            }),
            ..wanted("https://example.com")
        };
        expect!["Invalid parameters: id has a slash or a control character in it; token has characters that cannot stand in a header; authentication.scheme is not the name of a scheme, such as Bearer; authentication.credentials has characters that cannot stand in a header"]
            .assert_eq(&told(&Config::default(), &bad));
        let good = PushConfig {
            id: "mine".into(),
            token: "t-1".into(),
            authentication: Some(Authentication {
                scheme: "Bearer".into(),
                credentials: "c-1".into(),
            }),
            ..wanted("https://example.com")
        };
        assert_eq!(told(&Config::default(), &good), "fine");
    }
}
