use super::*;
use crate::scheduling::linux::LinuxConfig;

#[test]
fn receive_buffer_limits_data_in_flight() {
    let config = plain_tcp().with(|config| config.receive_buffer.size = Bytes::new(5000));
    let mut pair = Pair::connected(&config, &[50]);
    pair.client.write(100_000);
    pair.flush();
    assert_eq!(pair.sent.len(), 5);
    pair.transfer(0, ms(5001));
    pair.drive(Time::from_secs(60));
    assert_eq!(pair.server.delivered(), 100_000);
}

#[test]
fn window_closes_without_reads_and_reopens() {
    let config = plain_tcp().with(|config| config.receive_buffer.size = Bytes::new(5000));
    let mut pair = Pair::connected(&config, &[50]);
    pair.reads = false;
    pair.client.write(100_000);
    pair.drive(Time::from_secs(10));
    assert_eq!(pair.server.readable(), 5000);
    let last = pair
        .sent
        .iter()
        .rfind(|p| !p.to_server)
        .expect("an acknowledgement");
    assert_eq!(last.segment.window, 0);
    pair.sent.clear();
    assert_eq!(pair.server.read(2000), 2000);
    pair.flush();
    assert_eq!(pair.sent[0].segment.window, 2000);
    pair.drive(pair.now + ms(100));
    assert_eq!(pair.server.delivered(), 7000);
}

#[test]
fn closed_reader_sends_window_updates() {
    for config in [plain_tcp(), mptcp()] {
        let config = config.with(|config| config.receive_buffer.size = Bytes::new(5000));
        let mut pair = Pair::connected(&config, &[50]);
        pair.reads = false;
        pair.server.close();
        pair.client.write(100_000);
        pair.drive(Time::from_secs(10));
        assert_eq!(pair.server.readable(), 5000);
        pair.sent.clear();
        assert_eq!(pair.server.read(2000), 2000);
        pair.flush();
        assert_eq!(pair.sent[0].segment.window, 2000);
    }
}

#[test]
fn closed_window_is_probed_after_lost_update() {
    let config = plain_tcp().with(|config| config.receive_buffer.size = Bytes::new(5000));
    let mut pair = Pair::connected(&config, &[50]);
    pair.reads = false;
    pair.client.write(10_000);
    pair.drive(Time::from_secs(6));
    pair.sent.clear();
    pair.drive(Time::from_secs(14));
    let probes = pair.sent.iter().filter(|p| p.to_server).count();
    assert!(
        (2..=4).contains(&probes),
        "{probes} probes in eight seconds, backing off"
    );
    pair.fate = Box::new(|_| Fate::Lost);
    pair.server.read(5000);
    pair.flush();
    pair.fate = Box::new(|_| Fate::Arrives);
    pair.drive(Time::from_secs(60));
    assert_eq!(pair.server.delivered(), 10_000);
}

#[test]
fn the_window_never_moves_back() {
    let mut pair = Pair::connected(&plain_tcp(), &[50]);
    pair.reads = false;
    pair.client.write(50_000);
    let mut edge = 0;
    while pair.step(Time::from_secs(20)) {
        for p in pair.sent.drain(..).filter(|p| !p.to_server) {
            let new = p.segment.ack + u64::from(p.segment.window);
            assert!(new >= edge);
            edge = new;
        }
    }
}

#[test]
fn send_buffer_limits_writes() {
    let config = plain_tcp().with(|config| config.send_buffer.size = Bytes::new(7000));
    let mut pair = Pair::connected(&config, &[50]);
    assert_eq!(pair.client.write(100_000), 7000);
    assert_eq!(pair.client.writable(), 0);
    pair.drive(pair.now + ms(120));
    assert_eq!(pair.client.writable(), 7000);
}

#[test]
fn nagle_holds_a_small_segment_while_data_is_in_flight() {
    for (nagle, expected) in [(true, 1), (false, 2)] {
        let mut pair = Pair::connected(
            &Config {
                nagle,
                ..plain_tcp()
            },
            &[50],
        );
        pair.client.write(300);
        pair.flush();
        pair.client.write(300);
        pair.flush();
        assert_eq!(pair.sent.len(), expected);
        pair.drive(pair.now + ms(500));
        assert_eq!(pair.server.delivered(), 600);
    }
}

#[test]
fn windows_are_multiples_of_scale() {
    // 1 MiB needs a scale of 20 - 15, as in Linux.
    let config = plain_tcp().with(|config| config.receive_buffer.size = Bytes::from_mib(1));
    let mut pair = Pair::new(&config, &[50]);
    pair.reads = false;
    pair.client.connect();
    pair.client.write(300_000);
    pair.drive(Time::from_secs(3));
    let Options::Syn(syn) = pair.sent[0].segment.options else {
        panic!("a SYN")
    };
    assert_eq!(
        (syn.window_scale, pair.sent[0].segment.window),
        (Some(5), 65_535)
    );
    let scaled = pair.sent.iter().filter(|p| p.segment.seq > 0);
    assert!(scaled.clone().count() > 100);
    assert!(scaled.clone().all(|p| p.segment.window % 32 == 0));
    let greatest = u32::from(u16::MAX) << 5;
    assert!(scaled.clone().all(|p| p.segment.window <= greatest));
    // Unread data reduce the window by their length.
    let last = pair
        .sent
        .iter()
        .rfind(|p| !p.to_server)
        .expect("an acknowledgement");
    let shut = (1 << 20) - pair.server.delivered() as i64;
    assert!((i64::from(last.segment.window) - shut).abs() <= 32 * 300);
}

