//! The shared window of subflows, as in Linux.

use std::collections::BTreeSet;

use super::*;
use crate::scheduling::linux::LinuxConfig;
use crate::scheduling::min_rtt::MinRttConfig;

fn linux() -> Config {
    mptcp().with(|config| {
        config.scheduler = LinuxConfig::DEFAULT.into();
        config.receive_buffer.size = Bytes::new(40_000);
        config.receive_buffer.charge_reordered = true;
        config.subflows.linux_window = true;
    })
}

/// A transfer in which every `each`-th data segment is lost; returns the pair, and the number of segments
/// that arrived behind a gap and beyond the window.
fn transfer_with_losses(config: &Config, each: usize) -> (Pair, usize) {
    let mut pair = Pair::connected(config, &[10, 30, 60]);
    let mut data = 0;
    pair.fate = Box::new(move |p| {
        data += usize::from(p.segment.len > 0);
        match p.segment.len > 0 && data.is_multiple_of(each) {
            true => Fate::Lost,
            false => Fate::Arrives,
        }
    });
    pair.client.write(400_000);
    let mut beyond = BTreeSet::new();
    loop {
        pair.flush();
        if let Some((_, passing)) = pair.wire.first_key_value() {
            let (segment, rx) = (&passing.segment, &pair.server.rx);
            let end = segment.data_seq + u64::from(segment.len);
            let behind = segment.len > 0 && segment.data_seq > rx.nxt;
            if passing.to_server && behind && end > rx.edge {
                beyond.insert(passing.number);
            }
        }
        if !pair.step(Time::from_secs(600)) {
            break;
        }
    }
    let beyond = beyond.len();
    (pair, beyond)
}

#[test]
fn data_dropped_beyond_window_are_retransmitted_by_connection() {
    let mut dropped = 0;
    for each in 30..50 {
        let (pair, beyond) = transfer_with_losses(&linux(), each);
        assert_eq!(pair.server.delivered(), 400_000, "each {each}");
        assert_eq!(pair.client.acknowledged(), 400_000);
        dropped += beyond;
    }
    assert!(dropped > 0, "nothing went beyond the window");
}

#[test]
fn data_stay_within_window() {
    let config = linux().with(|config| config.subflows.linux_window = false);
    for each in 30..50 {
        let (pair, beyond) = transfer_with_losses(&config, each);
        assert_eq!(pair.server.delivered(), 400_000);
        assert_eq!(beyond, 0, "each {each}");
    }
}

#[test]
fn nagle_allows_one_small_segment_in_flight_per_subflow() {
    let config = linux().with(|config| {
        // The window is no multiple of a segment, and its scale rounds it.
        config.receive_buffer.size = Bytes::new(33_333);
    });
    let mut pair = Pair::connected(&config, &[10, 25]);
    pair.client.write(u64::MAX);
    let mut small = 0;
    while pair.step(Time::from_secs(8)) {
        pair.client.write(u64::MAX);
        for flow in &pair.client.subflows {
            let board = &flow.sender.board;
            let short = board.iter().filter(|sent| sent.len < 1000).count();
            assert!(short <= 1, "{short} small segments are unacknowledged");
            small += short;
        }
    }
    assert!(small > 0, "there was no small segment");
}

#[test]
fn receive_buffer_grows_with_read_rate() {
    let config = linux().with(|config| config.receive_buffer.size = Bytes::from_mib(6));
    let mut pair = Pair::new(&config, &[10]);
    pair.client.connect();
    pair.drive(ms(40));
    let first = pair.server.rx.capacity;
    // Measures reads, not calls that read nothing.
    pair.reads = false;
    pair.client.write(1_000_000);
    while pair.server.delivered() < 1_000_000 {
        assert!(pair.step(Time::from_secs(60)));
        if pair.server.readable() > 0 {
            pair.server.read(u64::MAX);
        }
    }
    assert!(pair.server.rx.capacity > 4 * first, "{first} at first");
}

#[test]
fn doubled_window_is_announced_on_all_subflows() {
    let config = Config {
        scheduler: MinRttConfig::DEFAULT.into(),
        initial_window: InitialWindow::Segments(16),
        ..linux()
    };
    let mut pair = Pair::connected(&config, &[10, 12]);
    pair.reads = false;
    pair.client.write(36_000);
    pair.drive(Time::from_secs(7));
    pair.sent.clear();
    assert_eq!(pair.server.read(1000), 1000);
    pair.flush();
    assert_eq!(pair.sent.len(), 0);
    assert_eq!(pair.server.read(u64::MAX), 35_000);
    pair.flush();
    let subflows: Vec<usize> = pair.sent.iter().map(|p| p.subflow).collect();
    assert_eq!(subflows, [0, 1]);
    let recorded = pair.sent.iter().map(|p| p.segment.window);
    assert!(recorded.min() > Some(39_000));
}
