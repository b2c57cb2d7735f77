use super::*;
use crate::{SynMultipath, multipath::keys};

#[test]
fn handshake_takes_three_segments() {
    let mut pair = Pair::new(&plain_tcp(), &[10]);
    pair.client.connect();
    pair.drive(Time::from_secs(1));
    assert_eq!(
        pair.script(),
        "0 >0 S 0:1\n10 <0 S. 0:1 ack 1\n20 >0 . ack 1"
    );
    assert_eq!(pair.client_events, [Event::Connected]);
    assert_eq!(pair.server_events, [Event::Connected]);
    assert_eq!(pair.client.subflow_states()[0].srtt, ms(20));
}

#[test]
fn lost_syn_is_retransmitted_after_1_s_then_2_s() {
    let mut pair = Pair::new(&plain_tcp(), &[10]);
    pair.fate = Box::new(|passing| {
        if passing.number < 2 {
            Fate::Lost
        } else {
            Fate::Arrives
        }
    });
    pair.client.connect();
    pair.drive(Time::from_secs(9));
    let syns: Vec<Time> = pair
        .sent
        .iter()
        .filter(|p| p.to_server && p.segment.flags == pair.sent[0].segment.flags)
        .map(|p| p.sent)
        .collect();
    assert_eq!(syns, [ms(0), ms(1000), ms(3000)]);
    assert_eq!(pair.client_events, [Event::Connected]);
    // Karn's algorithm: a retransmitted SYN gives no RTT sample.
    assert_eq!(pair.client.subflow_states()[0].srtt, Time::ZERO);
}

#[test]
fn handshake_survives_lost_syn_ack_and_third_segment() {
    for lost in [1, 2] {
        let mut pair = Pair::new(&plain_tcp(), &[10]);
        pair.fate = Box::new(move |passing| {
            if passing.number == lost {
                Fate::Lost
            } else {
                Fate::Arrives
            }
        });
        pair.client.connect();
        pair.drive(Time::from_secs(9));
        assert_eq!(
            pair.client_events,
            [Event::Connected],
            "segment {lost} lost"
        );
        assert_eq!(
            pair.server_events,
            [Event::Connected],
            "segment {lost} lost"
        );
    }
}

/// The third segment of MPTCP carries both keys, also when retransmitted (RFC 8684, section 3.1).
#[test]
fn repeated_syn_ack_elicits_third_segment() {
    for config in [plain_tcp(), mptcp()] {
        let mut pair = Pair::new(&config, &[10]);
        pair.fate = Box::new(|passing| match passing.number {
            2 | 4 => Fate::Lost,
            _ => Fate::Arrives,
        });
        pair.client.connect();
        pair.drive(Time::from_secs(9));
        let third: Vec<_> = pair.sent.iter().skip(2).step_by(2).collect();
        let sent: Vec<Time> = third.iter().map(|passing| passing.sent).collect();
        assert_eq!(sent, [20, 1020, 3020].map(ms));
        for passing in &third {
            assert_eq!(passing.segment.options, third[0].segment.options);
        }
    }
}

#[test]
fn data_may_follow_the_syn_ack_at_once() {
    let mut pair = Pair::new(&plain_tcp(), &[10]);
    pair.client.connect();
    pair.client.write(500);
    pair.client.close();
    pair.drive(ms(29));
    assert_eq!(
        pair.script(),
        "0 >0 S 0:1\n10 <0 S. 0:1 ack 1\n20 >0 . ack 1\n20 >0 . 1:501 ack 1\n20 >0 F. 501:502 ack 1"
    );
}

#[test]
fn server_may_send_first_after_handshake() {
    for config in [plain_tcp(), mptcp()] {
        let mut pair = Pair::new(&config, &[10]);
        pair.client.connect();
        assert_eq!(pair.server.write(500), 500);
        pair.drive(ms(45));
        let data = pair.sent.iter().find(|passing| passing.segment.len > 0);
        assert_eq!(
            data.map(|data| (data.sent, data.segment.len)),
            Some((ms(30), 500))
        );
        assert_eq!(pair.client.delivered(), 500);
    }
}

#[test]
fn connection_fails_after_too_many_syns() {
    let mut pair = Pair::new(&plain_tcp(), &[10]);
    pair.fate = Box::new(|_| Fate::Lost);
    pair.client.connect();
    pair.drive(Time::from_secs(600));
    assert_eq!(pair.sent.len(), 7);
    assert_eq!(
        pair.client_events,
        [Event::SubflowFailed(0), Event::Aborted]
    );
}

