//! The keys of `[traffic]`, and of a flow's `traffic`.

use ropewalk_quantities::{Bytes, Time};

use super::{Alternatives, Default, Kind, Shape, key};
use crate::asked_files::{MAX_OBJECTS, MAX_QUALITIES};
use crate::limits;
use crate::model::{Preset, Thinking, Traffic};
use crate::parsed::BOLA;

/// `[traffic]`.
pub(crate) static TRAFFIC: Shape = Shape {
    keys: &[&[
        key(
            "kind",
            Kind::Word(Traffic::kinds),
            Default::Toml("\"bulk\""),
            "As much as the transport takes (udp: so that the first link or radio is never idle), messages at constant or exponentially distributed spacings, the frames of a video; or what the server asks for: chunks of a video, responses (request), pages (web).",
        ),
        key(
            "size",
            Kind::Bytes {
                least: Bytes::new(1),
                most: limits::LARGEST_TRANSFER,
            },
            Default::Words(
                "a bulk transfer goes on until the duration ends; 100 kB of request, 2 MB of web",
            ),
            "How much a bulk transfer sends, a response has in the mean, or a page that is drawn has in the median.",
        ),
        key(
            "rate",
            Kind::Rate,
            Default::Words(
                "required for cbr, poisson, a video's preset and chunks of one quality; a trace has its own",
            ),
            "Application bits per second; for poisson, video and chunks, in the mean.",
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
            Default::Words("200 ms for video, none for cbr, poisson and request"),
            "What has not arrived so long after it was written is late; schedulers may go by it. Not for udp.",
        ),
        key(
            "trace",
            Kind::Trace,
            Default::Words(
                "a video has a trace or a preset; chunks and pages may be drawn without one",
            ),
            "A file. Of a video, its frame sizes in bytes: a line each, or index, time, type and size on it; again when it ends. Of chunks, JSON: segment_duration_ms, bitrates_kbps, segment_sizes_bits. Of a page, JSON: a list of { size, parent, kind }.",
        ),
        key(
            "preset",
            Kind::Word(|| Preset::ALL.iter().map(|(_, name)| *name).collect()),
            Default::Words("a video has a trace or a preset; chunks without either are alike"),
            "Draw sizes like those of a film in three qualities, or of a live encoder.",
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
            Default::Words("no player of a video; a chunk of chunks"),
            "What a player holds before it starts, and again after it has stalled.",
        ),
        key(
            "rates",
            Kind::List {
                of: &Kind::Rate,
                least: 1,
                most: MAX_QUALITIES,
            },
            Default::Words("one quality, of the rate"),
            "The qualities in which chunks may be asked for, the lowest first.",
        ),
        key(
            "chunk",
            Kind::Time {
                least: Time::from_millis(10),
                most: Time::from_secs(600),
            },
            Default::Toml("\"4 s\""),
            "How long a chunk plays; a trace has its own.",
        ),
        key(
            "quality",
            Kind::Either {
                words: &[BOLA],
                kind: &Kind::Integer {
                    least: 0,
                    most: MAX_QUALITIES as u64 - 1,
                },
            },
            Default::Toml("\"bola\""),
            "Which quality the player asks for: always the same (0 is the lowest), or by what it holds (BOLA).",
        ),
        key(
            "buffer_max",
            Kind::Time {
                least: Time::from_millis(10),
                most: limits::LONGEST_DELAY,
            },
            Default::Toml("\"30 s\""),
            "Most that the player of chunks holds: it asks for the next when there is room for it.",
        ),
        key(
            "spread",
            Kind::Number {
                least: 0.0,
                most: 5.0,
            },
            Default::Toml("0.0"),
            "Standard deviation of the logarithm of a response's size, which is log-normal; 0 makes all alike.",
        ),
        key(
            "parallel",
            Kind::Integer {
                least: 1,
                most: 1000,
            },
            Default::Toml("1"),
            "How many responses are asked for at a time, each with its own time to think.",
        ),
        key(
            "think",
            Kind::Time {
                least: Time::ZERO,
                most: limits::LONGEST_DELAY,
            },
            Default::Toml("\"1 s\""),
            "From a response to the next request, or from a page to the next, in the mean.",
        ),
        key(
            "thinking",
            Kind::Word(|| Thinking::ALL.iter().map(|(_, name)| *name).collect()),
            Default::Toml("\"exponential\""),
            "How times to think are distributed.",
        ),
        key(
            "objects",
            Kind::Integer {
                least: 1,
                most: MAX_OBJECTS as u64,
            },
            Default::Toml("70"),
            "How many objects a page has, in the median.",
        ),
    ]],
    alternatives: &[Alternatives {
        keys: &["trace", "preset"],
        needed: false,
    }],
};
