//! Sampling of a gateway's status once a second, so that all requests get the same rates.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};

use super::document::Document;
use super::history::{History, Recorded};

use crate::lock::lock;

/// Returns the status document without rates.
pub type DocumentSource = Arc<dyn Fn() -> Document + Send + Sync>;

const STEP: Duration = Duration::from_secs(1);

/// Status of a gateway, with rates and its recent history.
pub struct Meter {
    source: DocumentSource,
    history: Mutex<History>,
}

impl Meter {
    /// Creates a meter of the documents of `source`. Rates are available after two samples of [`Meter::run`].
    pub fn new(source: DocumentSource) -> Arc<Meter> {
        Arc::new(Meter {
            source,
            history: Mutex::default(),
        })
    }

    /// Takes a sample per second until the future is dropped.
    pub async fn run(self: Arc<Meter>) {
        let mut ticks = interval(STEP);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let document = (self.source)();
            self.history().push(&document);
        }
    }

    pub fn document(&self) -> Document {
        let mut document = (self.source)();
        self.history().fill_in(&mut document);
        document
    }

    pub fn recorded(&self) -> Recorded {
        self.history().recorded()
    }

    fn history(&self) -> MutexGuard<'_, History> {
        lock(&self.history)
    }
}
