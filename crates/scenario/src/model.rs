//! A scenario after parsing: every default filled in, every reference resolved.

use ropewalk_network::LinkConfig;
use ropewalk_quantities::{Bytes, Rate, Time};
use ropewalk_transport::Config;

/// One experiment: links, paths, transport, traffic and competitors.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// For people.
    pub title: String,
    /// Ends at the latest then.
    pub duration: Time,
    /// What is measured starts after it.
    pub warmup: Time,
    /// At least one, names unique.
    pub links: Vec<LinkConfig>,
    /// At least one, names unique; without any in the file, each link is a path of its own name.
    pub paths: Vec<Path>,
    /// The measured connection's endpoints.
    pub transport: Config,
    /// Indices into `paths` that the measured connection uses, in this order; `tcp` uses just one.
    pub transport_paths: Vec<usize>,
    /// What the application sends.
    pub traffic: Traffic,
    /// Other flows on the same links.
    pub competitors: Vec<Competitor>,
    /// "Read this before trusting the numbers": stored with the results.
    pub warnings: Vec<String>,
}

/// Links passed in turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// The name that results use.
    pub name: String,
    /// Indices into [`Scenario::links`]; at least one. The way back passes them in reverse.
    pub hops: Vec<usize>,
}

/// What an application sends, from client to server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Traffic {
    /// As much as the transport takes.
    Bulk {
        /// Then it closes; `None` goes on until the duration ends.
        size: Option<Bytes>,
    },
    /// Messages of one size at a constant spacing.
    Cbr {
        /// Application bits per second.
        rate: Rate,
        /// Size of a message.
        message: Bytes,
    },
    /// Messages of one size at exponentially distributed spacings.
    Poisson {
        /// Application bits per second, in the mean.
        rate: Rate,
        /// Size of a message.
        message: Bytes,
    },
}

/// Bulk flows that share links with the measured connection.
#[derive(Clone, Debug, PartialEq)]
pub struct Competitor {
    /// The name that results and random streams use.
    pub name: String,
    /// How many of them.
    pub count: u32,
    /// Endpoint settings; those of `[transport]` but for what the entry names.
    pub transport: Config,
    /// Indices into `paths`.
    pub paths: Vec<usize>,
    /// When it starts.
    pub start: Time,
    /// How much it sends; `None` goes on until the duration ends.
    pub size: Option<Bytes>,
}
