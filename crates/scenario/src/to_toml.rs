//! A scenario as TOML with all defaults.

use std::fmt::Write;

use ropewalk_network::{Capacity, DirectionConfig, Jitter, LinkConfig, Loss};
use ropewalk_quantities::percentage;
use ropewalk_transport::{Config, CongestionConfig, Profile};

use crate::keys::TRANSPORT;
use crate::mesh_keys;
use crate::model::{Flow, FlowOrigin, Mesh, Node, Protocol, Quota, Scenario, Traffic};
use crate::parsed::ParsedType;
use crate::traffic_keys;
use crate::wireless_keys;

impl Scenario {
    /// The whole scenario as a file with all defaults written out, independent of future defaults;
    /// [`effective`](crate::effective) keeps the user's text instead.
    ///
    /// Parsing it gives this scenario, except for warnings about defaults.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let mut out = String::new();
        line(&mut out, "title", &toml_text(&self.title));
        line(&mut out, "duration", &self.duration.to_parsed().to_toml());
        line(&mut out, "warmup", &self.warmup.to_parsed().to_toml());
        for channel in &self.wireless.channels {
            out.push_str("\n[[channel]]\n");
            for (key, setting) in wireless_keys::of_channel(channel) {
                line(&mut out, key, &setting.toml());
            }
        }
        if let Some(mesh) = &self.mesh {
            self.write_mesh(&mut out, mesh);
        } else {
            self.write_nodes_and_links(&mut out);
        }
        for flow in &self.flows {
            match flow.origin {
                FlowOrigin::Shorthand => self.write_short(&mut out, flow),
                FlowOrigin::Flow => self.write_flow(&mut out, flow),
                FlowOrigin::Competitor => self.write_competitor(&mut out, flow),
            }
        }
        out
    }

    fn write_nodes_and_links(&self, out: &mut String) {
        for node in &self.wireless.nodes {
            self.write_node(out, node);
        }
        for (number, link) in self.links.iter().enumerate() {
            match self.wireless.link(number) {
                None => write_link(out, link, self.quota(number)),
                Some(radio) => {
                    let channel = &self.wireless.channels[radio.channel].config;
                    write_radio_link(out, link, &channel.name);
                }
            }
            if let Some(strips) = self.middleboxes.get(number).copied().flatten() {
                line(out, "strips_mptcp", &toml_text(strips.name()));
            }
        }
        for path in &self.paths {
            out.push_str("\n[[path]]\n");
            line(out, "name", &toml_text(&path.name));
            let hops = path.hops.iter().map(|hop| self.links[*hop].name.as_str());
            line(out, "hops", &toml_list(hops));
        }
    }

    /// Writes the keys of `[mesh]` and of its radios; the seed reproduces the mesh.
    fn write_mesh(&self, out: &mut String, mesh: &Mesh) {
        let radios = self.wireless.channels[mesh.channels[0]].radios.first();
        out.push_str("\n[wifi]\n");
        for (key, setting) in radios
            .iter()
            .flat_map(|radio| wireless_keys::of_radio(radio))
        {
            line(out, key, &setting.toml());
        }
        out.push_str("\n[mesh]\n");
        for (key, value) in mesh_keys::of_mesh(mesh, &self.wireless.channels) {
            line(out, key, &value);
        }
    }

    fn write_node(&self, out: &mut String, node: &Node) {
        out.push_str("\n[[node]]\n");
        line(out, "name", &toml_text(&node.name));
        let at = node.at.map(|metres| format!("\"{metres} m\""));
        line(out, "at", &format!("[{}]", at.join(", ")));
        let mut radios = Vec::new();
        for channel in &self.wireless.channels {
            let own = channel.radios.iter().find(|radio| radio.node == node.name);
            let Some(radio) = own else {
                continue;
            };
            let settings = wireless_keys::of_radio(radio).into_iter();
            let settings = settings.map(|(key, setting)| format!("{key} = {}", setting.toml()));
            let channel = format!("channel = {}", toml_text(&channel.config.name));
            let keys: Vec<String> = std::iter::once(channel).chain(settings).collect();
            radios.push(format!("{{ {} }}", keys.join(", ")));
        }
        line(out, "radios", &format!("[{}]", radios.join(", ")));
    }

    fn write_short(&self, out: &mut String, flow: &Flow) {
        out.push_str("\n[transport]\n");
        write_transport(out, flow);
        line(out, "paths", &self.path_names(&flow.paths));
        out.push_str("\n[traffic]\n");
        for (key, value) in traffic(&flow.traffic) {
            line(out, key, &value);
        }
    }

    fn write_flow(&self, out: &mut String, flow: &Flow) {
        out.push_str("\n[[flow]]\n");
        self.write_common(out, flow);
        write_transport(out, flow);
    }

    fn write_competitor(&self, out: &mut String, flow: &Flow) {
        out.push_str("\n[[competitor]]\n");
        self.write_common(out, flow);
        line(out, "protocol", &toml_text(flow.protocol.name()));
        let config = &flow.transport;
        write_carried(out, flow);
        if flow.protocol.is_datagrams() {
            return line(out, "segment", &config.segment.to_parsed().to_toml());
        }
        line(out, "congestion", &config.congestion.to_parsed().to_toml());
        let alone = matches!(config.congestion, CongestionConfig::Uncoupled(_));
        if alone && flow.protocol != Protocol::MptcpNs3 {
            let subflow = config.congestion_settings.subflow.to_parsed();
            line(out, "subflow", &subflow.to_toml());
        }
        write_protocol(out, flow);
        let send_buffer = config.send_buffer.size.to_parsed().to_toml();
        line(out, "send_buffer", &send_buffer);
        line(out, "segment", &config.segment.to_parsed().to_toml());
    }

    fn write_common(&self, out: &mut String, flow: &Flow) {
        line(out, "name", &toml_text(&flow.name));
        line(out, "paths", &self.path_names(&flow.paths));
        let traffic = traffic(&flow.traffic);
        let traffic = traffic
            .iter()
            .map(|(key, value)| format!("{key} = {value}"));
        let traffic = traffic.collect::<Vec<_>>().join(", ");
        line(out, "traffic", &format!("{{ {traffic} }}"));
        line(out, "start", &flow.start.to_parsed().to_toml());
        line(out, "count", &flow.count.to_string());
        line(out, "in_turn", &flow.in_turn.to_string());
    }

    fn path_names(&self, paths: &[usize]) -> String {
        toml_list(paths.iter().map(|path| self.paths[*path].name.as_str()))
    }
}

