//! Fragments of an IPv4 packet (RFC 791, section 3.2).

use crate::checksum::Checksum;
use crate::field::{put, u16_at};
use crate::ipv4::{Ipv4Header, Ipv4View};

const DONT_FRAGMENT: u16 = 0x4000;
const MORE_FRAGMENTS: u16 = 0x2000;
const OFFSET: u16 = 0x1fff;
/// Option type flag: copied into all fragments.
const COPIED: u8 = 0x80;
const END_OF_OPTIONS: u8 = 0;
const NO_OPERATION: u8 = 1;

/// Splits a packet or fragment into fragments of at most `mtu` bytes. `None` if it is not IPv4,
/// must not be fragmented, or `mtu` leaves less than 8 bytes for payload.
///
/// The transport checksum must be complete.
#[must_use]
pub fn fragments(packet: &[u8], mtu: usize) -> Option<Vec<Vec<u8>>> {
    let view = Ipv4View::parse(packet).ok()?;
    let field = u16_at(packet, 6);
    let payload = view.payload();
    let head = &packet[..Ipv4Header::LEN + view.options().len()];
    let room = mtu.checked_sub(head.len())? / 8 * 8;
    if field & DONT_FRAGMENT != 0 || room == 0 {
        return None;
    }
    let last = payload.len().div_ceil(room).max(1) - 1;
    let made = (0..=last).map(|number| {
        let start = number * room;
        let part = &payload[start..payload.len().min(start + room)];
        let mut fragment = head.to_vec();
        if number > 0 {
            drop_options(&mut fragment[Ipv4Header::LEN..]);
        }
        fragment.extend_from_slice(part);
        let more = if number < last {
            MORE_FRAGMENTS
        } else {
            field & MORE_FRAGMENTS
        };
        let offset = (field & OFFSET) + (start / 8) as u16;
        let len = fragment.len() as u16;
        put(&mut fragment, 2, len.to_be_bytes());
        put(&mut fragment, 6, (offset | more).to_be_bytes());
        put(&mut fragment, 10, [0, 0]);
        let checksum = Checksum::new().add_bytes(&fragment[..head.len()]).finish();
        put(&mut fragment, 10, checksum.to_be_bytes());
        fragment
    });
    Some(made.collect())
}

/// Replaces options that belong to the first fragment only by no-operations.
fn drop_options(mut options: &mut [u8]) {
    while let [kind, ..] = *options {
        let len = match kind {
            END_OF_OPTIONS => return,
            NO_OPERATION => 1,
            _ => usize::from(options.get(1).copied().unwrap_or(0)),
        };
        // Malformed options stay unchanged.
        if len == 0 || len > options.len() {
            return;
        }
        let (option, rest) = options.split_at_mut(len);
        if kind & COPIED == 0 {
            option.fill(NO_OPERATION);
        }
        options = rest;
    }
}

#[cfg(test)]
mod tests {
    use core::net::Ipv4Addr;

    use proptest::prelude::*;

    use super::*;
    use crate::protocol;

    fn packet(payload: &[u8], options: &[u8]) -> Vec<u8> {
        let header = Ipv4Header {
            source: Ipv4Addr::new(10, 0, 0, 1),
            destination: Ipv4Addr::new(10, 9, 0, 2),
            identification: 77,
            dont_fragment: false,
            ttl: 9,
            protocol: protocol::UDP,
            traffic_class: 4,
        };
        let mut packet = vec![0; Ipv4Header::LEN];
        header.emit(options.len() + payload.len(), &mut packet);
        packet[0] += (options.len() / 4) as u8;
        packet.extend_from_slice(options);
        packet.extend_from_slice(payload);
        packet
    }

    /// Reassembled payload, and whether the last fragment was present.
    fn reassemble(fragments: &[Vec<u8>]) -> (Vec<u8>, bool) {
        let mut payload = Vec::new();
        let mut more = true;
        for fragment in fragments {
            let view = Ipv4View::parse(fragment).unwrap();
            assert!(view.checksum_is_right());
            assert_eq!(view.header().identification, 77);
            assert_eq!(view.fragment_offset(), payload.len());
            payload.extend_from_slice(view.payload());
            more = fragment[6] & 0x20 != 0;
        }
        (payload, !more)
    }

    proptest! {
        #[test]
        fn fragments_are_short_and_make_the_packet_again(
            payload in proptest::collection::vec(any::<u8>(), 0..5000),
            mtu in 68..1500_usize,
            again in 68..1500_usize,
        ) {
            let made = fragments(&packet(&payload, &[]), mtu).unwrap();
            prop_assert!(made.iter().all(|fragment| fragment.len() <= mtu));
            prop_assert_eq!(reassemble(&made), (payload.clone(), true));
            // A fragment can be fragmented again.
            let made: Vec<_> = made.iter().flat_map(|one| fragments(one, again).unwrap()).collect();
            prop_assert!(made.iter().all(|fragment| fragment.len() <= again));
            prop_assert_eq!(reassemble(&made), (payload, true));
        }

        #[test]
        fn any_bytes_do_no_harm(bytes: Vec<u8>, mtu in 0..100_usize) {
            let _ = fragments(&bytes, mtu);
        }

        #[test]
        fn any_options_do_no_harm(options: [u8; 24]) {
            let made = fragments(&packet(&[1; 100], &options), 100).unwrap();
            prop_assert_eq!(reassemble(&made), (vec![1; 100], true));
        }
    }

    #[test]
    fn options_that_are_not_copied_stand_in_the_first_alone() {
        // Record route, then loose source route (RFC 791, section 3.1).
        let options = [7, 3, 4, 131, 3, 4, 0, 0];
        let made = fragments(&packet(&[1; 100], &options), 76).unwrap();
        assert_eq!(made[0][20..28], options);
        assert_eq!(made[1][20..28], [1, 1, 1, 131, 3, 4, 0, 0]);
    }

    #[test]
    fn dont_fragment_is_respected() {
        let mut packet = packet(&[1; 100], &[]);
        packet[6] |= 0x40;
        assert_eq!(fragments(&packet, 76), None);
    }
}
