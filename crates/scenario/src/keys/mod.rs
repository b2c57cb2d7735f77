//! Declarations of all scenario keys, for the parser, the errors and the JSON Schema.

mod competitor;
mod flow;
mod link;
mod mesh;
mod top;
mod traffic;
mod transport;
mod wifi;

use ropewalk_quantities::{Bytes, Time};
use ropewalk_transport::Config;

use crate::algorithm_ref::Algorithms;
use crate::parsed::Parsed;

pub(crate) use link::LINK;
pub(crate) use mesh::{ALL, FILE, GRID, LOWEST, UNIFORM};
pub(crate) use top::TOP;
pub(crate) use traffic::TRAFFIC;
pub(crate) use transport::TRANSPORT;
pub(crate) use wifi::{NEVER, NONE, OFF, RADIO, WIFI};

use crate::measure::Measure;

#[derive(Debug)]
pub(crate) struct Shape {
    /// In documentation order. Lists are shared between tables.
    pub keys: &'static [&'static [Key]],
    /// Groups of mutually exclusive keys.
    pub alternatives: &'static [Alternatives],
}

/// Keys with at most one given.
#[derive(Debug)]
pub(crate) struct Alternatives {
    pub keys: &'static [&'static str],
    /// One of the keys is required.
    pub needed: bool,
}

#[derive(Debug)]
pub(crate) struct Key {
    pub name: &'static str,
    pub kind: Kind,
    pub default: Default,
    /// Meaning, in a sentence.
    pub doc: &'static str,
}

