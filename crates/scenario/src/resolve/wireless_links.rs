//! Wireless links of the file and of paths over nodes.

use ropewalk_network::radio::{
    DATA_OVERHEAD_BYTES, DataRate, ErrorModel, FrameError, RadioConfig, RateControl, Reach,
    distance_m, noise_dbm, reach,
};
use ropewalk_network::{Capacity, DirectionConfig, LinkConfig, Loss, QueueLimit};
use ropewalk_quantities::Time;

use super::channels::add_unknown_channel_error;
use crate::error::Problem;
use crate::limits::MAX_NAME_CHARS;
use crate::model::{Channel, ETHERNET_MTU, RadioLink, Wireless};
use crate::report::Report;
use crate::section::{Section, name_list};

const OF_WIRES: [&str; 6] = ["delay", "jitter", "slot", "queue", "rate", "trace"];
const RATE_OR_TRACE: Problem = Problem::OnlyWith("rate or trace");

/// The [`DirectionConfig`] of a wireless link: only its loss is used.
pub(super) fn direction(loss: Loss) -> DirectionConfig {
    DirectionConfig {
        capacity: Capacity::Unlimited,
        delay: Time::ZERO,
        jitter: None,
        slot: None,
        loss,
        queue: QueueLimit::Packets(0),
    }
}

/// Checks that a link on a channel has no keys of wired links.
pub(super) fn check_keys(section: &Section, report: &mut Report) {
    for table in [Some(section), section.table("reverse")]
        .into_iter()
        .flatten()
    {
        for key in OF_WIRES {
            // The link's own `rate` or `trace` has been reported, since `channel` excludes it.
            let of_link = std::ptr::eq(table, section) && matches!(key, "rate" | "trace");
            if table.has(key) && !of_link {
                table.add_error(key, RATE_OR_TRACE, report).allowed =
                    Some("with channel, loss alone".to_owned());
            }
        }
    }
    for key in ["count", "down", "quota"] {
        if section.has(key) {
            section.add_error(key, RATE_OR_TRACE, report);
        }
    }
}

pub(super) fn radio_links(
    sections: &[&Section],
    links: &[LinkConfig],
    channels: &[Channel],
    report: &mut Report,
) -> Vec<Option<RadioLink>> {
    let found = sections.iter().copied().zip(links).map(|(section, link)| {
        let name: String = section.get("channel")?;
        let Some(channel) = channels.iter().position(|one| one.config.name == name) else {
            add_unknown_channel_error(section, "channel", &name, channels, report);
            return None;
        };
        for key in ["from", "to"] {
            if !section.has("from") && !section.has("to") {
                section.add_error(key, Problem::Missing, report).allowed =
                    Some("the name of a node with a radio on the channel".to_owned());
            }
        }
        let ends = link.ends.as_ref()?;
        let radios = [("from", &ends[0]), ("to", &ends[1])].map(|(key, node)| {
            let radio = radio_of(&channels[channel], node);
            if radio.is_none() {
                add_missing_radio_error(section, key, node, &channels[channel], channels, report);
            }
            radio
        });
        let [Some(from), Some(to)] = radios else {
            return None;
        };
        Some(RadioLink { channel, from, to })
    });
    found.collect()
}

fn radio_of(channel: &Channel, node: &str) -> Option<usize> {
    channel.radios.iter().position(|radio| radio.node == node)
}

/// Reports that a node has no radio on a channel, with the node's channels and the channel's nodes.
fn add_missing_radio_error(
    section: &Section,
    key: &str,
    node: &str,
    channel: &Channel,
    channels: &[Channel],
    report: &mut Report,
) {
    let has = channels.iter().filter(|one| radio_of(one, node).is_some());
    let own: Vec<&str> = has.map(|one| one.config.name.as_str()).collect();
    let there = channel.radios.iter().map(|radio| radio.node.as_str());
    let problem = Problem::NoRadio {
        node: node.chars().take(MAX_NAME_CHARS).collect(),
        channel: channel.config.name.clone(),
    };
    let has = match own[..] {
        [] => "no channel".to_owned(),
        _ => name_list(own),
    };
    section.add_error(key, problem, report).allowed = Some(format!(
        "of {node:?}, {has}; on {:?}, {}",
        channel.config.name,
        name_list(there)
    ));
}

/// Creates the links of paths over nodes, and returns the hops of these paths; `None` for others.
pub(super) fn paths_over_nodes(
    sections: &[Section],
    links: &mut Vec<LinkConfig>,
    wireless: &mut Wireless,
    report: &mut Report,
) -> Vec<Option<Vec<usize>>> {
    let paths = sections.iter().map(|section| {
        if section.has("channel") && !section.has("nodes") {
            section.add_error("channel", Problem::OnlyWith("nodes"), report);
        }
        let names: Vec<String> = section.get("nodes")?;
        let Some(name) = section.get::<String>("channel") else {
            if !section.has("channel") {
                let known = wireless.channels.iter().map(|one| one.config.name.as_str());
                let known = name_list(known);
                section
                    .add_error("channel", Problem::Missing, report)
                    .allowed = Some(known);
            }
            return Some(Vec::new());
        };
        let channels = &wireless.channels;
        let Some(channel) = channels.iter().position(|one| one.config.name == name) else {
            add_unknown_channel_error(section, "channel", &name, channels, report);
            return Some(Vec::new());
        };
        if names.len() < 2 {
            let problem = Problem::BelowLeast("2 nodes".to_owned());
            section.add_error("nodes", problem, report);
            return Some(Vec::new());
        }
        let mut radios = Vec::new();
        for node in &names {
            match radio_of(&channels[channel], node) {
                Some(radio) => radios.push(radio),
                None => {
                    add_missing_radio_error(
                        section,
                        "nodes",
                        node,
                        &channels[channel],
                        channels,
                        report,
                    );
                    return Some(Vec::new());
                }
            }
        }
        let ends = radios.windows(2).map(|pair| RadioLink {
            channel,
            from: pair[0],
            to: pair[1],
        });
        Some(ends.map(|link| link_of(link, links, wireless)).collect())
    });
    paths.collect()
}

