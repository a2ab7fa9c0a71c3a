//! A place among the running attempts, as a thing that is held: whoever drops it gives it back, in
//! whatever way the attempt came to an end. Never says who gets it next.

use std::{fmt, sync::Arc};

/// Whoever hands out places. Must not block.
pub trait Places: Send + Sync + 'static {
    /// The place with this number is free.
    fn give_back(&self, seat: u64);
}

/// A place. Given back when it is dropped.
pub struct Place {
    places: Option<Arc<dyn Places>>,
    seat: u64,
}

impl Place {
    /// `seat` is how `places` calls it.
    pub fn new(places: Arc<dyn Places>, seat: u64) -> Place {
        Place { places: Some(places), seat }
    }

    pub fn seat(&self) -> u64 {
        self.seat
    }

    /// Its number, for whoever handed it out: it is not given back by this.
    pub fn into_seat(mut self) -> u64 {
        self.places = None;
        self.seat
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(places) = self.places.take() {
            places.give_back(self.seat);
        }
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Place({})", self.seat)
    }
}
