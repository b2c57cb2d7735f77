//! Status of an association, for [`crate::status`].

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use ropewalk_quantities::{Rate, Time};
use ropewalk_striping as striping;
use ropewalk_striping::{CarrierId, CarrierStatistics, StreamId};
use tokio::net::TcpStream;

use super::congestion::name_of;
use super::{Association, State, StreamEntry};
use crate::status::document::{self, MAX_STREAMS};

/// Receive window of a stream before any data (see [`striping::Config::memory`]).
const INITIAL_WINDOW: u64 = 64 << 10;

/// Maximum number of links with counters. A peer may name links at will.
const LINKS: usize = 256;

#[derive(Debug, Default)]
pub(super) struct RetiredCounters {
    links: BTreeMap<u32, LinkCounters>,
    pub(super) opened_streams: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct LinkCounters {
    sent: u64,
    received: u64,
    resent: u64,
    suspicions: u64,
    /// Time of the last arrival on any ended carrier.
    heard_at: Option<Time>,
}

impl RetiredCounters {
    /// Adds the counters of an ending carrier to its link's.
    pub(super) fn keep(&mut self, core: &striping::Association<Bytes>, id: CarrierId) {
        if let Some(carrier) = core.carrier_statistics(id) {
            let Some(past) = self.past(carrier.link) else {
                return;
            };
            past.sent += carrier.sent.as_u64();
            past.received += carrier.received.as_u64();
            past.resent += carrier.resent.as_u64();
            past.heard_at = past.heard_at.max(Some(carrier.heard_at));
        }
    }

    pub(super) fn note_suspicion(&mut self, core: &striping::Association<Bytes>, id: CarrierId) {
        if let Some(carrier) = core.carrier_statistics(id)
            && let Some(past) = self.past(carrier.link)
        {
            past.suspicions += 1;
        }
    }

    fn past(&mut self, link: u32) -> Option<&mut LinkCounters> {
        let has_room = self.links.len() < LINKS || self.links.contains_key(&link);
        has_room.then(|| self.links.entry(link).or_default())
    }
}

/// Status context: facts outside the association's own state.
pub(crate) struct StatusContext<'a> {
    pub(crate) name: [u8; 16],
    pub(crate) peer: String,
    pub(crate) began: Instant,
    pub(crate) links: Vec<LinkStatusContext<'a>>,
}

/// Status context of a link: facts outside its carriers' state.
pub(crate) struct LinkStatusContext<'a> {
    /// Number in [`striping::CarrierConfig`].
    pub(crate) number: u32,
    pub(crate) name: &'a str,
    pub(crate) cost: f64,
    /// State while it has no carrier.
    pub(crate) idle: document::LinkState,
}

impl Association {
    pub(crate) fn document(&self, about: &StatusContext<'_>) -> document::AssociationSummary {
        let state = self.0.lock();
        let now = self.0.now();
        let carriers: Vec<(CarrierStatistics, Arc<TcpStream>)> = state
            .carriers
            .iter()
            .filter_map(|(id, entry)| {
                let statistics = state.core.carrier_statistics(*id)?;
                Some((statistics, Arc::clone(&entry.socket)))
            })
            .collect();
        let mut streams: Vec<document::StreamSummary> = state
            .streams
            .iter()
            .filter_map(|(id, entry)| stream(&state, *id, entry))
            .collect();
        let reassembly_bytes = streams.iter().map(|stream| stream.reassembly_bytes).sum();
        let stream_count = streams.len() as u64;
        streams.sort_by_key(|stream| {
            let moved = stream.sent_bytes + stream.received_bytes;
            (std::cmp::Reverse(moved), stream.id)
        });
        streams.truncate(MAX_STREAMS);
        let (opened_streams, mut links) = (
            state.ledger.opened_streams,
            about
                .links
                .iter()
                .map(|link| link_document(&state, now, &carriers, link))
                .collect::<Vec<_>>(),
        );
        // The lock is not held during system calls.
        drop(state);
        for (link, about) in links.iter_mut().zip(&about.links) {
            link.congestion =
                shown(&carriers, about.number).and_then(|(_, socket)| name_of(socket));
        }
        document::AssociationSummary {
            id: about.name[..4]
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect(),
            peer: about.peer.clone(),
            scheduler: Some(self.0.config.scheduling.name().to_owned()),
            age_s: about.began.elapsed().as_secs_f64(),
            links,
            streams,
            stream_count,
            opened_streams,
            reassembly_bytes,
            reassembly_bound_bytes: self.0.config.memory.as_u64() + stream_count * INITIAL_WINDOW,
        }
    }
}

