//! Resolution of `[[channel]]` and `[[node]]`: channels and radios.

use std::sync::Arc;

use ropewalk_network::radio::{
    ChannelConfig, ErrorModel, FadingBand, Nakagami, PerTable, Propagation, RadioConfig, Standard,
    distance_m, too_far,
};
use ropewalk_quantities::Bytes;

use super::Traces;
use super::radios::Wifi;
use crate::error::Problem;
use crate::keys::{NONE, OFF};
use crate::model::{Channel, Node, WifiProfile};
use crate::parsed::Items;
use crate::report::Report;
use crate::section::{Section, name_list};

pub(super) fn channels(
    sections: &[Section],
    wifi: &Wifi,
    traces: &mut Traces,
    report: &mut Report,
) -> Vec<Channel> {
    let mut channels: Vec<Channel> = Vec::new();
    for section in sections {
        let name: String = section.get("name").unwrap_or_default();
        if !name.is_empty() && channels.iter().any(|other| other.config.name == name) {
            section.add_error("name", Problem::Duplicate("channel"), report);
        }
        let given = section.table("propagation");
        let usual = section.default_table("propagation");
        let propagation = given.unwrap_or(&usual);
        let is_range = propagation.get::<String>("model").as_deref() == Some("range");
        let fading = propagation.table("fading").and_then(fading);
        if fading.is_some() && is_range {
            let problem = Problem::Incompatible("a disk has no power that could vary".to_owned());
            propagation.add_error("fading", problem, report).allowed =
                Some("fading with another model of propagation".to_owned());
        }
        channels.push(Channel {
            config: ChannelConfig {
                name,
                propagation: self::propagation(propagation, report),
                fading,
                error_model: error_model(section.table("error_model"), wifi, traces, report),
                capture_db: match section.get::<String>("capture").as_deref() {
                    Some(OFF) => None,
                    _ => section.get("capture"),
                },
                propagation_delay: section.value("propagation_delay"),
            },
            radios: Vec::new(),
            matrix_file: propagation.get("file"),
        });
    }
    channels
}

/// The losses of a matrix are read later, when the radios are known.
fn propagation(section: &Section, report: &mut Report) -> Propagation {
    let model: String = section
        .get("model")
        .unwrap_or_else(|| "log-distance".to_owned());
    let of = [
        ("exponent", "log-distance"),
        ("reference_loss", "log-distance"),
        ("reference_distance", "log-distance"),
        ("frequency", "friis two-ray"),
        ("height", "two-ray"),
        ("range", "range"),
        ("sense", "range"),
        ("file", "matrix"),
    ];
    for (key, models) in of {
        if section.has(key) && !models.split(' ').any(|one| one == model) {
            let problem = Problem::Incompatible(format!("{model} has none"));
            let models: Vec<&str> = models.split(' ').collect();
            section.add_error(key, problem, report).allowed =
                Some(format!("with model = {}", name_list(models)));
        }
    }
    let mut missed = |key: &str, example: &str| {
        if !section.has(key) {
            section.add_error(key, Problem::Missing, report).allowed = Some(example.to_owned());
        }
    };
    match model.as_str() {
        "friis" => Propagation::Friis {
            frequency_hz: section.value("frequency"),
        },
        "two-ray" => Propagation::TwoRay {
            frequency_hz: section.value("frequency"),
            height_m: section.value("height"),
        },
        "range" => {
            missed("range", "a distance such as \"25 m\"");
            let range_m: f64 = section.get("range").unwrap_or(1.0);
            let sense_m: f64 = section.get("sense").unwrap_or(range_m);
            if sense_m < range_m && section.none_wrong(&["range", "sense"]) {
                let limit = format!("the range ({range_m} m)");
                section.add_error("sense", Problem::BelowLeast(limit), report);
            }
            Propagation::Range { range_m, sense_m }
        }
        "matrix" => {
            missed("file", "a file such as \"losses.csv\"");
            Propagation::Matrix {
                loss_db: Arc::from([]),
            }
        }
        _ => Propagation::LogDistance {
            exponent: section.value("exponent"),
            reference_loss_db: section.value("reference_loss"),
            reference_distance_m: section.value("reference_distance"),
        },
    }
}

fn fading(section: &Section) -> Option<Nakagami> {
    if section.get::<String>("model").as_deref() == Some(NONE) {
        return None;
    }
    let near: f64 = section.value("m");
    let usual = if section.has("m") { near } else { 0.75 };
    let far: f64 = section.get("far_m").unwrap_or(usual);
    let mut bands = vec![FadingBand {
        from_m: 0.0,
        m: near,
    }];
    if far != near {
        bands.push(FadingBand {
            from_m: section.value("far"),
            m: far,
        });
    }
    Some(Nakagami { bands })
}

