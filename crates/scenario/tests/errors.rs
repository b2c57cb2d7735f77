//! Exact messages of all scenario errors, as snapshots in `tests/snapshots/`; `INSTA_UPDATE=always`
//! rewrites them for review.

mod reading;

use reading::{LINK, TWO_LINKS, errors, read};

macro_rules! snapshot {
    ($($arguments:tt)*) => {
        insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!($($arguments)*)
        })
    };
}

/// Each text after `before`, with its errors below.
#[track_caller]
fn table(before: &str, texts: &[&str]) -> String {
    let rows = texts.iter().map(|text| {
        let said = errors(&format!("{before}{text}")).replace('\n', "\n    ");
        format!("{text}\n    {said}\n")
    });
    rows.collect()
}

#[test]
fn all_errors_of_a_file_are_shown_at_once() {
    let text = r#"duration = "10"
warmup = "5 s"
colour = "red"

[[link]]
name = "wifi"
rate = "20 Mbps"
dealy = "5 ms"

[transport]
scheduler = "min_rtt"
"#;
    snapshot!(table("", &[text]));
}

#[test]
fn in_no_file_at_all() {
    let too_long_a_name = format!("[[link]]\nname = '{}'\nrate = '1mbit'", "a".repeat(65));
    let too_deep = format!("a = {}", "[".repeat(200));
    snapshot!(table(
        "",
        &[
            "title = 'nothing'",
            "link = []",
            "link = 5",
            "link = [5]",
            "[link]\nname = 'a'",
            "[[link]]\nrate = '1mbit'",
            "[[link]]\nname = ''\nrate = '1mbit'",
            "[[link]]\nname = 'a/b'\nrate = '1mbit'",
            "[[link]]\nname = 'a.b'\nrate = '1mbit'",
            "[[link]]\nname = '*'\nrate = '1mbit'",
            "[[link]]\nname = 5\nrate = '1mbit'",
            &too_long_a_name,
            "title = \"a\"\nlink = [\n",
            "title = \"a\"\ntitle = \"b\"",
            "just words",
            "a = 99999999999999999999",
            &too_deep,
        ]
    ));
}

#[test]
fn at_the_top() {
    let before = format!("{LINK}[link.reverse]\n");
    snapshot!(table(&before, &["[transprot]", "[colour]"]));
    let swapped = |line: &str| format!("{line}\n{LINK}");
    let said = [
        "transport = 'tcp'",
        "title = 1979-05-27",
        "duration = '0 s'",
        "duration = '999999 h'",
        "duration = 30",
        "duration = '5 s'\nwarmup = '5 s'",
    ];
    let said = said.map(|line| format!("{line}\n    {}\n", errors(&swapped(line))));
    snapshot!("at_the_top_first_lines", said.concat());
}

#[test]
fn in_rates_and_traces() {
    snapshot!(table(
        "[[link]]\nname = 'a'\n",
        &[
            "",
            "rate = '20 Mbps'",
            "rate = '0 Mbit/s'",
            "rate = '-1 Mbit/s'",
            "rate = 20",
            "rate = ''",
            "rate = 'fast'",
            "rate = '200000 Gbit/s'",
            "rate = '99999999999999999999999 bit/s'",
            "rate = '1mbit'\ntrace = 'good.trace'",
            "rate = '1mbit'\nreverse = { rate = '1mbit', trace = 'good.trace' }",
            "trace = 'absent.trace'",
            "trace = 'bad.trace'",
            "trace = 'down.trace'",
            "trace = 'empty.trace'",
            "trace = ''",
        ]
    ));
}

