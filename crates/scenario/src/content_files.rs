//! Files of requested content: a video's chunks or a page's objects, in JSON.

use std::sync::Arc;

use ropewalk_quantities::{Rate, Time};
use serde_json::Value;

use crate::limits::{MAX_OBJECTS, MAX_QUALITIES};
use crate::model::{Ladder, ObjectKind, PageObject};
use crate::value::quoted;

const MAX_CHUNKS: usize = 1_000_000;
const LARGEST: u64 = 1 << 36;
const LONGEST_CHUNK_MS: f64 = 600_000.0;

/// Parses a video's chunks in Sabre's format (Spiteri, Sitaraman and Sparacio, MMSys 2018):
/// `segment_duration_ms`, `bitrates_kbps` in ascending order, and `segment_sizes_bits`, for each
/// chunk a list with its size in each quality.
pub(crate) fn ladder(text: &str) -> Result<Ladder, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?;
    let number = |value: &Value| value.as_f64().filter(|number| *number > 0.0);
    let chunk_ms = number(&value["segment_duration_ms"])
        .filter(|millis| *millis <= LONGEST_CHUNK_MS)
        .ok_or("segment_duration_ms must be a number above 0, of at most ten minutes")?;
    let rates: Option<Vec<f64>> = value["bitrates_kbps"]
        .as_array()
        .and_then(|rates| rates.iter().map(number).collect());
    let rates = rates
        .filter(|rates| (1..=MAX_QUALITIES).contains(&rates.len()))
        .filter(|rates| rates.is_sorted())
        .ok_or_else(|| {
            format!("bitrates_kbps must be a list of 1 to {MAX_QUALITIES} numbers above 0, rising")
        })?;
    let chunks = value["segment_sizes_bits"].as_array();
    let chunks = chunks.filter(|chunks| (1..=MAX_CHUNKS).contains(&chunks.len()));
    let chunks = chunks
        .ok_or_else(|| format!("segment_sizes_bits must be a list of 1 to {MAX_CHUNKS} lists"))?;
    let sizes = chunks.iter().enumerate().map(|(place, chunk)| {
        let sizes: Option<Vec<u64>> = chunk.as_array().and_then(|sizes| {
            let bytes = sizes.iter().map(|bits| Some((number(bits)? / 8.0).ceil() as u64));
            bytes.collect()
        });
        let right = |sizes: &Vec<u64>| {
            sizes.len() == rates.len() && sizes.iter().all(|size| *size <= LARGEST)
        };
        sizes.filter(right).ok_or_else(|| {
            format!(
                "segment_sizes_bits[{place}] must have {} numbers above 0, one for each of bitrates_kbps",
                rates.len()
            )
        })
    });
    let rate = |kbps: &f64| Rate::from_bps((kbps * 1e3).round().max(1.0) as u64);
    Ok(Ladder {
        chunk: Time::from_secs_f64(chunk_ms / 1e3),
        rates: rates.iter().map(rate).collect(),
        sizes: sizes.collect::<Result<_, _>>()?,
    })
}

