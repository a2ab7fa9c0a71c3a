//! What is to be done after a restart: every effect that may have been lost, derived from the
//! tables. Reads what runs and what is on its way, never what waits or is completed.
//!
//! Attempts keep their numbers. An attempt speaks only to the partition of its own process, so
//! none outlives it: whatever a new process hears under a number comes from the attempt that it
//! started itself. (A store that can move to another process fences the commits of the old one,
//! and with them all that its attempts say.)

use crate::apply::Here;
use crate::effect::Effect;
use crate::kv::{Fault, Kv};
use crate::tables::codec::corrupt;
use crate::tables::{
    TableId, invocation, notice::Notice, outbox, push::Delivery, queue, running, timer,
};
use crate::time::Timestamp;

/// All effects that the tables call for: `Invoke` for what is running, in the order in which it first
/// wanted to, since it may wait for its turn (and `Suspend` where a pause is wanted), `WakeAt` for
/// the earliest timer, `Notice` for the earliest notice, `Push` for the
/// earliest event that is to be sent, `Send` for the outbox.
///
/// # Errors
/// If the store cannot be read or is corrupt.
pub fn recover(kv: &dyn Kv, here: Here) -> Result<Vec<Effect>, Fault> {
    let mut running = vec![];
    running::scan(kv, here.partition, &mut |id| {
        let record = invocation::get(kv, here.partition, id)?
            .filter(|record| record.status == crate::model::Status::Running)
            .ok_or_else(|| corrupt(TableId::Running, format!("{id} is not running")))?;
        running.push((record.times.running, id, record.attempt, record.pause_wanted));
        Ok(())
    })?;
    running.sort_unstable();
    let mut effects = vec![];
    for (_, invocation, attempt, pause_wanted) in running {
        effects.push(Effect::Invoke { invocation, attempt });
        if pause_wanted {
            effects.push(Effect::Suspend { invocation, attempt });
        }
    }
    effects.extend(timer::next(kv, here.partition, Timestamp(0))?.map(Effect::WakeAt));
    let first = queue::first::<Notice>(kv, here.partition)?;
    effects.extend(first.map(|sequence| Effect::Notice { sequence }));
    let first = queue::first::<Delivery>(kv, here.partition)?;
    effects.extend(first.map(|sequence| Effect::Push { sequence }));
    outbox::scan(kv, here.partition, &mut |to, sequence, message| {
        effects.push(Effect::Send { to, sequence, message });
        true
    })?;
    Ok(effects)
}
