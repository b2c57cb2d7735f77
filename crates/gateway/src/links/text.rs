//! Text form of a link: `NAME=INTERFACE|ADDRESS[,cost=1][,quota=5GB][,priority=1]`.

use std::fmt;
use std::str::FromStr;

use ropewalk_striping::Pace;

use super::{Egress, Link, Rank};
use crate::keys::is_name;
use crate::option_parsers;
use crate::quota_policy::{AtCap, Period};

/// Description of valid links, for error messages.
const ALLOWED: &str = "NAME=INTERFACE or NAME=ADDRESS, then ,cost=NUMBER ,priority=0..255 \
     ,rank=primary|backup|never ,dns=ADDRESS ,quota=SIZE ,period=month|30d ,start_day=1..31 ,pace=free|even|priced ,daily=SIZE ,at_cap=last-resort|stop|RATE";

/// Error of a text that is not a valid link.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?}: {problem}; allowed: {ALLOWED}")]
pub struct LinkError {
    text: String,
    problem: String,
}

impl FromStr for Link {
    type Err = LinkError;

    fn from_str(text: &str) -> Result<Link, LinkError> {
        parse(text).map_err(|problem| LinkError {
            text: text.to_owned(),
            problem,
        })
    }
}

fn parse(text: &str) -> Result<Link, String> {
    let mut parts = text.split(',');
    let (name, egress) = parts
        .next()
        .and_then(|first| first.split_once('='))
        .ok_or("no '=' after a name")?;
    if !is_name(name) {
        return Err(format!("name {name:?}"));
    }
    let mut link = Link::new(name, egress.parse()?);
    for part in parts {
        let policy = &mut link.quota_policy;
        let Some((key, value)) = part.split_once('=') else {
            return Err(format!("{part:?}"));
        };
        let wrong = |error: &dyn fmt::Display| format!("{key}={value}: {error}");
        match key {
            "quota" => {
                policy.quota = Some(option_parsers::size(value).map_err(|error| wrong(&error))?)
            }
            "daily" => {
                policy.daily = Some(option_parsers::size(value).map_err(|error| wrong(&error))?)
            }
            "period" => policy.period = value.parse().map_err(|error| wrong(&error))?,
            "pace" => policy.pace = value.parse().map_err(|error| wrong(&error))?,
            "at_cap" => policy.at_cap = value.parse().map_err(|error| wrong(&error))?,
            "start_day" => match value.parse() {
                Ok(day @ 1..=31) => policy.start_day = day,
                _ => return Err(wrong(&"not from 1 to 31")),
            },
            "priority" => link.priority = value.parse().map_err(|error| wrong(&error))?,
            "rank" => {
                link.rank = match value {
                    "primary" => Rank::Primary,
                    "backup" => Rank::Backup,
                    "never" => Rank::Never,
                    _ => return Err(wrong(&"not primary, backup or never")),
                }
            }
            "dns" => match value.parse() {
                Ok(server) if option_parsers::is_of_host(server) => link.dns.push(server),
                _ => return Err(wrong(&"not the address of a host")),
            },
            "cost" => {
                let cost: f64 = value.parse().map_err(|error| wrong(&error))?;
                if !(0.0..=1e9).contains(&cost) {
                    return Err(wrong(&"not from 0 to 1e9"));
                }
                link.cost = Some(cost);
            }
            _ => return Err(format!("{key:?} is nothing that a link has")),
        }
    }
    let policy = &link.quota_policy;
    let of_quota = policy.start_day > 0 || policy.period != Period::Month;
    if of_quota && policy.quota.is_none() {
        return Err("period and start_day without quota".to_owned());
    }
    if policy.pace != Pace::default() && policy.quota.is_none() {
        return Err("pace without quota".to_owned());
    }
    if policy.start_day > 0 && policy.period != Period::Month {
        return Err("start_day is of period=month".to_owned());
    }
    if policy.at_cap != AtCap::default() && !policy.is_metered() {
        return Err("at_cap without quota or daily".to_owned());
    }
    Ok(link)
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name, self.egress)?;
        if let Some(cost) = self.cost {
            write!(f, ",cost={cost}")?;
        }
        let policy = &self.quota_policy;
        for (key, size) in [("quota", policy.quota), ("daily", policy.daily)] {
            if let Some(size) = size {
                write!(f, ",{key}={}", size.to_string().replace(' ', ""))?;
            }
        }
        if policy.period != Period::Month {
            write!(f, ",period={}", policy.period)?;
        }
        if policy.start_day > 0 {
            write!(f, ",start_day={}", policy.start_day)?;
        }
        if policy.pace != Pace::default() {
            write!(f, ",pace={}", policy.pace)?;
        }
        if policy.at_cap != AtCap::default() {
            write!(f, ",at_cap={}", policy.at_cap)?;
        }
        if self.priority > 0 {
            write!(f, ",priority={}", self.priority)?;
        }
        for server in &self.dns {
            write!(f, ",dns={server}")?;
        }
        f.write_str(match self.rank {
            Rank::Primary => "",
            Rank::Backup => ",rank=backup",
            Rank::Never => ",rank=never",
        })
    }
}

