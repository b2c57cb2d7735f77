//! Holding of a program's connection in SYN-SENT until the relay has answered.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4};
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::net::{Shutdown, getpeername, getsockname, shutdown};
use socket2::{Domain, Socket, Type};
use tokio::net::{TcpSocket, TcpStream};

use ropewalk_preload_protocol::HOLD;

/// Time limit of the connection that fills the queue. It is exceeded only if another one has filled it.
const FILLED: Duration = Duration::from_secs(1);

/// Listener on loopback that drops every SYN, so that connecting sockets stay in SYN-SENT.
///
/// Its accept queue has one place, which is taken for good. Linux then drops SYNs (`sk_acceptq_is_full` in
/// `tcp_conn_request`, net/ipv4/tcp_input.c). Newer kernels require CAP_NET_ADMIN for a socket filter on TCP,
/// the alternative.
#[derive(Debug)]
pub struct SynHold {
    at: SocketAddrV4,
    _listener: Socket,
    _first: Socket,
}

impl SynHold {
    /// Listens at a port of the kernel's choice. Fails like socket(2), bind(2), listen(2) and connect(2).
    pub fn new() -> io::Result<SynHold> {
        let listener = Socket::new(Domain::IPV4, Type::STREAM, None)?;
        // Shared with the sockets that answer from this address.
        listener.set_reuse_port(true)?;
        listener.bind(&SocketAddrV4::new(HOLD, 0).into())?;
        listener.listen(0)?;
        let local = listener.local_addr()?;
        let first = Socket::new(Domain::IPV4, Type::STREAM, None)?;
        match first.connect_timeout(&local, FILLED) {
            Err(error) if error.kind() != io::ErrorKind::TimedOut => return Err(error),
            _ => {}
        }
        let at = local.as_socket_ipv4();
        Ok(SynHold {
            at: at.ok_or(io::ErrorKind::AddrNotAvailable)?,
            _listener: listener,
            _first: first,
        })
    }

    pub fn address(&self) -> SocketAddr {
        self.at.into()
    }

    /// Connects a held socket of a program, and returns the other end: our own SYN crosses its SYN
    /// (simultaneous open, RFC 9293, section 3.5). Errors: ECONNREFUSED if the socket no longer waits, and
    /// the errors of socket(2), bind(2) and connect(2).
    pub async fn connect(&self, program: OwnedFd) -> io::Result<TcpStream> {
        let its = Self::own_address(&program)?;
        let ours = TcpSocket::new_v4()?;
        ours.set_reuseport(true)?;
        ours.bind(self.at.into())?;
        let stream = ours.connect(its.into()).await?;
        let peer: SocketAddr = match getpeername(&program)? {
            Some(peer) => peer.try_into()?,
            None => return Err(io::ErrorKind::ConnectionRefused.into()),
        };
        // If the program's socket was closed meanwhile, another one may have answered.
        if peer.ip().to_canonical() != IpAddr::V4(HOLD) || peer.port() != self.at.port() {
            return Err(io::ErrorKind::ConnectionRefused.into());
        }
        stream.set_nodelay(true)?;
        Ok(stream)
    }

    /// Makes a held socket of a program fail: poll(2) reports a hang-up, and SO_ERROR is ECONNRESET
    /// (inet_shutdown in net/ipv4/af_inet.c, tcp_disconnect in net/ipv4/tcp.c).
    pub fn refuse(program: OwnedFd) {
        let _ = shutdown(&program, Shutdown::Both);
    }

    /// Returns the program's address: the kernel chose 127.0.0.1, or the program is bound to loopback.
    fn own_address(program: &OwnedFd) -> io::Result<SocketAddrV4> {
        let address: SocketAddr = getsockname(program)?.try_into()?;
        match address.ip().to_canonical() {
            IpAddr::V4(v4) if v4 != Ipv4Addr::UNSPECIFIED => {
                Ok(SocketAddrV4::new(v4, address.port()))
            }
            _ => Err(io::ErrorKind::ConnectionRefused.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::fd::AsFd;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::io::Errno;
    use rustix::thread::{CapabilitySet, capabilities, set_capabilities};

    use super::*;

    fn begin(hold: &SynHold, domain: Domain) -> Socket {
        let program = Socket::new(domain, Type::STREAM, None).unwrap();
        program.set_nonblocking(true).unwrap();
        let at = match domain {
            Domain::IPV4 => hold.address(),
            _ => (HOLD.to_ipv6_mapped(), hold.address().port()).into(),
        };
        let begun = program.connect(&at.into()).unwrap_err();
        assert_eq!(begun.raw_os_error(), Some(Errno::INPROGRESS.raw_os_error()));
        assert_eq!(events(&program, 20), PollFlags::empty());
        program
    }

    fn events(program: &Socket, ms: i64) -> PollFlags {
        let mut polled = [PollFd::new(program, PollFlags::IN | PollFlags::OUT)];
        let timeout = Timespec {
            tv_sec: ms / 1000,
            tv_nsec: ms % 1000 * 1_000_000,
        };
        poll(&mut polled, Some(&timeout)).unwrap();
        polled[0].revents()
    }

    fn duplicate(program: &Socket) -> OwnedFd {
        program.as_fd().try_clone_to_owned().unwrap()
    }

    #[tokio::test]
    async fn waits_and_is_connected() {
        let hold = SynHold::new().unwrap();
        for domain in [Domain::IPV4, Domain::IPV6] {
            let mut program = begin(&hold, domain);
            let ours = hold.connect(duplicate(&program)).await.unwrap();
            assert_eq!(events(&program, 5_000), PollFlags::OUT);
            assert!(program.take_error().unwrap().is_none());
            program.set_nonblocking(false).unwrap();
            let mut ours = ours.into_std().unwrap();
            ours.set_nonblocking(false).unwrap();
            program
                .set_read_timeout(Some(Duration::from_secs(5)))
                .unwrap();
            program.write_all(b"there").unwrap();
            ours.read_exact(&mut [0; 5]).unwrap();
            ours.write_all(b"back").unwrap();
            drop(ours);
            let mut text = String::new();
            program.read_to_string(&mut text).unwrap();
            assert_eq!(text, "back");
        }
    }

    #[tokio::test]
    async fn process_without_capabilities_holds_and_connects() {
        let of_thread = std::thread::spawn(|| {
            let mut left = capabilities(None).unwrap();
            left.effective = CapabilitySet::empty();
            set_capabilities(None, left).unwrap();
            SynHold::new()
        });
        let hold = of_thread.join().unwrap().unwrap();
        for _ in 0..3 {
            let program = begin(&hold, Domain::IPV4);
            hold.connect(duplicate(&program)).await.unwrap();
            assert_eq!(events(&program, 5_000) & PollFlags::OUT, PollFlags::OUT);
        }
    }

    #[test]
    fn waits_and_is_refused() {
        let hold = SynHold::new().unwrap();
        let program = begin(&hold, Domain::IPV4);
        SynHold::refuse(duplicate(&program));
        assert!(events(&program, 5_000).contains(PollFlags::ERR | PollFlags::HUP));
        let error = program.take_error().unwrap().unwrap();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
    }

    #[tokio::test]
    async fn a_socket_that_gave_up_is_not_connected() {
        let hold = SynHold::new().unwrap();
        let program = begin(&hold, Domain::IPV4);
        program.shutdown(std::net::Shutdown::Both).unwrap();
        assert!(hold.connect(duplicate(&program)).await.is_err());
    }
}
