use ropewalk_quantities::Time;

use super::sent::Sent;

/// Newly reported data of an acknowledgement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delivered {
    pub(crate) bytes: u64,
    /// Part of `bytes` not selectively acknowledged before.
    pub(crate) not_sacked: u64,
    pub(crate) sacked: u64,
    /// Transmission time of the most recent cumulatively acknowledged segment that was sent once.
    pub(crate) newest_once: Option<Time>,
    /// Transmission time and end of the most recently sent segment of all; see [`Delivered::new`].
    pub(crate) newest: (Time, u64),
    /// Transmission times of the oldest and the newest selectively acknowledged segments that were sent once.
    pub(crate) sacked_once: Option<(Time, Time)>,
    pub(crate) retransmitted: bool,
    pub(crate) original: bool,
    /// First offset of the lowest segment that was sent once and arrived after a later one.
    pub(crate) late: Option<u64>,
    trusted: Time,
    forward: u64,
}

impl Delivered {
    /// `forward` is the end of the data acknowledged before in any way. For a segment retransmitted after
    /// `trusted` it is ambiguous which transmission arrived, and `newest` excludes it.
    #[inline]
    pub(crate) fn new(forward: u64, trusted: Time) -> Delivered {
        Delivered {
            bytes: 0,
            not_sacked: 0,
            sacked: 0,
            newest_once: None,
            newest: (Time::ZERO, 0),
            sacked_once: None,
            retransmitted: false,
            original: false,
            late: None,
            trusted,
            forward,
        }
    }

    /// Changes the time after which retransmissions are ambiguous.
    #[inline]
    pub(crate) fn trust_until(&mut self, trusted: Time) {
        self.trusted = trusted;
    }

    #[inline]
    pub(super) fn note(&mut self, sent: &Sent) {
        if sent.was_retransmitted() {
            if sent.sent > self.trusted {
                return;
            }
        } else {
            self.original = true;
            if sent.end() < self.forward {
                self.late = Some(self.late.map_or(sent.seq, |late| late.min(sent.seq)));
            }
        }
        self.newest = self.newest.max((sent.sent, sent.end()));
    }

    /// Records a selectively acknowledged segment: an RTT sample, if it was sent once.
    #[inline]
    pub(super) fn note_sacked(&mut self, sent: &Sent) {
        if !sent.was_retransmitted() {
            let (oldest, newest) = self.sacked_once.unwrap_or((sent.sent, sent.sent));
            self.sacked_once = Some((oldest.min(sent.sent), newest.max(sent.sent)));
        }
        self.note(sent);
    }
}
