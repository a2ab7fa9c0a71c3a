//! Absolute addresses, as people write them. Never looks a name up.

use hyper::Uri;

/// Reads and normalises an `http` or `https` URL; the error says what is wrong with it.
///
/// # Errors
/// Where it has no scheme or host, or a scheme that is not spoken.
pub fn address(text: &str) -> Result<Uri, &'static str> {
    let uri: Uri = text.trim().parse().map_err(|_| "it is not a URL")?;
    match uri.scheme_str() {
        Some("http" | "https") => {}
        Some(_) => return Err("its scheme is neither http nor https"),
        None => return Err("it has no scheme; write http://host:port"),
    }
    if uri.authority().is_none_or(|authority| authority.host().is_empty()) {
        return Err("it has no host");
    }
    let mut parts = uri.into_parts();
    let path = parts.path_and_query.take();
    parts.path_and_query = path.or_else(|| Some("/".parse().expect("a path")));
    Uri::from_parts(parts).map_err(|_| "it is not a URL")
}

/// As `address`, for what is sent to without credentials.
///
/// # Errors
/// As `address`, and where it has a user or a password, which would not be sent.
pub fn address_without_user(text: &str) -> Result<Uri, &'static str> {
    let uri = address(text)?;
    match uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
        true => Err("it has a user or a password, which would not be sent"),
        false => Ok(uri),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn addresses_are_absolute_and_have_a_path() {
        let read = |text: &str| match address_without_user(text) {
            Ok(uri) => format!("{text} => {uri}\n"),
            Err(reason) => format!("{text}: {reason}\n"),
        };
        let texts = [
            "http://h",
            " https://h:1/a?b=c ",
            "https://[::1]/",
            "h:80",
            "/a",
            "ftp://h",
            "http:///a",
            "http://h h",
            "http://u:p@h",
            "",
        ];
        expect![[r#"
            http://h => http://h/
             https://h:1/a?b=c  => https://h:1/a?b=c
            https://[::1]/ => https://[::1]/
            h:80: it has no scheme; write http://host:port
            /a: it has no scheme; write http://host:port
            ftp://h: its scheme is neither http nor https
            http:///a: it is not a URL
            http://h h: it is not a URL
            http://u:p@h: it has a user or a password, which would not be sent
            : it is not a URL
        "#]]
        .assert_eq(&texts.map(read).concat());
    }
}
