//! Text tables of the status document.

use super::document::{
    AssociationSummary, CombinedLink, Document, FastestLink, LinkState, LinkSummary, StreamSummary,
    TotalRates, TunnelSummary,
};

const WIDTH: usize = 100;

#[derive(Clone, Copy, Debug)]
pub struct TableOptions {
    /// Whether to use terminal colours for states.
    pub colours: bool,
    pub width: Option<usize>,
}

pub fn tables(document: &Document, options: TableOptions) -> String {
    let (role, version) = (document.role.name(), &document.version);
    let mut lines = vec![format!(
        "ropewalk {role} {version}, up {}",
        span(document.uptime_s)
    )];
    if let Some(total) = &document.total {
        lines.push(total_line(total));
        if !total.links.is_empty() {
            lines.extend(aligned(&COMBINED_COLUMNS, &total.links, options));
        }
    }
    for association in &document.associations {
        lines.push(String::new());
        lines.extend(association_lines(association, options));
    }
    for tunnel in &document.tunnels {
        lines.push(String::new());
        lines.extend(tunnel_lines(tunnel, options));
    }
    let listed = document.associations.len() as u64;
    if document.association_count > listed {
        let more = document.association_count - listed;
        lines.extend([String::new(), format!("and {more} more associations")]);
    } else if document.association_count == 0 && document.tunnels.is_empty() {
        lines.extend([String::new(), "no association".to_owned()]);
    }
    let cut = |line: String| match options.width {
        Some(width) => shortened(&line, width),
        None => line,
    };
    lines
        .into_iter()
        .map(|line| cut(line) + "\n")
        .collect::<String>()
}

/// Returns the rates of all links now, and the fastest link of the last 10 s in each direction.
fn total_line(total: &TotalRates) -> String {
    let direction = |rate: f64, fastest: &Option<FastestLink>, name: &str| {
        let fastest = fastest.as_ref().map(|link| {
            let rate = decimal(Some(link.rate_mbps));
            format!(" (fastest link: {}, {rate})", plain(&link.name))
        });
        let rate = decimal(Some(rate));
        format!("{name} {rate} Mbit/s{}", fastest.unwrap_or_default())
    };
    let received = direction(total.rate_mbps.received, &total.fastest_receiving, "in");
    let sent = direction(total.rate_mbps.sent, &total.fastest_sending, "out");
    format!("{received}, {sent}")
}

fn association_lines(association: &AssociationSummary, options: TableOptions) -> Vec<String> {
    let mut title = vec![plain(&association.peer)];
    title.extend(association.scheduler.as_deref().map(plain));
    title.push(format!("since {}", span(association.age_s)));
    title.push(format!(
        "{} of at most {} wait for gaps",
        bytes(association.reassembly_bytes),
        bytes(association.reassembly_bound_bytes)
    ));
    let mut lines = vec![title.join(", ")];
    lines.extend(link_lines(&association.links, options));
    let (shown, all) = (association.streams.len(), association.stream_count);
    lines.push(match (shown, all) {
        (_, 0) => "no streams".to_owned(),
        (shown, all) if (shown as u64) < all => format!("streams, the busiest {shown} of {all}"),
        _ => "streams".to_owned(),
    });
    if shown > 0 {
        lines.extend(aligned(&STREAM_COLUMNS, &association.streams, options));
    }
    lines
}

fn tunnel_lines(tunnel: &TunnelSummary, options: TableOptions) -> Vec<String> {
    let mut title = vec![format!(
        "{} to {}",
        plain(&tunnel.interface),
        plain(&tunnel.peer)
    )];
    title.extend(tunnel.scheduler.as_deref().map(plain));
    title.extend(tunnel.mtu_bytes.map(|mtu| format!("MTU {mtu}")));
    title.extend(tunnel.hold_ms.map(|hold| format!("holds {hold:.1} ms")));
    let repaired = tunnel.repaired_packets.filter(|&packets| packets > 0);
    title.extend(repaired.map(|packets| format!("repaired {packets}")));
    let mut lines = vec![title.join(", ")];
    let mut second = Vec::new();
    second.extend(
        tunnel
            .session
            .map(|session| format!("session {}", session.name())),
    );
    second.extend(
        tunnel
            .handshake_age_s
            .map(|age| format!("handshake {} ago", span(age))),
    );
    if let (Some(packets), Some(queued)) = (tunnel.queued_packets, tunnel.queued_bytes) {
        second.push(format!("queued {packets} packets ({})", bytes(queued)));
    }
    let dropped = tunnel
        .dropped_packets
        .iter()
        .filter(|(_, count)| **count > 0);
    second.extend(dropped.map(|(reason, count)| format!("dropped {count} ({})", plain(reason))));
    if !second.is_empty() {
        lines.push(second.join(", "));
    }
    lines.extend(link_lines(&tunnel.links, options));
    lines
}