#[test]
fn in_links() {
    snapshot!(table(
        LINK,
        &[
            "dealy = '5 ms'",
            "colour = 'red'",
            "[[link]]\nname = 'a'\nrate = '1mbit'",
            "jitter = '11 ms'",
            "jitter = { amount = '11 ms' }",
            "jitter = { reorder = true }",
            "jitter = { amount = '1 ms', trace = 'good.delays' }",
            "jitter = { trace = 'absent.delays' }",
            "jitter = { trace = 'good.trace' }",
            "jitter = '5 ms'\nreverse = { delay = '1 ms' }",
            "slot = { least = '5 ms' }",
            "slot = { most = '5 ms', least = '6 ms' }",
            "loss = '120 %'",
            "loss = '-1 %'",
            "loss = '1'",
            "loss = 2",
            "loss = 0.5",
            "loss = 1",
            "loss = '0.001'",
            "loss = { model = 'gilbert-elliott', p = '1 %', r = 0.3 }",
            "loss = -1",
            "loss = 1.5",
            "loss = nan",
            "loss = { model = 'gilbert', p = '10 %' }",
            "loss = { p = '10 %', r = '20 %' }",
            "loss = { model = 'gilbert-elliott', p = '10 %', r = '200 %' }",
            "loss = { model = 'gilbert-elliott' }",
            "queue = '5'",
            "queue = '1.5 packets'",
            "queue = '64k'",
            "queue = '-1 bdp'",
            "queue = '2000000000 packets'",
            "queue = '9999999 bdp'",
            "queue = true",
            "cost = -1",
            "cost = inf",
            "cost = 1e308",
            "cost = '1'",
            "reverse = '5 ms'",
            "reverse = { delay = '25 h' }",
            "reverse = { cost = 1 }",
            "down = [['5 s', '4 s']]",
            "down = [['1 s', '5 s'], ['4 s', '6 s']]",
            "down = ['5 s']",
            "down = [['1 s', '2 s', '3 s']]",
            "down = [['1 s', '2']]",
        ]
    ));
}

#[test]
fn in_paths() {
    snapshot!(table(
        TWO_LINKS,
        &[
            "[[path]]\nname = 'p'",
            "[[path]]\nhops = ['wifi']",
            "[[path]]\nname = 'p'\nhops = ['wify']",
            "[[path]]\nname = 'p'\nhops = []",
            "[[path]]\nname = 'p'\nhops = 'wifi'",
            "[[path]]\nname = 'p'\nhops = ['wifi', 'wifi']",
            "[[path]]\nname = 'p'\nhops = ['wifi']\n[[path]]\nname = 'p'\nhops = ['lte']",
            "[[path]]\nname = 'home'\nhops = ['wifi', 'lte']\n[transport]\npaths = ['hone']",
        ]
    ));
}

