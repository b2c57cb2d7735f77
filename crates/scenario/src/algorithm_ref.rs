//! An algorithm named by a file, with its given parameters.

use ropewalk_transport::algorithm::{AlgorithmConfig, Description, Value};

pub(crate) const NAME: &str = "name";

pub(crate) type Algorithms = fn() -> Vec<&'static Description>;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AlgorithmRef {
    pub name: String,
    pub parameters: Vec<(&'static str, Value)>,
}

impl AlgorithmRef {
    /// The algorithm of a transport config.
    pub fn of(config: &impl AlgorithmConfig) -> AlgorithmRef {
        AlgorithmRef {
            name: config.name().to_owned(),
            parameters: config.changed(),
        }
    }

    /// The transport config of this algorithm.
    pub fn config<C: AlgorithmConfig>(&self) -> Option<C> {
        let mut config = C::from_name(&self.name)?;
        for (parameter, value) in &self.parameters {
            config.set(parameter, *value);
        }
        Some(config)
    }
}

pub(crate) fn names(all: Algorithms) -> Vec<&'static str> {
    all().into_iter().map(|one| one.name).collect()
}
