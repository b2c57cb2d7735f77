//! Web pages: one from a file, or drawn from distributions of the web.

use std::sync::Arc;

use rand_pcg::Pcg64Mcg;
use ropewalk_scenario::{ObjectKind, Page, PageObject};

use crate::random::{log_normal, normal, uniform};

/// Standard deviations of the logarithms of objects and bytes per page: 90 % of the HTTP Archive's pages
/// have at most 179 objects and 6 MB, with medians of 74 and 1.9 MB (Web Almanac 2019, page weight).
const OBJECTS_SIGMA: f64 = 0.69;
const BYTES_SIGMA: f64 = 0.9;
/// Correlation between number of objects and bytes; chosen.
const CORRELATION: f64 = 0.7;
/// Standard deviation of the logarithm of an object's size, by kind; chosen.
const SIZE_SIGMA: f64 = 1.0;
const MAX_OBJECTS: f64 = 10_000.0;

/// Objects of a page except its document: number out of 70, and mean size in kB.
///
/// Scripts and images follow the median desktop page (Web Almanac 2024, page weight: 24 scripts with 613
/// KB, 18 images with 1054 KB, 78 KB of style sheets, 131 KB of fonts, 18 KB of document). The numbers of
/// style sheets, fonts and others are chosen.
const KINDS: [(ObjectKind, f64, f64); 5] = [
    (ObjectKind::Css, 8.0, 10.0),
    (ObjectKind::Script, 24.0, 26.0),
    (ObjectKind::Font, 5.0, 26.0),
    (ObjectKind::Image, 18.0, 59.0),
    (ObjectKind::Other, 14.0, 8.0),
];
const DOCUMENT_KB: f64 = 18.0;

#[derive(Debug)]
pub(super) enum Pages {
    Same(Arc<[PageObject]>),
    Drawn { objects: f64, bytes: f64 },
}

impl Pages {
    pub(super) fn new(page: &Page) -> Pages {
        match page {
            Page::Trace { objects, .. } => Pages::Same(Arc::clone(objects)),
            Page::Drawn { objects, size } => Pages::Drawn {
                objects: f64::from(*objects),
                bytes: size.as_u64() as f64,
            },
        }
    }

    /// Returns the objects of the next page: its document first, and every object after the one that
    /// references it.
    pub(super) fn next(&self, random: &mut Pcg64Mcg) -> Vec<PageObject> {
        match self {
            Pages::Same(objects) => objects.to_vec(),
            Pages::Drawn { objects, bytes } => draw(*objects, *bytes, random),
        }
    }
}

/// Draws a page with these medians of objects and bytes.
fn draw(objects: f64, bytes: f64, random: &mut Pcg64Mcg) -> Vec<PageObject> {
    let (many, own) = (normal(random), normal(random));
    let heavy = CORRELATION * many + (1.0 - CORRELATION * CORRELATION).sqrt() * own;
    let count = (objects * (OBJECTS_SIGMA * many).exp())
        .round()
        .clamp(1.0, MAX_OBJECTS);
    let bytes = bytes * (BYTES_SIGMA * heavy).exp();
    let mut page = vec![PageObject {
        size: 1,
        parent: 0,
        kind: ObjectKind::Html,
    }];
    let mut weights = vec![DOCUMENT_KB * log_normal(SIZE_SIGMA, normal(random))];
    let all: f64 = KINDS.iter().map(|(_, share, _)| share).sum();
    let mut until = 1.0;
    for (kind, share, kilobytes) in KINDS {
        until += (count - 1.0) * share / all;
        while (page.len() as f64) < until.round() {
            let parent = parent(&page, kind, random);
            page.push(PageObject {
                size: 1,
                parent,
                kind,
            });
            weights.push(kilobytes * log_normal(SIZE_SIGMA, normal(random)));
        }
    }
    let scale = bytes / weights.iter().sum::<f64>();
    for (object, weight) in page.iter_mut().zip(weights) {
        object.size = ((weight * scale).round() as u64).max(1);
    }
    page
}

