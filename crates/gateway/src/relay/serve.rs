//! Service of the streams that a client opens.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::net::{TcpStream, UdpSocket};
use tokio::time::{sleep, timeout};
use tracing::{debug, info, warn};

use super::connect::{connect, is_here};
use super::datagrams;
use super::registry::{Member, Name, Relay};
use crate::association::{Incoming, Stream};
use crate::measure::messages::MessageStream;
use crate::memory;
use crate::programs::ClientEntry;
use crate::request::{Request, Status, Target};
use crate::tunnel_stream;

const TIMEOUT: Duration = Duration::from_secs(30);

/// Time limit for the streams of an ended association to end.
const FREED: Duration = Duration::from_secs(1);

/// Serves the streams of an association until it ends, and then returns its memory.
pub(super) async fn serve_association(
    relay: Arc<Relay>,
    name: Name,
    member: Arc<Member>,
    mut incoming: Incoming,
) {
    while let Some(stream) = incoming.next().await {
        tokio::spawn(serve(Arc::clone(&relay), Arc::clone(&member), stream));
    }
    let code = member.association.closed().await;
    relay.forget(&name);
    info!("{}: ended with code {code:#x}", member.account.name);
    drop((incoming, member));
    sleep(FREED).await;
    tokio::task::spawn_blocking(memory::trim);
}

async fn serve(relay: Arc<Relay>, member: Arc<Member>, stream: Stream) {
    let account = &member.account;
    let Some(_slot) = account.open() else {
        relay.refusals.note(&account.name, "streams", Status::Limit);
        return answer(&stream, Status::Limit).await;
    };
    let request = stream.read_first(Request::MAX_LEN, Request::parse);
    match timeout(TIMEOUT, request).await {
        Ok(Some(Request::Connect(target, urgency))) => {
            let opened = tokio::select! {
                opened = open(&relay, &member, &stream, &target) => opened,
                _ = stream.reset_by_peer() => return,
            };
            match opened {
                Ok((socket, _entry)) => {
                    debug!("{}: {target}", account.name);
                    stream.set_target(target.to_string(), urgency);
                    answer(&stream, Status::Done).await;
                    let [up, down] = &*account.rates;
                    stream.carry(&socket, Some([down, up])).await;
                }
                Err(status) => {
                    if status == Status::NotAllowed {
                        let detail = format!("{target}: {status}");
                        relay.refusals.note(&account.name, "rules", detail);
                    }
                    answer(&stream, status).await;
                }
            }
        }
        Ok(Some(Request::Measure)) => match stream.carrier_address() {
            Some(at) => {
                answer(&stream, Status::Done).await;
                let rates = Arc::clone(&account.rates);
                relay
                    .measuring
                    .answer(MessageStream::new(stream), at, rates)
                    .await;
            }
            // The carrier of the stream has ended meanwhile.
            None => answer(&stream, Status::Failed).await,
        },
        Ok(Some(Request::Tunnel)) => {
            let _held = account.memory.hold(tunnel_stream::MEMORY);
            serve_tunnel(&relay, &stream).await;
        }
        Ok(Some(Request::Datagrams)) => datagrams::serve(stream, &relay, account).await,
        _ => answer(&stream, Status::Unknown).await,
    }
}

/// Carries the datagrams of a client's tunnel to this process's end of tunnels, which knows the client by its keys.
async fn serve_tunnel(relay: &Relay, stream: &Stream) {
    let Some(at) = relay.config().tunnel.map(on_this_machine) else {
        return answer(stream, Status::NotAllowed).await;
    };
    let own = SocketAddr::new(at.ip(), 0);
    let opened = async {
        let socket = UdpSocket::bind(own).await?;
        // Datagrams of others are dropped.
        socket.connect(at).await?;
        Ok::<_, std::io::Error>(socket)
    };
    match opened.await {
        Ok(socket) => {
            answer(stream, Status::Done).await;
            tunnel_stream::carry(stream, &socket, at, None).await;
        }
        Err(error) => {
            warn!("tunnel over TCP: {at}: {error}");
            answer(stream, Status::Failed).await;
        }
    }
}

/// Returns the address by which programs of this machine reach a listener.
fn on_this_machine(listening: SocketAddr) -> SocketAddr {
    let ip = match listening.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, listening.port())
}

/// Connects to the target: a listening program of `exec`, or an address that the rules allow.
async fn open(
    relay: &Relay,
    member: &Member,
    stream: &Stream,
    target: &Target,
) -> Result<(TcpStream, Option<ClientEntry>), Status> {
    if let Some(servers) = relay.programs.servers()
        && servers.has(target.port)
        && is_here(target, &relay.names, &member.account.names).await
    {
        let client = member.client(stream.id());
        let connected = servers.connect(target.port, client).await;
        let connection = connected.map_err(|error| Status::of_error(&error))?;
        return Ok((connection.stream, Some(connection.entry)));
    }
    let (rules, limit) = (&relay.config().rules, &member.account.names);
    let socket = connect(target, rules, &relay.names, limit).await?;
    Ok((socket, None))
}

async fn answer(stream: &Stream, status: Status) {
    let _ = stream.write(Bytes::copy_from_slice(&[status as u8])).await;
    if status != Status::Done {
        stream.finish();
    }
}
