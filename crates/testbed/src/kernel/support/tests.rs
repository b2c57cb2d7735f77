use super::*;
use crate::kernel::tests::scenario;
use crate::testing::{self, two_links};

#[test]
fn linux_settings_are_supported() {
    for transport in [
        "",
        "protocol = \"tcp\"",
        "protocol = \"udp\"",
        "protocol = \"udp\"\nsegment = \"100 B\"\n[traffic]\nkind = \"cbr\"\nrate = \"64 kbit/s\"\nmessage = \"8 B\"",
        "congestion = \"uncoupled\"\nsubflow = \"newreno\"",
        "initial_window = \"4 packets\"\nmin_rto = \"1 s\"\ndelayed_ack = 1",
        "sack = false\ntimestamps = false\nip_version = \"ipv6\"",
        "reordering = \"none\"\nsack = false\ntimestamps = false",
    ] {
        check(&scenario(transport)).unwrap();
    }
}

#[test]
fn unsupported_setting_error_is_one_line() {
    for (transport, line) in [
        (
            "profile = \"ns-3\"",
            "transport.profile = \"ns-3\": the kernel is Linux; allowed here: \"linux\"",
        ),
        (
            "scheduler = \"blest\"",
            "transport.scheduler = \"blest\": the kernel's MPTCP has one scheduler, its own; allowed here: \"linux\"",
        ),
        (
            "scheduler = \"min-rtt\"",
            "transport.scheduler = \"min-rtt\": the kernel's MPTCP has one scheduler, its own; allowed here: \"linux\"",
        ),
        (
            "congestion = \"olia\"",
            "transport.congestion = \"olia\": the kernel's MPTCP couples no subflows; allowed here: \"cubic\", \"newreno\", \"uncoupled\"",
        ),
        (
            "prr = false",
            "transport.prr = false: the kernel has no such setting; allowed here: true",
        ),
        (
            "reordering = \"eifel\"",
            "transport.reordering = \"eifel\": the kernel has no such setting; allowed here: \"linux\"",
        ),
        (
            "protocol = \"aggregation\"\nnotsent_lowat = \"16 KiB\"",
            "transport.notsent_lowat = \"16 KiB\": the gateway lets about two frames wait; allowed here: the key left out",
        ),
        (
            "protocol = \"aggregation\"\nheader = \"8 B\"",
            "transport.header = \"8 B\": the gateway's data frames have its own header; allowed here: \"16 B\"",
        ),
        (
            "protocol = \"striped-tcp\"\nscheduler = \"weighted\"",
            "transport.scheduler = \"weighted\": the naive device of the testbed does not know the links' rates; allowed here: \"round-robin\"",
        ),
        (
            "subflows_per_path = 5",
            "transport.subflows_per_path = 5: 10 subflows, and the kernel adds at most 8 to the first; allowed here: 9 subflows",
        ),
        (
            "protocol = \"udp\"\n[traffic]\nkind = \"cbr\"\nrate = \"64 kbit/s\"\nmessage = \"7 B\"",
            "traffic.message = \"7 B\": a datagram of the testbed contains its number; allowed here: \"8 B\" or more",
        ),
        (
            "protocol = \"udp\"\nsegment = \"64 B\"",
            "transport.segment = \"64 B\": packets would have 92 bytes; allowed here: \"100 B\" to \"65507 B\"",
        ),
        (
            "protocol = \"udp\"\n[[competitor]]\npath = \"a\"",
            "transport.protocol = \"udp\": a bulk sender of datagrams does not see the rate of other flows at its first link; allowed here: traffic of kind \"cbr\" or \"poisson\", or no other flow",
        ),
        (
            "delayed_ack = 4",
            "transport.delayed_ack = 4: the kernel has no such setting; allowed here: 1, 2",
        ),
        (
            "ip_version = \"ipv6\"\nsegment = \"500 B\"",
            "transport.segment = \"500 B\": packets would have 596 bytes; allowed here: \"1184 B\" to \"65439 B\"",
        ),
    ] {
        assert_eq!(check(&scenario(transport)).unwrap_err().to_string(), line);
    }
}

#[test]
fn extra_download_is_supported() {
    let flows =
        "[[flow]]\nname = \"x\"\n[[flow]]\nname = \"y\"\npath = \"a\"\ncount = 2\nstart = \"1 s\"";
    check(&two_links(flows)).unwrap();
}

#[test]
fn middlebox_is_refused() {
    let text = "[[link]]\nname = \"a\"\nrate = \"1 Mbit/s\"\nstrips_mptcp = \"all\"\n";
    let scenario = Scenario::parse(text, "x.toml", &[], &mut |_| Err(String::new())).unwrap();
    assert_eq!(
        check(&scenario).unwrap_err().to_string(),
        "link.a.strips_mptcp = \"all\": the testbed's links pass all options; ropewalk simulate \
         has middleboxes; allowed here: links without the key"
    );
}

#[test]
fn wireless_link_is_refused() {
    let text = "[[channel]]\nname = \"one\"\n[[node]]\nname = \"a\"\nradios = [\"one\"]\n\
                [[node]]\nname = \"b\"\nat = [\"5 m\", \"0 m\"]\nradios = [\"one\"]\n\
                [[link]]\nname = \"a-b\"\nchannel = \"one\"\nfrom = \"a\"\nto = \"b\"\n";
    assert_eq!(
        check(&testing::scenario(text)).unwrap_err().to_string(),
        "link.a-b.channel = \"one\": the testbed's links are wired, contend for nothing and \
         do not hear each other; ropewalk simulate has the channel; allowed here: rate, trace"
    );
}

#[test]
fn flows_are_refused_in_a_line() {
    for (flows, line) in [
        (
            "[[flow]]\nname = \"x\"\nstart = \"1 s\"",
            "flow.x.start = \"1 s\": the first flow begins with the run; allowed here: \"0 s\"",
        ),
        (
            "[[flow]]\nname = \"x\"\ncount = 2",
            "flow.x.count = 2: the first flow is measured, and is one; allowed here: 1",
        ),
        (
            "[[flow]]\nname = \"x\"\n[[flow]]\nname = \"y\"",
            "flow.y.protocol = \"mptcp\": not on the testbed yet; allowed here: \"tcp\"",
        ),
        (
            "[[flow]]\nname = \"x\"\n[[flow]]\nname = \"y\"\npath = \"a\"\nsack = false",
            "flow.y.sack = false: all flows of the testbed have the same; allowed here: true",
        ),
        (
            "[[flow]]\nname = \"x\"\n[[flow]]\nname = \"y\"\npath = \"a\"\nprr = false",
            "flow.y.prr = false: the kernel has no such setting; allowed here: true",
        ),
        (
            "[[competitor]]\nprotocol = \"aggregation\"",
            "competitor.competitor-1.protocol = \"aggregation\": not on the testbed yet; allowed here: \"tcp\"",
        ),
        (
            "[[competitor]]\npath = \"a\"\ntraffic = { kind = \"cbr\", rate = \"1mbit\" }",
            "competitor.competitor-1.traffic.kind = \"cbr\": not on the testbed yet; allowed here: \"bulk\"",
        ),
    ] {
        let scenario = two_links(flows);
        assert_eq!(check(&scenario).unwrap_err().to_string(), line);
    }
}
