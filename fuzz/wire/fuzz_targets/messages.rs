//! Any bytes, read as messages. It must never panic.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| holdfast_wire_fuzz::entry::message(bytes));