fn error_model(
    section: Option<&Section>,
    wifi: &Wifi,
    traces: &mut Traces,
    report: &mut Report,
) -> ErrorModel {
    let Some(section) = section else {
        return match wifi.profile {
            WifiProfile::Ns3 => ErrorModel::Table(Arc::new(PerTable::ns3())),
            WifiProfile::Standard | WifiProfile::Ns313 => ErrorModel::Nist,
        };
    };
    let model: Option<String> = section.get("model");
    let is_table = model.as_deref().is_none_or(|model| model == "table");
    for key in ["table", "frame"] {
        if section.has(key) && !is_table {
            let problem = Problem::OnlyWith(r#"model = "table""#);
            section.add_error(key, problem, report);
        }
    }
    if section.has("frame") && !section.has("table") && is_table {
        section.add_error("table", Problem::Missing, report).allowed =
            Some("a file such as \"per.csv\"".to_owned());
    }
    match model.as_deref() {
        Some("nist") => ErrorModel::Nist,
        Some(NONE) => ErrorModel::None,
        _ => {
            let Some(file) = section.get::<String>("table") else {
                return ErrorModel::Table(Arc::new(PerTable::ns3()));
            };
            let frame: Bytes = section.value("frame");
            let table = traces.text(&file).and_then(|text| {
                PerTable::parse(&file, frame.as_u64() as u32, &text).map_err(|error| {
                    Problem::File {
                        file,
                        what: error.to_string(),
                    }
                })
            });
            match table {
                Ok(table) => ErrorModel::Table(Arc::new(table)),
                Err(problem) => {
                    section.add_error("table", problem, report);
                    ErrorModel::Nist
                }
            }
        }
    }
}

pub(super) fn nodes(
    sections: &[Section],
    wifi: &Wifi,
    channels: &mut [Channel],
    report: &mut Report,
) -> Vec<Node> {
    let mut nodes: Vec<Node> = Vec::new();
    for section in sections {
        let name: String = section.get("name").unwrap_or_default();
        if !name.is_empty() && nodes.iter().any(|other| other.name == name) {
            section.add_error("name", Problem::Duplicate("node"), report);
        }
        let mut at = [0.0; 3];
        let place: Option<Items<f64>> = section.get("at");
        for (axis, value) in at.iter_mut().zip(place.map_or(Vec::new(), |Items(at)| at)) {
            *axis = value;
        }
        for entry in section.tables("radios") {
            let Some(channel) = entry.get::<String>("channel") else {
                continue;
            };
            let radio = wifi.radio(entry, &name, at, report);
            let known = |one: &&mut Channel| one.config.name == channel;
            match channels.iter_mut().find(known) {
                None => add_unknown_channel_error(entry, "channel", &channel, channels, report),
                Some(found) => add_radio((entry, "channel"), radio, found, report),
            }
        }
        nodes.push(Node { name, at });
    }
    nodes
}

/// Adds a radio to a channel; `said` is the key that requests it.
pub(super) fn add_radio(
    said: (&Section, &str),
    radio: RadioConfig,
    channel: &mut Channel,
    report: &mut Report,
) {
    let is_a = |radio: &RadioConfig| radio.standard == Standard::A;
    for other in &channel.radios {
        let problem = if other.node == radio.node {
            Problem::Incompatible(format!("another radio of {:?} is on it", radio.node))
        } else if is_a(other) != is_a(&radio) {
            Problem::Incompatible(format!(
                "{} is at 5 GHz, and {} of {:?} is not",
                Standard::A,
                if is_a(other) {
                    radio.standard
                } else {
                    other.standard
                },
                if is_a(other) {
                    &radio.node
                } else {
                    &other.node
                },
            ))
        } else if distance_m(other.at, radio.at) == 0.0 && by_distance(&channel.config.propagation)
        {
            Problem::SamePosition(other.node.clone())
        } else {
            continue;
        };
        said.0.add_error(said.1, problem, report);
        break;
    }
    channel.radios.push(radio);
}

fn by_distance(propagation: &Propagation) -> bool {
    matches!(
        propagation,
        Propagation::Friis { .. } | Propagation::LogDistance { .. } | Propagation::TwoRay { .. }
    )
}

pub(super) fn add_unknown_channel_error(
    section: &Section,
    key: &str,
    name: &str,
    channels: &[Channel],
    report: &mut Report,
) {
    let known: Vec<&str> = channels
        .iter()
        .map(|one| one.config.name.as_str())
        .collect();
    section.add_unknown_name(key, "channel", name, &known, report);
}

/// Checks that propagation delay stays below a SIFS where frames travel at the speed of light.
pub(super) fn check_distances(sections: &[Section], channels: &[Channel], report: &mut Report) {
    for (section, channel) in sections.iter().zip(channels) {
        if let Some(pair) = too_far(&channel.config, &channel.radios) {
            let [one, other] = pair.map(|radio| &channel.radios[radio]);
            let km = distance_m(one.at, other.at) / 1e3;
            let problem = Problem::Incompatible(format!(
                "{} hears {} from {km:.1} km away, and a frame would take a SIFS or more to arrive",
                other.node, one.node,
            ));
            section
                .add_error("propagation_delay", problem, report)
                .allowed = Some("false, or radios that hear each other within 2.9 km".to_owned());
        }
    }
}

pub(super) fn read_matrices(
    sections: &[Section],
    channels: &mut [Channel],
    traces: &mut Traces,
    report: &mut Report,
) {
    for (section, channel) in sections.iter().zip(channels) {
        let Propagation::Matrix { loss_db } = &mut channel.config.propagation else {
            continue;
        };
        let radios = channel.radios.len();
        *loss_db = vec![vec![0.0; radios]; radios].into();
        let (Some(section), Some(file)) = (section.table("propagation"), &channel.matrix_file)
        else {
            continue;
        };
        let names: Vec<&str> = channel.radios.iter().map(|one| one.node.as_str()).collect();
        let read = traces.text(file).and_then(|text| {
            matrix(&text, &names).map_err(|what| Problem::File {
                file: file.clone(),
                what,
            })
        });
        match read {
            Ok(rows) => *loss_db = rows.into(),
            Err(problem) => {
                section.add_error("file", problem, report);
            }
        }
    }
}

/// Losses from each radio to each, in the order of `names`; or an error message.
fn matrix(text: &str, names: &[&str]) -> Result<Vec<Vec<f64>>, String> {
    let mut lines = text
        .lines()
        .enumerate()
        .map(|(index, line)| {
            let fields = line.split('#').next().unwrap_or_default().split(',');
            (index + 1, fields.map(str::trim).collect::<Vec<&str>>())
        })
        .filter(|(_, fields)| fields.iter().any(|field| !field.is_empty()));
    let (_, head) = lines.next().ok_or("nothing in it")?;
    let receivers = &head[1..];
    let column = |name: &str| receivers.iter().position(|one| *one == name);
    let columns: Result<Vec<usize>, String> = names
        .iter()
        .map(|name| column(name).ok_or(format!("the first line has no {name:?}")))
        .collect();
    let columns = columns?;
    let mut rows: Vec<Option<Vec<f64>>> = vec![None; names.len()];
    for (line, fields) in lines {
        let Some(row) = names.iter().position(|name| *name == fields[0]) else {
            continue;
        };
        let losses: Result<Vec<f64>, String> = columns
            .iter()
            .map(|column| {
                let field = fields.get(column + 1).copied().unwrap_or_default();
                match field.parse::<f64>() {
                    _ if receivers[*column] == fields[0] => Ok(0.0),
                    Ok(loss) if !loss.is_nan() && loss > f64::NEG_INFINITY => Ok(loss),
                    _ => Err(format!(
                        "line {line}: {field:?} is not a loss in dB, or inf"
                    )),
                }
            })
            .collect();
        rows[row] = Some(losses?);
    }
    let named = names.iter().zip(rows);
    named
        .map(|(name, row)| row.ok_or(format!("no line begins with {name:?}")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_is_read_by_names() {
        let text = "dB,b,a,c\n# measured\na, 60, -, 70\nb,-,61,inf\nc,1,2,3\n";
        let rows = matrix(text, &["a", "b"]).unwrap();
        assert_eq!(rows, [[0.0, 60.0], [61.0, 0.0]]);
        for (text, names, said) in [
            ("", &["a"][..], "nothing in it"),
            ("x,a\na,0", &["a", "b"], "the first line has no \"b\""),
            ("x,a,b\na,0,5", &["a", "b"], "no line begins with \"b\""),
            (
                "x,a,b\na,0,x\nb,1,2",
                &["a", "b"],
                "line 2: \"x\" is not a loss in dB, or inf",
            ),
            (
                "x,a,b\na\nb,1,2",
                &["a", "b"],
                "line 2: \"\" is not a loss in dB, or inf",
            ),
        ] {
            assert_eq!(matrix(text, names).unwrap_err(), said);
        }
    }
}
