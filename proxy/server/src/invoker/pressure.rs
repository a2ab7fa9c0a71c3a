//! Attempts that only wait make room for those that cannot begin. Without it, callers that wait
//! for their callees could hold every place that the callees need.

use super::{Shared, view::Wish};
use std::time::Duration;
use tokio::time::{MissedTickBehavior, interval};

/// Looks now and then, for ever.
pub(super) async fn watch(shared: &Shared) {
    let idle = Duration::from_millis(shared.config.pressure_idle_ms);
    let mut ticks = interval((idle / 2).max(Duration::from_millis(5)));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        press(shared, idle);
    }
}

/// Asks as many attempts to suspend as there are waiting for a place, oldest first.
fn press(shared: &Shared, idle: Duration) {
    let waiting = shared.places.waiting();
    if waiting == 0 {
        return;
    }
    let now = shared.parts.clock.now();
    let silent = Duration::from_millis(shared.config.pressure_silent_ms);
    let mut idlers = shared.view.all();
    idlers.retain(|live| live.only_waits(now, idle, silent));
    idlers.sort_by_key(|live| live.started_at);
    for live in idlers.iter().take(waiting) {
        if live.want(Wish::Suspend) {
            shared.parts.metrics.pressed();
        }
    }
}
