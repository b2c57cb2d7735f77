//! Defaults of a scenario, and effects of single keys.

mod reading;

use reading::{LINK, TWO_LINKS, read};
use ropewalk_network::{Capacity, Jitter, Loss, Outage, QueueLimit};
use ropewalk_quantities::{Bytes, Rate, Time};
use ropewalk_scenario::{
    Aggregation, Device, Flow, FlowOrigin, Frames, Path, Preset, Protocol, Spacing, Traffic, Video,
};
use ropewalk_striping::tunnel::Scheduler;
use ropewalk_transport::{Config, InitialWindow, Profile};

#[test]
fn a_link_is_enough() {
    let scenario = read("[[link]]\nname = 'a'\nrate = '1mbit'");
    assert_eq!(scenario.title, "x");
    assert_eq!(scenario.duration, Time::from_secs(30));
    assert_eq!(scenario.warmup, Time::ZERO);
    let link = &scenario.links[0];
    assert_eq!(link.forward, link.reverse);
    assert_eq!(
        link.forward.capacity,
        Capacity::Rate(Rate::from_bps(1_000_000))
    );
    assert_eq!(link.forward.delay, Time::ZERO);
    assert_eq!(link.forward.jitter, None);
    assert_eq!(link.forward.loss, Loss::None);
    assert_eq!(link.forward.queue, QueueLimit::Bdp(1.0));
    assert_eq!(link.cost, None);
    assert_eq!(link.down, []);
    assert_eq!(
        scenario.paths,
        [Path {
            name: "a".to_owned(),
            hops: vec![0]
        }]
    );
    let linux = Config::profile(Profile::Linux);
    assert_eq!(scenario.flows.len(), 1);
    let flow = scenario.measured_flow();
    assert_eq!(flow.protocol, Protocol::Tcp);
    assert_eq!(
        flow.transport,
        Config {
            multipath: false,
            ..linux
        }
    );
    assert_eq!(flow.traffic, Traffic::Bulk { size: None });
}

#[test]
fn zero_bdp_queue_warns() {
    let scenario = read("[[link]]\nname = 'a'\nrate = '1mbit'");
    assert_eq!(
        scenario.warnings,
        [
            "link.a.queue: 1 bdp is less than a packet, since 1 Mbit/s times a round trip of 0 s is 0 B; \
          a queue in packets (such as \"100 packets\") is safer"
        ]
    );
    assert!(read(LINK).warnings.is_empty());
}

#[test]
fn several_paths_make_mptcp() {
    let scenario = read(TWO_LINKS);
    assert_eq!(scenario.measured_flow().protocol, Protocol::Mptcp);
    assert_eq!(scenario.measured_flow().paths, [0, 1]);
    assert!(scenario.warnings.is_empty());
}

#[test]
fn stripes_are_laid_in_turn() {
    let striped = format!("{TWO_LINKS}[transport]\nprotocol = 'striped-tcp'\n");
    let device = |more: &str| {
        let scenario = read(&format!("{striped}{more}"));
        let Protocol::StripedTcp(device) = scenario.measured_flow().protocol else {
            panic!("{scenario:?}")
        };
        let segment = scenario.measured_flow().transport.segment.as_u64();
        (device.kind, device.scheduler, segment)
    };
    assert_eq!(device(""), (Device::Naive, Scheduler::RoundRobin, 1420));
    assert_eq!(
        device("scheduler = 'weighted'"),
        (Device::Naive, Scheduler::Weighted, 1420)
    );
    let tunnel = "device = 'tunnel'\n";
    assert_eq!(
        device(tunnel),
        (Device::Tunnel, Scheduler::EarliestArrival, 1380)
    );
    assert_eq!(
        device(&format!("{tunnel}scheduler = 'round-robin'")),
        (Device::Tunnel, Scheduler::RoundRobin, 1380)
    );
}

#[test]
fn tcp_uses_first_path_and_warns() {
    let scenario = read(&format!("{TWO_LINKS}[transport]\nprotocol = 'tcp'"));
    assert_eq!(scenario.measured_flow().paths, [0]);
    assert_eq!(
        scenario.warnings,
        [
            "transport.protocol: tcp uses one path, \"wifi\", and leaves \"lte\"; \
          transport.paths = [\"lte\"] would choose another"
        ]
    );
    let chosen = format!("{TWO_LINKS}[transport]\nprotocol = 'tcp'\npaths = ['lte']");
    assert_eq!(read(&chosen).measured_flow().paths, [1]);
    assert!(read(&chosen).warnings.is_empty());
}

