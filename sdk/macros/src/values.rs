//! Values in attributes: durations, names, numbers.

use syn::{LitStr, Result};

/// A duration in milliseconds, written like `"250ms"`, `"1s"`, `"2m"`, `"1h"` or `"7d"`.
pub fn millis(text: &LitStr) -> Result<u64> {
    let value = text.value();
    let digits = value.find(|c: char| !c.is_ascii_digit()).unwrap_or(value.len());
    let (number, unit) = value.split_at(digits);
    let unit_ms = match unit.trim() {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return Err(not_a_duration(text)),
    };
    let number = number.parse::<u64>().map_err(|_| not_a_duration(text))?;
    number.checked_mul(unit_ms).ok_or_else(|| not_a_duration(text))
}

fn not_a_duration(text: &LitStr) -> syn::Error {
    let message = format!(
        "`{}` is no duration; write one like \"250ms\", \"1s\", \"2m\", \"1h\" or \"7d\"",
        text.value()
    );
    syn::Error::new(text.span(), message)
}

/// Whether a service may have this name, or why not.
pub fn check_service_name(name: &str) -> std::result::Result<(), String> {
    let lower = name.to_ascii_lowercase();
    if lower.starts_with("restate") || lower.starts_with("holdfast.") || lower == "openapi" {
        return Err(format!("the name `{name}` is reserved; give the service another one"));
    }
    match is_name(name, "_.-") {
        true => Ok(()),
        false => Err(format!(
            "`{name}` cannot be the name of a service: expected a letter, then letters, digits, \
             `_`, `.` and `-`"
        )),
    }
}

/// Whether a handler may have this name, or why not.
pub fn check_handler_name(name: &str) -> std::result::Result<(), String> {
    match is_name(name, "_") {
        true => Ok(()),
        false => Err(format!(
            "`{name}` cannot be the name of a handler: expected a letter, then letters, digits and \
             `_`"
        )),
    }
}

fn is_name(name: &str, others: &str) -> bool {
    let begins = match name.as_bytes() {
        [first, ..] if first.is_ascii_alphabetic() => true,
        [b'_', second, ..] => second.is_ascii_alphanumeric(),
        _ => false,
    };
    begins && name.chars().all(|c| c.is_ascii_alphanumeric() || others.contains(c))
}
