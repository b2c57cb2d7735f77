//! A channel: radios on a shared medium, as one source of events.
//!
//! Each radio waits for one event: the end of its back-off or of its frame, the time of a response, or a
//! timeout. At equal times ends come before timeouts, and timeouts before starts. So frames overlap only if
//! they overlap in time, and a radio that is due to transmit is not deferred by one that starts at the same
//! instant.

mod air;
mod exchange;
mod listen;

use std::collections::VecDeque;

use ropewalk_quantities::Time;

use super::config::{ChannelConfig, Propagation, RadioConfig, RadioHop};
use super::contention::Contention;
use super::frame_error::FrameError;
use super::neighbours::{Neighbours, SENSED};
use super::next_events::{NextEvents, RadioEvent};
use super::power::{Power, noise_dbm};
use super::propagation::{Reach, reach};
use super::propagation_events::PropagationEvents;
use super::rate_control::RateSelector;
use super::reception::Receiver;
use super::recorded_frame::{CapturePoint, RecordedFrame};
use super::station::{Frame, QueuedPacket, RadioState, Station};
use super::stats::{ChannelStats, HopStats, RadioStats};
use crate::id::HopId;
use crate::link::LossModel;
use crate::medium::{Medium, MediumEvent, MediumPacket};
use crate::offer::{DropReason, Offer};
use crate::streams::stream;

/// 802.11 channel and its radios, carrying packets of type `P`.
#[derive(Clone, Debug)]
pub struct Channel<P> {
    stations: Vec<Station<P>>,
    /// Current or last frame of each radio.
    flights: Vec<Option<Frame>>,
    neighbours: Neighbours,
    next_events: NextEvents,
    /// Frames in propagation, if propagation takes time.
    propagation_events: Option<PropagationEvents>,
    hops: Vec<HopState>,
    /// Number of the first hop in the network.
    first_hop: usize,
    frame_error: FrameError,
    /// Capture threshold, as a power ratio.
    capture: Option<f64>,
    on_air: u32,
    on_air_since: Time,
    stats: ChannelStats,
    /// Recorder of frames, if any.
    listening: Option<Listening<P>>,
}

#[derive(Clone, Debug)]
struct Listening<P> {
    capture_point: CapturePoint,
    heard: VecDeque<RecordedFrame<P>>,
}

#[derive(Clone, Debug)]
struct HopState {
    from: u32,
    to: u32,
    loss: LossModel,
    rate: RateSelector,
    stats: HopStats,
}

impl<P: Copy> Channel<P> {
    /// Creates a channel. `ids` are the consecutive numbers of the hops in the network; `seed` is the
    /// run's.
    ///
    /// # Panics
    /// If the number of `ids` differs from the number of hops, they are not consecutive, a hop names a
    /// radio that does not exist, a radio has no attempt, or a slot is longer than 1 ms.
    pub fn new(
        channel: &ChannelConfig,
        radios: &[RadioConfig],
        hops: &[RadioHop],
        ids: &[HopId],
        seed: u64,
    ) -> Channel<P> {
        assert_eq!(hops.len(), ids.len(), "a number for each hop");
        let first_hop = ids.first().map_or(0, |id| id.index());
        for (offset, id) in ids.iter().enumerate() {
            assert_eq!(
                id.index(),
                first_hop + offset,
                "numbers that follow each other"
            );
        }
        for radio in radios {
            assert!(radio.tries > 0 && radio.long_tries > 0, "a try");
            let slot = Time::from_nanos(1)..=Time::from_millis(1);
            assert!(slot.contains(&radio.slot), "a slot of {:?}", radio.slot);
        }
        let frame_error = FrameError::new(&channel.error_model);
        let threshold = match channel.propagation {
            Propagation::Range { .. } => SENSED,
            _ => Power::MAX,
        };
        let stations = radios.iter().enumerate().map(|(number, radio)| {
            let draws =
                |of: &str| stream(seed, &format!("radio/{}/{}/{of}", radio.node, channel.name));
            let contention = Contention::new(radio, threshold, draws("backoff"));
            let receiver = Receiver::new(radio, &frame_error);
            let mut station = Station::new(radio, contention, receiver, draws("errors"));
            if let Some(round_robin) = &mut station.round_robin {
                let own = hops.iter().filter(|hop| hop.from == number);
                own.for_each(|hop| round_robin.add(hop.to as u32));
            }
            station
        });
        let states = hops.iter().map(|hop| {
            let snr_db = match reach(channel, radios, hop.from, hop.to) {
                Reach::Power(dbm) => dbm - noise_dbm(radios[hop.to].noise_figure_db),
                Reach::Sensed | Reach::Nothing => f64::NEG_INFINITY,
            };
            HopState {
                from: hop.from as u32,
                to: hop.to as u32,
                loss: LossModel::new(hop.loss, stream(seed, &format!("link/{}/loss", hop.name))),
                rate: RateSelector::new(&radios[hop.from], snr_db, &frame_error),
                stats: HopStats::default(),
            }
        });
        Channel {
            stations: stations.collect(),
            flights: vec![None; radios.len()],
            neighbours: Neighbours::new(channel, radios, seed),
            next_events: NextEvents::new(radios.len()),
            propagation_events: channel.propagation_delay.then(PropagationEvents::default),
            hops: states.collect(),
            first_hop,
            capture: channel.capture_db.map(|db| 10_f64.powf(db / 10.0)),
            frame_error,
            on_air: 0,
            on_air_since: Time::ZERO,
            stats: ChannelStats::default(),
            listening: None,
        }
    }

