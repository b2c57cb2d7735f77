//! Link costs of radio hops, for routing.

use ropewalk_quantities::Time;

use super::airtime::{ACK_BYTES, DATA_OVERHEAD_BYTES, Timing};
use super::config::{ChannelConfig, RadioConfig, RateControl};
use super::frame_error::FrameError;
use super::power::noise_dbm;
use super::propagation::{Reach, reach};
use super::standard::DataRate;

/// Length of the IP packet whose cost is computed.
const PACKET_BYTES: u32 = 1500;

/// Costs of the links of a channel by mean SNR, without fading, interference and retry limits.
#[derive(Debug)]
pub struct LinkMetric<'a> {
    channel: &'a ChannelConfig,
    radios: &'a [RadioConfig],
    errors: FrameError,
}

/// Cost of a link for a packet of 1500 bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkCost {
    /// Expected transmissions until both frame and ACK are received, 1 / (p_f p_r) (ETX, De Couto et al.,
    /// MobiCom 2003, section 3.1).
    pub tries: f64,
    /// Expected airtime: as many exchanges, each of DIFS, half of CWmin as back-off, the frame, SIFS and
    /// the ACK; the airtime link metric (IEEE 802.11-2016, 14.9) with the overhead of the DCF.
    pub airtime: Time,
}

impl<'a> LinkMetric<'a> {
    /// Creates the metric for all radios of a channel.
    pub fn new(channel: &'a ChannelConfig, radios: &'a [RadioConfig]) -> LinkMetric<'a> {
        LinkMetric {
            channel,
            radios,
            errors: FrameError::new(&channel.error_model),
        }
    }

    /// Returns the cost from one radio to another; `None` where nothing is received. Rate control uses the
    /// rate of least airtime.
    pub fn cost(&self, from: usize, to: usize) -> Option<LinkCost> {
        let sender = &self.radios[from];
        let rates = match &sender.rate {
            RateControl::Fixed(rate) => std::slice::from_ref(rate),
            RateControl::Arf | RateControl::Aarf | RateControl::Ideal => {
                sender.standard.adaptive_rates()
            }
        };
        let [there, back] = [self.snr_db(from, to)?, self.snr_db(to, from)?];
        let costs = rates.iter().map(|rate| self.at(*rate, sender, there, back));
        let costs = costs.filter(|cost| cost.tries < MAX_TRIES);
        costs.min_by_key(|cost| cost.airtime)
    }

    fn at(&self, rate: DataRate, sender: &RadioConfig, there_db: f64, back_db: f64) -> LinkCost {
        let timing = Timing::new(sender);
        let answer = rate.response(&sender.basic_rates);
        let bits = f64::from(8 * (PACKET_BYTES + DATA_OVERHEAD_BYTES));
        let lost = self.errors.ratio(rate, there_db, bits);
        let unanswered = self.errors.ratio(answer, back_db, f64::from(8 * ACK_BYTES));
        let tries = 1.0 / ((1.0 - lost) * (1.0 - unanswered));
        let backoff = timing.slot().as_nanos() * u64::from(sender.standard.cw_min()) / 2;
        let exchange = timing.difs()
            + Time::from_nanos(backoff)
            + timing.data(rate, PACKET_BYTES)
            + timing.sifs()
            + timing.response(answer);
        LinkCost {
            tries,
            airtime: Time::from_nanos((exchange.as_nanos() as f64 * tries) as u64),
        }
    }

    fn snr_db(&self, from: usize, to: usize) -> Option<f64> {
        let receiver = &self.radios[to];
        match reach(self.channel, self.radios, from, to) {
            Reach::Power(dbm) if dbm >= receiver.sensitivity_dbm => {
                Some(dbm - noise_dbm(receiver.noise_figure_db))
            }
            _ => None,
        }
    }
}

/// Expected transmissions above which there is no link.
const MAX_TRIES: f64 = 1e6;
