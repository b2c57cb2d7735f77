//! An algorithm that a file names, with the parameters that it gives.

use ropewalk_transport::algorithm::{Declared, Description, Value};

/// The key of an algorithm's table that gives its name.
pub(crate) const NAME: &str = "name";

/// All algorithms that a key may name.
pub(crate) type Algorithms = fn() -> Vec<&'static Description>;

/// An algorithm, and those of its parameters that differ from their defaults.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Chosen {
    pub name: String,
    pub parameters: Vec<(&'static str, Value)>,
}

impl Chosen {
    /// The algorithm of a config of the transport.
    pub fn of(config: &impl Declared) -> Chosen {
        Chosen {
            name: config.name().to_owned(),
            parameters: config.changed(),
        }
    }

    /// The transport's config of this algorithm.
    pub fn config<C: Declared>(&self) -> Option<C> {
        let mut config = C::from_name(&self.name)?;
        for (parameter, value) in &self.parameters {
            config.set(parameter, *value);
        }
        Some(config)
    }
}

/// The names of algorithms.
pub(crate) fn names(all: Algorithms) -> Vec<&'static str> {
    all().into_iter().map(|one| one.name).collect()
}
