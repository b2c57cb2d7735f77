//! Both ends of a flow, by the protocol that carries it.
//!
//! The run loop drives a host as a driver drives an endpoint: a packet arrives, a timer expires, packets
//! are sent until there are none, the next timers are read. The host manages its connections, the
//! distribution of packets over paths, and messages between the ends.

mod aggregation;
mod connection;
mod datagrams;
mod mptcp_ns3;
mod sending_host;
mod striped;
mod tunnel;
mod virtual_device;

use std::sync::Arc;

use rand_pcg::Pcg64Mcg;
use ropewalk_quantities::Time;
use ropewalk_scenario::{Carried, Device, Flow, Protocol, Scenario, Traffic};
use ropewalk_striping::Terms;
use ropewalk_transport::mptcp_ns3::{Coupling, Policy, Settings};
use ropewalk_transport::{Config, Counters, SubflowState};

use crate::Unsupported;
use crate::event_recorders::EventRecorders;
use aggregation::Aggregation;
use connection::Connection;
pub(crate) use datagrams::Datagrams;
use mptcp_ns3::MptcpNs3;
pub(crate) use sending_host::{CLIENT, Delivered, FirstHop, Incoming, SERVER, SendingHost};
use striped::Striped;
use tunnel::Tunnel;

#[derive(Debug)]
pub(crate) enum Host {
    /// `tcp`, `mptcp`
    Connection(Connection),
    /// `mptcp` of an ns-3 module
    MptcpNs3(Box<MptcpNs3>),
    /// `udp`
    Datagrams(Box<Datagrams>),
    /// `striped-tcp` over the paper's device
    Striped(Striped),
    /// `striped-tcp` over the gateway's tunnel
    Tunnel(Box<Tunnel>),
    /// `aggregation`
    Aggregation(Box<Aggregation>),
}

/// Calls the same method of any host; of a striped one, its connection's.
macro_rules! each {
    ($host:expr, $inner:ident => $call:expr) => {
        match $host {
            Host::Connection($inner)
            | Host::Striped(Striped {
                connection: $inner, ..
            }) => $call,
            Host::MptcpNs3($inner) => $call,
            Host::Datagrams($inner) => $call,
            Host::Tunnel($inner) => $call,
            Host::Aggregation($inner) => $call,
        }
    };
}

/// Runs the same code with any host, as one that [`SendingHost`].
macro_rules! send_by {
    ($host:expr, $sender:ident => $call:expr) => {
        match $host {
            $crate::hosts::Host::Connection($sender) => $call,
            $crate::hosts::Host::Striped($sender) => $call,
            $crate::hosts::Host::MptcpNs3(boxed) => {
                let $sender = &mut **boxed;
                $call
            }
            $crate::hosts::Host::Datagrams(boxed) => {
                let $sender = &mut **boxed;
                $call
            }
            $crate::hosts::Host::Tunnel(boxed) => {
                let $sender = &mut **boxed;
                $call
            }
            $crate::hosts::Host::Aggregation(boxed) => {
                let $sender = &mut **boxed;
                $call
            }
        }
    };
}
pub(crate) use send_by;

impl Host {
    /// Creates the host of a flow over its paths; `keys` gives the random numbers of its endpoints.
    pub(crate) fn build(
        scenario: &Scenario,
        flow: &Flow,
        config: &Arc<Config>,
        keys: Pcg64Mcg,
    ) -> Result<Host, Unsupported> {
        let headers = flow.packet_overhead() + config.ip_version.header_len();
        Ok(match &flow.protocol {
            Protocol::Tcp | Protocol::Mptcp => {
                let mut connection = Connection::new(config, flow.subflows(), headers, keys);
                connection.set_costs(&costs(scenario, flow));
                let middleboxes = flow.paths.iter().map(|path| scenario.strips_mptcp(*path));
                connection.set_middleboxes(&middleboxes.collect::<Vec<_>>());
                Host::Connection(connection)
            }
            Protocol::MptcpNs3 => {
                let unsupported = |key: &str, value: &str, names: &[&str]| Unsupported {
                    key: flow.key(key),
                    value: value.to_owned(),
                    what: "simulated",
                    allowed: format!("{} (mptcp-ns3)", names.join(", ")),
                };
                let settings = Settings::new(config).ok_or_else(|| {
                    match Coupling::of(&config.congestion) {
                        None => {
                            unsupported("congestion", config.congestion.name(), &Coupling::NAMES)
                        }
                        Some(_) if Policy::of(&config.reordering).is_none() => {
                            let names = Policy::ALL.map(Policy::name);
                            unsupported("reordering", config.reordering.name(), &names)
                        }
                        Some(_) => {
                            unsupported("scheduler", config.scheduler.name(), &Settings::SCHEDULERS)
                        }
                    }
                })?;
                let costs = costs(scenario, flow);
                let of_each = (0..flow.subflows()).map(|subflow| costs[subflow % costs.len()]);
                Host::MptcpNs3(Box::new(MptcpNs3::new(
                    settings,
                    &of_each.collect::<Vec<_>>(),
                    headers,
                    keys,
                )))
            }
            Protocol::Udp => Host::Datagrams(Box::new(Datagrams::new(flow))),
            Protocol::StripedTcp(device) if device.kind == Device::Naive => {
                let connection = Connection::new(config, 1, headers, keys);
                Host::Striped(Striped::new(connection, scenario, flow, *device)?)
            }
            Protocol::StripedTcp(device) => {
                Host::Tunnel(Box::new(Tunnel::new(flow, *device, config, keys)))
            }
            Protocol::Gateway(Carried::Quic | Carried::Udp) => {
                let device = flow.protocol.device().expect("the tunnel carries these");
                Host::Tunnel(Box::new(Tunnel::new(flow, device, config, keys)))
            }
            Protocol::Aggregation(aggregation) | Protocol::Gateway(Carried::Tcp(aggregation)) => {
                let costs = costs(scenario, flow);
                let first = match flow.traffic {
                    Traffic::Requested(_) => SERVER,
                    Traffic::Bulk { .. } | Traffic::Messages { .. } | Traffic::Video(_) => CLIENT,
                };
                let host = Aggregation::new(aggregation, config, first, &costs, headers, keys);
                Host::Aggregation(Box::new(host))
            }
        })
    }

