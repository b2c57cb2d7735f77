//! The readers behind one type.

use rand_pcg::Pcg64Mcg;
use ropewalk_quantities::Time;
use ropewalk_scenario::Requested;

use super::browser::Browser;
use super::player::Player;
use super::request::Request;
use super::requester::Requester;

#[derive(Debug)]
pub(super) enum Reader {
    Player(Box<Player>),
    Requester(Requester),
    Browser(Box<Browser>),
}

impl Reader {
    /// Creates a reader that begins at `start`, ends at `end` at the latest, and is measured from `warmup`
    /// on.
    pub(super) fn new(
        requested: &Requested,
        [start, warmup, end]: [Time; 3],
        random: Pcg64Mcg,
    ) -> Reader {
        let lasts = end.saturating_sub(start);
        match requested {
            Requested::Chunks(chunks) => {
                let player = Player::new(chunks, [start, warmup], lasts, random);
                Reader::Player(Box::new(player))
            }
            Requested::Requests(requests) => {
                Reader::Requester(Requester::new(requests, start, random))
            }
            Requested::Web(web) => {
                Reader::Browser(Box::new(Browser::new(web, [start, warmup], random)))
            }
        }
    }

    pub(super) fn next(&self) -> Option<Time> {
        match self {
            Reader::Player(player) => player.next,
            Reader::Requester(requester) => requester.next(),
            Reader::Browser(browser) => browser.next,
        }
    }

    /// Returns its next request that is due now; called until there is none.
    pub(super) fn next_request(&mut self, now: Time) -> Option<Request> {
        match self {
            Reader::Player(player) => player.next_request(now),
            Reader::Requester(requester) => requester.next_request(now),
            Reader::Browser(browser) => browser.next_request(now),
        }
    }

    pub(super) fn on_response(&mut self, now: Time, request: &Request) {
        match self {
            Reader::Player(player) => player.on_response(now),
            Reader::Requester(requester) => requester.on_response(now, request.tag),
            Reader::Browser(browser) => browser.on_response(now, request.tag),
        }
    }

    /// Returns the playing time in the buffer of its player, if it has one.
    pub(super) fn buffered(&mut self, now: Time) -> Option<Time> {
        match self {
            Reader::Player(player) => Some(player.buffered(now)),
            Reader::Requester(_) | Reader::Browser(_) => None,
        }
    }
}
