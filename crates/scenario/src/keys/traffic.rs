//! The keys of `[traffic]`, and of a flow's `traffic`.

use ropewalk_quantities::{Bytes, Time};

use super::{Alternatives, Default, Kind, Shape, key};
use crate::limits;
use crate::model::{Preset, Traffic};

/// `[traffic]`.
pub(crate) static TRAFFIC: Shape = Shape {
    keys: &[&[
        key(
            "kind",
            Kind::Word(Traffic::kinds),
            Default::Toml("\"bulk\""),
            "As much as the transport takes (udp: so that the first link or radio is never idle), messages at constant or exponentially distributed spacings, or the frames of a video.",
        ),
        key(
            "size",
            Kind::Bytes {
                least: Bytes::new(1),
                most: limits::LARGEST_TRANSFER,
            },
            Default::Words("goes on until the duration ends"),
            "How much a bulk transfer sends.",
        ),
        key(
            "rate",
            Kind::Rate,
            Default::Words(
                "required for cbr, poisson and a video's preset; a video's trace has its own",
            ),
            "Application bits per second; for poisson and video, in the mean.",
        ),
        key(
            "message",
            Kind::Bytes {
                least: Bytes::new(1),
                most: limits::LARGEST_BUFFER,
            },
            Default::Toml("\"1000 B\""),
            "Size of a message of cbr and poisson.",
        ),
        key(
            "deadline",
            Kind::Time {
                least: Time::from_micros(1),
                most: limits::LONGEST_DELAY,
            },
            Default::Words("200 ms for video, none for cbr and poisson"),
            "What has not arrived so long after it was written is late; schedulers may go by it.",
        ),
        key(
            "trace",
            Kind::Trace,
            Default::Words("a video has a trace or a preset"),
            "Frame sizes of a video in bytes: a line each, or index, time, type and size on it; again when it ends.",
        ),
        key(
            "preset",
            Kind::Word(|| Preset::ALL.iter().map(|(_, name)| *name).collect()),
            Default::Words("a video has a trace or a preset"),
            "Draw frame sizes like those of a film in three qualities, or of a live encoder.",
        ),
        key(
            "frame_rate",
            Kind::Number {
                least: 0.1,
                most: 1000.0,
            },
            Default::Toml("30.0"),
            "Frames a second of a video.",
        ),
        key(
            "rate_max",
            Kind::Rate,
            Default::Words("as it comes"),
            "Most that a second of a video has, frames made smaller where it would have more; the mean stays.",
        ),
        key(
            "buffer",
            Kind::Time {
                least: Time::from_micros(1),
                most: limits::LONGEST_DELAY,
            },
            Default::Words("no player"),
            "What a video's player holds before it starts, and again after it has stalled.",
        ),
    ]],
    alternatives: &[Alternatives {
        keys: &["trace", "preset"],
        needed: false,
    }],
};