#[test]
fn in_transport() {
    let before = format!("{TWO_LINKS}[transport]\n");
    snapshot!(table(
        &before,
        &[
            "recieve_buffer = '4 MiB'",
            "protocol = 'mtcp'",
            "congestion = 'bbr'",
            "scheduler = 'min_rtt'",
            "reordering = 'ncr'",
            "profile = 'rfc'\nreordering = 'ncr'\nsack = false",
            "profile = 'rfc'\nreordering = { name = 'ncr', aggressive = 1 }",
            "protocol = 'tcp'\ncongestion = 'lia'",
            "protocol = 'striped-tcp'\ncongestion = 'uncoupled'",
            "protocol = 'striped-tcp'\nscheduler = 'min-rtt'",
            "protocol = 'aggregation'\nscheduler = 'linux'",
            "protocol = 'striped-tcp'\nscheduler = 'blest'",
            "protocol = 'striped-tcp'\nscheduler = 'redundant'",
            "protocol = 'aggregation'\ncongestion = 'lia'",
            "protocol = 'mptcp'\nscheduler = 'earliest-arrival'",
            "protocol = 'mptcp'\nnotsent_lowat = '16 KiB'",
            "protocol = 'mptcp'\nheader = '8 B'",
            "protocol = 'aggregation'\nheader = '0 B'",
            "protocol = 'mptcp'\nwait_for_subflows = true",
            "protocol = 'aggregation'\nsend_buffer = '50'",
            "protocol = 'aggregation'\nsend_buffer = '1.5 packets'",
            "protocol = 'aggregation'\nsend_buffer = '0 packets'",
            "protocol = 'aggregation'\nsend_buffer = '100001 packets'",
            "protocol = 'aggregation'\npacket = '2048 B'\nsend_buffer = '2063 B'",
            "protocol = 'aggregation'\npacket = '2048 B'\nmain_buffer = '2047 B'",
            "protocol = 'aggregation'\nmain_buffer = '1 segment'",
            "protocol = 'aggregation'\npacket = '1 packet'",
            "protocol = 'aggregation'\npacket = '63 B'",
            "packet = '2048 B'",
            "protocol = 'tcp'\npaths = ['lte']\nmain_buffer = '150 packets'",
            "send_buffer = '50 packets'",
            "congestion = 'lia'\nsubflow = 'cubic'",
            "segment = '63 B'",
            "segment = '1 MB'",
            "segment = 1448",
            "receive_buffer = '64k'",
            "send_buffer = '1000 B'",
            "initial_window = '10'",
            "initial_window = '0 packets'",
            "initial_window = '0 B'",
            "initial_window = 0",
            "initial_ssthresh = 'infinite'",
            "delayed_ack = 0",
            "delayed_ack = 65",
            "delayed_ack = -1",
            "delayed_ack = 1.5",
            "receive_window_share = 0",
            "receive_window_share = 1.01",
            "sack = 'yes'",
            "min_rto = '-5 ms'",
            "min_rto = 5",
            "min_rto = -5",
            "min_rto = 0.2",
            "min_rto = '0 s'",
            "min_rto = '5 m'",
            "min_rto = ''",
            "min_rto = '1,5 s'",
            "min_rto = '200 s'",
            "max_rto = '1 ms'",
            "paths = ['wifi', 'wifi']",
            "paths = 'wifi'",
            "subflows_per_path = 9",
        ]
    ));
}

#[test]
fn in_traffic() {
    let before = format!("{TWO_LINKS}[traffic]\n");
    snapshot!(table(
        &before,
        &[
            "kind = 'vedio'",
            "kind = 'video'",
            "kind = 'video'\npreset = 'film-29'\nrate = '1mbit'",
            "kind = 'video'\npreset = 'live'",
            "kind = 'video'\npreset = 'live'\ntrace = 'film.txt'\nrate = '1mbit'",
            "kind = 'video'\ntrace = 'film.txt'",
            "kind = 'video'\npreset = 'live'\nrate = '1mbit'\nframe_rate = 0",
            "kind = 'cbr'\nrate = '1mbit'\nbuffer = '1 s'",
            "deadline = '1 s'",
            "kind = 'cbr'",
            "kind = 'cbr'\nrate = '0 bit/s'",
            "kind = 'cbr'\nrate = 'unlimited'",
            "kind = 'poisson'\nrate = '1mbit'\nsize = '1 MB'",
            "rate = '1mbit'",
            "size = '0 B'",
            "kind = 'cbr'\nrate = '100000 Gbit/s'",
            "kind = 'poisson'\nrate = '30mbit'\nmessage = '1 B'",
            "kind = 'cbr'\nrate = '13333mbit'\n[[competitor]]\npath = 'lte'\ncount = 2\ntraffic = { kind = 'poisson', rate = '27gbit' }",
            "kind = 'cbr'\nrate = '13333mbit'\n[[competitor]]\npath = 'lte'\ncount = 2\nstart = '10 s'\ntraffic = { kind = 'poisson', rate = '27gbit' }",
        ]
    ));
}

#[test]
fn clocked_load_is_limited() {
    let of = |traffic: &str| format!("duration = '1000000 s'\n{TWO_LINKS}[traffic]\n{traffic}");
    let right = [
        "kind = 'cbr'\nrate = '800 kbit/s'",
        "kind = 'poisson'\nrate = '100 Gbit/s'\nmessage = '125 MB'",
        "kind = 'video'\npreset = 'live'\nrate = '5 Mbit/s'\nframe_rate = 100",
        "kind = 'request'\nthink = '0 s'\nparallel = 1000",
    ];
    for traffic in right {
        read(&of(traffic));
    }
    snapshot!(
        [
            "kind = 'cbr'\nrate = '801 kbit/s'",
            "kind = 'video'\npreset = 'live'\nrate = '5 Mbit/s'\nframe_rate = 100.1"
        ]
        .map(|traffic| format!("{traffic}\n    {}\n", errors(&of(traffic))))
        .concat()
    );
}

