//! 802.11 channels as media of a run, and their counters.

use std::convert::Infallible;

use ropewalk_network::radio::{
    CapturePoint, Channel, ChannelStats, HopStats, RadioHop, RadioStats, RecordedFrame,
};
use ropewalk_network::{Medium, MediumPlan, Network};
use ropewalk_quantities::Time;
use ropewalk_scenario::{RadioLink, Scenario};

use crate::packet::Packet;

pub(crate) trait Air<T>: Medium<Packet<T>> {
    fn counts(&self, now: Time) -> ChannelCounts;

    /// Records the frames received at this place, from now on.
    fn record_frames(&mut self, capture_point: CapturePoint);

    /// Removes and returns the first recorded frame.
    fn take_frame(&mut self) -> Option<RecordedFrame<Packet<T>>>;
}

impl<T> Air<T> for Infallible {
    fn counts(&self, _: Time) -> ChannelCounts {
        match *self {}
    }
    fn record_frames(&mut self, _: CapturePoint) {
        match *self {}
    }
    fn take_frame(&mut self) -> Option<RecordedFrame<Packet<T>>> {
        match *self {}
    }
}

impl<T: Copy> Air<T> for Channel<Packet<T>> {
    fn counts(&self, now: Time) -> ChannelCounts {
        ChannelCounts {
            channel: self.stats(now),
            radios: (0..self.radios())
                .map(|radio| self.radio_stats(radio, now))
                .collect(),
            hops: (0..self.hops()).map(|hop| self.hop_stats(hop)).collect(),
        }
    }

    fn record_frames(&mut self, capture_point: CapturePoint) {
        Channel::record_frames(self, capture_point);
    }

    fn take_frame(&mut self) -> Option<RecordedFrame<Packet<T>>> {
        Channel::take_frame(self)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct ChannelCounts {
    pub(crate) channel: ChannelStats,
    pub(crate) radios: Vec<RadioStats>,
    /// Counters of each of its links, in the order of the scenario, forward before reverse.
    pub(crate) hops: Vec<HopStats>,
}

#[derive(Clone, Debug)]
pub(crate) struct AirCounts(pub(crate) Vec<ChannelCounts>);

impl AirCounts {
    pub(crate) fn take<T: Copy, M: Air<T>>(
        now: Time,
        network: &Network<Packet<T>, M>,
    ) -> AirCounts {
        AirCounts(network.media().map(|medium| medium.counts(now)).collect())
    }
}

/// Returns the channels that carry links, in their order.
pub(crate) fn used(scenario: &Scenario) -> Vec<usize> {
    let wireless = &scenario.wireless;
    let mut used: Vec<usize> = wireless
        .links
        .iter()
        .flatten()
        .map(|link| link.channel)
        .collect();
    used.sort_unstable();
    used.dedup();
    used
}

/// Returns the links of a channel, in the order of the scenario.
pub(crate) fn links_on(scenario: &Scenario, channel: usize) -> Vec<usize> {
    let links = (0..scenario.links.len()).filter(|&link| {
        let radio = scenario.wireless.link(link);
        radio.is_some_and(|radio| radio.channel == channel)
    });
    links.collect()
}

/// Returns the plans of a run's channels that carry a link.
pub(crate) fn channels<P: Copy>(scenario: &Scenario, seed: u64) -> Vec<MediumPlan<'_, Channel<P>>> {
    let plans = used(scenario).into_iter().map(|number| {
        let channel = &scenario.wireless.channels[number];
        let links = links_on(scenario, number);
        let hops: Vec<RadioHop> = links
            .iter()
            .flat_map(|&link| hops(scenario, link))
            .collect();
        MediumPlan {
            links,
            make: Box::new(move |ids: &[_]| {
                Channel::new(&channel.config, &channel.radios, &hops, ids, seed)
            }),
        }
    });
    plans.collect()
}

fn hops(scenario: &Scenario, number: usize) -> [RadioHop; 2] {
    let link = &scenario.links[number];
    let radio = scenario.wireless.link(number);
    let RadioLink { from, to, .. } = radio.expect("a link on a channel");
    let hop = |name: String, from, to, loss| RadioHop {
        name,
        from,
        to,
        loss,
    };
    [
        hop(link.name.clone(), from, to, link.forward.loss),
        hop(
            format!("{}/reverse", link.name),
            to,
            from,
            link.reverse.loss,
        ),
    ]
}