#[test]
fn reverse_direction_defaults_to_forward() {
    let scenario = read(
        "[[link]]\nname = 'a'\nrate = 'unlimited'\ndelay = '10 ms'\njitter = '1 ms'\nloss = '1 %'\n\
         queue = '64 KiB'\nreverse = { trace = 'good.trace', delay = '20 ms', loss = 0.0, \
         jitter = { amount = '2 ms', reorder = true } }",
    );
    let link = &scenario.links[0];
    assert_eq!(link.forward.capacity, Capacity::Unlimited);
    assert_eq!(link.forward.loss, Loss::Bernoulli(0.01));
    let Capacity::Trace(trace) = &link.reverse.capacity else {
        panic!("{link:?}")
    };
    assert_eq!(trace.opportunities_ms, [0, 1, 1, 12]);
    assert_eq!(link.round_trip(), Time::from_millis(30));
    assert_eq!(link.reverse.loss, Loss::None);
    assert_eq!(link.reverse.queue, QueueLimit::Bytes(Bytes::from_kib(64)));
    let amount = Time::from_millis(2);
    assert_eq!(
        link.reverse.jitter,
        Some(Jitter::Uniform {
            amount,
            reorder: true
        })
    );
}

#[test]
fn recorded_delays_apply_both_ways_unless_reverse_has_its_own_jitter() {
    let recorded = "[[link]]\nname = 'a'\nrate = '1mbit'\ndelay = '1 ms'\njitter = { trace = 'good.delays' }\n";
    let link = &read(recorded).links[0];
    assert_eq!(link.forward, link.reverse);
    assert_eq!(link.round_trip(), Time::from_millis(2));
    let Some(Jitter::Recorded(trace)) = &link.forward.jitter else {
        panic!("{link:?}")
    };
    assert_eq!(trace.at(Time::from_secs(1)), Time::from_millis(48));
    let one_way = read(&format!("{recorded}reverse = {{ jitter = '0 ms' }}"));
    assert_eq!(one_way.links[0].reverse.jitter, None);
    assert_eq!(read(&one_way.to_toml()).links, one_way.links);
}

#[test]
fn linux_3_13_has_its_own_window_share_and_no_rack() {
    let scenario = read(&format!("{LINK}[transport]\nprofile = 'linux-3.13'"));
    let flow = scenario.measured_flow();
    assert_eq!(flow.protocol, Protocol::Tcp);
    assert_eq!(flow.transport.receive_buffer.window_share, 0.5);
    assert!(!flow.transport.loss.rack);
    assert_eq!(
        read(&scenario.to_toml()).measured_flow().transport,
        flow.transport
    );
}

#[test]
fn reverse_rate_replaces_forward_trace() {
    let text =
        "[[link]]\nname = 'a'\ntrace = 'good.trace'\ndelay = '10 ms'\nreverse = { rate = '1mbit' }";
    let link = &read(text).links[0];
    assert!(matches!(link.forward.capacity, Capacity::Trace(_)));
    assert_eq!(
        link.reverse.capacity,
        Capacity::Rate(Rate::from_bps(1_000_000))
    );
}

#[test]
fn gilbert_elliott_defaults_as_netem() {
    let loss = |loss: &str| read(&format!("{LINK}loss = {loss}")).links[0].forward.loss;
    assert_eq!(
        loss("{ model = 'gilbert-elliott', p = '1 %' }"),
        Loss::GilbertElliott {
            p: 0.01,
            r: 0.99,
            h: 0.0,
            k: 1.0
        }
    );
    assert_eq!(
        loss("{ model = 'gilbert-elliott', p = '10 %', r = '30 %', h = '5 %', k = '90 %' }"),
        Loss::GilbertElliott {
            p: 0.1,
            r: 0.3,
            h: 0.05,
            k: 0.9
        }
    );
    assert_eq!(
        loss("{ model = 'bernoulli', p = '0.1%' }"),
        Loss::Bernoulli(0.001)
    );
    assert_eq!(loss("0"), Loss::None);
}

#[test]
fn outages_are_sorted() {
    let text = format!("{LINK}down = [['10 s', '11 s'], ['1 s', '2 s'], ['2 s', '3 s']]");
    let outage = |start, end| Outage {
        start: Time::from_secs(start),
        end: Time::from_secs(end),
    };
    assert_eq!(
        read(&text).links[0].down,
        [outage(1, 2), outage(2, 3), outage(10, 11)]
    );
}

