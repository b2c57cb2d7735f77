//! Looks at a gateway once a second, so that all who ask get the same rates.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};

use super::document::Document;
use super::history::{History, Recorded};

/// Tells what a gateway is doing, without the rates.
pub type Source = Arc<dyn Fn() -> Document + Send + Sync>;

const STEP: Duration = Duration::from_secs(1);

/// A gateway's document with rates, and its last minutes.
pub struct Meter {
    source: Source,
    history: Mutex<History>,
}

impl Meter {
    /// Of what `source` tells. Rates are there once [`Meter::run`] has looked twice.
    #[must_use]
    pub fn new(source: Source) -> Arc<Meter> {
        Arc::new(Meter {
            source,
            history: Mutex::default(),
        })
    }

    /// Looks once a second until the task is dropped.
    pub async fn run(self: Arc<Meter>) {
        let mut ticks = interval(STEP);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let document = (self.source)();
            self.history().push(&document);
        }
    }

    /// What there is now, with the rates of the last second.
    #[must_use]
    pub fn document(&self) -> Document {
        let mut document = (self.source)();
        self.history().fill_in(&mut document);
        document
    }

    /// What links carried in the last minutes.
    #[must_use]
    pub fn recorded(&self) -> Recorded {
        self.history().recorded()
    }

    fn history(&self) -> MutexGuard<'_, History> {
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
