//! Middleboxes that remove MPTCP options (RFC 8684, 3.7).

use ropewalk_quantities::Time;

use super::{Fate, Middlebox, Pair, mptcp, ms};
use crate::{Config, Event, Flags, Options, Profile, Segment, SynMultipath};

/// Removes the options of one subflow's segments: of all, or of those without SYN.
fn strips(of: usize, all: bool) -> Middlebox {
    Box::new(move |subflow, segment| {
        if subflow == of && (all || !segment.flags.contains(Flags::SYN)) {
            segment.strip_mptcp();
        }
    })
}

fn pair(config: &Config, of: usize, all: bool) -> Pair {
    let mut pair = Pair::new(config, &[10, 30]);
    pair.middlebox = strips(of, all);
    pair.client.connect();
    pair
}

fn has_mptcp(segment: &Segment) -> bool {
    let option = match segment.options {
        Options::None | Options::Sack(_) => false,
        Options::Syn(syn) => syn.multipath != SynMultipath::None,
        Options::MpCapable { .. } | Options::MpJoin { .. } | Options::MpFastClose { .. } => true,
    };
    option || segment.flags.contains(Flags::DATA_ACK)
}

#[test]
fn syn_without_its_option_opens_a_tcp_connection() {
    let mut pair = pair(&mptcp(), 0, true);
    pair.client.write(2000);
    pair.client.close();
    pair.drive(ms(60));
    let expected = "\
0 >0 S 0:1
10 <0 S. 0:1 ack 1
20 >0 . ack 1
20 >0 . 1:1001 ack 1
20 >0 . 1001:2001 ack 1
20 >0 F. 2001:2002 ack 1
30 <0 . ack 1001
30 <0 . ack 2001
30 <0 . ack 2002";
    assert_eq!(pair.script(), expected);
    assert!(pair.client.fell_back() && pair.server.fell_back());
    assert_eq!(pair.server.delivered(), 2000);
}

/// RFC 8684, 3.7: "an ACK is received for data (not just for the SYN) without a DSS option".
#[test]
fn options_lost_after_the_syn_fall_back_at_the_first_acknowledgement_of_data() {
    let mut pair = pair(&mptcp(), 0, false);
    pair.client.write(2000);
    pair.client.close();
    pair.drive(ms(30));
    // The third segment showed it to the server; the client has no acknowledgement of data yet.
    assert!(pair.server.fell_back() && !pair.client.fell_back());
    let syns = pair
        .sent
        .iter()
        .filter(|passing| has_mptcp(&passing.segment));
    assert_eq!(syns.count(), 2);
    pair.drive(ms(60));
    assert!(pair.client.fell_back());
    let expected = "\
0 >0 S 0:1
10 <0 S. 0:1 ack 1
20 >0 . ack 1
20 >0 . 1:1001 ack 1
20 >0 . 1001:2001 ack 1
30 <0 . ack 1001
30 <0 . ack 2001
40 >0 F. 2001:2002 ack 1
50 <0 . ack 2002";
    assert_eq!(pair.script(), expected);
    assert_eq!(pair.server.delivered(), 2000);
}

#[test]
fn connection_that_fell_back_recovers_losses_as_tcp() {
    for config in [mptcp(), Config::profile(Profile::Linux)] {
        for all in [true, false] {
            let mut pair = Pair::new(
                &Config {
                    multipath: true,
                    ..config.clone()
                },
                &[10, 30],
            );
            pair.middlebox = strips(0, all);
            pair.fate = Box::new(|passing| match passing.number % 17 {
                6 => Fate::Lost,
                _ => Fate::Arrives,
            });
            pair.client.connect();
            pair.transfer(400_000, Time::from_secs(60));
            assert_eq!(pair.server.delivered(), 400_000);
            assert!(pair.client.fell_back() && pair.server.fell_back());
            assert!(pair.sent.iter().all(|passing| passing.subflow == 0));
            pair.client.close();
            pair.server.close();
            pair.drive(pair.now + Time::from_secs(200));
            assert!(
                pair.client_events.contains(&Event::Closed),
                "{:?}",
                pair.client_events
            );
        }
    }
}

#[test]
fn join_without_its_option_is_reset_and_the_first_subflow_keeps_mptcp() {
    for all in [true, false] {
        let mut pair = pair(&mptcp(), 1, all);
        pair.transfer(100_000, Time::from_secs(5));
        pair.drive(Time::from_secs(5));
        assert_eq!(pair.server.delivered(), 100_000);
        assert!(!pair.client.fell_back() && !pair.server.fell_back());
        assert!(pair.client_events.contains(&Event::SubflowFailed(1)));
        let on_join = pair.sent.iter().filter(|passing| passing.subflow == 1);
        assert!(
            on_join
                .clone()
                .any(|passing| passing.segment.flags.contains(Flags::RST))
        );
        assert!(on_join.clone().all(|passing| passing.segment.len == 0));
        assert_eq!(pair.server.delivered_by(0), 100_000);
    }
}
