//! A scenario as JSON in base units, with all defaults.

use ropewalk_network::radio::Propagation;
use ropewalk_network::{Capacity, DirectionConfig, Jitter, LinkConfig, Loss, QueueLimit};
use ropewalk_quantities::Time;
use ropewalk_transport::{Config, InitialWindow, Profile};
use serde_json::{Map, Value, json};

use crate::keys::TRANSPORT;
use crate::mesh_keys;
use crate::model::{Carried, Flow, FlowOrigin, Protocol, Scenario, Traffic};
use crate::parsed::{Parsed, ParsedType};
use crate::traffic_keys;
use crate::wireless_keys;

impl Scenario {
    /// The whole scenario in base units: seconds, bit/s, bytes, fractions.
    ///
    /// Keys equal the scenario file's, with these differences:
    /// - A link has `forward` and `reverse`. `rate` is a trace's mean, and absent if unlimited. A
    ///   queue is in bytes; if the file has packets, their number is in `queue_packets`.
    /// - A wireless link names its `channel`, has no rate, and its losses are per transmission of a
    ///   frame. Decibels, metres and hertz are plain numbers.
    /// - `transport` and `traffic` are the first flow's, with its `name`, `start` and `count`;
    ///   `flow` has the other flows. `in_turn` is true for round-robin assignment of paths to
    ///   connections.
    /// - An endpoint has `header_bytes`, the overhead of a data packet, and `ack_bytes`, the size
    ///   of an acknowledgement's IP packet.
    /// - An algorithm is its name; parameters that differ from their defaults are in
    ///   `scheduler_parameters` and so on.
    /// - Unlimited and missing values are absent.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let paths = self.paths.iter().map(|path| {
            let hops: Vec<&str> = path.hops.iter().map(|hop| self.link_name(*hop)).collect();
            json!({ "name": path.name, "hops": hops })
        });
        let competitors = self.competitors().map(|one| self.further(one));
        let first = self.measured_flow();
        let further = self.flows[1..].iter();
        let further = further.filter(|flow| flow.origin != FlowOrigin::Competitor);
        let further = further.map(|flow| self.further(flow));
        let transport = self.own(first);
        let mut object = json!({
            "title": self.title,
            "duration": self.duration.as_secs_f64(),
            "warmup": self.warmup.as_secs_f64(),
            "channel": self.channels(),
            "node": self.nodes(),
            "link": self.links.iter().enumerate().map(|(number, one)| {
                let mut object = link(one);
                if let Some(quota) = self.quota(number) {
                    object["quota"] = quota.size.as_u64().into();
                    if let Some(period) = quota.period {
                        object["period"] = period.as_secs_f64().into();
                        object["pace"] = quota.pace.name().into();
                    }
                }
                if let Some(strips) = self.middleboxes.get(number).copied().flatten() {
                    object["strips_mptcp"] = strips.name().into();
                }
                if let Some(radio) = self.wireless.link(number) {
                    let channel = &self.wireless.channels[radio.channel].config;
                    object["channel"] = channel.name.as_str().into();
                }
                object
            }).collect::<Vec<_>>(),
            "path": paths.collect::<Vec<_>>(),
            "transport": transport,
            "traffic": traffic(&first.traffic, &first.transport),
            "flow": further.collect::<Vec<_>>(),
            "competitor": competitors.collect::<Vec<_>>(),
        });
        if let Some(mesh) = &self.mesh {
            object["mesh"] = mesh_keys::object(mesh, &self.wireless.channels);
        }
        object
    }

    fn channels(&self) -> Value {
        let channels = self.wireless.channels.iter();
        channels
            .map(|channel| {
                let mut object = wireless_keys::object(&wireless_keys::of_channel(channel));
                if let Propagation::Matrix { loss_db } = &channel.config.propagation {
                    object["propagation"]["loss"] = json!(finite(loss_db));
                }
                Value::Object(object)
            })
            .collect()
    }

    fn nodes(&self) -> Value {
        let nodes = self.wireless.nodes.iter();
        nodes
            .map(|node| {
                let channels = self.wireless.channels.iter();
                let radios = channels.filter_map(|channel| {
                    let own = channel
                        .radios
                        .iter()
                        .find(|radio| radio.node == node.name)?;
                    let mut object = wireless_keys::object(&wireless_keys::of_radio(own));
                    object.insert("channel".into(), channel.config.name.as_str().into());
                    Some(Value::Object(object))
                });
                json!({ "name": node.name, "at": node.at, "radios": radios.collect::<Vec<_>>() })
            })
            .collect()
    }

    fn own(&self, flow: &Flow) -> Map<String, Value> {
        let mut object = transport(flow);
        object.insert("name".into(), flow.name.as_str().into());
        object.insert("count".into(), flow.count.into());
        object.insert("paths".into(), self.names_of(&flow.paths));
        if flow.in_turn {
            object.insert("in_turn".into(), true.into());
        }
        object.insert("start".into(), flow.start.as_secs_f64().into());
        object
    }

    fn further(&self, flow: &Flow) -> Value {
        let mut object = self.own(flow);
        object.insert("traffic".into(), traffic(&flow.traffic, &flow.transport));
        if let (FlowOrigin::Competitor, Traffic::Bulk { size: Some(size) }) =
            (flow.origin, &flow.traffic)
        {
            object.insert("size".into(), size.as_u64().into());
        }
        object.into()
    }

    fn link_name(&self, link: usize) -> &str {
        &self.links[link].name
    }

    fn names_of(&self, paths: &[usize]) -> Value {
        let names = paths.iter().map(|path| self.paths[*path].name.as_str());
        names.collect::<Vec<_>>().into()
    }
}

