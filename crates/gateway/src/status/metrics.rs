//! Metrics of the document in Prometheus's text exposition format, version 0.0.4.
//!
//! Streams are too short-lived to be series; each association has their number and their bytes.

use std::fmt::Write;

use super::document::{
    AssociationSummary, Document, Group, LinkState, LinkSummary, SessionState, TunnelSummary,
};

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
    out.metric(
        "build_info",
        MetricKind::Gauge,
        "Version and role of the gateway.",
    );
    out.sample("build_info", &build, 1.0);
    out.metric(
        "uptime_seconds",
        MetricKind::Gauge,
        "Time since the gateway started.",
    );
    out.sample("uptime_seconds", &[], document.uptime_s);
    out.metric("associations", MetricKind::Gauge, "Number of associations.");
    out.sample("associations", &[], document.association_count as f64);
    associations(&mut out, document);
    tunnels(&mut out, document);
    links(&mut out, document);
    out
}

/// Metric of a `T`, omitted if no `T` has a value.
struct Metric<T> {
    kind: MetricKind,
    name: &'static str,
    value: fn(&T) -> Option<f64>,
    help: &'static str,
}

/// Metrics of a type, each as `KIND NAME |of| VALUE, HELP;`.
macro_rules! metrics {
    ($type:ty: $($kind:ident $name:literal |$of:ident| $value:expr, $help:literal;)*) => {
        &[$(Metric::<$type> {
            kind: MetricKind::$kind,
            name: $name,
            value: |$of| $value.number(),
            help: $help,
        }),*]
    };
}

fn associations(out: &mut String, document: &Document) {
    const METRICS: &[Metric<AssociationSummary>] = metrics! { AssociationSummary:
        Gauge "streams" |of| of.stream_count, "Streams that are open.";
        Counter "streams_opened_total" |of| of.opened_streams, "Streams opened so far.";
        Gauge "reassembly_bytes" |of| of.reassembly_bytes, "Bytes received behind a gap.";
        Gauge "reassembly_bound_bytes" |of| of.reassembly_bound_bytes, "Limit of the bytes behind a gap.";
    };
    let groups = document.associations.iter().map(|association| {
        let (id, peer) = (&association.id, &association.peer);
        (Group { id, peer }, None, association)
    });
    out.families(METRICS, groups);
}

fn tunnels(out: &mut String, document: &Document) {
    const METRICS: &[Metric<TunnelSummary>] = metrics! { TunnelSummary:
        Gauge "tunnel_mtu_bytes" |of| of.mtu_bytes, "MTU of the tunnel's interface.";
        Gauge "tunnel_hold_seconds" |of| of.hold_ms.map(seconds),
            "Longest time that a packet now waits for an earlier one.";
        Gauge "tunnel_held_packets" |of| of.held_packets, "Packets that wait for an earlier one.";
        Counter "tunnel_repaired_packets_total" |of| of.repaired_packets,
            "Packets that a link lost and that were retransmitted.";
        Gauge "tunnel_handshake_age_seconds" |of| of.handshake_age_s, "Age of the session's keys.";
        Gauge "tunnel_queued_packets" |of| of.queued_packets, "Packets queued for the links.";
        Gauge "tunnel_queued_bytes" |of| of.queued_bytes, "Bytes queued for the links.";
        Gauge "tunnel_queue_bound_bytes" |of| of.queue_bound_bytes, "Limit of the queued bytes.";
    };
    let tunnels = &document.tunnels;
    let groups = tunnels.iter().map(|tunnel| {
        let (id, peer) = (&tunnel.interface, &tunnel.peer);
        (Group { id, peer }, None, tunnel)
    });
    out.families(METRICS, groups);
    if tunnels.iter().any(|tunnel| tunnel.session.is_some()) {
        let help = "1 for the state of the session.";
        out.metric("tunnel_session_state", MetricKind::Gauge, help);
    }
    for tunnel in tunnels {
        let Some(session) = tunnel.session else {
            continue;
        };
        for state in SessionState::ALL {
            let labels = [
                ("group", tunnel.interface.as_str()),
                ("peer", tunnel.peer.as_str()),
                ("state", state.name()),
            ];
            let value = if session == state { 1.0 } else { 0.0 };
            out.sample("tunnel_session_state", &labels, value);
        }
    }
    if tunnels
        .iter()
        .any(|tunnel| !tunnel.dropped_packets.is_empty())
    {
        let help = "Packets dropped by the tunnel.";
        out.metric("tunnel_dropped_packets_total", MetricKind::Counter, help);
    }
    for tunnel in tunnels {
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
        let help = "Datagrams and packets refused by a tunnel.";
        out.metric("tunnel_refused_total", MetricKind::Counter, help);
    }
    for (reason, &count) in &document.refused {
        out.sample("tunnel_refused_total", &[("reason", reason)], count as f64);
    }
}