fn write_link(out: &mut String, link: &LinkConfig, quota: Option<&Quota>) {
    out.push_str("\n[[link]]\n");
    line(out, "name", &toml_text(&link.name));
    if let Some([from, to]) = &link.ends {
        line(out, "from", &toml_text(from));
        line(out, "to", &toml_text(to));
    }
    for (key, value) in direction(&link.forward) {
        line(out, key, &value);
    }
    if let Some(cost) = link.cost {
        line(out, "cost", &format!("{cost:?}"));
    }
    if let Some(quota) = quota {
        line(out, "quota", &quota.size.to_parsed().to_toml());
        if let Some(period) = quota.period {
            line(out, "period", &period.to_parsed().to_toml());
            line(out, "pace", &toml_text(quota.pace.name()));
        }
    }
    let reverse: Vec<String> = direction(&link.reverse)
        .into_iter()
        .map(|(key, value)| format!("{key} = {value}"))
        .collect();
    line(out, "reverse", &format!("{{ {} }}", reverse.join(", ")));
    line(out, "down", &link.down.to_parsed().to_toml());
}

fn write_radio_link(out: &mut String, link: &LinkConfig, channel: &str) {
    out.push_str("\n[[link]]\n");
    line(out, "name", &toml_text(&link.name));
    if let Some([from, to]) = &link.ends {
        line(out, "from", &toml_text(from));
        line(out, "to", &toml_text(to));
    }
    line(out, "channel", &toml_text(channel));
    line(out, "loss", &loss(link.forward.loss));
    let reverse = format!("{{ loss = {} }}", loss(link.reverse.loss));
    line(out, "reverse", &reverse);
    if let Some(cost) = link.cost {
        line(out, "cost", &format!("{cost:?}"));
    }
}

fn direction(direction: &DirectionConfig) -> Vec<(&'static str, String)> {
    let capacity = match direction.capacity {
        Capacity::Trace(_) => "trace",
        Capacity::Rate(_) | Capacity::Unlimited => "rate",
    };
    let capacity_value = match &direction.capacity {
        Capacity::Trace(trace) => toml_text(&trace.name),
        other => other.to_parsed().to_toml(),
    };
    let jitter = match &direction.jitter {
        None => "\"0 s\"".to_owned(),
        Some(Jitter::Uniform { amount, reorder }) => {
            format!("{{ amount = \"{amount}\", reorder = {reorder} }}")
        }
        Some(Jitter::Recorded(trace)) => format!("{{ trace = {} }}", toml_text(&trace.name)),
    };
    let slot = match direction.slot {
        None => "\"0 s\"".to_owned(),
        Some(slot) => format!("{{ most = \"{}\", least = \"{}\" }}", slot.most, slot.least),
    };
    vec![
        (capacity, capacity_value),
        ("delay", direction.delay.to_parsed().to_toml()),
        ("jitter", jitter),
        ("slot", slot),
        ("loss", loss(direction.loss)),
        ("queue", direction.queue.to_parsed().to_toml()),
    ]
}

fn loss(loss: Loss) -> String {
    match loss {
        Loss::None => "\"0 %\"".to_owned(),
        Loss::Bernoulli(p) => toml_text(&percentage(p)),
        Loss::GilbertElliott { p, r, h, k } => {
            let [p, r, h, k] = [p, r, h, k].map(|share| toml_text(&percentage(share)));
            format!("{{ model = \"gilbert-elliott\", p = {p}, r = {r}, h = {h}, k = {k} }}")
        }
    }
}

