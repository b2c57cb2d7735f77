//! Traffic that the receiver requests: chunks of a video, responses, pages.

use std::sync::Arc;

use ropewalk_quantities::{Bytes, Rate, Time};

use super::Preset;

/// What the receiver requests.
#[derive(Clone, Debug, PartialEq)]
pub enum Requested {
    /// Adaptive streaming: a player requests the next chunk of a video when its buffer has room.
    Chunks(Chunks),
    /// Responses, with a think time before each request.
    Requests(Requests),
    /// Web pages: objects that refer to further objects.
    Web(Web),
}

/// A video in chunks.
#[derive(Clone, Debug, PartialEq)]
pub struct Chunks {
    /// How large the chunks are.
    pub sizes: ChunkSizes,
    /// The quality in which the player requests them.
    pub quality: Quality,
    /// How much the player buffers before it starts, and again after a stall; `None` means one chunk.
    pub buffer: Option<Time>,
    /// How much the player buffers at most.
    pub buffer_max: Time,
}

/// Where the sizes of chunks come from.
#[derive(Clone, Debug, PartialEq)]
pub enum ChunkSizes {
    /// A file; it starts over when it ends.
    Trace {
        /// Its name in the scenario file.
        name: String,
        /// The sizes in the file.
        ladder: Arc<Ladder>,
    },
    /// Random sizes: each rate is a quality, and the sizes of chunks vary like those of a film, or not at
    /// all.
    Drawn {
        /// The film whose variation is used; with `None`, all chunks of a quality have the same size.
        preset: Option<Preset>,
        /// The qualities, the lowest first.
        rates: Vec<Rate>,
        /// The playing time of a chunk.
        chunk: Time,
    },
}

/// A video that was encoded in several qualities.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ladder {
    /// The playing time of a chunk.
    pub chunk: Time,
    /// The nominal rates of the qualities, the lowest first.
    pub rates: Vec<Rate>,
    /// Bytes of each chunk in each quality; none is empty.
    pub sizes: Vec<Vec<u64>>,
}

/// How a player chooses the quality.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quality {
    /// By its buffer level: BOLA.
    Bola,
    /// Always this one; 0 is the lowest.
    Fixed(u32),
}

/// Requests and their responses.
#[derive(Clone, Debug, PartialEq)]
pub struct Requests {
    /// The mean size of a response.
    pub size: Bytes,
    /// The standard deviation of the logarithm of the size; with 0, all sizes are equal.
    pub spread: f64,
    /// The think time between a response and the next request.
    pub think: Think,
    /// How many requests are outstanding at a time.
    pub parallel: u32,
    /// A response that arrives later than this after its request is late.
    pub deadline: Option<Time>,
}

/// The think time between a response and the next request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Think {
    /// The mean.
    pub time: Time,
    /// How it is distributed.
    pub thinking: Thinking,
}

/// The distribution of think times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thinking {
    /// Exponentially distributed.
    Exponential,
    /// Constant.
    Fixed,
}

/// Pages that are loaded one after another.
#[derive(Clone, Debug, PartialEq)]
pub struct Web {
    /// Where a page's objects come from.
    pub page: Page,
    /// The think time between a page and the next.
    pub think: Think,
}

/// Where a page's objects come from.
#[derive(Clone, Debug, PartialEq)]
pub enum Page {
    /// A file that describes the page; all pages are alike.
    Trace {
        /// Its name in the scenario file.
        name: String,
        /// The first is the page's document; each object comes after the one that refers to it.
        objects: Arc<[PageObject]>,
    },
    /// Each page is drawn.
    Drawn {
        /// The median number of objects.
        objects: u32,
        /// The median size of a page.
        size: Bytes,
    },
}

/// An object of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageObject {
    /// Bytes, at least one.
    pub size: u64,
    /// The index of the object that refers to it; the first has none.
    pub parent: u32,
    /// The type of the object.
    pub kind: ObjectKind,
}

/// The type of an object of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectKind {
    /// A document.
    Html,
    /// A style sheet.
    Css,
    /// A script.
    Script,
    /// A font.
    Font,
    /// A picture.
    Image,
    /// Any other type.
    Other,
}

impl Requested {
    /// The name of the kind of chunks.
    pub(crate) const CHUNKS: &'static str = "chunks";
    /// The name of the kind of responses.
    pub(crate) const REQUEST: &'static str = "request";
    /// The name of the kind of pages.
    pub(crate) const WEB: &'static str = "web";

    /// Its kind's name in a scenario file.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Requested::Chunks(_) => Requested::CHUNKS,
            Requested::Requests(_) => Requested::REQUEST,
            Requested::Web(_) => Requested::WEB,
        }
    }
}

impl Chunks {
    /// The playing time of a chunk.
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
    /// All, each with its name in scenario files.
    pub(crate) const ALL: [(Thinking, &'static str); 2] = [
        (Thinking::Exponential, "exponential"),
        (Thinking::Fixed, "fixed"),
    ];

    /// Its name in scenario files.
    pub(crate) fn name(self) -> &'static str {
        let named = Thinking::ALL.iter().find(|(one, _)| *one == self);
        named.map_or("", |(_, name)| name)
    }

    /// The distribution with this name.
    pub(crate) fn from_name(name: &str) -> Option<Thinking> {
        let named = Thinking::ALL.iter().find(|(_, of)| *of == name);
        named.map(|(thinking, _)| *thinking)
    }
}

impl ObjectKind {
    /// All, each with its name in a page's file.
    pub(crate) const ALL: [(ObjectKind, &'static str); 6] = [
        (ObjectKind::Html, "html"),
        (ObjectKind::Css, "css"),
        (ObjectKind::Script, "script"),
        (ObjectKind::Font, "font"),
        (ObjectKind::Image, "image"),
        (ObjectKind::Other, "other"),
    ];

    /// The type with this name.
    pub(crate) fn of(name: &str) -> Option<ObjectKind> {
        let named = ObjectKind::ALL.iter().find(|(_, of)| *of == name);
        named.map(|(kind, _)| *kind)
    }
}