fn link_lines(links: &[LinkSummary], options: TableOptions) -> Vec<String> {
    let known = LINK_COLUMNS
        .into_iter()
        .filter(|column| !column.optional || links.iter().any(|link| (column.show)(link) != "-"))
        .collect::<Vec<_>>();
    let reasons = links.iter().filter_map(|link| {
        let page = (link.login_page.as_ref()).map(|page| format!("asks for a login: {page}"));
        let reason = page.or_else(|| link.reason.clone())?;
        Some(format!("  {}: {}", plain(&link.name), plain(&reason)))
    });
    let mut lines = aligned(&known, links, options);
    lines.extend(reasons);
    lines
}

/// Column: its heading, whether left-aligned, whether omitted without values, and the format of a value.
#[derive(Clone, Copy)]
struct Column<T> {
    head: &'static str,
    text: bool,
    optional: bool,
    show: fn(&T) -> String,
}

const fn number<T>(head: &'static str, show: fn(&T) -> String) -> Column<T> {
    Column {
        head,
        text: false,
        optional: false,
        show,
    }
}

const fn text<T>(head: &'static str, show: fn(&T) -> String) -> Column<T> {
    Column {
        text: true,
        ..number(head, show)
    }
}

const fn optional<T>(head: &'static str, show: fn(&T) -> String) -> Column<T> {
    Column {
        optional: true,
        ..number(head, show)
    }
}

const LINK_COLUMNS: [Column<LinkSummary>; 24] = [
    text("link", |link| plain(&link.name)),
    text("state", |link| link.state.name().to_owned()),
    number("heard", |link| {
        maybe(link.last_heard_s, |seconds| {
            format!("{} ago", span(seconds))
        })
    }),
    number("rtt ms", |link| decimal(link.rtt_ms)),
    number("min", |link| decimal(link.min_rtt_ms)),
    number("in Mbit/s", |link| {
        decimal(link.rate_mbps.map(|rate| rate.received))
    }),
    number("out", |link| decimal(link.rate_mbps.map(|rate| rate.sent))),
    number("out at most", |link| decimal(link.delivery_rate_mbps)),
    number("in flight", |link| bytes(link.in_flight_bytes)),
    number("received", |link| bytes(link.received_bytes)),
    number("sent", |link| bytes(link.sent_bytes)),
    optional("retrans", |link| maybe(link.resent_bytes, bytes)),
    optional("lost", |link| maybe(link.loss_ratio, percent)),
    optional("reordered", |link| maybe(link.reordered_ratio, percent)),
    optional("path MTU", |link| {
        match (link.path_mtu_bytes, link.peer_path_mtu_bytes) {
            (Some(ours), Some(theirs)) if ours != theirs => format!("{ours}/{theirs}"),
            (ours, _) => maybe(ours, |bytes| bytes.to_string()),
        }
    }),
    optional("congestion", |link| {
        maybe(link.congestion.as_deref(), plain)
    }),
    optional("quota left", |link| maybe(link.quota_left_bytes, bytes)),
    optional("throttled", |link| decimal(link.throttled_mbps)),
    optional("used", |link| maybe(link.used_bytes, bytes)),
    optional("today", |link| maybe(link.used_today_bytes, bytes)),
    optional("lasts", |link| maybe(link.quota_lasts_s, span)),
    optional("spent", |link| decimal(link.spent)),
    optional("spent today", |link| decimal(link.spent_today)),
    number("suspected", |link| link.suspicions.to_string()),
];

const COMBINED_COLUMNS: [Column<CombinedLink>; 9] = [
    text("link", |link| plain(&link.name)),
    text("TCP", |link| link.tcp.name().to_owned()),
    text("UDP", |link| link.udp.name().to_owned()),
    number("in Mbit/s", |link| {
        decimal(link.rate_mbps.map(|rate| rate.received))
    }),
    number("out", |link| decimal(link.rate_mbps.map(|rate| rate.sent))),
    number("rtt ms", |link| decimal(link.rtt_ms)),
    number("min", |link| decimal(link.min_rtt_ms)),
    number("lost", |link| maybe(link.loss_ratio, percent)),
    number("in flight", |link| bytes(link.in_flight_bytes)),
];

