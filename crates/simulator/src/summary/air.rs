//! Results of channels, radios and wireless links.

use ropewalk_network::radio::{Airtime, HopStats, RadioStats};
use ropewalk_quantities::Time;

use super::Span;
use crate::air::{self, Air, ChannelCounts};
use crate::outcome::{
    AirtimeShares, ChannelSummary, LinkShare, LinkSummary, NodeSummary, RadioSummary,
};

impl<T: Copy, M: Air<T>> Span<'_, T, M> {
    /// Returns each channel that carries links: its number in the scenario, and its counters at start and
    /// end.
    fn counted(&self) -> impl Iterator<Item = (usize, &ChannelCounts, &ChannelCounts)> {
        let counts = self.start.in_air.0.iter().zip(&self.end.in_air.0);
        let used = air::used(self.scenario).into_iter();
        used.zip(counts)
            .map(|(channel, (from, to))| (channel, from, to))
    }

    pub(super) fn channels(&self) -> Vec<ChannelSummary> {
        let channels = self.counted();
        channels
            .map(|(number, from, to)| {
                let busy = to.channel.busy - from.channel.busy;
                let time = to.channel.time - from.channel.time;
                let attempts = to.channel.attempts - from.channel.attempts;
                let collisions = to.channel.collisions - from.channel.collisions;
                let each = from.radios.iter().zip(&to.radios);
                let mut sum = Airtime::default();
                for (from, to) in each {
                    sum = plus(sum, minus(to.airtime, from.airtime));
                }
                ChannelSummary {
                    name: self.scenario.wireless.channels[number].config.name.clone(),
                    busy_ratio: ratio(busy, time),
                    collision_ratio: collisions as f64 / attempts.max(1) as f64,
                    airtime: route_bytes(sum),
                }
            })
            .collect()
    }

    pub(super) fn radios(&self) -> Vec<RadioSummary> {
        let channels = self.counted();
        channels
            .flat_map(|(number, from, to)| {
                let channel = &self.scenario.wireless.channels[number];
                let each = from.radios.iter().zip(&to.radios);
                each.zip(&channel.radios).map(|((from, to), radio)| {
                    let airtime = minus(to.airtime, from.airtime);
                    RadioSummary {
                        node: radio.node.clone(),
                        channel: channel.config.name.clone(),
                        frames: to.frames - from.frames,
                        retries: to.retries - from.retries,
                        drops_tries: to.drops_tries - from.drops_tries,
                        drops_queue: to.drops_queue - from.drops_queue,
                        drops_lifetime: to.drops_lifetime - from.drops_lifetime,
                        collisions: to.collisions - from.collisions,
                        airtime_ratio: ratio(airtime.sending(), airtime.total()),
                        airtime: route_bytes(airtime),
                    }
                })
            })
            .collect()
    }

    /// Returns the nodes with a radio on a channel that carries links.
    pub(super) fn nodes(&self) -> Vec<NodeSummary> {
        let nodes = self.scenario.wireless.nodes.iter();
        nodes
            .filter_map(|node| {
                let own: Vec<(&RadioStats, &RadioStats)> = self
                    .counted()
                    .filter_map(|(number, from, to)| {
                        let mut radios = self.scenario.wireless.channels[number].radios.iter();
                        let radio = radios.position(|radio| radio.node == node.name)?;
                        Some((&from.radios[radio], &to.radios[radio]))
                    })
                    .collect();
                let time = self.end_at.saturating_sub(self.warmup.min(self.end_at));
                let queued = own
                    .iter()
                    .map(|(from, to)| to.queue_packet_ns - from.queue_packet_ns);
                let queue_max = own.iter().map(|(_, to)| to.queue_max).max()?;
                Some(NodeSummary {
                    name: node.name.clone(),
                    at: node.at,
                    queue_mean: queued.sum::<u128>() as f64 / time.as_nanos().max(1) as f64,
                    queue_max,
                })
            })
            .collect()
    }

    /// Returns the summary of a wireless link, forward direction.
    pub(super) fn radio_link(&self, link: usize, flows: Vec<LinkShare>) -> LinkSummary {
        let radio = self.scenario.wireless.link(link);
        let channel = radio.map_or(0, |radio| radio.channel);
        let links = air::links_on(self.scenario, channel);
        let place = links.iter().position(|one| *one == link).unwrap_or(0);
        let counted = self.counted().find(|(number, ..)| *number == channel);
        let [from, to] = counted.map_or([HopStats::default(); 2], |(_, from, to)| {
            [from.hops[2 * place], to.hops[2 * place]]
        });
        let drops_tries = to.drops_tries - from.drops_tries;
        let attempts = to.attempts - from.attempts;
        let errors = to.frame_errors - from.frame_errors;
        LinkSummary {
            name: self.scenario.links[link].name.clone(),
            sent_packets: to.packets - from.packets,
            lost_packets: drops_tries + (to.drops_lifetime - from.drops_lifetime),
            dropped_packets: to.drops_queue - from.drops_queue,
            delivered_bytes: to.delivered_bytes - from.delivered_bytes,
            utilization: None,
            attempts: Some(attempts),
            frame_error_ratio: (attempts > 0).then(|| errors as f64 / attempts as f64),
            drops_tries: Some(drops_tries),
            flows,
        }
    }
}

fn ratio(part: Time, whole: Time) -> f64 {
    part.as_nanos() as f64 / whole.as_nanos().max(1) as f64
}

/// Returns fractions of the sum of times of one or several radios; idle if the sum is zero.
fn route_bytes(of: Airtime) -> AirtimeShares {
    let total = of.total();
    if total == Time::ZERO {
        return AirtimeShares {
            idle: 1.0,
            ..AirtimeShares::default()
        };
    }
    AirtimeShares {
        data: ratio(of.data, total),
        retries: ratio(of.retries, total),
        ack: ratio(of.ack, total),
        rts: ratio(of.control, total),
        defer: ratio(of.defer, total),
        idle: ratio(of.idle, total),
    }
}

fn minus(to: Airtime, from: Airtime) -> Airtime {
    with(to, from, |to, from| to - from)
}

fn plus(one: Airtime, other: Airtime) -> Airtime {
    with(one, other, |one, other| one + other)
}

fn with(one: Airtime, other: Airtime, of: impl Fn(Time, Time) -> Time) -> Airtime {
    Airtime {
        data: of(one.data, other.data),
        retries: of(one.retries, other.retries),
        ack: of(one.ack, other.ack),
        control: of(one.control, other.control),
        defer: of(one.defer, other.defer),
        idle: of(one.idle, other.idle),
    }
}
