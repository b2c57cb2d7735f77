//! CPU time that a hypervisor took from this machine (steal).

use std::fs;

use ropewalk_quantities::Time;

/// The unit of /proc/stat, which for user space is 100 Hz on every architecture (`USER_HZ`, proc_stat(5)).
const TICK: Time = Time::from_millis(10);

/// The steal time of all processors together since the machine started; `None` if the kernel does not report
/// it.
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
