//! Pings on a carrier, and their answers.

use ropewalk_quantities::Time;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Pings {
    pub(crate) is_due: bool,
    /// Token and send time of the unanswered ping.
    outstanding: Option<(u64, Time)>,
    /// Token of the peer's ping that must be answered.
    pub(crate) answer_due: Option<u64>,
}

impl Pings {
    /// A new carrier begins with a ping.
    pub(crate) const FIRST_DUE: Pings = Pings {
        is_due: true,
        outstanding: None,
        answer_due: None,
    };

    pub(crate) fn request(&mut self) {
        self.is_due = true;
    }

    pub(crate) fn outstanding_since(&self) -> Option<Time> {
        self.outstanding.map(|(_, at)| at)
    }

    pub(crate) fn on_sent(&mut self, now: Time, token: u64) {
        self.is_due = false;
        self.outstanding = Some((token, now));
    }

    /// Returns the send time of the ping that is answered, if it is the last one.
    pub(crate) fn on_pong(&mut self, token: u64) -> Option<Time> {
        let answered = self.outstanding.take_if(|(expected, _)| *expected == token);
        answered.map(|(_, at)| at)
    }

    pub(crate) fn must_answer(&self) -> bool {
        self.answer_due.is_some()
    }
}
