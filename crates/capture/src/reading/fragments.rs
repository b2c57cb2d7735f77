//! Reassembly of IP fragments (RFC 791, section 3.2; RFC 8200, section 4.5) in bounded memory.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;

use etherparse::IpFragOffset;
use etherparse::IpNumber;
use etherparse::defrag::IpDefragBuf;

/// Largest number of packets in reassembly, each up to 64 KiB.
const MOST: usize = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct FragmentId {
    pub(super) source: IpAddr,
    pub(super) destination: IpAddr,
    pub(super) identification: u32,
    pub(super) protocol: IpNumber,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct FragmentPosition {
    pub(super) offset: IpFragOffset,
    pub(super) more: bool,
}

/// Packets in reassembly. Above the limit, the oldest is dropped.
#[derive(Debug, Default)]
pub(super) struct Fragments {
    waiting: HashMap<FragmentId, Waiting>,
    oldest: VecDeque<(FragmentId, u64)>,
    begun: u64,
    lost: u64,
}

#[derive(Debug)]
struct Waiting {
    buffer: IpDefragBuf,
    fragments: u64,
    number: u64,
}

impl Fragments {
    /// Adds a fragment; returns the payload of its packet once complete.
    pub(super) fn add(
        &mut self,
        id: FragmentId,
        place: FragmentPosition,
        payload: &[u8],
    ) -> Option<Vec<u8>> {
        let waiting = self.waiting.entry(id).or_insert_with(|| {
            self.begun += 1;
            self.oldest.push_back((id, self.begun));
            Waiting {
                buffer: IpDefragBuf::new(id.protocol, Vec::new(), Vec::new()),
                fragments: 0,
                number: self.begun,
            }
        });
        waiting.fragments += 1;
        // A fragment that contradicts the others counts as lost.
        let added = waiting.buffer.add(place.offset, place.more, payload);
        if added.is_ok() && waiting.buffer.is_complete() {
            let whole = self.waiting.remove(&id)?;
            self.forget();
            return Some(whole.buffer.take_bufs().0);
        }
        self.forget();
        None
    }

    pub(super) fn lost(&self) -> u64 {
        let waiting = self.waiting.values().map(|waiting| waiting.fragments);
        self.lost + waiting.sum::<u64>()
    }

    /// Drops the oldest packets above the limit, and completed queue entries.
    fn forget(&mut self) {
        while let Some((id, number)) = self.oldest.front().copied() {
            let is_waiting = self
                .waiting
                .get(&id)
                .is_some_and(|one| one.number == number);
            if is_waiting && self.waiting.len() <= MOST {
                return;
            }
            self.oldest.pop_front();
            if is_waiting && let Some(dropped) = self.waiting.remove(&id) {
                self.lost += dropped.fragments;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(identification: u32) -> FragmentId {
        FragmentId {
            source: [10, 0, 0, 1].into(),
            destination: [10, 0, 0, 2].into(),
            identification,
            protocol: IpNumber::TCP,
        }
    }

    fn place(offset: u16, more: bool) -> FragmentPosition {
        FragmentPosition {
            offset: IpFragOffset::try_new(offset).unwrap(),
            more,
        }
    }

    #[test]
    fn fragments_in_any_order_give_the_payload() {
        let mut fragments = Fragments::default();
        assert_eq!(fragments.add(id(1), place(1, false), b"last"), None);
        assert_eq!(fragments.add(id(2), place(0, true), b"another1"), None);
        let whole = fragments.add(id(1), place(0, true), b"first of");
        assert_eq!(whole.as_deref(), Some(&b"first oflast"[..]));
        assert_eq!(fragments.lost(), 1);
    }

    #[test]
    fn reassembly_is_bounded_and_counts_drops() {
        let mut fragments = Fragments::default();
        for number in 0..3000 {
            assert_eq!(fragments.add(id(number), place(0, true), &[0; 8]), None);
        }
        assert!(fragments.waiting.len() <= MOST && fragments.oldest.len() <= MOST);
        assert_eq!(fragments.lost(), 3000);
    }
}
