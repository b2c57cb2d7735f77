//! Relay's side of a measurement: a UDP socket for one session, within limits.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

use ring::rand::{SecureRandom, SystemRandom};
use socket2::SockRef;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::datagram::SessionToken;
use super::messages::{ClientMessage, MessageError, MessageStream, RelayMessage};
use super::receiver::{ProbeReceiver, Side};
use super::socket::{self, Clock, Train, header_bytes};
use super::train::TrainReceived;
use crate::fair_rate_limiter::FairRateLimiter;

/// Maximum bytes of trains, and of answers to echoes, that a session sends.
pub const MAX_BYTES: u64 = 256_000_000;

/// Maximum duration of a session.
pub const MAX_SESSION: Duration = Duration::from_secs(60);

const MAX_TRAIN_S: f64 = 10.0;

const MAX_PACKET: u32 = 1500;

/// Requested receive buffer; the system may grant less.
pub(super) const RECEIVE_BUFFER: usize = 4 << 20;

/// Responder, which serves one client at a time, so that measurements do not disturb each other.
#[derive(Debug)]
pub struct MeasureResponder {
    room: Semaphore,
}

impl Default for MeasureResponder {
    fn default() -> MeasureResponder {
        let room = Semaphore::new(1);
        MeasureResponder { room }
    }
}

impl MeasureResponder {
    /// Serves one session, whose request has been answered. UDP is expected at the local address of the
    /// client's carrier, so that datagrams reach the client as the carrier does; at another port if that one
    /// is in use. Datagrams beyond the client's rates are lost.
    pub async fn answer(
        &self,
        mut lines: MessageStream,
        carrier: SocketAddr,
        rates: Arc<[FairRateLimiter; 2]>,
    ) {
        let local = SocketAddr::new(carrier.ip().to_canonical(), carrier.port());
        let Ok(_permit) = self.room.try_acquire() else {
            let reason = "the relay measures with another client".to_owned();
            let _ = lines.send(&RelayMessage::Refused { reason }).await;
            return;
        };
        let session = async {
            if let Err(SessionError::Io(error)) = converse(&mut lines, local, &rates).await {
                let reason = error.to_string();
                let _ = lines.send(&RelayMessage::Refused { reason }).await;
            }
        };
        let _ = timeout(MAX_SESSION, session).await;
        lines.finish();
    }
}

#[derive(Debug, thiserror::Error)]
enum SessionError {
    #[error(transparent)]
    Message(#[from] MessageError),
    #[error(transparent)]
    Io(#[from] io::Error),
}

async fn converse(
    lines: &mut MessageStream,
    local: SocketAddr,
    rates: &Arc<[FairRateLimiter; 2]>,
) -> Result<(), SessionError> {
    let socket = Arc::new(bind(local)?);
    let (token, challenge) = draw()?;
    let clock = Clock::start();
    let side = Side::Relay { challenge };
    let limits = Some(Arc::clone(rates));
    let of_socket = Arc::clone(&socket);
    let receiver = ProbeReceiver::open(of_socket, token, side, clock, MAX_BYTES, limits)?;
    let mut left = MAX_BYTES;
    lines
        .send(&RelayMessage::Session {
            port: socket.local_addr()?.port(),
            token: hexadecimal(&token),
            bytes: MAX_BYTES,
        })
        .await?;
    loop {
        let reply = match lines.receive().await {
            Err(MessageError::Ended) => return Ok(()),
            ask => match ask? {
                ClientMessage::Confirm { challenge: answer } => match receiver.heard_from() {
                    Some(peer) if answer == challenge => {
                        socket.connect(peer)?;
                        receiver.confirm();
                        RelayMessage::Done
                    }
                    _ => refused("wrong answer to the challenge"),
                },
                ClientMessage::Expect { train } => {
                    receiver.expect(train);
                    RelayMessage::Done
                }
                ClientMessage::Report { packet_bytes, .. } => {
                    settle(&receiver).await;
                    RelayMessage::Seen(TrainReceived::of(&receiver.arrivals(), packet_bytes))
                }
                ClientMessage::Send {
                    train,
                    datagrams,
                    packet_bytes,
                    rate_bps,
                } => {
                    let train = Train {
                        number: train,
                        datagrams,
                        packet_bytes,
                        rate_bps,
                    };
                    match allowed(&train, &socket, left) {
                        Err(reason) => refused(reason),
                        Ok(bytes) => {
                            left -= bytes;
                            let socket = Arc::clone(&socket);
                            let rates = Arc::clone(rates);
                            let sending = spawn_blocking(move || {
                                socket::send(&socket, token, &train, &clock, Some(&rates[1]))
                            });
                            RelayMessage::Sent(sending.await.map_err(io::Error::other)??)
                        }
                    }
                }
            },
        };
        lines.send(&reply).await?;
    }
}

/// Waits until nothing has arrived for a moment: the last datagrams of a train may still be in flight.
pub(super) async fn settle(receiver: &ProbeReceiver) {
    let mut before = receiver.progress();
    for _ in 0..20 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let now = receiver.progress();
        if now == before {
            return;
        }
        before = now;
    }
}

fn allowed(train: &Train, socket: &UdpSocket, left: u64) -> Result<u64, &'static str> {
    if socket.peer_addr().is_err() {
        return Err("the address was not confirmed");
    }
    let least = header_bytes(socket).unwrap_or(48) + super::datagram::HEADER_LEN as u32;
    if !(least..=MAX_PACKET).contains(&train.packet_bytes) {
        return Err("packets of that size");
    }
    let bytes = u64::from(train.datagrams) * u64::from(train.packet_bytes);
    let takes_s = bytes as f64 * 8.0 / train.rate_bps;
    if !(0.0..=MAX_TRAIN_S).contains(&takes_s) {
        return Err("a train of that length");
    }
    if bytes > left {
        return Err("more bytes than a session may have");
    }
    Ok(bytes)
}

/// Binds to the port of the relay's listener, which firewalls permit; to another one if it is in use.
fn bind(local: SocketAddr) -> io::Result<UdpSocket> {
    let any_port = SocketAddr::new(local.ip(), 0);
    let socket = UdpSocket::bind(local).or_else(|_| UdpSocket::bind(any_port))?;
    let _ = SockRef::from(&socket).set_recv_buffer_size(RECEIVE_BUFFER);
    Ok(socket)
}

fn draw() -> io::Result<(SessionToken, u64)> {
    let mut bytes = [0; 24];
    SystemRandom::new()
        .fill(&mut bytes)
        .map_err(|_| io::Error::other("no random bytes"))?;
    let (token, challenge) = bytes.split_at(16);
    let mut of_token = [0; 16];
    of_token.copy_from_slice(token);
    let challenge = challenge
        .iter()
        .fold(0, |value, &byte| value << 8 | u64::from(byte));
    Ok((of_token, challenge))
}

fn refused(reason: &str) -> RelayMessage {
    RelayMessage::Refused {
        reason: reason.to_owned(),
    }
}

fn hexadecimal(token: &SessionToken) -> String {
    token.iter().map(|byte| format!("{byte:02x}")).collect()
}
