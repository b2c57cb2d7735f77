//! Path MTU of a link, which each end announces to the other in frames PATH_MTU.

use ropewalk_quantities::Time;

/// Number and interval of announcements of a path MTU, since the frame may be lost.
const REPEATS: u8 = 3;
const INTERVAL: Time = Time::from_secs(1);

/// The path MTU of a link that was announced to the peer, and the peer's own.
#[derive(Clone, Copy, Debug, Default)]
pub struct PathMtuNotice {
    announced: u16,
    announced_at: Time,
    /// Number of announcements so far.
    repeats: u8,
    peer_path_mtu: Option<u16>,
}

impl PathMtuNotice {
    #[must_use]
    pub fn is_due(&self, now: Time, bytes: u16) -> bool {
        let is_new = self.repeats == 0 || self.announced != bytes;
        is_new || self.repeats < REPEATS && now >= self.announced_at + INTERVAL
    }

    pub fn on_announced(&mut self, now: Time, bytes: u16) {
        self.repeats = match self.announced == bytes {
            true => self.repeats + 1,
            false => 1,
        };
        (self.announced, self.announced_at) = (bytes, now);
    }

    #[must_use]
    pub fn peer_path_mtu(&self) -> Option<u16> {
        self.peer_path_mtu
    }

    pub fn on_peer_path_mtu(&mut self, bytes: u16) {
        self.peer_path_mtu = Some(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_mtu_is_announced_three_times_after_each_change() {
        let mut notice = PathMtuNotice::default();
        let mut announced = Vec::new();
        for ms in 0..10_000_u64 {
            let (now, bytes) = (Time::from_millis(ms), if ms < 5500 { 1400 } else { 1300 });
            if notice.is_due(now, bytes) {
                notice.on_announced(now, bytes);
                announced.push((ms, bytes));
            }
        }
        let expected = [
            (0, 1400),
            (1000, 1400),
            (2000, 1400),
            (5500, 1300),
            (6500, 1300),
            (7500, 1300),
        ];
        assert_eq!(announced, expected);
    }

    #[test]
    fn path_mtu_of_zero_is_announced() {
        let mut notice = PathMtuNotice::default();
        assert!(notice.is_due(Time::ZERO, 0));
        notice.on_announced(Time::ZERO, 0);
        assert!(!notice.is_due(Time::ZERO, 0));
        assert_eq!(notice.peer_path_mtu(), None);
        notice.on_peer_path_mtu(1280);
        assert_eq!(notice.peer_path_mtu(), Some(1280));
    }
}