    /// Returns the single TCP or MPTCP connection, if the host is one.
    #[inline]
    pub(crate) fn connection(&mut self) -> Option<&mut Connection> {
        match self {
            Host::Connection(connection) => Some(connection),
            Host::MptcpNs3(_)
            | Host::Datagrams(_)
            | Host::Striped(_)
            | Host::Tunnel(_)
            | Host::Aggregation(_) => None,
        }
    }

    /// Whether the flow requested MPTCP, and got a TCP connection.
    pub(crate) fn fell_back(&self) -> bool {
        matches!(self, Host::Connection(connection) if connection.fell_back())
    }

    /// Returns the ns-3 module's MPTCP, for its additional measurements, if the host is one.
    pub(crate) fn mptcp_ns3(&self) -> Option<&MptcpNs3> {
        match self {
            Host::MptcpNs3(host) => Some(host),
            Host::Connection(_)
            | Host::Datagrams(_)
            | Host::Striped(_)
            | Host::Tunnel(_)
            | Host::Aggregation(_) => None,
        }
    }

    /// Returns the datagrams as sent and as received, if it carries a flow of them.
    #[inline]
    pub(crate) fn datagrams(&self) -> Option<[&Datagrams; 2]> {
        match self {
            Host::Datagrams(datagrams) => Some([datagrams, datagrams]),
            Host::Tunnel(tunnel) => tunnel.datagrams(),
            Host::Connection(_) | Host::MptcpNs3(_) | Host::Striped(_) | Host::Aggregation(_) => {
                None
            }
        }
    }

    pub(crate) fn received_datagrams(&mut self) -> Option<&mut Datagrams> {
        match self {
            Host::Datagrams(datagrams) => Some(datagrams),
            Host::Tunnel(tunnel) => tunnel.received_datagrams(),
            Host::Connection(_) | Host::MptcpNs3(_) | Host::Striped(_) | Host::Aggregation(_) => {
                None
            }
        }
    }

