//! Radios in reach of each other, with received powers, stored consecutively per radio.

use rand_pcg::Pcg64Mcg;
use ropewalk_quantities::Time;

use super::config::{ChannelConfig, RadioConfig};
use super::fading::gamma;
use super::power::{Power, from_dbm, from_units};
use super::propagation::{Reach, distance_m, reach};
use super::propagation_events::propagation_delay;
use crate::streams::stream;

/// Mean power below which frames are ignored, dBm: 16 dB below thermal noise.
const FLOOR_DBM: f64 = -117.0;
/// Margin for fading above the mean, dB.
const FADE_MARGIN_DB: f64 = 15.0;
/// Power of a carrier that is only sensed.
pub(super) const SENSED: Power = 1;

/// Neighbours of all radios, those of one consecutively.
#[derive(Clone, Debug)]
pub(super) struct Neighbours {
    /// Start index of the neighbours of each radio, and the end of the last.
    first: Vec<u32>,
    radios: Vec<u32>,
    /// Power of the sender's current or next frame at each neighbour.
    powers: Vec<Power>,
    /// Propagation delay to each neighbour; empty if propagation takes no time.
    delays: Vec<Time>,
    fading: Option<Fading>,
}

/// Means, shapes and random streams of the powers: one stream per entry, so no frame affects the draws of
/// another.
#[derive(Clone, Debug)]
struct Fading {
    means: Vec<f64>,
    shapes: Vec<f64>,
    streams: Vec<Pcg64Mcg>,
}

/// Returns the mean power from one radio at another; `None` if negligible.
fn mean_power(
    channel: &ChannelConfig,
    radios: &[RadioConfig],
    from: usize,
    to: usize,
) -> Option<Power> {
    let floor = match channel.fading {
        None => FLOOR_DBM,
        Some(_) => FLOOR_DBM - FADE_MARGIN_DB,
    };
    match reach(channel, radios, from, to) {
        Reach::Power(dbm) if dbm >= floor => Some(from_dbm(dbm)),
        Reach::Sensed => Some(SENSED),
        Reach::Power(_) | Reach::Nothing => None,
    }
}

/// Returns the first two radios in reach of each other whose propagation delay is a SIFS or more, if
/// [propagation takes time](ChannelConfig::propagation_delay).
pub fn too_far(channel: &ChannelConfig, radios: &[RadioConfig]) -> Option<[usize; 2]> {
    if !channel.propagation_delay {
        return None;
    }
    let pairs = (0..radios.len()).flat_map(|from| (0..radios.len()).map(move |to| [from, to]));
    let mut far = pairs.filter(|&[from, to]| {
        let delay = propagation_delay(distance_m(radios[from].at, radios[to].at));
        from != to && delay >= radios[from].standard.sifs()
    });
    far.find(|&[from, to]| mean_power(channel, radios, from, to).is_some())
}

impl Neighbours {
    pub(super) fn new(channel: &ChannelConfig, radios: &[RadioConfig], seed: u64) -> Neighbours {
        let mut neighbours = Neighbours {
            first: vec![0],
            radios: Vec::new(),
            powers: Vec::new(),
            delays: Vec::new(),
            fading: None,
        };
        let mut fading = Fading {
            means: Vec::new(),
            shapes: Vec::new(),
            streams: Vec::new(),
        };
        for from in 0..radios.len() {
            for to in (0..radios.len()).filter(|to| *to != from) {
                let Some(power) = mean_power(channel, radios, from, to) else {
                    continue;
                };
                neighbours.radios.push(to as u32);
                neighbours.powers.push(power);
                if channel.propagation_delay {
                    let metres = distance_m(radios[from].at, radios[to].at);
                    neighbours.delays.push(propagation_delay(metres));
                }
                if let Some(nakagami) = &channel.fading {
                    fading.means.push(power as f64);
                    let [one, other] = [from, to].map(|radio| &radios[radio]);
                    let distance = distance_m(one.at, other.at);
                    fading.shapes.push(nakagami.shape(distance));
                    let name = format!(
                        "channel/{}/fading/{}/{}",
                        channel.name, one.node, other.node
                    );
                    fading.streams.push(stream(seed, &name));
                }
            }
            neighbours.first.push(neighbours.radios.len() as u32);
        }
        neighbours.fading = channel.fading.is_some().then_some(fading);
        neighbours
    }

    #[inline]
    pub(super) fn of(&self, radio: usize) -> std::ops::Range<usize> {
        self.first[radio] as usize..self.first[radio + 1] as usize
    }

    /// Returns the neighbour at an index, and the power there.
    #[inline]
    pub(super) fn at(&self, place: usize) -> (usize, Power) {
        (self.radios[place] as usize, self.powers[place])
    }

    pub(super) fn delay(&self, place: usize) -> Time {
        self.delays.get(place).copied().unwrap_or(Time::ZERO)
    }

    /// Draws the powers of the next frame of a radio.
    #[inline]
    pub(super) fn fade(&mut self, radio: usize) {
        if self.fading.is_some() {
            self.draw(radio);
        }
    }

    #[inline(never)]
    fn draw(&mut self, radio: usize) {
        let places = self.of(radio);
        let Some(fading) = &mut self.fading else {
            return;
        };
        for place in places {
            let draw = gamma(fading.shapes[place], &mut fading.streams[place]);
            self.powers[place] = from_units(fading.means[place] * draw);
        }
    }
}
