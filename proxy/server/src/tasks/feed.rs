//! Reading on in a feed: rows first, then waiting to be woken, then rows again. The wake is only a
//! hint; what was read last is all that a follower has to remember, so it survives a restart of
//! either side.

use super::{Error, Event, Task, TaskId, Tasks, What};
use crate::partition::Watch;
use holdfast_machine::tables::{
    feed,
    task::{self, Task as Row},
};
use std::time::Duration;

/// Rows that are read at once.
const EVENTS_MAX: usize = 256;
/// Bytes of rows after which no more are read at once.
const EVENTS_BYTES_MAX: usize = 1024 * 1024;
/// How long a follower waits before it looks without being woken.
const LOOK_AGAIN: Duration = Duration::from_secs(30);

/// A follower of one task. Dropping it ends nothing but itself.
pub struct Feed {
    tasks: Tasks,
    id: TaskId,
    /// Sequence of the last row that was given.
    after: u64,
    watch: Watch,
    ended: bool,
}

impl Tasks {
    /// The rows of a task's feed behind sequence `after`, at most `max`, and no more than some
    /// bytes at once. None: there are none yet, or there will be none.
    ///
    /// # Errors
    /// As `get`.
    pub async fn events(
        &self,
        principal: &str,
        id: TaskId,
        after: u64,
        max: usize,
    ) -> Result<Vec<Event>, Error> {
        self.get(principal, id).await?;
        Ok(self.rows(id, after, max)?.0)
    }

    /// Follows a task from behind sequence `after` on.
    ///
    /// # Errors
    /// As `get`.
    pub async fn follow(&self, principal: &str, id: TaskId, after: u64) -> Result<Feed, Error> {
        self.get(principal, id).await?;
        let invocation = id.invocation();
        let watch = self.router.of(invocation).follow(invocation);
        Ok(Feed { tasks: self.clone(), id, after, watch, ended: false })
    }

    /// Waits, without limit, until a task ends or asks behind sequence `after`.
    ///
    /// # Errors
    /// As `get`.
    pub async fn settled(&self, principal: &str, id: TaskId, after: u64) -> Result<Task, Error> {
        let mut feed = self.follow(principal, id, after).await?;
        while let Some(events) = feed.next().await? {
            if events.iter().any(is_settled) {
                break;
            }
        }
        self.get(principal, id).await
    }

    /// The rows and what the task was when they were read: of this task, and of no other that was
    /// started under its id since.
    fn rows(&self, id: TaskId, after: u64, max: usize) -> Result<(Vec<Event>, Row), Error> {
        let snapshot = self.router.store().snapshot()?;
        let (mut events, mut bytes) = (vec![], 0);
        let (partition, invocation) = (self.home(id.invocation()), id.invocation());
        let row = task::get(&*snapshot, partition, invocation)?;
        let row = row.filter(|row| row.secret == id.secret()).ok_or(Error::NotFound)?;
        feed::scan(&*snapshot, partition, invocation, after, &mut |event, size| {
            if events.len() >= max || (bytes + size > EVENTS_BYTES_MAX && !events.is_empty()) {
                return false;
            }
            bytes += size;
            events.push(event);
            true
        })?;
        Ok((events, row))
    }
}

fn is_settled(event: &Event) -> bool {
    let says =
        matches!(event.what, What::State | What::Asked(_) | What::Answered { .. } | What::Ended(_));
    says && (event.state.is_terminal() || event.state.is_interrupted())
}

impl Feed {
    /// The next rows, as soon as there are any; `None` when the last one was given. Cancel safe.
    ///
    /// # Errors
    /// `NotFound` where the task was forgotten, also where its id is another's by now.
    pub async fn next(&mut self) -> Result<Option<Vec<Event>>, Error> {
        if self.ended {
            return Ok(None);
        }
        loop {
            self.watch.mark();
            let (events, row) = self.tasks.rows(self.id, self.after, EVENTS_MAX)?;
            if let Some(last) = events.last() {
                self.after = last.sequence;
                self.ended = matches!(last.what, What::Ended(_));
                return Ok(Some(events));
            }
            // Who begins behind the last row is given nothing.
            self.ended = row.state.is_terminal() && row.next <= self.after + 1;
            if self.ended {
                return Ok(None);
            }
            // Either is followed by a look.
            let _ = tokio::time::timeout(LOOK_AGAIN, self.watch.changed()).await;
        }
    }
}
