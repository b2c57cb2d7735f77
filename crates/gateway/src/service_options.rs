//! Options of every long-running verb: its status, its control socket and its user.

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;

use clap::Args;

use crate::control::{self, ControlSocket};
use crate::privileges::{RunAs, UserOption};
use crate::{Failure, option_parsers, status};

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ServiceOptions {
    /// Loopback address on which the status is served over HTTP, as a page, JSON and metrics. Default:
    /// none.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = option_parsers::loopback)]
    status: Option<SocketAddr>,
    /// Control socket for `exec` and `status`. Default: ropewalk/VERB in XDG_RUNTIME_DIR, or in /run for
    /// root.
    #[arg(long, value_name = "PATH")]
    control: Option<PathBuf>,
    #[command(flatten)]
    user: UserOption,
}

/// Sockets on which a verb reports its status and takes requests.
#[derive(Debug)]
pub(crate) struct ServiceSockets {
    pub(crate) status: Option<TcpListener>,
    pub(crate) control: Option<ControlSocket>,
}

impl ServiceOptions {
    /// Returns the user to switch to, if given. Errors: as [`UserOption::find`].
    pub(crate) fn user(&self) -> Result<Option<RunAs>, Failure> {
        self.user.find()
    }

    /// Checks the options without opening anything. Errors: the user or the control socket's path is wrong.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        self.user.find()?;
        control::check(self.control.as_deref())
    }

    /// Opens both sockets; the control socket belongs to `user`, if given. Errors: an address or path is not
    /// available.
    pub(crate) fn open(&self, verb: &str, user: Option<&RunAs>) -> Result<ServiceSockets, Failure> {
        Ok(ServiceSockets {
            status: status::listen(self.status)?,
            control: ControlSocket::open(self.control.clone(), verb, user)?,
        })
    }
}
