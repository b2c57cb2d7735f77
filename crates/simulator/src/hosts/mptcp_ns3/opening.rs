//! Opening of the module's subflows: handshakes, and the exchange of addresses after the first.
//!
//! Once the first subflow is open, both ends advertise their addresses on it, the client first. The server's
//! addresses cause the client to open the other subflows. The module retransmits none of these messages. Here
//! the client repeats a message without an answer, so that a loss does not close a subflow for good.
//!
//! The module's example program writes a second after the first subflow has opened. By then the others are
//! open, so that all begin at the same time. Here data wait until all are open, for at most that second.

use ropewalk_quantities::Time;

/// Timeout of the first transmission (RFC 6298, 2.1); it doubles with each retransmission.
const TIMEOUT: Time = Time::from_secs(1);
/// Wait of the module's example program after the first handshake.
const LONGEST_WAIT: Time = Time::from_secs(1);

/// A message of the client, which the server answers in kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Message {
    /// SYN of a subflow.
    Syn(usize),
    /// Addresses, on the first subflow.
    Addresses,
}

impl Message {
    /// Place in the order of opening: the first SYN, the addresses, the other SYNs.
    fn place(self) -> usize {
        match self {
            Message::Syn(0) => 0,
            Message::Addresses => 1,
            Message::Syn(subflow) => subflow + 1,
        }
    }

    fn at(place: usize) -> Message {
        match place {
            0 => Message::Syn(0),
            1 => Message::Addresses,
            place => Message::Syn(place - 1),
        }
    }