#[test]
fn in_competitors() {
    let before = format!("{TWO_LINKS}[[competitor]]\n");
    snapshot!(table(
        &before,
        &[
            "",
            "path = 'wifi5'",
            "path = 'wifi'\npaths = ['lte']",
            "paths = ['wifi', 'lte']",
            "path = 'wifi'\nprotocol = 'quic'",
            "path = 'wifi'\ndevice = 'tunnel'",
            "protocol = 'aggregation'\ncongestion = 'olia'",
            "protocol = 'striped-tcp'\nscheduler = 'earliest-arrival'",
            "path = 'wifi'\npacket = '2 KiB'",
            "path = 'wifi'\nsize = '1 MB'\ntraffic = { kind = 'cbr', rate = '1mbit' }",
            "path = 'wifi'\ntraffic = { kind = 'cbr', size = '1 MB' }",
            "path = 'wifi'\ncongestion = 'olia'",
            "path = 'wifi'\nsubflow = 'cubic'",
            "path = 'wifi'\ncount = 0",
            "path = 'wifi'\ncount = 60000\n[[competitor]]\npath = 'wifi'\ncount = 60000",
            "path = 'wifi'\n[[competitor]]\nname = 'competitor-1'\npath = 'wifi'",
        ]
    ));
}

#[test]
fn in_flows() {
    let before = format!("{TWO_LINKS}[[flow]]\n");
    snapshot!(table(
        &before,
        &[
            "",
            "name = 'a/b'",
            "name = 'a'\nprotocol = 'tcp'",
            "name = 'a'\nprotocol = 'udp'",
            "name = 'a'\nprotocol = 'udp'\npath = 'lte'\nrack = true\nscheduler = 'ecf'",
            "name = 'a'\nprotocol = 'udp'\npath = 'lte'\ntraffic = { kind = 'cbr', rate = '1mbit', message = '2 kB' }",
            "name = 'a'\nprotocol = 'tcp'\npaths = ['wifi', 'lte']",
            "name = 'a'\npath = 'wifi'\npaths = ['lte']",
            "name = 'a'\npath = 'wan'",
            "name = 'a'\npath = 'wifi'\ncongestion = 'lia'",
            "name = 'a'\nprofil = 'rfc'",
            "name = 'a'\nprotocol = 'aggregation'\nsubflows_per_path = 40",
            "name = 'a'\ntraffic = { kind = 'cbr' }",
            "name = 'a'\ntraffic = { size = '0 B' }",
            "name = 'a'\ntraffic = 'bulk'",
            "name = 'a'\n[[flow]]\nname = 'a'",
            "name = 'a'\n[[competitor]]\nname = 'a'\npath = 'lte'",
            "name = 'measured'\n[traffic]\nsize = '1 MB'",
            "name = 'a'\ncount = 60000\n[[competitor]]\npath = 'wifi'\ncount = 60000",
            "name = 'a'\nmin_rto = '1 s'\nmax_rto = '500 ms'",
            "name = 'a'\nfrom = 'client'",
        ]
    ));
}

const NODES: &str = "[[link]]\nname = 'lan'\nrate = '1mbit'\nfrom = 'phone'\nto = 'router'\n\
    [[link]]\nname = 'wan'\nrate = '1mbit'\nfrom = 'router'\nto = 'server'\n\
    [[link]]\nname = 'lte'\nrate = '1mbit'\nfrom = 'phone'\nto = 'server'\n";

