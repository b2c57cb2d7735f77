//! Receiver on a session's UDP socket: records arrivals and answers echoes.

use std::collections::BTreeMap;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::datagram::{DatagramKind, HEADER_LEN, ProbeDatagram, SessionToken};
use super::socket::Clock;
use super::train::Arrival;
use crate::fair_rate_limiter::FairRateLimiter;
use crate::lock::lock;

const MAX_ARRIVALS: usize = 50_000;

const MAX_ANSWERS: usize = 10_000;

/// Bytes of IPv4 and UDP headers.
const HEADERS: usize = 28;

/// Interval of the thread's checks whether to end.
const STEP: Duration = Duration::from_millis(50);

/// Thread that receives until this is dropped.
pub struct ProbeReceiver {
    noted: Arc<Mutex<ReceiverState>>,
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The relay answers echoes, and sends a challenge before it knows the client's address.
    Relay {
        challenge: u64,
    },
    Client,
}

#[derive(Default)]
struct ReceiverState {
    train: u32,
    arrivals: Vec<Arrival>,
    round_trips: BTreeMap<u32, Duration>,
    challenge: Option<u64>,
    heard_from: Option<SocketAddr>,
    is_confirmed: bool,
    /// Bytes of answers that may still be sent.
    answerable: u64,
}

impl ProbeReceiver {
    /// Starts receiving; answers echoes with at most `answerable` bytes. Excess datagrams are lost.
    pub(crate) fn open(
        socket: Arc<UdpSocket>,
        token: SessionToken,
        side: Side,
        clock: Clock,
        answerable: u64,
        limits: Option<Arc<[FairRateLimiter; 2]>>,
    ) -> io::Result<ProbeReceiver> {
        socket.set_read_timeout(Some(STEP))?;
        let noted = Arc::new(Mutex::new(ReceiverState {
            answerable,
            ..ReceiverState::default()
        }));
        let ends = Arc::new(AtomicBool::new(false));
        let of_thread = (Arc::clone(&noted), Arc::clone(&ends));
        let thread = thread::Builder::new()
            .name("measure".to_owned())
            .spawn(move || {
                let (noted, ends) = of_thread;
                let mut bytes = [0; 2048];
                while !ends.load(Ordering::Relaxed) {
                    // A timeout, or an ICMP error of a closed port: more may arrive.
                    let Ok((length, from)) = socket.recv_from(&mut bytes) else {
                        continue;
                    };
                    let received_ns = clock.now_ns();
                    let Some(datagram) = ProbeDatagram::parse(&bytes[..length]) else {
                        continue;
                    };
                    let passes = |direction: usize, bytes: usize| {
                        let limits = limits.as_ref();
                        limits.is_none_or(|limits| limits[direction].take_now(bytes + HEADERS))
                    };
                    if datagram.token != token || !passes(0, length) {
                        continue;
                    }
                    let answer = lock(&noted).note(datagram, length, from, received_ns, side);
                    if let Some((answer, length)) = answer
                        && passes(1, length)
                    {
                        answer.emit(&mut bytes[..length]);
                        // A failure to send counts as a loss on the path.
                        let _ = match side {
                            Side::Relay { .. } => reply(&socket, &bytes[..length], from),
                            Side::Client => Ok(0),
                        };
                    }
                }
            })?;
        Ok(ProbeReceiver {
            noted,
            ends,
            thread: Some(thread),
        })
    }

    pub fn expect(&self, train: u32) {
        let mut noted = self.lock();
        noted.train = train;
        noted.arrivals.clear();
    }

    pub fn arrivals(&self) -> Vec<Arrival> {
        self.lock().arrivals.clone()
    }

    /// Returns the number of arrived datagrams of the train, and the time of the last one.
    pub fn progress(&self) -> (usize, Option<u64>) {
        let noted = self.lock();
        let last = noted.arrivals.last().map(|arrival| arrival.received_ns);
        (noted.arrivals.len(), last)
    }

