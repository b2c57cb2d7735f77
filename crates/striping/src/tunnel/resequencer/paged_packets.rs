//! Packets of a lane that are ahead of order.

use std::array;
use std::collections::BTreeMap;
use std::mem::size_of;

use super::HeldPacket;

const PLACES: u64 = 16;
/// Approximate overhead of an allocation, in bytes.
pub(super) const ALLOCATION: usize = 32;

/// Packets by sequence, in pages of successive places: packets are never moved, and a packet far from all
/// others takes a page for itself.
#[derive(Debug)]
pub(super) struct PagedPackets<P> {
    pages: BTreeMap<u64, Box<Page<P>>>,
}

#[derive(Debug)]
pub(super) struct Page<P> {
    taken: u16,
    places: [Option<HeldPacket<P>>; PLACES as usize],
}

impl<P> PagedPackets<P> {
    /// Memory of a page, with its share of the map: nodes of a B-tree are five elevenths full or more, and
    /// others point to them.
    pub(super) const PAGE: usize =
        size_of::<Page<P>>() + 3 * size_of::<(u64, usize)>() + ALLOCATION;

    pub(super) fn new() -> PagedPackets<P> {
        PagedPackets {
            pages: BTreeMap::new(),
        }
    }

    pub(super) fn first(&self) -> Option<(u64, &HeldPacket<P>)> {
        let (number, page) = self.pages.first_key_value()?;
        let place = page.taken.trailing_zeros();
        let held = page.places[place as usize].as_ref()?;
        Some((number * PLACES + u64::from(place), held))
    }

    /// Adds a packet, unless its sequence exists; returns the memory used. A page is taken from `spare`, if
    /// there is one.
    pub(super) fn insert(
        &mut self,
        sequence: u64,
        held: HeldPacket<P>,
        spare: &mut Option<Box<Page<P>>>,
    ) -> Result<u64, HeldPacket<P>> {
        let mut memory = held.bytes as usize + ALLOCATION;
        let (number, place) = (sequence / PLACES, sequence % PLACES);
        let page = self.pages.entry(number).or_insert_with(|| {
            memory += Self::PAGE;
            spare.take().unwrap_or_default()
        });
        if page.taken >> place & 1 != 0 {
            return Err(held);
        }
        page.taken |= 1 << place;
        page.places[place as usize] = Some(held);
        Ok(memory as u64)
    }

    /// Takes the first packet; returns its sequence, and the memory freed. An empty page goes to `spare`.
    pub(super) fn pop(
        &mut self,
        spare: &mut Option<Box<Page<P>>>,
    ) -> Option<(u64, HeldPacket<P>, u64)> {
        let mut first = self.pages.first_entry()?;
        let (number, page) = (*first.key(), first.get_mut());
        let place = page.taken.trailing_zeros();
        let held = page.places[place as usize].take()?;
        page.taken &= page.taken - 1;
        let mut memory = held.bytes as usize + ALLOCATION;
        if page.taken == 0 {
            memory += Self::PAGE;
            *spare = Some(first.remove());
        }
        Some((number * PLACES + u64::from(place), held, memory as u64))
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        let taken = self.pages.values().map(|page| page.taken.count_ones());
        taken.sum::<u32>() as usize
    }

    #[cfg(test)]
    pub(super) fn memory(&self) -> u64 {
        let places = self.pages.values().flat_map(|page| &page.places);
        let packets = places
            .flatten()
            .map(|held| held.bytes as usize + ALLOCATION);
        (packets.sum::<usize>() + self.pages.len() * Self::PAGE) as u64
    }
}

impl<P> Default for Page<P> {
    fn default() -> Page<P> {
        Page {
            taken: 0,
            places: array::from_fn(|_| None),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn held(packet: u64) -> HeldPacket<u64> {
        HeldPacket {
            packet,
            bytes: 100,
            sent: 0,
            arrived: 0,
            in_step: false,
        }
    }

    proptest! {
        #[test]
        fn paged_packets_equal_a_map(steps in prop::collection::vec((0_u64..400, any::<bool>()), 1..600)) {
            let (mut early, mut spare, mut map) = (PagedPackets::new(), None, BTreeMap::new());
            let mut memory = 0;
            for (sequence, pops) in steps {
                if pops {
                    let first = early.pop(&mut spare);
                    memory -= first.as_ref().map_or(0, |(.., memory)| *memory);
                    let first = first.map(|(sequence, held, _)| (sequence, held.packet));
                    prop_assert_eq!(first, map.pop_first());
                } else {
                    let inserted = early.insert(sequence, held(sequence), &mut spare);
                    memory += inserted.as_ref().map_or(0, |memory| *memory);
                    prop_assert_eq!(inserted.is_ok(), map.insert(sequence, sequence).is_none());
                }
                let first = early.first().map(|(sequence, held)| (sequence, held.packet));
                prop_assert_eq!(first, map.iter().next().map(|(of, packet)| (*of, *packet)));
                prop_assert_eq!((early.len(), early.memory()), (map.len(), memory));
            }
        }
    }
}
