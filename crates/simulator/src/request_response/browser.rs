//! A browser, which loads pages one after another, each a tree of objects over one connection.
//!
//! It requests an object after the object that references it is complete, with at most as many open
//! requests as an HTTP/2 server usually allows.

use std::collections::VecDeque;

use rand_pcg::Pcg64Mcg;
use ropewalk_quantities::Time;
use ropewalk_scenario::{ObjectKind, PageObject, ThinkTime, Web};

use super::page::Pages;
use super::request::{Request, ResponseStats, think_time};
use crate::metrics::Histogram;
use crate::outcome::WebSummary;

/// SETTINGS_MAX_CONCURRENT_STREAMS should be at least this (RFC 9113, 6.5.2), and most servers use it.
const MAX_OPEN: usize = 100;

#[derive(Debug)]
pub(super) struct Browser {
    pages: Pages,
    think: ThinkTime,
    /// Start of the next page, between pages.
    pub(super) next: Option<Time>,
    page: Loading,
    random: Pcg64Mcg,
    /// Pages that began before this time are not measured.
    from: Time,
    loads: Histogram,
    objects: u64,
}

#[derive(Debug, Default)]
struct Loading {
    begun: Time,
    objects: Vec<PageObject>,
    /// For each object, the objects that it references.
    children: Vec<Vec<u32>>,
    /// Referenced and unrequested objects, in the order of discovery.
    found: VecDeque<u32>,
    open: usize,
    left: usize,
}

impl Browser {
    /// Creates a browser whose first page begins at `start`.
    pub(super) fn new(web: &Web, [start, from]: [Time; 2], random: Pcg64Mcg) -> Browser {
        Browser {
            pages: Pages::new(&web.page),
            think: web.think,
            next: Some(start),
            page: Loading::default(),
            random,
            from,
            loads: Histogram::new(),
            objects: 0,
        }
    }

    pub(super) fn next_request(&mut self, now: Time) -> Option<Request> {
        if self.next.take_if(|next| *next <= now).is_some() {
            self.page = Loading::of(self.pages.next(&mut self.random), now);
        }
        let page = &mut self.page;
        if page.open >= MAX_OPEN {
            return None;
        }
        let tag = page.found.pop_front()?;
        page.open += 1;
        let object = page.objects[tag as usize];
        Some(Request {
            tag,
            size: object.size,
            urgency: urgency(object.kind),
            span: None,
        })
    }

    pub(super) fn on_response(&mut self, now: Time, tag: u32) {
        let page = &mut self.page;
        page.open -= 1;
        page.left -= 1;
        page.found
            .extend(std::mem::take(&mut page.children[tag as usize]));
        if page.left == 0 {
            if page.begun >= self.from {
                self.loads.record(now - page.begun);
                self.objects += page.objects.len() as u64;
            }
            self.next = Some(now + think_time(self.think, &mut self.random));
        }
    }

    /// Returns the summary of browsers that load the same kind of pages.
    pub(super) fn summary<'a>(
        browsers: impl Iterator<Item = &'a Browser>,
        responses: &ResponseStats,
    ) -> WebSummary {
        let (mut loads, mut objects) = (Histogram::new(), 0);
        for browser in browsers {
            loads.merge(&browser.loads);
            objects += browser.objects;
        }
        WebSummary {
            pages: loads.count(),
            objects,
            page_load_s: loads.summary_s(),
            response_s: responses.response_s,
        }
    }
}

impl Loading {
    fn of(objects: Vec<PageObject>, begun: Time) -> Loading {
        let mut children = vec![Vec::new(); objects.len()];
        for (number, object) in objects.iter().enumerate().skip(1) {
            children[object.parent as usize].push(number as u32);
        }
        Loading {
            begun,
            left: objects.len(),
            objects,
            children,
            found: [0].into(),
            open: 0,
        }
    }
}

