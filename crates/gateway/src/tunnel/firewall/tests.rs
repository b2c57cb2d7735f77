//! Tests of the rulesets.

use super::client::LOCAL_V4;
use super::relay::networks_of;
use super::*;

fn rules(texts: &[&str]) -> Vec<Rule> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

fn addresses(texts: &[&str]) -> Vec<Prefix> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

fn chain_of(ruleset: &str, name: &str) -> Vec<String> {
    let begin = format!("  chain {name} {{\n");
    let (_, rest) = ruleset.split_once(&begin).expect(name);
    let (rules, _) = rest.split_once("\n  }\n").unwrap();
    rules.lines().map(|line| line.trim().to_owned()).collect()
}

fn of_relay(allow: &[&str], deny: &[&str], masquerade: bool) -> String {
    let relay = Firewall::Relay {
        masquerade,
        connections: 4096,
        forwards: Vec::new(),
        allow: rules(allow),
        deny: rules(deny),
    };
    relay.ruleset("rope0", &addresses(&["10.9.0.1/24", "fd00:9::1/64"]))
}

#[test]
fn ruleset_replaces_its_table_in_one_transaction() {
    let text = of_relay(&["public"], &[], true);
    let head = "add table inet ropewalk_rope0\ndelete table inet ropewalk_rope0\n\
                table inet ropewalk_rope0 {\n";
    assert!(text.starts_with(head), "{text}");
    assert_eq!(text.matches("ropewalk_rope0").count(), 3);
    assert!(of_relay(&[], &[], false).contains("chain through"));
    assert!(!of_relay(&[], &[], false).contains("masquerade"));
}

#[test]
fn client_translates_to_its_first_address_of_each_family() {
    let client = Firewall::Client {
        marks: ClientMarks::from_own(7),
        links: vec!["wlan0".to_owned()],
        kill_switch: None,
        interception: None,
    };
    let own = addresses(&["10.9.0.2/24", "10.9.0.7/24", "fd00:9::2/64"]);
    let text = client.ruleset("rope0", &own);
    assert_eq!(
        chain_of(&text, "nat")[1..],
        [
            "oifname \"rope0\" ip saddr != { 10.9.0.2, 10.9.0.7, 169.254.0.0/16 } snat ip to 10.9.0.2",
            "oifname \"rope0\" ip6 saddr != { fd00:9::2, ::, fe80::/10 } snat ip6 to fd00:9::2",
        ]
    );
    assert_eq!(
        chain_of(&text, "own_source")[1],
        "oifname != { \"rope0\", \"lo\" } ip saddr { 10.9.0.2, 10.9.0.7 } drop"
    );
    assert!(!text.contains("leaving"));
}

#[test]
fn guard_knows_links_and_mark() {
    let kill_switch = |links: &[&str]| {
        let links: Vec<String> = links.iter().map(|link| (*link).to_owned()).collect();
        let links = Some(links).filter(|links| !links.is_empty());
        let client = Firewall::Client {
            marks: ClientMarks::from_own(7),
            links: Vec::new(),
            kill_switch: Some(KillSwitch { links }),
            interception: None,
        };
        client.ruleset("rope0", &addresses(&["10.9.0.2/24"]))
    };
    let text = kill_switch(&["wlan0", "wwan0"]);
    assert_eq!(
        chain_of(&text, "output")[1..],
        [
            "meta mark 7 accept",
            "udp sport 68 udp dport 67 accept",
            "udp sport 546 udp dport 547 accept",
            "jump leaving"
        ]
    );
    let leaving = chain_of(&text, "leaving");
    assert!(leaving.contains(&format!(
        "oifname != {{ \"wlan0\", \"wwan0\" }} ip daddr {{ {LOCAL_V4} }} accept"
    )));
    let answers = "oifname != { \"wlan0\", \"wwan0\" } ct direction reply accept";
    assert!(leaving.iter().any(|rule| rule == answers));
    assert!(!leaving.iter().any(|rule| rule.starts_with("udp")));
    assert_eq!(leaving.last().unwrap(), "drop");
    // The interface of a link is unknown, so any interface may be one.
    let leaving = chain_of(&kill_switch(&[]), "leaving");
    let answers = format!("ct direction reply ip daddr {{ {LOCAL_V4} }} accept");
    assert!(leaving.contains(&answers), "{leaving:#?}");
    let is_new = |rule: &String| rule.contains("daddr") && !rule.contains("reply");
    assert!(!leaving.iter().any(is_new), "{leaving:#?}");
}