#[test]
fn settings_change_the_profile() {
    let scenario = read(&format!(
        "{TWO_LINKS}[transport]\nprofile = 'rfc'\ncongestion = 'uncoupled'\nsubflow = 'newreno'\n\
         scheduler = 'blest'\nreceive_buffer = '64 KiB'\ninitial_window = '5360 B'\n\
         initial_ssthresh = '100 kB'\nsack = false\ndelayed_ack = 1\nmin_rto = '50 ms'\n\
         receive_window_share = 0.5\nsubflows_per_path = 2"
    ));
    let transport = &scenario.measured_flow().transport;
    assert_eq!(transport.congestion.name(), "uncoupled");
    assert_eq!(transport.receive_buffer.size, Bytes::from_kib(64));
    assert_eq!(
        transport.initial_window,
        InitialWindow::Bytes(Bytes::new(5360))
    );
    assert_eq!(transport.initial_ssthresh, Some(Bytes::new(100_000)));
    assert!(!transport.extensions.sack);
    assert_eq!(transport.receiver.delayed_ack, 1);
    assert_eq!(transport.rto.min, Time::from_millis(50));
    assert_eq!(transport.receive_buffer.window_share, 0.5);
    assert_eq!(transport.subflows.per_path, 2);
    let rfc = Config::profile(Profile::Rfc);
    assert_eq!(transport.rto.max, rfc.rto.max);
    assert_eq!(transport.window.prr, rfc.window.prr);
}

#[test]
fn traffic_kinds() {
    let traffic = |text: &str| {
        read(&format!("{TWO_LINKS}[traffic]\n{text}"))
            .measured_flow()
            .traffic
            .clone()
    };
    let rate = Rate::from_bps(1_000_000);
    assert_eq!(
        traffic("size = '20 MB'"),
        Traffic::Bulk {
            size: Some(Bytes::new(20_000_000))
        }
    );
    assert_eq!(
        traffic("kind = 'cbr'\nrate = '1mbit'"),
        Traffic::Messages {
            deadline: None,
            spacing: Spacing::Constant,
            rate,
            message: Bytes::new(1000)
        }
    );
    assert_eq!(
        traffic("kind = 'poisson'\nrate = '1mbit'\nmessage = '1 kB'"),
        Traffic::Messages {
            deadline: None,
            spacing: Spacing::Exponential,
            rate,
            message: Bytes::new(1000)
        }
    );
    assert_eq!(
        traffic("kind = 'video'\npreset = 'film-38'\nrate = '1mbit'"),
        Traffic::Video(Video {
            frames: Frames::Drawn {
                preset: Preset::Film38,
                rate
            },
            frame_rate: 30.0,
            rate_max: None,
            deadline: Time::from_millis(200),
            buffer: None,
        })
    );
}

/// The example of the design: a competitor on one link of the only path.
#[test]
fn competitor_can_use_single_link() {
    let scenario = read(&format!(
        "{TWO_LINKS}[[path]]\nname = 'home'\nhops = ['wifi', 'lte']\n[[competitor]]\npath = 'lte'"
    ));
    assert_eq!(scenario.measured_flow().paths, [0]);
    assert_eq!(scenario.measured_flow().protocol, Protocol::Tcp);
    let competitor = &scenario.flows[1];
    assert_eq!(competitor.name, "competitor-1");
    assert_eq!(competitor.paths, [1]);
    assert_eq!(scenario.paths[1].name, "lte");
    assert_eq!(scenario.paths[1].hops, [1]);
}

#[test]
fn competitors_inherit_fitting_keys() {
    let scenario = read(&format!(
        "{TWO_LINKS}[transport]\nprofile = 'ns-3'\ncongestion = 'lia'\nsack = false\n\
         [[competitor]]\npath = 'wifi'\ncount = 3\nstart = '40 s'\n[[competitor]]\nprotocol = 'mptcp'"
    ));
    let [_, tcp, mptcp] = scenario.flows.as_slice() else {
        panic!("{scenario:?}")
    };
    assert_eq!(tcp.transport.congestion.name(), "newreno");
    assert_eq!(tcp.protocol, Protocol::Tcp);
    assert!(!tcp.transport.extensions.sack);
    assert_eq!(mptcp.transport.congestion.name(), "lia");
    assert_eq!(mptcp.paths, [0, 1]);
    assert_eq!(
        scenario.warnings,
        ["competitor.competitor-1.start: 40 s is not before the end (30 s); it never sends"]
    );
}

