//! Traffic as keys of `[traffic]`.

use crate::model::{ChunkSizes, Frames, Page, Requested, ThinkTime, Traffic, Video};
use crate::parsed::{Items, Parsed, ParsedType};

type Key = (&'static str, Option<Parsed>);

pub(crate) fn of(traffic: &Traffic) -> Vec<(&'static str, Parsed)> {
    let keys = match traffic {
        Traffic::Bulk { size } => vec![("size", size.map(Parsed::Bytes))],
        Traffic::Messages { rate, message, .. } => vec![
            ("rate", Some(Parsed::Rate(*rate))),
            ("message", Some(Parsed::Bytes(*message))),
        ],
        Traffic::Video(video) => of_video(video),
        Traffic::Requested(requested) => of_requested(requested),
    };
    let deadline = ("deadline", traffic.deadline().map(Parsed::Time));
    let keys = keys.into_iter().chain([deadline]);
    keys.filter_map(|(key, value)| Some((key, value?)))
        .collect()
}

fn of_video(video: &Video) -> Vec<Key> {
    let (frames, name, rate) = match &video.frames {
        Frames::Trace { name, rate, .. } => ("trace", name.as_str(), *rate),
        Frames::Drawn { preset, rate } => ("preset", preset.name(), Some(*rate)),
    };
    vec![
        (frames, Some(Parsed::Text(name.to_owned()))),
        ("rate", rate.map(Parsed::Rate)),
        ("frame_rate", Some(Parsed::Number(video.frame_rate))),
        ("rate_max", video.rate_max.map(Parsed::Rate)),
        ("buffer", video.buffer.map(Parsed::Time)),
    ]
}

fn of_requested(requested: &Requested) -> Vec<Key> {
    let think = |think: &ThinkTime| {
        [
            ("think", Some(Parsed::Time(think.time))),
            ("thinking", Some(think.thinking.to_parsed())),
        ]
    };
    match requested {
        Requested::Chunks(chunks) => {
            let mut keys = match &chunks.sizes {
                ChunkSizes::Trace { name, .. } => {
                    vec![("trace", Some(Parsed::Text(name.clone())))]
                }
                ChunkSizes::Drawn {
                    preset,
                    rates,
                    chunk,
                } => vec![
                    (
                        "preset",
                        preset.map(|preset| Parsed::Text(preset.name().to_owned())),
                    ),
                    ("rates", Some(Items(rates.clone()).to_parsed())),
                    ("chunk", Some(Parsed::Time(*chunk))),
                ],
            };
            keys.extend([
                ("quality", Some(chunks.quality.to_parsed())),
                ("buffer", chunks.buffer.map(Parsed::Time)),
                ("buffer_max", Some(Parsed::Time(chunks.buffer_max))),
            ]);
            keys
        }
        Requested::Requests(requests) => {
            let mut keys = vec![
                ("size", Some(Parsed::Bytes(requests.size))),
                ("spread", Some(Parsed::Number(requests.spread))),
                ("parallel", Some(requests.parallel.to_parsed())),
            ];
            keys.extend(think(&requests.think));
            keys
        }
        Requested::Web(web) => {
            let mut keys = match &web.page {
                Page::Trace { name, .. } => vec![("trace", Some(Parsed::Text(name.clone())))],
                Page::Drawn { objects, size } => vec![
                    ("objects", Some(objects.to_parsed())),
                    ("size", Some(Parsed::Bytes(*size))),
                ],
            };
            keys.extend(think(&web.think));
            keys
        }
    }
}
