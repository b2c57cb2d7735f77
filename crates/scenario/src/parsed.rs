//! A parsed value, valid by itself but not yet checked against other keys.

use ropewalk_network::{Capacity, Outage, QueueLimit};
use ropewalk_quantities::{Bytes, Rate, Time};
use ropewalk_transport::algorithm::Value;
use ropewalk_transport::{InitialWindow, IpVersion, Profile};

use crate::algorithm_ref::{AlgorithmRef, NAME};
use crate::model::{Device, Quality, ThinkDistribution, WifiProfile};

/// Quality choice by the player's buffer level.
pub(crate) const BOLA: &str = "bola";
/// Word for a random sequence number.
pub(crate) const RANDOM: &str = "random";

/// A number of packets, whose length another key sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Packets(pub u64);

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Items<T>(pub Vec<T>);

#[derive(Clone, Debug)]
pub(crate) enum Parsed {
    Text(String),
    Boolean(bool),
    Integer(u64),
    Number(f64),
    Time(Time),
    Rate(Rate),
    Bytes(Bytes),
    Unlimited,
    Random,
    Window(InitialWindow),
    Packets(Packets),
    Queue(QueueLimit),
    Algorithm(AlgorithmRef),
    Names(Vec<String>),
    Outages(Vec<Outage>),
    List(Vec<Parsed>),
    Invalid,
}

impl Parsed {
    /// The value in TOML, for fields of the transport's `Config`.
    pub fn to_toml(&self) -> String {
        match self {
            Parsed::Text(text) => format!("{text:?}"),
            Parsed::Boolean(value) => value.to_string(),
            Parsed::Integer(number) => number.to_string(),
            Parsed::Number(number) => format!("{number:?}"),
            Parsed::Time(time) => format!("\"{time}\""),
            Parsed::Rate(rate) => format!("\"{rate}\""),
            Parsed::Bytes(bytes) => format!("\"{bytes}\""),
            Parsed::Unlimited => "\"unlimited\"".to_owned(),
            Parsed::Random => format!("{RANDOM:?}"),
            Parsed::Window(InitialWindow::Segments(count)) => packets(u64::from(*count)),
            Parsed::Window(InitialWindow::Bytes(bytes)) => format!("\"{bytes}\""),
            Parsed::Packets(Packets(count)) => packets(*count),
            Parsed::Queue(QueueLimit::Packets(count)) => packets(*count),
            Parsed::Queue(QueueLimit::Bytes(bytes)) => format!("\"{bytes}\""),
            Parsed::Queue(QueueLimit::Bdp(factor)) => format!("\"{factor} bdp\""),
            Parsed::Algorithm(chosen) => algorithm_to_toml(chosen),
            Parsed::Names(names) => format!("{names:?}"),
            Parsed::Outages(outages) => {
                let pair = |outage: &Outage| format!("[\"{}\", \"{}\"]", outage.start, outage.end);
                format!(
                    "[{}]",
                    outages.iter().map(pair).collect::<Vec<_>>().join(", ")
                )
            }
            Parsed::List(items) => {
                let items: Vec<String> = items.iter().map(Parsed::to_toml).collect();
                format!("[{}]", items.join(", "))
            }
            Parsed::Invalid => String::new(),
        }
    }
}

fn packets(count: u64) -> String {
    let unit = if count == 1 { "packet" } else { "packets" };
    format!("\"{count} {unit}\"")
}

fn algorithm_to_toml(chosen: &AlgorithmRef) -> String {
    if chosen.parameters.is_empty() {
        return format!("{:?}", chosen.name);
    }
    let mut keys = vec![format!("{NAME} = {:?}", chosen.name)];
    let named = chosen.parameters.iter();
    keys.extend(named.map(|(name, value)| format!("{name} = {}", Parsed::from(*value).to_toml())));
    format!("{{ {} }}", keys.join(", "))
}

impl From<Value> for Parsed {
    fn from(value: Value) -> Parsed {
        match value {
            Value::Number(number) => Parsed::Number(number),
            Value::Integer(number) => Parsed::Integer(number),
            Value::Boolean(value) => Parsed::Boolean(value),
            Value::Time(time) => Parsed::Time(time),
            Value::Word(word) => Parsed::Text(word.to_owned()),
        }
    }
}

