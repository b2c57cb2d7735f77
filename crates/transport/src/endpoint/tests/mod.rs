//! Two endpoints, a virtual clock, and links whose behaviour tests control.

mod close;
mod events;
mod fallback;
mod fast_path;
mod handshake;
mod multipath;
mod properties;
mod rack;
mod reception;
mod recovery;
mod reordering;
mod shared_window;
mod window;

use std::collections::BTreeMap;
use std::sync::Arc;

use ropewalk_quantities::{Bytes, Time};

use crate::congestion::newreno::NewRenoConfig;
use crate::congestion::uncoupled::UncoupledConfig;
use crate::event::{TraceEvent, TraceRecord};
use crate::{
    Config, Endpoint, Event, Flags, InitialWindow, IpVersion, Options, Profile, Segment,
    SinglePathConfig,
};

pub(crate) fn ms(millis: u64) -> Time {
    Time::from_millis(millis)
}

/// NewReno with the RFCs' defaults, a round segment size, and every segment acknowledged.
pub(crate) fn plain_tcp() -> Config {
    Config::profile(Profile::Rfc).with(|config| {
        config.multipath = false;
        config.congestion = SinglePathConfig::from(NewRenoConfig::DEFAULT).into();
        config.segment = Bytes::new(1000);
        config.initial_window = InitialWindow::Segments(10);
        config.receiver.delayed_ack = 1;
    })
}

