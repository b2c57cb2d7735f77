//! Which carriers are to be polled, as the association asks and tells.

use ropewalk_quantities::Time;

use super::Carriers;
use super::outrun::Outrun;
use super::resting::Reason;
use crate::CarrierId;
use crate::stream::send::Closed;

impl Carriers {
    /// A carrier was polled and had nothing to send: it is woken when that may have changed.
    pub(crate) fn fall_asleep(&mut self, now: Time, at: usize) {
        self.waking.fall_asleep(now, self.order.place(at));
    }

    /// Whether a carrier is asleep: polled, with nothing to send.
    pub(crate) fn is_asleep(&self, at: usize) -> bool {
        self.waking.is_asleep(self.order.place(at))
    }

    /// When it was last polled and had nothing.
    pub(crate) fn asked_at(&self, at: usize) -> Time {
        self.waking.asked_at(self.order.place(at))
    }

    /// Whether it is to be polled.
    pub(crate) fn is_awake(&self, at: usize) -> bool {
        self.waking.is_awake(self.order.place(at))
    }

    /// Whether any carrier is to be polled.
    pub(crate) fn is_any_awake(&self) -> bool {
        self.waking.is_any_awake()
    }

    /// The first carrier that is awake and does not rest, or not for sure, from this place on, with its place.
    pub(crate) fn next_awake(&self, from: usize) -> Option<(usize, usize)> {
        let place = self.waking.next_awake(from)?;
        Some((place, self.order.at(place)))
    }

    /// The driver polls in this order. Returns whether these are all carriers.
    #[inline]
    pub(crate) fn are_polled_in_order(&mut self, ids: &[CarrierId]) -> bool {
        self.order.is(ids) || self.reorder(ids)
    }

    fn reorder(&mut self, ids: &[CarrierId]) -> bool {
        let Some((order, moved)) = self.order.changed_to(ids) else {
            return false;
        };
        self.order = order;
        self.waking.reorder(&moved);
        true
    }

    /// A carrier that has just fallen asleep joins those that rest.
    pub(crate) fn rest(&mut self, at: usize, reason: Reason) {
        self.waking.rest(self.order.place(at), reason);
    }

    /// If those that rest were woken: what holds as long as none of them has anything to send, but for those
    /// that others outrun.
    pub(crate) fn why_they_rest(&self) -> Option<Reason> {
        self.waking.why_they_rest()
    }

    /// Why those of a group of them have nothing to send.
    pub(crate) fn group(&self, number: usize) -> Option<Outrun> {
        self.waking.group(number)
    }

    /// Where the gaps of a group are now.
    pub(crate) fn set_closed(&mut self, number: usize, closed: Closed) {
        self.waking.set_closed(number, closed);
    }

    /// Those that rest at an earlier place than this still have nothing to send. The carrier there may, and what
    /// the others have may rest on what it does.
    pub(crate) fn rest_on_before(&mut self, now: Time, place: usize) {
        self.waking.rest_on_before(now, place);
    }

    /// Whether some that rest are awake and others fell asleep at another time than this.
    pub(crate) fn is_rest_out_of_step(&self, now: Time) -> bool {
        self.waking.is_rest_out_of_step(now)
    }

    /// Those that rest still have nothing to send: they fall asleep again.
    pub(crate) fn rest_on(&mut self, now: Time) {
        self.waking.rest_on(now);
    }

    /// No carrier rests any more: each is polled by itself.
    pub(crate) fn rouse(&mut self) {
        self.waking.rouse();
    }

    /// This carrier no longer rests: it is polled by itself.
    pub(crate) fn rouse_one(&mut self, at: usize) {
        self.waking.rouse_one(self.order.place(at));
    }

    /// Those of a group may have something to send.
    pub(crate) fn doubt_group(&mut self, number: usize) {
        self.waking.doubt_group(number);
    }

    /// Of those that rest, those may have something to send whose own reason, but for what outruns them, does not
    /// hold.
    pub(crate) fn doubt_some(&mut self, now: Time) {
        self.waking.doubt_some(now, self.lasts);
    }

    /// Why a carrier rests, if it does.
    pub(crate) fn why_it_rests(&self, at: usize) -> Option<Reason> {
        self.waking.why_it_rests(self.order.place(at))
    }

    /// A carrier is in doubt no more: its gap lies there. Returns whether there is a group for it.
    pub(crate) fn rest_again(&mut self, at: usize, closed: Closed) -> bool {
        self.waking.rest_again(self.order.place(at), closed)
    }

    /// None of those that rest is in doubt any more.
    pub(crate) fn trust(&mut self) {
        self.waking.trust();
    }

    /// Wakes a carrier that is asleep. That brings no deadline forward, so the carrier is not marked as
    /// changed.
    pub(crate) fn wake(&mut self, at: usize) {
        self.waking.wake(self.order.place(at));
    }

    /// Wakes all.
    pub(crate) fn wake_all(&mut self) {
        self.waking.wake_all();
    }

    /// The next carrier that is awake and has not been reported to the driver.
    pub(crate) fn tell_awake(&mut self) -> Option<CarrierId> {
        let place = self.waking.tell()?;
        Some(self.list[self.order.at(place)].id)
    }

    /// The driver polls all that are awake without a report.
    pub(crate) fn tell_all_awake(&mut self) {
        self.waking.tell_all();
    }
}
