//! What single operations cost: frames, keys, decisions, commits. `micro` times them all; `micro NAME
//! COUNT` does the ones whose name holds NAME so often and ends, for whoever counts instructions.

use benches::Failure;
use benches::micro::{self, Operation};
use std::time::{Duration, Instant};

/// How long each is measured, three times; the fastest counts, since whatever disturbs only slows down.
const LONG_ENOUGH: Duration = Duration::from_millis(400);
const ROUNDS: usize = 3;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [name, count] = &arguments[..] {
        return count_only(name, count.parse()?);
    }
    let wanted = arguments.first().map_or("", String::as_str);
    for mut operation in micro::in_memory().into_iter().chain(micro::on_disk()?) {
        if operation.name.contains(wanted) {
            let nanoseconds = (0..ROUNDS).map(|_| nanoseconds(&mut operation)).min();
            println!("{:<44} {:>10} ns", operation.name, nanoseconds.unwrap_or_default());
        }
    }
    Ok(())
}

fn count_only(name: &str, count: u64) -> Result<(), Failure> {
    let mut done = false;
    for mut operation in micro::in_memory() {
        if operation.name.contains(name) {
            (0..count).for_each(|_| operation.run());
            done = true;
        }
    }
    if done { Ok(()) } else { Err(format!("there is no operation `{name}`").into()) }
}

/// What one costs. The clock is looked at after bursts that grow, so that it costs nothing.
fn nanoseconds(operation: &mut Operation) -> u128 {
    let (begun, mut count, mut burst) = (Instant::now(), 0u128, 1);
    while begun.elapsed() < LONG_ENOUGH {
        (0..burst).for_each(|_| operation.run());
        count += burst;
        burst = (burst * 2).min(1000);
    }
    begun.elapsed().as_nanos() / count
}
