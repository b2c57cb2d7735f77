//! Default routes of this machine.

/// Returns the interfaces with a default route in either routing table.
pub(crate) fn default_interfaces(v4: &str, v6: &str) -> Vec<String> {
    let v4 = v4.lines().filter_map(is_default_v4);
    let v6 = v6.lines().filter_map(is_default_v6);
    let mut interfaces = Vec::new();
    for name in v4.chain(v6) {
        if !interfaces.contains(&name) {
            interfaces.push(name);
        }
    }
    interfaces
}

/// Parses /proc/net/route: interface, destination, gateway, flags, three more, mask.
fn is_default_v4(line: &str) -> Option<String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words[..] {
        [name, "00000000", _, _, _, _, _, "00000000", ..] => Some(name.to_owned()),
        _ => None,
    }
}

/// Parses /proc/net/ipv6_route: destination and its length, source and its length, next hop, metric, two
/// counters, flags, interface. Routes of the loopback interface reject packets.
fn is_default_v6(line: &str) -> Option<String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words[..] {
        [_, "00", _, _, _, _, _, _, _, name] if name != "lo" => Some(name.to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interfaces_with_a_default_route_are_found_once() {
        let row = |name: &str, to: &str, mask: &str| {
            format!("{name}\t{to}\t0101A8C0\t0003\t0\t0\t100\t{mask}\t0\t0\t0\n")
        };
        let v4 = [
            "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n",
            &row("wlan0", "00000000", "00000000"),
            &row("wwan0", "00000000", "00000000"),
            &row("wlan0", "00000000", "00000000"),
            // 0.0.0.0/1
            &row("tun0", "00000000", "00000080"),
            &row("eth0", "0001A8C0", "00FFFFFF"),
        ];
        let none = "0".repeat(32);
        let row = |name: &str, len: &str| {
            format!("{none} {len} {none} 00 {none} 00000400 00000001 00000000 00000003 {name}\n")
        };
        let v6 = [row("lo", "00"), row("eth1", "00"), row("eth2", "40")];
        let found = default_interfaces(&v4.concat(), &v6.concat());
        assert_eq!(found, ["wlan0", "wwan0", "eth1"]);
    }
}
