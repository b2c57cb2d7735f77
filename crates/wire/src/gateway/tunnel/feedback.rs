//! Reception report of a link.

use ropewalk_quantities::Time;

use crate::error::Malformed;
use crate::field::{at_least, u16_at, u32_at, u64_at};

/// Flag in the number of gaps: the mask of excluded links follows. And the mask's length.
const LEFT_OUT: u8 = 0x80;
const LEFT_OUT_LEN: usize = 8;

/// Reception report of a link: progress, times and gaps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Feedback {
    /// Link of the received data.
    pub link: u8,
    /// Highest sequence received.
    pub highest: u64,
    /// Distinct datagrams received.
    pub received: u64,
    /// Bytes received, IP headers included.
    pub bytes: u64,
    /// Receiver's clock at arrival of the highest, in microseconds modulo 2^32.
    pub clock: u32,
    /// Time since then.
    pub delay: Time,
    /// All sequences below have arrived or been reported missing often enough.
    pub settled: u64,
    /// Bit mask of links on which the sender of the feedback sends no packets of flows. Delivery in
    /// step ignores them.
    pub left_out: u64,
    /// Gaps below the highest, to be reported now.
    pub missing: Missing,
}

impl Feedback {
    /// Frame length without gaps and mask.
    const MIN_LEN: usize = 39;

    /// Length of the frame.
    #[must_use]
    pub fn frame_len(&self) -> usize {
        let left_out = if self.left_out == 0 { 0 } else { LEFT_OUT_LEN };
        Feedback::MIN_LEN + left_out + Missing::GAP_LEN * self.missing.gaps().len()
    }

    pub(super) fn emit(&self, out: &mut Vec<u8>) {
        out.push(self.link);
        out.extend_from_slice(&self.highest.to_be_bytes());
        out.extend_from_slice(&self.received.to_be_bytes());
        out.extend_from_slice(&self.bytes.to_be_bytes());
        out.extend_from_slice(&self.clock.to_be_bytes());
        let delay = self.delay.as_nanos() / 1000;
        let delay = u32::try_from(delay).unwrap_or(u32::MAX);
        out.extend_from_slice(&delay.to_be_bytes());
        let open = (self.highest + 1).saturating_sub(self.settled);
        let open = u32::try_from(open).unwrap_or(u32::MAX);
        out.extend_from_slice(&open.to_be_bytes());
        if self.left_out == 0 {
            out.push(self.missing.len);
        } else {
            out.push(self.missing.len | LEFT_OUT);
            out.extend_from_slice(&self.left_out.to_be_bytes());
        }
        for gap in self.missing.gaps() {
            let behind = self.highest.saturating_sub(gap.first);
            let behind = u32::try_from(behind).unwrap_or(u32::MAX);
            out.extend_from_slice(&behind.to_be_bytes());
            out.extend_from_slice(&gap.count.to_be_bytes());
        }
    }

    /// Parses a frame that begins with its type; returns its length too.
    pub(super) fn parse(bytes: &[u8]) -> Result<(Feedback, usize), Malformed> {
        at_least(Feedback::MIN_LEN, bytes)?;
        let mut feedback = Feedback {
            link: bytes[1],
            highest: u64_at(bytes, 2),
            received: u64_at(bytes, 10),
            bytes: u64_at(bytes, 18),
            clock: u32_at(bytes, 26),
            delay: Time::from_micros(u64::from(u32_at(bytes, 30))),
            settled: 0,
            left_out: 0,
            missing: Missing::default(),
        };
        let open = u64::from(u32_at(bytes, 34));
        feedback.settled = feedback.highest.saturating_add(1).saturating_sub(open);
        let count = bytes[Feedback::MIN_LEN - 1];
        let gaps = usize::from(count & !LEFT_OUT);
        if gaps > Missing::MAX {
            return Err(Malformed::FrameType(bytes[0]));
        }
        let mut start = Feedback::MIN_LEN;
        if count & LEFT_OUT != 0 {
            at_least(start + LEFT_OUT_LEN, bytes)?;
            feedback.left_out = u64_at(bytes, start);
            start += LEFT_OUT_LEN;
        }
        let len = start + Missing::GAP_LEN * gaps;
        at_least(len, bytes)?;
        for at in (start..len).step_by(Missing::GAP_LEN) {
            let behind = u64::from(u32_at(bytes, at));
            feedback.missing.push(Gap {
                first: feedback.highest.saturating_sub(behind),
                count: u16_at(bytes, at + 4),
            });
        }
        Ok((feedback, len))
    }
}

/// A run of missing datagrams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gap {
    /// Sequence of the first datagram.
    pub first: u64,
    /// Number of datagrams.
    pub count: u16,
}

/// Gaps of a feedback frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Missing {
    gaps: [Gap; Missing::MAX],
    len: u8,
}

impl Missing {
    /// Most gaps in a frame.
    pub const MAX: usize = 8;
    const GAP_LEN: usize = 6;

    /// Adds a gap; false if the frame is full.
    pub fn push(&mut self, gap: Gap) -> bool {
        let slot = self.gaps.get_mut(usize::from(self.len));
        let Some(slot) = slot else { return false };
        *slot = gap;
        self.len += 1;
        true
    }

    /// The gaps.
    #[must_use]
    pub fn gaps(&self) -> &[Gap] {
        &self.gaps[..usize::from(self.len)]
    }
}
