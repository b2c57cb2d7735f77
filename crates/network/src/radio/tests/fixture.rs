//! A channel with saturated senders.

use ropewalk_quantities::Time;

use crate::config::Loss;
use crate::id::HopId;
use crate::medium::{Medium, MediumEvent, MediumPacket};
use crate::offer::Offer;
use crate::radio::{
    Channel, ChannelConfig, DataRate, ErrorModel, Preamble, PreambleDetection, Propagation,
    QueueOrder, RadioConfig, RadioHop, RateControl, Standard,
};
use crate::route::RouteCursor;

/// ns-3.44's defaults, 802.11b at 11 Mbit/s.
pub(crate) fn radio(node: &str, at: [f64; 3]) -> RadioConfig {
    RadioConfig {
        node: node.to_owned(),
        at,
        standard: Standard::B,
        rate: RateControl::Fixed(DataRate::Cck11),
        basic_rates: Standard::B.rates().to_vec(),
        tries: 7,
        long_tries: 7,
        rts: None,
        preamble: Preamble::Long,
        slot: Standard::B.slot(),
        queue_packets: 500,
        queue_order: QueueOrder::Fifo,
        lifetime: None,
        power_dbm: 16.0206,
        antenna_gain_db: 0.0,
        noise_figure_db: 7.0,
        sensitivity_dbm: -82.0,
        sense_dbm: -82.0,
        preamble_detection: Some(PreambleDetection { sinr_db: 4.0 }),
        eifs_rate: DataRate::Dsss1,
    }
}

pub(crate) fn at_rate(standard: Standard, rate: DataRate) -> RadioConfig {
    let basic_rates = match standard {
        Standard::B => Standard::B.rates().to_vec(),
        Standard::A | Standard::G => vec![DataRate::Ofdm6, DataRate::Ofdm12, DataRate::Ofdm24],
    };
    RadioConfig {
        standard,
        rate: RateControl::Fixed(rate),
        slot: standard.slot(),
        eifs_rate: basic_rates[0],
        basic_rates,
        ..radio("", [0.0; 3])
    }
}

/// ns-3's LogDistancePropagationLossModel.
pub(crate) fn log_distance(exponent: f64) -> ChannelConfig {
    ChannelConfig {
        name: "one".to_owned(),
        propagation: Propagation::LogDistance {
            exponent,
            reference_loss_db: 46.6777,
            reference_distance_m: 1.0,
        },
        fading: None,
        error_model: ErrorModel::Nist,
        capture_db: None,
        propagation_delay: false,
    }
}

pub(crate) fn range(range_m: f64) -> ChannelConfig {
    ChannelConfig {
        propagation: Propagation::Range {
            range_m,
            sense_m: range_m,
        },
        ..log_distance(3.0)
    }
}

/// Radios on a line, named A, B, C and so on.
pub(crate) fn row(like: &RadioConfig, at_m: &[f64]) -> Vec<RadioConfig> {
    let letters = ('A'..='Z').map(String::from);
    let radios = letters.zip(at_m).map(|(node, x)| RadioConfig {
        node,
        at: [*x, 0.0, 0.0],
        ..like.clone()
    });
    radios.collect()
}

/// Packet number: its hop, and its index on that hop.
pub(crate) type Packet = (u32, u64);

/// Channel and its results.
pub(crate) struct ChannelFixture {
    pub(crate) channel: Channel<Packet>,
    pub(crate) now: Time,
    hops: Vec<RadioHop>,
    /// Saturated hops, and the size of their packets.
    saturated: Vec<(usize, u32)>,
    offered: Vec<u64>,
    /// Packets delivered, and dropped, by hop.
    pub(crate) out: Vec<Vec<(Time, u64)>>,
    pub(crate) dropped: Vec<Vec<(Time, u64)>>,
}

impl ChannelFixture {
    /// Creates hops between radios, each with a configured loss.
    pub(crate) fn new(
        channel: &ChannelConfig,
        radios: &[RadioConfig],
        hops: &[(usize, usize, f64)],
        seed: u64,
    ) -> ChannelFixture {
        let hops: Vec<_> = hops
            .iter()
            .map(|(from, to, loss)| (*from, *to, Loss::Bernoulli(*loss)))
            .collect();
        ChannelFixture::with_losses(channel, radios, &hops, seed)
    }