/// Parses a page's objects: a list of `{ "size": BYTES, "parent": NUMBER, "kind": "html" }`.
/// `parent` is the zero-based index of the object that refers to this one.
pub(crate) fn page(text: &str) -> Result<Arc<[PageObject]>, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?;
    let objects = value.as_array();
    let objects = objects.filter(|of| (1..=MAX_OBJECTS as usize).contains(&of.len()));
    let objects = objects.ok_or_else(|| format!("must be a list of 1 to {MAX_OBJECTS} objects"))?;
    let read = objects.iter().enumerate().map(|(place, object)| {
        let wrong = |what: String| format!("object {place}: {what}");
        let size = object["size"].as_u64();
        let size = size.filter(|size| (1..=LARGEST).contains(size));
        let size = size.ok_or_else(|| {
            wrong(format!(
                "size must be a whole number of bytes from 1 to {LARGEST}"
            ))
        })?;
        let parent = match (place, &object["parent"]) {
            (0, Value::Null) => Some(0),
            (0, _) => None,
            (_, parent) => parent.as_u64().filter(|parent| *parent < place as u64),
        };
        let parent = parent.ok_or_else(|| {
            wrong(match place {
                0 => "is the page itself and has no parent".to_owned(),
                _ => format!(
                    "parent must be from 0 to {}, an object before it",
                    place - 1
                ),
            })
        })?;
        let kind = match &object["kind"] {
            Value::Null => Some(ObjectKind::Other),
            kind => kind.as_str().and_then(ObjectKind::from_name),
        };
        let kind = kind.ok_or_else(|| {
            let names = quoted(ObjectKind::ALL.iter().map(|kind| kind.name()));
            wrong(format!("kind must be one of {names}"))
        })?;
        Ok(PageObject {
            size,
            parent: parent as u32,
            kind,
        })
    });
    read.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_have_their_bytes_in_each_quality() {
        let text = r#"{ "segment_duration_ms": 3000, "bitrates_kbps": [230, 1000.5],
                        "segment_sizes_bits": [[8000, 16001], [1, 24000]], "more": true }"#;
        let read = ladder(text).unwrap();
        assert_eq!(read.chunk, Time::from_secs(3));
        assert_eq!(read.rates, [230_000, 1_000_500].map(Rate::from_bps));
        assert_eq!(read.sizes, [[1000, 2001], [1, 3000]]);
    }

    #[test]
    fn invalid_video_error_names_chunk() {
        let with = |duration: &str, rates: &str, sizes: &str| {
            format!(
                r#"{{"segment_duration_ms": {duration}, "bitrates_kbps": {rates}, "segment_sizes_bits": {sizes}}}"#
            )
        };
        for (text, part) in [
            ("12 4", "not JSON"),
            ("[]", "segment_duration_ms"),
            (&with("0", "[1]", "[[1]]"), "segment_duration_ms"),
            (&with("1e9", "[1]", "[[1]]"), "segment_duration_ms"),
            (&with("3000", "[]", "[[1]]"), "bitrates_kbps"),
            (&with("3000", "[2, 1]", "[[1, 2]]"), "bitrates_kbps"),
            (&with("3000", "[1]", "[]"), "segment_sizes_bits must"),
            (
                &with("3000", "[1]", "[[1], [1, 2]]"),
                "segment_sizes_bits[1]",
            ),
            (&with("3000", "[1]", "[[-1]]"), "segment_sizes_bits[0]"),
            (&with("3000", "[1]", "[[1e300]]"), "segment_sizes_bits[0]"),
        ] {
            let error = ladder(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn a_page_is_a_tree() {
        let text = r#"[{ "size": 18000, "kind": "html" }, { "size": 9, "parent": 0, "kind": "css" },
                       { "size": 7, "parent": 1 }]"#;
        let read = page(text).unwrap();
        let facts: Vec<_> = read
            .iter()
            .map(|of| (of.size, of.parent, of.kind))
            .collect();
        let wanted = [
            (18_000, 0, ObjectKind::Html),
            (9, 0, ObjectKind::Css),
            (7, 1, ObjectKind::Other),
        ];
        assert_eq!(facts, wanted);
    }

    #[test]
    fn invalid_page_error_names_object() {
        for (text, part) in [
            ("", "not JSON"),
            ("[]", "a list of 1 to"),
            (r#"[{"size": 0}]"#, "object 0: size"),
            (
                r#"[{"size": 1, "parent": 0}]"#,
                "object 0: is the page itself",
            ),
            (
                r#"[{"size": 1}, {"size": 1, "parent": 1}]"#,
                "object 1: parent",
            ),
            (r#"[{"size": 1}, {"size": 1}]"#, "object 1: parent"),
            (r#"[{"size": 1, "kind": "jpg"}]"#, "object 0: kind"),
        ] {
            let error = page(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
