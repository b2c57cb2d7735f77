//! Benchmark scenarios.

/// Benchmark case.
pub struct Case {
    pub key: &'static str,
    pub what: &'static str,
    /// Scenario file without its duration.
    pub scenario: fn() -> String,
    /// Duration in seconds, and bytes of the first flow, if finite.
    pub seconds: f64,
    pub megabytes: Option<f64>,
}

pub const CASES: [Case; 20] = [
    Case {
        key: "a",
        what: "one TCP, 100 Mbit/s 10 ms, queue 100 packets, 200 MB",
        scenario: one_tcp,
        seconds: 60.0,
        megabytes: Some(200.0),
    },
    Case {
        key: "a10",
        what: "the same, 2 GB",
        scenario: one_tcp,
        seconds: 600.0,
        megabytes: Some(2000.0),
    },
    Case {
        key: "b",
        what: "MPTCP with LIA, 100 Mbit/s 10 ms and 50 Mbit/s 30 ms, 200 MB",
        scenario: two_links,
        seconds: 60.0,
        megabytes: Some(200.0),
    },
    Case {
        key: "b10",
        what: "the same, 2 GB",
        scenario: two_links,
        seconds: 600.0,
        megabytes: Some(2000.0),
    },
    Case {
        key: "c",
        what: "1000 TCP flows, 10 Gbit/s 10 ms, 5 s",
        scenario: || flows(1000),
        seconds: 5.0,
        megabytes: None,
    },
    Case {
        key: "c10",
        what: "10 000 TCP flows, 10 Gbit/s 10 ms, 1 s",
        scenario: || flows(10_000),
        seconds: 1.0,
        megabytes: None,
    },
    Case {
        key: "flows10",
        what: "10 TCP flows, 10 Gbit/s 10 ms, 1 s",
        scenario: || flows(10),
        seconds: 1.0,
        megabytes: None,
    },
    Case {
        key: "access",
        what: "1000 TCP flows, each over 20 Mbit/s of its own to 10 Gbit/s, 5 s",
        scenario: access_links,
        seconds: 5.0,
        megabytes: None,
    },
    Case {
        key: "links2",
        what: "2 links of 100 Mbit/s 10 ms, a TCP each, 60 s",
        scenario: || apart(2),
        seconds: 60.0,
        megabytes: None,
    },
    Case {
        key: "links512",
        what: "512 of them, 1 s",
        scenario: || apart(512),
        seconds: 1.0,
        megabytes: None,
    },
    Case {
        key: "eight",
        what: "eight links of a train, MPTCP uncoupled, 30 s",
        scenario: || eight_links("protocol = \"mptcp\""),
        seconds: 30.0,
        megabytes: None,
    },
    Case {
        key: "striped",
        what: "the same, one TCP striped over them",
        scenario: || eight_links("protocol = \"striped-tcp\""),
        seconds: 30.0,
        megabytes: None,
    },
    Case {
        key: "tunnel",
        what: "the same through the tunnel",
        scenario: || eight_links("protocol = \"striped-tcp\"\ndevice = \"tunnel\""),
        seconds: 30.0,
        megabytes: None,
    },
    Case {
        key: "bas",
        what: "the same, bandwidth aggregation above TCP",
        scenario: || eight_links("protocol = \"aggregation\""),
        seconds: 30.0,
        megabytes: None,
    },
    Case {
        key: "bas64",
        what: "64 links of 10 Mbit/s, bandwidth aggregation above TCP, 5 s",
        scenario: || sixty_four_links("protocol = \"aggregation\""),
        seconds: 5.0,
        megabytes: None,
    },
    Case {
        key: "tunnel64",
        what: "the same, one TCP through the tunnel",
        scenario: || sixty_four_links("protocol = \"striped-tcp\"\ndevice = \"tunnel\""),
        seconds: 5.0,
        megabytes: None,
    },
    Case {
        key: "lia64",
        what: "the same, MPTCP with LIA",
        scenario: || sixty_four_links("protocol = \"mptcp\"\ncongestion = \"lia\""),
        seconds: 5.0,
        megabytes: None,
    },
    Case {
        key: "pair",
        what: "two radios of 802.11b, datagrams of 1000 bytes, 1000 s",
        scenario: || cell(1),
        seconds: 1000.0,
        megabytes: None,
    },
    Case {
        key: "cell",
        what: "ten that all send to an eleventh, 500 s",
        scenario: || cell(10),
        seconds: 500.0,
        megabytes: None,
    },
    Case {
        key: "mesh",
        what: "32 radios in rows of eight, two routes of seven hops, 200 s",
        scenario: mesh,
        seconds: 200.0,
        megabytes: None,
    },
];

