//! Pings on a carrier, and their answers.

use ropewalk_quantities::Time;

/// What is to be asked and answered, and what is not answered yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pings {
    is_due: bool,
    /// Its token and when it was sent.
    outstanding: Option<(u64, Time)>,
    /// Token of the peer's ping that is to be answered.
    owed: Option<u64>,
}

impl Pings {
    /// A new carrier begins with a ping.
    pub(crate) const FIRST_DUE: Pings = Pings {
        is_due: true,
        outstanding: None,
        owed: None,
    };

    /// Whether one is to be sent.
    pub(crate) fn is_due(&self) -> bool {
        self.is_due
    }

    /// One is to be sent.
    pub(crate) fn ask(&mut self) {
        self.is_due = true;
    }

    /// When the one was sent that is not answered yet.
    pub(crate) fn outstanding_since(&self) -> Option<Time> {
        self.outstanding.map(|(_, at)| at)
    }

    /// One with this token is sent.
    pub(crate) fn on_sent(&mut self, now: Time, token: u64) {
        self.is_due = false;
        self.outstanding = Some((token, now));
    }

    /// An answer with this token arrived; returns when its ping was sent, if it is that of the last.
    pub(crate) fn on_pong(&mut self, token: u64) -> Option<Time> {
        let answered = self.outstanding.take_if(|(expected, _)| *expected == token);
        answered.map(|(_, at)| at)
    }

    /// The peer asked with this token.
    pub(crate) fn on_ping(&mut self, token: u64) {
        self.owed = Some(token);
    }

    /// Whether an answer is owed.
    pub(crate) fn owes_answer(&self) -> bool {
        self.owed.is_some()
    }

    /// The answer to send now, if one is owed.
    pub(crate) fn take_owed(&mut self) -> Option<u64> {
        self.owed.take()
    }
}
