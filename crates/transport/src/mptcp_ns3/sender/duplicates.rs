//! Handling of duplicate acknowledgements, by policy.

use ropewalk_quantities::Time;

use super::Sender;
use super::f_rto::FRtoStep;
use crate::mptcp_ns3::{Ack, Policy};

const DUPLICATES: u32 = 3;

impl Sender {
    pub(super) fn handle_duplicate(&mut self, now: Time, ack: &Ack) {
        match self.settings.policy {
            Policy::FRto => {
                if self.f_rto == FRtoStep::Four {
                    self.grow(ack.subflow);
                }
            }
            Policy::Eifel => {
                let of = &mut self.subflows[ack.subflow];
                let retransmitted_at = of.flight.front().and_then(|first| first.retransmitted_at);
                let older =
                    |retransmitted_at: Time| stamp_ms(ack.echo) < stamp_ms(retransmitted_at);
                if retransmitted_at.is_some_and(older) {
                    (of.cwnd, of.ssthresh) = of.saved;
                    of.counters.undone += 1;
                    return;
                }
            }
            Policy::Dsack => {
                if let Some([(received, _), _]) = ack.report {
                    return self.handle_report(now, ack.subflow, received);
                }
            }
            Policy::None | Policy::TcpDoor => {}
        }
        if !self.settings.policy.counts_duplicates() {
            return;
        }
        // Otherwise it concerns data that were acknowledged long ago.
        if ack.next == self.subflows[ack.subflow].una {
            self.count_duplicate(now, ack.subflow);
        }
    }

    fn count_duplicate(&mut self, now: Time, subflow: usize) {
        let of = &mut self.subflows[subflow];
        let Some(first) = of.flight.front_mut() else {
            return;
        };
        first.duplicates += 1;
        if first.duplicates == DUPLICATES {
            of.counters.fast_recoveries += 1;
            self.reduce(now, subflow);
        }
    }

    /// D-SACK: marks segments that arrived ahead of the stream; `lowest` is a block.
    pub(super) fn mark_reported(&mut self, received: (u64, u64), lowest: (u64, u64)) {
        for of in &mut self.subflows {
            let alone = match lowest.0 <= received.0 && received.1 <= lowest.1 {
                true => (0, 0),
                false => received,
            };
            for (start, end) in [alone, lowest] {
                let from = of.flight.partition_point(|sent| sent.data < start);
                let reported = of.flight.range_mut(from..);
                for sent in reported.take_while(|sent| sent.data < end) {
                    sent.reported += 1;
                }
            }
        }
    }

    /// D-SACK: handles a duplicate that reports a segment ahead of the stream. If that segment was
    /// retransmitted and had been reported before, the retransmission was spurious; otherwise the duplicate
    /// counts against the subflow that blocks the stream.
    fn handle_report(&mut self, now: Time, subflow: usize, received: u64) {
        let blamed = self.lowest_unreported();
        let known = self.subflows.iter().find_map(|of| {
            let place = of.flight.binary_search_by_key(&received, |sent| sent.data);
            Some(of.flight[place.ok()?])
        });
        if known.is_some_and(|sent| sent.retransmitted_at.is_some() && sent.reported > 1) {
            let of = &mut self.subflows[blamed.unwrap_or(subflow)];
            of.counters.undone += u64::from(!of.restores);
            of.restores = true;
        } else if let Some(blamed) = blamed {
            self.count_duplicate(now, blamed);
        }
    }

    /// The subflow whose first unacknowledged segment is the lowest of the stream, among the unreported ones.
    /// A later subflow takes precedence over an earlier one once per segment.
    fn lowest_unreported(&mut self) -> Option<usize> {
        let mut lowest: Option<(u64, usize)> = None;
        for (index, of) in self.subflows.iter().enumerate() {
            let Some(first) = of.flight.front().filter(|first| first.reported == 0) else {
                continue;
            };
            match lowest {
                None => lowest = Some((first.data, index)),
                Some((data, _)) if first.data < data => {
                    if self.passed_on.is_none_or(|last| last < first.data) {
                        self.passed_on = Some(first.data);
                        lowest = Some((first.data, index));
                    }
                }
                Some(_) => {}
            }
        }
        lowest.map(|(_, index)| index)
    }
}

fn stamp_ms(stamp: Time) -> u64 {
    stamp.as_nanos() / 1_000_000
}
