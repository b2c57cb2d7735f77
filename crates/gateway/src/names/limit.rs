//! Limit of a client's concurrent look-ups.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::sync::Semaphore;

use crate::lock::lock;

#[derive(Debug)]
pub struct LookupLimit {
    room: Mutex<(u32, Arc<Semaphore>)>,
    pub(super) waiting: AtomicUsize,
}

impl LookupLimit {
    pub fn new(most: u32) -> LookupLimit {
        LookupLimit {
            room: Mutex::new((most, Arc::new(Semaphore::new(most as usize)))),
            waiting: AtomicUsize::new(0),
        }
    }

    /// Changes the limit; look-ups that have begun do not count against the new one.
    pub fn set(&self, most: u32) {
        let mut room = lock(&self.room);
        if room.0 != most {
            *room = (most, Arc::new(Semaphore::new(most as usize)));
        }
    }

    pub(super) fn room(&self) -> Arc<Semaphore> {
        let room = lock(&self.room);
        Arc::clone(&room.1)
    }
}

pub(super) struct WaitingLookup<'a>(pub(super) &'a AtomicUsize);

impl Drop for WaitingLookup<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
