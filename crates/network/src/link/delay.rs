//! Propagation delay of transmitted packets.

use rand_pcg::Pcg64Mcg;
use ropewalk_quantities::Time;

use crate::config::Jitter;
use crate::uniform::uniform;

#[derive(Clone, Debug)]
pub(crate) struct Delay {
    pub(crate) nominal: Time,
    jitter: Option<Jitter>,
    stream: Pcg64Mcg,
}

impl Delay {
    /// Creates a delay; zero jitter counts as none and uses no random numbers.
    pub(crate) fn new(nominal: Time, jitter: Option<Jitter>, stream: Pcg64Mcg) -> Delay {
        Delay {
            nominal,
            jitter: jitter.filter(|jitter| jitter.most() > Time::ZERO),
            stream,
        }
    }

    pub(crate) fn is_constant(&self) -> bool {
        self.jitter.is_none()
    }

    /// Returns whether a packet may overtake another.
    #[inline]
    pub(crate) fn reorders(&self) -> bool {
        self.jitter.as_ref().is_some_and(Jitter::reorders)
    }

    /// Returns the delay of a packet that is transmitted at `departure`. Uniform jitter is drawn around the
    /// nominal delay; a negative result becomes zero, as in netem.
    #[inline]
    pub(crate) fn next(&mut self, departure: Time) -> Time {
        match &self.jitter {
            None => self.nominal,
            Some(Jitter::Recorded(trace)) => self.nominal + trace.at(departure),
            Some(Jitter::Uniform { amount, .. }) => {
                let width = amount.as_nanos() as f64 * 2.0;
                let above_least = Time::from_nanos((uniform(&mut self.stream) * width) as u64);
                (self.nominal + above_least).saturating_sub(*amount)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::trace::DelayTrace;

    fn delays(nominal_ms: u64, amount_ms: u64) -> Vec<f64> {
        let jitter = Jitter::Uniform {
            amount: Time::from_millis(amount_ms),
            reorder: true,
        };
        let nominal = Time::from_millis(nominal_ms);
        let mut delay = Delay::new(nominal, Some(jitter), Pcg64Mcg::new(9));
        (0..100_000)
            .map(|_| delay.next(Time::ZERO).as_millis_f64())
            .collect()
    }

    #[test]
    fn jitter_is_uniform_around_the_delay() {
        let delays = delays(30, 10);
        let mean = delays.iter().sum::<f64>() / 1e5;
        let variance = delays.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / 1e5;
        assert!((mean - 30.0).abs() < 0.1, "{mean}");
        assert!(
            (variance - 20.0_f64.powi(2) / 12.0).abs() < 0.3,
            "{variance}"
        );
        assert!(delays.iter().all(|d| (20.0..40.0).contains(d)));
        assert!(delays.iter().any(|d| *d < 20.01) && delays.iter().any(|d| *d > 39.99));
    }

    #[test]
    fn a_delay_is_never_negative() {
        let delays = delays(10, 20);
        let at_once = delays.iter().filter(|d| **d == 0.0).count();
        assert!((24_000..26_000).contains(&at_once), "{at_once}");
    }

    #[test]
    fn recorded_delays_are_those_at_the_departure() {
        let trace = DelayTrace::parse("a", "0 5\n1000 20").unwrap();
        let recorded = Jitter::Recorded(Arc::new(trace));
        let mut delay = Delay::new(Time::from_millis(10), Some(recorded), Pcg64Mcg::new(9));
        assert!(!delay.is_constant() && !delay.reorders());
        assert_eq!(delay.next(Time::from_millis(999)), Time::from_millis(15));
        assert_eq!(delay.next(Time::from_secs(1)), Time::from_millis(30));
    }

    #[test]
    fn no_jitter_draws_no_random_numbers() {
        let none = Jitter::Uniform {
            amount: Time::ZERO,
            reorder: true,
        };
        let mut delay = Delay::new(Time::from_millis(1), Some(none), Pcg64Mcg::new(9));
        assert_eq!(delay.next(Time::ZERO), Time::from_millis(1));
        assert!(!delay.reorders());
        assert_eq!(delay.stream, Pcg64Mcg::new(9));
    }
}
