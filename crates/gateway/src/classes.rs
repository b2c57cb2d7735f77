//! Classes of streams, which determine their deadlines.
//!
//! A scheduler that uses deadlines chooses links by them. Interactive data are due at once, and take the link
//! with the earliest arrival. Streaming data are due some time after they were written, and take the cheapest
//! link that delivers them in time. Bulk data have no deadline, and take only the cheapest link.

use std::collections::BTreeMap;
use std::str::FromStr;

use ropewalk_quantities::{Time, named};
use ropewalk_striping::{Deadline, SchedulerConfig};

/// Longest deadline.
pub const LONGEST: Time = Time::from_secs(60);

named! {
    /// Class of a stream.
    #[derive(Default, PartialOrd, Ord)]
    pub enum Class {
        /// As soon as possible.
        Interactive = "interactive",
        /// Within a given time.
        Streaming = "streaming",
        /// At the lowest price.
        #[default]
        Bulk = "bulk",
    }
}

/// Deadline of a stream's data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Urgency {
    /// The first bytes in each direction, up to this many, are interactive in any class.
    pub small: u32,
    /// Time from a write to its deadline, in whole milliseconds: 0 to [`LONGEST`]; `None` for bulk.
    pub within: Option<Time>,
}

/// Classes of streams by their target's port.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Classes {
    /// Ports with a class of their own.
    pub ports: BTreeMap<u16, Class>,
    /// Class of all other ports.
    pub others: Class,
    /// See [`Urgency::small`].
    pub small: u32,
    /// Deadline of streaming data.
    pub within: Time,
}

/// Rule `CLASS=PORT,PORT` on a command line; `*` stands for all ports that are not named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassRule {
    class: Class,
    /// `None`: all others.
    ports: Vec<Option<u16>>,
}

impl Urgency {
    /// Returns the deadline of data written now, after `written` bytes.
    pub(crate) fn deadline(&self, now: Time, written: u64) -> Option<Deadline> {
        let is_small = written < u64::from(self.small);
        let span = if is_small { Time::ZERO } else { self.within? };
        Some(Deadline {
            at: now + span,
            span,
        })
    }

    /// Returns its class.
    #[must_use]
    pub fn class(&self) -> Class {
        match self.within {
            Some(Time::ZERO) => Class::Interactive,
            Some(_) => Class::Streaming,
            None => Class::Bulk,
        }
    }
}

impl Classes {
    /// Returns one class for all streams.
    #[must_use]
    pub fn all(class: Class, within: Time) -> Classes {
        Classes {
            others: class,
            within,
            ..Classes::default()
        }
    }

    /// Returns the classes of a command line. Errors: two classes of a port, scheduler without deadlines.
    pub(crate) fn new(
        rules: &[ClassRule],
        small: u32,
        within: Time,
        scheduler: &SchedulerConfig,
    ) -> Result<Classes, String> {
        let mut classes = Classes {
            small,
            ..Classes::all(Class::Bulk, within)
        };
        let mut named = BTreeMap::new();
        for rule in rules {
            for port in &rule.ports {
                if named.insert(*port, rule.class).is_some() {
                    let port = port.map_or("*".to_owned(), |port| port.to_string());
                    return Err(format!("--class: {port} is in two classes; allowed: one"));
                }
            }
        }
        if (!rules.is_empty() || classes.small > 0) && !knows_deadlines(scheduler) {
            return Err(format!(
                "--scheduler {}: it knows no classes; allowed with --class and --small: cheapest-in-time, mp-dash",
                scheduler.name()
            ));
        }
        classes.others = named.remove(&None).unwrap_or_default();
        let ports = named.into_iter();
        classes.ports = ports
            .filter_map(|(port, class)| Some((port?, class)))
            .collect();
        Ok(classes)
    }

    /// Returns the urgency of a stream to this port.
    #[must_use]
    pub fn urgency(&self, port: u16) -> Urgency {
        let class = self.ports.get(&port).copied().unwrap_or(self.others);
        Urgency {
            small: self.small,
            within: match class {
                Class::Interactive => Some(Time::ZERO),
                Class::Streaming => Some(self.within),
                Class::Bulk => None,
            },
        }
    }
}

fn knows_deadlines(scheduler: &SchedulerConfig) -> bool {
    use SchedulerConfig::{CheapestInTime, MpDash};
    matches!(scheduler, CheapestInTime(_) | MpDash(_))
}

impl FromStr for ClassRule {
    type Err = String;

    fn from_str(text: &str) -> Result<ClassRule, String> {
        const ALLOWED: &str =
            "allowed: CLASS=PORT,PORT or CLASS=*, with interactive, streaming or bulk";
        let wrong = || format!("no such class; {ALLOWED}");
        let (class, ports) = text.split_once('=').ok_or_else(wrong)?;
        let port = |text: &str| match text.parse() {
            _ if text == "*" => Ok(None),
            Ok(port) if port > 0 => Ok(Some(port)),
            _ => Err(format!("{text:?} is no port; {ALLOWED}")),
        };
        Ok(ClassRule {
            class: Class::from_name(class).ok_or_else(wrong)?,
            ports: ports.split(',').map(port).collect::<Result<_, _>>()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ropewalk_striping::AlgorithmConfig;

    const WITHIN: Time = Time::from_millis(200);

    fn classes(rules: &[&str], scheduler: &str) -> Result<Classes, String> {
        let rules: Vec<ClassRule> = rules.iter().map(|rule| rule.parse().unwrap()).collect();
        let scheduler = SchedulerConfig::from_name(scheduler).unwrap();
        Classes::new(&rules, 1024, WITHIN, &scheduler)
    }

    #[test]
    fn ports_without_a_class_have_the_default_class() {
        let rules = ["interactive=22,5060", "streaming=*", "bulk=873"];
        let classes = classes(&rules, "cheapest-in-time").unwrap();
        let within = |port| classes.urgency(port).within;
        assert_eq!(within(22), Some(Time::ZERO));
        assert_eq!(within(443), Some(WITHIN));
        assert_eq!(within(873), None);
    }

    #[test]
    fn first_bytes_are_interactive_in_any_class() {
        let classes = classes(&["streaming=554"], "mp-dash").unwrap();
        let now = Time::from_secs(1);
        let at = |port, written| classes.urgency(port).deadline(now, written);
        assert_eq!(at(554, 1023).map(|due| due.at), Some(now));
        assert_eq!(
            at(554, 1024).map(|due| (due.at, due.span)),
            Some((now + WITHIN, WITHIN))
        );
        assert_eq!(at(80, 1023).map(|due| due.at), Some(now));
        assert_eq!(at(80, 1024), None);
    }

    #[test]
    fn invalid_class_is_named_with_allowed_ones() {
        for wrong in [
            "video=1",
            "bulk",
            "bulk=",
            "bulk=0",
            "bulk=70000",
            "bulk=1;2",
        ] {
            let error = wrong.parse::<ClassRule>().unwrap_err();
            assert!(
                error.contains("allowed: CLASS=PORT,PORT"),
                "{wrong}: {error}"
            );
        }
        let twice = classes(&["bulk=80", "streaming=80"], "cheapest-in-time").unwrap_err();
        assert!(twice.contains("80 is in two classes"), "{twice}");
        let blind = classes(&[], "min-rtt").unwrap_err();
        assert!(blind.contains("min-rtt: it knows no classes"), "{blind}");
    }
}
