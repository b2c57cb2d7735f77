//! Keys of `[traffic]`, and of a flow's `traffic`.

use ropewalk_quantities::{Bytes, Time};

use super::{Alternatives, Default, Kind, Shape, key};
use crate::limits::{self, MAX_OBJECTS, MAX_QUALITIES};
use crate::model::{Preset, ThinkDistribution, Traffic};
use crate::parsed::BOLA;

pub(crate) static TRAFFIC: Shape = Shape {
    keys: &[&[
        key(
            "kind",
            Kind::Word(Traffic::kinds),
            Default::Toml("\"bulk\""),
            "Kind of traffic: as much as the transport takes (`bulk`), messages at constant or exponentially \
             distributed spacing (`cbr`, `poisson`), or frames of a video (`video`). The receiver requests \
             chunks of a video (`chunks`), responses (`request`) and pages (`web`). With `udp`, `bulk` never \
             leaves the first link or radio idle.",
        ),
        key(
            "size",
            Kind::bytes(Bytes::new(1), limits::LARGEST_TRANSFER),
            Default::Words("unlimited for bulk, 100 kB for request, 2 MB for web"),
            "Size of a transfer (`bulk`), mean size of a response (`request`), or median size of a random \
             page (`web`).",
        ),
        key(
            "rate",
            Kind::Rate,
            Default::Words(
                "required for cbr, poisson, a video's preset and chunks of one quality; a trace has its own",
            ),
            "Application bits per second; for `poisson`, `video` and `chunks`, the mean.",
        ),
        key(
            "message",
            Kind::bytes(Bytes::new(1), limits::LARGEST_BUFFER),
            Default::Toml("\"1000 B\""),
            "Size of a message (`cbr`, `poisson`).",
        ),
        key(
            "deadline",
            Kind::time(Time::from_micros(1), limits::LONGEST_DELAY),
            Default::Words("200 ms for video, none for cbr, poisson and request"),
            "Longest time from write to arrival before data are late. Some schedulers use it. Not for `udp`.",
        ),
        key(
            "trace",
            Kind::Trace,
            Default::Words("none; video needs a trace or a preset"),
            "Trace file. `video`: a line for each frame with its size in bytes, or its index, time, type and \
             size; it repeats at its end. `chunks`: JSON with `segment_duration_ms`, `bitrates_kbps` and \
             `segment_sizes_bits`. `web`: a JSON list of `{ size, parent, kind }`.",
        ),
        key(
            "preset",
            Kind::Word(|| Preset::ALL.iter().map(|one| one.name()).collect()),
            Default::Words(
                "none; video needs a trace or a preset; chunks without either have equal sizes",
            ),
            "Distribution of random sizes: a film in three qualities (`film-28`, `film-38`, `film-48`), or a \
             live encoder (`live`).",
        ),
        key(
            "frame_rate",
            Kind::number(0.1, 1000.0),
            Default::Toml("30.0"),
            "Frames per second (`video`).",
        ),
        key(
            "rate_max",
            Kind::Rate,
            Default::Words("unlimited"),
            "Highest rate of each second of a video. Frames above it become smaller, and the mean stays.",
        ),
        key(
            "buffer",
            Kind::time(Time::from_micros(1), limits::LONGEST_DELAY),
            Default::Words("none for video, which then has no player; one chunk for chunks"),
            "Playing time that a player must hold before it starts, and again after a stall.",
        ),
        key(
            "rates",
            Kind::list(&Kind::Rate, 1, MAX_QUALITIES),
            Default::Words("one quality, of the value of rate"),
            "Qualities of the chunks that a player can request, in ascending order.",
        ),
        key(
            "chunk",
            Kind::time(Time::from_millis(10), Time::from_secs(600)),
            Default::Toml("\"4 s\""),
            "Playing time of a chunk. A trace has its own.",
        ),
        key(
            "quality",
            Kind::either(&[BOLA], &Kind::integer(0, MAX_QUALITIES as u64 - 1)),
            Default::Toml("\"bola\""),
            "Quality that the player requests: always the same (0 is the lowest), or by the BOLA rule from \
             the playing time that it holds.",
        ),
        key(
            "buffer_max",
            Kind::time(Time::from_millis(10), limits::LONGEST_DELAY),
            Default::Toml("\"30 s\""),
            "Longest playing time that the player of chunks holds. It requests the next chunk while it has space.",
        ),
        key(
            "spread",
            Kind::number(0.0, 5.0),
            Default::Toml("0.0"),
            "Standard deviation of the logarithm of a response's size (log-normal distribution). With 0, all \
             responses have the same size.",
        ),
        key(
            "parallel",
            Kind::integer(1, 1000),
            Default::Toml("1"),
            "Number of requests at a time, each with its own think time.",
        ),
        key(
            "think",
            Kind::time(Time::ZERO, limits::LONGEST_DELAY),
            Default::Toml("\"1 s\""),
            "Mean think time: from a response to the next request, or from a page to the next.",
        ),
        key(
            "thinking",
            Kind::Word(|| {
                ThinkDistribution::ALL
                    .iter()
                    .map(|one| one.name())
                    .collect()
            }),
            Default::Toml("\"exponential\""),
            "Distribution of think times.",
        ),
        key(
            "objects",
            Kind::integer(1, MAX_OBJECTS as u64),
            Default::Toml("70"),
            "Median number of objects on a page.",
        ),
    ]],
    alternatives: &[Alternatives {
        keys: &["trace", "preset"],
        needed: false,
    }],
};