    /// Records frames at this place from now on.
    pub fn record_frames(&mut self, capture_point: CapturePoint) {
        self.listening = Some(Listening {
            capture_point,
            heard: VecDeque::new(),
        });
    }

    /// Removes and returns the first recorded frame.
    pub fn take_frame(&mut self) -> Option<RecordedFrame<P>> {
        self.listening.as_mut()?.heard.pop_front()
    }

    /// Removes and returns all recorded frames.
    pub fn take_frames(&mut self) -> impl Iterator<Item = RecordedFrame<P>> {
        std::iter::from_fn(|| self.take_frame())
    }

    /// Returns the counters of a radio.
    pub fn radio_stats(&self, radio: usize, now: Time) -> RadioStats {
        self.stations[radio].stats(now)
    }

    /// Returns the counters of a hop, by its index on the channel.
    pub fn hop_stats(&self, hop: usize) -> HopStats {
        self.hops[hop].stats
    }

    /// Returns the counters of the channel.
    pub fn stats(&self, now: Time) -> ChannelStats {
        let mut stats = self.stats;
        stats.time = now;
        if self.on_air > 0 {
            stats.busy += now - self.on_air_since;
        }
        stats
    }

    /// Returns the number of radios.
    pub fn radios(&self) -> usize {
        self.stations.len()
    }

    /// Returns the number of hops.
    pub fn hops(&self) -> usize {
        self.hops.len()
    }

    /// Returns the packets queued at a radio, the one being transmitted included.
    pub fn queued(&self, radio: usize) -> usize {
        self.stations[radio].queue.len()
    }

    /// Returns the total power of others at each radio.
    #[cfg(test)]
    pub(super) fn powers(&self) -> impl Iterator<Item = Power> {
        self.stations.iter().map(|station| station.contention.power)
    }

    /// Schedules a contending radio on an idle medium for the end of its back-off.
    #[inline]
    fn arm(&mut self, radio: usize, now: Time) {
        let station = &self.stations[radio];
        if station.state == RadioState::Contending
            && !station.queue.is_empty()
            && !station.contention.is_busy()
        {
            let access = station.contention.access().max(now);
            self.next_events.set(radio, access, RadioEvent::Start);
        }
    }
}

impl<P: Copy> Medium<P> for Channel<P> {
    fn offer(&mut self, now: Time, packet: &MediumPacket<P>) -> Offer {
        let hop = packet.hop.index() - self.first_hop;
        let state = &mut self.hops[hop];
        let radio = state.from as usize;
        let station = &mut self.stations[radio];
        if station.queue.len() >= station.queue_packets {
            state.stats.drops_queue += 1;
            station.stats.drops_queue += 1;
            return Offer::Dropped(DropReason::QueueFull);
        }
        state.stats.packets += 1;
        let waiting = QueuedPacket {
            carried: *packet,
            hop: hop as u32,
            to: state.to,
            since: now,
        };
        station.enqueue(now, waiting);
        if station.queue.len() == 1 {
            let contends = station.state == RadioState::Contending;
            if contends {
                station.set_not_transmitting(now);
            }
            if let Some(access) = station.contention.contend(now, !contends) {
                self.next_events.set(radio, access, RadioEvent::Start);
            }
        }
        Offer::Accepted
    }

    #[inline]
    fn next(&self) -> Option<Time> {
        let due = self.next_events.next();
        match self
            .propagation_events
            .as_ref()
            .and_then(PropagationEvents::first)
        {
            None => due,
            Some(event) => Some(due.map_or(event.time, |due| due.min(event.time))),
        }
    }

    fn advance(&mut self, now: Time) -> MediumEvent<P> {
        let first = self.next_events.first();
        if let Some(propagation_events) = &mut self.propagation_events
            && propagation_events
                .first()
                .is_some_and(|event| event.is_before(first))
        {
            return match propagation_events.first().filter(|event| event.time <= now) {
                Some(event) => {
                    propagation_events.take();
                    self.on_edge(event)
                }
                None => MediumEvent::Nothing,
            };
        }
        match first {
            Some((radio, time, due)) if time <= now => match due {
                RadioEvent::End => self.frame_ends(radio, time),
                RadioEvent::Timeout => self.on_response_timeout(radio, time),
                RadioEvent::Start => self.starts(radio, time),
            },
            _ => MediumEvent::Nothing,
        }
    }
}
