//! The same ways in that `proxy/wire/tests` feeds with bytes by chance. Nothing is defined here.

#[path = "../../../proxy/wire/tests/it/entry.rs"]
pub mod entry;
