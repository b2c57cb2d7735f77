//! Every key of a scenario file, declared once: the parser, the errors and the JSON Schema read these tables.

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

use crate::chosen::Algorithms;
use crate::parsed::Parsed;

pub(crate) use link::LINK;
pub(crate) use mesh::{ALL, FILE, GRID, LOWEST, UNIFORM};
pub(crate) use top::TOP;
pub(crate) use traffic::TRAFFIC;
pub(crate) use transport::TRANSPORT;
pub(crate) use wifi::{NEVER, NONE, OFF, RADIO, WIFI};

use crate::measure::Measure;

/// A table's keys.
#[derive(Debug)]
pub(crate) struct Shape {
    /// In the order of the documentation. There are several lists where tables share some keys.
    pub keys: &'static [&'static [Key]],
    /// Groups of keys that exclude each other.
    pub alternatives: &'static [Alternatives],
}

/// Keys of which at most one may be given.
#[derive(Debug)]
pub(crate) struct Alternatives {
    pub keys: &'static [&'static str],
    /// Whether one of them must be given.
    pub needed: bool,
}

/// One key.
#[derive(Debug)]
pub(crate) struct Key {
    pub name: &'static str,
    pub kind: Kind,
    pub default: Default,
    /// What it means, in a sentence.
    pub doc: &'static str,
}

/// The value of a key that the file does not give.
#[derive(Debug)]
pub(crate) enum Default {
    /// There is none: the file must give the key.
    Required,
    /// This value, as TOML.
    Toml(&'static str),
    /// A value that depends on other keys, in words.
    Words(&'static str),
    /// A field of the transport's `Config`; its value comes from the profile.
    Profile(Field),
    /// A field of the transport's `Config`; its value follows from other keys, in words.
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

    /// The field of the transport's `Config` that the key sets.
    pub fn field(&self) -> Option<&Field> {
        match self {
            Default::Profile(field) | Default::Derived(field, _) => Some(field),
            Default::Required | Default::Toml(_) | Default::Words(_) => None,
        }
    }
}

/// A field of the transport's `Config`.
#[derive(Debug)]
pub(crate) struct Field {
    pub get: fn(&Config) -> Parsed,
    pub set: fn(&mut Config, &Parsed),
}

/// What values a key takes.
#[derive(Debug)]
pub(crate) enum Kind {
    /// Any text.
    Text,
    /// A name of a link, path or competitor.
    Name,
    /// A name, or one with a `*` for a number.
    Pattern,
    /// A trace file.
    Trace,
    /// `true` or `false`.
    Boolean,
    /// A whole number in a range.
    Integer { least: u64, most: u64 },
    /// A number of 32 bits, or `"random"`.
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
    /// One of the words that an algorithm's parameter declares.
    OneOf(&'static [&'static str]),
    /// One of these algorithms, by its name or with parameters.
    Algorithm(Algorithms),
    /// Names of links or paths, each of kind `of`.
    Names { of: &'static Kind, most: usize },
    /// Pairs of times.
    Outages,
    /// A table. Where `short` names one of its keys, that key's value alone may stand for the table.
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
    /// A list of tables; an element may be the value of this key alone.
    Entries {
        shape: &'static Shape,
        short: &'static str,
        most: usize,
    },
    /// A list of tables (`[[link]]`).
    Tables { shape: &'static Shape, most: usize },
}

impl Shape {
    /// The key of this name.
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys().find(|key| key.name == name)
    }

    /// The keys that cannot be given together with this one.
    pub fn excluded_by(&self, name: &str) -> Vec<&'static str> {
        let all = self.alternatives.iter().map(|one| one.keys);
        all.filter(|keys| keys.contains(&name))
            .flatten()
            .copied()
            .filter(|other| *other != name)
            .collect()
    }

    /// All keys.
    pub fn keys(&self) -> impl Iterator<Item = &'static Key> {
        self.keys.iter().copied().flatten()
    }

    /// The names of all keys.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.keys().map(|key| key.name)
    }
}

/// Declares a key.
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

    /// Checks that a table with every default of its keys written out is valid, and the tables in it.
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
                !matches!(section.given().next(), Some((_, Parsed::Wrong))),
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