    pub fn round_trips(&self) -> Vec<Duration> {
        self.lock().round_trips.values().copied().collect()
    }

    pub fn challenge(&self) -> Option<u64> {
        self.lock().challenge
    }

    /// Returns the sender of the newest datagram with the session's token.
    pub fn heard_from(&self) -> Option<SocketAddr> {
        self.lock().heard_from
    }

    /// Marks the peer's address as confirmed: echoes are answered from now on.
    pub fn confirm(&self) {
        self.lock().is_confirmed = true;
    }

    fn lock(&self) -> MutexGuard<'_, ReceiverState> {
        lock(&self.noted)
    }
}

impl Drop for ProbeReceiver {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl ReceiverState {
    fn note(
        &mut self,
        datagram: ProbeDatagram,
        length: usize,
        from: SocketAddr,
        received_ns: u64,
        side: Side,
    ) -> Option<(ProbeDatagram, usize)> {
        match (datagram.kind, side) {
            (DatagramKind::Train, _) => {
                if datagram.train == self.train && self.arrivals.len() < MAX_ARRIVALS {
                    self.arrivals.push(Arrival {
                        index: datagram.index,
                        sent_ns: datagram.sent_ns,
                        received_ns,
                    });
                }
                None
            }
            (DatagramKind::Echo, Side::Relay { challenge }) if !self.is_confirmed => {
                self.heard_from = Some(from);
                let answer = ProbeDatagram {
                    kind: DatagramKind::Challenge,
                    sent_ns: challenge,
                    ..datagram
                };
                self.answered(answer, HEADER_LEN)
            }
            (DatagramKind::Echo, Side::Relay { .. }) => {
                let answer = ProbeDatagram {
                    kind: DatagramKind::Answer,
                    ..datagram
                };
                self.answered(answer, length)
            }
            (DatagramKind::Answer, Side::Client) => {
                let took = received_ns.saturating_sub(datagram.sent_ns);
                if self.round_trips.len() < MAX_ANSWERS {
                    let took = Duration::from_nanos(took);
                    self.round_trips.entry(datagram.index).or_insert(took);
                }
                None
            }
            (DatagramKind::Challenge, Side::Client) => {
                self.challenge = Some(datagram.sent_ns);
                None
            }
            (DatagramKind::Echo, Side::Client)
            | (DatagramKind::Answer | DatagramKind::Challenge, Side::Relay { .. }) => None,
        }
    }

    fn answered(&mut self, answer: ProbeDatagram, length: usize) -> Option<(ProbeDatagram, usize)> {
        self.answerable = self.answerable.checked_sub(length as u64)?;
        Some((answer, length))
    }
}

/// Replies; the socket is connected once the peer is known.
fn reply(socket: &UdpSocket, bytes: &[u8], to: SocketAddr) -> io::Result<usize> {
    match socket.peer_addr() {
        Ok(_) => socket.send(bytes),
        Err(_) => socket.send_to(bytes, to),
    }
}

#[cfg(test)]
mod tests {
    use ropewalk_quantities::Rate;

    use super::*;

    const TOKEN: SessionToken = [7; 16];

    fn pair() -> (Arc<UdpSocket>, Arc<UdpSocket>) {
        let [near, far] = [0, 1].map(|_| Arc::new(UdpSocket::bind("127.0.0.1:0").unwrap()));
        near.connect(far.local_addr().unwrap()).unwrap();
        (near, far)
    }

    fn echo(index: u32, clock: &Clock) -> [u8; 400] {
        let mut bytes = [0; 400];
        let datagram = ProbeDatagram {
            token: TOKEN,
            kind: DatagramKind::Echo,
            train: 0,
            index,
            sent_ns: clock.now_ns(),
        };
        datagram.emit(&mut bytes);
        bytes
    }

    /// Waits without a limit: a failure makes the test hang and be ended.
    fn wait_for<T>(what: impl Fn() -> Option<T>) -> T {
        loop {
            match what() {
                Some(found) => return found,
                None => thread::sleep(Duration::from_millis(1)),
            }
        }
    }

