//! What an application sends.

use ropewalk_quantities::{Bytes, Rate, Time};

use super::{Requested, Video};

/// What an application sends, from client to server.
#[derive(Clone, Debug, PartialEq)]
pub enum Traffic {
    /// As much as the transport takes.
    Bulk {
        /// The application closes after this much; with `None` it sends until the run ends.
        size: Option<Bytes>,
    },
    /// Messages of one size.
    Messages {
        /// How the gaps between them are distributed.
        spacing: Spacing,
        /// The mean rate, in application bits per second.
        rate: Rate,
        /// Size of a message.
        message: Bytes,
        /// A message that arrives later than this after it was written is late.
        deadline: Option<Time>,
    },
    /// Frames of different sizes at even spacings.
    Video(Video),
    /// Requested content: the client sends it when the server's request has reached it.
    Requested(Requested),
}

/// How the gaps between messages are distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spacing {
    /// Constant.
    Constant,
    /// Exponentially distributed: a Poisson process.
    Exponential,
}

impl Traffic {
    /// The name of bulk traffic's kind.
    pub(crate) const BULK: &'static str = "bulk";
    /// The name of video's kind.
    pub(crate) const VIDEO: &'static str = "video";

    /// Its kind's name in a scenario file.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Traffic::Bulk { .. } => Traffic::BULK,
            Traffic::Messages { spacing, .. } => spacing.kind(),
            Traffic::Video(_) => Traffic::VIDEO,
            Traffic::Requested(requested) => requested.kind(),
        }
    }

    /// The time after which a message, frame or response is late, if it can be. That of a chunk depends on
    /// its player.
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

    /// How many messages or frames it offers in this time, in the mean, whether they are taken or not; zero of
    /// what waits for the transport or for the other end.
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

    /// The names of all kinds.
    pub(crate) fn kinds() -> Vec<&'static str> {
        let messages = Spacing::KINDS.iter().map(|(_, kind)| *kind);
        let kinds = [Traffic::BULK].into_iter().chain(messages);
        let requested = [Requested::CHUNKS, Requested::REQUEST, Requested::WEB];
        kinds.chain([Traffic::VIDEO]).chain(requested).collect()
    }
}

impl Spacing {
    /// Each with the kind of traffic that has it.
    const KINDS: &'static [(Spacing, &'static str)] = &[
        (Spacing::Constant, "cbr"),
        (Spacing::Exponential, "poisson"),
    ];

    /// The kind of traffic that has this spacing.
    fn kind(self) -> &'static str {
        let mut kinds = Spacing::KINDS.iter();
        kinds
            .find(|(spacing, _)| *spacing == self)
            .map_or("", |(_, kind)| kind)
    }

    /// The spacing of a kind of traffic.
    pub(crate) fn of_kind(kind: &str) -> Option<Spacing> {
        let mut kinds = Spacing::KINDS.iter();
        kinds
            .find(|(_, named)| *named == kind)
            .map(|(spacing, _)| *spacing)
    }
}
