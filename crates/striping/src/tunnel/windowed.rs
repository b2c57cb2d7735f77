//! Maximum or minimum over a sliding window of time.

use std::collections::VecDeque;

use ropewalk_quantities::Time;

use super::shrink::shrink;

/// With more candidates than this, those close to each other in time are thinned.
const DENSE: usize = 128;
/// Of three successive candidates beyond those, the outer two are at least this part of the window apart.
const PARTS: u64 = 60;

/// The best value of a sliding window of time: the greatest, or with [`core::cmp::Reverse`] the least.
///
/// The newest value never expires: an idle link has not become slower.
///
/// Memory is bounded for all inputs: in a long series of falling values, some are left out, and a value may
/// be dropped a sixtieth of the window too early.
#[derive(Clone, Debug)]
pub struct Windowed<T> {
    span: Time,
    /// Each is better than all after it, so the first is the best.
    candidates: VecDeque<(Time, T)>,
}

impl<T: Copy + Ord> Windowed<T> {
    /// Creates an empty window of this length.
    #[must_use]
    pub fn new(span: Time) -> Windowed<T> {
        Windowed {
            span,
            candidates: VecDeque::new(),
        }
    }

    /// Adds a value; values are in order of time.
    pub fn insert(&mut self, now: Time, value: T) {
        while self.candidates.back().is_some_and(|&(_, v)| v <= value) {
            self.candidates.pop_back();
        }
        let horizon = now.saturating_sub(self.span);
        while self.candidates.front().is_some_and(|&(t, _)| t < horizon) {
            self.candidates.pop_front();
        }
        let len = self.candidates.len();
        if len >= DENSE && now.saturating_sub(self.candidates[len - 2].0) < self.span / PARTS {
            self.candidates.pop_back();
        }
        shrink(&mut self.candidates);
        self.candidates.push_back((now, value));
    }

    /// Returns the best value of the window that ends with the newest one.
    #[must_use]
    pub fn best(&self) -> Option<T> {
        self.candidates.front().map(|&(_, value)| value)
    }

    /// Changes the length, from the next value on.
    pub fn set_span(&mut self, span: Time) {
        self.span = span;
    }

    /// Drops all values.
    pub fn clear(&mut self) {
        self.candidates.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn best_equals_scan_of_window(
            steps in prop::collection::vec((0_u64..5, 0_u64..20), 1..200),
        ) {
            let span = Time::from_millis(10);
            let (mut greatest, mut least) = (Windowed::new(span), Windowed::new(span));
            let (mut now, mut all) = (Time::from_secs(1), Vec::new());
            for (wait, value) in steps {
                now += Time::from_millis(wait);
                all.push((now, value));
                greatest.insert(now, value);
                least.insert(now, Reverse(value));
                let recent = all.iter().filter(|&&(at, _)| at + span >= now).map(|&(_, v)| v);
                prop_assert_eq!(greatest.best(), recent.clone().max());
                prop_assert_eq!(least.best(), recent.min().map(Reverse));
            }
        }
    }

    #[test]
    fn falling_values_take_bounded_memory() {
        let span = Time::from_secs(10);
        let mut window = Windowed::new(span);
        for number in 0..100_000_u64 {
            let now = Time::from_micros(number * 300);
            window.insert(now, Reverse(now));
            assert!(window.candidates.len() <= DENSE + 2 * PARTS as usize + 2);
            let Reverse(best) = window.best().unwrap();
            let oldest = now.saturating_sub(span);
            assert!(
                oldest <= best && best <= oldest + span / PARTS,
                "{best:?} {now:?}"
            );
        }
        assert!(window.candidates.capacity() <= 256);
    }
}
