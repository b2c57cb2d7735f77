//! Video: frames of varying size at constant intervals.

use std::sync::Arc;

use ropewalk_quantities::{Rate, Time, named};

/// A live video.
#[derive(Clone, Debug, PartialEq)]
pub struct Video {
    /// Sizes of frames.
    pub frames: Frames,
    /// Frames per second.
    pub frame_rate: f64,
    /// Largest rate within any second; `None`: unlimited.
    pub rate_max: Option<Rate>,
    /// Age above which a frame is late.
    pub deadline: Time,
    /// Buffered time before (re)starting; `None`: no player.
    pub buffer: Option<Time>,
}

/// Source of frame sizes.
#[derive(Clone, Debug, PartialEq)]
pub enum Frames {
    /// A file, repeated at its end.
    Trace {
        /// Name in the scenario file.
        name: String,
        /// Bytes, at least one each.
        sizes: Arc<[u32]>,
        /// Mean rate to scale the sizes to; `None`: unscaled.
        rate: Option<Rate>,
    },
    /// Random sizes.
    Drawn {
        /// Video with the statistics.
        preset: Preset,
        /// Mean application rate over the run.
        rate: Rate,
    },
}

named! {
    /// Videos with known size statistics.
    pub enum Preset {
        /// A film, H.264, quantiser 28, 16 frames between I frames, B frames in levels.
        Film28 = "film-28",
        /// The same film with quantiser 38.
        Film38 = "film-38",
        /// The same film with quantiser 48.
        Film48 = "film-48",
        /// A live encoder: an I frame each second, then P frames.
        Live = "live",
    }
}
