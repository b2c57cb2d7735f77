//! Lanes: the flows of a tunnel, by a hash of their addresses.

use std::mem;

use ropewalk_quantities::Time;

use super::flow::{Class, Flow};

/// Limit of a thin flow, in bytes per second.
pub(super) const THIN: u32 = 64 * 1024;
/// Time within that limit until a connection is thin: most others exceed it within a second, and a longer
/// round trip would end slow start too early.
const THIN_AFTER: Time = Time::from_secs(2);
/// A UDP flow with congestion control inside is forgotten after this time without a packet.
const ELASTIC_FOR: Time = Time::from_secs(30);
/// Longest packet with an acknowledgement of QUIC alone, IP header included: 20 bytes more than with IPv4, up to
/// 20 for the connection's identifier, 16 of encryption, and three ranges.
const ACKNOWLEDGEMENT: u32 = 128;
/// Longer packets in a second from which on a flow sends data. Then acknowledgements stay in order, too: QUIC numbers
/// all packets alike, and takes those before an acknowledged one for lost (RFC 9002, section 6.1.1).
const SENDS_DATA: u32 = 8;
/// Packets of a flow in a second after which it is steady.
const STEADY: u32 = 8;
/// Number of lanes. Lane 0 is for urgent packets, which have no order.
pub(super) const LANES: usize = 256;

#[derive(Debug)]
pub(super) struct Lanes {
    next: [u64; LANES],
    bytes: [u32; LANES],
    /// Packets of each lane. A packet of the second before counts half, and so on.
    packets: [u32; LANES],
    second: Time,
    /// When the connection of each lane began, or last exceeded the limit.
    busy_at: [Time; LANES],
    /// Until when packets of each lane belong to a UDP flow with congestion control inside.
    elastic_until: [Time; LANES],
    /// Packets of each lane that are longer than an acknowledgement, counted like `packets`.
    data_packets: [u32; LANES],
    went: [LastTransmission; LANES],
}

/// Transmission of the last packet of a lane.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum LastTransmission {
    /// Kept until it arrives, for retransmission.
    #[default]
    Kept,
    /// On a pass-through link, for which nothing is kept.
    OnPassthrough,
    /// On a pass-through link that has failed since: it is never retransmitted.
    OnFailedPassthrough,
}

impl Default for Lanes {
    fn default() -> Lanes {
        Lanes {
            next: [0; LANES],
            bytes: [0; LANES],
            packets: [0; LANES],
            second: Time::ZERO,
            busy_at: [Time::ZERO; LANES],
            elastic_until: [Time::ZERO; LANES],
            data_packets: [0; LANES],
            went: [LastTransmission::Kept; LANES],
        }
    }
}

impl Lanes {
    pub(super) fn next(&mut self, lane: u8) -> u32 {
        let next = &mut self.next[usize::from(lane)];
        *next += 1;
        (*next - 1) as u32
    }

    pub(super) fn end_passthrough(&mut self, has_died: bool) {
        for went in &mut self.went {
            if *went == LastTransmission::OnPassthrough {
                *went = match has_died {
                    true => LastTransmission::OnFailedPassthrough,
                    false => LastTransmission::Kept,
                };
            }
        }
    }

    /// Notes that a packet of a lane is sent, `by_passthrough` or kept. Returns whether the receiver must
    /// deliver it without waiting for missing packets before it.
    pub(super) fn is_delivered_at_once(&mut self, lane: u8, by_passthrough: bool) -> bool {
        let next = if by_passthrough {
            LastTransmission::OnPassthrough
        } else {
            LastTransmission::Kept
        };
        let before = mem::replace(&mut self.went[usize::from(lane)], next);
        by_passthrough || before == LastTransmission::OnFailedPassthrough
    }

    /// Returns the treatment of a packet of `bytes` bytes. In a UDP flow with congestion control inside, a short
    /// packet is an acknowledgement unless the flow sends data, and all others are data of a connection.
    pub(super) fn class(&mut self, now: Time, flow: Flow, bytes: u32) -> Class {
        let elastic_until = &mut self.elastic_until[usize::from(flow.lane)];
        let was_elastic = now < *elastic_until;
        match flow.class {
            Class::Elastic if !was_elastic => {
                *elastic_until = now + ELASTIC_FOR;
                Class::Opening
            }
            Class::Elastic | Class::Thin if was_elastic => {
                *elastic_until = now + ELASTIC_FOR;
                self.begin_second(now);
                let data_packets = &mut self.data_packets[usize::from(flow.lane)];
                if bytes > ACKNOWLEDGEMENT {
                    *data_packets += 1;
                    Class::InStep
                } else if *data_packets >= SENDS_DATA {
                    Class::InStep
                } else {
                    Class::Unordered
                }
            }
            class => class,
        }
    }

