//! Traffic requested by the receiver: video chunks, responses, pages.

use std::sync::Arc;

use ropewalk_quantities::{Bytes, Rate, Time, named};

use super::Preset;

/// Traffic requested by the receiver.
#[derive(Clone, Debug, PartialEq)]
pub enum Requested {
    /// Adaptive streaming: a player requests the next chunk when its buffer has space.
    Chunks(Chunks),
    /// Responses, with a think time before each request.
    Requests(Requests),
    /// Web pages: objects that refer to more objects.
    Web(Web),
}

/// A video in chunks.
#[derive(Clone, Debug, PartialEq)]
pub struct Chunks {
    /// Sizes of chunks.
    pub sizes: ChunkSizes,
    /// Choice of the quality.
    pub quality: Quality,
    /// Buffered time before (re)starting; `None`: one chunk.
    pub buffer: Option<Time>,
    /// Largest buffered time.
    pub buffer_max: Time,
}

/// Source of chunk sizes.
#[derive(Clone, Debug, PartialEq)]
pub enum ChunkSizes {
    /// A file, repeated at its end.
    Trace {
        /// Name in the scenario file.
        name: String,
        /// Content of the file.
        ladder: Arc<Ladder>,
    },
    /// Random sizes: each rate is a quality; chunk sizes vary as in a film, or not at all.
    Drawn {
        /// Film with the variation; `None`: constant sizes.
        preset: Option<Preset>,
        /// Qualities in ascending order.
        rates: Vec<Rate>,
        /// Playing time of a chunk.
        chunk: Time,
    },
}

/// A video encoded in several qualities.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ladder {
    /// Playing time of a chunk.
    pub chunk: Time,
    /// Nominal rates of the qualities in ascending order.
    pub rates: Vec<Rate>,
    /// Bytes of each chunk in each quality, at least one.
    pub sizes: Vec<Vec<u64>>,
}

/// A player's choice of the quality.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quality {
    /// BOLA, by buffer level.
    Bola,
    /// Constant; 0 is the lowest.
    Fixed(u32),
}

/// Requests and their responses.
#[derive(Clone, Debug, PartialEq)]
pub struct Requests {
    /// Mean size of a response.
    pub size: Bytes,
    /// Standard deviation of the logarithm of the size; 0: constant size.
    pub spread: f64,
    /// ThinkTime time between a response and the next request.
    pub think: ThinkTime,
    /// Number of simultaneous requests.
    pub parallel: u32,
    /// Age, from its request, above which a response is late.
    pub deadline: Option<Time>,
}

/// ThinkTime time between a response and the next request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThinkTime {
    /// Mean.
    pub time: Time,
    /// Distribution.
    pub thinking: ThinkDistribution,
}

named! {
    /// Distribution of think times.
    pub enum ThinkDistribution {
        /// Exponentially distributed.
        Exponential = "exponential",
        /// Constant.
        Fixed = "fixed",
    }
}

/// Pages loaded one after another.
#[derive(Clone, Debug, PartialEq)]
pub struct Web {
    /// Source of a page's objects.
    pub page: Page,
    /// ThinkTime time between pages.
    pub think: ThinkTime,
}

/// Source of a page's objects.
#[derive(Clone, Debug, PartialEq)]
pub enum Page {
    /// A file; all pages are equal.
    Trace {
        /// Name in the scenario file.
        name: String,
        /// The document first; each object after the one that refers to it.
        objects: Arc<[PageObject]>,
    },
    /// Random pages.
    Drawn {
        /// Median number of objects.
        objects: u32,
        /// Median page size.
        size: Bytes,
    },
}

/// An object of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageObject {
    /// Bytes, at least one.
    pub size: u64,
    /// Index of the referring object; unused for the first.
    pub parent: u32,
    /// Type of the object.
    pub kind: ObjectKind,
}

named! {
    /// The type of an object of a page.
    pub enum ObjectKind {
        /// Document.
        Html = "html",
        /// Style sheet.
        Css = "css",
        /// Script.
        Script = "script",
        /// Font.
        Font = "font",
        /// Picture.
        Image = "image",
        /// Other type.
        Other = "other",
    }
}

impl Requested {
    pub(crate) const CHUNKS: &'static str = "chunks";
    pub(crate) const REQUEST: &'static str = "request";
    pub(crate) const WEB: &'static str = "web";

    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Requested::Chunks(_) => Requested::CHUNKS,
            Requested::Requests(_) => Requested::REQUEST,
            Requested::Web(_) => Requested::WEB,
        }
    }
}

impl Chunks {
    /// Playing time of a chunk.
    #[must_use]
    pub fn chunk(&self) -> Time {
        match &self.sizes {
            ChunkSizes::Trace { ladder, .. } => ladder.chunk,
            ChunkSizes::Drawn { chunk, .. } => *chunk,
        }
    }

    /// Rates of the qualities in ascending order.
    #[must_use]
    pub fn rates(&self) -> &[Rate] {
        match &self.sizes {
            ChunkSizes::Trace { ladder, .. } => &ladder.rates,
            ChunkSizes::Drawn { rates, .. } => rates,
        }
    }
}
