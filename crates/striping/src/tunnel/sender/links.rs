//! Links of a sender: state, datagrams in flight, and timers of each.
//!
//! The sender reads results of all links after each event, which concerns one link. So results that depend on
//! a single link are cached: borrowing a link mutably invalidates them.

use ropewalk_quantities::Time;
use ropewalk_wire::gateway::tunnel::LinkTerms;

use super::link_list::LinkList;
use crate::tunnel::activity::Activity;
use crate::tunnel::path_mtu::{PathMtu, PathMtuConfig};
use crate::tunnel::rate_control::RateControl;
use crate::tunnel::retransmit_buffer::{MAX_KEPT, Packet, RetransmitBuffer};
use crate::tunnel::selection::LinkEstimate;

/// After this long in a quiet tunnel the path MTU is no longer probed.
const PROBED_FOR: Time = Time::from_secs(30);

#[derive(Debug)]
pub(super) struct SenderLinks<P> {
    pub(super) controls: Vec<RateControl>,
    path_mtus: Vec<PathMtu>,
    up: Vec<bool>,
    pub(super) terms: Vec<LinkTerms>,
    pub(super) buffers: Vec<RetransmitBuffer<P>>,
    /// Cached timers of each, and the earliest of any.
    due: Vec<LinkTimers>,
    first_due: LinkTimers,
    stale: LinkList,
    /// Links with datagrams since their measurements were last noted as application-limited.
    unlimited: LinkList,
    pub(super) states: Vec<LinkState>,
    changed: LinkList,
    /// Whether any of it has changed since the last check.
    pub(super) has_changed: bool,
}

/// Properties that decide whether a link is used, and its share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LinkState {
    pub(super) is_available: bool,
    /// Whether it may, and is not suspected of being down.
    pub(super) is_responsive: bool,
    /// Whether its round trip has been measured, and its rate while it was busy.
    pub(super) is_heard: bool,
    pub(super) knows_its_rate: bool,
    pub(super) round_trip: Time,
    /// The lowest recent one-way delay plus the difference of the ends' clocks, in microseconds, modulo 2^32.
    pub(super) one_way: u32,
    pub(super) estimate: LinkEstimate,
}

pub(super) struct LinkMut<'a, P> {
    pub(super) control: &'a mut RateControl,
    pub(super) path_mtu: &'a mut PathMtu,
    pub(super) is_up: &'a mut bool,
    pub(super) terms: &'a mut LinkTerms,
    pub(super) buffer: &'a mut RetransmitBuffer<P>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LinkTimers {
    pub(super) ping_at: Time,
    /// When it is pinged, counts as late, sends its packet train, or has its path MTU probed.
    pub(super) at: Time,
    /// The same, or when it would be suspected.
    pub(super) action_at: Time,
    /// Whether packets that pass through the tunnel do not change it.
    is_settled: bool,
}

impl LinkTimers {
    const NOTHING: LinkTimers = LinkTimers {
        ping_at: Time::MAX,
        at: Time::MAX,
        action_at: Time::MAX,
        is_settled: true,
    };

    fn include(&mut self, other: &LinkTimers) {
        self.at = self.at.min(other.at);
        self.action_at = self.action_at.min(other.action_at);
    }
}

impl<P> SenderLinks<P> {
    pub(super) fn new() -> SenderLinks<P> {
        SenderLinks {
            controls: Vec::new(),
            path_mtus: Vec::new(),
            up: Vec::new(),
            terms: Vec::new(),
            buffers: Vec::new(),
            due: Vec::new(),
            first_due: LinkTimers::NOTHING,
            stale: LinkList::default(),
            unlimited: LinkList::default(),
            states: Vec::new(),
            changed: LinkList::default(),
            has_changed: true,
        }
    }

    pub(super) fn add(&mut self, now: Time, path_mtu: PathMtuConfig) {
        self.controls.push(RateControl::new(now));
        self.path_mtus.push(PathMtu::new(now, path_mtu));
        self.up.push(true);
        self.terms.push(LinkTerms::default());
        self.buffers.push(RetransmitBuffer::default());
        let links = self.controls.len();
        for control in &mut self.controls {
            control.share_memory(links);
        }
        self.due.push(LinkTimers::NOTHING);
        // Not available until it has been followed.
        self.states.push(LinkState {
            is_available: false,
            is_responsive: false,
            ..self.find_state(self.len() - 1)
        });
        // A second link changes the state of the others.
        self.invalidate_all();
    }

