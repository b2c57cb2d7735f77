//! Links of a client as its two halves see them together: carriers over TCP, and the tunnel over UDP.

use super::document::{CombinedLink, Document, LinkState, LinkSummary};

/// Returns the links that both an association and a tunnel have, in the order of the association. Rates must be filled
/// in.
pub(super) fn combined_links(document: &Document) -> Vec<CombinedLink> {
    let Some(association) = document.associations.first() else {
        return Vec::new();
    };
    let names = association.links.iter().map(|link| &link.name);
    let combined = names.filter_map(|name| {
        let of_name = |link: &&LinkSummary| link.name == *name;
        let carriers = document.associations.iter();
        let carriers = carriers.flat_map(|association| &association.links);
        let carriers = carriers.filter(of_name);
        let in_tunnel = document.tunnels.iter();
        let in_tunnel = in_tunnel.flat_map(|tunnel| &tunnel.links).find(of_name)?;
        let both = carriers.clone().chain([in_tunnel]);
        Some(CombinedLink {
            name: name.clone(),
            tcp: best_state(carriers),
            udp: in_tunnel.state,
            rate_mbps: both
                .clone()
                .filter_map(|link| link.rate_mbps)
                .reduce(|one, other| one + other),
            rtt_ms: least(both.clone().map(|link| link.rtt_ms)),
            min_rtt_ms: least(both.clone().map(|link| link.min_rtt_ms)),
            loss_ratio: in_tunnel.loss_ratio,
            in_flight_bytes: both.map(|link| link.in_flight_bytes).sum(),
        })
    });
    combined.collect()
}

fn least(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    values.flatten().min_by(f64::total_cmp)
}

/// Returns the state of a link with carriers to several relays: up if one of them is.
fn best_state<'a>(carriers: impl Iterator<Item = &'a LinkSummary> + Clone) -> LinkState {
    let is_up = carriers.clone().any(|link| link.state == LinkState::Up);
    let first = carriers.map(|link| link.state).next();
    match is_up {
        true => LinkState::Up,
        false => first.unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::document::Rates;
    use super::super::examples;
    use super::*;
    use crate::links::OVER_TCP;

    fn link(name: &str, received: f64, rtt_ms: f64) -> LinkSummary {
        LinkSummary {
            name: name.to_owned(),
            rate_mbps: Some(Rates {
                sent: 0.5,
                received,
            }),
            rtt_ms: Some(rtt_ms),
            in_flight_bytes: 1000,
            ..LinkSummary::default()
        }
    }

    #[test]
    fn both_halves_count_together() {
        let mut document = examples::proxy();
        assert!(combined_links(&document).is_empty());
        let mut carriers = vec![link("wifi", 18.0, 24.0), link("lte", 9.0, 60.0)];
        carriers[0].state = LinkState::Up;
        document.associations[0].links = carriers;
        let tunnel = r#"{"interface": "ropewalk0", "peer": "relay", "links": []}"#;
        document.tunnels = vec![serde_json::from_str(tunnel).unwrap()];
        let mut in_tunnel = vec![link("wifi", 0.5, 21.0), link("lte", 0.0, 70.0)];
        in_tunnel[1].loss_ratio = Some(0.01);
        in_tunnel.push(link(OVER_TCP, 0.0, 90.0));
        document.tunnels[0].links = in_tunnel;
        let [wifi, lte] = &combined_links(&document)[..] else {
            panic!("two links");
        };
        assert_eq!((wifi.tcp, wifi.udp), (LinkState::Up, LinkState::Down));
        assert_eq!(wifi.rate_mbps.map(|rates| rates.received), Some(18.5));
        assert_eq!((wifi.rtt_ms, wifi.in_flight_bytes), (Some(21.0), 2000));
        assert_eq!((lte.rtt_ms, lte.loss_ratio), (Some(60.0), Some(0.01)));
    }
}