/// Index of the link between two radios, created if missing.
pub(super) fn link_of(
    wanted: RadioLink,
    links: &mut Vec<LinkConfig>,
    wireless: &mut Wireless,
) -> usize {
    let there = wireless.links.iter().position(|link| *link == Some(wanted));
    there.unwrap_or_else(|| {
        let channel = &wireless.channels[wanted.channel];
        let ends = [wanted.from, wanted.to].map(|radio| channel.radios[radio].node.clone());
        let name = format!("{}-{}@{}", ends[0], ends[1], channel.config.name);
        links.push(LinkConfig {
            name: unused(&name, links),
            ends: Some(ends),
            forward: direction(Loss::None),
            reverse: direction(Loss::None),
            cost: None,
            down: Vec::new(),
        });
        wireless.links.push(Some(wanted));
        links.len() - 1
    })
}

fn unused(name: &str, links: &[LinkConfig]) -> String {
    let base: String = match name.chars().count() > MAX_NAME_CHARS {
        true => name.chars().take(MAX_NAME_CHARS - 5).collect(),
        false => name.to_owned(),
    };
    let numbered = (2..).map(|number| format!("{base}-{number}"));
    let mut names = std::iter::once(base.clone()).chain(numbered);
    let unused = names.find(|name| links.iter().all(|link| link.name != *name));
    unused.expect("numbers do not end")
}

pub(super) fn warn_of_weak_links(links: &[LinkConfig], wireless: &Wireless, report: &mut Report) {
    let mut needs: Vec<RequiredSnr> = wireless.channels.iter().map(RequiredSnr::new).collect();
    for (link, radio) in links.iter().zip(&wireless.links) {
        let Some(RadioLink { channel, from, to }) = *radio else {
            continue;
        };
        for (from, to) in [(from, to), (to, from)] {
            if let Some(why) = weakness(&wireless.channels[channel], &mut needs[channel], from, to)
            {
                report.warnings.push(format!("link.{}: {why}", link.name));
                break;
            }
        }
    }
}

/// Reason why one radio's frames almost never reach another.
fn weakness(channel: &Channel, needs: &mut RequiredSnr, from: usize, to: usize) -> Option<String> {
    let [sender, receiver] = [&channel.radios[from], &channel.radios[to]];
    let apart = distance_m(sender.at, receiver.at);
    let between = format!("{:?} is {apart:.1} m from {:?}", receiver.node, sender.node);
    let Reach::Power(dbm) = reach(&channel.config, &channel.radios, from, to) else {
        return Some(format!("{between} and gets no frame of it"));
    };
    let margin = dbm - receiver.sensitivity_dbm;
    if margin < 0.0 {
        return Some(format!(
            "{between} and gets {dbm:.1} dBm, {:.1} dB below its sensitivity of {} dBm",
            -margin, receiver.sensitivity_dbm
        ));
    }
    let rate = slowest(sender);
    let snr = dbm - noise_dbm(receiver.noise_figure_db);
    let needs = needs.snr_db(snr, rate)?;
    (snr < needs).then(|| {
        format!(
            "{between} with an SNR of {snr:.1} dB, {:.1} dB below the {needs:.1} dB at which {rate} \
             loses half of its full frames",
            needs - snr
        )
    })
}

fn slowest(radio: &RadioConfig) -> DataRate {
    match radio.rate {
        RateControl::Fixed(rate) => rate,
        RateControl::Arf | RateControl::Aarf | RateControl::Ideal => {
            radio.standard.adaptive_rates()[0]
        }
    }
}

/// Cache of the SNR that each rate needs on a channel.
struct RequiredSnr<'a> {
    model: &'a ErrorModel,
    errors: Option<FrameError>,
    known: Vec<(DataRate, Option<f64>)>,
}

impl RequiredSnr<'_> {
    fn new(channel: &Channel) -> RequiredSnr<'_> {
        RequiredSnr {
            model: &channel.config.error_model,
            errors: None,
            known: Vec::new(),
        }
    }

    /// SNR in dB at which half of the full frames are lost at this rate; `None` if `snr` certainly
    /// suffices.
    fn snr_db(&mut self, snr: f64, rate: DataRate) -> Option<f64> {
        // The most demanding rate of the formulas, 54 Mbit/s, needs 22 dB.
        if snr > 30.0 && matches!(self.model, ErrorModel::Nist | ErrorModel::None) {
            return None;
        }
        if let Some((_, needs)) = self.known.iter().find(|(known, _)| *known == rate) {
            return *needs;
        }
        let errors = self
            .errors
            .get_or_insert_with(|| FrameError::new(self.model));
        let needs = half_in_error(errors, rate);
        self.known.push((rate, needs));
        needs
    }
}

/// SNR in dB at which half of the full frames are lost, if any.
fn half_in_error(errors: &FrameError, rate: DataRate) -> Option<f64> {
    let bits = f64::from(8 * (ETHERNET_MTU + DATA_OVERHEAD_BYTES));
    let (mut low, mut high) = (-30.0, 60.0);
    if errors.ratio(rate, low, bits) < 0.5 {
        return None;
    }
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if errors.ratio(rate, middle, bits) > 0.5 {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(high)
}