/// Losses in dB; `None` for infinity, which JSON does not have.
fn finite(loss_db: &[Vec<f64>]) -> Vec<Vec<Option<f64>>> {
    let rows = loss_db.iter();
    rows.map(|row| {
        row.iter()
            .map(|loss| Some(*loss).filter(|loss| loss.is_finite()))
            .collect()
    })
    .collect()
}

fn link(link: &LinkConfig) -> Value {
    let down = link.down.iter();
    let outages = down.map(|outage| [outage.start.as_secs_f64(), outage.end.as_secs_f64()]);
    let mut object = json!({
        "name": link.name,
        "forward": direction(&link.forward, link.round_trip()),
        "reverse": direction(&link.reverse, link.round_trip()),
        "down": outages.collect::<Vec<_>>(),
    });
    if let Some([from, to]) = &link.ends {
        object["from"] = from.as_str().into();
        object["to"] = to.as_str().into();
    }
    if let Some(cost) = link.cost {
        object["cost"] = cost.into();
    }
    object
}

fn direction(direction: &DirectionConfig, round_trip: Time) -> Value {
    let mut object = Map::new();
    if let Some(rate) = direction.capacity.mean_rate() {
        let queue = direction.queue.bytes(&direction.capacity, round_trip);
        object.insert("rate".into(), rate.as_bps().into());
        object.insert("queue".into(), queue.as_u64().into());
        if let QueueLimit::Packets(packets) = direction.queue {
            object.insert("queue_packets".into(), packets.into());
        }
    }
    if let Capacity::Trace(trace) = &direction.capacity {
        object.insert("trace".into(), trace.name.as_str().into());
    }
    object.insert("delay".into(), direction.delay.as_secs_f64().into());
    let jitter = direction.jitter.as_ref().map_or(Time::ZERO, Jitter::most);
    object.insert("jitter".into(), jitter.as_secs_f64().into());
    let slot = direction.slot.map_or(Time::ZERO, |slot| slot.most);
    object.insert("slot".into(), slot.as_secs_f64().into());
    object.insert("loss".into(), direction.loss.mean().into());
    if matches!(direction.loss, Loss::GilbertElliott { .. }) {
        object.insert("loss_in_bursts".into(), true.into());
    }
    object.into()
}

