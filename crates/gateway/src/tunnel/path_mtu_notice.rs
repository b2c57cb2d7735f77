//! Path MTU of a link, which each end announces to the other in frames PATH_MTU.

use ropewalk_quantities::Time;

/// Number and interval of announcements of a path MTU, since the frame may be lost.
const TIMES: u8 = 3;
const EVERY: Time = Time::from_secs(1);

/// The path MTU of a link that was announced to the peer, and the peer's own.
#[derive(Clone, Copy, Debug, Default)]
pub struct PathMtuNotice {
    told: u16,
    told_at: Time,
    /// Number of announcements so far.
    times: u8,
    theirs: Option<u16>,
}

impl PathMtuNotice {
    #[must_use]
    pub fn is_due(&self, now: Time, bytes: u16) -> bool {
        let is_news = self.times == 0 || self.told != bytes;
        is_news || self.times < TIMES && now >= self.told_at + EVERY
    }

    pub fn on_told(&mut self, now: Time, bytes: u16) {
        self.times = match self.told == bytes {
            true => self.times + 1,
            false => 1,
        };
        (self.told, self.told_at) = (bytes, now);
    }

    #[must_use]
    pub fn theirs(&self) -> Option<u16> {
        self.theirs
    }

    pub fn on_theirs(&mut self, bytes: u16) {
        self.theirs = Some(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_mtu_is_told_three_times_and_at_once_when_it_changes() {
        let mut notice = PathMtuNotice::default();
        let mut told = Vec::new();
        for ms in 0..10_000_u64 {
            let (now, bytes) = (Time::from_millis(ms), if ms < 5500 { 1400 } else { 1300 });
            if notice.is_due(now, bytes) {
                notice.on_told(now, bytes);
                told.push((ms, bytes));
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
        assert_eq!(told, expected);
    }

    #[test]
    fn path_mtu_of_zero_is_told_too() {
        let mut notice = PathMtuNotice::default();
        assert!(notice.is_due(Time::ZERO, 0));
        notice.on_told(Time::ZERO, 0);
        assert!(!notice.is_due(Time::ZERO, 0));
        assert_eq!(notice.theirs(), None);
        notice.on_theirs(1280);
        assert_eq!(notice.theirs(), Some(1280));
    }
}
