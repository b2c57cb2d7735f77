//! Client's side of a measurement of one link: the sequence of trains, and their evaluation.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::spawn_blocking;
use tokio::time::sleep;

use super::datagram::{DatagramKind, HEADER_LEN, ProbeDatagram, SessionToken};
use super::measured::{Direction, LinkMeasurement, Loss, MeasuredRate, RoundTrip};
use super::messages::{ClientMessage, MessageError, MessageStream, RelayMessage};
use super::receiver::{ProbeReceiver, Side};
use super::responder::settle;
use super::socket::{self, Clock, Train, header_bytes};
use super::train::{TrainReceived, TrainSent};

const ECHOES: u32 = 50;
const ECHO_STEP: Duration = Duration::from_millis(20);

/// Packet size of trains that measure a rate: most tunnels and PPPoE carry it unfragmented.
const PACKET: u32 = 1400;

/// Packet size and number of the train that measures loss, which is assumed independent of size.
const LOSS_PACKET: u32 = 200;
const LOSS_PACKETS: u32 = 2000;

/// Upper bounds of the loss train: this share of the rate, and this many packets per second.
const LOSS_SHARE: f64 = 0.4;
const LOSS_PACKETS_PER_S: f64 = 1000.0;

/// First rate of the search, its growth, and its end.
const FIRST_BPS: f64 = 1e6;
const GROWTH: f64 = 4.0;
const MAX_BPS: f64 = 4e9;

/// A train fills the link if it arrives slower than this fraction of its sending rate.
const FILLED: f64 = 0.9;

/// Factors over the link's rate of the final trains, and their duration. The last fills queues up to 0.5 s.
const OVERLOADS: [f64; 3] = [1.25, 1.25, 2.0];
const FINE: Duration = Duration::from_millis(500);

/// A loss ratio above this means that the train overflowed the queue.
const DROPPED: f64 = 0.02;

/// Duration of trains that search for the rate, with bounds in packets.
const COARSE: Duration = Duration::from_millis(100);
const COARSE_PACKETS: RangeInclusive<f64> = 24.0..=4000.0;

/// The same for trains that measure it.
const FINE_PACKETS: RangeInclusive<f64> = 24.0..=10_000.0;

#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    #[error(transparent)]
    Message(#[from] MessageError),
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("the relay refuses: {0}")]
    Refused(String),
    #[error("the relay sends an unexpected message")]
    Unexpected,
    #[error("no UDP arrives from {0}: a firewall may block it")]
    Silent(SocketAddr),
    #[error("{0} bytes are too few to measure this link")]
    Budget(u64),
}

pub struct MeasureSession {
    lines: MessageStream,
    socket: Arc<UdpSocket>,
    receiver: ProbeReceiver,
    token: SessionToken,
    clock: Clock,
    trains: u32,
    left: u64,
    used: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LinkDirection {
    Up,
    Down,
}

impl MeasureSession {
    /// Starts a session on an answered stream. `socket` creates a UDP socket on the link to an address.
    pub async fn begin(
        mut lines: MessageStream,
        relay: SocketAddr,
        budget: u64,
        socket: impl FnOnce(SocketAddr) -> io::Result<UdpSocket>,
    ) -> Result<MeasureSession, MeasureError> {
        let (port, token) = match lines.receive().await? {
            RelayMessage::Session { port, token, .. } => (port, token),
            other => return Err(unexpected(other)),
        };
        let token = from_hexadecimal(&token).ok_or(MeasureError::Unexpected)?;
        let address = SocketAddr::new(relay.ip(), port);
        let socket = Arc::new(socket(address)?);
        let clock = Clock::start();
        let receiver =
            ProbeReceiver::open(Arc::clone(&socket), token, Side::Client, clock, 0, None)?;
        let mut session = MeasureSession {
            lines,
            socket,
            receiver,
            token,
            clock,
            trains: 0,
            left: budget,
            used: 0,
        };
        session.confirm_address(address).await?;
        Ok(session)
    }

    /// Shows the relay that its datagrams arrive at this address.
    async fn confirm_address(&mut self, address: SocketAddr) -> Result<(), MeasureError> {
        for attempt in 0..20 {
            self.echo(attempt)?;
            sleep(Duration::from_millis(100 + 20 * u64::from(attempt))).await;
            if let Some(challenge) = self.receiver.challenge() {
                return match self.request(&ClientMessage::Confirm { challenge }).await? {
                    RelayMessage::Done => Ok(()),
                    other => Err(unexpected(other)),
                };
            }
        }
        Err(MeasureError::Silent(address))
    }

