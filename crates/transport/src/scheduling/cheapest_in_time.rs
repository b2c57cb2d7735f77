//! Scheduler: the cheapest subflow on which the next data arrive before their deadline.
//!
//! With known rates, the minimum cost is a linear program: how much of each write each subflow sends, such
//! that all data arrive by their deadlines. The data that one subflow can deliver in time form a scheduling
//! matroid. So first fit by price, in the order of deadlines, is optimal unless more is written later: it
//! fills the cheapest subflow with the earliest data that it can deliver, and leaves the latest deadlines to
//! the more expensive ones. Here rates are estimated, and a guard covers their errors.

use std::cmp::Ordering;

use ropewalk_quantities::Time;

use super::rate::{Rate, least_rtt};
use super::{Choice, CopyDecision, InFlightData, Pending, Scheduler, Settings, expects_room};
use crate::SubflowState;
use crate::algorithm::algorithm;

algorithm! {
    /// The cheapest subflow on which the next data arrive before their deadline. Data without a deadline use
    /// the cheapest subflow.
    pub struct CheapestInTimeConfig: "cheapest-in-time", "this project", [] {
        /// Safety margin: fraction of the time from write to deadline. If that time exceeds 1 s, the fraction
        /// applies to its square root in seconds.
        guard: number(0.0, 0.9) = 0.3, "this project";
        /// How long before the last moment for a copy on a more expensive subflow the scheduler begins to
        /// check whether data in flight will be late.
        watch: time(Time::ZERO, Time::from_secs(60)) = Time::from_millis(50), "this project";
    }
}

/// Time in seconds for which a changed rate persists, roughly.
const RATE_LIFETIME_S: f64 = 1.0;

impl CheapestInTimeConfig {
    /// Creates the scheduler of one connection.
    pub fn build(self, _settings: &Settings) -> CheapestInTime {
        CheapestInTime {
            config: self,
            rates: Vec::new(),
        }
    }
}

/// State of the scheduler on one connection.
#[derive(Clone, Debug)]
pub struct CheapestInTime {
    config: CheapestInTimeConfig,
    rates: Vec<Rate>,
}

impl CheapestInTime {
    fn learn(&mut self, now: Time, subflows: &[SubflowState]) {
        self.rates.resize(subflows.len(), Rate::UNKNOWN);
        for (rate, state) in self.rates.iter_mut().zip(subflows) {
            rate.learn(now, state);
        }
    }

    fn arrives_in(&self, number: usize, state: &SubflowState) -> f64 {
        let rate = self.rates[number].or_guess(state);
        let least = least_rtt(state);
        let committed = (state.in_flight + state.queued) as f64;
        let queue = (committed - rate * least).max(0.0);
        least / 2.0 + (queue + state.mss as f64) / rate
    }

    /// For a write of this many bytes and seconds left, more than the subflows up to this price can deliver:
    /// one of the next more expensive subflows with space, and the seconds until these must deliver the rest
    /// by themselves. Prices without space deliver as much as they can.
    fn helper(
        &self,
        price: (u8, f64),
        bytes: u64,
        seconds: f64,
        subflows: &[SubflowState],
    ) -> Option<(usize, f64)> {
        let usable = || {
            let numbered = subflows.iter().enumerate();
            numbered.filter(|(_, state)| state.usable)
        };
        let mut price = price;
        loop {
            let delivered = usable()
                .filter(|(_, state)| state.price() <= price)
                .map(|(number, state)| self.delivers_in(number, state, seconds));
            let excess = bytes as f64 - delivered.sum::<f64>();
            let expensive = usable().filter(|(_, state)| state.price() > price);
            let next = expensive
                .map(|(_, state)| state.price())
                .min_by(|one, other| one.partial_cmp(other).unwrap_or(Ordering::Equal))
                .filter(|_| excess > 0.0)?;
            let alike = || usable().filter(|(_, state)| state.price() == next);
            if let Some((helper, state)) = alike().find(|(_, state)| state.can_send()) {
                let rates = alike().map(|(number, state)| self.rates[number].or_guess(state));
                let needed = excess / rates.sum::<f64>() + least_rtt(state) / 2.0;
                return Some((helper, seconds - needed));
            }
            price = next;
        }
    }

