//! Resolution of `[traffic]`.

use ropewalk_quantities::{Rate, Time};

use super::Traces;
use super::requested::requested;
use crate::error::Problem;
use crate::frame_sizes;
use crate::keys::TRAFFIC;
use crate::model::{Frames, Preset, Spacing, Traffic, Video};
use crate::report::Report;
use crate::section::Section;

const VIDEO_DEADLINE: Time = Time::from_millis(200);

const MESSAGES: &str = r#"kind = "cbr" or kind = "poisson""#;
const DUE: &str = r#"kind = "cbr", kind = "poisson", kind = "video" or kind = "request""#;
const RATED: &str = r#"kind = "cbr", kind = "poisson", kind = "video" or kind = "chunks""#;
const VIDEO: &str = r#"kind = "video""#;
const CHUNKS: &str = r#"kind = "chunks""#;
const PLAYED: &str = r#"kind = "video" or kind = "chunks""#;
const REQUEST: &str = r#"kind = "request""#;
const THOUGHT: &str = r#"kind = "request" or kind = "web""#;
const WEB: &str = r#"kind = "web""#;
const SIZED: &str = r#"kind = "bulk", kind = "request" or kind = "web""#;
const TRACED: &str = r#"kind = "video", kind = "chunks" or kind = "web""#;

/// Keys of only some kinds of traffic, with these kinds.
const OWN_KEYS: [(&str, &str); 18] = [
    ("size", SIZED),
    ("rate", RATED),
    ("message", MESSAGES),
    ("deadline", DUE),
    ("trace", TRACED),
    ("preset", PLAYED),
    ("frame_rate", VIDEO),
    ("rate_max", VIDEO),
    ("buffer", PLAYED),
    ("rates", CHUNKS),
    ("chunk", CHUNKS),
    ("quality", CHUNKS),
    ("buffer_max", CHUNKS),
    ("spread", REQUEST),
    ("parallel", REQUEST),
    ("think", THOUGHT),
    ("thinking", THOUGHT),
    ("objects", WEB),
];

pub(super) fn traffic(
    section: Option<&Section>,
    traces: &mut Traces,
    report: &mut Report,
) -> Traffic {
    let absent = Section::absent("traffic", &TRAFFIC);
    let section = section.unwrap_or(&absent);
    if section.has("kind") && section.get::<String>("kind").is_none() {
        return Traffic::Bulk { size: None };
    }
    let kind: String = section.value("kind");
    for (key, with) in OWN_KEYS {
        if section.has(key) && !with.contains(&format!("{kind:?}")) {
            section.add_error(key, Problem::OnlyWith(with), report);
        }
    }
    if let Some(spacing) = Spacing::from_name(&kind) {
        return Traffic::Messages {
            spacing,
            rate: required_rate(section, report),
            message: section.value("message"),
            deadline: section.get("deadline"),
        };
    }
    if kind == Traffic::VIDEO {
        let (rate, rate_max) = (section.get::<Rate>("rate"), section.get::<Rate>("rate_max"));
        if let (Some(rate), Some(most)) = (rate, rate_max)
            && most < rate
        {
            let problem = Problem::BelowLeast(format!("{rate}, which is the rate"));
            section.add_error("rate_max", problem, report);
        }
        return Traffic::Video(Video {
            frames: frames(section, traces, report),
            frame_rate: section.value("frame_rate"),
            rate_max,
            deadline: section.get("deadline").unwrap_or(VIDEO_DEADLINE),
            buffer: section.get("buffer"),
        });
    }
    match requested(&kind, section, traces, report) {
        Some(requested) => Traffic::Requested(requested),
        None => Traffic::Bulk {
            size: section.get("size"),
        },
    }
}

fn required_rate(section: &Section, report: &mut Report) -> Rate {
    if !section.has("rate") {
        section.add_error("rate", Problem::Missing, report).allowed =
            Some(Rate::ALLOWED.to_owned());
    }
    section.get("rate").unwrap_or(Rate::from_bps(1))
}

fn frames(section: &Section, traces: &mut Traces, report: &mut Report) -> Frames {
    if let Some(name) = section.get::<String>("trace") {
        let sizes = traces
            .text(&name)
            .and_then(|text| frame_sizes::parse(&text).map_err(Problem::FrameSizes));
        let sizes = sizes.unwrap_or_else(|problem| {
            section.add_error("trace", problem, report);
            [1].into()
        });
        return Frames::Trace {
            name,
            sizes,
            rate: section.get("rate"),
        };
    }
    let preset = section.get::<String>("preset");
    if !section.has("trace") && !section.has("preset") {
        let names: Vec<&str> = Preset::ALL.iter().map(|one| one.name()).collect();
        section
            .add_error("preset", Problem::Missing, report)
            .allowed = Some(format!("{}, or a trace of frame sizes", names.join(", ")));
    }
    Frames::Drawn {
        preset: preset
            .and_then(|name| Preset::from_name(&name))
            .unwrap_or(Preset::Live),
        rate: match section.has("preset") {
            true => required_rate(section, report),
            false => Rate::from_bps(1),
        },
    }
}
