//! Resolution of traffic requested by the receiver.

use std::sync::Arc;

use ropewalk_quantities::{Bytes, Rate};

use super::Traces;
use crate::content_files;
use crate::error::Problem;
use crate::model::{
    ChunkSizes, Chunks, Page, Preset, Quality, Requested, Requests, ThinkTime, Web,
};
use crate::parsed::Items;
use crate::report::Report;
use crate::section::Section;

pub(super) fn requested(
    kind: &str,
    section: &Section,
    traces: &mut Traces,
    report: &mut Report,
) -> Option<Requested> {
    Some(match kind {
        Requested::CHUNKS => Requested::Chunks(chunks(section, traces, report)),
        Requested::REQUEST => Requested::Requests(Requests {
            size: section.get("size").unwrap_or(SIZE_OF_RESPONSE),
            spread: section.value("spread"),
            think: think(section),
            parallel: section.value("parallel"),
            deadline: section.get("deadline"),
        }),
        Requested::WEB => Requested::Web(Web {
            page: page(section, traces, report),
            think: think(section),
        }),
        _ => return None,
    })
}

const SIZE_OF_RESPONSE: Bytes = Bytes::new(100_000);
/// Default median of a page: about the median of phones (Web Almanac 2024, page weight: 2311 KB in
/// 66 requests; for desktops 2652 KB in 71).
const SIZE_OF_PAGE: Bytes = Bytes::new(2_000_000);

fn think(section: &Section) -> ThinkTime {
    ThinkTime {
        time: section.value("think"),
        thinking: section.value("thinking"),
    }
}

fn chunks(section: &Section, traces: &mut Traces, report: &mut Report) -> Chunks {
    let chunks = Chunks {
        sizes: chunk_sizes(section, traces, report),
        quality: section.value("quality"),
        buffer: section.get("buffer"),
        buffer_max: section.value("buffer_max"),
    };
    let most = chunks.rates().len() as u32 - 1;
    if matches!(chunks.quality, Quality::Fixed(quality) if quality > most) {
        let problem = Problem::AboveMost(format!("{most}, the highest quality"));
        section.add_error("quality", problem, report);
    }
    let (chunk, start) = (chunks.chunk(), chunks.buffer.unwrap_or(chunks.chunk()));
    for (key, least, what) in [
        ("buffer_max", chunk, "a chunk"),
        ("buffer_max", start, "the player's initial buffer"),
    ] {
        if chunks.buffer_max < least && section.none_wrong(&["buffer", "buffer_max", "chunk"]) {
            let problem = Problem::BelowLeast(format!("{least}, {what}"));
            section.add_error(key, problem, report);
            break;
        }
    }
    chunks
}

fn chunk_sizes(section: &Section, traces: &mut Traces, report: &mut Report) -> ChunkSizes {
    let rates = |rate: Rate| vec![rate];
    let mut drawn = ChunkSizes::Drawn {
        preset: section
            .get::<String>("preset")
            .and_then(|name| Preset::from_name(&name)),
        rates: rates(Rate::from_bps(1)),
        chunk: section.value("chunk"),
    };
    if let Some(name) = section.get::<String>("trace") {
        for key in ["rate", "rates", "chunk"] {
            if section.has(key) {
                section.add_error(key, Problem::Excluded("trace"), report);
            }
        }
        let read = traces.text(&name);
        let ladder = read.and_then(|text| {
            content_files::ladder(&text).map_err(|what| Problem::File {
                file: name.clone(),
                what,
            })
        });
        match ladder {
            Ok(ladder) => {
                return ChunkSizes::Trace {
                    name,
                    ladder: Arc::new(ladder),
                };
            }
            Err(problem) => {
                section.add_error("trace", problem, report);
            }
        }
        return drawn;
    }
    let several = section.get::<Items<Rate>>("rates").map(|Items(all)| all);
    let given = match (section.get::<Rate>("rate"), several) {
        (Some(rate), None) => Some(rates(rate)),
        (_, several) => several,
    };
    if let Some(all) = &given
        && !all.is_sorted()
    {
        let problem = Problem::Incompatible("must rise: the lowest quality comes first".to_owned());
        section.add_error("rates", problem, report);
    }
    if !["rate", "rates", "trace"]
        .iter()
        .any(|key| section.has(key))
    {
        section.add_error("rate", Problem::Missing, report).allowed = Some(format!(
            "{}, rates of several qualities, or a trace of chunks",
            Rate::ALLOWED
        ));
    }
    if let (ChunkSizes::Drawn { rates, .. }, Some(given)) = (&mut drawn, given) {
        *rates = given;
    }
    drawn
}

fn page(section: &Section, traces: &mut Traces, report: &mut Report) -> Page {
    let drawn = Page::Drawn {
        objects: section.value("objects"),
        size: section.get("size").unwrap_or(SIZE_OF_PAGE),
    };
    let Some(name) = section.get::<String>("trace") else {
        return drawn;
    };
    for key in ["objects", "size"] {
        if section.has(key) {
            section.add_error(key, Problem::Excluded("trace"), report);
        }
    }
    let read = traces.text(&name);
    let objects = read.and_then(|text| {
        content_files::page(&text).map_err(|what| Problem::File {
            file: name.clone(),
            what,
        })
    });
    match objects {
        Ok(objects) => Page::Trace { name, objects },
        Err(problem) => {
            section.add_error("trace", problem, report);
            drawn
        }
    }
}