    /// Bytes that a subflow delivers in this many seconds besides the data in flight.
    fn delivers_in(&self, number: usize, state: &SubflowState, seconds: f64) -> f64 {
        let rate = self.rates[number].or_guess(state);
        let least = least_rtt(state);
        let committed = (state.in_flight + state.queued) as f64;
        let queue = (committed - rate * least).max(0.0);
        (rate * (seconds - least / 2.0) - queue).max(0.0)
    }

    fn room_in(state: &SubflowState) -> f64 {
        state.srtt.as_secs_f64() * state.mss as f64 / state.cwnd.max(state.mss) as f64
    }
}

/// The seconds, out of a time span, that may be misjudged: all of a short span, in which a changed rate
/// persists; the square root of a long one, over which errors of successive seconds average out.
fn at_risk(seconds: f64) -> f64 {
    match seconds <= RATE_LIFETIME_S {
        true => seconds,
        false => (seconds * RATE_LIFETIME_S).sqrt(),
    }
}

/// Expected arrival of data on a subflow: half a minimum RTT before their expected acknowledgement, when all
/// data before them are delivered at its rate. Overdue data are expected to take as long again.
fn arrival(data: &InFlightData, carrier: &SubflowState, rate: f64) -> Time {
    let back = Time::from_secs_f64(least_rtt(carrier) / 2.0);
    let served = data
        .now
        .saturating_add(Time::from_secs_f64(data.ahead as f64 / rate));
    let expected = served.max(data.sent + back * 2).saturating_sub(back);
    let due = data.sent + carrier.srtt.max(carrier.latest_rtt);
    match data.now.saturating_sub(due) {
        Time::ZERO => expected,
        overdue => expected.max(data.now + overdue),
    }
}

#[derive(Clone, Copy, Debug)]
struct Candidate {
    number: usize,
    price: (u8, f64),
    room: bool,
    arrives_in: f64,
}

impl Candidate {
    /// Whether it is preferred: by cost, then with space, then by arrival.
    fn precedes(&self, other: &Candidate) -> bool {
        if self.price != other.price {
            return self.price < other.price;
        }
        (self.room, -self.arrives_in) > (other.room, -other.arrives_in)
    }
}

impl Scheduler for CheapestInTime {
    fn choose(&mut self, pending: &Pending, subflows: &[SubflowState]) -> Choice {
        self.learn(pending.now, subflows);
        let left = pending
            .deadline
            .map(|deadline| deadline.at.saturating_sub(pending.now));
        let span = pending
            .deadline
            .map_or(Time::ZERO, |deadline| deadline.span);
        let guard = self.config.guard * at_risk(span.as_secs_f64());
        let mut soonest: Option<(f64, usize)> = None;
        let mut cheapest: Option<Candidate> = None;
        for (number, state) in subflows.iter().enumerate() {
            if !state.usable {
                continue;
            }
            let (arrives_in, room) = (self.arrives_in(number, state), state.can_send());
            if room && soonest.is_none_or(|(least, _)| arrives_in < least) {
                soonest = Some((arrives_in, number));
            }
            let wait = match room {
                true => 0.0,
                false if !expects_room(state) => continue,
                false => Self::room_in(state),
            };
            let in_time = left.is_none_or(|left| arrives_in + guard + wait <= left.as_secs_f64());
            let candidate = Candidate {
                number,
                price: state.price(),
                room,
                arrives_in,
            };
            if in_time && cheapest.is_none_or(|other| candidate.precedes(&other)) {
                cheapest = Some(candidate);
            }
        }
        match (cheapest, soonest) {
            (Some(Candidate { number, room, .. }), _) if room => Choice::Send(number),
            (Some(candidate), _) => {
                let Some(deadline) = pending.deadline else {
                    return Choice::Wait;
                };
                let room_in = Self::room_in(&subflows[candidate.number]);
                let needed = Time::from_secs_f64(candidate.arrives_in + guard + room_in);
                let mut until = deadline.at.saturating_sub(needed);
                let seconds = deadline.at.as_secs_f64() - guard - pending.now.as_secs_f64();
                if let Some((helper, begins_in)) =
                    self.helper(candidate.price, pending.left_of_write, seconds, subflows)
                {
                    if begins_in <= 0.0 {
                        return Choice::Send(helper);
                    }
                    until = until.min(pending.now.saturating_add(Time::from_secs_f64(begins_in)));
                }
                match until {
                    until if until > pending.now => Choice::WaitUntil(until),
                    _ => Choice::Wait,
                }
            }
            (None, Some((_, number))) => Choice::Send(number),
            (None, None) => Choice::Wait,
        }
    }

