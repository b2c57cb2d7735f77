//! Replay protection for the datagrams of a link (RFC 6479's sliding window).

const BITS: u64 = 64;
const WORDS: u64 = 64;

/// A window over the newest sequences: each is accepted once, and older ones are refused.
#[derive(Clone, Debug)]
pub struct ReplayWindow {
    /// One above the highest that was accepted.
    next: u64,
    words: [u64; WORDS as usize],
}

impl Default for ReplayWindow {
    fn default() -> ReplayWindow {
        ReplayWindow {
            next: 0,
            words: [0; WORDS as usize],
        }
    }
}

impl ReplayWindow {
    /// Distance of an accepted sequence to the highest; one word is kept free to slide into.
    pub const SPAN: u64 = (WORDS - 1) * BITS;

    /// Whether `sequence` would be accepted.
    #[must_use]
    pub fn is_new(&self, sequence: u64) -> bool {
        if sequence >= self.next {
            return true;
        }
        self.next - sequence <= ReplayWindow::SPAN
            && self.words[word(sequence)] & 1 << (sequence % BITS) == 0
    }

    /// Accepts `sequence`, once its datagram is authenticated; false if it was accepted before or is too old.
    pub fn take(&mut self, sequence: u64) -> bool {
        if !self.is_new(sequence) {
            return false;
        }
        if sequence >= self.next {
            let newest = self.next.saturating_sub(1) / BITS;
            let steps = (sequence / BITS - newest).min(WORDS);
            for step in 0..steps {
                self.words[((sequence / BITS - step) % WORDS) as usize] = 0;
            }
            self.next = sequence + 1;
        }
        self.words[word(sequence)] |= 1 << (sequence % BITS);
        true
    }
}

fn word(sequence: u64) -> usize {
    (sequence / BITS % WORDS) as usize
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_is_taken_once() {
        let mut window = ReplayWindow::default();
        assert!(window.take(0) && window.take(2) && window.take(1));
        assert!(!window.take(0) && !window.take(1) && !window.take(2));
    }

    #[test]
    fn old_sequences_are_refused() {
        let mut window = ReplayWindow::default();
        assert!(window.take(10_000));
        assert!(window.take(10_001 - ReplayWindow::SPAN));
        assert!(!window.take(10_000 - ReplayWindow::SPAN));
    }

    proptest! {
        #[test]
        fn replay_window_equals_a_set(
            steps in prop::collection::vec((0_u64..3, 0_u64..9000), 1..400),
        ) {
            let mut window = ReplayWindow::default();
            let (mut taken, mut next) = (BTreeSet::new(), 0_u64);
            for (way, by) in steps {
                let sequence = match way {
                    0 => next + by % 200,
                    1 => next + by,
                    _ => next.saturating_sub(by),
                };
                let recent = sequence >= next || next - sequence <= ReplayWindow::SPAN;
                let expected = recent && !taken.contains(&sequence);
                prop_assert_eq!(window.is_new(sequence), expected);
                prop_assert_eq!(window.take(sequence), expected);
                if expected {
                    taken.insert(sequence);
                    next = next.max(sequence + 1);
                }
            }
        }
    }
}
