//! Video: frames of different sizes at even spacings.

use std::sync::Arc;

use ropewalk_quantities::{Rate, Time};

/// A video that is sent while it plays.
#[derive(Clone, Debug, PartialEq)]
pub struct Video {
    /// How large they are.
    pub frames: Frames,
    /// Frames a second.
    pub frame_rate: f64,
    /// The highest rate within any second; `None` does not bound it.
    pub rate_max: Option<Rate>,
    /// A frame that arrives later than this after it was written is late.
    pub deadline: Time,
    /// How much the player buffers before it starts, and again after a stall; with `None` there is no player.
    pub buffer: Option<Time>,
}

/// Where the sizes of a video's frames come from.
#[derive(Clone, Debug, PartialEq)]
pub enum Frames {
    /// A file of frame sizes; it starts over when it ends.
    Trace {
        /// Its name in the scenario file.
        name: String,
        /// Bytes, each at least one.
        sizes: Arc<[u32]>,
        /// The mean rate that the sizes are scaled to; `None` leaves them as they are.
        rate: Option<Rate>,
    },
    /// Random sizes.
    Drawn {
        /// The video whose statistics are used.
        preset: Preset,
        /// The mean rate over the run, in application bits per second.
        rate: Rate,
    },
}

/// Videos whose size statistics are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// A film, H.264, quantiser 28, 16 frames between I frames, B frames in levels.
    Film28,
    /// The same with quantiser 38.
    Film38,
    /// The same with quantiser 48.
    Film48,
    /// A live encoder: an I frame each second, then P frames.
    Live,
}

impl Preset {
    /// Each with its name in scenario files.
    pub const ALL: [(Preset, &'static str); 4] = [
        (Preset::Film28, "film-28"),
        (Preset::Film38, "film-38"),
        (Preset::Film48, "film-48"),
        (Preset::Live, "live"),
    ];

    /// Its name in scenario files.
    #[must_use]
    pub fn name(self) -> &'static str {
        let named = Preset::ALL.iter().find(|(preset, _)| *preset == self);
        named.map_or("", |(_, name)| name)
    }

    /// The preset with this name.
    pub(crate) fn of(name: &str) -> Option<Preset> {
        let named = Preset::ALL.iter().find(|(_, of)| *of == name);
        named.map(|(preset, _)| *preset)
    }
}