/// Send buffer of profile linux, without its congestion control.
fn growing(send_buffer: u64) -> Config {
    plain_tcp().with(|config| {
        config.send_buffer.size = Bytes::new(send_buffer);
        config.send_buffer.autotuning = true;
    })
}

#[test]
fn the_send_buffer_grows_with_the_window() {
    let mut pair = Pair::connected(&growing(4 << 20), &[50]);
    // Twice the memory of ten segments, 2 * 10 * (2048 + 256), to the end of a piece.
    assert_eq!(pair.client.write(u64::MAX), 65_160);
    let mut most = 0;
    for _ in 0..300 {
        pair.step(Time::from_secs(60));
        let cwnd = pair.client.subflow_states()[0].cwnd / 1000;
        pair.client.write(u64::MAX);
        let held = pair.client.written() - pair.client.acknowledged();
        assert!(
            held <= (2 * cwnd * 2304).max(46_080) + 65_160,
            "{held} for {cwnd} segments"
        );
        most = most.max(held);
    }
    assert!(most > 100_000, "{most}");
}

#[test]
fn blocked_writer_waits_until_a_third_is_free() {
    let mut pair = Pair::connected(&growing(40_000), &[50]);
    let mut held = pair.client.write(u64::MAX);
    assert_eq!(held, 65_160);
    // Sent data take 832 bytes for two segments besides their payload.
    while held > 15_000 {
        assert!(pair.step(Time::from_secs(60)));
        held = 65_160 - pair.client.acknowledged();
        let room = pair.client.writable();
        assert_eq!(
            room == 0,
            3 * (held + held * 425 / 1024) > 2 * 40_000,
            "{held} {room}"
        );
    }
}

#[test]
fn mptcp_send_buffer_is_sum_of_subflow_buffers() {
    let config = mptcp().with(|config| {
        config.send_buffer.size = Bytes::from_mib(4);
        config.send_buffer.autotuning = true;
        config.scheduler = LinuxConfig::DEFAULT.into();
    });
    let mut pair = Pair::connected(&config, &[20, 50]);
    let buffers = |pair: &Pair| -> Vec<u64> {
        let states = pair.client.subflow_states().iter();
        states.map(|state| state.send_buffer).collect()
    };
    assert_eq!(buffers(&pair), [46_080, 46_080]);
    let mut most = 0;
    for _ in 0..400 {
        pair.step(Time::from_secs(60));
        pair.client.write(u64::MAX);
        let held = pair.client.written() - pair.client.acknowledged();
        // A page fragment is taken if there is space for a byte.
        let capacity = 4096 + buffers(&pair).iter().sum::<u64>();
        assert!(held < capacity + 32_728, "{held} of {capacity}");
        for state in pair.client.subflow_states() {
            let segments = state.cwnd / state.mss;
            let of_window = 2 * segments.max(10) * 2304;
            assert!(
                state.send_buffer <= of_window,
                "{} {of_window}",
                state.send_buffer
            );
        }
        most = most.max(held);
    }
    assert!(most > 300_000, "{most}");
}

#[test]
fn send_buffer_without_autotuning_has_configured_size() {
    let config = mptcp().with(|config| config.send_buffer.size = Bytes::new(40_000));
    let mut pair = Pair::connected(&config, &[20, 50]);
    for _ in 0..400 {
        pair.step(Time::from_secs(60));
        pair.client.write(u64::MAX);
        assert!(pair.client.written() - pair.client.acknowledged() <= 40_000);
    }
    let states = pair.client.subflow_states().iter();
    let buffers: Vec<u64> = states.map(|state| state.send_buffer).collect();
    assert_eq!(buffers, [40_000, 40_000]);
}

#[test]
fn short_segment_is_acknowledged_at_once() {
    for (quick_ack, wait) in [(true, 0), (false, 200)] {
        let config = plain_tcp().with(|config| {
            config.receiver.quick_ack = quick_ack;
            config.receiver.delayed_ack = 2;
        });
        let mut pair = Pair::connected(&config, &[50]);
        // Past the first segments, which are acknowledged one by one.
        pair.transfer(40_000, Time::from_secs(60));
        pair.drive(pair.now + ms(1000));
        pair.sent.clear();
        let start = pair.now;
        pair.client.write(300);
        pair.drive(start + ms(1000));
        let ack = pair.sent.iter().find(|p| !p.to_server);
        assert_eq!(ack.expect("an answer").sent, start + ms(50 + wait));
    }
}
