//! Where a deployment wants notices about its invocations to be sent: an entry of its metadata.

use super::error::Error;
use crate::http::address_without_user;
use std::collections::BTreeMap;

/// The entry. Its value is an `http` or `https` URL.
pub const NOTIFY_URL: &str = "holdfast.notify.url";

/// # Errors
/// `NotifyUrl` where there is one and it cannot be sent to.
pub fn url(metadata: &BTreeMap<String, String>) -> Result<Option<http::Uri>, Error> {
    let Some(url) = metadata.get(NOTIFY_URL) else {
        return Ok(None);
    };
    address_without_user(url).map(Some).map_err(|reason| Error::NotifyUrl { reason })
}
