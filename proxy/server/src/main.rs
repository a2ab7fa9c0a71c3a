//! The binary `holdfast`.

use std::process::ExitCode;

/// An echo allocates and frees about 120 times, much of it on one thread for another. Without huge
/// pages, of which a small process touches many only here and there.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// RocksDB's memory comes from the C library. Pieces of this size and more, of which its tables in
/// memory consist, go back to the system when they are freed.
#[cfg(target_env = "gnu")]
const PIECE_BYTES_MIN: libc::c_int = 512 << 10;

fn main() -> ExitCode {
    #[cfg(target_env = "gnu")]
    give_pieces_back();
    holdfast::cli::main()
}

/// Left to itself the C library stops to do so with the first that is freed, and then each table leaves
/// holes between what is small and stays.
#[cfg(target_env = "gnu")]
fn give_pieces_back() {
    // SAFETY: nothing else runs yet, and a number that it does not take changes nothing.
    unsafe { libc::mallopt(libc::M_MMAP_THRESHOLD, PIECE_BYTES_MIN) };
}