    pub(super) fn open(&mut self, now: Time, lane: u8) {
        self.busy_at[usize::from(lane)] = now;
    }

    /// Whether a packet of `bytes` bytes belongs to a connection that has been thin for some time.
    pub(super) fn stays_thin(&mut self, now: Time, lane: u8, bytes: u32) -> bool {
        if !self.is_thin(now, lane, bytes) {
            self.open(now, lane);
        }
        now >= self.busy_at[usize::from(lane)] + THIN_AFTER
    }

    pub(super) fn is_thin(&mut self, now: Time, lane: u8, bytes: u32) -> bool {
        self.begin_second(now);
        let sum = &mut self.bytes[usize::from(lane)];
        *sum = sum.saturating_add(bytes).min(THIN * 2);
        *sum <= THIN
    }

    /// Counts a packet; returns whether its flow is steady, like a call or a game: it has sent several packets
    /// in a second.
    pub(super) fn is_steady(&mut self, now: Time, lane: u8) -> bool {
        self.begin_second(now);
        let packets = &mut self.packets[usize::from(lane)];
        *packets += 1;
        *packets > STEADY
    }

    fn begin_second(&mut self, now: Time) {
        if now >= self.second + Time::from_secs(1) {
            self.second = now;
            for bytes in &mut self.bytes {
                *bytes = bytes.saturating_sub(THIN);
            }
            for packets in self.packets.iter_mut().chain(&mut self.data_packets) {
                *packets /= 2;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flow_is_steady_from_its_ninth_packet_in_a_second() {
        for (interval, expected) in [(20_u64, 8), (100, 8), (300, 100), (1000, 100)] {
            let mut lanes = Lanes::default();
            let steady = |number| lanes.is_steady(Time::from_millis(1 + number * interval), 3);
            let first = (0..100_u64).position(steady).unwrap_or(100);
            assert_eq!(first, expected, "{interval}");
        }
    }

    #[test]
    fn flow_after_a_handshake_is_a_connection_until_it_is_idle() {
        let mut lanes = Lanes::default();
        let mut class = |seconds, lane, class, bytes| {
            lanes.class(Time::from_secs(seconds), Flow { lane, class }, bytes)
        };
        assert_eq!(class(1, 3, Class::Thin, 1200), Class::Thin);
        assert_eq!(class(1, 3, Class::Elastic, 1200), Class::Opening);
        assert_eq!(class(1, 3, Class::Elastic, 1200), Class::InStep);
        assert_eq!(class(29, 3, Class::Thin, 1200), Class::InStep);
        assert_eq!(class(58, 3, Class::Thin, 70), Class::Unordered);
        assert_eq!(class(58, 4, Class::Thin, 1200), Class::Thin);
        assert_eq!(class(58, 3, Class::Urgent, 1200), Class::Urgent);
        assert_eq!(class(89, 3, Class::Thin, 1200), Class::Thin);
    }

    #[test]
    fn acknowledgements_of_a_flow_that_sends_data_stay_in_order() {
        let mut lanes = Lanes::default();
        let mut class =
            |ms, bytes, class| lanes.class(Time::from_millis(ms), Flow { lane: 3, class }, bytes);
        assert_eq!(class(1000, 1200, Class::Elastic), Class::Opening);
        for number in 0..7 {
            assert_eq!(class(1010 + number, 1200, Class::Thin), Class::InStep);
            assert_eq!(class(1010 + number, 70, Class::Thin), Class::Unordered);
        }
        assert_eq!(class(1020, 1200, Class::Thin), Class::InStep);
        assert_eq!(class(1021, 70, Class::Thin), Class::InStep);
        assert_eq!(class(2100, 70, Class::Thin), Class::Unordered);
    }

    #[test]
    fn a_connection_is_thin_after_two_seconds_of_little() {
        let mut lanes = Lanes::default();
        let ms = Time::from_millis;
        lanes.open(ms(1000), 3);
        let mut is_thin = |at, bytes| lanes.stays_thin(ms(at), 3, bytes);
        assert!(!is_thin(1010, 1400) && !is_thin(2990, 1400));
        assert!(is_thin(3000, 1400));
        // A burst beyond the limit of a second: the flow is not thin for two seconds more.
        let burst: Vec<bool> = (0..60).map(|at| is_thin(3100 + at, 1400)).collect();
        assert!(burst[0] && !burst[59], "{burst:?}");
        assert!(!is_thin(5000, 100));
        assert!(is_thin(5200, 100));
    }
}
