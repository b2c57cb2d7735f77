//! Declarations of algorithms: name, source, parameters. Each is in the algorithm's file.
//!
//! `algorithm!` defines a config struct with defaults and descriptions. `registry!` combines configs to the
//! enum in a [`Config`](crate::Config), and their algorithms to an enum with static dispatch. Scenario files,
//! errors, schemas and documentation are generated from the declarations.

mod macros;

use std::fmt;
use std::sync::Arc;

use ropewalk_quantities::Time;

pub(crate) use macros::{algorithm, parameter_kind, parameter_type, registry};

/// The declaration of an algorithm.
#[derive(Debug)]
pub struct Description {
    /// Name in scenario files.
    pub name: &'static str,
    /// Documentation, in a sentence or two.
    pub doc: &'static str,
    /// Specification or paper.
    pub source: &'static str,
    /// Properties that decide where the algorithm can be used.
    pub tags: &'static [Tag],
    /// Parameters, in the order of the documentation.
    pub parameters: &'static [Parameter],
}

impl Description {
    /// Whether it has this tag.
    pub fn is(&self, tag: Tag) -> bool {
        self.tags.contains(&tag)
    }
}

/// A property of an algorithm that decides where it can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    /// A congestion control for a single path, which can also run a TCP connection.
    SinglePath,
    /// A congestion control that couples the windows of a connection's subflows.
    Coupled,
    /// A scheduler that uses only the number and the rates of links, so that a network device can use it.
    Blind,
    /// A scheduler for several streams or for packets: it cannot schedule the subflows of a connection.
    ManyStreams,
    /// A scheduler that fills the send queues of subflows ahead of their windows. Carriers and links have no
    /// such queues, so it cannot schedule them.
    Queueing,
}

impl Tag {
    /// Name of the tag in interfaces to other programs.
    pub const fn name(self) -> &'static str {
        match self {
            Tag::SinglePath => "single-path",
            Tag::Coupled => "coupled",
            Tag::Blind => "blind",
            Tag::ManyStreams => "many-streams",
            Tag::Queueing => "queueing",
        }
    }
}

/// The declaration of a parameter.
#[derive(Debug)]
pub struct Parameter {
    /// Name in scenario files.
    pub name: &'static str,
    /// Documentation, in a sentence.
    pub doc: &'static str,
    /// Source of its definition or default.
    pub source: &'static str,
    /// Its type, range and default.
    pub kind: Kind,
}

/// Type of a parameter, with its range (both bounds included) and default.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Kind {
    /// A number without unit.
    Number { default: f64, least: f64, most: f64 },
    /// An integer.
    Integer { default: u64, least: u64, most: u64 },
    /// A boolean.
    Boolean { default: bool },
    /// A time.
    Time {
        default: Time,
        least: Time,
        most: Time,
    },
    /// One of several words.
    Word {
        default: &'static str,
        words: &'static [&'static str],
    },
}

impl Kind {
    /// The default value.
    pub const fn default(self) -> Value {
        match self {
            Kind::Number { default, .. } => Value::Number(default),
            Kind::Integer { default, .. } => Value::Integer(default),
            Kind::Boolean { default } => Value::Boolean(default),
            Kind::Time { default, .. } => Value::Time(default),
            Kind::Word { default, .. } => Value::Word(default),
        }
    }
}

/// Value of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// Of [`Kind::Number`].
    Number(f64),
    /// Of [`Kind::Integer`].
    Integer(u64),
    /// Of [`Kind::Boolean`].
    Boolean(bool),
    /// Of [`Kind::Time`].
    Time(Time),
    /// Of [`Kind::Word`].
    Word(&'static str),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Number(number) => number.fmt(f),
            Value::Integer(number) => number.fmt(f),
            Value::Boolean(value) => value.fmt(f),
            Value::Time(time) => time.fmt(f),
            Value::Word(word) => word.fmt(f),
        }
    }
}

