//! From civil times to points in time, over the days on which clocks change. What is said for given
//! hours happens once for each time that a clock should show: at the change where the clock skips
//! it, the first time where the clock shows it twice. What is said for every hour follows time as
//! it passes: nothing is made up for what was skipped, and what is repeated is repeated.

use super::cron::Cron;
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{SignedDuration, Timestamp};

const SECOND: SignedDuration = SignedDuration::from_secs(1);

/// The first point in time after `after`.
pub fn next(cron: &Cron, zone: &TimeZone, after: Timestamp) -> Option<Timestamp> {
    match cron.is_of_every_hour() {
        true => as_time_passes(cron, zone, after),
        false => as_clocks_show(cron, zone, after),
    }
}

/// Looks from one change of the clocks to the next: in between all offsets are the same.
fn as_time_passes(cron: &Cron, zone: &TimeZone, after: Timestamp) -> Option<Timestamp> {
    let mut from = Timestamp::from_second(after.as_second()).ok()?.checked_add(SECOND).ok()?;
    loop {
        let offset = zone.to_offset(from);
        let change = zone.following(from).next().map(|change| change.timestamp());
        let at = offset.to_timestamp(cron.from(offset.to_datetime(from))?).ok()?;
        match change.filter(|change| *change <= at) {
            Some(change) => from = change,
            None => return Some(at),
        }
    }
}

/// Later civil times never come earlier, so the first that lies behind `after` is it.
fn as_clocks_show(cron: &Cron, zone: &TimeZone, after: Timestamp) -> Option<Timestamp> {
    let mut from = zone.to_datetime(after);
    loop {
        let shown = cron.from(from)?;
        let at = point(zone, shown)?;
        if at > after {
            return Some(at);
        }
        from = shown.checked_add(SECOND).ok()?;
    }
}

fn point(zone: &TimeZone, shown: DateTime) -> Option<Timestamp> {
    let ambiguous = zone.to_ambiguous_timestamp(shown);
    match ambiguous.offset() {
        AmbiguousOffset::Unambiguous { .. } | AmbiguousOffset::Fold { .. } => {
            ambiguous.earlier().ok()
        }
        AmbiguousOffset::Gap { .. } => {
            // At or after the change, and before any other.
            let behind = ambiguous.later().ok()?.checked_add(SECOND).ok()?;
            zone.preceding(behind).next().map(|change| change.timestamp())
        }
    }
}
