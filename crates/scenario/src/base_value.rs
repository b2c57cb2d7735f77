//! Numeric value of a key in its base unit.

use ropewalk_network::QueueLimit;
use ropewalk_transport::InitialWindow;

use crate::algorithm;
use crate::document::Node;
use crate::keys::{Kind, Shape, TOP};
use crate::overrides::value;
use crate::parsed::Parsed;

/// Returns the value of an override's text in its base unit: seconds, bit/s, bytes, fractions,
/// decibels, metres, hertz. `None` if the text is no number, has a unit that depends on other keys
/// (packets, bandwidth-delay products), or is invalid for the key.
///
/// ```
/// use ropewalk_scenario::base_value;
///
/// assert_eq!(base_value("link.dsl.delay", "10 ms"), Some(0.01));
/// assert_eq!(base_value("wifi.power", "16 dBm"), Some(16.0));
/// assert_eq!(base_value("transport.scheduler", "blest"), None);
/// ```
#[must_use]
pub fn base_value(path: &str, text: &str) -> Option<f64> {
    let (first, rest) = path
        .split_once('.')
        .map_or((path, None), |(first, rest)| (first, Some(rest)));
    let key = TOP.key(first)?;
    match (&key.kind, rest) {
        (Kind::Tables { shape, .. }, Some(rest)) => within(shape, rest.split_once('.')?.1, text),
        (kind, None) => number(kind, text),
        (Kind::Table { shape, .. }, Some(rest)) => within(shape, rest, text),
        _ => None,
    }
}

fn within(shape: &'static Shape, path: &str, text: &str) -> Option<f64> {
    let (first, rest) = path
        .split_once('.')
        .map_or((path, None), |(first, rest)| (first, Some(rest)));
    match (&shape.key(first)?.kind, rest) {
        (kind, None) => number(kind, text),
        (Kind::Table { shape, .. }, Some(rest)) => within(shape, rest, text),
        (Kind::Algorithm(all), Some(name)) => all()
            .into_iter()
            .filter_map(|description| algorithm::parameter(description, name))
            .find_map(|parameter| number(&algorithm::kind(parameter), text)),
        _ => None,
    }
}

fn number(kind: &Kind, text: &str) -> Option<f64> {
    if let Kind::Table { shape, short } = kind {
        return number(&shape.key((*short)?)?.kind, text);
    }
    match kind.read(&Node::from_override(value(text, false))).ok()? {
        Parsed::Integer(number) => Some(number as f64),
        Parsed::Number(number) => Some(number),
        Parsed::Time(time) => Some(time.as_secs_f64()),
        Parsed::Rate(rate) => Some(rate.as_bps() as f64),
        Parsed::Bytes(bytes) => Some(bytes.as_u64() as f64),
        Parsed::Window(InitialWindow::Bytes(bytes)) | Parsed::Queue(QueueLimit::Bytes(bytes)) => {
            Some(bytes.as_u64() as f64)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example(kind: &Kind) -> Option<(String, f64)> {
        Some(match kind {
            Kind::Integer { least, .. } => (least.to_string(), *least as f64),
            Kind::SequenceNumber => ("7".to_owned(), 7.0),
            Kind::Share => ("0.5".to_owned(), 0.5),
            Kind::Number { least, .. } => (format!("{least:?}"), *least),
            Kind::Time { most, .. } => (most.to_string(), most.as_secs_f64()),
            Kind::Rate | Kind::Capacity => ("5 Mbit/s".to_owned(), 5e6),
            Kind::Bytes { most, .. } => (most.to_string(), most.as_u64() as f64),
            Kind::BytesOrUnlimited | Kind::Window | Kind::PacketBuffer | Kind::Queue => {
                ("2 KiB".to_owned(), 2048.0)
            }
            Kind::Probability => ("2 %".to_owned(), 0.02),
            Kind::Measure(measure) => (measure.write(measure.most), measure.most),
            Kind::Either { kind, .. } => return example(kind),
            Kind::Table { shape, short } => return example(&shape.key((*short)?)?.kind),
            _ => return None,
        })
    }

    /// Checks all keys with numeric values, and collects their paths.
    fn check(shape: &'static Shape, path: &str, checked: &mut Vec<String>) {
        for key in shape.keys() {
            let path = format!("{path}{}", key.name);
            if let Some((text, base)) = example(&key.kind) {
                assert_eq!(base_value(&path, &text), Some(base), "{path} = {text}");
                checked.push(path.clone());
            }
            match &key.kind {
                Kind::Table { shape, .. } => check(shape, &format!("{path}."), checked),
                Kind::Tables { shape, .. } => check(shape, &format!("{path}.name."), checked),
                Kind::Algorithm(all) => {
                    for parameter in all().into_iter().flat_map(|one| one.parameters) {
                        let path = format!("{path}.{}", parameter.name);
                        if let Some((text, base)) = example(&algorithm::kind(parameter)) {
                            assert_eq!(base_value(&path, &text), Some(base), "{path} = {text}");
                            checked.push(path);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    #[test]
    fn every_key_that_is_a_number_has_one_in_base_units() {
        let mut checked = Vec::new();
        check(&TOP, "", &mut checked);
        for known in [
            "duration",
            "link.name.loss",
            "link.name.loss.p",
            "link.name.reverse.rate",
            "wifi.power",
            "channel.name.propagation.frequency",
            "transport.scheduler.lambda",
            "traffic.deadline",
        ] {
            assert!(
                checked.iter().any(|path| path == known),
                "{known}: {checked:?}"
            );
        }
    }

    #[test]
    fn non_numeric_key_has_no_base_value() {
        for (path, text) in [
            ("title", "5"),
            ("link.dsl.rate", "unlimited"),
            ("link.dsl.queue", "1 bdp"),
            ("link.dsl.queue", "5 packets"),
            ("link.dsl.down", "[]"),
            ("link.dsl.delay", "soon"),
            ("link.dsl.dealy", "5 ms"),
            ("link", "5"),
            ("link.dsl", "5"),
            ("transport.congestion", "lia"),
            ("transport.sack", "true"),
            ("transport.scheduler.nothing", "1"),
        ] {
            assert_eq!(base_value(path, text), None, "{path} = {text}");
        }
    }
}
