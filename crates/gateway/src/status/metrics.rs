//! Metrics of the document in Prometheus's text exposition format, version 0.0.4.
//!
//! Streams are too short-lived to be series; each association has their number and their bytes.

use std::fmt::Write;

use super::document::{Document, Group, Link, Session, State};

/// Content type of that format.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Returns all metrics of a document.
#[must_use]
pub fn exposition(document: &Document) -> String {
    let mut out = String::new();
    let build = [
        ("version", document.version.as_str()),
        ("role", document.role.name()),
    ];
    out.metric("build_info", Kind::Gauge, "Which gateway this is.");
    out.sample("build_info", &build, 1.0);
    out.metric("uptime_seconds", Kind::Gauge, "Since the gateway started.");
    out.sample("uptime_seconds", &[], document.uptime_s);
    out.metric("associations", Kind::Gauge, "Associations that there are.");
    out.sample("associations", &[], document.association_count as f64);
    associations(&mut out, document);
    tunnels(&mut out, document);
    links(&mut out, document);
    out
}

/// Name, type, help text and value of a metric. A metric without samples is omitted.
type Metric<T> = (&'static str, Kind, &'static str, fn(&T) -> Option<f64>);

fn associations(out: &mut String, document: &Document) {
    use super::document::Association;
    const METRICS: [Metric<Association>; 4] = [
        ("streams", Kind::Gauge, "Streams that are open.", |of| {
            Some(of.stream_count as f64)
        }),
        (
            "streams_opened_total",
            Kind::Counter,
            "Streams opened so far.",
            |of| Some(of.opened_streams as f64),
        ),
        (
            "reassembly_bytes",
            Kind::Gauge,
            "What waits for a gap to close.",
            |of| Some(of.reassembly_bytes as f64),
        ),
        (
            "reassembly_bound_bytes",
            Kind::Gauge,
            "More than this never waits.",
            |of| Some(of.reassembly_bound_bytes as f64),
        ),
    ];
    for (name, kind, help, value) in METRICS {
        let samples = document.associations.iter().map(|association| {
            let group = Group {
                id: &association.id,
                peer: &association.peer,
            };
            (group, None, value(association))
        });
        out.family(name, kind, help, samples);
    }
}

fn tunnels(out: &mut String, document: &Document) {
    use super::document::Tunnel;
    const METRICS: [Metric<Tunnel>; 8] = [
        (
            "tunnel_mtu_bytes",
            Kind::Gauge,
            "Largest packet that the tunnel takes.",
            |of| of.mtu_bytes.map(|bytes| bytes as f64),
        ),
        (
            "tunnel_hold_seconds",
            Kind::Gauge,
            "Longest that a packet now waits for one sent before it.",
            |of| of.hold_ms.map(seconds),
        ),
        (
            "tunnel_held_packets",
            Kind::Gauge,
            "Packets that wait for one sent before them.",
            |of| of.held_packets.map(|packets| packets as f64),
        ),
        (
            "tunnel_repaired_packets_total",
            Kind::Counter,
            "Packets that a link lost and that went again.",
            |of| of.repaired_packets.map(|packets| packets as f64),
        ),
        (
            "tunnel_handshake_age_seconds",
            Kind::Gauge,
            "Age of the session's keys.",
            |of| of.handshake_age_s,
        ),
        (
            "tunnel_queued_packets",
            Kind::Gauge,
            "Packets that wait for the links.",
            |of| of.queued_packets.map(|packets| packets as f64),
        ),
        (
            "tunnel_queued_bytes",
            Kind::Gauge,
            "Bytes that wait for the links.",
            |of| of.queued_bytes.map(|bytes| bytes as f64),
        ),
        (
            "tunnel_queue_bound_bytes",
            Kind::Gauge,
            "Bound of the bytes that wait for the links.",
            |of| of.queue_bound_bytes.map(|bytes| bytes as f64),
        ),
    ];
    for (name, kind, help, value) in METRICS {
        let samples = document.tunnels.iter().map(|tunnel| {
            let group = Group {
                id: &tunnel.interface,
                peer: &tunnel.peer,
            };
            (group, None, value(tunnel))
        });
        out.family(name, kind, help, samples);
    }
    if document
        .tunnels
        .iter()
        .any(|tunnel| tunnel.session.is_some())
    {
        out.metric(
            "tunnel_session_state",
            Kind::Gauge,
            "1 for the state of the session.",
        );
    }
    for tunnel in &document.tunnels {
        let Some(session) = tunnel.session else {
            continue;
        };
        for state in Session::ALL {
            let labels = [
                ("group", tunnel.interface.as_str()),
                ("peer", tunnel.peer.as_str()),
                ("state", state.name()),
            ];
            let value = if session == state { 1.0 } else { 0.0 };
            out.sample("tunnel_session_state", &labels, value);
        }
    }
    if document
        .tunnels
        .iter()
        .any(|tunnel| !tunnel.dropped_packets.is_empty())
    {
        let help = "Packets of the tunnel that were dropped.";
        out.metric("tunnel_dropped_packets_total", Kind::Counter, help);
    }
    for tunnel in &document.tunnels {
        for (reason, &count) in &tunnel.dropped_packets {
            let labels = [
                ("group", tunnel.interface.as_str()),
                ("peer", tunnel.peer.as_str()),
                ("reason", reason.as_str()),
            ];
            out.sample("tunnel_dropped_packets_total", &labels, count as f64);
        }
    }
    if !document.refused.is_empty() {
        let help = "Datagrams and packets of a tunnel that were refused.";
        out.metric("tunnel_refused_total", Kind::Counter, help);
    }
    for (reason, &count) in &document.refused {
        out.sample("tunnel_refused_total", &[("reason", reason)], count as f64);
    }
}

