//! The binary `holdfast`.

use std::process::ExitCode;

/// An echo allocates and frees about 120 times, much of it on one thread for another. Without huge
/// pages, of which a small process touches many only here and there.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    holdfast::cli::main()
}
