//! Kernel counters of a network namespace, before and after a run.
//!
//! Names are nstat's: `TcpRetransSegs`, `TcpExtTCPTimeouts`, `MPTcpExtMPJoinSynTx`. The kernel
//! documents them in Documentation/networking/snmp_counter.rst and net/mptcp/mib.h.

use std::collections::BTreeMap;
use std::fs;
use std::io;

const GROUPS: [&str; 4] = ["Tcp", "TcpExt", "MPTcpExt", "Udp"];

/// Gauges and settings, whose differences have no meaning.
const GAUGES: [&str; 6] = [
    "TcpRtoAlgorithm",
    "TcpRtoMin",
    "TcpRtoMax",
    "TcpMaxConn",
    "TcpCurrEstab",
    "MPTcpExtMPCurrEstab",
];

/// All counters at one time, by nstat's name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters(BTreeMap<String, i64>);

impl Counters {
    /// Reads the counters of the calling thread's network namespace. Fails if /proc is not mounted,
    /// or a file does not have the format of proc(5).
    pub fn read() -> Result<Counters, CountersError> {
        let mut counters = Counters::default();
        for file in [
            "/proc/thread-self/net/snmp",
            "/proc/thread-self/net/netstat",
        ] {
            let text =
                fs::read_to_string(file).map_err(|source| CountersError::Read { file, source })?;
            counters
                .parse(&text)
                .map_err(|line| CountersError::Parse { file, line })?;
        }
        Ok(counters)
    }

    /// Increase of each counter since `before`; zeros are left out.
    pub fn since(&self, before: &Counters) -> BTreeMap<String, u64> {
        let increase = |(name, &value): (&String, &i64)| {
            let increase = value - before.0.get(name).copied().unwrap_or(0);
            let counts = increase > 0 && !GAUGES.contains(&name.as_str());
            counts.then(|| (name.clone(), increase as u64))
        };
        self.0.iter().filter_map(increase).collect()
    }

    /// The counter with this name, if the kernel has it.
    pub fn get(&self, name: &str) -> Option<i64> {
        self.0.get(name).copied()
    }

    /// Parses pairs of lines, names above values, each beginning with the group and a colon. The
    /// error is the number of the first malformed line.
    fn parse(&mut self, text: &str) -> Result<(), usize> {
        let lines: Vec<&str> = text.lines().collect();
        for (pair, lines) in lines.chunks(2).enumerate() {
            let number = 2 * pair + 1;
            let &[names, values] = lines else {
                return Err(number);
            };
            let (group, names) = names.split_once(':').ok_or(number)?;
            let (same, values) = values.split_once(':').ok_or(number + 1)?;
            if !GROUPS.contains(&group) {
                continue;
            }
            let (mut names, mut values) = (names.split_whitespace(), values.split_whitespace());
            if same != group || names.clone().count() != values.clone().count() {
                return Err(number + 1);
            }
            while let (Some(name), Some(value)) = (names.next(), values.next()) {
                let value = value.parse().map_err(|_| number + 1)?;
                self.0.insert(format!("{group}{name}"), value);
            }
        }
        Ok(())
    }
}

/// Error of reading the kernel's counters.
#[derive(Debug, thiserror::Error)]
pub enum CountersError {
    /// The file cannot be read.
    #[error("cannot read {file}")]
    Read {
        /// File in /proc.
        file: &'static str,
        /// System error.
        source: io::Error,
    },
    /// The file is not pairs of names and values.
    #[error("{file}:{line}: not a line of counters")]
    Parse {
        /// File in /proc.
        file: &'static str,
        /// Line number, counted from 1.
        line: usize,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "\
Ip: Forwarding DefaultTTL
Ip: 1 64
Tcp: RtoAlgorithm MaxConn ActiveOpens CurrEstab RetransSegs
Tcp: 1 -1 3 0 7
";
    const AFTER: &str = "\
Tcp: RtoAlgorithm MaxConn ActiveOpens CurrEstab RetransSegs
Tcp: 1 -1 4 1 7
MPTcpExt: MPCapableSYNTX MPJoinSynTx
MPTcpExt: 1 2
";

    fn counters(text: &str) -> Counters {
        let mut counters = Counters::default();
        counters.parse(text).unwrap();
        counters
    }

    #[test]
    fn names_are_nstats() {
        let counters = counters(BEFORE);
        assert_eq!(counters.get("TcpRetransSegs"), Some(7));
        assert_eq!(counters.get("TcpMaxConn"), Some(-1));
        assert_eq!(counters.get("IpForwarding"), None);
    }

    #[test]
    fn differences_exclude_gauges() {
        let increase = counters(AFTER).since(&counters(BEFORE));
        let expected = [
            ("MPTcpExtMPCapableSYNTX", 1),
            ("MPTcpExtMPJoinSynTx", 2),
            ("TcpActiveOpens", 1),
        ];
        assert_eq!(
            increase,
            expected
                .map(|(name, increase)| (name.to_owned(), increase))
                .into()
        );
    }

    #[test]
    fn malformed_counters_error_has_line() {
        for (text, line) in [
            ("Tcp: A B\nTcp: 1\n", 2),
            ("Tcp: A\nTcpExt: 1\n", 2),
            ("Tcp: A\nTcp: x\n", 2),
            ("Ip: A\nIp: 1\nTcp: A\n", 3),
            ("nothing\nhere\n", 1),
        ] {
            assert_eq!(Counters::default().parse(text), Err(line), "{text:?}");
        }
    }

    #[test]
    fn kernel_has_tcp_counters() {
        let counters = Counters::read().unwrap();
        assert!(counters.get("TcpActiveOpens").is_some());
        assert!(counters.get("TcpExtTCPTimeouts").is_some());
        assert_eq!(counters.since(&counters), BTreeMap::new());
    }
}
