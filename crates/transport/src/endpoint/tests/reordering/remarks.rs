//! Remarks of the policies on their steps and on ignored reports.

use super::examples::named;
use super::*;
use crate::reordering::{FrtoStep, Ignored, Remark};

/// Remarks during a transfer of forty segments, with their times in ms after the first data.
fn remarks(config: &Config, wire: Box<dyn FnMut(&InFlightSegment) -> Fate>) -> Vec<(u64, Remark)> {
    remarks_of(40, config, wire)
}

fn remarks_of(
    segments: u64,
    config: &Config,
    wire: Box<dyn FnMut(&InFlightSegment) -> Fate>,
) -> Vec<(u64, Remark)> {
    let mut pair = Pair::connected(config, &[50]);
    pair.fate = wire;
    pair.client.write(segments * 1000);
    pair.drive(ms(5000 + 3900));
    let recorded = pair
        .events
        .iter()
        .filter_map(|recorded| match recorded.event {
            TraceEvent::Remarked(remark) => Some((recorded.time, remark)),
            _ => None,
        });
    recorded
        .map(|(time, remark)| ((time - ms(5000)).as_millis_f64() as u64, remark))
        .collect()
}

fn answering_with(name: &str) -> Config {
    Config {
        reordering: named(name),
        ..example()
    }
}

fn step(time: u64, step: FrtoStep) -> (u64, Remark) {
    (time, Remark::Step(step))
}

/// RFC 5682 with and without SACK, and Linux without timestamps.
fn with_f_rto() -> [Config; 3] {
    [
        answering_with("f-rto"),
        answering_with("f-rto").with(|config| config.extensions.sack = false),
        answering_with("linux").with(|config| config.extensions.timestamps = false),
    ]
}

#[test]
fn f_rto_remarks_its_steps() {
    for config in with_f_rto() {
        let wanted = [
            step(1200, FrtoStep::NewDataFirst),
            step(1200, FrtoStep::Spurious),
        ];
        assert_eq!(remarks(&config, stall(5000 + 1150)), wanted);
        // Data sent once are lost: the new data elicit a duplicate.
        let wanted = [
            step(1100, FrtoStep::NewDataFirst),
            step(1200, FrtoStep::Confirmed),
        ];
        assert_eq!(remarks(&config, lose(&FLIGHT)), wanted);
    }
}

#[test]
fn acknowledgement_of_retransmission_confirms_timeout() {
    // All acknowledgements of the flight are lost: the next covers it.
    for config in &with_f_rto()[..2] {
        assert_eq!(
            remarks(config, acknowledgements_lost()),
            [step(1100, FrtoStep::Believed)]
        );
    }
    assert_eq!(
        remarks_of(1, &with_f_rto()[2], lose(&[1])),
        [step(1100, FrtoStep::Believed)]
    );
}

#[test]
fn timestamp_undo_is_no_f_rto_step() {
    assert_eq!(remarks(&answering_with("linux"), stall(5000 + 1150)), []);
}

#[test]
fn f_rto_without_sack_uses_cumulative_acknowledgement() {
    // RFC 5682, section 2.1. Only the second segment of the flight arrived: its acknowledgement, a duplicate,
    // was late.
    let mut duplicate = lose(&[1, 2001, 3001, 4001, 5001, 6001, 7001, 8001, 9001]);
    let late = Box::new(
        move |p: &InFlightSegment| match !p.to_server && p.sent == ms(5050) {
            true => Fate::Late(ms(930)),
            false => duplicate(p),
        },
    );
    let recorded = remarks(&with_f_rto()[1], late);
    assert_eq!(recorded[..1], [step(1030, FrtoStep::Believed)]);
}

const FLIGHT: [u64; 10] = [1, 1001, 2001, 3001, 4001, 5001, 6001, 7001, 8001, 9001];

fn acknowledgements_lost() -> Box<dyn FnMut(&InFlightSegment) -> Fate> {
    Box::new(
        |p| match !p.to_server && p.sent < ms(5100) && p.sent >= ms(5050) {
            true => Fate::Lost,
            false => Fate::Arrives,
        },
    )
}

#[test]
fn inconclusive_duplicate_reports_are_ignored_with_reason() {
    let ignored = |time, why| vec![(time, Remark::Ignored(why))];
    let config = answering_with("dsack");
    // A.1: the first segment is retransmitted, and the whole flight had arrived.
    assert_eq!(
        remarks(&config, acknowledgements_lost()),
        ignored(1100, Ignored::AcksLost)
    );
    // A.3: the first copy is lost, the second arrives, and then the first segment.
    let mut copies = 0;
    let twice = Box::new(move |p: &InFlightSegment| {
        let is_first = p.to_server && p.segment.seq == 1 && p.segment.len > 0;
        copies += u32::from(is_first);
        match copies {
            1 if is_first => Fate::Late(ms(3_200)),
            2 if is_first => Fate::Lost,
            _ if p.to_server && p.segment.len > 0 && p.sent < ms(5500) => Fate::Lost,
            _ => Fate::Arrives,
        }
    });
    assert_eq!(
        remarks(&config, twice),
        ignored(3300, Ignored::SentMoreThanTwice)
    );
    // A.4: nothing was retransmitted, and later reports do not count either.
    let copied = Box::new(
        |p: &InFlightSegment| match p.to_server && p.segment.seq % 5000 == 1 {
            true => Fate::Twice,
            false => Fate::Arrives,
        },
    );
    assert_eq!(
        remarks(&config, copied),
        ignored(100, Ignored::CopiedByNetwork)
    );
    let config = config.with(|config| {
        config.loss.rack = true;
        config.loss.tail_loss_probe = true;
    });
    let probed = remarks_of(10, &config, acknowledgements_lost());
    assert_eq!(probed.len(), 1, "{probed:?}");
    assert_eq!(probed[0].1, Remark::Ignored(Ignored::AnswersProbe));
}
