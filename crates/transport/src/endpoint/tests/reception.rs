use super::*;

/// Acknowledgements of a new server for data segments of 1000 bytes, given by number.
fn acknowledgements(config: &Config, arrivals: &[u64]) -> Vec<String> {
    let arrivals: Vec<(u64, u64)> = arrivals.iter().map(|&number| (number, 5000)).collect();
    answers_to(config, &arrivals)
}

/// The same for segments with timestamps in milliseconds.
fn answers_to(config: &Config, arrivals: &[(u64, u64)]) -> Vec<String> {
    let mut pair = Pair::connected(config, &[50]);
    pair.client.write(1000);
    pair.flush();
    let model = pair.sent.last().expect("a data segment").segment;
    let mut answers = Vec::new();
    for &(number, timestamp) in arrivals {
        let segment = Segment {
            seq: 1 + 1000 * number,
            data_seq: 1000 * number,
            ts_val: ms(timestamp),
            ..model
        };
        pair.server.handle_segment(pair.now, 0, &segment);
        pair.server.read(u64::MAX);
        while let Some((subflow, segment)) = transmit(&mut pair.server, pair.now) {
            let passing = InFlightSegment {
                sent: Time::ZERO,
                to_server: false,
                subflow,
                segment,
                number: 0,
            };
            answers.push(line(&passing)[5..].to_owned());
        }
    }
    answers
}

#[test]
fn every_second_segment_is_acknowledged_and_the_odd_one_after_the_timer() {
    let config = plain_tcp().with(|config| config.receiver.delayed_ack = 2);
    assert_eq!(
        acknowledgements(&config, &[0, 1, 2, 3, 4]),
        [" ack 2001", " ack 4001"].map(|s| format!(".{s}"))
    );
    let mut pair = Pair::connected(&config, &[50]);
    pair.client.write(1000);
    pair.drive(Time::from_secs(8));
    let ack = pair
        .sent
        .iter()
        .find(|p| !p.to_server)
        .expect("an acknowledgement");
    assert_eq!(ack.sent, ms(5250));
}

#[test]
fn data_packets_and_out_of_order_packets_are_counted() {
    let mut pair = Pair::connected(&plain_tcp(), &[50]);
    pair.fate = Box::new(|passing| match passing.segment.seq {
        1 if passing.to_server => Fate::Twice,
        1001 if passing.to_server => Fate::Late(ms(5)),
        _ => Fate::Arrives,
    });
    pair.client.write(4000);
    pair.drive(ms(5200));
    assert_eq!(pair.server.delivered(), 4000);
    assert_eq!(pair.server.packets(), (4, 2));
}

#[test]
fn quick_acknowledgements_at_the_start() {
    let config = plain_tcp().with(|config| {
        config.receiver.delayed_ack = 2;
        config.receiver.quick_ack = true;
    });
    let arrivals: Vec<u64> = (0..20).collect();
    assert_eq!(acknowledgements(&config, &arrivals).len(), 18);
}

#[test]
fn sack_blocks_name_the_newest_range_first() {
    // RFC 2018, section 4: the first block holds the segment that triggered the acknowledgement.
    let config = plain_tcp();
    assert_eq!(
        acknowledgements(&config, &[0, 2, 4, 6, 3, 1]),
        [
            ". ack 1001",
            ". ack 1001 sack 2001:3001",
            ". ack 1001 sack 4001:5001 2001:3001",
            ". ack 1001 sack 6001:7001 4001:5001 2001:3001",
            ". ack 1001 sack 2001:5001 6001:7001",
            ". ack 5001 sack 6001:7001",
        ]
    );
}

#[test]
fn sack_names_older_ranges_after_latest_gap_closes() {
    // The four ranges remembered as the newest are merged one by one.
    let arrivals = [0, 20, 2, 4, 6, 8, 1, 3, 5, 7];
    assert_eq!(
        acknowledgements(&plain_tcp(), &arrivals)[6..],
        [
            ". ack 3001 sack 8001:9001 6001:7001 4001:5001",
            ". ack 5001 sack 8001:9001 6001:7001",
            ". ack 7001 sack 8001:9001",
            ". ack 9001 sack 20001:21001",
        ]
    );
}

/// Segments of a server with this many bytes to send when a segment arrives behind a gap.
fn answers_with_data(bytes: u64) -> Vec<String> {
    let mut pair = Pair::connected(&plain_tcp(), &[50]);
    pair.client.write(1000);
    pair.flush();
    let mut segment = pair.sent.last().expect("a data segment").segment;
    (segment.seq, segment.data_seq) = (2001, 2000);
    pair.server.handle_segment(pair.now, 0, &segment);
    pair.server.write(bytes);
    let mut answers = Vec::new();
    while let Some((_, segment)) = transmit(&mut pair.server, pair.now) {
        let blocks = matches!(segment.options, Options::Sack(_));
        answers.push(format!(
            "{}{}",
            segment.len,
            if blocks { " sack" } else { "" }
        ));
    }
    answers
}