/// Parses an address, or the name of an interface of at most 15 bytes (Linux's limit), which may end with `*`.
impl FromStr for Egress {
    type Err = String;

    fn from_str(text: &str) -> Result<Egress, String> {
        if let Ok(address) = text.parse() {
            return match option_parsers::is_of_host(address) {
                true => Ok(Egress::Address(address)),
                false => Err(format!(
                    "{address} is no address that this machine can have"
                )),
            };
        }
        let name = text.strip_suffix('*').unwrap_or(text);
        let is_interface = (1..=15).contains(&name.len())
            && !name
                .contains(|c: char| "/\"\\*".contains(c) || c.is_whitespace() || c.is_control())
            && name != "."
            && name != "..";
        match is_interface {
            true => Ok(Egress::Interface(text.to_owned())),
            false => Err(format!("{text:?} is neither an interface nor an address")),
        }
    }
}

impl fmt::Display for Egress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Egress::Interface(interface) => f.write_str(interface),
            Egress::Address(address) => address.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use ropewalk_quantities::Bytes;

    use crate::quota_policy::QuotaPolicy;

    #[test]
    fn a_link_is_read_with_all_that_is_known_of_it() {
        let link: Link = "lte=wwan0,cost=2.5,quota=5GB,priority=1,\
                          start_day=31,pace=even,daily=1GB,at_cap=stop,rank=backup"
            .parse()
            .unwrap();
        let expected = Link {
            name: "lte".to_owned(),
            egress: Egress::Interface("wwan0".to_owned()),
            cost: Some(2.5),
            quota_policy: QuotaPolicy {
                quota: Some(Bytes::new(5_000_000_000)),
                daily: Some(Bytes::new(1_000_000_000)),
                period: Period::Month,
                start_day: 31,
                pace: Pace::Even,
                at_cap: AtCap::Stop,
            },
            priority: 1,
            rank: Rank::Backup,
            dns: Vec::new(),
            mark: None,
            relay: None,
        };
        assert_eq!(link, expected);
        assert_eq!(link.to_string().parse::<Link>().unwrap(), expected);
        for text in [
            "lte=wwan0,quota=5GB,period=30d",
            "lte=wwan0,quota=5GB,pace=priced,at_cap=512kbit",
            "lte=wwan0,quota=1234567891B",
            "lte=wwan0,dns=192.0.2.1,dns=2001:db8::1",
        ] {
            let link: Link = text.parse().unwrap();
            assert_eq!(link.to_string().parse::<Link>().unwrap(), link);
        }
        let link: Link = "lte=wwan0,quota=10GB,daily=500MB".parse().unwrap();
        assert_eq!(link.to_string(), "lte=wwan0,quota=10GB,daily=500MB");
        let link: Link = "home=fe80::1".parse().unwrap();
        assert_eq!(
            link,
            Link::new("home", Egress::Address("fe80::1".parse().unwrap()))
        );
    }

    #[test]
    fn invalid_link_is_refused_in_one_line() {
        for (text, says) in [
            ("", "no '='"),
            ("eth0", "no '='"),
            ("=eth0", "name \"\""),
            ("a b=eth0", "name \"a b\""),
            ("a=", "neither an interface nor an address"),
            (
                "a=an-interface-too-long",
                "neither an interface nor an address",
            ),
            ("a=eth0,rate=20mbit", "\"rate\""),
            ("a=eth0,cost=nan", "cost=nan"),
            ("a=eth0,cost=-1", "cost=-1"),
            ("a=eth0,priority=256", "priority=256"),
            ("a=eth0,quota=1GB,period=year", "allowed: month"),
            ("a=eth0,quota=1GB,period=0d", "allowed: month"),
            ("a=eth0,quota=1GB,start_day=32", "not from 1 to 31"),
            ("a=eth0,quota=1GB,period=30d,start_day=3", "start_day is of"),
            ("a=eth0,period=30d", "without quota"),
            ("a=eth0,daily=1GB,pace=even", "pace without quota"),
            ("a=eth0,quota=1GB,pace=odd", "allowed: free, even, priced"),
            ("a=eth0,at_cap=stop", "without quota"),
            ("a=eth0,quota=1GB,at_cap=0mbit", "or a rate"),
            (
                "a=eth0,quota=1GB,at_cap=go",
                "allowed: last-resort, stop, or a rate",
            ),
            ("a=eth0,rank=first", "not primary, backup or never"),
            ("a=eth0,dns=server", "dns=server: not the address of a host"),
            ("a=eth0,dns=0.0.0.0", "dns=0.0.0.0"),
            ("a=eth0,colour=red", "\"colour\""),
            ("a=eth0,", "\"\""),
        ] {
            let error = text.parse::<Link>().unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
            assert!(error.contains("allowed: NAME=INTERFACE") && !error.contains('\n'));
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_link_or_an_error(text in ".{0,80}") {
            let _ = text.parse::<Link>();
        }
    }
}
