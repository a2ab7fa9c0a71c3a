//! Formats of texts that forms use. A format that is not known here fits everything.

use std::net::{Ipv4Addr, Ipv6Addr};

pub(super) fn is(name: &str, text: &str) -> bool {
    match name {
        "email" => is_email(text),
        "uri" => is_uri(text),
        "date" => text.len() == 10 && text.parse::<jiff::civil::Date>().is_ok(),
        "date-time" => text.contains(['T', 't']) && text.parse::<jiff::Timestamp>().is_ok(),
        "uuid" => is_uuid(text),
        "ipv4" => text.parse::<Ipv4Addr>().is_ok(),
        "ipv6" => text.parse::<Ipv6Addr>().is_ok(),
        _ => true,
    }
}

fn is_email(text: &str) -> bool {
    let plain = |part: &str| !part.is_empty() && !part.contains(char::is_whitespace);
    text.rsplit_once('@').is_some_and(|(name, host)| plain(name) && plain(host))
}

fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let mut letters = scheme.bytes();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic())
        && letters.all(|it| it.is_ascii_alphanumeric() || b"+-.".contains(&it))
        && !rest.is_empty()
        && !rest.contains(|it: char| {
            it.is_whitespace() || it.is_control() || "<>\"{}|\\^`".contains(it)
        })
}

fn is_uuid(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
    lengths == [8, 4, 4, 4, 12]
        && groups.iter().all(|group| group.bytes().all(|byte| byte.is_ascii_hexdigit()))
}
