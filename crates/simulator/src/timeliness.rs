//! Deadlines of a flow's messages, met and missed.

use std::ops::AddAssign;

use ropewalk_quantities::Time;
use ropewalk_scenario::Traffic;

use crate::metrics::Histogram;
use crate::outcome::{ApplicationSummary, MessagesSummary, Stall, VideoSummary};
use crate::playout::Playout;

/// Counter of deadlines met and missed, from the end of the warm-up on.
#[derive(Debug)]
pub struct Timeliness {
    deadline: Time,
    warmup: Time,
    messages: u64,
    late: u64,
    late_bytes: u64,
    player: Option<Playout>,
}

/// Counts of messages and late messages.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LateCounts {
    /// Messages that arrived or whose deadline has passed.
    pub messages: u64,
    /// Messages that arrived late or never.
    pub late: u64,
    /// Bytes of the late messages.
    pub late_bytes: u64,
}

impl LateCounts {
    /// Returns the percentage of late messages; 0 without messages.
    pub(crate) fn percent(self) -> f64 {
        100.0 * self.late as f64 / self.messages.max(1) as f64
    }

    /// Returns the summary of messages or of a video.
    #[must_use]
    pub fn summary(
        self,
        traffic: &Traffic,
        delays: &Histogram,
        stall: Option<Stall>,
    ) -> ApplicationSummary {
        let (count, late_percent, late_bytes) = (self.messages, self.percent(), self.late_bytes);
        match traffic {
            Traffic::Video(_) => ApplicationSummary {
                video: Some(VideoSummary {
                    frames: count,
                    late_percent,
                    late_bytes,
                    frame_delay_ms: delays.summary(),
                    stall,
                }),
                ..ApplicationSummary::default()
            },
            Traffic::Bulk { .. } | Traffic::Messages { .. } | Traffic::Requested(_) => {
                ApplicationSummary {
                    messages: Some(MessagesSummary {
                        count,
                        late_percent,
                        late_bytes,
                    }),
                    ..ApplicationSummary::default()
                }
            }
        }
    }
}

impl AddAssign for LateCounts {
    fn add_assign(&mut self, other: LateCounts) {
        self.messages += other.messages;
        self.late += other.late;
        self.late_bytes += other.late_bytes;
    }
}

impl Timeliness {
    /// Creates the counter of traffic whose messages have a deadline, from `start` on.
    pub fn of(traffic: &Traffic, start: Time, warmup: Time) -> Option<Timeliness> {
        let player = match traffic {
            Traffic::Video(video) => video.buffer.map(|buffer| {
                let interval = Time::from_secs_f64(1.0 / video.frame_rate);
                Playout::new(buffer, interval, start)
            }),
            Traffic::Bulk { .. } | Traffic::Messages { .. } => None,
            // For requests the reader counts late responses.
            Traffic::Requested(_) => return None,
        };
        Some(Timeliness {
            deadline: traffic.deadline()?,
            warmup,
            messages: 0,
            late: 0,
            late_bytes: 0,
            player,
        })
    }

    /// Counts a message of this size, written at `written`, that has arrived.
    pub fn arrived(&mut self, now: Time, size: u64, written: Time) {
        if let Some(player) = &mut self.player {
            player.frame(now);
        }
        if written < self.warmup {
            return;
        }
        self.messages += 1;
        if now > written + self.deadline {
            self.late += 1;
            self.late_bytes += size;
        }
    }

    /// Returns the counts at the end of the run. Undelivered messages are given by size and time of their
    /// write.
    pub fn late(&self, end: Time, undelivered: impl Iterator<Item = (u64, Time)>) -> LateCounts {
        let mut late = LateCounts {
            messages: self.messages,
            late: self.late,
            late_bytes: self.late_bytes,
        };
        let over = |written: &Time| *written + self.deadline < end;
        for (size, written) in undelivered.take_while(|(_, written)| over(written)) {
            if written >= self.warmup {
                late.messages += 1;
                late.late += 1;
                late.late_bytes += size;
            }
        }
        late
    }

    /// Returns the playing time in the buffer of its player, if it has one.
    pub(crate) fn buffered(&mut self, now: Time) -> Option<Time> {
        Some(self.player.as_mut()?.buffered(now))
    }

    /// Returns the stalls of its player until `end`, if it has one.
    pub fn stall(&self, end: Time) -> Option<Stall> {
        Some(self.player.as_ref()?.end(end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_counts_overdue_and_missing_messages() {
        let ms = Time::from_millis;
        let mut timeliness = Timeliness {
            deadline: ms(100),
            warmup: ms(1000),
            messages: 0,
            late: 0,
            late_bytes: 0,
            player: None,
        };
        for (size, written, arrives) in [(1, 999, 2000), (2, 1000, 1100), (4, 1010, 1111)] {
            timeliness.arrived(ms(arrives), size, ms(written));
        }
        // The first undelivered message was written in the warm-up, and the last may still be in time.
        let undelivered = [(8, 900), (16, 1020), (32, 1099), (64, 1100), (128, 1101)];
        let undelivered = undelivered.map(|(size, written)| (size, ms(written)));
        let late = timeliness.late(ms(1200), undelivered.into_iter());
        let expected = LateCounts {
            messages: 4,
            late: 3,
            late_bytes: 4 + 16 + 32,
        };
        assert_eq!(late, expected);
    }
}
