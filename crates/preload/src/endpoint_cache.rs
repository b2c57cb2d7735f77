//! Recent answers of the gateway on the targets of datagrams.
//!
//! It only saves requests. A process that was forked while another thread held the lock cannot take it, and
//! asks the gateway each time.

use std::net::SocketAddr;
use std::sync::Mutex;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Number of answers; the oldest are replaced.
const LARGEST: usize = 64;
/// Time for which an answer is used. Later, a gateway that was restarted may have another.
const LIFETIME: Duration = Duration::from_secs(5);

/// Socket of the program: its cookie, and its port, which a socket without a peer may lose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Socket {
    pub(crate) cookie: u64,
    pub(crate) port: u16,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    socket: Socket,
    target: SocketAddr,
    at: SocketAddr,
    asked: Duration,
}

#[derive(Debug)]
pub(crate) struct EndpointCache {
    entries: [Option<Entry>; LARGEST],
    next: usize,
}

static CACHE: Mutex<EndpointCache> = Mutex::new(EndpointCache::new());

/// Returns the endpoint of a target, if it is known.
pub(crate) fn endpoint(socket: Socket, target: SocketAddr) -> Option<SocketAddr> {
    CACHE.try_lock().ok()?.endpoint(socket, target, now())
}

/// Returns the target under an endpoint, if it is known.
pub(crate) fn target(cookie: u64, at: SocketAddr) -> Option<SocketAddr> {
    CACHE.try_lock().ok()?.target(cookie, at, now())
}

/// Remembers an answer.
pub(crate) fn remember(socket: Socket, target: SocketAddr, at: SocketAddr) {
    if let Ok(mut cache) = CACHE.try_lock() {
        cache.remember(socket, target, at, now());
    }
}

fn now() -> Duration {
    let now = clock_gettime(ClockId::Monotonic);
    Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec as u32)
}

impl EndpointCache {
    const fn new() -> EndpointCache {
        EndpointCache {
            entries: [None; LARGEST],
            next: 0,
        }
    }

    fn endpoint(&self, socket: Socket, target: SocketAddr, now: Duration) -> Option<SocketAddr> {
        let found = self.valid(now, |it| it.socket == socket && it.target == target);
        found.map(|entry| entry.at)
    }

    fn target(&self, cookie: u64, at: SocketAddr, now: Duration) -> Option<SocketAddr> {
        let found = self.valid(now, |it| it.socket.cookie == cookie && it.at == at);
        found.map(|entry| entry.target)
    }

    fn valid(&self, now: Duration, is_it: impl Fn(&Entry) -> bool) -> Option<&Entry> {
        let valid = self.entries.iter().flatten();
        valid
            .filter(|entry| now.saturating_sub(entry.asked) < LIFETIME)
            .find(|entry| is_it(entry))
    }

    fn remember(&mut self, socket: Socket, target: SocketAddr, at: SocketAddr, asked: Duration) {
        let of_target = |entry: &Entry| entry.socket == socket && entry.target == target;
        let known = self.entries.iter_mut().flatten().find(|it| of_target(it));
        let entry = Entry {
            socket,
            target,
            at,
            asked,
        };
        if let Some(known) = known {
            *known = entry;
        } else if let Some(oldest) = self.entries.get_mut(self.next) {
            *oldest = Some(entry);
            self.next = (self.next + 1) % LARGEST;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOCKET: Socket = Socket {
        cookie: 41,
        port: 5000,
    };

    fn address(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    #[test]
    fn answer_is_known_for_its_socket_until_it_is_old() {
        let mut cache = EndpointCache::new();
        let (target, at) = (address("192.0.2.1:53"), address("127.192.0.0:40000"));
        cache.remember(SOCKET, target, at, Duration::ZERO);
        let soon = LIFETIME - Duration::from_nanos(1);
        assert_eq!(cache.endpoint(SOCKET, target, soon), Some(at));
        assert_eq!(cache.target(41, at, soon), Some(target));
        assert_eq!(cache.endpoint(SOCKET, target, LIFETIME), None);
        assert_eq!(cache.target(42, at, soon), None);
        let moved = Socket {
            port: 5001,
            ..SOCKET
        };
        assert_eq!(cache.endpoint(moved, target, soon), None);
    }

    #[test]
    fn renewed_answer_takes_no_second_place_and_the_oldest_are_replaced() {
        let mut cache = EndpointCache::new();
        let target = |port| SocketAddr::from(([192, 0, 2, 1], port));
        let at = |number| SocketAddr::from(([127, 192, 0, number], 40000));
        for number in 0..LARGEST as u8 {
            cache.remember(SOCKET, target(number.into()), at(number), Duration::ZERO);
            cache.remember(SOCKET, target(0), at(0), Duration::ZERO);
        }
        assert_eq!(cache.target(41, at(1), Duration::ZERO), Some(target(1)));
        cache.remember(SOCKET, target(99), at(99), Duration::ZERO);
        assert_eq!(cache.target(41, at(0), Duration::ZERO), None);
        assert_eq!(cache.target(41, at(1), Duration::ZERO), Some(target(1)));
    }
}