#[test]
fn between_nodes() {
    snapshot!(table(
        NODES,
        &[
            "",
            "[[flow]]\nname = 'a'",
            "[[flow]]\nname = 'a'\nfrom = 'phone'",
            "[[flow]]\nname = 'a'\nto = 'server'",
            "[[flow]]\nname = 'a'\nfrom = 'fone'\nto = 'server'",
            "[[flow]]\nname = 'a'\nfrom = 'server'\nto = 'phone'",
            "[[flow]]\nname = 'a'\nfrom = 'server'\nto = 'server'",
            "[[flow]]\nname = 'a'\nfrom = 'phone'\nto = 'server'\npath = 'lte'",
            "[[path]]\nname = 'p'\nhops = ['wan', 'lan']\n[[flow]]\nname = 'a'",
            "[[link]]\nname = 'x'\nrate = '1mbit'\nfrom = 'phone'\n[transport]\npaths = ['lte']",
            "[[link]]\nname = 'x'\nrate = '1mbit'\nfrom = 'a'\nto = 'a'\n[transport]\npaths = ['lte']",
        ]
    ));
}

#[test]
fn too_many_of_anything() {
    let links: String = (0..65_536)
        .map(|n| format!("[[link]]\nname = '{n}'\nrate = '1mbit'\n"))
        .collect();
    assert_eq!(
        errors(&links),
        "x.toml:1:1: link: must have at most 65535 entries\n\
         x.toml:1:1: transport.paths: must be at most 64 subflows on all paths together"
    );

    let many_paths: String = (0..40)
        .map(|n| format!("[[link]]\nname = '{n}'\nrate = '1mbit'\n"))
        .collect();
    assert_eq!(
        errors(&format!("{many_paths}[transport]\nsubflows_per_path = 2")),
        "x.toml:122:21: transport.subflows_per_path = 2: must be at most 64 subflows on all paths together"
    );

    let wrong: String = (0..5_000).map(|n| format!("key{n} = 1\n")).collect();
    let said = errors(&format!("{wrong}{LINK}"));
    assert_eq!(said.lines().count(), 51);
    assert!(said.ends_with("\n... and 4950 more"), "{said}");
}

#[test]
fn comparison_with_a_wrong_value_is_not_reported() {
    let link = "[[link]]\nname = 'a'\nrate = '1mbit'\n";
    for (file, wrong) in [
        (format!("duration = 3\nwarmup = '20 s'\n{link}"), "duration"),
        (format!("duration = '1 ms'\nwarmup = 3\n{link}"), "warmup"),
        (format!("{link}delay = 3\njitter = '2 ms'"), "link.a.delay"),
        (
            format!("{link}delay = 3\nreverse = {{ jitter = '2 ms' }}"),
            "link.a.delay",
        ),
        (
            format!("{link}reverse = {{ delay = 3, jitter = '2 ms' }}"),
            "link.a.reverse.delay",
        ),
        (
            format!("{link}slot = {{ most = 3, least = '6 ms' }}"),
            "link.a.slot.most",
        ),
        (
            format!("{link}[transport]\nmin_rto = '200 s'\nmax_rto = 3"),
            "transport.max_rto",
        ),
        (
            format!("{link}[transport]\nsegment = 3\nsend_buffer = '1 kB'"),
            "transport.segment",
        ),
        (
            format!(
                "{link}[traffic]\nkind = 'chunks'\nrate = '1 Mbit/s'\nbuffer = 3\nbuffer_max = '1 s'"
            ),
            "traffic.buffer",
        ),
    ] {
        let said = errors(&file);
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(
            said.contains(&format!(": {wrong} = 3: must have a unit")),
            "{said}"
        );
    }
}

#[test]
fn in_the_ns3_module() {
    let before = format!("{TWO_LINKS}[transport]\nprofile = 'mptcp-ns3'\n");
    snapshot!(table(
        &before,
        &[
            "protocol = 'tcp'",
            "reordering = 'dsak'",
            "congestion = 'cubic'",
            "congestion = 'olia'",
            "scheduler = 'min-rtt'",
            "reordering = 'linux'",
            "subflow = 'newreno'",
            "sack = true\nmin_rto = '1 s'",
            "[[competitor]]\nprotocol = 'mptcp'\ncongestion = 'balia'",
        ]
    ));
}
