//! Macros that declare and register algorithms.

/// Declares an algorithm's config: `"name", "source", [tags]`, and its parameters.
///
/// Users read the first paragraph of each doc comment. Types are `number(least, most)`, `integer(least,
/// most)`, `boolean()`, `time(least, most)` and `word(word, ...)`; the text after the default is its source.
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
            /// Config with the defaults of all parameters.
            pub const DEFAULT: $config = $config { $($field: $default,)* };

            /// Declaration of the algorithm.
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

        impl $crate::algorithm::AlgorithmConfig for $config {
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
                vec![$($crate::algorithm::ParameterValue::to_value(self.$field),)*]
            }

            fn set(&mut self, parameter: &str, value: $crate::algorithm::Value) -> bool {
                $(
                    if parameter == stringify!($field) {
                        let held = $crate::algorithm::ParameterValue::from_value(value);
                        return held.inspect(|held| self.$field = *held).is_some();
                    }
                )*
                let _ = (parameter, value);
                false
            }
        }
    };
}

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

/// Defines an enum of configs, an enum of their algorithms, and a macro that calls a method of any of them.
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
            /// Name in scenario files and results.
            pub fn name(&self) -> &str {
                $crate::algorithm::AlgorithmConfig::name(self)
            }

            /// Creates the algorithm for one connection.
            pub fn $build(&self, settings: &$settings) -> $built {
                match self {
                    $($config::$variant(config) => $built::$variant(config.build(settings)),)+
                }
            }
        }

        impl $crate::algorithm::AlgorithmConfig for $config {
            fn descriptions() -> Vec<&'static $crate::algorithm::Description> {
                let each = [$(<$type as $crate::algorithm::AlgorithmConfig>::descriptions()),+];
                each.into_iter().flatten().collect()
            }

            fn from_name(name: &str) -> Option<$config> {
                $(
                    if let Some(config) = <$type as $crate::algorithm::AlgorithmConfig>::from_name(name) {
                        return Some($config::$variant(config));
                    }
                )+
                None
            }

            fn name(&self) -> &str {
                match self {
                    $($config::$variant(config) => $crate::algorithm::AlgorithmConfig::name(config),)+
                }
            }

            fn description(&self) -> Option<&'static $crate::algorithm::Description> {
                match self {
                    $($config::$variant(config) => {
                        $crate::algorithm::AlgorithmConfig::description(config)
                    })+
                }
            }

            fn values(&self) -> Vec<$crate::algorithm::Value> {
                match self {
                    $($config::$variant(config) => $crate::algorithm::AlgorithmConfig::values(config),)+
                }
            }

            fn set(&mut self, parameter: &str, value: $crate::algorithm::Value) -> bool {
                match self {
                    $($config::$variant(config) => {
                        $crate::algorithm::AlgorithmConfig::set(config, parameter, value)
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
