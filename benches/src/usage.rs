//! What a process has used so far, as Linux tells it. Elsewhere nothing is known.

use std::fs;
use std::time::Duration;

/// Of one process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    /// In user and kernel mode, all threads, also those that ended.
    pub cpu: Duration,
    /// The most memory that it ever had.
    pub rss_peak_bytes: u64,
    pub threads: u64,
}

/// `None` where there is no such process or no `/proc`.
pub fn of(process: u32) -> Option<Usage> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let number = |name: &str| -> Option<u64> {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse().ok()
    };
    Some(Usage {
        cpu: cpu(&stat)?,
        rss_peak_bytes: number("VmHWM:")? * 1024,
        threads: number("Threads:")?,
    })
}

/// The program's name is in brackets and may hold anything.
fn cpu(stat: &str) -> Option<Duration> {
    const USER: usize = 11;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: u64 =
        fields.get(USER)?.parse::<u64>().ok()? + fields.get(USER + 1)?.parse::<u64>().ok()?;
    // SAFETY: `sysconf` has no preconditions.
    let per_second = u64::try_from(unsafe { libc::sysconf(libc::_SC_CLK_TCK) }).ok()?;
    Some(Duration::from_micros(ticks * 1_000_000 / per_second))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_knows_what_it_has_used() {
        let me = std::process::id();
        let before = of(me).expect("this runs on Linux");
        let mut sum = 0u64;
        while of(me).unwrap().cpu < before.cpu + Duration::from_millis(30) {
            sum = std::hint::black_box((0..100_000u64).fold(sum, u64::wrapping_add));
        }
        assert!(before.rss_peak_bytes > 100_000 && before.threads >= 1, "{before:?}");
        assert!(of(u32::MAX).is_none());
    }

    #[test]
    fn a_name_may_hold_brackets_and_blanks() {
        let stat = "7 (a b) c) S 1 2 3 4 5 6 7 8 9 10 100 50 0 0";
        assert!(cpu(stat).is_some_and(|cpu| cpu >= Duration::from_millis(150)));
    }
}
