//! Notice of the end of programs' sockets, without keeping them open.

use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::sync::Mutex;
use std::time::Duration;

use rustix::event::epoll;
use rustix::io::Errno;
use tokio::time::{Instant, sleep};

use crate::lock::lock;

/// Time between two looks at the list of sockets.
const INTERVAL: Duration = Duration::from_secs(1);

/// Set of sockets that some process has open.
///
/// An epoll instance does not keep its sockets open: the kernel removes a socket when the last descriptor of
/// its open file description is closed (epoll(7), questions and answers). The gateway closes its own
/// duplicate after [`add`](SocketWatch::add), so a socket stays in the list while a program, its children or
/// a duplicate has it. The list is a file (proc_pid_fdinfo(5)).
#[derive(Debug)]
pub struct SocketWatch {
    epoll: OwnedFd,
    list: File,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    open: HashSet<u64>,
    read_at: Instant,
}

impl SocketWatch {
    /// Creates an empty set. Fails like epoll_create(2) and open(2).
    pub fn new() -> io::Result<SocketWatch> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let list = File::open(format!("/proc/self/fdinfo/{}", epoll.as_raw_fd()))?;
        let state = State {
            open: HashSet::new(),
            read_at: Instant::now(),
        };
        Ok(SocketWatch {
            epoll,
            list,
            state: Mutex::new(state),
        })
    }

    /// Adds a socket by its cookie (SO_COOKIE, socket(7)). Fails like epoll_ctl(2).
    pub fn add(&self, socket: BorrowedFd<'_>, cookie: u64) -> io::Result<()> {
        let mut state = lock(&self.state);
        if state.open.insert(cookie) {
            let (data, none) = (
                epoll::EventData::new_u64(cookie),
                epoll::EventFlags::empty(),
            );
            match epoll::add(&self.epoll, socket, data, none) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(errno) => {
                    state.open.remove(&cookie);
                    return Err(errno.into());
                }
            }
        }
        Ok(())
    }

    /// Waits until no process has the socket open.
    pub async fn closed(&self, cookie: u64) {
        while self.is_open(cookie, INTERVAL) {
            sleep(INTERVAL).await;
        }
    }

    /// Whether some process has the socket open, by a list of at most this age.
    pub fn is_open(&self, cookie: u64, age: Duration) -> bool {
        let mut state = lock(&self.state);
        let now = Instant::now();
        if now.duration_since(state.read_at) >= age
            && let Ok(open) = self.read()
        {
            *state = State { open, read_at: now };
        }
        state.open.contains(&cookie)
    }

    fn read(&self) -> io::Result<HashSet<u64>> {
        let mut text = Vec::new();
        let mut piece = [0; 8192];
        loop {
            match self.list.read_at(&mut piece, text.len() as u64)? {
                0 => return Ok(cookies(&String::from_utf8_lossy(&text))),
                len => text.extend_from_slice(&piece[..len]),
            }
        }
    }
}

/// Returns the cookies of a list: lines like `tfd: 9 events: 18 data: 2a pos:0 ino:5c sdev:8`.
fn cookies(text: &str) -> HashSet<u64> {
    let cookie = |line: &str| {
        let (_, data) = line.split_once("data:")?;
        u64::from_str_radix(data.split_whitespace().next()?, 16).ok()
    };
    text.lines().filter_map(cookie).collect()
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;
    use std::os::fd::AsFd;

    use rustix::net::sockopt::socket_cookie;

    use super::*;

    #[test]
    fn socket_is_open_until_its_last_duplicate_is_closed() {
        let watch = SocketWatch::new().unwrap();
        let program = UdpSocket::bind("127.0.0.1:0").unwrap();
        let cookie = socket_cookie(&program).unwrap();
        for _ in 0..2 {
            let passed = program.as_fd().try_clone_to_owned().unwrap();
            watch.add(passed.as_fd(), cookie).unwrap();
        }
        let duplicate = program.try_clone().unwrap();
        assert!(watch.is_open(cookie, Duration::ZERO));
        drop(program);
        assert!(watch.is_open(cookie, Duration::ZERO));
        drop(duplicate);
        assert!(!watch.is_open(cookie, Duration::ZERO));
    }

    #[test]
    fn list_of_many_sockets_is_read_whole() {
        let watch = SocketWatch::new().unwrap();
        let sockets: Vec<_> = (0..300)
            .map(|_| UdpSocket::bind("127.0.0.1:0").unwrap())
            .collect();
        for socket in &sockets {
            watch
                .add(socket.as_fd(), socket_cookie(socket).unwrap())
                .unwrap();
        }
        assert_eq!(watch.read().unwrap().len(), 300);
    }

    #[test]
    fn other_lines_have_no_cookie() {
        let text = "pos:\t0\nflags:\t02000002\ntfd:        9 events:       18 data:               2a  pos:0\n\
                    tfd: 9 events: 18 data:\n";
        assert_eq!(cookies(text), HashSet::from([42]));
    }
}
