//! Rate limit of a client, over all of its links.

use ropewalk_quantities::{Rate, Time};

/// Bursts to and from the client, as times at the rate. The second is longer, since packets beyond it are
/// dropped, and TCP sends bursts of a round trip.
const BURST: Time = Time::from_millis(20);
const RECEIVED_BURST: Time = Time::from_millis(200);

/// Smallest burst in each direction in bytes, however low the rate is.
const LEAST_BURST: u64 = 16 << 10;

/// Rate limiter of each direction: delays packets to the client, and drops packets from it beyond the rate.
///
/// Uses the generic cell rate algorithm (ITU-T I.371, Annex A), a token bucket whose whole state is one time.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClientRate {
    rate: Option<Rate>,
    /// Times at which all bytes so far would have passed at the rate.
    sent_until: Time,
    received_until: Time,
    dropped: u64,
}

impl ClientRate {
    pub fn set(&mut self, rate: Option<Rate>) {
        if self.rate != rate {
            self.rate = rate;
            (self.sent_until, self.received_until) = (Time::ZERO, Time::ZERO);
        }
    }

    /// Returns when more may be sent, in the past if it may be now.
    #[must_use]
    pub fn ready_at(&self) -> Time {
        self.sent_until.saturating_sub(BURST)
    }

    /// Returns whether a packet that cannot wait may be sent; counts it as dropped otherwise.
    pub fn admit_sent(&mut self, now: Time) -> bool {
        let passes = self.ready_at() <= now;
        self.dropped += u64::from(!passes);
        passes
    }

    pub fn on_sent(&mut self, now: Time, bytes: usize) {
        let duration = self.duration(bytes as u64);
        self.sent_until = self.sent_until.max(now).saturating_add(duration);
    }

    /// Returns whether a packet of the client passes; counts it as dropped otherwise.
    pub fn admit(&mut self, now: Time, bytes: usize) -> bool {
        let duration = self.duration(bytes as u64);
        let burst = RECEIVED_BURST.max(self.duration(LEAST_BURST));
        let until = self.received_until.max(now).saturating_add(duration);
        let passes = until <= now.saturating_add(burst);
        match passes {
            true => self.received_until = until,
            false => self.dropped += 1,
        }
        passes
    }

    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    fn duration(&self, bytes: u64) -> Time {
        self.rate.map_or(Time::ZERO, |rate| {
            Time::from_secs_f64(bytes as f64 * 8.0 / rate.as_bps().max(1) as f64)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limited() -> ClientRate {
        let mut limit = ClientRate::default();
        limit.set(Some(Rate::from_bps(8_000_000)));
        limit
    }

    #[test]
    fn ready_at_delays_packets_to_the_client() {
        let mut limit = limited();
        let (mut now, mut sent) = (Time::from_secs(5), 0);
        while now < Time::from_secs(6) {
            now = now.max(limit.ready_at());
            limit.on_sent(now, 1500);
            sent += 1500;
        }
        assert!((1_000_000..1_030_000).contains(&sent), "{sent}");
    }

    #[test]
    fn admit_sent_counts_packets_above_the_rate() {
        let mut limit = limited();
        let now = Time::from_secs(5);
        let sent = (0..1000).filter(|_| {
            let passes = limit.admit_sent(now);
            limit.on_sent(now, if passes { 1500 } else { 0 });
            passes
        });
        // 20 ms at 1 MB/s.
        assert_eq!((sent.count(), limit.dropped()), (14, 986));
    }

    #[test]
    fn admit_drops_and_counts_packets_above_the_rate() {
        let mut limit = limited();
        let admitted = (0..10_000u64).filter(|number| {
            let now = Time::from_secs(5) + Time::from_micros(100) * *number;
            limit.admit(now, 1500)
        });
        let bytes = admitted.count() * 1500;
        assert!((1_100_000..1_250_000).contains(&bytes), "{bytes}");
        assert_eq!(limit.dropped(), 10_000 - bytes as u64 / 1500);
    }

    #[test]
    fn admit_passes_a_large_packet_at_a_low_rate() {
        let mut limit = ClientRate::default();
        limit.set(Some(Rate::from_bps(8)));
        assert!(limit.admit(Time::from_secs(1), 9000));
        assert!(!limit.admit(Time::from_secs(2), 9000));
    }

    #[test]
    fn admit_passes_everything_without_a_rate() {
        let mut limit = ClientRate::default();
        limit.on_sent(Time::from_secs(1), usize::MAX);
        assert_eq!(limit.ready_at(), Time::from_secs(1).saturating_sub(BURST));
        assert!(limit.admit(Time::from_secs(1), usize::MAX));
    }
}