#[derive(Debug)]
pub(crate) enum Default {
    /// None: the key is required.
    Required,
    /// This value, in TOML.
    Toml(&'static str),
    /// A value that depends on other keys, in words.
    Words(&'static str),
    /// Field of the transport's `Config`, with the profile's value.
    Profile(Field),
    /// Field of the transport's `Config`; its value depends on other keys, in words.
    Derived(Field, &'static str),
}

impl Default {
    /// The value, if it does not depend on other keys.
    pub fn toml(&self) -> Option<toml_edit::Value> {
        match self {
            Default::Toml(text) => text.parse().ok(),
            _ => None,
        }
    }

    /// Field of the transport's `Config` that the key sets.
    pub fn field(&self) -> Option<&Field> {
        match self {
            Default::Profile(field) | Default::Derived(field, _) => Some(field),
            Default::Required | Default::Toml(_) | Default::Words(_) => None,
        }
    }
}

#[derive(Debug)]
pub(crate) struct Field {
    pub get: fn(&Config) -> Parsed,
    pub set: fn(&mut Config, &Parsed),
}

/// Type and range of a key's values.
#[derive(Debug)]
pub(crate) enum Kind {
    /// Any text.
    Text,
    /// Name of a link, path or competitor.
    Name,
    /// A name, or one with a `*` for a number.
    Pattern,
    /// Name of a trace file.
    Trace,
    /// `true` or `false`.
    Boolean,
    /// A whole number in a range.
    Integer { least: u64, most: u64 },
    /// A 32-bit number, or `"random"`.
    SequenceNumber,
    /// A finite number in a range.
    Number { least: f64, most: f64 },
    /// Above 0, at most 1.
    Share,
    /// A time in a range.
    Time { least: Time, most: Time },
    /// A rate above zero.
    Rate,
    /// A rate above zero, or `"unlimited"`.
    Capacity,
    /// A size in a range.
    Bytes { least: Bytes, most: Bytes },
    /// A size, or `"unlimited"`.
    BytesOrUnlimited,
    /// Packets or a size, above zero.
    Window,
    /// Packets of bandwidth aggregation, or a size; above zero.
    PacketBuffer,
    /// Packets, a size, or a multiple of the bandwidth-delay product.
    Queue,
    /// A percentage.
    Probability,
    /// One of these words.
    Word(fn() -> Vec<&'static str>),
    /// A word of an algorithm's parameter.
    OneOf(&'static [&'static str]),
    /// An algorithm, by name or with parameters.
    Algorithm(Algorithms),
    /// Names of links or paths, each of kind `of`.
    Names { of: &'static Kind, most: usize },
    /// Pairs of times.
    Outages,
    /// A table. The value of the key `short` may replace it.
    Table {
        shape: &'static Shape,
        short: Option<&'static str>,
    },
    /// A number with a unit.
    Measure(Measure),
    /// One of these words, or a value of another kind.
    Either {
        words: &'static [&'static str],
        kind: &'static Kind,
    },
    /// A list of values of another kind.
    List {
        of: &'static Kind,
        least: usize,
        most: usize,
    },
    /// A list of tables; the value of the key `short` may replace an element.
    Entries {
        shape: &'static Shape,
        short: &'static str,
        most: usize,
    },
    /// A list of tables (`[[link]]`).
    Tables { shape: &'static Shape, most: usize },
}

impl Kind {
    const fn integer(least: u64, most: u64) -> Kind {
        Kind::Integer { least, most }
    }

    const fn number(least: f64, most: f64) -> Kind {
        Kind::Number { least, most }
    }

    const fn time(least: Time, most: Time) -> Kind {
        Kind::Time { least, most }
    }

    const fn bytes(least: Bytes, most: Bytes) -> Kind {
        Kind::Bytes { least, most }
    }

    const fn names(of: &'static Kind, most: usize) -> Kind {
        Kind::Names { of, most }
    }

    const fn table(shape: &'static Shape, short: Option<&'static str>) -> Kind {
        Kind::Table { shape, short }
    }

    const fn tables(shape: &'static Shape, most: usize) -> Kind {
        Kind::Tables { shape, most }
    }

    const fn list(of: &'static Kind, least: usize, most: usize) -> Kind {
        Kind::List { of, least, most }
    }

    const fn either(words: &'static [&'static str], kind: &'static Kind) -> Kind {
        Kind::Either { words, kind }
    }
}

impl Shape {
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys().find(|key| key.name == name)
    }

    /// Keys that exclude this one.
    pub fn excluded_by(&self, name: &str) -> Vec<&'static str> {
        let all = self.alternatives.iter().map(|one| one.keys);
        all.filter(|keys| keys.contains(&name))
            .flatten()
            .copied()
            .filter(|other| *other != name)
            .collect()
    }

    pub fn keys(&self) -> impl Iterator<Item = &'static Key> {
        self.keys.iter().copied().flatten()
    }

    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.keys().map(|key| key.name)
    }
}

const fn key(name: &'static str, kind: Kind, default: Default, doc: &'static str) -> Key {
    Key {
        name,
        kind,
        default,
        doc,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Entry, Node, Origin, Value};
    use crate::report::Report;
    use crate::section::Section;

    /// Checks that a table with all defaults written out is valid, and its inner tables.
    fn check_defaults(shape: &'static Shape, checked: &mut usize) {
        for key in shape.keys() {
            if let Kind::Table { shape, .. } | Kind::Tables { shape, .. } = key.kind {
                check_defaults(shape, checked);
            }
            let Default::Toml(text) = key.default else {
                continue;
            };
            let entry = Entry {
                key: key.name.to_owned(),
                origin: Origin::Override,
                node: Node::from_override(key.default.toml().expect(text)),
            };
            let table = Node {
                origin: Origin::Override,
                value: Value::Table(vec![entry]),
            };
            let mut report = Report::new("", "");
            let section = Section::read(&table, shape, String::new(), &mut report);
            assert!(
                !matches!(section.given().next(), Some((_, Parsed::Invalid))),
                "{key:?}"
            );
            *checked += 1;
        }
    }

    #[test]
    fn every_default_is_a_right_value_of_its_key() {
        let mut checked = 0;
        check_defaults(&TOP, &mut checked);
        assert!(checked > 15, "{checked}");
    }
}