/// Returns approximately the priority that browsers send (RFC 9218, 4.1): objects that block the first
/// rendering come before content.
fn urgency(kind: ObjectKind) -> u8 {
    match kind {
        ObjectKind::Html | ObjectKind::Css => 0,
        ObjectKind::Script | ObjectKind::Font => 1,
        ObjectKind::Other => 3,
        ObjectKind::Image => 4,
    }
}

#[cfg(test)]
mod tests {
    use ropewalk_network::stream;
    use ropewalk_scenario::{Page, ThinkDistribution};

    use super::*;
    use crate::timeliness::LateCounts;

    fn browser(objects: &[(u64, u32, ObjectKind)]) -> Browser {
        let objects = objects
            .iter()
            .map(|&(size, parent, kind)| PageObject { size, parent, kind });
        let web = Web {
            page: Page::Trace {
                name: "page.json".to_owned(),
                objects: objects.collect(),
            },
            think: ThinkTime {
                time: Time::from_secs(2),
                thinking: ThinkDistribution::Fixed,
            },
        };
        Browser::new(&web, [Time::ZERO; 2], stream(1, "x"))
    }

    fn asks(browser: &mut Browser, now: Time) -> Vec<u32> {
        std::iter::from_fn(|| browser.next_request(now))
            .map(|request| request.tag)
            .collect()
    }

    #[test]
    fn object_is_requested_after_its_parent_arrives() {
        use ObjectKind::{Css, Html, Image, Script};
        let ms = Time::from_millis;
        let tree = [(9, 0, Html), (5, 0, Css), (7, 0, Script), (3, 1, Image)];
        let mut browser = browser(&tree);
        assert_eq!(asks(&mut browser, ms(0)), [0]);
        browser.on_response(ms(10), 0);
        assert_eq!(asks(&mut browser, ms(10)), [1, 2]);
        browser.on_response(ms(20), 2);
        assert_eq!(asks(&mut browser, ms(20)), [0u32; 0]);
        browser.on_response(ms(30), 1);
        assert_eq!(asks(&mut browser, ms(30)), [3]);
        assert_eq!(browser.next, None, "nobody leaves a page that is not there");
        browser.on_response(ms(45), 3);
        assert_eq!(browser.next, Some(ms(2045)));
        let none = ResponseStats {
            count: 0,
            response_s: None,
            late: LateCounts::default(),
        };
        let summary = Browser::summary([&browser].into_iter(), &none);
        assert_eq!((summary.pages, summary.objects), (1, 4));
        assert!((summary.page_load_s.unwrap().max - 0.045).abs() < 1e-9);
        assert_eq!(asks(&mut browser, ms(2045)), [0]);
    }

    #[test]
    fn render_blocking_objects_are_most_urgent() {
        use ObjectKind::{Css, Font, Html, Image, Other, Script};
        let kinds = [Html, Image, Other, Font, Script, Css];
        let tree = kinds.map(|kind| (1, 0, kind));
        let mut browser = browser(&tree);
        let page = browser.next_request(Time::ZERO).unwrap();
        browser.on_response(Time::ZERO, page.tag);
        let others = std::iter::from_fn(|| browser.next_request(Time::ZERO));
        let urgencies: Vec<u8> = others.map(|request| request.urgency).collect();
        assert_eq!((page.urgency, urgencies), (0, vec![4, 3, 1, 1, 0]));
    }

    #[test]
    fn open_requests_stay_within_the_server_limit() {
        let mut tree = vec![(9, 0, ObjectKind::Html)];
        tree.extend([(1, 0, ObjectKind::Image); 250]);
        let mut browser = browser(&tree);
        asks(&mut browser, Time::ZERO);
        browser.on_response(Time::ZERO, 0);
        assert_eq!(asks(&mut browser, Time::ZERO).len(), 100);
        browser.on_response(Time::ZERO, 1);
        browser.on_response(Time::ZERO, 7);
        assert_eq!(asks(&mut browser, Time::ZERO), [101, 102]);
    }
}