fn links(out: &mut String, document: &Document) {
    const METRICS: &[Metric<LinkSummary>] = metrics! { LinkSummary:
        Gauge "link_last_heard_seconds" |link| link.last_heard_s, "Time since the last arrival on the link.";
        Gauge "link_rtt_seconds" |link| link.rtt_ms.map(seconds), "Smoothed round-trip time.";
        Gauge "link_min_rtt_seconds" |link| link.min_rtt_ms.map(seconds), "Lowest recent round-trip time.";
        Gauge "link_delivery_rate_bytes_per_second" |link| link.delivery_rate_mbps.map(bytes_per_second),
            "Highest recent delivery rate of the data of this end.";
        Gauge "link_in_flight_bytes" |link| link.in_flight_bytes, "Bytes sent and not acknowledged.";
        Counter "link_sent_bytes_total" |link| link.sent_bytes, "Bytes sent, retransmissions included.";
        Counter "link_received_bytes_total" |link| link.received_bytes, "Bytes received.";
        Counter "link_resent_bytes_total" |link| link.resent_bytes,
            "Bytes in flight on the link that were retransmitted over another.";
        Counter "link_suspicions_total" |link| link.suspicions, "Times that the link was suspected.";
        Gauge "link_cost" |link| link.cost, "Price of a megabyte, in the user's unit.";
        Gauge "link_quota_left_bytes" |link| link.quota_left_bytes, "Bytes left of the link's quota.";
        Gauge "link_throttle_bytes_per_second" |link| link.throttled_mbps.map(bytes_per_second),
            "Limit in each direction of a link whose quota is used up.";
        Gauge "link_used_bytes" |link| link.used_bytes, "Bytes carried in the period of a link with a quota.";
        Gauge "link_used_today_bytes" |link| link.used_today_bytes,
            "Bytes carried today by a link with a quota.";
        Gauge "link_quota_lasts_seconds" |link| link.quota_lasts_s,
            "Time until the link's quota is used up at its mean rate.";
        Gauge "link_spent" |link| link.spent, "Cost of the period of a link with a quota and a price.";
        Gauge "link_spent_today" |link| link.spent_today, "Cost of today of a link with a quota and a price.";
        Counter "link_sent_datagrams_total" |link| link.sent_datagrams, "Datagrams sent by a tunnel.";
        Gauge "link_lost_datagrams" |link| link.lost_datagrams,
            "Datagrams of a tunnel lost so far; late arrivals are subtracted.";
        Gauge "link_loss_ratio" |link| link.loss_ratio,
            "Fraction of a tunnel's datagrams of the last minute that the link lost.";
        Gauge "link_reordered_ratio" |link| link.reordered_ratio,
            "Fraction of a tunnel's datagrams that arrived after a later one of the same link.";
        Gauge "link_path_mtu_bytes" |link| link.path_mtu_bytes,
            "Longest datagram that this end of a tunnel sends on the link in one piece; 0: none.";
        Gauge "link_peer_path_mtu_bytes" |link| link.peer_path_mtu_bytes,
            "Longest datagram that the other end of a tunnel sends on the link in one piece; 0: none.";
    };
    let links = document.links();
    out.families(
        METRICS,
        links.map(|(group, link)| (group, Some(link.name.as_str()), link)),
    );
    if document.links().next().is_some() {
        out.metric(
            "link_state",
            MetricKind::Gauge,
            "1 for the state of the link.",
        );
    }
    for (group, link) in document.links() {
        for state in LinkState::ALL {
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

/// Value of a metric, unless it is unknown.
trait Number {
    fn number(self) -> Option<f64>;
}

impl Number for f64 {
    fn number(self) -> Option<f64> {
        Some(self)
    }
}

impl Number for u64 {
    fn number(self) -> Option<f64> {
        Some(self as f64)
    }
}

impl<T: Number> Number for Option<T> {
    fn number(self) -> Option<f64> {
        self?.number()
    }
}

#[derive(Clone, Copy)]
enum MetricKind {
    Counter,
    Gauge,
}

trait Exposition {
    fn metric(&mut self, name: &str, kind: MetricKind, help: &str);
    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: f64);

    /// Writes metrics with all their samples, each labelled with its group and possibly a link.
    fn families<'a, T: 'a>(
        &mut self,
        metrics: &[Metric<T>],
        samples: impl Iterator<Item = (Group<'a>, Option<&'a str>, &'a T)> + Clone,
    ) {
        for metric in metrics {
            let mut introduced = false;
            for (group, link, of) in samples.clone() {
                let Some(value) = (metric.value)(of) else {
                    continue;
                };
                if !introduced {
                    self.metric(metric.name, metric.kind, metric.help);
                    introduced = true;
                }
                let labels = [("group", group.id), ("peer", group.peer)];
                let with_link = link.map(|link| ("link", link));
                let labels: Vec<_> = labels.into_iter().chain(with_link).collect();
                self.sample(metric.name, &labels, value);
            }
        }
    }
}

impl Exposition for String {
    fn metric(&mut self, name: &str, kind: MetricKind, help: &str) {
        let kind = match kind {
            MetricKind::Counter => "counter",
            MetricKind::Gauge => "gauge",
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

fn bytes_per_second(mbps: f64) -> f64 {
    mbps * 1e6 / 8.0
}

#[cfg(test)]
mod tests;