/// Writes the protocol, and all fields of `Config` with a key.
fn write_transport(out: &mut String, flow: &Flow) {
    let config = &flow.transport;
    if flow.protocol.is_datagrams() {
        return write_datagrams(out, flow);
    }
    if flow.protocol == Protocol::MptcpNs3 {
        return write_mptcp_ns3(out, flow);
    }
    // All values of a profile are written out, except `subflow` where the key is not allowed.
    let of_profile = |profile: &Profile| Config::profile(*profile).congestion_settings.subflow;
    let profile = Profile::ALL
        .iter()
        .find(|profile| of_profile(profile) == config.congestion_settings.subflow);
    if let Some(profile) = profile {
        line(out, "profile", &profile.to_parsed().to_toml());
    }
    line(out, "protocol", &toml_text(flow.protocol.name()));
    write_carried(out, flow);
    write_protocol(out, flow);
    for key in TRANSPORT.keys() {
        let may_be = match key.name {
            "subflow" => matches!(config.congestion, CongestionConfig::Uncoupled(_)),
            "scheduler" => false,
            _ => true,
        };
        if let Some(field) = key.default.field()
            && may_be
        {
            line(out, key.name, &(field.get)(config).to_toml());
        }
    }
}

/// The ns-3 module: all other settings come from its profile.
fn write_mptcp_ns3(out: &mut String, flow: &Flow) {
    let config = &flow.transport;
    line(out, "profile", &Profile::MptcpNs3.to_parsed().to_toml());
    line(out, "protocol", &toml_text(flow.protocol.name()));
    write_protocol(out, flow);
    for (key, value) in [
        ("reordering", config.reordering.to_parsed()),
        ("congestion", config.congestion.to_parsed()),
        ("segment", config.segment.to_parsed()),
        ("send_buffer", config.send_buffer.size.to_parsed()),
        ("ip_version", config.ip_version.to_parsed()),
        ("subflows_per_path", config.subflows.per_path.to_parsed()),
        (
            "wait_for_subflows",
            config.subflows.wait_for_all.to_parsed(),
        ),
    ] {
        line(out, key, &value.to_toml());
    }
}

/// Datagrams: the profile is written because competitors may use the rest of it.
fn write_datagrams(out: &mut String, flow: &Flow) {
    let config = &flow.transport;
    let own = ["segment", "ip_version", "receive_window_share"];
    let settings = || {
        let keys = TRANSPORT.keys().filter(|key| !own.contains(&key.name));
        keys.filter_map(|key| key.default.field())
    };
    let is_of = |profile: &&Profile| {
        let usual = Config::profile(**profile);
        settings().all(|field| (field.get)(config).to_toml() == (field.get)(&usual).to_toml())
    };
    if let Some(profile) = Profile::ALL.iter().find(is_of) {
        line(out, "profile", &profile.to_parsed().to_toml());
    }
    line(out, "protocol", &toml_text(flow.protocol.name()));
    write_carried(out, flow);
    line(out, "segment", &config.segment.to_parsed().to_toml());
    line(out, "ip_version", &config.ip_version.to_parsed().to_toml());
}

fn write_carried(out: &mut String, flow: &Flow) {
    if let Protocol::Gateway(carried) = &flow.protocol {
        line(out, "carries", &toml_text(carried.name()));
    }
}

fn write_protocol(out: &mut String, flow: &Flow) {
    // The gateway's client has one of its own.
    if matches!(flow.protocol, Protocol::Gateway(_)) {
        return;
    }
    let scheduler = flow.protocol.scheduler(&flow.transport);
    line(out, "scheduler", &scheduler.to_parsed().to_toml());
    match &flow.protocol {
        // A protocol with a policy writes it elsewhere, since competitors inherit it.
        Protocol::Tcp
        | Protocol::Udp
        | Protocol::Mptcp
        | Protocol::MptcpNs3
        | Protocol::Gateway(_) => {}
        Protocol::StripedTcp(device) => {
            line(out, "device", &device.kind.to_parsed().to_toml());
        }
        Protocol::Aggregation(aggregation) => {
            let sizes = [
                ("packet", aggregation.packet),
                ("header", Some(aggregation.header)),
                ("main_buffer", Some(aggregation.main_buffer)),
                ("notsent_lowat", aggregation.notsent_lowat),
            ];
            for (key, size) in sizes {
                if let Some(size) = size {
                    line(out, key, &size.to_parsed().to_toml());
                }
            }
        }
    }
}

fn traffic(traffic: &Traffic) -> Vec<(&'static str, String)> {
    let given = traffic_keys::of(traffic).into_iter();
    let given = given.map(|(key, value)| (key, value.to_toml()));
    [("kind", toml_text(traffic.kind()))]
        .into_iter()
        .chain(given)
        .collect()
}

fn line(out: &mut String, key: &str, value: &str) {
    let _ = writeln!(out, "{key} = {value}");
}

fn toml_text(text: &str) -> String {
    toml_edit::Value::from(text).to_string()
}

fn toml_list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: toml_edit::Array = names.collect();
    names.to_string()
}