#[test]
fn mp_capable_carries_keys_and_joins_wait_for_the_fourth_segment() {
    let mut pair = Pair::new(&mptcp(), &[10, 30]);
    pair.client.connect();
    pair.drive(Time::from_secs(1));
    let options: Vec<(Time, bool, usize, Options)> = pair
        .sent
        .iter()
        .map(|p| (p.sent, p.to_server, p.subflow, p.segment.options))
        .collect();
    let (key_a, key_b) = (0x91aa_2012_8dac_826f, 0x46fe_363d_617f_8852);

    let Options::Syn(syn) = options[0].3 else {
        panic!("a SYN")
    };
    let capable = |key| SynMultipath::Capable {
        key,
        checksum: false,
    };
    assert_eq!(syn.multipath, capable(None));
    let Options::Syn(syn_ack) = options[1].3 else {
        panic!("a SYN-ACK")
    };
    assert_eq!(syn_ack.multipath, capable(Some(key_b)));
    assert_eq!(
        options[2].3,
        Options::MpCapable {
            sender_key: key_a,
            receiver_key: key_b,
            checksum: false,
        }
    );
    // The fourth segment has a DATA_ACK, which proves that the keys arrived; only then the join starts.
    assert!(!options[3].1 && pair.sent[3].segment.flags.contains(Flags::DATA_ACK));
    assert_eq!((options[4].0, options[4].2), (ms(40), 1));
    let Options::Syn(join) = options[4].3 else {
        panic!("a join")
    };
    let SynMultipath::Join {
        token,
        nonce: nonce_a,
    } = join.multipath
    else {
        panic!("MP_JOIN")
    };
    assert_eq!(token, keys::token(key_b));
    let Options::Syn(reply) = options[5].3 else {
        panic!("a join's answer")
    };
    let SynMultipath::JoinReply {
        hmac,
        nonce: nonce_b,
    } = reply.multipath
    else {
        panic!("MP_JOIN")
    };
    let expected = keys::join_hmac(key_b, key_a, nonce_b, nonce_a);
    assert_eq!(hmac.to_be_bytes(), expected[..8]);
    let Options::MpJoin { hmac } = options[6].3 else {
        panic!("a join's third segment")
    };
    assert_eq!(hmac, keys::join_hmac(key_a, key_b, nonce_a, nonce_b)[..20]);
    // The fourth segment of the join allows data: two round trips of its path after the SYN.
    assert_eq!((options[7].0, options[7].2), (ms(130), 1));
    assert_eq!(
        pair.client_events,
        [Event::Connected, Event::SubflowEstablished(1)]
    );
}

#[test]
fn no_data_flows_on_a_joined_subflow_before_its_fourth_segment() {
    let mut pair = Pair::new(&mptcp(), &[10, 30]);
    pair.client.connect();
    pair.transfer(5_000_000, Time::from_secs(5));
    let first = pair
        .sent
        .iter()
        .find(|p| p.subflow == 1 && p.segment.len > 0)
        .expect("data on subflow 1");
    assert_eq!(first.sent, ms(160));
}

#[test]
fn join_survives_loss_of_third_and_fourth_segments() {
    let mut pair = Pair::new(&mptcp(), &[10, 30]);
    let mut last_two = 0;
    pair.fate = Box::new(move |passing| {
        let syn = passing.segment.flags.contains(Flags::SYN);
        let ends_join = passing.subflow == 1 && !syn;
        last_two += usize::from(ends_join);
        // The third segment; the fourth, twice.
        if ends_join && [1, 3, 5].contains(&last_two) {
            Fate::Lost
        } else {
            Fate::Arrives
        }
    });
    pair.client.connect();
    pair.drive(Time::from_secs(5));
    let on_join = pair.sent.iter().filter(|passing| passing.subflow == 1);
    let sent: Vec<(Time, bool)> = on_join.map(|p| (p.sent, p.to_server)).skip(2).collect();
    // The RTT of the SYN is 60 ms; the timer's first interval is twice that, and doubles.
    let expected = [
        (ms(100), true),
        (ms(220), true),
        (ms(250), false),
        (ms(460), true),
        (ms(490), false),
        (ms(940), true),
        (ms(970), false),
    ];
    assert_eq!(sent, expected);
    assert_eq!(
        pair.client_events,
        [Event::Connected, Event::SubflowEstablished(1)]
    );
}

#[test]
fn a_join_with_a_wrong_hmac_is_reset() {
    let mut pair = Pair::new(&mptcp(), &[10, 30]);
    pair.client.connect();
    while !pair
        .sent
        .last()
        .is_some_and(|p| p.subflow == 1 && !p.to_server)
    {
        assert!(pair.step(Time::from_secs(1)));
    }
    let mut forged = pair.sent.last().unwrap().segment;
    let Options::Syn(syn) = &mut forged.options else {
        panic!("a SYN-ACK")
    };
    let SynMultipath::JoinReply { hmac, .. } = &mut syn.multipath else {
        panic!("MP_JOIN")
    };
    *hmac ^= 1;
    pair.client.handle_segment(pair.now, 1, &forged);
    let (subflow, answer) = transmit(&mut pair.client, pair.now).expect("an answer");
    assert_eq!(subflow, 1);
    assert!(answer.flags.contains(Flags::RST));
    assert_eq!(pair.client.poll_event(), Some(Event::SubflowFailed(1)));
}

#[test]
fn server_without_mptcp_falls_back_to_tcp() {
    let mut pair = Pair::new(&mptcp(), &[10, 30]);
    pair.server = Endpoint::server(&Arc::new(plain_tcp()), 1, 2);
    pair.client.connect();
    pair.transfer(100_000, Time::from_secs(5));
    assert!(!pair.client.is_multipath());
    assert_eq!(pair.server.delivered(), 100_000);
    assert!(pair.sent.iter().all(|p| p.subflow == 0));
}

#[test]
fn unoffered_extensions_are_not_used() {
    let mut pair = Pair::new(&plain_tcp(), &[10]);
    let config = plain_tcp().with(|config| {
        config.extensions.sack = false;
        config.extensions.timestamps = false;
    });
    pair.server = Endpoint::server(&Arc::new(config), 1, 2);
    pair.client.connect();
    pair.fate = Box::new(|p| {
        if p.segment.len > 0 && p.number == 5 {
            Fate::Lost
        } else {
            Fate::Arrives
        }
    });
    pair.transfer(100_000, Time::from_secs(9));
    assert_eq!(pair.server.delivered(), 100_000);
    let data = pair.sent.iter().filter(|p| p.segment.len > 0);
    assert!(
        data.clone()
            .all(|p| !p.segment.flags.contains(Flags::TIMESTAMPS))
    );
    assert!(
        pair.sent
            .iter()
            .all(|p| !matches!(p.segment.options, Options::Sack(_)))
    );
}