fn links(out: &mut String, document: &Document) {
    const METRICS: [Metric<Link>; 23] = [
        (
            "link_last_heard_seconds",
            Kind::Gauge,
            "Since something last came by the link.",
            |link| link.last_heard_s,
        ),
        (
            "link_rtt_seconds",
            Kind::Gauge,
            "Smoothed round-trip time.",
            |link| link.rtt_ms.map(seconds),
        ),
        (
            "link_min_rtt_seconds",
            Kind::Gauge,
            "Shortest round-trip time of late.",
            |link| link.min_rtt_ms.map(seconds),
        ),
        (
            "link_delivery_rate_bytes_per_second",
            Kind::Gauge,
            "Greatest rate of late at which what this end sent was delivered.",
            |link| link.delivery_rate_mbps.map(|mbps| mbps * 1e6 / 8.0),
        ),
        (
            "link_in_flight_bytes",
            Kind::Gauge,
            "Sent and not acknowledged.",
            |link| Some(link.in_flight_bytes as f64),
        ),
        (
            "link_sent_bytes_total",
            Kind::Counter,
            "Sent, what was sent again included.",
            |link| Some(link.sent_bytes as f64),
        ),
        (
            "link_received_bytes_total",
            Kind::Counter,
            "Received.",
            |link| Some(link.received_bytes as f64),
        ),
        (
            "link_resent_bytes_total",
            Kind::Counter,
            "Of what the link held, what had to be sent again over another.",
            |link| link.resent_bytes.map(|bytes| bytes as f64),
        ),
        (
            "link_suspicions_total",
            Kind::Counter,
            "Times that the link was suspected.",
            |link| Some(link.suspicions as f64),
        ),
        (
            "link_cost",
            Kind::Gauge,
            "Price of a megabyte, in whatever the user counts in.",
            |link| Some(link.cost),
        ),
        (
            "link_quota_left_bytes",
            Kind::Gauge,
            "What the link's quota leaves.",
            |link| link.quota_left_bytes.map(|bytes| bytes as f64),
        ),
        (
            "link_throttle_bytes_per_second",
            Kind::Gauge,
            "What the link's used-up quota bounds it to, each way.",
            |link| link.throttled_mbps.map(|mbps| mbps * 1e6 / 8.0),
        ),
        (
            "link_used_bytes",
            Kind::Gauge,
            "What a link with a quota has carried in its period.",
            |link| link.used_bytes.map(|bytes| bytes as f64),
        ),
        (
            "link_used_today_bytes",
            Kind::Gauge,
            "What a link with a quota has carried today.",
            |link| link.used_today_bytes.map(|bytes| bytes as f64),
        ),
        (
            "link_quota_lasts_seconds",
            Kind::Gauge,
            "For how long the link's quota lasts at its mean rate.",
            |link| link.quota_lasts_s,
        ),
        (
            "link_spent",
            Kind::Gauge,
            "What the period of a link with a quota and a price has cost.",
            |link| link.spent,
        ),
        (
            "link_spent_today",
            Kind::Gauge,
            "What today has cost on a link with a quota and a price.",
            |link| link.spent_today,
        ),
        (
            "link_sent_datagrams_total",
            Kind::Counter,
            "Datagrams of a tunnel sent.",
            |link| link.sent_datagrams.map(|count| count as f64),
        ),
        (
            "link_lost_datagrams",
            Kind::Gauge,
            "Those of them that were lost; one that comes late is taken back.",
            |link| link.lost_datagrams.map(|count| count as f64),
        ),
        (
            "link_loss_ratio",
            Kind::Gauge,
            "Share of a tunnel's datagrams of the last minute that the link lost.",
            |link| link.loss_ratio,
        ),
        (
            "link_reordered_ratio",
            Kind::Gauge,
            "Share of a tunnel's packets that came after a later one of the same link.",
            |link| link.reordered_ratio,
        ),
        (
            "link_path_mtu_bytes",
            Kind::Gauge,
            "Longest datagram that this end of a tunnel sends on the link in one piece; 0: none.",
            |link| link.path_mtu_bytes.map(|bytes| bytes as f64),
        ),
        (
            "link_peer_path_mtu_bytes",
            Kind::Gauge,
            "Longest datagram that the other end of a tunnel sends on the link in one piece; 0: none.",
            |link| link.peer_path_mtu_bytes.map(|bytes| bytes as f64),
        ),
    ];
    for (name, kind, help, value) in METRICS {
        let samples = document
            .links()
            .map(|(group, link)| (group, Some(link.name.as_str()), value(link)));
        out.family(name, kind, help, samples);
    }
    if document.links().next().is_some() {
        out.metric("link_state", Kind::Gauge, "1 for the state that it is in.");
    }
    for (group, link) in document.links() {
        for state in State::ALL {
            let labels = [
                ("group", group.id),
                ("peer", group.peer),
                ("link", link.name.as_str()),
                ("state", state.name()),
            ];
            let value = if link.state == state { 1.0 } else { 0.0 };
            out.sample("link_state", &labels, value);
        }
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Counter,
    Gauge,
}

trait Exposition {
    fn metric(&mut self, name: &str, kind: Kind, help: &str);
    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: f64);

    /// Writes a metric with all its samples, each labelled with its group and possibly a link.
    fn family<'a>(
        &mut self,
        name: &str,
        kind: Kind,
        help: &str,
        samples: impl Iterator<Item = (Group<'a>, Option<&'a str>, Option<f64>)>,
    ) {
        let mut introduced = false;
        for (group, link, value) in samples {
            let Some(value) = value else { continue };
            if !introduced {
                self.metric(name, kind, help);
                introduced = true;
            }
            let labels = [("group", group.id), ("peer", group.peer)];
            let with_link = link.map(|link| ("link", link));
            let labels: Vec<_> = labels.into_iter().chain(with_link).collect();
            self.sample(name, &labels, value);
        }
    }
}

impl Exposition for String {
    fn metric(&mut self, name: &str, kind: Kind, help: &str) {
        let kind = match kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
        };
        let _ = writeln!(self, "# HELP ropewalk_{name} {help}");
        let _ = writeln!(self, "# TYPE ropewalk_{name} {kind}");
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: f64) {
        let _ = write!(self, "ropewalk_{name}");
        for (place, (label, text)) in labels.iter().enumerate() {
            let before = if place == 0 { '{' } else { ',' };
            let _ = write!(self, "{before}{label}=\"{}\"", escaped(text));
        }
        let after = if labels.is_empty() { "" } else { "}" };
        let _ = writeln!(self, "{after} {value}");
    }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

fn seconds(ms: f64) -> f64 {
    ms / 1e3
}

#[cfg(test)]
mod tests;