    /// Returns whether a finite transfer of datagrams is over. A tunnel retransmits lost ones, so all have to
    /// arrive there.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        match self {
            Host::Datagrams(datagrams) => datagrams.is_over(),
            _ => self.datagrams().is_some_and(|[sent, received]| {
                sent.has_sent_everything() && received.delivered() == sent.offset()
            }),
        }
    }

    pub(crate) fn data_packets(&self) -> u64 {
        let segments = (0..self.subflows()).map(|subflow| self.counters(subflow).segments_sent);
        segments.sum::<u64>() + self.datagrams().map_or(0, |[sent, _]| sent.sent())
    }

    /// Applies new terms to the paths, if the host chooses paths by terms.
    pub(crate) fn set_terms(&mut self, now: Time, terms: &[Terms]) {
        match self {
            Host::Connection(connection) => connection.set_terms(terms),
            Host::MptcpNs3(host) => host.set_terms(terms),
            Host::Aggregation(host) => host.set_terms(terms),
            Host::Tunnel(host) => host.set_terms(now, terms),
            Host::Datagrams(_) | Host::Striped(_) => {}
        }
    }

    /// Starts the application: opens connections.
    pub(crate) fn start(&mut self, now: Time) {
        each!(self, host => host.start(now));
    }

    #[inline]
    pub(crate) fn handle_packet<R: EventRecorders>(
        &mut self,
        now: Time,
        packet: Incoming<'_>,
        recorders: &mut R,
    ) -> Delivered {
        match self {
            Host::Connection(connection) => connection.handle_packet(now, &packet, recorders),
            others => others.handle_packet_general(now, packet, recorders),
        }
    }

    /// Not inlined, so that large hosts do not slow down the usual one.
    #[inline(never)]
    fn handle_packet_general<R: EventRecorders>(
        &mut self,
        now: Time,
        packet: Incoming<'_>,
        recorders: &mut R,
    ) -> Delivered {
        each!(self, host => host.handle_packet(now, &packet, recorders))
    }

    /// Frees the slot of a dropped or lost packet.
    #[inline]
    pub(crate) fn drop_packet(&mut self, slot: u32) {
        match self {
            Host::Tunnel(tunnel) => tunnel.drop_packet(slot),
            Host::Datagrams(datagrams) => datagrams.drop_packet(),
            Host::Connection(_) | Host::MptcpNs3(_) | Host::Striped(_) | Host::Aggregation(_) => {}
        }
    }

    /// Handles a packet that left the medium it had entered first; returns whether another may be sent.
    pub(crate) fn on_first_hop_exit(&mut self) -> bool {
        match self {
            Host::Datagrams(datagrams) => {
                datagrams.on_first_hop_exit();
                true
            }
            Host::Connection(_)
            | Host::MptcpNs3(_)
            | Host::Striped(_)
            | Host::Tunnel(_)
            | Host::Aggregation(_) => false,
        }
    }

    /// Handles a timer of an end that may have expired; returns the data delivered as a result.
    #[inline]
    pub(crate) fn handle_timeout<R: EventRecorders>(
        &mut self,
        now: Time,
        end: usize,
        recorders: &mut R,
    ) -> Delivered {
        match self {
            Host::Tunnel(tunnel) => return tunnel.handle_timeout(now, end, recorders),
            Host::Connection(connection) | Host::Striped(Striped { connection, .. }) => {
                connection.handle_timeout(now, end, recorders);
            }
            Host::Aggregation(host) => host.handle_timeout(now, end, recorders),
            Host::MptcpNs3(host) => host.handle_timeout(now, end, recorders),
            // Its turn follows.
            Host::Datagrams(_) => {}
        }
        Delivered { bytes: 0 }
    }

    /// Returns the MPTCP key of an end, of the first connection if there are several.
    pub(crate) fn key(&self, end: usize) -> u64 {
        each!(self, host => host.key(end))
    }

    pub(crate) fn subflows(&self) -> usize {
        each!(self, host => host.subflows())
    }

    /// Returns a subflow as its sender sees it.
    pub(crate) fn state(&self, subflow: usize) -> &SubflowState {
        each!(self, host => host.state(subflow))
    }

    pub(crate) fn counters(&self, subflow: usize) -> Counters {
        each!(self, host => host.counters(subflow))
    }

    /// Returns the data segments that arrived on this subflow without new data.
    pub(crate) fn duplicates(&self, subflow: usize) -> u64 {
        each!(self, host => host.duplicates(subflow))
    }

    pub(crate) fn delivered_by(&self, subflow: usize) -> u64 {
        each!(self, host => host.delivered_by(subflow))
    }

    /// Returns the bytes in flight on this subflow that were also sent on others; `None` where that is
    /// impossible.
    pub(crate) fn resent_by(&self, subflow: usize) -> Option<u64> {
        match self {
            Host::Connection(_)
            | Host::MptcpNs3(_)
            | Host::Datagrams(_)
            | Host::Striped(_)
            | Host::Tunnel(_) => None,
            Host::Aggregation(aggregation) => Some(aggregation.resent_by(subflow)),
        }
    }

    #[inline]
    pub(crate) fn delivered(&self) -> u64 {
        match self {
            Host::Connection(connection) => connection.delivered(),
            others => others.delivered_apart(),
        }
    }

    #[inline(never)]
    fn delivered_apart(&self) -> u64 {
        each!(self, host => host.delivered())
    }

    pub(crate) fn reorder_buffer(&self) -> u64 {
        each!(self, host => host.reorder_buffer())
    }

    pub(crate) fn reorder_buffer_max(&self) -> u64 {
        each!(self, host => host.reorder_buffer_max())
    }

    pub(crate) fn restart_reorder_buffer_max(&mut self) {
        each!(self, host => host.restart_reorder_buffer_max());
    }

    /// Returns the data packets with new data, and the number that arrived behind a gap.
    pub(crate) fn packets(&self) -> (u64, u64) {
        each!(self, host => host.packets())
    }

    pub(crate) fn is_closed(&self) -> bool {
        each!(self, host => host.is_closed())
    }
}

/// Returns the cost of a byte on each path of a flow: the sum over its links.
fn costs(scenario: &Scenario, flow: &Flow) -> Vec<f64> {
    let cost = |path: usize| {
        let hops = scenario.paths[path].hops.iter();
        hops.map(|&link| scenario.links[link].cost.unwrap_or(0.0))
            .sum()
    };
    flow.paths.iter().map(|&path| cost(path)).collect()
}
