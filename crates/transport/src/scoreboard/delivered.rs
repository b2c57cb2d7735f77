use ropewalk_quantities::Time;

use super::sent::Sent;

/// What an acknowledgement tells of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delivered {
    /// Bytes acknowledged cumulatively, FIN included.
    pub(crate) bytes: u64,
    /// Of them, those that no selective acknowledgement had covered.
    pub(crate) not_sacked: u64,
    /// Bytes acknowledged selectively and not before.
    pub(crate) sacked: u64,
    /// When the newest of those acknowledged cumulatively that was sent just once was sent.
    pub(crate) newest_once: Option<Time>,
    /// Transmission time and end of the newest of all; see [`Delivered::new`].
    pub(crate) newest: (Time, u64),
    /// When the oldest and the newest of those acknowledged selectively that were sent just once were sent.
    pub(crate) sacked_once: Option<(Time, Time)>,
    /// Of those acknowledged cumulatively, one had been sent again.
    pub(crate) resent: bool,
    /// A segment that was sent just once is among them.
    pub(crate) original: bool,
    /// First offset of the lowest segment that was sent once and came after one that follows it.
    pub(crate) late: Option<u64>,
    trusted: Time,
    forward: u64,
}

impl Delivered {
    /// `forward` is the end of what was acknowledged in any way before. Of a segment that was sent
    /// again after `trusted` it cannot be told which copy arrived, and `newest` leaves it out.
    #[inline]
    pub(crate) fn new(forward: u64, trusted: Time) -> Delivered {
        Delivered {
            bytes: 0,
            not_sacked: 0,
            sacked: 0,
            newest_once: None,
            newest: (Time::ZERO, 0),
            sacked_once: None,
            resent: false,
            original: false,
            late: None,
            trusted,
            forward,
        }
    }

    /// From here on, another time after which it cannot be told which copy arrived.
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

    /// Acknowledged selectively: a sample of the round-trip time, if it was sent just once.
    #[inline]
    pub(super) fn note_sacked(&mut self, sent: &Sent) {
        if !sent.was_retransmitted() {
            let (oldest, newest) = self.sacked_once.unwrap_or((sent.sent, sent.sent));
            self.sacked_once = Some((oldest.min(sent.sent), newest.max(sent.sent)));
        }
        self.note(sent);
    }
}
