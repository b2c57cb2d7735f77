//! Decision on a call of the program.

use std::net::SocketAddr;

use rustix::io::Errno;

/// Decision on a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Leave it to the kernel.
    Kernel,
    /// Leave it to the kernel: the socket is connecting; if it fails, [`failure`](crate::outgoing::failure) has the reason.
    Resume,
    /// Leave it to the kernel, with this address in place of the target.
    Redirect(SocketAddr),
    Done,
    Failed(Errno),
}