#[test]
fn full_segment_leaves_sack_blocks_to_pure_acknowledgement() {
    assert_eq!(answers_with_data(0), ["0 sack"]);
    assert_eq!(answers_with_data(100), ["100 sack"]);
    assert_eq!(answers_with_data(1000), ["1000", "0 sack"]);
}

#[test]
fn duplicate_segment_is_reported_by_dsack() {
    // RFC 2883, section 4: below the acknowledgement, and inside a range behind a gap.
    assert_eq!(
        acknowledgements(&plain_tcp(), &[0, 0, 2, 3, 2]),
        [
            ". ack 1001",
            ". ack 1001 sack 1:1001",
            ". ack 1001 sack 2001:3001",
            ". ack 1001 sack 2001:4001",
            ". ack 1001 sack 2001:3001 2001:4001",
        ]
    );
}

#[test]
fn echo_is_timestamp_of_last_segment_in_order() {
    // RFC 7323, 4.3: with a gap, the echo stays that of the last segment in order.
    let mut pair = Pair::connected(&plain_tcp(), &[50]);
    let mut lost = false;
    pair.fate = Box::new(move |p| {
        let hole = p.segment.len > 0 && p.segment.seq == 1001 && !lost;
        lost |= hole;
        if hole { Fate::Lost } else { Fate::Arrives }
    });
    pair.client.write(1000);
    pair.flush();
    pair.drive(ms(5010));
    pair.client.write(3000);
    pair.drive(ms(5090));
    let echoes: Vec<Time> = pair
        .sent
        .iter()
        .filter(|p| !p.to_server)
        .map(|p| p.segment.ts_ecr)
        .collect();
    assert_eq!(echoes, [ms(5000), ms(5000), ms(5000)]);
}

/// Segments overtaken by a retransmission that closes a gap.
const OVERTAKEN: [(u64, u64); 6] = [
    (0, 5000),
    (2, 5002),
    (1, 5060),
    (3, 5003),
    (2, 5002),
    (3, 5059),
];

#[test]
fn old_segments_are_discarded_by_paws() {
    // RFC 7323, 5.3, R1, and a D-SACK for the duplicate data. One millisecond less is not old yet.
    let answers = [
        ". ack 1001",
        ". ack 1001 sack 2001:3001",
        ". ack 3001",
        ". ack 3001",
        ". ack 3001 sack 2001:3001",
        ". ack 4001",
    ];
    assert_eq!(answers_to(&plain_tcp(), &OVERTAKEN), answers);
}

#[test]
fn old_segments_are_accepted_without_paws() {
    let config = plain_tcp().with(|config| config.receiver.paws = false);
    let answers = answers_to(&config, &OVERTAKEN);
    assert_eq!(answers[3], ". ack 4001");
    let config = plain_tcp().with(|config| config.extensions.timestamps = false);
    assert_eq!(answers_to(&config, &OVERTAKEN), answers);
}

/// Cumulative acknowledgement, a range above it, timestamp in milliseconds.
type AckFields = (u64, Option<(u64, u64)>, u64);

/// The sender after these acknowledgements of its first flight of four segments.
fn after(config: &Config, acknowledgements: &[AckFields]) -> Pair {
    let mut pair = Pair::connected(config, &[50]);
    pair.client.write(4000);
    pair.flush();
    let model = Segment {
        seq: 1,
        ack: 1,
        len: 0,
        window: 100_000,
        ..pair.sent.last().expect("a data segment").segment
    };
    pair.now = ms(5100);
    for &(ack, range, timestamp) in acknowledgements {
        let mut list = crate::segment::SackList::default();
        if let Some((start, end)) = range {
            list.push(ack, start, end);
        }
        let options = match range {
            Some(_) => Options::Sack(list),
            None => Options::None,
        };
        let segment = Segment {
            ack,
            options,
            ts_val: ms(timestamp),
            ts_ecr: ms(5000),
            ..model
        };
        pair.client.handle_segment(pair.now, 0, &segment);
    }
    pair
}

#[test]
fn overtaken_acknowledgements_are_discarded_unless_repeated() {
    let config = plain_tcp().with(|config| config.loss.rack = false);
    let discarded = |acknowledgements: &[_]| {
        let counters = after(&config, acknowledgements).client.counters(0);
        counters.discarded_as_old
    };
    assert_eq!(discarded(&[(2001, None, 5060), (1001, None, 5055)]), 1);
    assert_eq!(discarded(&[(2001, None, 5060), (1001, None, 5059)]), 0);
    let repeats = (2001, Some((3001, 4001)), 5055);
    assert_eq!(discarded(&[(2001, None, 5060), repeats]), 0);
}

#[test]
fn sack_gives_rtt_sample_as_in_linux() {
    let recorded = [(1, Some((2001, 3001)), 5060)];
    let with = |rtt_from_sack| plain_tcp().with(|config| config.rto.from_sack = rtt_from_sack);
    let state = |config| after(&config, &recorded).client.subflow_states()[0].clone();
    let (without, with) = (state(with(false)), state(with(true)));
    assert_eq!(with.rtt_samples, without.rtt_samples + 1);
    assert_eq!(with.latest_rtt, ms(100));
    assert_eq!(without.latest_rtt, without.srtt);
}