    /// Measures; calls `progress` with the name of each step.
    pub async fn run(
        mut self,
        progress: &mut dyn FnMut(&str),
    ) -> Result<LinkMeasurement, MeasureError> {
        progress("round trip");
        let round_trips = self.round_trips().await?;
        progress("rate up");
        let up = self.rate(LinkDirection::Up).await?;
        progress("rate down");
        let down = self.rate(LinkDirection::Down).await?;
        progress("loss up");
        let lost_up = self.loss(LinkDirection::Up, &up).await?;
        progress("loss down");
        let lost_down = self.loss(LinkDirection::Down, &down).await?;
        let echo_bits = f64::from(HEADER_LEN as u32 + header_bytes(&self.socket)?) * 8.0;
        let sending_s = echo_bits / up.bps + echo_bits / down.bps;
        let measured = LinkMeasurement {
            round_trip: RoundTrip::of(round_trips, sending_s)
                .ok_or(MeasureError::Silent(self.socket.peer_addr()?))?,
            up: Direction::new(up, lost_up),
            down: Direction::new(down, lost_down),
            bytes: self.used,
        };
        self.lines.finish();
        Ok(measured)
    }

    /// Measures RTTs on the link without other traffic of ours.
    async fn round_trips(&mut self) -> Result<Vec<Duration>, MeasureError> {
        for number in 0..ECHOES {
            self.echo(1000 + number)?;
            sleep(ECHO_STEP).await;
        }
        // The wait covers the last answer on any link that TCP can use.
        for _ in 0..20 {
            if self.receiver.round_trips().len() >= ECHOES as usize {
                break;
            }
            sleep(Duration::from_millis(100)).await;
        }
        Ok(self.receiver.round_trips())
    }

    fn echo(&mut self, index: u32) -> Result<(), MeasureError> {
        let mut bytes = [0; HEADER_LEN];
        let datagram = ProbeDatagram {
            token: self.token,
            kind: DatagramKind::Echo,
            train: 0,
            index,
            sent_ns: self.clock.now_ns(),
        };
        datagram.emit(&mut bytes);
        // A relay whose port was not open yet is asked again.
        let _ = self.socket.send(&bytes);
        self.used += 2 * HEADER_LEN as u64;
        Ok(())
    }

    async fn rate(&mut self, direction: LinkDirection) -> Result<MeasuredRate, MeasureError> {
        let mut tried = FIRST_BPS;
        let coarse = loop {
            let packets = tried * COARSE.as_secs_f64() / f64::from(PACKET * 8);
            let packets = packets.clamp(*COARSE_PACKETS.start(), *COARSE_PACKETS.end());
            let (sent, seen) = self.train(direction, tried, packets as u32, PACKET).await?;
            let Some(rate) = seen.rate_bps else {
                // Almost nothing arrived: a slower link, or none.
                if tried < FIRST_BPS / 100.0 {
                    return Err(MeasureError::Silent(self.socket.peer_addr()?));
                }
                tried /= GROWTH;
                continue;
            };
            let left_at = sent.rate_bps().min(tried);
            if rate < FILLED * left_at || tried >= MAX_BPS {
                break rate;
            }
            // This machine cannot send faster, so the rate stays a lower bound.
            if sent.rate_bps() < tried / 2.0 {
                return Ok(MeasuredRate {
                    bps: rate,
                    is_least: true,
                    queue_bytes: None,
                });
            }
            tried *= GROWTH;
        };
        self.fine_rate(direction, coarse).await
    }

