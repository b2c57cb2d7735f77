//! First messages of handshakes that were there: who sends one again learns nothing by it.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use crate::keys::PublicKey;

/// Most that are remembered of a client: of a link that is dialled eight times a second, those of two
/// minutes; of one that holds, those of months.
const MOST: usize = 1024;

/// What tells one from all others: the beginning of its ephemeral key, which is random.
type Mark = [u8; 16];

/// The first messages of each client, as far as they are remembered. Only clients of the list can
/// make any, so their number bounds the memory (16 KiB each).
#[derive(Debug, Default)]
pub(super) struct Hellos(Mutex<HashMap<PublicKey, VecDeque<Mark>>>);

impl Hellos {
    /// A first message of this client: whether it is new.
    pub(super) fn take(&self, client: &PublicKey, hello: &[u8]) -> bool {
        let Some(&mark) = hello.first_chunk() else {
            return false;
        };
        let mut hellos = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = hellos.entry(*client).or_default();
        if known.contains(&mark) {
            return false;
        }
        if known.len() == MOST {
            known.pop_front();
        }
        known.push_back(mark);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_taken_once_and_memory_is_bounded() {
        let hellos = Hellos::default();
        let [van, train] = [1, 2].map(|byte| PublicKey::from_bytes([byte; 32]));
        let hello = |number: u32| [number.to_be_bytes(); 24].concat();
        assert!(hellos.take(&van, &hello(0)));
        assert!(!hellos.take(&van, &hello(0)));
        assert!(hellos.take(&train, &hello(0)));
        assert!(!hellos.take(&van, b"short"));
        for number in 1..5000 {
            assert!(hellos.take(&van, &hello(number)));
            assert!(!hellos.take(&van, &hello(number)));
        }
        assert_eq!(hellos.0.lock().unwrap()[&van].len(), MOST);
    }
}
