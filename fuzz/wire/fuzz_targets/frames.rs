//! Any bytes, read as frames. It must never panic.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| holdfast_wire_fuzz::entry::frames(bytes));