fn one_tcp() -> String {
    link("link", 100.0, 10.0, "queue = \"100 packets\"") + "[transport]\nprotocol = \"tcp\"\n"
}

fn two_links() -> String {
    link("fast", 100.0, 10.0, "queue = \"100 packets\"")
        + &link("slow", 50.0, 30.0, "queue = \"100 packets\"")
        + "[transport]\nprotocol = \"mptcp\"\ncongestion = \"lia\"\n"
}

fn flows(count: u32) -> String {
    let others = format!("[[competitor]]\npath = \"link\"\ncount = {}\n", count - 1);
    link("link", 10_000.0, 10.0, "") + "[transport]\nprotocol = \"tcp\"\n" + &others
}

fn access_links() -> String {
    link("access", 20.0, 5.0, "queue = \"100 packets\"\ncount = 1000")
        + &link("trunk", 10_000.0, 5.0, "")
        + "[[path]]\nname = \"up\"\ncount = 1000\nhops = [\"access-*\", \"trunk\"]\n"
        + &each_its_own("up-*", 1000)
}

fn apart(count: u32) -> String {
    link(
        "link",
        100.0,
        10.0,
        &format!("queue = \"100 packets\"\ncount = {count}"),
    ) + &each_its_own("link-*", count)
}

/// TCP flows, each on the next of these paths.
fn each_its_own(paths: &str, count: u32) -> String {
    format!(
        "[[flow]]\nname = \"all\"\nprotocol = \"tcp\"\npaths = [\"{paths}\"]\nin_turn = true\ncount = {count}\n"
    )
}

/// Links of scenarios/trains/eight-links.toml: Mbit/s in each direction, and milliseconds.
fn eight_links(transport: &str) -> String {
    let links = [
        (35.9, 9.0, 20.0),
        (18.4, 4.6, 25.0),
        (33.3, 8.3, 30.0),
        (14.7, 3.7, 40.0),
        (14.8, 3.7, 35.0),
        (4.4, 1.1, 60.0),
        (22.5, 5.6, 22.5),
        (12.5, 3.1, 27.5),
    ];
    let links = links
        .iter()
        .enumerate()
        .map(|(number, (rate, back, delay))| {
            let reverse = format!("reverse = {{ rate = \"{back} Mbit/s\" }}");
            link(&number.to_string(), *rate, *delay, &reverse)
        });
    links.collect::<String>() + &format!("[transport]\n{transport}\n")
}

/// Delays of 5 to 68 ms.
fn sixty_four_links(transport: &str) -> String {
    let links = (0..64).map(|number| link(&number.to_string(), 10.0, f64::from(5 + number), ""));
    links.collect::<String>() + &format!("[transport]\n{transport}\n")
}

fn link(name: &str, mbps: f64, delay_ms: f64, more: &str) -> String {
    format!(
        "[[link]]\nname = \"{name}\"\nrate = \"{mbps} Mbit/s\"\ndelay = \"{delay_ms} ms\"\n{more}\n"
    )
}

const AIR: &str = "[wifi]\nrate = \"11 Mbit/s\"\nprofile = \"ns-3\"\n[[channel]]\nname = \"air\"\n";

/// Senders of datagrams around one receiver, at a distance of 1 m.
fn cell(senders: usize) -> String {
    let mut text = AIR.to_owned() + &node("n0", 0.0, 0.0);
    for number in 1..=senders {
        let angle = std::f64::consts::TAU * number as f64 / senders as f64;
        let name = format!("n{number}");
        text += &node(&name, angle.cos(), angle.sin());
        text += &datagrams(number, &[name, "n0".to_owned()]);
    }
    text
}

/// Four rows 14 m apart, with a range of 25 m; one route along the first row, one along the last.
fn mesh() -> String {
    let mut text = AIR.to_owned() + "propagation = { model = \"range\", range = \"25 m\" }\n";
    for number in 0..32 {
        let (x, y) = (number % 8, number / 8);
        text += &node(
            &format!("n{number}"),
            14.0 * f64::from(x),
            14.0 * f64::from(y),
        );
    }
    for first in [0, 24] {
        let way: Vec<String> = (first..first + 8).map(|node| format!("n{node}")).collect();
        text += &datagrams(first, &way);
    }
    text
}

fn node(name: &str, x: f64, y: f64) -> String {
    format!("[[node]]\nname = \"{name}\"\nat = [\"{x:.3} m\", \"{y:.3} m\"]\nradios = [\"air\"]\n")
}

fn datagrams(number: usize, nodes: &[String]) -> String {
    format!(
        "[[path]]\nname = \"p{number}\"\nnodes = {nodes:?}\nchannel = \"air\"\n\
         [[flow]]\nname = \"f{number}\"\nprotocol = \"udp\"\npath = \"p{number}\"\nsegment = \"1000 B\"\n"
    )
}
