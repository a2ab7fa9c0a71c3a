//! Which names services and handlers may have.
//!
//! Names become segments of paths, so nothing that would need escaping is let in.

use super::error::{HandlerProblem, ServiceProblem};

/// Paths of the ingress listener that are not services.
const DOORS: [&str; 4] = ["mcp", "a2a", "holdfast", ".well-known"];

/// A path that is refused however it is written.
const OPENAPI: &str = "openapi";

/// Beginnings of names that are taken, in lower case.
const RESERVED_PREFIXES: [&str; 2] = ["restate", "holdfast."];

pub(super) fn check_service(name: &str) -> Result<(), ServiceProblem> {
    let lower = name.to_ascii_lowercase();
    if lower == OPENAPI {
        return Err(ServiceProblem::HiddenByDoor { door: OPENAPI });
    }
    if let Some(door) = DOORS.into_iter().find(|door| *door == name) {
        return Err(ServiceProblem::HiddenByDoor { door });
    }
    if let Some(prefix) = RESERVED_PREFIXES.into_iter().find(|prefix| lower.starts_with(prefix)) {
        return Err(ServiceProblem::NameReserved { prefix });
    }
    match is_name(name, b"_.-") {
        true => Ok(()),
        false => Err(ServiceProblem::NameMalformed),
    }
}

pub(super) fn check_handler(name: &str) -> Result<(), HandlerProblem> {
    match is_name(name, b"_") {
        true => Ok(()),
        false => Err(HandlerProblem::NameMalformed),
    }
}

/// A letter, or an underscore and a letter or digit; then letters, digits and `others`.
fn is_name(name: &str, others: &[u8]) -> bool {
    let begins = match name.as_bytes() {
        [first, ..] if first.is_ascii_alphabetic() => true,
        [b'_', second, ..] => second.is_ascii_alphanumeric(),
        _ => false,
    };
    begins && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || others.contains(&byte))
}