#[test]
fn rules_are_in_order_of_precedence() {
    let allow = ["private", "169.254.169.254:80", "own:53", "10.1.0.0/16"];
    let text = of_relay(&allow, &["10.1.2.0/24:22,20-23,24"], true);
    let ports = "meta l4proto { tcp, udp, sctp, dccp } th dport";
    let through = chain_of(&text, "through");
    let at = |rule: &str| {
        let found = through.iter().position(|known| known == rule);
        found.unwrap_or_else(|| panic!("{rule}: {through:#?}"))
    };
    let order = [
        at("ct state established,related accept"),
        at(&format!(
            "ip daddr 10.1.2.0/24 {ports} {{ 20-24 }} goto refused"
        )),
        at(&format!(
            "ip daddr 169.254.169.254/32 {ports} {{ 80 }} accept"
        )),
        at("ip daddr 169.254.0.0/16 goto refused"),
        at("ip6 daddr fd00:ec2::/32 goto refused"),
        at(
            "ip daddr { 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, 100.64.0.0/10 } \
            ip daddr != { 10.9.0.0/24 } accept",
        ),
        at("ip6 daddr fc00::/7 ip6 daddr != { fd00:9::/64 } accept"),
        at("ip daddr 10.1.0.0/16 accept"),
        at("goto refused"),
    ];
    assert!(order.is_sorted(), "{through:#?}");
    assert_eq!(order[8] + 1, through.len());
    assert!(through.iter().any(|rule| rule == "ct state invalid drop"));
    let routed = of_relay(&["public"], &[], false);
    assert!(!routed.contains("invalid"), "{routed}");
    let to_relay = chain_of(&text, "to_relay");
    assert!(
        to_relay.contains(&format!("{ports} {{ 53 }} accept")),
        "{to_relay:#?}"
    );
    assert!(!to_relay.iter().any(|rule| rule.contains("192.168.0.0")));
}

#[test]
fn connections_of_each_client_are_bounded_in_both_families() {
    let text = of_relay(&["public"], &[], true);
    for name in ["tracked_input", "tracked_forward"] {
        let rules = chain_of(&text, name);
        assert_eq!(
            rules[1..],
            [
                "iifname \"rope0\" ct state new add @tracked_ip { ip saddr ct count over 4096 } drop",
                "iifname \"rope0\" ct state new add @tracked_ip6 { ip6 saddr ct count over 4096 } drop",
            ]
        );
    }
    let unbounded = Firewall::Relay {
        masquerade: true,
        connections: 0,
        forwards: Vec::new(),
        allow: Vec::new(),
        deny: Vec::new(),
    };
    let text = unbounded.ruleset("rope0", &addresses(&["10.9.0.1/24"]));
    assert!(!text.contains("tracked"), "{text}");
}

#[test]
fn networks_of_omits_networks_within_others() {
    let all = addresses(&["10.9.0.1/24", "10.9.0.5/32", "10.9.0.9/24", "10.8.0.1/16"]);
    let all: Vec<&Prefix> = all.iter().collect();
    assert_eq!(networks_of(&all), "10.9.0.0/24, 10.8.0.0/16");
}

#[test]
fn forwarded_ports_are_translated_before_routing() {
    let relay = Firewall::Relay {
        masquerade: true,
        connections: 7,
        forwards: ["tcp:443=10.9.0.2:8443", "udp:5000-5010=fd00:9::2"]
            .map(|text| text.parse().unwrap())
            .into(),
        allow: Vec::new(),
        deny: Vec::new(),
    };
    let text = relay.ruleset("rope0", &addresses(&["10.9.0.1/24", "fd00:9::1/64"]));
    let arriving = "iifname != { \"rope0\", \"lo\" } meta nfproto";
    assert_eq!(
        chain_of(&text, "forwarded_ports")[1..],
        [
            format!(
                "{arriving} ipv4 fib daddr type local tcp dport 443-443 dnat ip to 10.9.0.2:8443"
            ),
            format!(
                "{arriving} ipv6 fib daddr type local udp dport 5000-5010 dnat ip6 to fd00:9::2"
            ),
        ]
    );
    assert!(
        chain_of(&text, "forwarded_bound")[1].ends_with("{ ip daddr ct count over 7 } drop"),
        "{text}"
    );
    assert!(!of_relay(&[], &[], true).contains("forwarded_"));
}

#[test]
fn interception_redirects_connections_of_the_device_only() {
    let interception = Interception {
        port: 4435,
        as_packets: vec!["port=22".parse().unwrap()],
        bypass: vec!["user=0".parse().unwrap(), "to=192.0.2.1".parse().unwrap()],
    };
    let client = Firewall::Client {
        marks: ClientMarks::from_own(7),
        links: vec!["wlan0".to_owned()],
        kill_switch: None,
        interception: Some(interception),
    };
    let text = client.ruleset("rope0", &addresses(&["10.9.0.2/24"]));
    assert_eq!(
        chain_of(&text, "intercept_output")[1..],
        [
            "ct direction original ct mark 8 meta l4proto tcp meta mark set 8 return",
            "meta mark { 7, 9 } return",
            "ct status dnat return",
            "meta skuid 0 meta mark set 9 return",
            "ip daddr 192.0.2.1/32 meta mark set 9 return",
            "meta l4proto != tcp return",
            "ct direction reply return",
            "meta l4proto { tcp, udp } th dport 22-22 return",
            "oifname \"rope0\" ct mark set 8 meta mark set 8",
        ]
    );
    let arriving = chain_of(&text, "intercept_arriving");
    assert_eq!(
        arriving[1],
        "iifname \"lo\" meta mark 8 meta protocol ip meta l4proto tcp tproxy ip to 127.0.0.1:4435 \
         meta mark set 8 accept"
    );
    assert_eq!(
        arriving[3],
        "iifname { \"rope0\", \"lo\", \"wlan0\" } return"
    );
    // A user condition matches only packets that this machine's programs send.
    assert!(
        !arriving.iter().any(|rule| rule.contains("skuid")),
        "{arriving:#?}"
    );
    let at = |text: &str| arriving.iter().position(|rule| rule.starts_with(text));
    assert!(at("fib daddr oifname != \"rope0\" return") < at("meta protocol ip "));
}