    /// Subflow that carries it.
    pub(super) fn subflow(self) -> usize {
        match self {
            Message::Syn(subflow) => subflow,
            Message::Addresses => 0,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exchange {
    Closed,
    Due {
        attempt: u32,
    },
    /// Sent this many times, and retransmitted at `again`.
    Sent {
        attempt: u32,
        again: Time,
    },
    Answered,
}

/// Messages of the client, and the subflows that they open.
#[derive(Debug)]
pub(super) struct Opening {
    /// In the order of opening. A single subflow needs no addresses.
    exchanges: Vec<Exchange>,
    /// Whether subflows wait for each other.
    waits: bool,
    /// End of the wait, from the first handshake on.
    waits_until: Option<Time>,
    /// Subflows that are open and not reported.
    open: Vec<usize>,
}

impl Opening {
    pub(super) fn new(subflows: usize, waits: bool) -> Opening {
        let messages = if subflows > 1 { subflows + 1 } else { 1 };
        Opening {
            exchanges: vec![Exchange::Closed; messages],
            waits,
            waits_until: None,
            open: Vec::new(),
        }
    }

    pub(super) fn start(&mut self) {
        self.begin(0..1);
    }

    fn begin(&mut self, places: std::ops::Range<usize>) {
        for exchange in &mut self.exchanges[places] {
            if *exchange == Exchange::Closed {
                *exchange = Exchange::Due { attempt: 1 };
            }
        }
    }

    /// Returns the first message that is due, as sent now.
    pub(super) fn poll_transmit(&mut self, now: Time) -> Option<Message> {
        for (place, exchange) in self.exchanges.iter_mut().enumerate() {
            if let Exchange::Due { attempt } = *exchange {
                let doublings = (attempt - 1).min(6);
                *exchange = Exchange::Sent {
                    attempt,
                    again: now + TIMEOUT * (1 << doublings),
                };
                return Some(Message::at(place));
            }
        }
        None
    }

    /// Handles the server's answer.
    pub(super) fn handle_answer(&mut self, now: Time, message: Message) {
        let exchange = &mut self.exchanges[message.place()];
        let Exchange::Sent { .. } = exchange else {
            return;
        };
        *exchange = Exchange::Answered;
        let all = self.exchanges.len();
        match message {
            Message::Syn(subflow) => {
                self.open.push(subflow);
                if subflow == 0 {
                    self.waits_until = Some(now + LONGEST_WAIT);
                    self.begin(1..all.min(2));
                }
            }
            Message::Addresses => self.begin(2..all),
        }
    }

    /// Returns the next subflow on which data may be sent, once.
    pub(super) fn poll_open(&mut self, now: Time) -> Option<usize> {
        let is_over = self.waits_until.is_some_and(|until| until <= now);
        (is_over || !self.is_waiting()).then(|| self.open.pop())?
    }

    /// Whether open subflows wait for others.
    fn is_waiting(&self) -> bool {
        let is_answered = |exchange: &Exchange| *exchange == Exchange::Answered;
        self.waits && !self.open.is_empty() && !self.exchanges.iter().all(is_answered)
    }

    pub(super) fn handle_timeout(&mut self, now: Time) {
        for exchange in &mut self.exchanges {
            if let Exchange::Sent { attempt, again } = *exchange
                && again <= now
            {
                *exchange = Exchange::Due {
                    attempt: attempt + 1,
                };
            }
        }
    }

    pub(super) fn poll_timeout(&self) -> Option<Time> {
        let unanswered = self.exchanges.iter().filter_map(|exchange| match exchange {
            Exchange::Sent { again, .. } => Some(*again),
            Exchange::Closed | Exchange::Due { .. } | Exchange::Answered => None,
        });
        let wait = self.waits_until.filter(|_| self.is_waiting());
        unanswered.chain(wait).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_millis(ms)
    }

    fn sent(opening: &mut Opening, now: Time) -> Vec<Message> {
        std::iter::from_fn(|| opening.poll_transmit(now)).collect()
    }

    fn opened(opening: &mut Opening, now: Time) -> Vec<usize> {
        std::iter::from_fn(|| opening.poll_open(now)).collect()
    }

    #[test]
    fn other_subflows_follow_the_exchange_of_addresses() {
        let mut opening = Opening::new(3, false);
        opening.start();
        assert_eq!(sent(&mut opening, at(0)), [Message::Syn(0)]);
        opening.handle_answer(at(20), Message::Syn(0));
        assert_eq!(opened(&mut opening, at(20)), [0]);
        assert_eq!(sent(&mut opening, at(20)), [Message::Addresses]);
        opening.handle_answer(at(40), Message::Addresses);
        let others = [Message::Syn(1), Message::Syn(2)];
        assert_eq!(sent(&mut opening, at(40)), others);
        opening.handle_answer(at(60), Message::Syn(2));
        assert_eq!(opened(&mut opening, at(60)), [2]);
        opening.handle_answer(at(60), Message::Syn(2));
        assert!(opened(&mut opening, at(60)).is_empty(), "answered before");
        opening.handle_answer(at(61), Message::Syn(1));
        assert_eq!(opened(&mut opening, at(61)), [1]);
        assert_eq!(opening.poll_timeout(), None);
    }

    #[test]
    fn data_wait_until_all_subflows_are_open() {
        let mut opening = Opening::new(2, true);
        opening.start();
        assert_eq!(sent(&mut opening, at(0)), [Message::Syn(0)]);
        opening.handle_answer(at(20), Message::Syn(0));
        assert!(opened(&mut opening, at(20)).is_empty());
        assert_eq!(sent(&mut opening, at(20)), [Message::Addresses]);
        opening.handle_answer(at(40), Message::Addresses);
        assert_eq!(sent(&mut opening, at(40)), [Message::Syn(1)]);
        assert_eq!(opening.poll_timeout(), Some(at(1020)));
        assert!(opened(&mut opening, at(1019)).is_empty());
        let mut unanswered = opening;
        assert_eq!(opened(&mut unanswered, at(1020)), [0]);
        assert_eq!(unanswered.poll_timeout(), Some(at(1040)), "the SYN's");
        unanswered.handle_answer(at(1050), Message::Syn(1));
        assert_eq!(opened(&mut unanswered, at(1050)), [1]);
    }

    #[test]
    fn the_last_answer_ends_the_wait() {
        let mut opening = Opening::new(2, true);
        opening.start();
        for (time, message) in [
            (0, Message::Syn(0)),
            (20, Message::Addresses),
            (40, Message::Syn(1)),
        ] {
            assert!(opened(&mut opening, at(time)).is_empty());
            assert_eq!(sent(&mut opening, at(time)), [message]);
            opening.handle_answer(at(time + 20), message);
        }
        assert_eq!(opened(&mut opening, at(60)), [1, 0]);
        assert_eq!(opening.poll_timeout(), None);
    }

    #[test]
    fn unanswered_addresses_are_repeated() {
        let mut opening = Opening::new(2, false);
        opening.start();
        assert_eq!(sent(&mut opening, at(0)), [Message::Syn(0)]);
        opening.handle_answer(at(20), Message::Syn(0));
        assert_eq!(opened(&mut opening, at(20)), [0]);
        assert_eq!(sent(&mut opening, at(20)), [Message::Addresses]);
        for (expires, next) in [(1020, 3020), (3020, 7020)] {
            assert_eq!(opening.poll_timeout(), Some(at(expires)));
            opening.handle_timeout(at(expires));
            assert_eq!(sent(&mut opening, at(expires)), [Message::Addresses]);
            assert_eq!(opening.poll_timeout(), Some(at(next)));
        }
    }

    #[test]
    fn a_single_subflow_needs_no_addresses() {
        let mut opening = Opening::new(1, true);
        opening.start();
        assert_eq!(sent(&mut opening, at(0)), [Message::Syn(0)]);
        opening.handle_answer(at(20), Message::Syn(0));
        assert_eq!(opened(&mut opening, at(20)), [0]);
        assert!(sent(&mut opening, at(20)).is_empty());
    }
}
