//! Playback of a video: each frame or chunk is shown at its time; playback stalls if the next has not
//! arrived.

use ropewalk_quantities::Time;

use crate::outcome::Stall;

/// Playback that starts with a full buffer, and again after a stall.
#[derive(Clone, Debug)]
pub(crate) struct Playout {
    interval: Time,
    /// Frames in the buffer before the first is shown.
    needed: u64,
    arrived: u64,
    shown: u64,
    state: State,
    started_after: Option<Time>,
    stalls: u64,
    stalled: Time,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// Since this time; the first filling is not a stall.
    Filling(Time),
    Playing(Time),
}

impl Playout {
    /// Creates the playback of frames at this interval, the first written at `start`.
    pub(crate) fn new(buffer: Time, interval: Time, start: Time) -> Playout {
        let needed = buffer.as_nanos().div_ceil(interval.as_nanos().max(1));
        Playout {
            interval,
            needed: needed.max(1),
            arrived: 0,
            shown: 0,
            state: State::Filling(start),
            started_after: None,
            stalls: 0,
            stalled: Time::ZERO,
        }
    }

    /// Adds a frame that has arrived completely.
    pub(crate) fn frame(&mut self, now: Time) {
        self.play_until(now);
        self.arrived += 1;
        if let State::Filling(since) = self.state
            && self.arrived - self.shown >= self.needed
        {
            match self.started_after {
                Some(_) => self.stalled += now - since,
                None => self.started_after = Some(now),
            }
            self.state = State::Playing(now);
        }
    }

    pub(crate) fn buffered(&mut self, now: Time) -> Time {
        self.play_until(now);
        let whole = self.interval * (self.arrived - self.shown);
        match self.state {
            State::Filling(_) => whole,
            // The current frame lasts until the next one.
            State::Playing(next) => whole + next.saturating_sub(now),
        }
    }

    pub(crate) fn is_playing(&self) -> bool {
        matches!(self.state, State::Playing(_))
    }

    fn play_until(&mut self, now: Time) {
        let State::Playing(mut next) = self.state else {
            return;
        };
        while next < now && self.shown < self.arrived {
            self.shown += 1;
            next += self.interval;
        }
        self.state = match next < now {
            true => {
                self.stalls += 1;
                State::Filling(next)
            }
            false => State::Playing(next),
        };
    }

    pub(crate) fn end(&self, end: Time) -> Stall {
        let mut player = self.clone();
        player.play_until(end);
        let mut stalled = player.stalled;
        if let (State::Filling(since), Some(_)) = (player.state, player.started_after) {
            stalled += end.saturating_sub(since);
        }
        let started = player.started_after;
        let played = started.map_or(Time::ZERO, |from| end.saturating_sub(from));
        Stall {
            count: player.stalls,
            total_s: stalled.as_secs_f64(),
            share: match played {
                Time::ZERO => 0.0,
                _ => stalled.as_secs_f64() / played.as_secs_f64(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_frame_stalls_until_buffer_refills() {
        let ms = Time::from_millis;
        let mut player = Playout::new(ms(80), ms(40), Time::ZERO);
        // Starts at 60 with two frames, shows them at 60 and 100, and has none at 140.
        for at in [20, 60] {
            player.frame(ms(at));
        }
        // One frame is not enough; playback continues with the second.
        for at in [200, 230] {
            player.frame(ms(at));
        }
        assert_eq!(
            player.end(ms(260)),
            Stall {
                count: 1,
                total_s: 0.09,
                share: 0.09 / 0.2
            }
        );
        // Nothing at 310 either.
        let stall = player.end(ms(330));
        assert_eq!((stall.count, stall.total_s), (2, 0.11));
    }

    #[test]
    fn initial_buffering_is_no_stall() {
        let ms = Time::from_millis;
        let mut player = Playout::new(ms(200), ms(40), Time::ZERO);
        player.frame(ms(20));
        let stall = player.end(ms(1000));
        assert_eq!((stall.count, stall.total_s, stall.share), (0, 0.0, 0.0));
        // Nor at the start.
        (0..4).for_each(|_| player.frame(ms(1000)));
        assert_eq!(player.end(ms(1000)).share, 0.0);
    }
}
