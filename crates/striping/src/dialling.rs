//! Times at which to dial a link without a good carrier, and time limits of dials.
//!
//! TCP retransmits a lost SYN only after its initial RTO of a second (RFC 6298, section 2), and a connection
//! whose SYN was lost begins with a window of one segment (RFC 5681, section 3.1; in Linux
//! `tcp_init_transfer`). To avoid both, the link is dialled again every 125 ms, each time with a new SYN. An
//! unfinished dial is abandoned just before its SYN would be retransmitted. One dial in each second is
//! patient, for links with a longer round trip.

use ropewalk_quantities::Time;

const AGAIN: Time = Time::from_millis(125);
/// After this many failed dials, only patient ones follow.
const SOON: u32 = 80;
const MAX: usize = 16;
const TIMEOUT: Time = Time::from_secs(5);
/// Time between abandoning a dial and the retransmission of its SYN: short, since longer round trips are left
/// to the patient dials, but enough for a timer that fires two kernel ticks late (4 ms each at 250 Hz).
const MARGIN: Time = Time::from_millis(10);
/// After this long a suspicion, the carrier's TCP has timed out: it would resume in slow start, and first
/// retransmit all its data. A new connection is used instead.
const TIMED_OUT: Time = Time::from_millis(500);

/// The dials of one link, from when it needs a carrier until it has one.
///
/// Time is an argument, and the decision is the return value; the driver opens and closes the sockets.
///
/// ```
/// use ropewalk_quantities::Time;
/// use ropewalk_striping::Dialling;
///
/// let mut dialling = Dialling::begin(Time::ZERO, Time::from_secs(1));
/// let first = dialling.poll_dial(Time::ZERO, 0).expect("the first is due at once");
/// assert_eq!(first.connects_within, Time::from_secs(5));
/// assert_eq!(dialling.poll_timeout(), Time::from_millis(125));
/// let second = dialling.poll_dial(Time::from_millis(125), 1).expect("the first is under way");
/// assert_eq!(second.connects_within, Time::from_millis(990));
/// ```
#[derive(Clone, Debug)]
pub struct Dialling {
    since: Time,
    next: Time,
    /// Ticks so far, including those without a dial.
    turns: u32,
    initial_rto: Time,
}

/// A dial to begin now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dial {
    /// Time limit of TCP's handshake.
    pub connects_within: Time,
    /// Time limit of TCP's handshake and the join that follows it.
    pub joins_within: Time,
}

impl Dialling {
    /// One dial in this many is patient: one in a second.
    pub const PATIENT: u32 = 8;

    /// Begins dialling a link whose TCP retransmits a lost SYN after `initial_rto`.
    #[must_use]
    pub fn begin(now: Time, initial_rto: Time) -> Dialling {
        Dialling {
            since: now,
            next: now,
            turns: 0,
            initial_rto,
        }
    }

    /// Returns the time of the next call of [`poll_dial`](Dialling::poll_dial); only that call changes it.
    #[must_use]
    pub fn poll_timeout(&self) -> Time {
        self.next
    }

    /// Returns the dial to begin now, if any, with `under_way` others in progress.
    #[must_use]
    pub fn poll_dial(&mut self, now: Time, under_way: usize) -> Option<Dial> {
        if now < self.next {
            return None;
        }
        let is_patient = self.turns.is_multiple_of(Self::PATIENT);
        let turns = if self.turns < SOON { 1 } else { Self::PATIENT };
        self.turns = self.turns.saturating_add(turns);
        self.next = now + AGAIN * u64::from(turns);
        let connects_within = if is_patient {
            TIMEOUT
        } else {
            self.initial_rto.saturating_sub(MARGIN).min(TIMEOUT)
        };
        (under_way < MAX).then_some(Dial {
            connects_within,
            joins_within: TIMEOUT,
        })
    }

    /// Whether a suspected carrier that was heard again is kept, which ends dialling.
    #[must_use]
    pub fn ends_when_heard(&self, now: Time) -> bool {
        now.saturating_sub(self.since) < TIMED_OUT
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const RTO: Time = Time::from_secs(1);

    /// Times and timeouts of the dials, all of which fail.
    fn dials(until: Time, initial_rto: Time) -> Vec<(Time, Time)> {
        let mut dialling = Dialling::begin(Time::ZERO, initial_rto);
        let mut dials = Vec::new();
        while dialling.poll_timeout() <= until {
            let now = dialling.poll_timeout();
            let dial = dialling.poll_dial(now, 0).unwrap();
            dials.push((now, dial.connects_within));
        }
        dials
    }

    #[test]
    fn one_of_eight_dials_per_second_is_patient() {
        let dials = dials(Time::from_millis(1875), RTO);
        assert_eq!(dials.len(), 16);
        let patient = dials.iter().filter(|(_, within)| *within == TIMEOUT);
        let at: Vec<Time> = patient.map(|(at, _)| *at).collect();
        assert_eq!(at, [Time::ZERO, Time::from_secs(1)]);
    }

    #[test]
    fn failed_dials_slow_to_one_per_second() {
        let dials = dials(Time::from_secs(20), RTO);
        let late: Vec<&(Time, Time)> = dials
            .iter()
            .filter(|(at, _)| at.as_nanos() >= 10_000_000_000)
            .collect();
        assert_eq!(late.len(), 11);
        assert!(late.iter().all(|(_, within)| *within == TIMEOUT));
    }

    #[test]
    fn impatient_dial_ends_before_syn_retransmission() {
        for rto in [200, 1000, 3000].map(Time::from_millis) {
            let (_, within) = dials(AGAIN, rto)[1];
            assert_eq!(within, rto - Time::from_millis(10));
        }
        let (_, within) = dials(AGAIN, Time::from_secs(60))[1];
        assert_eq!(within, TIMEOUT);
    }

    #[test]
    fn simultaneous_dials_are_at_most_sixteen() {
        let mut dialling = Dialling::begin(Time::ZERO, RTO);
        assert_eq!(dialling.poll_dial(Time::ZERO, MAX), None);
        assert_eq!(dialling.poll_timeout(), AGAIN);
        let dial = dialling.poll_dial(AGAIN, MAX - 1).unwrap();
        assert!(dial.connects_within < RTO);
    }

    #[test]
    fn carrier_heard_again_ends_dialling_before_tcp_timeout() {
        let dialling = Dialling::begin(RTO, RTO);
        assert!(dialling.ends_when_heard(RTO + Time::from_millis(499)));
        assert!(!dialling.ends_when_heard(RTO + Time::from_millis(500)));
    }

    proptest! {
        /// However late each call comes, dials are at least 125 ms apart, and the next is at most 1 s ahead.
        #[test]
        fn dials_keep_their_distance(lateness in prop::collection::vec(0..3_000_u64, 1..200)) {
            let mut dialling = Dialling::begin(Time::ZERO, RTO);
            for late in lateness {
                let now = dialling.poll_timeout() + Time::from_millis(late);
                prop_assert!(dialling.poll_dial(now, 0).is_some());
                prop_assert!(dialling.poll_dial(now, 0).is_none());
                let wait = dialling.poll_timeout() - now;
                prop_assert!(wait >= AGAIN && wait <= Time::from_secs(1));
            }
        }
    }
}
