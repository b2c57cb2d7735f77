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

/// The relays, and the links to them.
#[derive(Clone, Debug, Args)]
pub struct RelayOptions {
    /// Address of the relay. Repeat for several relays, in order of preference: new connections use the first
    /// one that is reached.
    #[arg(long, value_name = "HOST:PORT", required = true, value_parser = option_parsers::relay)]
    pub relay: Vec<Target>,
    /// Secret key of this end, a file that `keygen` wrote.
    #[arg(long, value_name = "FILE", required_unless_present = "plaintext")]
    pub key: Option<PathBuf>,
    /// Public key of the relay, a file that `keygen` wrote. With several relays: one for all, or one for each,
    /// in their order.
    #[arg(long, value_name = "FILE", required_unless_present = "plaintext")]
    pub relay_key: Vec<PathBuf>,
    /// Link to the relay: NAME=INTERFACE or NAME=ADDRESS. INTERFACE may be a pattern, such as wwan*: the first such
    /// interface by name. Repeat for several links. Optional terms
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
    /// Builds the configuration of the uplink to each relay, with these settings of the association and classes
    /// of streams. Running uplinks have their keys already, and may no longer be able to read the files.
    pub(crate) fn uplinks(
        &self,
        association: &Config,
        classes: &Classes,
        running: Option<Vec<DialSecurity>>,
    ) -> Result<Vec<UplinkConfig>, Failure> {
        self.check_plaintext()?;
        check_names(&self.link).map_err(Failure::input)?;
        let security = running.map_or_else(|| self.security(), Ok)?;
        let relays = self.relay.iter().zip(security);
        let uplinks = relays.map(|(relay, security)| UplinkConfig {
            relay: relay.clone(),
            security,
            association: association.clone(),
            congestion: self.congestion.clone(),
            classes: classes.clone(),
        });
        Ok(uplinks.collect())
    }

    /// Returns each relay with the file of its public key; none with `--plaintext`. Errors: there are neither one
    /// key for all relays nor one for each.
    pub(crate) fn relays(&self) -> Result<Vec<(&Target, &PathBuf)>, Failure> {
        let keys = match &self.relay_key[..] {
            [key] => vec![key; self.relay.len()],
            keys => keys.iter().collect(),
        };
        if keys.len() != self.relay.len() && !self.plaintext {
            return Err(Failure::input(format!(
                "--relay-key: {} files for {} relays; allowed: one for all, or one for each, in the order of --relay",
                keys.len(),
                self.relay.len()
            )));
        }
        Ok(self.relay.iter().zip(keys).collect())
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

    fn security(&self) -> Result<Vec<DialSecurity>, Failure> {
        let Some(key) = &self.key else {
            return Ok(vec![DialSecurity::Plain; self.relay.len()]);
        };
        let secret = read_secret_key(key).map_err(Failure::input)?;
        let relays = self.relays()?.into_iter();
        let sealed = relays.map(|(_, key)| {
            Ok(DialSecurity::Sealed {
                secret: secret.clone(),
                relay: read_public_key(key).map_err(Failure::input)?,
            })
        });
        sealed.collect()
    }

    fn check_plaintext(&self) -> Result<(), Failure> {
        if !self.plaintext || self.plaintext_anywhere {
            return Ok(());
        }
        let is_exposed =
            |relay: &&Target| !matches!(relay.host, Host::Address(ip) if ip.is_loopback());
        if let Some(relay) = self.relay.iter().find(is_exposed) {
            return Err(Failure::input(format!(
                "--plaintext --relay {relay}: allowed: a loopback address, or --plaintext-anywhere"
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

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Command, FromArgMatches};

    fn options(arguments: &str) -> RelayOptions {
        let command = RelayOptions::augment_args(Command::new("client").no_binary_name(true));
        let matches = command.try_get_matches_from(arguments.split(' ')).unwrap();
        RelayOptions::from_arg_matches(&matches).unwrap()
    }

    #[test]
    fn relays_share_one_key_or_have_one_each() {
        let two = "--link a=lo --key k --relay r1:1 --relay r2:2 --relay-key";
        let pairs = |more: &str| -> Result<Vec<String>, Failure> {
            let options = options(&format!("{two} {more}"));
            let relays = options.relays()?.into_iter();
            Ok(relays
                .map(|(relay, key)| format!("{relay} {}", key.display()))
                .collect())
        };
        assert_eq!(pairs("x").unwrap(), ["r1:1 x", "r2:2 x"]);
        assert_eq!(pairs("x --relay-key y").unwrap(), ["r1:1 x", "r2:2 y"]);
        let error = pairs("x --relay-key y --relay-key z").unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("--relay-key: 3 files for 2 relays; allowed: "),
            "{error}"
        );
    }
}