    #[test]
    fn peer_gets_full_answers_only_after_the_challenge() {
        let (near, far) = pair();
        let clock = Clock::start();
        let side = Side::Relay { challenge: 42 };
        let relay = ProbeReceiver::open(Arc::clone(&far), TOKEN, side, clock, 1000, None).unwrap();
        let client =
            ProbeReceiver::open(Arc::clone(&near), TOKEN, Side::Client, clock, 0, None).unwrap();
        near.send(&echo(0, &clock)).unwrap();
        assert_eq!(wait_for(|| client.challenge()), 42);
        assert_eq!(relay.heard_from(), Some(near.local_addr().unwrap()));
        assert!(client.round_trips().is_empty());
        relay.confirm();
        // Each answer is as long as its echo: the budget ends with the second.
        for index in 1..=3 {
            near.send(&echo(index, &clock)).unwrap();
        }
        wait_for(|| (client.round_trips().len() == 2).then_some(()));
        thread::sleep(2 * STEP);
        assert_eq!(client.round_trips().len(), 2);
    }

    #[test]
    fn datagram_with_another_token_is_ignored() {
        let (near, far) = pair();
        let clock = Clock::start();
        let side = Side::Relay { challenge: 42 };
        let relay = ProbeReceiver::open(far, [8; 16], side, clock, 1000, None).unwrap();
        near.send(&echo(0, &clock)).unwrap();
        near.send(b"short").unwrap();
        thread::sleep(2 * STEP);
        assert_eq!(relay.heard_from(), None);
    }

    #[test]
    fn datagrams_beyond_the_rate_are_lost() {
        let (near, far) = pair();
        let clock = Clock::start();
        // A datagram of 428 bytes takes a second of either direction.
        let limit = || FairRateLimiter::new(Some(Rate::from_bps(8 * 428)));
        let limits = Some(Arc::new([limit(), limit()]));
        let receiver =
            ProbeReceiver::open(Arc::clone(&far), TOKEN, Side::Client, clock, 0, limits).unwrap();
        receiver.expect(1);
        let train = super::super::socket::Train {
            number: 1,
            datagrams: 100,
            packet_bytes: 428,
            rate_bps: 1e8,
        };
        super::super::socket::send(&near, TOKEN, &train, &clock, None).unwrap();
        wait_for(|| receiver.progress().1);
        thread::sleep(2 * STEP);
        assert!(receiver.progress().0 < 50, "{:?}", receiver.progress());
        let limit = limit();
        let receiver = {
            drop(receiver);
            ProbeReceiver::open(far, TOKEN, Side::Client, clock, 0, None).unwrap()
        };
        receiver.expect(1);
        super::super::socket::send(&near, TOKEN, &train, &clock, Some(&limit)).unwrap();
        wait_for(|| receiver.progress().1);
        thread::sleep(2 * STEP);
        assert!(receiver.progress().0 < 50, "{:?}", receiver.progress());
    }

    #[test]
    fn arrivals_are_those_of_the_expected_train() {
        let (near, far) = pair();
        let clock = Clock::start();
        let receiver = ProbeReceiver::open(far, TOKEN, Side::Client, clock, 0, None).unwrap();
        receiver.expect(2);
        let train = |number, datagrams| super::super::socket::Train {
            number,
            datagrams,
            packet_bytes: 200,
            rate_bps: 1e6,
        };
        for (number, datagrams) in [(1, 5), (2, 10)] {
            super::super::socket::send(&near, TOKEN, &train(number, datagrams), &clock, None)
                .unwrap();
        }
        wait_for(|| (receiver.progress().0 == 10).then_some(()));
        let indices: Vec<u32> = receiver
            .arrivals()
            .iter()
            .map(|arrival| arrival.index)
            .collect();
        assert_eq!(indices, (0..10).collect::<Vec<_>>());
    }
}
