//! How long a packet takes from one end to the other, once it has been sent.

use rand_pcg::Pcg64Mcg;
use ropewalk_quantities::Time;

use crate::config::Jitter;
use crate::uniform::uniform;

/// A delay, constant or varying.
#[derive(Clone, Debug)]
pub(crate) struct Delay {
    nominal: Time,
    jitter: Option<Jitter>,
    stream: Pcg64Mcg,
}

impl Delay {
    /// A jitter of zero is none, and draws nothing.
    pub(crate) fn new(nominal: Time, jitter: Option<Jitter>, stream: Pcg64Mcg) -> Delay {
        Delay {
            nominal,
            jitter: jitter.filter(|jitter| jitter.amount > Time::ZERO),
            stream,
        }
    }

    /// Whether a packet may overtake another.
    #[inline]
    pub(crate) fn reorders(&self) -> bool {
        self.jitter.is_some_and(|jitter| jitter.reorder)
    }

    /// The delay of the next packet: uniform within the jitter around the
    /// nominal delay, and never negative (netem, too, sends such a packet at once).
    #[inline]
    pub(crate) fn next(&mut self) -> Time {
        match self.jitter {
            None => self.nominal,
            Some(jitter) => {
                let width = jitter.amount.as_nanos() as f64 * 2.0;
                let above_least = Time::from_nanos((uniform(&mut self.stream) * width) as u64);
                (self.nominal + above_least).saturating_sub(jitter.amount)
            }
        }
    }
}
