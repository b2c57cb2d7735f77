//! Application traffic.

use ropewalk_quantities::{Bytes, Rate, Time, named};

use super::{Requested, Video};

/// Application traffic from client to server.
#[derive(Clone, Debug, PartialEq)]
pub enum Traffic {
    /// As much data as the transport accepts.
    Bulk {
        /// Transfer size; `None`: until the run ends.
        size: Option<Bytes>,
    },
    /// Messages of constant size.
    Messages {
        /// Distribution of the gaps.
        spacing: Spacing,
        /// Mean application rate.
        rate: Rate,
        /// Size of a message.
        message: Bytes,
        /// Age above which a message is late.
        deadline: Option<Time>,
    },
    /// Frames of varying size at constant intervals.
    Video(Video),
    /// Content that the client sends when it receives the server's request.
    Requested(Requested),
}

named! {
    /// Distribution of the gaps between messages.
    pub enum Spacing {
        /// Constant.
        Constant = "cbr",
        /// Exponential: a Poisson process.
        Exponential = "poisson",
    }
}

impl Traffic {
    pub(crate) const BULK: &'static str = "bulk";
    pub(crate) const VIDEO: &'static str = "video";

    /// Kind in a scenario file.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Traffic::Bulk { .. } => Traffic::BULK,
            Traffic::Messages { spacing, .. } => spacing.name(),
            Traffic::Video(_) => Traffic::VIDEO,
            Traffic::Requested(requested) => requested.kind(),
        }
    }

    /// Age above which a message, frame or response is late. A chunk's deadline depends on its
    /// player.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        match self {
            Traffic::Bulk { .. } | Traffic::Requested(Requested::Chunks(_) | Requested::Web(_)) => {
                None
            }
            Traffic::Messages { deadline, .. } => *deadline,
            Traffic::Video(video) => Some(video.deadline),
            Traffic::Requested(Requested::Requests(requests)) => requests.deadline,
        }
    }

    /// Mean number of messages or frames offered in this time; zero for traffic that waits for the
    /// transport or the other end.
    pub(crate) fn offered(&self, lasts: Time) -> f64 {
        match self {
            Traffic::Bulk { .. } | Traffic::Requested(_) => 0.0,
            Traffic::Messages { rate, message, .. } => {
                let each = message.as_u64() as f64 * 8.0;
                rate.as_bps() as f64 / each * lasts.as_secs_f64()
            }
            Traffic::Video(video) => video.frame_rate * lasts.as_secs_f64(),
        }
    }

    pub(crate) fn kinds() -> Vec<&'static str> {
        let messages = Spacing::ALL.iter().map(|spacing| spacing.name());
        let kinds = [Traffic::BULK].into_iter().chain(messages);
        let requested = [Requested::CHUNKS, Requested::REQUEST, Requested::WEB];
        kinds.chain([Traffic::VIDEO]).chain(requested).collect()
    }
}
