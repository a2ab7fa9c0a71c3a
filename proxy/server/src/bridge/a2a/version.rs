//! Which version of the protocol a request speaks, and which extensions it names.

use super::error::Error;
use crate::http::percent;
use http::{HeaderMap, HeaderName};

pub const VERSION: HeaderName = HeaderName::from_static("a2a-version");
pub const EXTENSIONS: HeaderName = HeaderName::from_static("a2a-extensions");
/// What 0.3 called it.
pub const OLD_EXTENSIONS: HeaderName = HeaderName::from_static("x-a2a-extensions");

/// The words that a conversation is held in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Wire {
    #[default]
    V1,
    V03,
}

/// What a request says about its version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// Nothing, which by the specification means 0.3.
    Nothing,
    V1,
    V03,
    Other(String),
}

/// The header, or the parameter of the same name.
pub fn asked(headers: &HeaderMap, query: Option<&str>) -> Asked {
    let header = headers.get(&VERSION).map(|value| String::from_utf8_lossy(value.as_bytes()));
    let said = header.or_else(|| percent::query_value(query, VERSION.as_str()));
    match said.as_deref().map(str::trim) {
        None | Some("") => Asked::Nothing,
        Some("1") => Asked::V1,
        Some(text) if text.starts_with("1.") => Asked::V1,
        Some("0.3") => Asked::V03,
        Some(text) if text.starts_with("0.3.") => Asked::V03,
        Some(text) => Asked::Other(text.chars().take(SHOWN_MAX).collect()),
    }
}

/// Characters of a version that are told back.
const SHOWN_MAX: usize = 20;

/// Which versions an agent serves.
#[derive(Debug, Clone, Copy)]
pub struct Served {
    pub v03: bool,
    /// A request has to say its version.
    pub required: bool,
}

impl Served {
    /// The version of a request whose method or path is of 1.0.
    pub fn current(self, asked: &Asked) -> Result<Wire, Error> {
        match asked {
            Asked::V1 => Ok(Wire::V1),
            Asked::Nothing if !self.required => Ok(Wire::V1),
            Asked::Nothing | Asked::V03 => Err(Error::VersionNotSupported("0.3".into())),
            Asked::Other(version) => Err(Error::VersionNotSupported(version.clone())),
        }
    }

    /// The version of a request whose method or path is of 0.3; `None` where the request says that
    /// it is of 1.0, so that there is no such method or path.
    pub fn old(self, asked: &Asked) -> Result<Option<Wire>, Error> {
        match asked {
            Asked::V1 => Ok(None),
            Asked::Nothing | Asked::V03 if self.v03 => Ok(Some(Wire::V03)),
            Asked::Nothing | Asked::V03 => Err(Error::VersionNotSupported("0.3".into())),
            Asked::Other(version) => Err(Error::VersionNotSupported(version.clone())),
        }
    }
}

/// The extensions that a request names.
pub fn extensions(headers: &HeaderMap) -> Vec<String> {
    let all = [EXTENSIONS, OLD_EXTENSIONS];
    let values = all.iter().flat_map(|name| headers.get_all(name));
    let texts = values.filter_map(|value| value.to_str().ok());
    let uris = texts.flat_map(|text| text.split(',')).map(str::trim).filter(|uri| !uri.is_empty());
    uris.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(version: &str) -> Asked {
        let mut headers = HeaderMap::new();
        headers.insert(VERSION, version.parse().unwrap());
        asked(&headers, None)
    }

    #[test]
    fn versions() {
        for version in ["1.0", "1", "1.0.1", "1.7", " 1.0 "] {
            assert_eq!(with(version), Asked::V1, "{version}");
        }
        assert_eq!((with("0.3"), with("0.3.0")), (Asked::V03, Asked::V03));
        assert_eq!((with(""), with("99.0")), (Asked::Nothing, Asked::Other("99.0".into())));
        assert_eq!(
            (with("10.0"), with("0.30")),
            (Asked::Other("10.0".into()), Asked::Other("0.30".into()))
        );
        assert_eq!(asked(&HeaderMap::new(), Some("x=1&A2A-Version=1.0")), Asked::V1);
    }

    #[test]
    fn what_is_served() {
        let served = |v03, required| Served { v03, required };
        let refused = |version: &str| Error::VersionNotSupported(version.into());
        let other = Asked::Other("99.0".into());
        assert_eq!(served(true, false).current(&Asked::Nothing), Ok(Wire::V1));
        assert_eq!(served(true, true).current(&Asked::Nothing), Err(refused("0.3")));
        assert_eq!(served(true, false).current(&Asked::V03), Err(refused("0.3")));
        assert_eq!(served(true, false).current(&other), Err(refused("99.0")));
        assert_eq!(served(true, false).old(&Asked::Nothing), Ok(Some(Wire::V03)));
        assert_eq!(served(true, false).old(&Asked::V1), Ok(None));
        assert_eq!(served(false, false).old(&Asked::V03), Err(refused("0.3")));
        assert_eq!(served(true, false).old(&other), Err(refused("99.0")));
    }

    #[test]
    fn extensions_are_listed_or_repeated() {
        let mut headers = HeaderMap::new();
        headers.append(EXTENSIONS, "urn:a, urn:b,".parse().unwrap());
        headers.append(OLD_EXTENSIONS, "urn:c".parse().unwrap());
        assert_eq!(extensions(&headers), ["urn:a", "urn:b", "urn:c"]);
    }
}