const STREAM_COLUMNS: [Column<StreamSummary>; 9] = [
    number("stream", |stream| stream.id.to_string()),
    text("target", |stream| {
        maybe(stream.target.as_deref(), |target| {
            shortened(&plain(target), 40)
        })
    }),
    text("class", |stream| maybe(stream.class.as_deref(), plain)),
    number("age", |stream| span(stream.age_s)),
    number("received", |stream| bytes(stream.received_bytes)),
    number("sent", |stream| bytes(stream.sent_bytes)),
    number("unsent", |stream| bytes(stream.unsent_bytes)),
    number("gap", |stream| bytes(stream.reassembly_bytes)),
    number("window", |stream| bytes(stream.window_bytes)),
];

/// Formats rows in columns. Columns beyond the width form further tables below, each with the first column.
fn aligned<T>(columns: &[Column<T>], rows: &[T], options: TableOptions) -> Vec<String> {
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|row| columns.iter().map(|column| (column.show)(row)).collect())
        .collect();
    let widths: Vec<usize> = columns
        .iter()
        .enumerate()
        .map(|(at, column)| {
            let widest = cells.iter().map(|row| row[at].chars().count()).max();
            widest.unwrap_or(0).max(column.head.len())
        })
        .collect();
    let line = |row: &[&str], shown: &[usize], colours: bool| {
        let padded = shown.iter().map(|&at| {
            let (cell, width) = (row[at], widths[at]);
            match columns[at].text {
                true => paint(cell, format!("{cell:width$}"), colours),
                false => format!("{cell:>width$}"),
            }
        });
        format!("  {}", padded.collect::<Vec<_>>().join("  "))
    };
    let mut lines = Vec::new();
    for shown in tables_of(&widths, options.width.unwrap_or(WIDTH)) {
        let heads: Vec<&str> = columns.iter().map(|column| column.head).collect();
        lines.push(line(&heads, &shown, false));
        for row in &cells {
            let row: Vec<&str> = row.iter().map(String::as_str).collect();
            lines.push(line(&row, &shown, options.colours));
        }
    }
    lines
}

/// Returns the columns of each table: as many as fit, after the first.
fn tables_of(widths: &[usize], most: usize) -> Vec<Vec<usize>> {
    let mut tables: Vec<Vec<usize>> = Vec::new();
    let mut left = 0;
    for (at, width) in widths.iter().enumerate() {
        match tables.last_mut() {
            Some(table) if width + 2 <= left || table.len() == 1 => table.push(at),
            Some(_) => {
                tables.push(vec![0, at]);
                left = most.saturating_sub(widths[0] + 2);
            }
            None => {
                tables.push(vec![at]);
                left = most;
            }
        }
        left = left.saturating_sub(width + 2);
    }
    tables
}

/// Colours a cell with a state that needs attention.
fn paint(cell: &str, padded: String, colours: bool) -> String {
    match cell {
        _ if !colours => padded,
        _ if cell == LinkState::Suspected.name() => format!("\x1b[1;31m{padded}\x1b[0m"),
        _ if cell == LinkState::Up.name() => format!("\x1b[32m{padded}\x1b[0m"),
        _ => padded,
    }
}

/// Removes control characters: names come from peers.
fn plain(text: &str) -> String {
    text.chars()
        .map(|letter| if letter.is_control() { '?' } else { letter })
        .collect()
}

/// Shortens a line to `width` characters, not counting control sequences.
fn shortened(line: &str, width: usize) -> String {
    let mut shown = 0;
    let mut steering = false;
    let mut cut = String::new();
    for letter in line.chars() {
        if letter == '\x1b' {
            steering = true;
        } else if steering {
            steering = letter != 'm';
        } else {
            shown += 1;
            if shown > width {
                continue;
            }
        }
        cut.push(letter);
    }
    cut
}

fn maybe<T>(value: Option<T>, show: impl Fn(T) -> String) -> String {
    value.map_or_else(|| "-".to_owned(), show)
}

fn decimal(value: Option<f64>) -> String {
    maybe(value, |value| {
        if value < 10.0 {
            format!("{value:.2}")
        } else {
            format!("{value:.1}")
        }
    })
}

fn percent(share: f64) -> String {
    format!("{:.2} %", share * 100.0)
}

fn bytes(count: u64) -> String {
    let mut value = count as f64;
    for unit in ["B", "kB", "MB", "GB"] {
        if value < 999.5 {
            let digits = usize::from(unit != "B" && value < 99.95);
            return format!("{value:.digits$} {unit}");
        }
        value /= 1000.0;
    }
    format!("{value:.1} TB")
}