#[test]
fn protocol_bas_is_an_older_name_of_aggregation() {
    let [mut older, current] = ["bas", "aggregation"]
        .map(|name| read(&format!("{TWO_LINKS}[transport]\nprotocol = '{name}'\n")));
    let warning = r#"transport.protocol: "bas" is the older name of "aggregation""#;
    assert_eq!(std::mem::take(&mut older.warnings), [warning]);
    assert_eq!(older, current);
    assert!(current.to_toml().contains("protocol = \"aggregation\""));
    assert_eq!(current.to_json()["transport"]["protocol"], "bas");
}

/// Flows other than competitors inherit nothing and may replace `[transport]` and `[traffic]`.
#[test]
fn flows_inherit_nothing() {
    let flow = "[[flow]]\nname = 'video'\nprotocol = 'aggregation'\nstart = '2 s'\ncount = 3\n\
                traffic = { kind = 'cbr', rate = '1mbit' }\n";
    let alone = read(&format!("{TWO_LINKS}{flow}"));
    assert_eq!(alone.flows.len(), 1);
    let video = alone.measured_flow();
    assert_eq!(
        (video.name.as_str(), video.origin),
        ("video", FlowOrigin::Flow)
    );
    assert_eq!((video.protocol.name(), video.count), ("aggregation", 3));
    assert_eq!(video.start, Time::from_secs(2));
    assert_eq!(video.traffic.kind(), "cbr");
    assert_eq!(video.paths, [0, 1]);
    assert_eq!(
        [video.stream(2), video.key("segment")],
        ["flow/video/2", "flow.video.segment"]
    );

    let beside = read(&format!(
        "{TWO_LINKS}[transport]\nprofile = 'ns-3'\nsack = false\n[[competitor]]\npath = 'wifi'\n{flow}"
    ));
    let names: Vec<&str> = beside.flows.iter().map(|flow| flow.name.as_str()).collect();
    assert_eq!(names, ["measured", "video", "competitor-1"]);
    assert_eq!(beside.flows[1], *video);
    assert_eq!(beside.measured_flow().stream(0), "flow");
    assert_eq!(beside.flows[2].stream(0), "competitor/competitor-1/0");

    for short in ["[transport]\n", "[traffic]\n"] {
        let scenario = read(&format!("{TWO_LINKS}{short}{flow}"));
        assert_eq!(scenario.measured_flow().name, Flow::MEASURED);
    }
}

/// `[transport]` applies to competitors, but not to flows.
#[test]
fn competitors_have_every_protocol_and_traffic() {
    let scenario = read(&format!(
        "{TWO_LINKS}[transport]\nprotocol = 'aggregation'\npacket = '2048 B'\nscheduler = 'blest'\n\
         [[competitor]]\nprotocol = 'aggregation'\ntraffic = {{ kind = 'poisson', rate = '1mbit' }}\n\
         [[competitor]]\nprotocol = 'striped-tcp'\ndevice = 'tunnel'\nsize = '1 MB'\n"
    ));
    let [measured, aggregation, striped] = scenario.flows.as_slice() else {
        panic!("{scenario:?}")
    };
    assert_eq!(aggregation.protocol, measured.protocol);
    assert_eq!(aggregation.transport, measured.transport);
    assert_eq!(aggregation.traffic.kind(), "poisson");
    assert_eq!(striped.protocol.name(), "striped-tcp");
    assert_eq!(striped.transport.segment, Bytes::new(1380));
    let size = Some(Bytes::new(1_000_000));
    assert_eq!(striped.traffic, Traffic::Bulk { size });
    let Protocol::Aggregation(Aggregation { main_buffer, .. }) = measured.protocol else {
        panic!("{measured:?}")
    };
    assert_eq!(main_buffer, Bytes::new(150 * 2048));
}

