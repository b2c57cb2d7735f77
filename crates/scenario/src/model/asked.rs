//! Traffic that the end which reads asks for: chunks of a video, responses, pages.

use std::sync::Arc;

use ropewalk_quantities::{Bytes, Rate, Time};

use super::Preset;

/// What the end that reads asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Asked {
    /// Adaptive streaming: a player that asks for the next chunk of a video when it has room for it.
    Chunks(Chunks),
    /// Responses, with a time to think before each.
    Requests(Requests),
    /// Pages of objects, of which each names others.
    Web(Web),
}

/// A video in chunks.
#[derive(Clone, Debug, PartialEq)]
pub struct Chunks {
    /// How large they are.
    pub sizes: ChunkSizes,
    /// In which quality the player asks for them.
    pub quality: Quality,
    /// What the player holds before it starts, and after it has stalled; `None` stands for a chunk.
    pub buffer: Option<Time>,
    /// Most that it holds.
    pub buffer_max: Time,
}

/// Where the sizes of chunks come from.
#[derive(Clone, Debug, PartialEq)]
pub enum ChunkSizes {
    /// A file, again from its first when it ends.
    Trace {
        /// Its name in the scenario file.
        name: String,
        /// What it says.
        ladder: Arc<Ladder>,
    },
    /// Each rate is a quality, and chunks differ like the seconds of a film, or not at all.
    Drawn {
        /// Like what; `None` makes all chunks of a quality alike.
        preset: Option<Preset>,
        /// The qualities, the lowest first.
        rates: Vec<Rate>,
        /// How long a chunk plays.
        chunk: Time,
    },
}

/// A video that was encoded in several qualities.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ladder {
    /// How long a chunk plays.
    pub chunk: Time,
    /// What the qualities are called, the lowest first.
    pub rates: Vec<Rate>,
    /// Bytes of each chunk in each quality; none is empty.
    pub sizes: Vec<Vec<u64>>,
}

/// Which of several qualities a player asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quality {
    /// By what it holds: BOLA.
    Bola,
    /// Always this one; 0 is the lowest.
    Fixed(u32),
}

/// Responses that are asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Requests {
    /// Of a response, in the mean.
    pub size: Bytes,
    /// Standard deviation of the logarithm of the size; 0 makes all alike.
    pub spread: f64,
    /// From a response to the next request.
    pub think: Think,
    /// How many are asked for at a time.
    pub parallel: u32,
    /// A response that has not arrived so long after its request did is late.
    pub deadline: Option<Time>,
}

/// A time between what was asked for and what is asked for next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Think {
    /// In the mean.
    pub time: Time,
    /// How it differs.
    pub thinking: Thinking,
}

/// How times to think differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thinking {
    /// Exponentially distributed.
    Exponential,
    /// Not at all.
    Fixed,
}

/// Pages that are loaded one after another.
#[derive(Clone, Debug, PartialEq)]
pub struct Web {
    /// What a page has.
    pub page: Page,
    /// From a page to the next.
    pub think: Think,
}

/// Where a page's objects come from.
#[derive(Clone, Debug, PartialEq)]
pub enum Page {
    /// A file; all pages are this one.
    Trace {
        /// Its name in the scenario file.
        name: String,
        /// The first is the page itself, and each stands after the one that names it.
        objects: Arc<[PageObject]>,
    },
    /// Each page is drawn.
    Drawn {
        /// How many objects it has, in the median.
        objects: u32,
        /// How much they have, in the median.
        size: Bytes,
    },
}

/// An object of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageObject {
    /// Bytes, at least one.
    pub size: u64,
    /// The object that names it; the first has none.
    pub parent: u32,
    /// What it is.
    pub kind: ObjectKind,
}

/// What an object of a page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectKind {
    /// A document.
    Html,
    /// A style sheet.
    Css,
    /// A program.
    Script,
    /// A font.
    Font,
    /// A picture.
    Image,
    /// Something else.
    Other,
}

impl Asked {
    /// The name of the kind of chunks.
    pub(crate) const CHUNKS: &'static str = "chunks";
    /// The name of the kind of responses.
    pub(crate) const REQUEST: &'static str = "request";
    /// The name of the kind of pages.
    pub(crate) const WEB: &'static str = "web";

    /// Its kind's name in a scenario file.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Asked::Chunks(_) => Asked::CHUNKS,
            Asked::Requests(_) => Asked::REQUEST,
            Asked::Web(_) => Asked::WEB,
        }
    }
}

impl Chunks {
    /// How long a chunk plays.
    #[must_use]
    pub fn chunk(&self) -> Time {
        match &self.sizes {
            ChunkSizes::Trace { ladder, .. } => ladder.chunk,
            ChunkSizes::Drawn { chunk, .. } => *chunk,
        }
    }

    /// The rates of the qualities, the lowest first.
    #[must_use]
    pub fn rates(&self) -> &[Rate] {
        match &self.sizes {
            ChunkSizes::Trace { ladder, .. } => &ladder.rates,
            ChunkSizes::Drawn { rates, .. } => rates,
        }
    }
}

impl Thinking {
    /// Each with its name in scenario files.
    pub(crate) const ALL: [(Thinking, &'static str); 2] = [
        (Thinking::Exponential, "exponential"),
        (Thinking::Fixed, "fixed"),
    ];

    /// Its name in scenario files.
    pub(crate) fn name(self) -> &'static str {
        let named = Thinking::ALL.iter().find(|(one, _)| *one == self);
        named.map_or("", |(_, name)| name)
    }

    /// That of a name.
    pub(crate) fn from_name(name: &str) -> Option<Thinking> {
        let named = Thinking::ALL.iter().find(|(_, of)| *of == name);
        named.map(|(thinking, _)| *thinking)
    }
}

impl ObjectKind {
    /// Each with its name in a page's file.
    pub(crate) const ALL: [(ObjectKind, &'static str); 6] = [
        (ObjectKind::Html, "html"),
        (ObjectKind::Css, "css"),
        (ObjectKind::Script, "script"),
        (ObjectKind::Font, "font"),
        (ObjectKind::Image, "image"),
        (ObjectKind::Other, "other"),
    ];

    /// That of a name.
    pub(crate) fn of(name: &str) -> Option<ObjectKind> {
        let named = ObjectKind::ALL.iter().find(|(_, of)| *of == name);
        named.map(|(kind, _)| *kind)
    }
}
