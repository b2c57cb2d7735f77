//! Parsing of a node as a value of its key's kind.

use std::collections::HashSet;
use std::str::FromStr;

use ropewalk_network::{Outage, QueueLimit};
use ropewalk_quantities::{
    Bytes, Decimal, QuantityError, QuantityProblem, Rate, Time, parse_probability, percentage,
};
use ropewalk_transport::InitialWindow;

use crate::algorithm_ref::{AlgorithmRef, names as names_of};
use crate::document::{Node, Value};
use crate::error::Problem;
use crate::keys::Kind;
use crate::limits;
use crate::model::Protocol;
use crate::numbered::STAR;
use crate::parsed::{Packets, Parsed, RANDOM};
use crate::suggest::nearest;

#[derive(Debug)]
pub(crate) struct InvalidValue {
    pub problem: Problem,
    pub suggestion: Option<String>,
}

impl From<Problem> for InvalidValue {
    fn from(problem: Problem) -> InvalidValue {
        InvalidValue {
            problem,
            suggestion: None,
        }
    }
}

impl Kind {
    /// Reads a value; [`Section`](crate::section::Section) reads tables.
    pub fn read(&self, node: &Node) -> Result<Parsed, InvalidValue> {
        Ok(match self {
            Kind::Text => {
                let text = text(node)?;
                if text.chars().count() > limits::MAX_TITLE_CHARS {
                    let most = format!("{} characters", limits::MAX_TITLE_CHARS);
                    return Err(Problem::AboveMost(most).into());
                }
                Parsed::Text(text.to_owned())
            }
            Kind::Trace => match text(node)? {
                "" => return Err(Problem::Empty.into()),
                name => Parsed::Text(name.to_owned()),
            },
            Kind::Name => match text(node)? {
                name if is_name(name) => Parsed::Text(name.to_owned()),
                _ => return Err(Problem::BadName.into()),
            },
            Kind::Word(words) => word(text(node)?, &words())?,
            Kind::OneOf(words) => word(text(node)?, words)?,
            Kind::Algorithm(all) => match word(text(node)?, &names_of(*all))? {
                Parsed::Text(name) => Parsed::Algorithm(AlgorithmRef {
                    name,
                    parameters: Vec::new(),
                }),
                other => other,
            },
            Kind::Boolean => match node.value {
                Value::Boolean(value) => Parsed::Boolean(value),
                _ => return Err(wrong_type(node)),
            },
            Kind::Integer { least, most } => match node.value {
                Value::Integer(number) => Parsed::Integer(integer(number, *least, *most)?),
                _ => return Err(wrong_type(node)),
            },
            Kind::SequenceNumber => match node.value {
                Value::Integer(number) => Parsed::Integer(integer(number, 0, u64::from(u32::MAX))?),
                _ if node.text() == Some(RANDOM) => Parsed::Random,
                Value::Text(_) => return Err(Problem::UnknownWord.into()),
                _ => return Err(wrong_type(node)),
            },
            Kind::Number { least, most } => match number(node)? {
                number if number < *least => {
                    return Err(Problem::BelowLeast(least.to_string()).into());
                }
                number if number > *most => {
                    return Err(Problem::AboveMost(most.to_string()).into());
                }
                number => Parsed::Number(number),
            },
            Kind::Share => match number(node)? {
                number if number <= 0.0 => return Err(Problem::NotPositive.into()),
                number if number > 1.0 => return Err(Problem::AboveMost("1".to_owned()).into()),
                number => Parsed::Number(number),
            },
            Kind::Probability => Parsed::Number(probability(node)?),
            Kind::Time { least, most } => Parsed::Time(within(quantity(node)?, *least, *most)?),
            Kind::Rate => Parsed::Rate(rate(node)?),
            Kind::Capacity if is_unlimited(node) => Parsed::Unlimited,
            Kind::Capacity => Parsed::Rate(rate(node)?),
            Kind::Bytes { least, most } => Parsed::Bytes(within(quantity(node)?, *least, *most)?),
            Kind::BytesOrUnlimited if is_unlimited(node) => Parsed::Unlimited,
            Kind::BytesOrUnlimited => {
                let least = Bytes::new(1);
                Parsed::Bytes(within(quantity(node)?, least, limits::LARGEST_BUFFER)?)
            }
            Kind::Window => Parsed::Window(window(node)?),
            Kind::PacketBuffer => packet_buffer(node)?,
            Kind::Queue => Parsed::Queue(queue(node)?),
            Kind::Pattern => match text(node)? {
                name if is_pattern(name) => Parsed::Text(name.to_owned()),
                _ => return Err(Problem::BadName.into()),
            },
            Kind::Names { of, most } => Parsed::Names(names(node, of, *most)?),
            Kind::Outages => Parsed::Outages(outages(node)?),
            Kind::Measure(measure) => Parsed::Number(measure.read(text(node)?)?),
            Kind::Either { words, kind } => match node.text() {
                Some(word) if words.contains(&word) => Parsed::Text(word.to_owned()),
                _ => kind.read(node)?,
            },
            Kind::List { of, least, most } => list(node, of, *least, *most)?,
            Kind::Table { .. } | Kind::Tables { .. } | Kind::Entries { .. } => {
                return Err(wrong_type(node));
            }
        })
    }