/// Selects the carrier to show while one replaces another: one that is not suspected, if there is any.
fn shown(
    carriers: &[(CarrierStatistics, Arc<TcpStream>)],
    link: u32,
) -> Option<&(CarrierStatistics, Arc<TcpStream>)> {
    let own = || carriers.iter().filter(|(carrier, _)| carrier.link == link);
    own()
        .find(|(carrier, _)| !carrier.suspected)
        .or(own().next())
}

fn link_document(
    state: &State,
    now: Time,
    carriers: &[(CarrierStatistics, Arc<TcpStream>)],
    link: &LinkStatusContext<'_>,
) -> document::LinkSummary {
    let own: Vec<&CarrierStatistics> = carriers
        .iter()
        .map(|(carrier, _)| carrier)
        .filter(|carrier| carrier.link == link.number)
        .collect();
    let past = state.ledger.links.get(&link.number);
    let past = past.copied().unwrap_or_default();
    let shown = shown(carriers, link.number).map(|(carrier, _)| carrier);
    let sum =
        |of: fn(&CarrierStatistics) -> u64| own.iter().map(|carrier| of(carrier)).sum::<u64>();
    let heard = own.iter().map(|carrier| Some(carrier.heard_at)).max();
    let heard = heard.flatten().max(past.heard_at);
    let ms = |time: Option<Time>| time.map(Time::as_millis_f64);
    document::LinkSummary {
        name: link.name.to_owned(),
        state: match shown {
            Some(carrier) if carrier.suspected => document::LinkState::Suspected,
            Some(_) => document::LinkState::Up,
            None => link.idle,
        },
        last_heard_s: heard.map(|at| now.saturating_sub(at).as_secs_f64()),
        rtt_ms: ms(shown.and_then(|carrier| carrier.srtt)),
        min_rtt_ms: ms(shown.and_then(|carrier| carrier.min_rtt)),
        delivery_rate_mbps: shown.and_then(|carrier| carrier.rate).map(Rate::as_mbps),
        in_flight_bytes: sum(|carrier| carrier.in_flight.as_u64()),
        sent_bytes: past.sent + sum(|carrier| carrier.sent.as_u64()),
        received_bytes: past.received + sum(|carrier| carrier.received.as_u64()),
        resent_bytes: Some(past.resent + sum(|carrier| carrier.resent.as_u64())),
        suspicions: past.suspicions,
        cost: link.cost,
        quota_left_bytes: shown
            .and_then(|carrier| carrier.quota_left)
            .map(|bytes| bytes.as_u64()),
        throttled_mbps: shown
            .and_then(|carrier| carrier.throttle)
            .map(Rate::as_mbps),
        ..document::LinkSummary::default()
    }
}

fn stream(state: &State, id: StreamId, entry: &StreamEntry) -> Option<document::StreamSummary> {
    let known = state.core.stream_statistics(id)?;
    let written = known.written.as_u64();
    let unsent = known.waiting.as_u64();
    let reassembling = known.reassembling.as_u64();
    let in_order = known.held.as_u64().saturating_sub(reassembling);
    Some(document::StreamSummary {
        id: id.0.into(),
        target: entry.target.clone(),
        class: Some(entry.urgency.class().name().to_owned()),
        age_s: entry.began.elapsed().as_secs_f64(),
        sent_bytes: written.saturating_sub(unsent),
        received_bytes: known.read.as_u64() + in_order,
        unsent_bytes: unsent,
        reassembly_bytes: reassembling,
        window_bytes: known.window.as_u64(),
    })
}