pub(crate) trait ParsedType: Sized {
    fn from_parsed(parsed: &Parsed) -> Option<Self>;
    fn to_parsed(&self) -> Parsed;
}

macro_rules! held {
    ($($type:ty: $variant:ident,)*) => {$(
        impl ParsedType for $type {
            fn from_parsed(parsed: &Parsed) -> Option<Self> {
                match parsed {
                    Parsed::$variant(value) => Some(value.clone()),
                    _ => None,
                }
            }
            fn to_parsed(&self) -> Parsed {
                Parsed::$variant(self.clone())
            }
        }
    )*};
}

held! {
    String: Text,
    bool: Boolean,
    u64: Integer,
    f64: Number,
    Time: Time,
    Rate: Rate,
    Bytes: Bytes,
    InitialWindow: Window,
    Packets: Packets,
    QueueLimit: Queue,
    Vec<String>: Names,
    Vec<Outage>: Outages,
}

macro_rules! named {
    ($($type:ty,)*) => {$(
        impl ParsedType for $type {
            fn from_parsed(parsed: &Parsed) -> Option<Self> {
                match parsed {
                    Parsed::Text(name) => <$type>::from_name(name),
                    _ => None,
                }
            }
            fn to_parsed(&self) -> Parsed {
                Parsed::Text(self.name().to_owned())
            }
        }
    )*};
}

named! {
    Device, Profile, IpVersion, WifiProfile, ThinkDistribution,
}

impl<T: ParsedType> ParsedType for Items<T> {
    fn from_parsed(parsed: &Parsed) -> Option<Items<T>> {
        let Parsed::List(items) = parsed else {
            return None;
        };
        let items: Option<Vec<T>> = items.iter().map(T::from_parsed).collect();
        items.map(Items)
    }
    fn to_parsed(&self) -> Parsed {
        Parsed::List(self.0.iter().map(T::to_parsed).collect())
    }
}

impl ParsedType for u32 {
    fn from_parsed(parsed: &Parsed) -> Option<u32> {
        u64::from_parsed(parsed).and_then(|number| number.try_into().ok())
    }
    fn to_parsed(&self) -> Parsed {
        Parsed::Integer(u64::from(*self))
    }
}

impl ParsedType for Option<Bytes> {
    fn from_parsed(parsed: &Parsed) -> Option<Option<Bytes>> {
        match parsed {
            Parsed::Bytes(bytes) => Some(Some(*bytes)),
            Parsed::Unlimited => Some(None),
            _ => None,
        }
    }
    fn to_parsed(&self) -> Parsed {
        self.map_or(Parsed::Unlimited, Parsed::Bytes)
    }
}

impl ParsedType for Option<u32> {
    fn from_parsed(parsed: &Parsed) -> Option<Option<u32>> {
        match parsed {
            Parsed::Random => Some(None),
            other => u32::from_parsed(other).map(Some),
        }
    }
    fn to_parsed(&self) -> Parsed {
        self.map_or(Parsed::Random, |number| Parsed::Integer(u64::from(number)))
    }
}

impl ParsedType for Quality {
    fn from_parsed(parsed: &Parsed) -> Option<Quality> {
        match parsed {
            Parsed::Text(word) if word == BOLA => Some(Quality::Bola),
            other => u32::from_parsed(other).map(Quality::Fixed),
        }
    }
    fn to_parsed(&self) -> Parsed {
        match self {
            Quality::Bola => Parsed::Text(BOLA.to_owned()),
            Quality::Fixed(quality) => Parsed::Integer(u64::from(*quality)),
        }
    }
}

/// From a rate; a trace needs its file.
impl ParsedType for Capacity {
    fn from_parsed(parsed: &Parsed) -> Option<Capacity> {
        match parsed {
            Parsed::Rate(rate) => Some(Capacity::Rate(*rate)),
            Parsed::Unlimited => Some(Capacity::Unlimited),
            _ => None,
        }
    }
    fn to_parsed(&self) -> Parsed {
        match self {
            Capacity::Rate(rate) => Parsed::Rate(*rate),
            Capacity::Unlimited => Parsed::Unlimited,
            Capacity::Trace(trace) => Parsed::Text(trace.name.clone()),
        }
    }
}
