//! Processor time that a hypervisor kept from this machine.

use std::fs;

use ropewalk_quantities::Time;

/// The unit of /proc/stat on every architecture that has a clock of 100 Hz for its users
/// (`USER_HZ`, proc_stat(5)).
const TICK: Time = Time::from_millis(10);

/// What has been kept from this machine's processors since it started, all of them together;
/// `None` where the kernel does not tell.
pub(crate) fn stolen() -> Option<Time> {
    parse(&fs::read_to_string("/proc/stat").ok()?)
}

/// After the name: user, nice, system, idle, iowait, irq, softirq, steal.
fn parse(text: &str) -> Option<Time> {
    let all = text.lines().find(|line| line.starts_with("cpu "))?;
    let ticks: u64 = all.split_whitespace().nth(8)?.parse().ok()?;
    Some(Time::from_nanos(ticks * TICK.as_nanos()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_eighth_column_of_all_processors() {
        let text = "cpu  10 20 30 40 50 60 70 80 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\n";
        assert_eq!(parse(text), Some(Time::from_millis(800)));
        assert_eq!(parse("cpu  10 20\n"), None);
    }
}
