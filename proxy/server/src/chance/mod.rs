//! Chance for ids, seeds and jitter: the operating system's own, fetched many bytes at a time, so
//! that a call costs no system call for it. Never gives the same bytes twice.

use std::cell::RefCell;

/// Bytes fetched at once.
const FETCH_BYTES: usize = 1024;

struct Pool {
    bytes: [u8; FETCH_BYTES],
    /// Bytes before it were given out.
    used: usize,
}

thread_local! {
    static POOL: RefCell<Pool> =
        const { RefCell::new(Pool { bytes: [0; FETCH_BYTES], used: FETCH_BYTES }) };
}

/// `N` bytes that nobody can guess.
///
/// # Panics
/// If `N` is more than 1024, or if the operating system has no random bytes: then no id can be
/// made, and nothing can be accepted.
pub fn bytes<const N: usize>() -> [u8; N] {
    assert!(N <= FETCH_BYTES, "more than is fetched at once");
    POOL.with_borrow_mut(|pool| {
        if FETCH_BYTES - pool.used < N {
            getrandom::fill(&mut pool.bytes).expect("the operating system gives random bytes");
            pool.used = 0;
        }
        let taken = &mut pool.bytes[pool.used..pool.used + N];
        pool.used += N;
        let given = <[u8; N]>::try_from(&*taken).expect("as many as were asked for");
        // What was given out stays nowhere else.
        taken.fill(0);
        given
    })
}

/// 64 bits of it.
pub fn u64() -> u64 {
    u64::from_ne_bytes(bytes())
}

/// 128 bits of it.
pub fn u128() -> u128 {
    u128::from_ne_bytes(bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn nothing_comes_twice() {
        let threads: Vec<_> = (0..4)
            .map(|_| std::thread::spawn(|| (0..1000).map(|_| u128()).collect::<Vec<_>>()))
            .collect();
        let given: Vec<u128> = threads.into_iter().flat_map(|it| it.join().unwrap()).collect();
        assert_eq!(given.iter().collect::<HashSet<_>>().len(), 4000);
        assert!(!given.contains(&0));
    }

    #[test]
    fn sizes_that_do_not_divide_what_is_fetched() {
        let given: HashSet<[u8; 24]> = (0..1000).map(|_| bytes()).collect();
        assert_eq!(given.len(), 1000);
    }
}