pub(crate) fn mptcp() -> Config {
    Config {
        multipath: true,
        congestion: UncoupledConfig::DEFAULT.into(),
        ..plain_tcp()
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct InFlightSegment {
    pub(crate) sent: Time,
    pub(crate) to_server: bool,
    pub(crate) subflow: usize,
    pub(crate) segment: Segment,
    pub(crate) number: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Arrives,
    Lost,
    Late(Time),
    Twice,
}

type LinkModel = Box<dyn FnMut(&InFlightSegment) -> Fate>;
type Middlebox = Box<dyn Fn(usize, &mut Segment)>;

pub(crate) struct Pair {
    pub(crate) client: Endpoint,
    pub(crate) server: Endpoint,
    pub(crate) now: Time,
    pub(crate) delays: Vec<Time>,
    pub(crate) fate: LinkModel,
    /// Changes each segment of a subflow behind its sender.
    pub(crate) middlebox: Middlebox,
    pub(crate) sent: Vec<InFlightSegment>,
    pub(crate) events: Vec<TraceRecord>,
    pub(crate) server_records: Vec<TraceRecord>,
    pub(crate) listens: bool,
    pub(crate) client_events: Vec<Event>,
    pub(crate) server_events: Vec<Event>,
    pub(crate) reads: bool,
    most: u64,
    wire: BTreeMap<(Time, usize), InFlightSegment>,
    copies: usize,
}

impl Pair {
    pub(crate) fn new(config: &Config, delays: &[u64]) -> Pair {
        let multipath = config.multipath;
        let config = Arc::new(config.clone());
        Pair {
            client: Endpoint::client(&config, delays.len(), 0x91aa_2012_8dac_826f, 1),
            server: Endpoint::server(&config, 0x46fe_363d_617f_8852, 2),
            now: Time::ZERO,
            delays: delays.iter().map(|&delay| ms(delay)).collect(),
            fate: Box::new(|_| Fate::Arrives),
            middlebox: Box::new(|_, _| {}),
            sent: Vec::new(),
            events: Vec::new(),
            server_records: Vec::new(),
            listens: true,
            client_events: Vec::new(),
            server_events: Vec::new(),
            reads: true,
            most: 20 + config.segment.as_u64() + config.data_option_len(multipath),
            wire: BTreeMap::new(),
            copies: 0,
        }
    }

    pub(crate) fn connected(config: &Config, delays: &[u64]) -> Pair {
        let mut pair = Pair::new(config, delays);
        pair.client.connect();
        pair.drive(Time::from_secs(5));
        assert!(pair.client_events.contains(&Event::Connected));
        pair.sent.clear();
        pair.events.clear();
        pair
    }

    pub(crate) fn flush(&mut self) {
        loop {
            let mut quiet = true;
            for to_server in [true, false] {
                while let Some((subflow, mut segment)) = self.transmit(to_server) {
                    quiet = false;
                    (self.middlebox)(subflow, &mut segment);
                    let options = segment.header_len() - 20;
                    assert!(options <= 40, "{options} bytes of options: {segment:?}");
                    let len = u64::from(segment.header_len() + segment.len);
                    assert!(
                        segment.len == 0 || len <= self.most,
                        "too long: {segment:?}"
                    );
                    let syn = segment.flags.contains(Flags::SYN);
                    assert!(syn || segment.seq > 0, "only a SYN is at 0: {segment:?}");
                    let number = self.sent.len();
                    let passing = InFlightSegment {
                        sent: self.now,
                        to_server,
                        subflow,
                        segment,
                        number,
                    };
                    self.sent.push(passing);
                    let arrival = self.now + self.delays[subflow];
                    let (arrival, copies) = match (self.fate)(&passing) {
                        Fate::Arrives => (arrival, 1),
                        Fate::Lost => (arrival, 0),
                        Fate::Late(by) => (arrival + by, 1),
                        Fate::Twice => (arrival, 2),
                    };
                    for _ in 0..copies {
                        self.copies += 1;
                        self.wire.insert((arrival, self.copies), passing);
                    }
                }
                let (end, events) = if to_server {
                    (&mut self.client, &mut self.client_events)
                } else {
                    (&mut self.server, &mut self.server_events)
                };
                events.extend(std::iter::from_fn(|| end.poll_event()));
            }
            if quiet {
                return;
            }
        }
    }

    fn transmit(&mut self, client: bool) -> Option<(usize, Segment)> {
        let mut segment = Segment::EMPTY;
        let subflow = if client && self.listens {
            let mut end = self.client.recorded_by(&mut self.events);
            end.poll_transmit(self.now, &mut segment)
        } else if client {
            self.client.poll_transmit(self.now, &mut segment)
        } else if self.listens {
            let mut end = self.server.recorded_by(&mut self.server_records);
            end.poll_transmit(self.now, &mut segment)
        } else {
            self.server.poll_transmit(self.now, &mut segment)
        };
        subflow.map(|subflow| (subflow, segment))
    }

    /// Processes the next arrival or timer; returns false if there is none before `until`.
    pub(crate) fn step(&mut self, until: Time) -> bool {
        self.flush();
        let arrival = self.wire.first_key_value().map(|(&(time, _), _)| time);
        let timers = [self.client.poll_timeout(), self.server.poll_timeout()];
        let Some(next) = timers.into_iter().chain([arrival]).flatten().min() else {
            return false;
        };
        if next > until {
            return false;
        }
        self.now = self.now.max(next);
        if arrival == Some(next) {
            let (_, passing) = self.wire.pop_first().expect("an arrival");
            let (now, subflow, segment) = (self.now, passing.subflow, &passing.segment);
            if passing.to_server && self.listens {
                let mut server = self.server.recorded_by(&mut self.server_records);
                server.handle_segment(now, subflow, segment);
            } else if passing.to_server {
                self.server.handle_segment(now, subflow, segment);
            } else if self.listens {
                let mut client = self.client.recorded_by(&mut self.events);
                client.handle_segment(now, subflow, segment);
            } else {
                self.client.handle_segment(now, subflow, segment);
            }
            if self.reads {
                self.server.read(u64::MAX);
            }
            self.client.read(u64::MAX);
        } else {
            if self.client.poll_timeout().is_some_and(|time| time <= next) {
                if self.listens {
                    let mut client = self.client.recorded_by(&mut self.events);
                    client.handle_timeout(next);
                } else {
                    self.client.handle_timeout(next);
                }
            }
            if self.server.poll_timeout().is_some_and(|time| time <= next) {
                self.server.handle_timeout(next);
            }
        }
        self.flush();
        true
    }

    /// Steps until no event is left before `until`, then sets the clock to it.
    pub(crate) fn drive(&mut self, until: Time) {
        while self.step(until) {}
        self.now = self.now.max(until);
    }

    pub(crate) fn transfer(&mut self, bytes: u64, until: Time) {
        let mut left = bytes - self.client.write(bytes);
        let goal = self.server.delivered() + bytes;
        while self.step(until) && self.server.delivered() < goal {
            left -= self.client.write(left);
        }
    }

    /// The exchange as text, one line per segment: `<time ms> <direction><subflow> <flags> seq:end ack ...`.
    pub(crate) fn script(&self) -> String {
        self.sent.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

pub(crate) fn transmit(end: &mut Endpoint, now: Time) -> Option<(usize, Segment)> {
    let mut segment = Segment::EMPTY;
    end.poll_transmit(now, &mut segment)
        .map(|subflow| (subflow, segment))
}

fn line(passing: &InFlightSegment) -> String {
    let segment = &passing.segment;
    let arrow = if passing.to_server { '>' } else { '<' };
    let names = [
        (Flags::SYN, 'S'),
        (Flags::FIN, 'F'),
        (Flags::RST, 'R'),
        (Flags::ACK, '.'),
    ];
    let flags: String = names
        .iter()
        .filter(|(flag, _)| segment.flags.contains(*flag))
        .map(|(_, name)| *name)
        .collect();
    let mut text = format!(
        "{:.0} {arrow}{} {flags}",
        passing.sent.as_millis_f64(),
        passing.subflow
    );
    if segment.sequence_len() > 0 {
        text += &format!(" {}:{}", segment.seq, segment.end());
    }
    if segment.flags.contains(Flags::ACK) {
        text += &format!(" ack {}", segment.ack);
    }
    if let Options::Sack(list) = &segment.options {
        let blocks: Vec<String> = list
            .iter(segment.ack)
            .map(|(start, end)| format!("{start}:{end}"))
            .collect();
        text += &format!(" sack {}", blocks.join(" "));
    }
    text
}