    pub(super) fn invalidate_all(&mut self) {
        for link in 0..self.len() {
            self.stale.insert(link);
            self.unlimited.insert(link);
            self.changed.insert(link);
        }
        self.has_changed = true;
    }

    pub(super) fn len(&self) -> usize {
        self.controls.len()
    }

    pub(super) fn has_several(&self) -> bool {
        self.len() > 1
    }

    pub(super) fn path_mtu(&self, link: usize) -> &PathMtu {
        &self.path_mtus[link]
    }

    pub(super) fn is_up(&self, link: usize) -> bool {
        self.up[link]
    }

    /// Whether packets, pings and probes may be sent on a link: it is up, and not on standby.
    pub(super) fn is_in_use(&self, link: usize) -> bool {
        self.up[link] && !self.terms[link].standby
    }

    /// Whether silence of a link matters: it is in use, or packets are still in flight on it.
    pub(super) fn is_watched(&self, link: usize) -> bool {
        !self.terms[link].standby || !self.buffers[link].is_empty()
    }

    pub(super) fn change(&mut self, link: usize) -> LinkMut<'_, P> {
        self.changed.insert(link);
        self.borrow(link)
    }

    /// Borrows a link to send on it, which does not change its usability.
    pub(super) fn send_on(&mut self, link: usize) -> LinkMut<'_, P> {
        self.unlimited.insert(link);
        self.borrow(link)
    }

    /// Keeps packets of a datagram for retransmission, next to `others` bytes of other packets; drops
    /// the link's oldest if needed.
    pub(super) fn keep(
        &mut self,
        link: usize,
        sequence: u64,
        packets: impl Iterator<Item = Packet<P>>,
        others: u64,
    ) {
        let most = MAX_KEPT / self.buffers.len() as u64;
        let buffer = &mut self.buffers[link];
        packets.for_each(|packet| buffer.put(sequence, packet));
        if buffer.memory.max(others) <= most / 2 {
            return;
        }
        let kept = |buffers: &[RetransmitBuffer<P>]| -> u64 {
            buffers.iter().map(|buffer| buffer.memory).sum::<u64>() + others
        };
        while kept(&self.buffers) > MAX_KEPT && self.buffers[link].memory > 0 {
            self.buffers[link].drop_oldest();
        }
    }

    pub(super) fn keep_packets(&self) -> bool {
        self.buffers.iter().any(|buffer| !buffer.is_empty())
    }

    pub(super) fn drop_kept_packets(&mut self) {
        for link in 0..self.len() {
            drop(self.change(link).buffer.give_up());
        }
    }

    fn borrow(&mut self, link: usize) -> LinkMut<'_, P> {
        self.stale.insert(link);
        LinkMut {
            control: &mut self.controls[link],
            path_mtu: &mut self.path_mtus[link],
            is_up: &mut self.up[link],
            terms: &mut self.terms[link],
            buffer: &mut self.buffers[link],
        }
    }

    /// Borrows the rate control of a link for a note that changes neither its timers nor its usability.
    pub(super) fn note(&mut self, link: usize) -> &mut RateControl {
        &mut self.controls[link]
    }

    /// Recomputes the usability of changed links, and passes on changes.
    pub(super) fn update_states(&mut self, mut pass: impl FnMut(usize, &LinkState)) {
        let mut changed = std::mem::take(&mut self.changed);
        changed.retain(|link| {
            let state = self.find_state(link);
            if state != self.states[link] {
                self.states[link] = state;
                self.has_changed = true;
                pass(link, &state);
            }
            false
        });
        self.changed = changed;
        debug_assert!((0..self.len()).all(|link| self.states[link] == self.find_state(link)));
    }

    fn find_state(&self, link: usize) -> LinkState {
        let control = &self.controls[link];
        let is_available = self.is_in_use(link) && self.path_mtus[link].plpmtu() > 0;
        LinkState {
            is_available,
            is_responsive: is_available && !control.suspected(),
            is_heard: control.smoothed().is_some(),
            knows_its_rate: control.knows_its_rate(),
            round_trip: control.round_trip(),
            one_way: control.least_one_way(),
            estimate: control.estimate(),
        }
    }

    /// Marks links with room as application-limited, until more is sent on them; also those whose path MTU is
    /// too small. `usable` is sorted.
    pub(super) fn note_limited(&mut self, now: Time, usable: &[usize]) {
        let (controls, path_mtus) = (&mut self.controls, &self.path_mtus);
        self.unlimited.retain(|link| {
            let control = &mut controls[link];
            let has_room = control.has_room(now) && usable.binary_search(&link).is_ok();
            let is_limited = has_room || path_mtus[link].plpmtu() == 0;
            !(is_limited && control.note_limited())
        });
        debug_assert!(usable.iter().all(|&link| {
            let control = &self.controls[link];
            control.is_full() || !control.has_room(now) || control.link_sender().is_limited()
        }));
    }

    /// Returns the earliest timers of any link, in a tunnel of this activity with keepalives at the interval
    /// `keepalive`.
    pub(super) fn first_due(&mut self, activity: &Activity, keepalive: Time) -> LinkTimers {
        let mut stale = std::mem::take(&mut self.stale);
        let mut was_first = false;
        stale.retain(|link| {
            let due = self.find_due(link, activity, keepalive);
            let before = std::mem::replace(&mut self.due[link], due);
            was_first |=
                before.at == self.first_due.at || before.action_at == self.first_due.action_at;
            self.first_due.include(&due);
            !due.is_settled
        });
        self.stale = stale;
        if was_first {
            self.first_due = LinkTimers::NOTHING;
            self.due.iter().for_each(|due| self.first_due.include(due));
        }
        debug_assert!((0..self.len()).all(|link| {
            let due = self.find_due(link, activity, keepalive);
            due == self.due[link]
                && self.first_due.at <= due.at
                && self.first_due.action_at <= due.action_at
        }));
        self.first_due
    }

    pub(super) fn due(&self, link: usize, activity: &Activity, keepalive: Time) -> LinkTimers {
        match self.stale.contains(link) {
            true => self.find_due(link, activity, keepalive),
            false => self.due[link],
        }
    }

    fn find_due(&self, link: usize, activity: &Activity, keepalive: Time) -> LinkTimers {
        let control = &self.controls[link];
        let (quiet_at, is_in_use) = (activity.quiet_at(), self.is_in_use(link));
        let busy_ping_at = control.timeout(None);
        let ping_at = match busy_ping_at <= quiet_at {
            true => busy_ping_at,
            false => control.timeout(Some(keepalive)).max(quiet_at),
        };
        let (probing_at, probed_until) = (self.probing_at(link), probed_until(activity));
        let mut at = match probing_at {
            Some(at) if at <= probed_until => at,
            _ => Time::MAX,
        };
        let mut suspects_at = Time::MAX;
        if self.is_watched(link) {
            if self.up[link] {
                at = at.min(ping_at);
                suspects_at = control.suspects_at().unwrap_or(Time::MAX);
            }
            at = at.min(control.late_at().unwrap_or(Time::MAX));
        }
        if let Some(train_at) = control.train_at()
            && self.has_several()
            && is_in_use
        {
            at = at.min(train_at);
        }
        LinkTimers {
            ping_at,
            at,
            action_at: at.min(suspects_at),
            is_settled: busy_ping_at <= quiet_at && probing_at.is_none_or(|at| at <= probed_until),
        }
    }

    /// Returns when the search for the path MTU of a link continues, unless the tunnel is quiet by then;
    /// never for a silent link.
    fn probing_at(&self, link: usize) -> Option<Time> {
        let is_probed = self.is_in_use(link) && !self.controls[link].suspected();
        let at = self.path_mtus[link].poll_timeout();
        at.filter(|_| is_probed)
    }

    /// Whether the path MTU of a link is probed at its timers.
    pub(super) fn is_probed(&self, link: usize, activity: &Activity) -> bool {
        let at = self.probing_at(link);
        at.is_some_and(|at| at <= probed_until(activity))
    }
}

/// In a quiet tunnel no path MTU is probed.
fn probed_until(activity: &Activity) -> Time {
    activity.packet_at + PROBED_FOR
}
