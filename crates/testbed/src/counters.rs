//! The kernel's counters of a network namespace, before and after a run.
//!
//! Names are those of nstat: `TcpRetransSegs`, `TcpExtTCPTimeouts`, `MPTcpExtMPJoinSynTx`. What each
//! counts: Documentation/networking/snmp_counter.rst and net/mptcp/mib.h of the kernel.

use std::collections::BTreeMap;
use std::fs;
use std::io;

/// Groups of counters that a transport has a part in.
const GROUPS: [&str; 4] = ["Tcp", "TcpExt", "MPTcpExt", "Udp"];

/// States and settings among the counters: a difference of them tells nothing.
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
    /// Those of the network namespace that the calling thread is in.
    ///
    /// # Errors
    /// /proc is not mounted, or what stands there is not of the form that proc(5) tells.
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

    /// How much each has grown since then; those that have not are left out.
    pub fn since(&self, before: &Counters) -> BTreeMap<String, u64> {
        let grown = |(name, &value): (&String, &i64)| {
            let grown = value - before.0.get(name).copied().unwrap_or(0);
            let counts = grown > 0 && !GAUGES.contains(&name.as_str());
            counts.then(|| (name.clone(), grown as u64))
        };
        self.0.iter().filter_map(grown).collect()
    }

    /// The counter of that name; `None` where the kernel has none.
    pub fn get(&self, name: &str) -> Option<i64> {
        self.0.get(name).copied()
    }

    /// Pairs of lines, names above values, each led by the group and a colon; the number of the
    /// first line that is not so is the error.
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

/// The kernel's counters cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CountersError {
    /// The file cannot be read.
    #[error("cannot read {file}")]
    Read {
        /// Where the kernel shows its counters.
        file: &'static str,
        /// What the system says.
        source: io::Error,
    },
    /// The file is not pairs of names and values.
    #[error("{file}:{line}: not a line of counters")]
    Parse {
        /// Where the kernel shows its counters.
        file: &'static str,
        /// Counts from one.
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
    fn what_has_grown_is_told_but_not_states() {
        let grown = counters(AFTER).since(&counters(BEFORE));
        let expected = [
            ("MPTcpExtMPCapableSYNTX", 1),
            ("MPTcpExtMPJoinSynTx", 2),
            ("TcpActiveOpens", 1),
        ];
        assert_eq!(
            grown,
            expected
                .map(|(name, grown)| (name.to_owned(), grown))
                .into()
        );
    }

    #[test]
    fn what_is_not_counters_is_an_error_with_its_line() {
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
    fn this_kernel_has_those_of_tcp() {
        let counters = Counters::read().unwrap();
        assert!(counters.get("TcpActiveOpens").is_some());
        assert!(counters.get("TcpExtTCPTimeouts").is_some());
        assert_eq!(counters.since(&counters), BTreeMap::new());
    }
}
