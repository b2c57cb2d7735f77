//! How an algorithm is declared: once, beside its config, in its own file.
//!
//! [`algorithm!`] makes the config struct of a declaration, with its defaults, and says of each
//! parameter what it means, which values it takes and who says so. [`registry!`] makes of several
//! configs the enum that a [`Config`](crate::Config) holds, and the enum of what they build, whose
//! methods are called without a virtual call. What files, errors, schemas and documentation know
//! of algorithms is read from here.

use std::fmt;
use std::sync::Arc;

use ropewalk_quantities::Time;

/// What is declared of an algorithm.
#[derive(Debug)]
pub struct Description {
    /// Its name in scenario files.
    pub name: &'static str,
    /// What it does, in a sentence or two.
    pub doc: &'static str,
    /// Where it is specified.
    pub source: &'static str,
    /// What else must be known to use it.
    pub tags: &'static [Tag],
    /// In the order of the documentation.
    pub parameters: &'static [Parameter],
}

impl Description {
    /// Whether it has this tag.
    pub fn is(&self, tag: Tag) -> bool {
        self.tags.contains(&tag)
    }
}

/// A property of an algorithm that those who choose one ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    /// A congestion control that looks at one path alone: it also runs a TCP connection.
    SinglePath,
    /// A congestion control that couples the windows of a connection's subflows.
    Coupled,
    /// A scheduler that needs to know no more of links than that they are there, and their rates:
    /// a virtual device can follow it.
    Blind,
    /// A scheduler that looks at the parts of several streams, or at a tunnel's packets: not one of
    /// a connection's subflows.
    ManyStreams,
    /// A scheduler that puts data into the send queues of a connection's subflows, ahead of their
    /// windows: not one of carriers or links, which have no such queues.
    Queueing,
}

impl Tag {
    /// Its name, as programs are told it.
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

/// What is declared of a parameter.
#[derive(Debug)]
pub struct Parameter {
    /// Its name in scenario files.
    pub name: &'static str,
    /// What it means, in a sentence.
    pub doc: &'static str,
    /// Who says so.
    pub source: &'static str,
    /// Which values it takes, and which it has unless another is given.
    pub kind: Kind,
}

/// Which values a parameter takes, both bounds included, and its default.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Kind {
    /// A number without unit.
    Number { default: f64, least: f64, most: f64 },
    /// A whole number.
    Integer { default: u64, least: u64, most: u64 },
    /// Yes or no.
    Boolean { default: bool },
    /// A time.
    Time {
        default: Time,
        least: Time,
        most: Time,
    },
    /// One of these words.
    Word {
        default: &'static str,
        words: &'static [&'static str],
    },
}