    /// Allowed values, for error messages.
    pub fn allowed(&self) -> String {
        match self {
            Kind::Text => "a text".to_owned(),
            Kind::Name => format!(
                r#"a name of 1 to {} characters without "/", "." and "*""#,
                limits::MAX_NAME_CHARS
            ),
            Kind::Pattern => format!(
                r#"a name of 1 to {} characters without "/" and ".", in which one "*" may replace a number"#,
                limits::MAX_NAME_CHARS
            ),
            Kind::Trace => "a trace file's name".to_owned(),
            Kind::Boolean => "true or false".to_owned(),
            Kind::Integer { least, most } => format!("a whole number from {least} to {most}"),
            Kind::SequenceNumber => {
                format!(r#"a whole number from 0 to {}, or "{RANDOM}""#, u32::MAX)
            }
            Kind::Number { least, most } => format!("a number from {least} to {most}"),
            Kind::Share => "a number above 0, at most 1".to_owned(),
            Kind::Time { .. } => Time::ALLOWED.to_owned(),
            Kind::Rate => Rate::ALLOWED.to_owned(),
            Kind::Capacity => format!(r#"{}, or "unlimited""#, Rate::ALLOWED),
            Kind::Bytes { .. } => Bytes::ALLOWED.to_owned(),
            Kind::BytesOrUnlimited => format!(r#"{}, or "unlimited""#, Bytes::ALLOWED),
            Kind::Window => r#"packets or a size, such as "10 packets" or "5360 B""#.to_owned(),
            Kind::PacketBuffer => {
                r#"packets or a size, such as "50 packets" or "100 KiB""#.to_owned()
            }
            Kind::Queue => {
                r#"packets, a size or a multiple of the bdp, such as "100 packets", "64 KiB" or "1 bdp""#
                    .to_owned()
            }
            Kind::Probability => {
                r#"a percentage such as "0.1 %""#.to_owned()
            }
            Kind::Word(words) => quoted(words()),
            Kind::OneOf(words) => quoted(words.iter().copied()),
            Kind::Algorithm(all) => quoted(names_of(*all)),
            Kind::Names { of: Kind::Pattern, .. } => {
                r#"a list of names such as ["wifi", "lte"], or of all that are numbered, such as ["access-*"]"#
                    .to_owned()
            }
            Kind::Names { .. } => r#"a list of names such as ["wifi", "lte"]"#.to_owned(),
            Kind::Outages => {
                r#"a list of pairs of times such as [["5 s", "10 s"]]"#.to_owned()
            }
            Kind::Table { shape, short: None } => {
                format!("a table of {}", shape.names().collect::<Vec<_>>().join(", "))
            }
            Kind::Table {
                shape,
                short: Some(short),
            } => {
                let alone = shape.key(short).map_or(String::new(), |key| key.kind.allowed());
                let keys = shape.names().collect::<Vec<_>>().join(", ");
                format!("{alone}, or a table of {keys}")
            }
            Kind::Measure(measure) => measure.allowed(),
            Kind::Either { words, kind } => format!("{}, or {}", quoted(words.iter().copied()), kind.allowed()),
            Kind::List { of, least, most } => format!("a list of {least} to {most}, each {}", of.allowed()),
            Kind::Entries { shape, short, .. } => {
                let alone = shape.key(short).map_or(String::new(), |key| key.kind.allowed());
                let keys = shape.names().collect::<Vec<_>>().join(", ");
                format!("a list, each {alone}, or a table of {keys}")
            }
            Kind::Tables { .. } => "tables".to_owned(),
        }
    }
}

/// Quotes and joins: `"tcp", "mptcp"`.
pub(crate) fn quoted<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let quoted: Vec<String> = words.into_iter().map(|word| format!("{word:?}")).collect();
    quoted.join(", ")
}

fn is_name(name: &str) -> bool {
    (1..=limits::MAX_NAME_CHARS).contains(&name.chars().take(1_000).count())
        && name.trim() == name
        && !name.contains(|c: char| matches!(c, '/' | '.' | '*') || c.is_control())
}

/// A name in which one star may represent a number.
fn is_pattern(name: &str) -> bool {
    is_name(&name.replacen(STAR, "0", 1))
}

fn text(node: &Node) -> Result<&str, InvalidValue> {
    node.text().ok_or_else(|| wrong_type(node))
}

fn wrong_type(node: &Node) -> InvalidValue {
    let found = node.type_name();
    Problem::WrongType { found }.into()
}

fn negative() -> InvalidValue {
    Problem::Quantity(QuantityProblem::Negative).into()
}

fn word(word: &str, words: &[&'static str]) -> Result<Parsed, InvalidValue> {
    let mut aliases = Protocol::ALIASES.iter();
    let alias = aliases.find(|(alias, name)| *alias == word && words.contains(name));
    let word = alias.map_or(word, |(_, name)| name);
    if words.contains(&word) {
        return Ok(Parsed::Text(word.to_owned()));
    }
    Err(InvalidValue {
        problem: Problem::UnknownWord,
        suggestion: nearest(word, words.iter().copied()),
    })
}

fn integer(number: i64, least: u64, most: u64) -> Result<u64, InvalidValue> {
    match u64::try_from(number) {
        Ok(number) if number > most => Err(Problem::AboveMost(most.to_string()).into()),
        Ok(number) if number >= least => Ok(number),
        _ => Err(Problem::BelowLeast(least.to_string()).into()),
    }
}

fn number(node: &Node) -> Result<f64, InvalidValue> {
    match node.value {
        Value::Integer(number) => Ok(number as f64),
        Value::Float(number) if number.is_finite() => Ok(number),
        Value::Float(_) => Err(Problem::NotFinite.into()),
        _ => Err(wrong_type(node)),
    }
}

/// A percentage. A bare number other than zero is ambiguous: 0.5 may be 0.5 % or 50 %.
fn probability(node: &Node) -> Result<f64, InvalidValue> {
    let bare = match &node.value {
        Value::Text(text) => match parse_probability(text).map_err(|error| error.problem) {
            Ok(probability) => return Ok(probability),
            Err(QuantityProblem::TooLarge) => {
                return Err(Problem::AboveMost("100 %".to_owned()).into());
            }
            Err(QuantityProblem::MissingUnit) => split(node)?.0.to_f64(0),
            Err(problem) => return Err(Problem::Quantity(problem).into()),
        },
        _ => number(node)?,
    };
    match bare {
        bare if bare < 0.0 => Err(negative()),
        0.0 => Ok(0.0),
        bare => Err(Problem::NoPercentage {
            percentage: format!("{bare} %"),
            share: (bare <= 1.0).then(|| percentage(bare)),
        }
        .into()),
    }
}

fn quantity<Q: FromStr<Err = QuantityError>>(node: &Node) -> Result<Q, InvalidValue> {
    let text = match &node.value {
        Value::Text(text) => text,
        Value::Integer(0) => "0",
        Value::Integer(number) if *number < 0 => return Err(negative()),
        Value::Integer(_) | Value::Float(_) => {
            return Err(Problem::Quantity(QuantityProblem::MissingUnit).into());
        }
        _ => return Err(wrong_type(node)),
    };
    text.parse()
        .map_err(|error: QuantityError| Problem::Quantity(error.problem).into())
}

fn within<Q: PartialOrd + std::fmt::Display>(
    value: Q,
    least: Q,
    most: Q,
) -> Result<Q, InvalidValue> {
    if value < least {
        Err(Problem::BelowLeast(least.to_string()).into())
    } else if value > most {
        Err(Problem::AboveMost(most.to_string()).into())
    } else {
        Ok(value)
    }
}

fn rate(node: &Node) -> Result<Rate, InvalidValue> {
    let rate = quantity(node)?;
    if rate == Rate::from_bps(0) {
        return Err(Problem::NotPositive.into());
    }
    within(rate, Rate::from_bps(1), limits::FASTEST)
}

fn is_unlimited(node: &Node) -> bool {
    node.text() == Some("unlimited")
}

fn split(node: &Node) -> Result<(Decimal, &str), InvalidValue> {
    match Decimal::split(text(node)?) {
        Ok(split) => Ok(split),
        Err(problem) => Err(Problem::Quantity(problem).into()),
    }
}

fn window(node: &Node) -> Result<InitialWindow, InvalidValue> {
    Ok(
        match packets(node, &["packets", "packet", "segments", "segment"])? {
            Some(count) => InitialWindow::Segments(count),
            None => InitialWindow::Bytes(buffer(node)?),
        },
    )
}

fn packet_buffer(node: &Node) -> Result<Parsed, InvalidValue> {
    Ok(match packets(node, &["packets", "packet"])? {
        Some(count) => Parsed::Packets(Packets(u64::from(count))),
        None => Parsed::Bytes(buffer(node)?),
    })
}

fn buffer(node: &Node) -> Result<Bytes, InvalidValue> {
    within(quantity(node)?, Bytes::new(1), limits::LARGEST_BUFFER)
}

fn packets(node: &Node, units: &[&str]) -> Result<Option<u32>, InvalidValue> {
    let (count, unit) = match &node.value {
        Value::Text(_) => split(node)?,
        _ => (Decimal::ZERO, ""),
    };
    if !units.contains(&unit) {
        return Ok(None);
    }
    match count.as_whole() {
        None => Err(Problem::NotWhole.into()),
        Some(0) => Err(Problem::NotPositive.into()),
        Some(count) => match u32::try_from(count) {
            Ok(count) if count <= 100_000 => Ok(Some(count)),
            _ => Err(Problem::AboveMost("100000 packets".to_owned()).into()),
        },
    }
}

fn queue(node: &Node) -> Result<QueueLimit, InvalidValue> {
    if !matches!(node.value, Value::Text(_)) {
        return quantity(node).map(QueueLimit::Bytes);
    }
    let (count, unit) = split(node)?;
    match unit {
        "packets" | "packet" => match count.as_whole() {
            None => Err(Problem::NotWhole.into()),
            Some(count) => within(count, 0, limits::MAX_QUEUED)
                .map(QueueLimit::Packets)
                .map_err(|_| Problem::AboveMost(format!("{} packets", limits::MAX_QUEUED)).into()),
        },
        "bdp" => match count.to_f64(0) {
            factor if factor > 1e6 => Err(Problem::AboveMost("1000000 bdp".to_owned()).into()),
            factor => Ok(QueueLimit::Bdp(factor)),
        },
        _ => {
            let bytes = within(quantity(node)?, Bytes::new(0), limits::LARGEST_BUFFER)?;
            Ok(QueueLimit::Bytes(bytes))
        }
    }
}

fn list(node: &Node, of: &Kind, least: usize, most: usize) -> Result<Parsed, InvalidValue> {
    let Value::List(items) = &node.value else {
        return Err(wrong_type(node));
    };
    if items.len() < least {
        return Err(Problem::BelowLeast(format!("{least} entries")).into());
    }
    if items.len() > most {
        return Err(Problem::TooMany(most).into());
    }
    let items: Result<Vec<Parsed>, InvalidValue> = items.iter().map(|item| of.read(item)).collect();
    Ok(Parsed::List(items?))
}

fn names(node: &Node, of: &Kind, most: usize) -> Result<Vec<String>, InvalidValue> {
    let Value::List(items) = &node.value else {
        return Err(wrong_type(node));
    };
    if items.is_empty() {
        return Err(Problem::Empty.into());
    }
    if items.len() > most {
        return Err(Problem::TooMany(most).into());
    }
    let mut names = Vec::new();
    let mut taken = HashSet::new();
    for item in items {
        let name = text(item)?;
        if name.contains(STAR) {
            of.read(item)?;
        }
        if !taken.insert(name) {
            return Err(
                Problem::Repeated(name.chars().take(limits::MAX_NAME_CHARS).collect()).into(),
            );
        }
        names.push(name.to_owned());
    }
    Ok(names)
}

fn outages(node: &Node) -> Result<Vec<Outage>, InvalidValue> {
    let Value::List(items) = &node.value else {
        return Err(wrong_type(node));
    };
    if items.len() > limits::MAX_OUTAGES {
        return Err(Problem::TooMany(limits::MAX_OUTAGES).into());
    }
    let mut outages = Vec::new();
    for item in items {
        let Value::List(pair) = &item.value else {
            return Err(Problem::NotAPair.into());
        };
        let [start, end] = pair.as_slice() else {
            return Err(Problem::NotAPair.into());
        };
        let start = within(quantity(start)?, Time::ZERO, limits::LONGEST)?;
        let end = within(quantity(end)?, Time::ZERO, limits::LONGEST)?;
        if end <= start {
            return Err(Problem::EmptyOutage.into());
        }
        outages.push(Outage { start, end });
    }
    outages.sort_by_key(|outage| outage.start);
    if outages.windows(2).any(|pair| pair[1].start < pair[0].end) {
        return Err(Problem::Overlap.into());
    }
    Ok(outages)
}