fn span(seconds: f64) -> String {
    let seconds = seconds as u64;
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600, seconds / 60);
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{minutes} min {} s", seconds % 60),
        3600..86_400 => format!("{hours} h {} min", minutes % 60),
        _ => format!("{days} d {} h", hours % 24),
    }
}

#[cfg(test)]
mod tests {
    use super::super::examples;
    use super::*;

    const PLAIN: TableOptions = TableOptions {
        colours: false,
        width: None,
    };

    #[test]
    fn a_proxy_looks_like_this() {
        assert_eq!(
            tables(&examples::proxy(), PLAIN),
            "\
ropewalk proxy 0.1.0, up 1 h 2 min

192.0.2.7:4433, earliest-arrival, since 1 h 1 min, 65.5 kB of at most 67.1 MB wait for gaps
  link  state        heard  rtt ms   min  in Mbit/s   out  out at most  in flight  received    sent
  wifi  up         0 s ago    21.5  20.0       18.8  0.25         20.0     1.5 kB   75.0 MB  1.0 MB
  lte   suspected  0 s ago    63.0  61.5       18.8  0.25         20.0     1.5 kB   75.0 MB  1.0 MB
  link  retrans  congestion  quota left  suspected
  wifi  16.4 kB       cubic           -          0
  lte   16.4 kB       cubic      5.0 GB          3
streams
  stream  target           class       age  received    sent  unsent      gap  window
       7  example.org:443  streaming  12 s   31.0 MB  2.0 kB     0 B  65.5 kB  1.0 MB
"
        );
    }

    #[test]
    fn total_names_the_fastest_link_of_each_direction() {
        let text = r#"{"rate_mbps": {"sent": 0.31, "received": 38.14},
            "fastest_receiving": {"name": "dsl", "rate_mbps": 21.04}}"#;
        assert_eq!(
            total_line(&serde_json::from_str(text).unwrap()),
            "in 38.1 Mbit/s (fastest link: dsl, 21.0), out 0.31 Mbit/s"
        );
    }

    #[test]
    fn dropped_packets_have_their_reason() {
        let text = r#"{"interface": "ropewalk0", "peer": "relay", "links": [],
            "dropped_packets": {"given-up": 0, "over-rate": 2, "queue-full": 9}}"#;
        let tunnel = serde_json::from_str(text).unwrap();
        let line = &tunnel_lines(&tunnel, PLAIN)[1];
        assert_eq!(line, "dropped 2 (over-rate), dropped 9 (queue-full)");
    }

    #[test]
    fn names_of_peers_cannot_steer_the_terminal() {
        let mut document = examples::proxy();
        document.associations[0].links[0].name = "\x1b[2Jup\r\n\u{9b}1m".to_owned();
        document.associations[0].streams[0].target = Some("a\x07b".to_owned());
        let text = tables(&document, PLAIN);
        let steers = |letter: char| letter.is_control() && letter != '\n';
        assert!(!text.contains(steers), "{text:?}");
        assert_eq!(
            text.lines().count(),
            tables(&examples::proxy(), PLAIN).lines().count()
        );
    }

    #[test]
    fn table_is_no_wider_than_the_terminal_and_omits_nothing() {
        for width in [40, 60, 80, 100, 200] {
            let options = TableOptions {
                width: Some(width),
                ..PLAIN
            };
            let links = &examples::proxy().associations[0].links;
            let lines = link_lines(links, options);
            assert!(
                lines.iter().all(|line| line.chars().count() <= width),
                "{lines:#?}"
            );
            for column in ["rtt ms", "received", "quota left", "suspected"] {
                assert!(
                    lines.iter().any(|line| line.contains(column)),
                    "{column} {width}"
                );
            }
        }
    }

    #[test]
    fn lines_are_cut_to_the_terminal_without_its_colours_leaking() {
        let options = TableOptions {
            colours: true,
            width: Some(14),
        };
        for line in tables(&examples::proxy(), options).lines() {
            let marks = line.matches("\x1b[").count();
            assert_eq!(marks % 2, 0, "{line:?}");
            let shown: String = line
                .split('\x1b')
                .enumerate()
                .map(|(at, part)| match at {
                    0 => part,
                    _ => part.split_once('m').expect("a colour ends").1,
                })
                .collect();
            assert!(shown.chars().count() <= 14, "{line:?}");
        }
    }

    #[test]
    fn a_gateway_without_anything_says_so() {
        let mut document = examples::proxy();
        document.associations.clear();
        document.association_count = 0;
        assert!(tables(&document, PLAIN).ends_with("\n\nno association\n"));
        document.association_count = 3;
        assert!(tables(&document, PLAIN).ends_with("\n\nand 3 more associations\n"));
    }
}
