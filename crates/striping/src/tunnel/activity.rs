//! Traffic of the tunnel: whether it is quiet, and whether feedback is answered by feedback.
//!
//! Packets and pings are always answered. Other datagrams, above all feedback, are answered only while
//! packets take more bytes than the answers: then each end measures every link in both directions. Both ends
//! see the same packets, apart from the delay, so each knows whether its peer answers.

use ropewalk_quantities::Time;

/// After this long without a packet in either direction the tunnel is quiet: links are only kept alive.
const QUIET_AFTER: Time = Time::from_secs(2);
/// Least bytes per second of packets that keep the tunnel busy. Feedback about one link takes 20 kB/s in each
/// direction.
const LEAST_RATE: u64 = 32 * 1024;
/// Traffic keeps the tunnel busy for this time, unless it is quiet: a connection that loses packets sends few
/// until it has retransmitted them.
const LASTS: Time = Time::from_secs(10);
/// An answer is expected only if the tunnel stays busy for this much longer: the peer sees packets earlier or
/// later, and may have seen fewer.
const MARGIN: Time = Time::from_secs(1);

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Activity {
    pub(super) packet_at: Time,
    /// The tunnel is busy until then, unless it becomes quiet.
    until: Time,
}

impl Activity {
    /// Starts measuring a link that is new, is back, or has a new path, with or without packets.
    pub(super) fn begin(&mut self, now: Time) {
        self.packet_at = self.packet_at.max(now);
        self.until = now + LASTS;
    }

    pub(super) fn on_packet(&mut self, now: Time, bytes: u32) {
        self.packet_at = self.packet_at.max(now);
        let adds = Time::from_nanos(u64::from(bytes) * 1_000_000_000 / LEAST_RATE);
        self.until = (self.until.max(now) + adds).min(now + LASTS);
    }

    pub(super) fn quiet_at(&self) -> Time {
        self.packet_at + QUIET_AFTER
    }

    pub(super) fn is_busy(&self, now: Time) -> bool {
        now <= self.until.min(self.quiet_at())
    }

    /// Whether the peer certainly answers everything.
    pub(super) fn is_surely_busy(&self, now: Time) -> bool {
        self.is_busy(now + MARGIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_millis;

    fn pass(activity: &mut Activity, from: Time, packets: u64, bytes: u32) -> Time {
        let passed = (0..packets).map(|number| from + MS(number * 10));
        passed
            .inspect(|at| activity.on_packet(*at, bytes))
            .last()
            .unwrap()
    }

    #[test]
    fn thin_stream_leaves_tunnel_not_busy() {
        let mut activity = Activity::default();
        for number in 0..500 {
            let at = pass(&mut activity, MS(number * 10), 1, 200);
            assert!(!activity.is_busy(at + MS(7)), "{number}");
        }
    }

    #[test]
    fn busy_tunnel_is_quiet_two_seconds_after_last_packet() {
        let mut activity = Activity::default();
        let last = pass(&mut activity, MS(0), 1000, 1400);
        assert!(activity.is_surely_busy(last + MS(1000)));
        assert!(!activity.is_surely_busy(last + MS(1001)));
        assert!(activity.is_busy(last + MS(2000)) && !activity.is_busy(last + MS(2001)));
        assert_eq!(activity.quiet_at(), last + MS(2000));
    }

    #[test]
    fn busy_tunnel_ends_after_ten_seconds_of_little_traffic() {
        let mut activity = Activity::default();
        let last = pass(&mut activity, MS(0), 1000, 1400);
        for second in 1..9 {
            activity.on_packet(last + Time::from_secs(second), 100);
            assert!(activity.is_busy(last + Time::from_secs(second)), "{second}");
        }
        activity.on_packet(last + MS(9900), 100);
        assert!(activity.is_busy(last + MS(9900)) && !activity.is_busy(last + MS(10_100)));
        assert!(!activity.is_surely_busy(last + MS(9900)));
    }
}
