//! How Linux lets one process observe another: `ptrace`.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

/// With this bit a stop is one at a system call.
const AT_CALL: libc::c_int = libc::SIGTRAP | 0x80;
const ENTRY: u8 = 1;
/// Only what this thread itself traces, and threads as well as processes.
const WAITED_FOR: libc::c_int = libc::__WALL | libc::__WNOTHREAD;

/// Begins to trace every thread that the process has.
pub(super) fn seize(process: u32) -> Result<(), io::Error> {
    let options = libc::PTRACE_O_TRACESYSGOOD | libc::PTRACE_O_TRACECLONE;
    let mut seized = vec![];
    loop {
        let before = seized.len();
        for thread in std::fs::read_dir(format!("/proc/{process}/task"))? {
            let name = thread?.file_name();
            let thread = name.to_string_lossy().parse().map_err(io::Error::other)?;
            if seized.contains(&thread) {
                continue;
            }
            match ask(libc::PTRACE_SEIZE, thread, options as usize) {
                Ok(()) => ask(libc::PTRACE_INTERRUPT, thread, 0)?,
                // Begun by one that is traced already, and so traced too; or gone.
                Err(_) if before > 0 => {}
                Err(error) => return Err(error),
            }
            seized.push(thread);
        }
        if seized.len() == before {
            return Ok(());
        }
    }
}

/// Lets the threads go on from stop to stop, and counts, until the process ends. Its end is left to
/// its parent, who waits for it.
pub(super) fn watch(process: u32, counts: &[AtomicU64]) {
    while let Some((thread, ended)) = next_event() {
        if ended && u32::try_from(thread) == Ok(process) {
            return;
        }
        let mut status = 0;
        // SAFETY: `status` is a place for the status, which is there, since the event was.
        if unsafe { libc::waitpid(thread, &raw mut status, WAITED_FOR) } < 0 {
            return;
        }
        if !libc::WIFSTOPPED(status) {
            continue;
        }
        let signal = libc::WSTOPSIG(status);
        let passed_on = match (signal, status >> 16) {
            (AT_CALL, _) => {
                if let Some(number) = entered(thread)
                    && let Some(count) = usize::try_from(number).ok().and_then(|n| counts.get(n))
                {
                    count.fetch_add(1, Ordering::SeqCst);
                }
                0
            }
            (signal, 0) => signal,
            _ => 0,
        };
        // It may have been killed meanwhile; then the next wait tells.
        let _ = ask(libc::PTRACE_SYSCALL, thread, usize::try_from(passed_on).unwrap_or_default());
    }
}

/// Which thread something happened to, and whether it has ended. It still can be waited for.
fn next_event() -> Option<(libc::pid_t, bool)> {
    let kinds = libc::WEXITED | libc::WSTOPPED | libc::WNOWAIT | WAITED_FOR;
    loop {
        // SAFETY: all zeros are a `siginfo_t`, and a place for what is told.
        let mut told: libc::siginfo_t = unsafe { std::mem::zeroed() };
        // SAFETY: as above; of an event of a child, `si_pid` is set.
        let thread = unsafe {
            match libc::waitid(libc::P_ALL, 0, &raw mut told, kinds) {
                0 => told.si_pid(),
                _ if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => continue,
                _ => return None,
            }
        };
        let ends = [libc::CLD_EXITED, libc::CLD_KILLED, libc::CLD_DUMPED];
        return Some((thread, ends.contains(&told.si_code)));
    }
}

/// The number of the system call that a thread is about to make; none where it has just made one.
fn entered(thread: libc::pid_t) -> Option<u64> {
    const OP: usize = 0;
    const NUMBER: usize = 3;
    let mut info = [0u64; 16];
    // SAFETY: the kernel writes at most as many bytes as it is told that there are.
    let written = unsafe {
        libc::ptrace(libc::PTRACE_GET_SYSCALL_INFO, thread, size_of_val(&info), info.as_mut_ptr())
    };
    (written > 0 && info[OP].to_ne_bytes()[0] == ENTRY).then_some(info[NUMBER])
}

fn ask(request: libc::c_uint, thread: libc::pid_t, data: usize) -> Result<(), io::Error> {
    // SAFETY: these requests read nothing from memory; a thread that is not traced is an error.
    let answer = unsafe { libc::ptrace(request, thread, 0usize, data) };
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// What it is called, of those that matter here.
pub(super) fn name(number: i64) -> String {
    let known = [
        (libc::SYS_read, "read"),
        (libc::SYS_write, "write"),
        (libc::SYS_writev, "writev"),
        (libc::SYS_sendto, "sendto"),
        (libc::SYS_sendmsg, "sendmsg"),
        (libc::SYS_recvfrom, "recvfrom"),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_epoll_wait, "epoll_wait"),
        (libc::SYS_epoll_pwait, "epoll_pwait"),
        (libc::SYS_epoll_ctl, "epoll_ctl"),
        (libc::SYS_futex, "futex"),
        (libc::SYS_fdatasync, "fdatasync"),
        (libc::SYS_fsync, "fsync"),
        (libc::SYS_setsockopt, "setsockopt"),
        (libc::SYS_madvise, "madvise"),
        (libc::SYS_sched_yield, "sched_yield"),
    ];
    let known = known.iter().find(|(it, _)| *it == number);
    known.map_or_else(|| format!("call {number}"), |(_, name)| (*name).to_owned())
}
