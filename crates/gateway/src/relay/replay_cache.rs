//! Replay detection for first messages of handshakes: an attacker that repeats one learns nothing.

use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;

use crate::keys::PublicKey;
use crate::lock::lock;

/// Number of remembered messages per client: two minutes of a link dialled eight times a second.
const MAX: usize = 1024;

/// Identifier of a message: the beginning of its ephemeral key, which is random.
type Mark = [u8; 16];

/// Recent first messages of each listed client: at most 16 KiB for each.
#[derive(Debug, Default)]
pub(super) struct ReplayCache(Mutex<HashMap<PublicKey, VecDeque<Mark>>>);

impl ReplayCache {
    /// Records a client's first message; returns whether it is new.
    pub(super) fn take(&self, client: &PublicKey, hello: &[u8]) -> bool {
        let Some(&mark) = hello.first_chunk() else {
            return false;
        };
        let mut replay_cache = lock(&self.0);
        let known = replay_cache.entry(*client).or_default();
        if known.contains(&mark) {
            return false;
        }
        if known.len() == MAX {
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
    fn message_is_accepted_once_and_memory_is_bounded() {
        let replay_cache = ReplayCache::default();
        let [van, train] = [1, 2].map(|byte| PublicKey::from_bytes([byte; 32]));
        let hello = |number: u32| [number.to_be_bytes(); 24].concat();
        assert!(replay_cache.take(&van, &hello(0)));
        assert!(!replay_cache.take(&van, &hello(0)));
        assert!(replay_cache.take(&train, &hello(0)));
        assert!(!replay_cache.take(&van, b"short"));
        for number in 1..5000 {
            assert!(replay_cache.take(&van, &hello(number)));
            assert!(!replay_cache.take(&van, &hello(number)));
        }
        assert_eq!(replay_cache.0.lock().unwrap()[&van].len(), MAX);
    }
}
