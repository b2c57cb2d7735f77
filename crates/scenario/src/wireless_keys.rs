//! Channels and radios as scenario keys with values, for the TOML and JSON writers.

use ropewalk_network::radio::{
    ErrorModel, Nakagami, PerTable, Preamble, Propagation, QueueOrder, RadioConfig, RateControl,
};
use ropewalk_quantities::{Bytes, Rate, Time};
use serde_json::{Map, Value, json};

use crate::keys::{NEVER, NONE, OFF};
use crate::model::Channel;
use crate::parsed::{Packets, ParsedType};

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Setting {
    Text(String),
    Count(u64),
    Switch(bool),
    Packets(u64),
    Number(f64),
    Measure(f64, &'static str),
    Rate(Rate),
    Rates(Vec<Rate>),
    Time(Time),
    Bytes(Bytes),
    Table(Vec<(&'static str, Setting)>),
}

impl Setting {
    fn word(word: &str) -> Setting {
        Setting::Text(word.to_owned())
    }

    /// The value in TOML.
    pub fn toml(&self) -> String {
        match self {
            Setting::Text(text) => toml_edit::Value::from(text).to_string(),
            Setting::Count(count) => count.to_string(),
            Setting::Switch(on) => on.to_string(),
            Setting::Packets(count) => Packets(*count).to_parsed().to_toml(),
            Setting::Number(number) => format!("{number:?}"),
            Setting::Measure(value, unit) => format!("\"{value} {unit}\""),
            Setting::Rate(rate) => rate.to_parsed().to_toml(),
            Setting::Rates(rates) => {
                let rates: Vec<String> = rates
                    .iter()
                    .map(|rate| rate.to_parsed().to_toml())
                    .collect();
                format!("[{}]", rates.join(", "))
            }
            Setting::Time(time) => time.to_parsed().to_toml(),
            Setting::Bytes(bytes) => bytes.to_parsed().to_toml(),
            Setting::Table(keys) => {
                let keys: Vec<String> = keys
                    .iter()
                    .map(|(key, setting)| format!("{key} = {}", setting.toml()))
                    .collect();
                format!("{{ {} }}", keys.join(", "))
            }
        }
    }

    /// The value in base units: seconds, bit/s, bytes, decibels, metres, hertz.
    pub fn json(&self) -> Value {
        match self {
            Setting::Text(text) => json!(text),
            Setting::Count(count) | Setting::Packets(count) => json!(count),
            Setting::Switch(on) => json!(on),
            Setting::Number(number) | Setting::Measure(number, _) => json!(number),
            Setting::Rate(rate) => json!(rate.as_bps()),
            Setting::Rates(rates) => rates.iter().map(|rate| rate.as_bps()).collect(),
            Setting::Time(time) => json!(time.as_secs_f64()),
            Setting::Bytes(bytes) => json!(bytes.as_u64()),
            Setting::Table(keys) => object(keys).into(),
        }
    }
}

pub(crate) fn object(keys: &[(&'static str, Setting)]) -> Map<String, Value> {
    let keys = keys.iter();
    keys.map(|(key, setting)| ((*key).to_owned(), setting.json()))
        .collect()
}

pub(crate) fn of_radio(radio: &RadioConfig) -> Vec<(&'static str, Setting)> {
    let rate = match radio.rate {
        RateControl::Fixed(rate) => Setting::Rate(rate.rate()),
        RateControl::Arf => Setting::word("arf"),
        RateControl::Aarf => Setting::word("aarf"),
        RateControl::Ideal => Setting::word("ideal"),
    };
    let basic = radio.basic_rates.iter().map(|rate| rate.rate()).collect();
    let detection = radio.preamble_detection;
    vec![
        ("standard", Setting::word(radio.standard.name())),
        ("rate", rate),
        ("basic_rates", Setting::Rates(basic)),
        ("tries", Setting::Count(radio.tries.into())),
        ("long_tries", Setting::Count(radio.long_tries.into())),
        (
            "rts",
            match radio.rts {
                None => Setting::word(NEVER),
                Some(size) => Setting::Bytes(Bytes::new(size.into())),
            },
        ),
        (
            "preamble",
            Setting::word(match radio.preamble {
                Preamble::Long => "long",
                Preamble::Short => "short",
            }),
        ),
        ("slot", Setting::Time(radio.slot)),
        ("queue", Setting::Packets(radio.queue_packets.into())),
        (
            "queue_order",
            Setting::word(match radio.queue_order {
                QueueOrder::Fifo => "fifo",
                QueueOrder::RoundRobin => "round-robin",
            }),
        ),
        (
            "lifetime",
            radio.lifetime.map_or(Setting::word(NONE), Setting::Time),
        ),
        ("power", Setting::Measure(radio.power_dbm, "dBm")),
        (
            "antenna_gain",
            Setting::Measure(radio.antenna_gain_db, "dB"),
        ),
        (
            "noise_figure",
            Setting::Measure(radio.noise_figure_db, "dB"),
        ),
        (
            "sensitivity",
            Setting::Measure(radio.sensitivity_dbm, "dBm"),
        ),
        ("sense", Setting::Measure(radio.sense_dbm, "dBm")),
        (
            "preamble_detection",
            detection.map_or(Setting::word(OFF), |of| Setting::Measure(of.sinr_db, "dB")),
        ),
        ("eifs_rate", Setting::Rate(radio.eifs_rate.rate())),
    ]
}

pub(crate) fn of_channel(channel: &Channel) -> Vec<(&'static str, Setting)> {
    let config = &channel.config;
    let mut propagation = of_propagation(&config.propagation);
    if let Some(file) = &channel.matrix_file {
        propagation.push(("file", Setting::Text(file.clone())));
    }
    if let Some(fading) = &config.fading {
        propagation.push(("fading", Setting::Table(of_fading(fading))));
    }
    let capture = config.capture_db;
    vec![
        ("name", Setting::Text(config.name.clone())),
        ("propagation", Setting::Table(propagation)),
        (
            "error_model",
            Setting::Table(of_errors(&config.error_model)),
        ),
        (
            "capture",
            capture.map_or(Setting::word(OFF), |db| Setting::Measure(db, "dB")),
        ),
        (
            "propagation_delay",
            Setting::Switch(config.propagation_delay),
        ),
    ]
}

fn of_propagation(propagation: &Propagation) -> Vec<(&'static str, Setting)> {
    let (model, mut keys) = match propagation {
        Propagation::Friis { frequency_hz } => (
            "friis",
            vec![("frequency", Setting::Measure(*frequency_hz, "Hz"))],
        ),
        Propagation::LogDistance {
            exponent,
            reference_loss_db,
            reference_distance_m,
        } => (
            "log-distance",
            vec![
                ("exponent", Setting::Number(*exponent)),
                ("reference_loss", Setting::Measure(*reference_loss_db, "dB")),
                (
                    "reference_distance",
                    Setting::Measure(*reference_distance_m, "m"),
                ),
            ],
        ),
        Propagation::TwoRay {
            frequency_hz,
            height_m,
        } => (
            "two-ray",
            vec![
                ("frequency", Setting::Measure(*frequency_hz, "Hz")),
                ("height", Setting::Measure(*height_m, "m")),
            ],
        ),
        Propagation::Range { range_m, sense_m } => (
            "range",
            vec![
                ("range", Setting::Measure(*range_m, "m")),
                ("sense", Setting::Measure(*sense_m, "m")),
            ],
        ),
        Propagation::Matrix { .. } => ("matrix", Vec::new()),
    };
    keys.insert(0, ("model", Setting::word(model)));
    keys
}

fn of_fading(fading: &Nakagami) -> Vec<(&'static str, Setting)> {
    let mut keys = vec![("model", Setting::word("nakagami"))];
    let [near, others @ ..] = &fading.bands[..] else {
        return keys;
    };
    let far = others.first().unwrap_or(near);
    keys.push(("m", Setting::Number(near.m)));
    keys.push(("far_m", Setting::Number(far.m)));
    if far.from_m > 0.0 {
        keys.push(("far", Setting::Measure(far.from_m, "m")));
    }
    keys
}

fn of_errors(model: &ErrorModel) -> Vec<(&'static str, Setting)> {
    let word = |model| vec![("model", Setting::word(model))];
    match model {
        ErrorModel::Nist => word("nist"),
        ErrorModel::None => word(NONE),
        ErrorModel::Table(table) => {
            let mut keys = word("table");
            if **table != PerTable::ns3() {
                keys.push(("table", Setting::word(table.name())));
                let frame = Bytes::new(table.frame_bytes().into());
                keys.push(("frame", Setting::Bytes(frame)));
            }
            keys
        }
    }
}