/// Returns the object that references an object of this kind: usually the document; style sheets reference
/// fonts, and scripts reference other objects. The fractions are chosen.
fn parent(page: &[PageObject], kind: ObjectKind, random: &mut Pcg64Mcg) -> u32 {
    let by = match (kind, uniform(random)) {
        (ObjectKind::Font, _) => ObjectKind::Css,
        (ObjectKind::Css, draw) if draw < 0.2 => ObjectKind::Css,
        (ObjectKind::Script, draw) if draw < 0.4 => ObjectKind::Script,
        (ObjectKind::Image, draw) if draw < 0.1 => ObjectKind::Css,
        (ObjectKind::Image, draw) if draw < 0.4 => ObjectKind::Script,
        (ObjectKind::Other, draw) if draw < 0.7 => ObjectKind::Script,
        _ => return 0,
    };
    // Objects of a kind are consecutive, after their references.
    let first = page.iter().position(|object| object.kind == by);
    let Some(first) = first else {
        return 0;
    };
    let count = page[first..]
        .iter()
        .take_while(|object| object.kind == by)
        .count();
    first as u32 + ((uniform(random) * count as f64) as u32).min(count as u32 - 1)
}

#[cfg(test)]
mod tests {
    use ropewalk_network::stream;

    use super::*;

    #[test]
    fn pages_are_trees_with_the_configured_medians() {
        let mut random = stream(1, "x");
        let pages: Vec<_> = (0..2001).map(|_| draw(70.0, 2e6, &mut random)).collect();
        for page in &pages {
            assert_eq!((page[0].kind, page[0].parent), (ObjectKind::Html, 0));
            for (number, object) in page.iter().enumerate().skip(1) {
                assert!((object.parent as usize) < number && object.size > 0);
            }
        }
        let quantile = |mut values: Vec<f64>, share: f64| {
            values.sort_by(f64::total_cmp);
            values[(share * values.len() as f64) as usize]
        };
        let counts: Vec<f64> = pages.iter().map(|page| page.len() as f64).collect();
        let bytes = pages
            .iter()
            .map(|page| page.iter().map(|of| of.size).sum::<u64>() as f64);
        let bytes: Vec<f64> = bytes.collect();
        let near = |found: f64, wanted: f64| assert!((found / wanted).ln().abs() < 0.08, "{found}");
        near(quantile(counts.clone(), 0.5), 70.0);
        near(quantile(counts, 0.9), 70.0 * 179.0 / 74.0);
        near(quantile(bytes.clone(), 0.5), 2e6);
        near(quantile(bytes, 0.9), 2e6 * 6.0 / 1.9);
    }

    #[test]
    fn a_page_of_one_object_is_its_document() {
        let mut random = stream(1, "x");
        for _ in 0..100 {
            let page = draw(1.0, 1.0, &mut random);
            assert!(page.iter().all(|object| object.size >= 1) && !page.is_empty());
        }
    }
    #[test]
    fn objects_have_their_configured_parents() {
        use ObjectKind::{Css, Font, Image, Other, Script};
        let mut random = stream(1, "x");
        let pages: Vec<_> = (0..1000).map(|_| draw(70.0, 2e6, &mut random)).collect();
        let share = |kind: ObjectKind, by: ObjectKind| {
            let (mut by_it, mut all) = (0, 0);
            for page in &pages {
                let before = |at: usize| page[..at].iter().any(|object| object.kind == by);
                let of_kind = page.iter().enumerate();
                let of_kind = of_kind.filter(|(at, object)| object.kind == kind && before(*at));
                for (_, object) in of_kind {
                    by_it += u32::from(page[object.parent as usize].kind == by);
                    all += 1;
                }
            }
            f64::from(by_it) / f64::from(all)
        };
        let shares = [
            (Font, Css, 1.0),
            (Css, Css, 0.2),
            (Script, Script, 0.4),
            (Image, Css, 0.1),
            (Image, Script, 0.3),
            (Other, Script, 0.7),
        ];
        for (kind, by, expected) in shares {
            let found = share(kind, by);
            assert!(
                (found - expected).abs() < 0.02,
                "{kind:?} by {by:?}: {found}"
            );
        }
    }
}