    /// Creates hops between radios, each with a model of its configured loss.
    pub(crate) fn with_losses(
        channel: &ChannelConfig,
        radios: &[RadioConfig],
        hops: &[(usize, usize, Loss)],
        seed: u64,
    ) -> ChannelFixture {
        let hops: Vec<RadioHop> = hops
            .iter()
            .map(|(from, to, loss)| RadioHop {
                name: format!("{}-{}", radios[*from].node, radios[*to].node),
                from: *from,
                to: *to,
                loss: *loss,
            })
            .collect();
        let ids: Vec<HopId> = (0..hops.len()).map(|hop| HopId::new(hop + 3)).collect();
        ChannelFixture {
            channel: Channel::new(channel, radios, &hops, &ids, seed),
            now: Time::ZERO,
            saturated: Vec::new(),
            offered: vec![0; hops.len()],
            out: vec![Vec::new(); hops.len()],
            dropped: vec![Vec::new(); hops.len()],
            hops,
        }
    }

    /// Creates radios around a centre, number 0, to which all transmit.
    pub(crate) fn star(
        channel: &ChannelConfig,
        like: &RadioConfig,
        senders: usize,
        radius_m: f64,
        seed: u64,
    ) -> ChannelFixture {
        let mut radios = vec![RadioConfig {
            node: "middle".to_owned(),
            ..like.clone()
        }];
        for sender in 0..senders {
            let angle = std::f64::consts::TAU * sender as f64 / senders as f64;
            radios.push(RadioConfig {
                node: format!("n{sender}"),
                at: [radius_m * angle.cos(), radius_m * angle.sin(), 0.0],
                ..like.clone()
            });
        }
        let hops: Vec<_> = (1..=senders).map(|sender| (sender, 0, 0.0)).collect();
        ChannelFixture::new(channel, &radios, &hops, seed)
    }

    pub(crate) fn offer(&mut self, hop: usize, size: u32) -> Offer {
        let packet = (hop as u32, self.offered[hop]);
        self.offered[hop] += 1;
        self.channel.offer(
            self.now,
            &MediumPacket {
                hop: HopId::new(hop + 3),
                cursor: RouteCursor::default(),
                size,
                packet,
            },
        )
    }

    /// Offers a packet that must be accepted.
    pub(crate) fn send(&mut self, hop: usize, size: u32) {
        assert_eq!(self.offer(hop, size), Offer::Accepted);
    }

    /// Keeps packets of this size queued at a hop from now on.
    pub(crate) fn saturate(&mut self, hop: usize, size: u32) {
        self.saturated.push((hop, size));
        self.refill(self.saturated.len() - 1);
    }

    fn refill(&mut self, entry: usize) {
        let (hop, size) = self.saturated[entry];
        while self.channel.queued(self.hops[hop].from) < 3 {
            self.send(hop, size);
        }
    }

    pub(crate) fn run(&mut self, until: Time) {
        while let Some(next) = self.channel.next().filter(|next| *next <= until) {
            assert!(next >= self.now, "time never goes back");
            self.now = next;
            match self.channel.advance(next) {
                MediumEvent::Nothing => {}
                MediumEvent::Out(carried) => {
                    let (hop, number) = carried.packet;
                    self.out[hop as usize].push((next, number));
                }
                MediumEvent::Dropped(carried, _) => {
                    let (hop, number) = carried.packet;
                    self.dropped[hop as usize].push((next, number));
                }
            }
            for entry in 0..self.saturated.len() {
                self.refill(entry);
            }
        }
        self.now = until;
    }

    /// Returns Mbit/s of payload per packet, over all hops, from a time up to now.
    pub(crate) fn mbps(&self, payload: u32, from: Time) -> f64 {
        let packets: usize = (0..self.out.len()).map(|hop| self.packets(hop, from)).sum();
        let span = (self.now - from).as_secs_f64();
        8.0 * f64::from(payload) * packets as f64 / span / 1e6
    }

    /// Returns the packets delivered by a hop since a time.
    pub(crate) fn packets(&self, hop: usize, from: Time) -> usize {
        let out = &self.out[hop];
        out.len() - out.partition_point(|(time, _)| *time < from)
    }
}
