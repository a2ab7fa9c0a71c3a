//! The tasks of a principal, in pages that stay right while tasks change: a page begins behind a
//! place, not after a number of rows.

use super::{Error, State, Task, Tasks};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use holdfast_machine::{
    id::{INVOCATION_ID_BYTES, InvocationId},
    kv::Kv,
    tables::listing::{self, Listing, Place},
    time::Timestamp,
};
use std::collections::BTreeSet;

/// First byte of a page token.
const TOKEN_VERSION: u8 = 1;
const DIGEST_BYTES: usize = 16;

/// Which tasks to list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    pub context: Option<String>,
    pub state: Option<State>,
    pub updated_since: Option<Timestamp>,
    /// Service and handler; any of them, and without any all.
    pub handlers: Vec<(String, String)>,
    pub page_size: usize,
    /// Of the page before.
    pub page_token: Option<String>,
}

/// One page.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// Those first that last changed.
    pub tasks: Vec<Task>,
    /// Of the next page, if there is one.
    pub next: Option<String>,
    /// In all pages.
    pub total: u64,
}

impl Tasks {
    /// Lists tasks of a principal.
    ///
    /// # Errors
    /// `PageToken`, and when the store cannot be read.
    pub async fn list(&self, principal: &str, filter: Filter) -> Result<Page, Error> {
        let (tasks, principal) = (self.clone(), principal.to_owned());
        let read = tokio::task::spawn_blocking(move || tasks.page(&principal, &filter)).await;
        read.map_err(|panicked| Error::Fault(panicked.to_string()))?
    }

    /// The token of the page that follows on `task`, for a listing with these filters.
    pub fn token_after(principal: &str, filter: &Filter, task: &Task) -> String {
        let place = Place { updated: task.updated_at, task: task.invocation };
        token(place, filter.digest(principal))
    }

    fn page(&self, principal: &str, filter: &Filter) -> Result<Page, Error> {
        let digest = filter.digest(principal);
        let behind = match &filter.page_token {
            Some(token) => Some(place_in(token, digest).ok_or(Error::PageToken)?),
            None => None,
        };
        let snapshot = self.router.store().snapshot()?;
        let (mut kept, mut total) = (BTreeSet::new(), 0);
        for partition in self.router.partitions().all() {
            listing::scan(&*snapshot, partition, principal, None, &mut |place, listing| {
                if filter.updated_since.is_some_and(|since| place.updated < since) {
                    return false; // And so are all that follow.
                }
                if filter.wants(&listing) {
                    total += 1;
                    if behind.is_none_or(|behind| place > behind) {
                        kept.insert(place);
                        if kept.len() > filter.page_size + 1 {
                            kept.pop_last();
                        }
                    }
                }
                true
            })?;
        }
        let more = kept.len() > filter.page_size;
        let shown: Vec<Place> = kept.into_iter().take(filter.page_size).collect();
        let next = shown.last().filter(|_| more).map(|last| token(*last, digest));
        Ok(Page { tasks: self.loaded(&*snapshot, &shown)?, next, total })
    }

    fn loaded(&self, kv: &dyn Kv, places: &[Place]) -> Result<Vec<Task>, Error> {
        let mut tasks = vec![];
        for place in places {
            tasks.extend(self.load(kv, place.task)?);
        }
        Ok(tasks)
    }
}

impl Filter {
    fn wants(&self, listing: &Listing) -> bool {
        let is_handler = |(service, handler): &(String, String)| {
            listing.service == *service && listing.handler == *handler
        };
        self.state.is_none_or(|state| listing.state == state)
            && self.context.as_ref().is_none_or(|context| listing.context == *context)
            && (self.handlers.is_empty() || self.handlers.iter().any(is_handler))
    }

    /// Of what a listing is about: a token is of no other.
    fn digest(&self, principal: &str) -> [u8; DIGEST_BYTES] {
        let state = self.state.map(State::as_str);
        let about = format!("{principal:?} {:?} {state:?} {:?}", self.context, self.updated_since);
        let about = format!("{about} {:?}", self.handlers);
        let digest = ring::digest::digest(&ring::digest::SHA256, about.as_bytes());
        digest.as_ref()[..DIGEST_BYTES].try_into().expect("a digest is longer")
    }
}

fn token(place: Place, digest: [u8; DIGEST_BYTES]) -> String {
    let mut bytes = vec![TOKEN_VERSION];
    bytes.extend(digest);
    bytes.extend(place.updated.0.to_be_bytes());
    bytes.extend(place.task.to_bytes());
    URL_SAFE_NO_PAD.encode(bytes)
}

fn place_in(token: &str, digest: [u8; DIGEST_BYTES]) -> Option<Place> {
    let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
    let rest = bytes.strip_prefix(&[TOKEN_VERSION])?.strip_prefix(&digest)?;
    let (updated, task) = rest.split_first_chunk::<8>()?;
    let task = <[u8; INVOCATION_ID_BYTES]>::try_from(task).ok()?;
    let updated = Timestamp(u64::from_be_bytes(*updated));
    Some(Place { updated, task: InvocationId::from_bytes(task) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_of_one_listing() {
        let filter = Filter { context: Some("c".into()), ..Filter::default() };
        let place = Place { updated: Timestamp(7), task: InvocationId::from_bytes([9; 24]) };
        let made = token(place, filter.digest("ada"));
        assert_eq!(place_in(&made, filter.digest("ada")), Some(place));
        assert_eq!(place_in(&made, filter.digest("bob")), None);
        assert_eq!(place_in(&made, Filter::default().digest("ada")), None);
        for wrong in ["", "AA", "not base64!", &made[1..]] {
            assert_eq!(place_in(wrong, filter.digest("ada")), None, "{wrong}");
        }
    }
}
