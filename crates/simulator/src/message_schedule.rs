//! Times and sizes of messages: at constant rate, Poisson, or frames of a video.

use rand_pcg::Pcg64Mcg;
use ropewalk_quantities::Time;
use ropewalk_scenario::{Spacing, Traffic};

use crate::random::exponential;
use crate::video_frames::FrameSizes;

/// Times and sizes of messages.
///
/// They depend only on scenario and seed, so all carriers of the traffic, in virtual time or over sockets,
/// write at the same times. The reading end, with its own schedule, knows when each message was due.
#[derive(Clone, Debug)]
pub struct MessageSchedule {
    sizes: Sizes,
    gaps: Gaps,
    next: Time,
}

#[derive(Clone, Debug)]
enum Sizes {
    Same(u64),
    Frames(FrameSizes),
}

#[derive(Clone, Debug)]
enum Gaps {
    Constant(Time),
    Exponential { mean_ns: f64, random: Pcg64Mcg },
}

impl MessageSchedule {
    /// Creates the schedule of messages from `start` until before `end`; over this time the mean of a video
    /// is its rate. Returns `None` for traffic without a schedule: bulk transfers and requests.
    pub fn new(
        traffic: &Traffic,
        start: Time,
        end: Time,
        random: Pcg64Mcg,
    ) -> Option<MessageSchedule> {
        let (sizes, gaps) = match *traffic {
            Traffic::Bulk { .. } | Traffic::Requested(_) => return None,
            Traffic::Messages {
                spacing,
                rate,
                message,
                ..
            } => {
                let gaps = match spacing {
                    Spacing::Constant => Gaps::Constant(rate.transmission_time(message)),
                    Spacing::Exponential => Gaps::Exponential {
                        mean_ns: message.as_u64() as f64 * 8e9 / rate.as_bps() as f64,
                        random,
                    },
                };
                (Sizes::Same(message.as_u64()), gaps)
            }
            Traffic::Video(ref video) => {
                let sizes = FrameSizes::new(video, end.saturating_sub(start), random);
                let gap = Time::from_secs_f64(1.0 / video.frame_rate);
                (Sizes::Frames(sizes), Gaps::Constant(gap))
            }
        };
        Some(MessageSchedule {
            sizes,
            gaps,
            next: start,
        })
    }

    /// Returns the size of the next message.
    #[inline]
    pub fn message(&self) -> u64 {
        match &self.sizes {
            Sizes::Same(size) => *size,
            Sizes::Frames(frames) => frames.size(),
        }
    }

    /// Returns the mean interval of messages.
    pub fn spacing(&self) -> Time {
        match self.gaps {
            Gaps::Constant(spacing) => spacing,
            Gaps::Exponential { mean_ns, .. } => Time::from_nanos(mean_ns as u64),
        }
    }

    /// Returns when the next message is due.
    #[inline]
    pub fn next(&self) -> Time {
        self.next
    }

    /// Advances to the message after the next.
    pub fn advance(&mut self) {
        if let Sizes::Frames(frames) = &mut self.sizes {
            frames.advance();
        }
        self.next += match &mut self.gaps {
            Gaps::Constant(spacing) => (*spacing).max(Time::from_nanos(1)),
            Gaps::Exponential { mean_ns, random } => {
                Time::from_nanos((exponential(random) * *mean_ns) as u64)
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use ropewalk_network::stream;
    use ropewalk_quantities::{Bytes, Rate};
    use ropewalk_scenario::Scenario;

    use super::*;
    use crate::{Options, simulate};

    #[test]
    fn constant_rate_is_evenly_spaced() {
        let traffic = Traffic::Messages {
            spacing: Spacing::Constant,
            rate: Rate::from_bps(160_000),
            message: Bytes::new(200),
            deadline: None,
        };
        let mut schedule =
            MessageSchedule::new(&traffic, Time::ZERO, Time::MAX, stream(1, "flow/traffic"))
                .unwrap();
        assert_eq!(schedule.message(), 200);
        for number in 0..5 {
            assert_eq!(schedule.next(), Time::from_millis(10 * number));
            schedule.advance();
        }
    }

    #[test]
    fn bulk_has_no_messages() {
        let traffic = Traffic::Bulk { size: None };
        assert!(
            MessageSchedule::new(&traffic, Time::ZERO, Time::MAX, stream(1, "flow/traffic"))
                .is_none()
        );
    }

    /// Over a link with spare capacity, messages due 10 ms before the end have arrived, and messages due
    /// less than 5 ms before it have not.
    #[test]
    fn a_run_writes_poisson_messages_when_they_are_due() {
        let text = r#"
            duration = "3 s"
            [[link]]
            name = "wire"
            rate = "10 Gbit/s"
            delay = "5 ms"
            [transport]
            protocol = "tcp"
            [traffic]
            kind = "poisson"
            rate = "400 kbit/s"
            message = "100 B"
        "#;
        let mut no_traces = |_: &str| Err("no such file".to_owned());
        let scenario = Scenario::parse(text, "poisson.toml", &[], &mut no_traces).unwrap();
        for seed in 1..=5 {
            let simulated = simulate(&scenario, seed, &Options::default()).unwrap();
            let mut schedule = MessageSchedule::new(
                &scenario.measured_flow().traffic,
                Time::ZERO,
                Time::MAX,
                stream(seed, "flow/traffic"),
            )
            .unwrap();
            let mut due_before = |millis| {
                let mut count = 0;
                while schedule.next() < Time::from_millis(millis) {
                    schedule.advance();
                    count += 1;
                }
                count
            };
            let surely = due_before(2_990);
            let perhaps = surely + due_before(2_995);
            let arrived = simulated.summary.delivered_bytes / 100;
            assert!(
                (surely..=perhaps).contains(&arrived),
                "{surely} {arrived} {perhaps}"
            );
            assert!(perhaps - surely < 15);
        }
    }
}
