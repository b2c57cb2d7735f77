//! Interface of a link, by its name or by a pattern.

use std::borrow::Cow;
use std::{fs, io};

/// Names and counters of the interfaces that the process sees (proc_pid_net(5)).
const INTERFACES: &str = "/proc/thread-self/net/dev";

/// Returns the name of an interface: as given, or for a pattern such as `wwan*` the first by name that exists.
///
/// # Errors
/// ENODEV if nothing fits the pattern.
pub(super) fn existing(name: &str) -> io::Result<Cow<'_, str>> {
    let Some(prefix) = name.strip_suffix('*') else {
        return Ok(name.into());
    };
    let first = first(&fs::read_to_string(INTERFACES)?, prefix);
    let none = || io::Error::from(rustix::io::Errno::NODEV);
    first.map(Cow::Owned).ok_or_else(none)
}

fn first(interfaces: &str, prefix: &str) -> Option<String> {
    let names = interfaces.lines().filter_map(|line| line.split_once(':'));
    let names = names.map(|(name, _)| name.trim());
    let fitting = names.filter(|name| name.starts_with(prefix));
    fitting.min().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pattern_is_the_first_interface_by_name() {
        let interfaces =
            "Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets
    lo:  100       1    0    0    0     0          0         0      100       1
 wwan1:    0       0    0    0    0     0          0         0        0       0
 wwan0:    0       0    0    0    0     0          0         0        0       0
";
        assert_eq!(first(interfaces, "wwan").as_deref(), Some("wwan0"));
        assert_eq!(first(interfaces, "lo").as_deref(), Some("lo"));
        assert_eq!(first(interfaces, "eth"), None);
        assert_eq!(existing("lo*").unwrap(), "lo");
        assert_eq!(existing("eth0").unwrap(), "eth0");
        let missing = existing("no-such-*").unwrap_err();
        assert_eq!(
            missing.raw_os_error(),
            Some(rustix::io::Errno::NODEV.raw_os_error())
        );
    }
}