    /// Copies data on a cheaper subflow to a more expensive one if they will be late and the copy would
    /// arrive earlier.
    fn decide_copy(&mut self, data: &InFlightData, subflows: &[SubflowState]) -> CopyDecision {
        self.learn(data.now, subflows);
        let carrier = &subflows[data.on];
        let expensive = subflows
            .iter()
            .enumerate()
            .filter(|(_, state)| state.usable && state.price() > carrier.price());
        let soonest = expensive
            .map(|(number, state)| (self.arrives_in(number, state), number))
            .min_by(|one, other| one.0.total_cmp(&other.0));
        let Some((arrives_in, number)) = soonest else {
            return CopyDecision::NotYet;
        };
        let copied = data.now.saturating_add(Time::from_secs_f64(arrives_in));
        let watched_from = data
            .deadline
            .at
            .saturating_sub((copied - data.now).saturating_add(self.config.watch));
        if watched_from > data.now {
            return CopyDecision::NotBefore(watched_from);
        }
        let expected = arrival(data, carrier, self.rates[data.on].or_guess(carrier));
        match expected > data.deadline.at && copied < expected && subflows[number].can_send() {
            true => CopyDecision::To(number),
            false => CopyDecision::NotYet,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Deadline;
    use crate::scheduling::testing::{MSS, SETTINGS, link, pending};

    fn choose(left_ms: Option<u64>, table: &[SubflowState]) -> Choice {
        let config = CheapestInTimeConfig {
            guard: 0.2,
            ..CheapestInTimeConfig::DEFAULT
        };
        let input = Pending {
            now: Time::from_secs(1),
            deadline: left_ms.map(|left| Deadline {
                at: Time::from_millis(1000 + left),
                span: Time::from_millis(left),
            }),
            ..pending(5)
        };
        config.build(&SETTINGS).choose(&input, table)
    }

    #[test]
    fn cheap_subflow_is_used_while_in_time() {
        // 10 segments in flight, of which 2 fill the path of 20 ms at 100 per second: 8 and this one take 90
        // ms, and then half a round trip. The guard is a fifth.
        let table = [link(100, 20, 1.0), link(1000, 40, 10.0)];
        assert_eq!(choose(Some(126), &table), Choice::Send(0));
        assert_eq!(choose(Some(124), &table), Choice::Send(1));
        assert_eq!(choose(Some(5), &table), Choice::Send(1));
        assert_eq!(choose(None, &table), Choice::Send(0));
        let table = [link(1000, 40, 10.0), link(100, 20, 1.0)];
        assert_eq!(choose(None, &table), Choice::Send(1));
    }

    #[test]
    fn full_cheap_subflow_is_awaited_while_in_time() {
        let mut table = [link(100, 20, 1.0), link(1000, 40, 10.0)];
        table[0].cwnd = 10 * MSS;
        // Space after 2 ms: 102 ms and the guard.
        assert_eq!(
            choose(Some(200), &table),
            Choice::WaitUntil(Time::from_millis(1200 - 142))
        );
        assert_eq!(choose(Some(127), &table), Choice::Send(1));
        assert_eq!(choose(None, &table), Choice::Wait);
        table[0].cwnd = MSS;
        table[0].in_recovery = true;
        assert_eq!(choose(Some(200), &table), Choice::Send(1));
        table[0].usable = false;
        assert_eq!(choose(None, &table), Choice::Send(1));
    }

    #[test]
    fn expensive_subflow_starts_in_time_for_excess_data() {
        let mut table = [link(100, 20, 1.0), link(1000, 40, 10.0)];
        table[0].cwnd = 10 * MSS;
        let config = CheapestInTimeConfig {
            guard: 0.0,
            ..CheapestInTimeConfig::DEFAULT
        };
        let choose = |left_ms: u64, segments: u64| {
            let input = Pending {
                now: Time::from_secs(1),
                deadline: Some(Deadline {
                    at: Time::from_millis(1000 + left_ms),
                    span: Time::from_secs(2),
                }),
                left_of_write: segments * MSS,
                ..pending(1000)
            };
            config.build(&SETTINGS).choose(&input, &table)
        };
        // In 2 s the cheap one delivers 199, and before them the 8 in its queue.
        let alone = Choice::WaitUntil(Time::from_millis(3000 - 102));
        assert_eq!(choose(2000, 191), alone);
        // Of 691 the expensive one carries 500, in half a second and half a round trip.
        assert_eq!(
            choose(2000, 691),
            Choice::WaitUntil(Time::from_millis(3000 - 520))
        );
        assert_eq!(choose(2000, 2200), Choice::Send(1));
    }

    #[test]
    fn equal_cost_prefers_subflow_with_space() {
        let mut table = [link(100, 20, 1.0), link(100, 200, 1.0)];
        assert_eq!(choose(Some(1000), &table), Choice::Send(0));
        table[0].cwnd = 10 * MSS;
        assert_eq!(choose(Some(1000), &table), Choice::Send(1));
        assert_eq!(choose(None, &table), Choice::Send(1));
        table[1].priority = 1;
        assert_eq!(choose(None, &table), Choice::Wait);
    }

    #[test]
    fn late_data_are_copied_to_earlier_expensive_subflow() {
        // With nothing in flight, the new rate of the cheap one is not measured.
        let mut table = [link(100, 20, 1.0), link(1000, 40, 10.0)];
        table[0].in_flight = 0;
        let mut scheduler = CheapestInTimeConfig::DEFAULT.build(&SETTINGS);
        let data = |now, deadline, sent, on| InFlightData {
            now: Time::from_millis(now),
            deadline: Deadline {
                at: Time::from_millis(deadline),
                span: Time::from_millis(200),
            },
            sent: Time::from_millis(sent),
            ahead: MSS,
            on,
        };
        let mut decide =
            |data: InFlightData, table: &[SubflowState]| scheduler.decide_copy(&data, table);
        // A copy takes 21 ms; it is considered 50 ms before that.
        let early = decide(data(1000, 1200, 1000, 0), &table);
        assert_eq!(early, CopyDecision::NotBefore(Time::from_millis(1129)));
        // Sent at 1120, it arrives at 1130.
        assert_eq!(
            decide(data(1130, 1200, 1120, 0), &table),
            CopyDecision::NotYet
        );
        // With 7 before it that is 1200, with 8 it is 1210 of 1200.
        let behind = |count: u64| InFlightData {
            ahead: (count + 1) * MSS,
            ..data(1130, 1200, 1120, 0)
        };
        assert_eq!(decide(behind(7), &table), CopyDecision::NotYet);
        assert_eq!(decide(behind(8), &table), CopyDecision::To(1));
        // Overdue since 1070, it takes until 1260.
        assert_eq!(
            decide(data(1165, 1200, 1050, 0), &table),
            CopyDecision::To(1)
        );
        // No copy without space there, if it would be no earlier, or from the most expensive subflow.
        table[1].cwnd = 10 * MSS;
        assert_eq!(
            decide(data(1165, 1200, 1050, 0), &table),
            CopyDecision::NotYet
        );
        table[1].cwnd = 20 * MSS;
        table[1].min_rtt = Time::from_millis(400);
        assert_eq!(
            decide(data(1165, 1200, 1050, 0), &table),
            CopyDecision::NotYet
        );
        assert_eq!(
            decide(data(1165, 1200, 1050, 1), &table),
            CopyDecision::NotYet
        );
    }
}
