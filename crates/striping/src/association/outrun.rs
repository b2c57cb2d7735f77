//! Which carriers have room and nothing to send, since the others deliver sooner what waits.

use ropewalk_quantities::Time;
use ropewalk_transport::SchedulerConfig;

use super::Association;
use super::asking::Findings;
use super::schedule::least_ahead;
use crate::Payload;
use crate::carriers::outrun::{Edge, GROUPS, Outrun};
use crate::carriers::resting::Reason;
use crate::stream::send::Closed;

/// Carriers with parts of different least lengths rest together if these are at least this.
const COMMON_LEAST: [u64; 2] = [1400, 700];

/// The least length of a part for which carriers with this payload rest: not more than their own.
fn common_least(payload: u64) -> u64 {
    let own = least_ahead(payload);
    let common = COMMON_LEAST.iter().find(|least| **least <= own);
    common.copied().unwrap_or(own)
}

impl<P: Payload> Association<P> {
    /// Whether a carrier with room has nothing to send because the others deliver the waiting data sooner, and
    /// if so, where its gap lies, if that is known. `None` if it has something to send, or may have.
    pub(super) fn why_outrun(
        &mut self,
        at: usize,
        payload: u64,
        findings: &mut Findings,
    ) -> Option<Option<Closed>> {
        if let Some(closed) = self.closed_of(at, payload, findings) {
            return Some(Some(closed));
        }
        self.beyond(common_least(payload), findings)?;
        let gap = self.carriers.gap_below(at, u64::MAX)?;
        if gap < payload / 2 {
            return None;
        }
        // Behind which gaps no part begins is known only where a single stream waits.
        let send = self.only_waiting()?;
        let has_any = send
            .part_ahead(gap, payload, least_ahead(payload))
            .is_some();
        // A later carrier, behind a longer gap, has nothing either; but the cached result is for this length
        // only.
        findings.beyond = [None; 2];
        (!has_any).then_some(None)
    }

    /// Where the gap of a carrier lies, if that is enough to know that it has nothing to send.
    fn closed_of(&mut self, at: usize, payload: u64, findings: &mut Findings) -> Option<Closed> {
        if self.turns.len() == 0 {
            return Some(Closed::from(0));
        }
        let common = common_least(payload);
        let beyond = self.beyond(common, findings)?;
        let enough = (beyond + 1).max(payload / 2);
        let Some(gap) = self.carriers.gap_below(at, enough) else {
            return Some(Closed::from(beyond + 1));
        };
        if gap < payload / 2 {
            return None;
        }
        self.closed_around(gap, common, findings)
    }

    /// The range around a gap behind which no part of this least length begins.
    fn closed_around(&mut self, gap: u64, least: u64, findings: &mut Findings) -> Option<Closed> {
        if let Some((of, closed)) = findings.closed
            && of == least
            && (closed.from..=closed.to).contains(&gap)
        {
            return Some(closed);
        }
        let closed = self.only_waiting()?.closed(gap, least)?;
        findings.closed = Some((least, closed));
        Some(closed)
    }

    /// Whether a carrier that is in doubt rests on.
    pub(super) fn rests_on(&mut self, now: Time, at: usize, findings: &mut Findings) -> bool {
        let Some(reason) = self.carriers.why_it_rests(at) else {
            return false;
        };
        let Some(outrun) = reason.outrun.filter(|_| self.is_within(now, &reason)) else {
            return false;
        };
        let Some(closed) = self.closed_of(at, outrun.payloads[0], findings) else {
            return false;
        };
        let holder = self.find_holder(findings);
        !holder.is_some_and(|holder| self.is_sooner(now, outrun.arrives_in[0], holder))
            && self.carriers.rest_again(at, closed)
    }

    /// Whether all but what outruns carriers with this reason holds.
    fn is_within(&self, now: Time, reason: &Reason) -> bool {
        reason.holds(now, self.carriers.lasts())
    }

    /// Of the carriers that rest, those are in doubt afterwards that may have something to send: those for which
    /// `reason`, that of all, does not hold, and groups for which theirs does not.
    pub(super) fn doubt(&mut self, now: Time, reason: &Reason, findings: &mut Findings) {
        self.carriers.trust();
        if !self.is_within(now, reason) {
            self.carriers.doubt_some(now);
        }
        for number in 0..GROUPS {
            if let Some(outrun) = self.carriers.group(number) {
                match self.still_outrun(now, number, &outrun, findings) {
                    Some(closed) => self.carriers.set_closed(number, closed),
                    None => self.carriers.doubt_group(number),
                }
            }
        }
    }

    /// If none of a group of carriers has anything to send: where their gaps lie.
    fn still_outrun(
        &mut self,
        now: Time,
        number: usize,
        outrun: &Outrun,
        findings: &mut Findings,
    ) -> Option<Closed> {
        let closed = match self.turns.len() {
            0 => Closed::from(0),
            _ => self.closed_to(number, outrun, findings)?,
        };
        let holder = self.find_holder(findings);
        let rescues =
            holder.is_some_and(|holder| self.is_sooner(now, outrun.arrives_in[0], holder));
        (!rescues).then_some(closed)
    }

    /// Where the gaps of a group of carriers lie, if nothing begins behind any of them.
    fn closed_to(
        &mut self,
        group: usize,
        outrun: &Outrun,
        findings: &mut Findings,
    ) -> Option<Closed> {
        let ([fastest, slowest], [least, most]) = (outrun.arrives_in, outrun.payloads);
        let edge = |is_slowest| Edge { group, is_slowest };
        let common = common_least(least);
        let beyond = self.beyond(common, findings)?;
        let enough = (beyond + 1).max(most / 2);
        let Some(gap) = self.carriers.gap_until(edge(false), fastest, enough) else {
            return Some(Closed::from(beyond + 1));
        };
        if gap < most / 2 {
            return None;
        }
        let closed = self.closed_around(gap, common, findings)?;
        if closed.to < u64::MAX {
            self.carriers
                .gap_until(edge(true), slowest, closed.to + 1)?;
        }
        Some(closed)
    }

    /// A number of waiting bytes behind which no part of this least length begins. `None` if there is none known.
    fn beyond(&mut self, least: u64, findings: &mut Findings) -> Option<u64> {
        if !matches!(self.config.scheduling, SchedulerConfig::EarliestArrival(_)) {
            return None;
        }
        let known = &mut findings.beyond[usize::from(least == COMMON_LEAST[0])];
        match known {
            Some((of, beyond)) if *of == least => *beyond,
            _ => {
                let beyond = self.nothing_beyond(least);
                *known = Some((least, beyond));
                beyond
            }
        }
    }
}