/// The protocol with its own keys, and all fields of `Config` with a key; for datagrams only their
/// keys.
fn transport(flow: &Flow) -> Map<String, Value> {
    let config = &flow.transport;
    let mut object = Map::new();
    if flow.protocol.is_datagrams() {
        let headers = json!(flow.datagram_headers() + flow.packet_overhead());
        for (key, value) in [
            ("protocol", json!(flow.protocol.json_name())),
            ("segment", json!(config.segment.as_u64())),
            ("ip_version", json!(config.ip_version.name())),
            ("header_bytes", headers),
        ] {
            object.insert(key.into(), value);
        }
        if let Protocol::Gateway(carried) = &flow.protocol {
            object.insert("carries".into(), carried.name().into());
        }
        return object;
    }
    for key in TRANSPORT.keys() {
        if let Some(field) = key.default.field() {
            insert(&mut object, key.name, &(field.get)(config), config);
        }
    }
    let scheduler = flow.protocol.scheduler(config);
    insert(&mut object, "scheduler", &scheduler.to_parsed(), config);
    let mut own = |key: &str, value: Value| object.insert(key.into(), value);
    let outside = u64::from(flow.packet_overhead());
    own("header_bytes", (outside + config.headers_len()).into());
    own("ack_bytes", (outside + config.acknowledgement_len()).into());
    own("protocol", flow.protocol.json_name().into());
    if let Protocol::Gateway(carried) = &flow.protocol {
        own("carries", carried.name().into());
    }
    match &flow.protocol {
        Protocol::Tcp
        | Protocol::Udp
        | Protocol::Mptcp
        | Protocol::Gateway(Carried::Quic | Carried::Udp) => {}
        Protocol::MptcpNs3 => {
            own("profile", Profile::MptcpNs3.name().into());
        }
        Protocol::StripedTcp(device) => {
            own("device", device.kind.name().into());
        }
        Protocol::Aggregation(aggregation) | Protocol::Gateway(Carried::Tcp(aggregation)) => {
            own("header", aggregation.header.as_u64().into());
            own("main_buffer", aggregation.main_buffer.as_u64().into());
            let sizes = [
                ("packet", aggregation.packet),
                ("notsent_lowat", aggregation.notsent_lowat),
            ];
            for (key, size) in sizes {
                if let Some(size) = size {
                    own(key, size.as_u64().into());
                }
            }
        }
    }
    object
}

/// Inserts a value in its base unit; for an algorithm its name and the parameters that differ from
/// their defaults.
fn insert(object: &mut Map<String, Value>, key: &str, value: &Parsed, config: &Config) {
    let parameters = format!("{key}_parameters");
    object.remove(&parameters);
    if let Parsed::Algorithm(chosen) = value
        && !chosen.parameters.is_empty()
    {
        let named = chosen.parameters.iter().filter_map(|(name, value)| {
            let value = plain(&Parsed::from(*value), config)?;
            Some(((*name).to_owned(), value))
        });
        object.insert(parameters, Value::Object(named.collect()));
    }
    if let Some(value) = plain(value, config) {
        object.insert(key.into(), value);
    }
}

fn traffic(traffic: &Traffic, config: &Config) -> Value {
    let mut object = json!({ "kind": traffic.kind() });
    for (key, value) in traffic_keys::of(traffic) {
        if let Some(value) = plain(&value, config) {
            object[key] = value;
        }
    }
    object
}

/// A value in its base unit; `None` if unlimited or random.
fn plain(value: &Parsed, config: &Config) -> Option<Value> {
    let segment = config.segment.as_u64();
    Some(match value {
        Parsed::Text(text) => text.as_str().into(),
        Parsed::Boolean(value) => (*value).into(),
        Parsed::Integer(number) => (*number).into(),
        Parsed::Number(number) => (*number).into(),
        Parsed::Time(time) => time.as_secs_f64().into(),
        Parsed::Rate(rate) => rate.as_bps().into(),
        Parsed::Bytes(bytes) => bytes.as_u64().into(),
        Parsed::Algorithm(chosen) => chosen.name.as_str().into(),
        Parsed::Window(InitialWindow::Segments(count)) => (u64::from(*count) * segment).into(),
        Parsed::Window(InitialWindow::Bytes(bytes)) => bytes.as_u64().into(),
        Parsed::List(items) => {
            let items = items.iter().map(|item| plain(item, config));
            Value::Array(items.collect::<Option<_>>()?)
        }
        Parsed::Unlimited
        | Parsed::Random
        | Parsed::Packets(_)
        | Parsed::Queue(_)
        | Parsed::Names(_)
        | Parsed::Outages(_)
        | Parsed::Invalid => return None,
    })
}