    async fn fine_rate(
        &mut self,
        direction: LinkDirection,
        coarse: f64,
    ) -> Result<MeasuredRate, MeasureError> {
        let mut best = MeasuredRate {
            bps: 0.0,
            is_least: true,
            queue_bytes: None,
        };
        let mut queued_s: Option<f64> = None;
        for overload in OVERLOADS {
            let target = f64::max(coarse, best.bps) * overload;
            let packets = target * FINE.as_secs_f64() / f64::from(PACKET * 8);
            let packets = packets.clamp(*FINE_PACKETS.start(), *FINE_PACKETS.end()) as u32;
            let (sent, seen) = self.train(direction, target, packets, PACKET).await?;
            let Some(rate) = seen.rate_bps else { continue };
            let is_filled = rate < FILLED * sent.rate_bps();
            if is_filled && sent.lost(&seen) > DROPPED {
                queued_s = Some(f64::max(
                    queued_s.unwrap_or_default(),
                    seen.queued_s.unwrap_or_default(),
                ));
            }
            // Delays at the sender or receiver can only reduce the rate.
            best.is_least &= !is_filled;
            best.bps = best.bps.max(rate);
        }
        best.queue_bytes = queued_s.map(|queued_s| queued_s * best.bps / 8.0);
        if best.bps == 0.0 {
            return Err(MeasureError::Silent(self.socket.peer_addr()?));
        }
        Ok(best)
    }

    async fn loss(
        &mut self,
        direction: LinkDirection,
        rate: &MeasuredRate,
    ) -> Result<Loss, MeasureError> {
        let bits = f64::from(LOSS_PACKET * 8);
        let bps = (rate.bps * LOSS_SHARE).min(LOSS_PACKETS_PER_S * bits);
        // Fewer packets on a slow link, to bound the duration.
        let packets = (bps / bits * 5.0).min(f64::from(LOSS_PACKETS)) as u32;
        let (sent, seen) = self.train(direction, bps, packets, LOSS_PACKET).await?;
        Ok(Loss {
            lost: sent.datagrams.saturating_sub(seen.arrived),
            sent: sent.datagrams,
        })
    }

    /// Sends a train in one direction and returns the result, after the queues have drained.
    async fn train(
        &mut self,
        direction: LinkDirection,
        rate_bps: f64,
        datagrams: u32,
        packet_bytes: u32,
    ) -> Result<(TrainSent, TrainReceived), MeasureError> {
        let bytes = u64::from(datagrams) * u64::from(packet_bytes);
        self.left = self
            .left
            .checked_sub(bytes)
            .ok_or(MeasureError::Budget(self.used + self.left))?;
        self.used += bytes;
        self.trains += 1;
        let train = Train {
            number: self.trains,
            datagrams,
            packet_bytes,
            rate_bps,
        };
        match direction {
            LinkDirection::Up => self.train_up(train).await,
            LinkDirection::Down => self.train_down(train).await,
        }
    }

    async fn train_up(&mut self, train: Train) -> Result<(TrainSent, TrainReceived), MeasureError> {
        let number = train.number;
        match self
            .request(&ClientMessage::Expect { train: number })
            .await?
        {
            RelayMessage::Done => {}
            other => return Err(unexpected(other)),
        }
        let (socket, token, clock) = (Arc::clone(&self.socket), self.token, self.clock);
        let sending = spawn_blocking(move || socket::send(&socket, token, &train, &clock, None));
        let sent = sending.await.map_err(io::Error::other)??;
        let report = ClientMessage::Report {
            train: number,
            packet_bytes: train.packet_bytes,
        };
        match self.request(&report).await? {
            RelayMessage::Seen(seen) => Ok((sent, seen)),
            other => Err(unexpected(other)),
        }
    }

    async fn train_down(
        &mut self,
        train: Train,
    ) -> Result<(TrainSent, TrainReceived), MeasureError> {
        self.receiver.expect(train.number);
        let request = ClientMessage::Send {
            train: train.number,
            datagrams: train.datagrams,
            packet_bytes: train.packet_bytes,
            rate_bps: train.rate_bps,
        };
        match self.request(&request).await? {
            RelayMessage::Sent(sent) => {
                settle(&self.receiver).await;
                Ok((
                    sent,
                    TrainReceived::of(&self.receiver.arrivals(), train.packet_bytes),
                ))
            }
            other => Err(unexpected(other)),
        }
    }

    async fn request(&mut self, message: &ClientMessage) -> Result<RelayMessage, MeasureError> {
        self.lines.send(message).await?;
        Ok(self.lines.receive().await?)
    }
}

fn unexpected(message: RelayMessage) -> MeasureError {
    match message {
        RelayMessage::Refused { reason } => MeasureError::Refused(reason),
        _ => MeasureError::Unexpected,
    }
}

fn from_hexadecimal(text: &str) -> Option<SessionToken> {
    let mut token = [0; 16];
    if text.len() != 32 || !text.is_ascii() {
        return None;
    }
    for (at, byte) in token.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok()?;
    }
    Some(token)
}
