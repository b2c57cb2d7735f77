//! Rows of tests/reference/wifi/ns3-wifi.csv, grouped over seeds.

use std::collections::HashMap;
use std::sync::Arc;

use ropewalk_quantities::Time;

use super::fixture::{at_rate, log_distance, range};
use crate::radio::{
    ChannelConfig, DataRate, ErrorModel, PerTable, RadioConfig, RateControl, Standard,
};

#[derive(Clone)]
pub(crate) struct Row(HashMap<&'static str, &'static str>);

impl Row {
    pub(crate) fn text(&self, column: &str) -> &'static str {
        self.0[column]
    }

    pub(crate) fn number(&self, column: &str) -> f64 {
        self.text(column).parse().unwrap()
    }

    /// Identity of the row.
    pub(crate) fn name(&self) -> String {
        let columns = [
            "tag",
            "std",
            "mode",
            "n_stations",
            "ack_mode",
            "rts_threshold_B",
        ];
        columns.map(|column| self.text(column)).join(" ")
    }

    pub(crate) fn rate(&self) -> DataRate {
        let digits = self
            .text("mode")
            .trim_start_matches(|c: char| !c.is_ascii_digit());
        let mbps = digits.trim_end_matches("Mbps").replace('_', ".");
        let mut rates = self.standard().adaptive_rates().iter().copied();
        rates
            .find(|rate| rate.to_string() == format!("{mbps} Mbit/s"))
            .unwrap()
    }

    fn standard(&self) -> Standard {
        format!("802.11{}", self.text("std")).parse().unwrap()
    }
}

/// Runs that differ only in their seed.
pub(crate) struct Group {
    pub(crate) row: Row,
    pub(crate) senders: usize,
    rows: Vec<Row>,
}

impl Group {
    pub(crate) fn mean(&self, of: impl Fn(&Row) -> f64) -> f64 {
        self.rows.iter().map(of).sum::<f64>() / self.rows.len() as f64
    }

    /// Mbit/s of application bytes.
    pub(crate) fn goodput(&self) -> f64 {
        self.mean(|row| row.number("goodput_mbps"))
    }

    /// Failure ratio of attempts: of the RTS, if data has one.
    pub(crate) fn failures(&self) -> f64 {
        self.mean(|row| {
            let (timeouts, frames) = (row.number("timeouts"), row.number("data_frames"));
            if row.text("rts_threshold_B") == "none" {
                timeouts / frames
            } else {
                timeouts / (frames + timeouts)
            }
        })
    }

    pub(crate) fn channel(&self) -> ChannelConfig {
        let parameter = self.row.number("exponent_or_range_m");
        let channel = match self.row.text("loss_model") {
            "range" => range(parameter),
            _ => log_distance(parameter),
        };
        ChannelConfig {
            error_model: if self.row.text("error_model").starts_with("table") {
                ErrorModel::Table(Arc::new(PerTable::ns3()))
            } else {
                ErrorModel::Nist
            },
            ..channel
        }
    }
}

pub(crate) fn config(row: &Row) -> RadioConfig {
    let standard = row.standard();
    let mut config = at_rate(standard, row.rate());
    config.rate = RateControl::Fixed(row.rate());
    if row.text("ack_mode") == "1 Mbit/s" {
        config.basic_rates = vec![DataRate::Dsss1];
    }
    config.tries = row.number("tries_limit") as u8;
    config.long_tries = config.tries;
    config.rts = match row.text("rts_threshold_B") {
        "none" => None,
        "all frames" => Some(0),
        bytes => Some(bytes.parse().unwrap()),
    };
    config.slot = Time::from_micros(row.number("slot_us") as u64);
    config.queue_packets = row.number("mac_queue_pkts") as u32;
    config.lifetime = Some(Time::from_millis(row.number("queue_lifetime_ms") as u64));
    config.sensitivity_dbm = -82.0;
    config
}

/// Returns all groups with these tags, in file order.
pub(crate) fn groups(tags: &[&str]) -> Vec<Group> {
    let text = include_str!("../../../../../tests/reference/wifi/ns3-wifi.csv");
    let mut lines = text.lines();
    let columns: Vec<&str> = lines.next().unwrap().split(',').collect();
    let settings = columns.iter().position(|column| *column == "seed").unwrap();
    let mut groups: Vec<(Vec<&str>, Group)> = Vec::new();
    for line in lines {
        let fields = fields(line);
        if !tags.contains(&fields[0]) {
            continue;
        }
        let row = Row(columns
            .iter()
            .copied()
            .zip(fields.iter().copied())
            .collect());
        let key = fields[..settings].to_vec();
        match groups.iter_mut().find(|(of, _)| *of == key) {
            Some((_, group)) => group.rows.push(row),
            None => groups.push((
                key,
                Group {
                    senders: row.number("n_stations") as usize,
                    row: row.clone(),
                    rows: vec![row],
                },
            )),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// Returns the fields of a line, some of them quoted.
fn fields(line: &'static str) -> Vec<&'static str> {
    let mut fields = Vec::new();
    let mut rest = line;
    loop {
        let quoted = rest
            .strip_prefix('"')
            .and_then(|inner| inner.split_once('"'));
        let (field, after) = match quoted {
            Some((field, after)) => (field, after.strip_prefix(',')),
            None => match rest.split_once(',') {
                Some((field, after)) => (field, Some(after)),
                None => (rest, None),
            },
        };
        fields.push(field);
        match after {
            Some(after) => rest = after,
            None => return fields,
        }
    }
}