impl Kind {
    /// The value that a parameter has unless another is given.
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

/// A parameter's value.
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

/// A type that a parameter's field can have.
pub trait Held: Copy {
    /// The value in a field of this type, if it is of its kind.
    fn from_value(value: Value) -> Option<Self>;
    /// The other way.
    fn to_value(self) -> Value;
}

macro_rules! held {
    ($($type:ty: $variant:ident,)*) => {$(
        impl Held for $type {
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

/// The config of an algorithm, or of any of several.
pub trait Declared: Sized {
    /// All that it can be, in the order of the documentation.
    fn descriptions() -> Vec<&'static Description>;

    /// The one of this name, with its parameters' defaults.
    fn from_name(name: &str) -> Option<Self>;

    /// Its name in scenario files and results.
    fn name(&self) -> &str;

    /// What is declared of it; `None` of a user's own.
    fn description(&self) -> Option<&'static Description>;

    /// Its parameters' values, in the order of their declaration.
    fn values(&self) -> Vec<Value>;

    /// Sets a parameter; false if it has none of this name, or not of this kind. Bounds are for
    /// those to check who take values from people.
    fn set(&mut self, parameter: &str, value: Value) -> bool;

    /// Those of its parameters that have another value than their default.
    fn changed(&self) -> Vec<(&'static str, Value)> {
        let declared = self.description().map_or(&[][..], |own| own.parameters);
        let named = declared.iter().zip(self.values());
        let other = named.filter(|(parameter, value)| parameter.kind.default() != *value);
        other
            .map(|(declared, value)| (declared.name, value))
            .collect()
    }

    /// Each that there is, with its parameters' defaults.
    fn defaults() -> Vec<Self> {
        let names = Self::descriptions().into_iter().map(|one| one.name);
        names.filter_map(Self::from_name).collect()
    }
}

/// A user's own algorithm: a function that makes one for each connection, and a name for results.
///
/// No file can name it; a program sets it in a [`Config`](crate::Config). Its parameters are what
/// the function has caught. Two are equal if they share the function.
pub struct Own<Settings, Built> {
    name: Arc<str>,
    make: Arc<dyn Fn(&Settings) -> Built + Send + Sync>,
}

impl<Settings, Built> Own<Settings, Built> {
    /// What `make` makes of the endpoint's settings, called `name` in results.
    pub fn new(name: &str, make: impl Fn(&Settings) -> Built + Send + Sync + 'static) -> Self {
        Own {
            name: name.into(),
            make: Arc::new(make),
        }
    }

    /// For one connection.
    pub fn build(&self, settings: &Settings) -> Built {
        (self.make)(settings)
    }
}

impl<Settings, Built> Clone for Own<Settings, Built> {
    fn clone(&self) -> Self {
        Own {
            name: self.name.clone(),
            make: self.make.clone(),
        }
    }
}

impl<Settings, Built> PartialEq for Own<Settings, Built> {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && Arc::ptr_eq(&self.make, &other.make)
    }
}

impl<Settings, Built> fmt::Debug for Own<Settings, Built> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Own").field(&self.name).finish()
    }
}

impl<Settings, Built> Declared for Own<Settings, Built> {
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

/// Declares an algorithm's config: `"name", "source", [tags]`, and its parameters.
///
/// The first paragraph of documentation is what people read of the algorithm; that of a field, of
/// the parameter. Kinds are `number(least, most)`, `integer(least, most)`, `boolean()`,
/// `time(least, most)` and `word(word, ...)`; what follows the default says where it comes from.
macro_rules! algorithm {
    (
        $(#[doc = $doc:literal])+
        pub struct $config:ident: $name:literal, $source:literal, [$($tag:ident),*] {
            $(
                $(#[doc = $field_doc:literal])+
                $field:ident: $kind:ident($($bound:expr),*) = $default:expr, $field_source:literal;
            )*
        }
    ) => {
        $(#[doc = $doc])+
        #[doc = ""]
        #[doc = concat!("Source: ", $source, ".")]
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $config {
            $(
                $(#[doc = $field_doc])+
                #[doc = ""]
                #[doc = concat!("Source: ", $field_source, ".")]
                pub $field: $crate::algorithm::parameter_type!($kind),
            )*
        }

        impl Default for $config {
            fn default() -> $config {
                $config::DEFAULT
            }
        }

        impl $config {
            /// With the defaults of all parameters.
            pub const DEFAULT: $config = $config { $($field: $default,)* };

            /// What is declared of it.
            pub const DESCRIPTION: &'static $crate::algorithm::Description =
                &$crate::algorithm::Description {
                    name: $name,
                    doc: concat!($($doc),+).trim_ascii(),
                    source: $source,
                    tags: &[$($crate::algorithm::Tag::$tag),*],
                    parameters: &[$(
                        $crate::algorithm::Parameter {
                            name: stringify!($field),
                            doc: concat!($($field_doc),+).trim_ascii(),
                            source: $field_source,
                            kind: $crate::algorithm::parameter_kind!($kind, $default $(, $bound)*),
                        },
                    )*],
                };
        }

        impl $crate::algorithm::Declared for $config {
            fn descriptions() -> Vec<&'static $crate::algorithm::Description> {
                vec![$config::DESCRIPTION]
            }

            fn from_name(name: &str) -> Option<$config> {
                (name == $name).then($config::default)
            }

            fn name(&self) -> &str {
                $name
            }

            fn description(&self) -> Option<&'static $crate::algorithm::Description> {
                Some($config::DESCRIPTION)
            }

            fn values(&self) -> Vec<$crate::algorithm::Value> {
                vec![$($crate::algorithm::Held::to_value(self.$field),)*]
            }

            fn set(&mut self, parameter: &str, value: $crate::algorithm::Value) -> bool {
                $(
                    if parameter == stringify!($field) {
                        let held = $crate::algorithm::Held::from_value(value);
                        return held.inspect(|held| self.$field = *held).is_some();
                    }
                )*
                // Without parameters, nothing looks at it.
                let _ = (parameter, value);
                false
            }
        }
    };
}

/// The type of a parameter's field.
macro_rules! parameter_type {
    (number) => {
        f64
    };
    (integer) => {
        u64
    };
    (boolean) => {
        bool
    };
    (time) => {
        ropewalk_quantities::Time
    };
    (word) => {
        &'static str
    };
}

/// The kind of a parameter.
macro_rules! parameter_kind {
    (number, $default:expr, $least:expr, $most:expr) => {
        $crate::algorithm::Kind::Number {
            default: $default,
            least: $least,
            most: $most,
        }
    };
    (integer, $default:expr, $least:expr, $most:expr) => {
        $crate::algorithm::Kind::Integer {
            default: $default,
            least: $least,
            most: $most,
        }
    };
    (boolean, $default:expr) => {
        $crate::algorithm::Kind::Boolean { default: $default }
    };
    (time, $default:expr, $least:expr, $most:expr) => {
        $crate::algorithm::Kind::Time {
            default: $default,
            least: $least,
            most: $most,
        }
    };
    (word, $default:expr $(, $word:expr)*) => {
        $crate::algorithm::Kind::Word {
            default: $default,
            words: &[$($word),*],
        }
    };
}

/// The enum of several configs, the enum of what they build, and a macro that calls a method of
/// whichever that is.
///
/// `Variant(Config => Algorithm)` is one algorithm, or an enum of several.
macro_rules! registry {
    (
        ($d:tt)
        $(#[$config_meta:meta])*
        config $config:ident by $build:ident;
        $(#[$built_meta:meta])*
        built $built:ident by $each:ident;
        settings $settings:ty;
        algorithms { $($(#[$meta:meta])* $variant:ident($type:ty => $algorithm:ty),)+ }
    ) => {
        $(#[$config_meta])*
        #[derive(Clone, Debug, PartialEq)]
        pub enum $config {
            $($(#[$meta])* $variant($type),)+
        }

        $(
            impl From<$type> for $config {
                fn from(config: $type) -> $config {
                    $config::$variant(config)
                }
            }
        )+

        impl $config {
            /// Its name in scenario files and results.
            pub fn name(&self) -> &str {
                $crate::algorithm::Declared::name(self)
            }

            /// What it names, for one connection.
            pub fn $build(&self, settings: &$settings) -> $built {
                match self {
                    $($config::$variant(config) => $built::$variant(config.build(settings)),)+
                }
            }
        }

        impl $crate::algorithm::Declared for $config {
            fn descriptions() -> Vec<&'static $crate::algorithm::Description> {
                let each = [$(<$type as $crate::algorithm::Declared>::descriptions()),+];
                each.into_iter().flatten().collect()
            }

            fn from_name(name: &str) -> Option<$config> {
                $(
                    if let Some(config) = <$type as $crate::algorithm::Declared>::from_name(name) {
                        return Some($config::$variant(config));
                    }
                )+
                None
            }

            fn name(&self) -> &str {
                match self {
                    $($config::$variant(config) => $crate::algorithm::Declared::name(config),)+
                }
            }

            fn description(&self) -> Option<&'static $crate::algorithm::Description> {
                match self {
                    $($config::$variant(config) => {
                        $crate::algorithm::Declared::description(config)
                    })+
                }
            }

            fn values(&self) -> Vec<$crate::algorithm::Value> {
                match self {
                    $($config::$variant(config) => $crate::algorithm::Declared::values(config),)+
                }
            }

            fn set(&mut self, parameter: &str, value: $crate::algorithm::Value) -> bool {
                match self {
                    $($config::$variant(config) => {
                        $crate::algorithm::Declared::set(config, parameter, value)
                    })+
                }
            }
        }

        $(#[$built_meta])*
        pub enum $built {
            $($(#[$meta])* $variant($algorithm),)+
        }

        macro_rules! $each {
            ($d any:expr, $d one:ident => $d call:expr) => {
                match $d any {
                    $($built::$variant($d one) => $d call,)+
                }
            };
        }
    };
}

pub(crate) use {algorithm, parameter_kind, parameter_type, registry};