#[test]
fn dead_link_warns() {
    for (keys, said) in [
        (
            "rate = \"1 Mbit/s\"\nqueue = \"0 packets\"",
            "link.a.queue: 0 packets: nothing may wait while a packet is being sent",
        ),
        (
            "rate = \"1 Mbit/s\"\nqueue = \"1499 B\"",
            "link.a.queue: 1499 B is less than a packet of 1500 B",
        ),
        (
            "rate = \"1 Mbit/s\"\ndelay = \"1 s\"\nreverse = { queue = \"0 packets\" }",
            "link.a.reverse.queue: 0 packets: nothing may wait",
        ),
        (
            "rate = \"1 bit/s\"\nqueue = \"9 packets\"",
            "link.a.rate: 1 bit/s takes 12000 s for a packet of 1500 B, and the run ends after 30 s",
        ),
        (
            "rate = \"1 Mbit/s\"\nqueue = \"9 packets\"\nreverse = { rate = \"399 bit/s\" }",
            "link.a.reverse.rate: 399 bit/s takes",
        ),
    ] {
        let scenario = read(&format!("[[link]]\nname = \"a\"\n{keys}\n"));
        let [warning] = &scenario.warnings[..] else {
            panic!("{keys}: {:?}", scenario.warnings);
        };
        assert!(warning.starts_with(said), "{warning}");
    }
    for keys in [
        "rate = \"1 Mbit/s\"\nqueue = \"1 packets\"",
        "rate = \"1 Mbit/s\"\nqueue = \"1500 B\"",
        "rate = \"unlimited\"\nqueue = \"0 packets\"",
        "rate = \"400 bit/s\"\nqueue = \"1 packets\"",
    ] {
        let scenario = read(&format!("[[link]]\nname = \"a\"\n{keys}\n"));
        assert!(
            scenario.warnings.is_empty(),
            "{keys}: {:?}",
            scenario.warnings
        );
    }
}

#[test]
fn flow_between_nodes_uses_link_disjoint_paths() {
    let links = [
        ("lan", "phone", "router"),
        ("wan", "router", "server"),
        ("lte", "phone", "server"),
    ];
    let mut text = String::new();
    for (name, from, to) in links {
        text +=
            &format!("[[link]]\nname = '{name}'\nrate = '1mbit'\nfrom = '{from}'\nto = '{to}'\n");
    }
    text += "[[flow]]\nname = 'video'\nfrom = 'phone'\nto = 'server'\n";
    text += "[[flow]]\nname = 'web'\nprotocol = 'tcp'\nfrom = 'phone'\nto = 'server'\n";
    text += "[[flow]]\nname = 'home'\nfrom = 'phone'\nto = 'router'\n";
    let scenario = read(&text);
    let [video, web, home] = &scenario.flows[..] else {
        panic!("three flows");
    };
    assert_eq!(video.protocol, Protocol::Mptcp);
    assert_eq!([&web.protocol, &home.protocol], [&Protocol::Tcp; 2]);
    let hops = |flow: &Flow| -> Vec<Vec<usize>> {
        let paths = flow.paths.iter();
        paths
            .map(|path| scenario.paths[*path].hops.clone())
            .collect()
    };
    assert_eq!(hops(video), [vec![2], vec![0, 1]]);
    assert_eq!(hops(web), [vec![2]]);
    assert_eq!(hops(home), [vec![0]]);
    let name = |flow: &Flow, at: usize| scenario.paths[flow.paths[at]].name.clone();
    assert_eq!([name(video, 0), name(video, 1)], ["lte", "phone-server"]);
    let again = read(&scenario.to_toml());
    assert_eq!(again.flows, scenario.flows);
    assert_eq!(again.links, scenario.links);
}

#[test]
fn mptcp_ns3_warns_and_round_trips() {
    let text = format!(
        "{TWO_LINKS}[transport]\nprofile = 'mptcp-ns3'\nreordering = 'tcp-door'\ncongestion = 'lia'\n\
         [[competitor]]\nprotocol = 'mptcp'\n[[competitor]]\nprotocol = 'tcp'\npath = 'lte'\n"
    );
    let scenario = read(&text);
    assert_eq!(scenario.measured_flow().protocol, Protocol::MptcpNs3);
    assert_eq!(
        scenario.measured_flow().transport.reordering.name(),
        "tcp-door"
    );
    assert_eq!(scenario.measured_flow().subflows(), 2);
    assert_eq!(scenario.flows[1].protocol, scenario.flows[0].protocol);
    assert_eq!(scenario.flows[2].protocol, Protocol::Tcp);
    let warned = |key: &str| {
        let mut warnings = scenario.warnings.iter();
        warnings.any(|text| text.starts_with(key) && text.contains("not RFC 8684"))
    };
    assert!(warned("transport.protocol"), "{:?}", scenario.warnings);
    assert!(warned("competitor.competitor-1.protocol"));
    assert!(!warned("competitor.competitor-2"));
    let again = read(&scenario.to_toml());
    assert_eq!(again.flows, scenario.flows);
    let one = read(&format!("{LINK}[transport]\nprofile = 'mptcp-ns3'\n"));
    assert_eq!(one.measured_flow().protocol, Protocol::MptcpNs3);
    assert_eq!(one.measured_flow().transport.reordering.name(), "none");
}
