//! Example documents for tests.

use super::document::{
    AssociationSummary, Document, GatewayRole, LinkState, LinkSummary, Rates, StreamSummary,
};

/// Returns a proxy with a link that is up, a suspected one, and a stream.
pub fn proxy() -> Document {
    Document {
        version: "0.1.0".to_owned(),
        role: GatewayRole::Proxy,
        uptime_s: 3723.5,
        total: None,
        associations: vec![AssociationSummary {
            id: "9f3c2a71".to_owned(),
            peer: "192.0.2.7:4433".to_owned(),
            scheduler: Some("earliest-arrival".to_owned()),
            age_s: 3700.0,
            links: vec![
                link("wifi", LinkState::Up, 21.5),
                LinkSummary {
                    quota_left_bytes: Some(5_000_000_000),
                    suspicions: 3,
                    ..link("lte", LinkState::Suspected, 63.0)
                },
            ],
            streams: vec![StreamSummary {
                id: 7,
                target: Some("example.org:443".to_owned()),
                class: Some("streaming".to_owned()),
                age_s: 12.0,
                sent_bytes: 2_048,
                received_bytes: 31_000_000,
                unsent_bytes: 0,
                reassembly_bytes: 65_536,
                window_bytes: 1_048_576,
            }],
            stream_count: 1,
            opened_streams: 4,
            reassembly_bytes: 65_536,
            reassembly_bound_bytes: 67_108_864,
        }],
        association_count: 1,
        tunnels: Vec::new(),
        refused: std::collections::BTreeMap::new(),
    }
}

fn link(name: &str, state: LinkState, rtt_ms: f64) -> LinkSummary {
    LinkSummary {
        name: name.to_owned(),
        state,
        last_heard_s: Some(0.25),
        rtt_ms: Some(rtt_ms),
        min_rtt_ms: Some(rtt_ms - 1.5),
        rate_mbps: Some(Rates {
            sent: 0.25,
            received: 18.75,
        }),
        delivery_rate_mbps: Some(20.0),
        in_flight_bytes: 1_500,
        sent_bytes: 1_000_000,
        received_bytes: 75_000_000,
        resent_bytes: Some(16_384),
        congestion: Some("cubic".to_owned()),
        cost: 1.0,
        ..LinkSummary::default()
    }
}
