//! Inputs of a reordering policy.

use super::*;

#[test]
fn policy_inputs_contain_every_sign() {
    let (config, seen) = answering(&plain_tcp(), |_, _| Actions::NOTHING);
    let mut pair = Pair::connected(&config, &[50]);
    let mut acks = 0;
    pair.fate = Box::new(move |p| {
        let segment = &p.segment;
        acks += u32::from(!p.to_server);
        match (p.to_server, segment.seq) {
            // The third data segment is overtaken by one, the sixth arrives twice.
            (true, 2001) if p.sent < ms(5050) => Fate::Late(Time::from_micros(1)),
            (true, 5001) => Fate::Twice,
            (false, _) if acks == 2 => Fate::Late(ms(1)),
            _ => Fate::Arrives,
        }
    });
    pair.transfer(10_000, Time::from_secs(9));
    pair.drive(pair.now + ms(300));
    let seen = seen.lock().expect("unpoisoned");
    let overtaken: Vec<u64> = seen
        .data
        .iter()
        .filter(|data| data.end <= data.highest)
        .map(|data| data.seq)
        .collect();
    assert_eq!(overtaken[..2], [5001, 2001]);
    assert!(
        seen.data[..10]
            .iter()
            .all(|data| data.sent == Some(ms(5000)))
    );
    assert!(
        seen.acks
            .iter()
            .any(|signs| signs.peer_reported_out_of_order)
    );
    let old: Vec<u64> = seen
        .acks
        .iter()
        .filter(|signs| signs.out_of_order)
        .map(|signs| signs.ack)
        .collect();
    assert_eq!(old, [2001]);
    let twice: Vec<_> = seen
        .acks
        .iter()
        .filter_map(|signs| signs.duplicate_report)
        .collect();
    assert_eq!(twice[0], (5001, 6001));
    assert!(
        seen.acks
            .iter()
            .all(|signs| signs.echo == Some(ms(5000)) || signs.advanced == 0)
    );
    drop(seen);
    let (config, seen) = answering(&plain_tcp(), |_, _| Actions::NOTHING);
    let mut pair = Pair::connected(&config, &[50]);
    pair.fate = lose(&[1]);
    pair.transfer(10_000, Time::from_secs(9));
    pair.drive(pair.now + ms(60));
    let seen = seen.lock().expect("unpoisoned");
    assert_eq!(seen.losses.len(), 1);
    let before = seen.losses[0].before.expect("what was before");
    assert_eq!(
        (before.cause, before.window.cwnd),
        (Congestion::FastRetransmit, 10_000)
    );
    assert_eq!(
        seen.retransmitted,
        [Retransmission {
            now: ms(5100),
            seq: 1,
            end: 1001
        }]
    );
    let last = seen.acks.last().expect("an acknowledgement");
    assert!(last.advanced == 10_000 && !last.original, "{last:?}");
    assert_eq!(last.echo, Some(ms(5100)));
}

#[test]
fn acknowledgement_without_sack_after_retransmission_is_not_original() {
    // The first of two is lost: a timeout, and one acknowledgement of the retransmission and of the second.
    let config = plain_tcp().with(|config| {
        config.extensions.sack = false;
        config.loss.tail_loss_probe = false;
    });
    let (config, seen) = answering(&config, |_, _| Actions::NOTHING);
    let mut pair = Pair::connected(&config, &[50]);
    pair.fate = lose(&[1]);
    pair.transfer(2000, Time::from_secs(9));
    pair.drive(pair.now + ms(300));
    let seen = seen.lock().expect("unpoisoned");
    let repaired = seen.acks.iter().find(|signs| signs.ack > 2000);
    let repaired = repaired.expect("an acknowledgement of both");
    assert_eq!(repaired.phase, Phase::Loss);
    assert!(repaired.advanced >= 2000 && !repaired.original);
}
