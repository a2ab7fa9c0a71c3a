//! Attempts that only wait make room for those that cannot begin. Without it, callers that wait
//! for their callees could hold every place that the callees need.

use super::{
    Shared,
    places::IdleSeat,
    view::{Live, Wish},
};
use std::{sync::Arc, time::Duration};
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

/// Asks as many attempts to suspend as there are waiting for places such as theirs, oldest first.
fn press(shared: &Shared, idle: Duration) {
    if shared.places.waiting() == 0 {
        return;
    }
    let now = shared.parts.clock.now();
    let silent = Duration::from_millis(shared.config.pressure_silent_ms);
    let silent_in_limit = Duration::from_millis(shared.config.pressure_limit_silent_ms);
    let mut idlers = shared.view.all();
    idlers.retain(|live| live.only_waits(now, idle, silent.min(silent_in_limit)));
    idlers.sort_by_key(|live| live.started_at);
    let idle_seat = |live: &Arc<Live>| IdleSeat {
        seat: live.seat,
        for_all: live.only_waits(now, idle, silent),
        for_limits: live.only_waits(now, idle, silent_in_limit),
    };
    let seats: Vec<IdleSeat> = idlers.iter().map(idle_seat).collect();
    let wanted = shared.places.wanted(&seats);
    for (live, wanted) in idlers.iter().zip(wanted) {
        if wanted && live.want(Wish::Suspend) {
            shared.parts.metrics.pressed();
        }
    }
}