/// A type of parameter fields.
pub trait ParameterValue: Copy {
    /// Converts from a value, if it has the right type.
    fn from_value(value: Value) -> Option<Self>;
    /// Converts to a value.
    fn to_value(self) -> Value;
}

macro_rules! held {
    ($($type:ty: $variant:ident,)*) => {$(
        impl ParameterValue for $type {
            fn from_value(value: Value) -> Option<$type> {
                match value {
                    Value::$variant(value) => Some(value),
                    _ => None,
                }
            }
            fn to_value(self) -> Value {
                Value::$variant(self)
            }
        }
    )*};
}

held! {
    f64: Number,
    u64: Integer,
    bool: Boolean,
    Time: Time,
    &'static str: Word,
}

/// The config of an algorithm, or an enum of several configs.
pub trait AlgorithmConfig: Sized {
    /// Declarations of all alternatives, in the order of the documentation.
    fn descriptions() -> Vec<&'static Description>;

    /// Returns the alternative of this name, with default parameters.
    fn from_name(name: &str) -> Option<Self>;

    /// Name in scenario files and results.
    fn name(&self) -> &str;

    /// Declaration; `None` for a user's own algorithm.
    fn description(&self) -> Option<&'static Description>;

    /// Values of the parameters, in the order of declaration.
    fn values(&self) -> Vec<Value>;

    /// Sets a parameter. Returns false if it has none of this name and type. Does not check the range.
    fn set(&mut self, parameter: &str, value: Value) -> bool;

    /// Parameters that differ from their defaults.
    fn changed(&self) -> Vec<(&'static str, Value)> {
        let declared = self.description().map_or(&[][..], |own| own.parameters);
        let named = declared.iter().zip(self.values());
        let other = named.filter(|(parameter, value)| parameter.kind.default() != *value);
        other
            .map(|(declared, value)| (declared.name, value))
            .collect()
    }

    /// All alternatives, with default parameters.
    fn defaults() -> Vec<Self> {
        let names = Self::descriptions().into_iter().map(|one| one.name);
        names.filter_map(Self::from_name).collect()
    }
}

/// A user's own algorithm: a name for results, and a function that creates one instance per connection and
/// captures the parameters. Two are equal if they share the function. Only programs can use it, by a
/// [`Config`](crate::Config), not scenario files.
pub struct Custom<Settings, Built> {
    name: Arc<str>,
    make: Arc<dyn Fn(&Settings) -> Built + Send + Sync>,
}

impl<Settings, Built> Custom<Settings, Built> {
    /// Creates one from a name for results and a function of the endpoint's settings.
    pub fn new(name: &str, make: impl Fn(&Settings) -> Built + Send + Sync + 'static) -> Self {
        Custom {
            name: name.into(),
            make: Arc::new(make),
        }
    }

    /// Creates the algorithm of one connection.
    pub fn build(&self, settings: &Settings) -> Built {
        (self.make)(settings)
    }
}

impl<Settings, Built> Clone for Custom<Settings, Built> {
    fn clone(&self) -> Self {
        Custom {
            name: self.name.clone(),
            make: self.make.clone(),
        }
    }
}

impl<Settings, Built> PartialEq for Custom<Settings, Built> {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && Arc::ptr_eq(&self.make, &other.make)
    }
}

impl<Settings, Built> fmt::Debug for Custom<Settings, Built> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Custom").field(&self.name).finish()
    }
}

impl<Settings, Built> AlgorithmConfig for Custom<Settings, Built> {
    fn descriptions() -> Vec<&'static Description> {
        Vec::new()
    }

    fn from_name(_name: &str) -> Option<Self> {
        None
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> Option<&'static Description> {
        None
    }

    fn values(&self) -> Vec<Value> {
        Vec::new()
    }

    fn set(&mut self, _parameter: &str, _value: Value) -> bool {
        false
    }
}
