//! By which names this machine is answered, and to which pages: the check that keeps a stranger's
//! page in a browser from talking to what listens on loopback.

use super::{Config, Refusal};
use http::{HeaderMap, HeaderValue, Uri, header, request::Parts};
use std::net::IpAddr;

/// How much of a refused name is repeated.
const SHOWN_CHARS: usize = 200;

pub(super) fn check(config: &Config, head: &Parts) -> Result<(), Refusal> {
    let host = host_of(head);
    if !host.is_some_and(|host| is_ours(config, name_of(host))) {
        return Err(Refusal::Host { host: shown(host.unwrap_or_default()) });
    }
    for origin in head.headers.get_all(header::ORIGIN) {
        let text = origin.to_str().unwrap_or_default();
        if !is_allowed(config, text) {
            return Err(Refusal::Origin { origin: shown(text) });
        }
    }
    Ok(())
}

/// Whether the client called this machine by a name of its own, and nothing tells of a proxy.
pub(super) fn is_local(config: &Config, head: &Parts) -> bool {
    let passed_on = |name: &str| {
        matches!(name, "forwarded" | "via" | "x-real-ip") || name.starts_with("x-forwarded-")
    };
    let by_name = host_of(head).is_some_and(|host| is_loopback(name_of(host)));
    let is_public = config.public_url.as_ref().is_some_and(|url| {
        let url = url.parse::<Uri>().ok();
        !url.as_ref().and_then(Uri::host).is_some_and(is_loopback)
    });
    by_name && !is_public && !head.headers.keys().any(|name| passed_on(name.as_str()))
}

/// The host and port that the client used; where there are two that differ, none.
pub(super) fn host_of(head: &Parts) -> Option<&str> {
    let mut named = head.headers.get_all(header::HOST).iter();
    let stated = named.next().map(HeaderValue::to_str);
    if named.next().is_some() {
        return None;
    }
    match (head.uri.authority(), stated) {
        (Some(authority), None) => Some(authority.as_str()),
        (None, Some(Ok(stated))) => Some(stated.trim()),
        (Some(authority), Some(Ok(stated))) => {
            authority.as_str().eq_ignore_ascii_case(stated).then_some(stated)
        }
        _ => None,
    }
}

/// Without the port.
fn name_of(host: &str) -> &str {
    let end_of_address = host.find(']').map_or(0, |at| at + 1);
    match host[end_of_address..].find(':') {
        Some(colon) => &host[..end_of_address + colon],
        None => host,
    }
}

fn is_ours(config: &Config, name: &str) -> bool {
    let listed =
        |name: &str| config.hosts.iter().any(|host| host == "*" || host.eq_ignore_ascii_case(name));
    let public = || {
        let url = config.public_url.as_ref()?.parse::<Uri>().ok()?;
        Some(url.host()?.eq_ignore_ascii_case(name))
    };
    is_loopback(name) || listed(name) || public().unwrap_or(false)
}

fn is_loopback(name: &str) -> bool {
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost")
        || bare.parse::<IpAddr>().is_ok_and(|ip| ip.to_canonical().is_loopback())
}

fn is_allowed(config: &Config, origin: &str) -> bool {
    if config.origins.iter().any(|it| it == "*" || it.eq_ignore_ascii_case(origin)) {
        return true;
    }
    let public = config.public_url.as_deref();
    if public.is_some_and(|url| url.eq_ignore_ascii_case(origin)) {
        return true;
    }
    let rest = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    rest.is_some_and(|host| is_loopback(name_of(host)))
}

fn shown(text: &str) -> String {
    text.chars().take(SHOWN_CHARS).collect()
}

impl super::Guard {
    /// Lets a page of an allowed origin read the response. Call it for requests that `place` let
    /// in.
    pub fn allow_origin(&self, request: &HeaderMap, response: &mut HeaderMap) {
        const EXPOSED: HeaderValue =
            HeaderValue::from_static("mcp-session-id, mcp-protocol-version, www-authenticate");
        response.append(header::VARY, HeaderValue::from_static("origin"));
        let Some(origin) = request.get(header::ORIGIN) else { return };
        response.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        response.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
    }

    /// Where the client reaches this listener, without a slash at the end.
    pub fn base_url(&self, head: &Parts) -> String {
        match &self.shared.config.public_url {
            Some(url) => url.clone(),
            None => format!("http://{}", host_of(head).unwrap_or_default()),
        }
    }
}
