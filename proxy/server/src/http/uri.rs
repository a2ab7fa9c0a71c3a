//! Addresses below other addresses.

use hyper::Uri;

/// `path`, which begins with a slash, below the path of `base`; the query of `base` stays.
///
/// # Errors
/// A sentence, where the two do not make a path.
pub fn below(base: &Uri, path: &str) -> Result<Uri, String> {
    let prefix = base.path().trim_end_matches('/');
    let joined = match base.query() {
        Some(query) => format!("{prefix}{path}?{query}"),
        None => format!("{prefix}{path}"),
    };
    let mut parts = base.clone().into_parts();
    let joined = joined.parse().map_err(|_| format!("`{joined}` is not a path"))?;
    parts.path_and_query = Some(joined);
    Uri::from_parts(parts).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_go_below_the_prefix() {
        let check = |base: &str, path: &str, expected: &str| {
            let uri = below(&base.parse().unwrap(), path);
            assert_eq!(uri.map(|uri| uri.to_string()), Ok(expected.to_owned()));
        };
        check("http://h:9080", "/invoke/S/h", "http://h:9080/invoke/S/h");
        check("http://h:9080/", "/invoke/S/h", "http://h:9080/invoke/S/h");
        check("http://h:9080/a/b", "/discover", "http://h:9080/a/b/discover");
        check("https://h/a/?q=1", "/invoke/S/h", "https://h/a/invoke/S/h?q=1");
        check("https://[::1]:1/a//", "/", "https://[::1]:1/a/");
    }

    #[test]
    fn what_is_no_path_is_refused() {
        let base = "http://h/".parse().unwrap();
        assert_eq!(below(&base, "/a b"), Err("`/a b` is not a path".to_owned()));
    }
}
