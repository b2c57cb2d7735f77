//! Command-line options for the relay and the links to it.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use ropewalk_striping::Config;
use rustix::thread::CapabilitySet;
use tokio::time::sleep;

use super::UplinkConfig;
use crate::Failure;
use crate::classes::Classes;
use crate::handshake::DialSecurity;
use crate::keys::{read_public_key, read_secret_key};
use crate::links::{Egress, Link, check_names};
use crate::option_parsers;
use crate::privileges::{for_congestion, for_links};
use crate::request::{Host, Target};

/// Time to wait for the first link at the start.
const TIMEOUT: Duration = Duration::from_secs(8);

/// The far end, and the links towards it.
#[derive(Clone, Debug, Args)]
pub struct RelayOptions {
    /// Address of the relay.
    #[arg(long, value_name = "HOST:PORT", value_parser = option_parsers::relay)]
    pub relay: Target,
    /// Secret key of this end, a file that `keygen` wrote.
    #[arg(long, value_name = "FILE", required_unless_present = "plaintext")]
    pub key: Option<PathBuf>,
    /// Public key of the relay, a file that `keygen` wrote.
    #[arg(long, value_name = "FILE", required_unless_present = "plaintext")]
    pub relay_key: Option<PathBuf>,
    /// Link to the relay: NAME=INTERFACE or NAME=ADDRESS. Repeat for several links. Optional terms
    /// follow: ,cost=1 ,priority=1 ,rank=primary (or backup, never) ,dns=10.64.64.64 ,quota=5GB
    /// ,period=month (or 30d) ,start_day=15 ,pace=free (or even, priced) ,daily=500MB
    /// ,at_cap=last-resort (or stop, or a rate such as 512kbit).
    #[arg(long, value_name = "LINK", required = true)]
    pub link: Vec<Link>,
    /// Congestion control of the carriers. Default: the system's, and bbr on links that lose packets
    /// without a queue.
    #[arg(long, value_name = "NAME", value_parser = option_parsers::congestion)]
    pub congestion: Option<String>,
    /// Use no keys and encrypt nothing. For measurements on loopback addresses.
    #[arg(long, conflicts_with_all = ["key", "relay_key"])]
    pub plaintext: bool,
    /// Allow --plaintext to non-loopback addresses. Insecure.
    #[arg(long, requires = "plaintext")]
    pub plaintext_anywhere: bool,
}

impl RelayOptions {
    /// Builds the uplink's configuration with these settings of the association. A running uplink has its
    /// keys already, and may no longer be able to read the files.
    pub(crate) fn uplink(
        &self,
        association: Config,
        running: Option<&DialSecurity>,
    ) -> Result<UplinkConfig, Failure> {
        self.check_plaintext()?;
        check_names(&self.link).map_err(Failure::input)?;
        Ok(UplinkConfig {
            relay: self.relay.clone(),
            security: running.cloned().map_or_else(|| self.security(), Ok)?,
            association,
            congestion: self.congestion.clone(),
            classes: Classes::default(),
        })
    }

    pub(crate) fn capabilities(&self) -> CapabilitySet {
        for_links(&self.link) | for_congestion(self.congestion.as_deref())
    }

    /// Waits until a link is available. Errors: none was in time; the reason of the first one.
    pub(crate) async fn wait_for_a_link(&self) -> Result<(), Failure> {
        let begin = Instant::now();
        while self.link.iter().all(|link| link.is_there().is_err()) {
            if begin.elapsed() >= TIMEOUT {
                let reasons = self.link.iter().filter_map(|link| {
                    let missing = link.is_there().err()?;
                    Some(format!("link {} ({}): {missing}", link.name, link.egress))
                });
                let reasons: Vec<String> = reasons.collect();
                return Err(Failure::run(format!(
                    "no link is up: {}",
                    reasons.join("; ")
                )));
            }
            sleep(TIMEOUT / 80).await;
        }
        Ok(())
    }

    fn security(&self) -> Result<DialSecurity, Failure> {
        match (&self.key, &self.relay_key) {
            (Some(key), Some(relay)) => Ok(DialSecurity::Sealed {
                secret: read_secret_key(key).map_err(Failure::input)?,
                relay: read_public_key(relay).map_err(Failure::input)?,
            }),
            _ => Ok(DialSecurity::Plain),
        }
    }

    fn check_plaintext(&self) -> Result<(), Failure> {
        if !self.plaintext || self.plaintext_anywhere {
            return Ok(());
        }
        if !matches!(self.relay.host, Host::Address(ip) if ip.is_loopback()) {
            return Err(Failure::input(format!(
                "--plaintext --relay {}: allowed: a loopback address, or --plaintext-anywhere",
                self.relay
            )));
        }
        let is_loopback =
            |link: &&Link| matches!(link.egress, Egress::Address(ip) if ip.is_loopback());
        match self.link.iter().find(|link| !is_loopback(link)) {
            Some(link) => Err(Failure::input(format!(
                "--plaintext --link {}={}: allowed: a loopback address, or --plaintext-anywhere",
                link.name, link.egress
            ))),
            None => Ok(()),
        }
    }
}
