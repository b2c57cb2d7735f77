use super::*;

#[test]
fn both_sides_close_in_order() {
    let mut pair = Pair::connected(&plain_tcp(), &[10]);
    pair.client.write(100);
    pair.client.close();
    pair.drive(ms(5050));
    assert_eq!(pair.server_events.last(), Some(&Event::Eof));
    assert_eq!(pair.server.delivered(), 100);
    pair.server.close();
    pair.drive(ms(5200));
    assert_eq!(
        pair.script(),
        "5000 >0 . 1:101 ack 1\n5000 >0 F. 101:102 ack 1\n5010 <0 . ack 101\n5010 <0 . ack 102\n5050 <0 F. 1:2 ack 102\n5060 >0 . ack 2"
    );
    assert_eq!(pair.client_events.last(), Some(&Event::Closed));
    assert_eq!(pair.server_events.last(), Some(&Event::Closed));
    assert_eq!(pair.client.counters(0).segments_sent, 1);
    assert_eq!(pair.server.counters(0).segments_sent, 0);
}

#[test]
fn lost_fin_is_retransmitted() {
    let mut pair = Pair::connected(&plain_tcp(), &[10]);
    let mut lost = false;
    pair.fate = Box::new(move |p| {
        let fin = p.segment.flags.contains(Flags::FIN) && !lost;
        lost |= fin;
        if fin { Fate::Lost } else { Fate::Arrives }
    });
    pair.client.write(100);
    pair.client.close();
    pair.drive(Time::from_secs(8));
    assert_eq!(pair.server_events.last(), Some(&Event::Eof));
}

#[test]
fn half_closed_connection_continues_in_other_direction() {
    let mut pair = Pair::connected(&plain_tcp(), &[10]);
    pair.client.close();
    pair.drive(ms(5100));
    pair.server.write(50_000);
    pair.drive(Time::from_secs(9));
    assert_eq!(pair.client.delivered(), 50_000);
    pair.server.close();
    pair.drive(Time::from_secs(12));
    assert_eq!(pair.client_events.last(), Some(&Event::Closed));
}

#[test]
fn an_abort_resets_the_peer() {
    for config in [plain_tcp(), mptcp()] {
        let mut pair = Pair::connected(&config, &[10, 20]);
        pair.client.write(1_000_000);
        pair.drive(pair.now + ms(35));
        pair.client.abort();
        pair.drive(pair.now + ms(100));
        assert_eq!(pair.client_events.last(), Some(&Event::Aborted));
        assert_eq!(
            pair.server_events.last(),
            Some(&Event::Aborted),
            "{:?}",
            config.multipath
        );
        pair.sent.clear();
        pair.drive(pair.now + Time::from_secs(300));
        assert!(pair.sent.is_empty(), "{}", pair.script());
    }
}

#[test]
fn data_fin_ends_the_stream_and_then_each_subflow_sends_its_fin() {
    let mut pair = Pair::connected(&mptcp(), &[10, 20]);
    pair.client.write(2500);
    pair.client.close();
    pair.drive(ms(5100));
    assert_eq!(pair.server_events.last(), Some(&Event::Eof));
    let last = pair
        .sent
        .iter()
        .filter(|p| p.segment.len > 0)
        .max_by_key(|p| p.segment.data_seq)
        .unwrap();
    assert!(last.segment.flags.contains(Flags::DATA_FIN));
    assert!(
        !pair
            .sent
            .iter()
            .any(|p| p.segment.flags.contains(Flags::FIN))
    );
    pair.server.close();
    pair.drive(Time::from_secs(9));
    for to_server in [true, false] {
        for subflow in 0..2 {
            let fins = pair.sent.iter().filter(|p| {
                p.to_server == to_server
                    && p.subflow == subflow
                    && p.segment.flags.contains(Flags::FIN)
            });
            assert_eq!(fins.count(), 1);
        }
    }
    assert_eq!(pair.client_events.last(), Some(&Event::Closed));
    assert_eq!(pair.server_events.last(), Some(&Event::Closed));
}

#[test]
fn a_data_fin_without_data_is_repeated_until_it_is_acknowledged() {
    let mut pair = Pair::connected(&mptcp(), &[10, 20]);
    pair.transfer(5000, Time::from_secs(9));
    pair.drive(Time::from_secs(9));
    let mut lost = 0;
    pair.fate = Box::new(move |p| {
        let fin = p.segment.flags.contains(Flags::DATA_FIN) && lost < 2;
        lost += u32::from(fin);
        if fin { Fate::Lost } else { Fate::Arrives }
    });
    pair.client.close();
    pair.drive(Time::from_secs(20));
    assert_eq!(pair.server_events.last(), Some(&Event::Eof));
}
