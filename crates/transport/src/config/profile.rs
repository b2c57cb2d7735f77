//! Families of defaults.

use ropewalk_quantities::{Bytes, Time, named};

use super::parts::{
    Extensions, LossConfig, ReceiveBufferConfig, ReceiverConfig, RtoConfig, SendBufferConfig,
    SubflowsConfig, WindowConfig,
};
use super::{Config, IpVersion};
use crate::congestion::cubic::CubicConfig;
use crate::congestion::newreno::NewRenoConfig;
use crate::congestion::{self, SinglePathConfig};
use crate::initial_window::InitialWindow;
use crate::reordering::linux::LinuxConfig;
use crate::reordering::none::NoneConfig;
use crate::scheduling::linux::LinuxConfig as LinuxSchedulerConfig;
use crate::scheduling::min_rtt::MinRttConfig;
use crate::scheduling::round_robin::RoundRobinConfig;

named! {
    /// A family of defaults.
    #[derive(Hash)]
    pub enum Profile {
        /// Linux 6.x.
        Linux = "linux",
        /// Linux 3.13 (2014), without RACK.
        Linux313 = "linux-3.13",
        /// ns-3.44's TcpSocketBase with TcpNewReno and TcpClassicRecovery.
        Ns3 = "ns-3",
        /// Recommendations of the RFCs.
        Rfc = "rfc",
        /// MPTCP module of gomez-2014, park-2014 and alheid-2016 ([`mptcp_ns3`](crate::mptcp_ns3)).
        MptcpNs3 = "mptcp-ns3",
    }
}

impl Config {
    /// Returns the defaults of a family.
    pub fn profile(profile: Profile) -> Config {
        match profile {
            Profile::Linux => linux(),
            Profile::Linux313 => linux_3_13(),
            Profile::Ns3 => ns3(),
            Profile::Rfc => rfc(),
            Profile::MptcpNs3 => mptcp_ns3(),
        }
    }
}

fn linux() -> Config {
    Config {
        multipath: true,
        congestion: SinglePathConfig::Cubic(CubicConfig::DEFAULT).into(),
        congestion_settings: congestion::Settings {
            byte_counting: true,
            hystart: true,
            linux_cubic: true,
            subflow: CubicConfig::DEFAULT.into(),
        },
        scheduler: LinuxSchedulerConfig::DEFAULT.into(),
        reordering: LinuxConfig::DEFAULT.into(),
        segment: Bytes::new(1448),
        ip_version: IpVersion::V4,
        initial_sequence_number: None,
        extensions: Extensions {
            sack: true,
            timestamps: true,
            checksum: false,
        },
        initial_window: InitialWindow::Segments(10),
        initial_ssthresh: None,
        window: WindowConfig::LINUX,
        loss: LossConfig::LINUX,
        rto: RtoConfig::LINUX,
        receiver: ReceiverConfig::LINUX,
        send_buffer: SendBufferConfig {
            size: Bytes::from_mib(4),
            autotuning: true,
        },
        receive_buffer: ReceiveBufferConfig {
            size: Bytes::from_mib(6),
            window_share: 0.625,
            charge_reordered: true,
        },
        nagle: true,
        subflows: SubflowsConfig {
            per_path: 1,
            wait_for_all: false,
            linux_window: true,
            opportunistic_retransmission: false,
            penalisation: false,
        },
    }
}

/// The settings that differ from Linux 6.x. Tail loss probes exist since 3.10, RACK since 4.4. FACK and early
/// retransmit, which 3.13 turns off at the first sign of reordering, are left out.
fn linux_3_13() -> Config {
    linux().with(|config| {
        // TCP_MAX_REORDERING; net.ipv4.tcp_max_reordering since 3.19.
        config.reordering = LinuxConfig {
            max_reordering: 127,
        }
        .into();
        config.loss.rack = false;
        // tcp_is_cwnd_limited() looks at the present flight until 3.16.
        config.window.validate = false;
        // tcp_adv_win_scale = 1: half of the buffer.
        config.receive_buffer.window_share = 0.5;
    })
}

fn rfc() -> Config {
    linux().with(|config| {
        config.congestion = SinglePathConfig::NewReno(NewRenoConfig::DEFAULT).into();
        config.congestion_settings = congestion::Settings {
            byte_counting: true,
            hystart: false,
            linux_cubic: false,
            subflow: NewRenoConfig::DEFAULT.into(),
        };
        config.scheduler = MinRttConfig::DEFAULT.into();
        config.reordering = NoneConfig::DEFAULT.into();
        config.window = WindowConfig::RFC;
        config.loss = LossConfig::RFC;
        config.rto = RtoConfig::RFC;
        config.receiver = ReceiverConfig::RFC;
        config.send_buffer.autotuning = false;
        config.receive_buffer.window_share = 1.0;
        config.receive_buffer.charge_reordered = false;
        config.subflows.linux_window = false;
    })
}

fn ns3() -> Config {
    rfc().with(|config| {
        config.congestion_settings.byte_counting = false;
        config.window.halve_pipe = true;
        config.receiver.paws = false;
        config.send_buffer.size = Bytes::new(4_000_000);
        config.receive_buffer.size = Bytes::new(4_000_000);
    })
}

/// The part of the module's settings that a [`Config`] has; the rest is in [`mptcp_ns3`](crate::mptcp_ns3).
fn mptcp_ns3() -> Config {
    ns3().with(|config| {
        config.scheduler = RoundRobinConfig::DEFAULT.into();
        config.extensions.sack = false;
        config.initial_window = InitialWindow::Segments(1);
        config.initial_ssthresh = Some(Bytes::new(65_535));
        config.loss.limited_transmit = false;
        config.rto.min = Time::from_millis(200);
        config.receiver.delayed_ack = 1;
        // gomez-2014's code; its receive buffer is unlimited.
        config.send_buffer.size = Bytes::new(90_000_000);
        config.receive_buffer.size = Bytes::new(90_000_000);
        // The module's example program writes once all subflows are open.
        config.subflows.wait_for_all = true;
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linux_3_13_counts_duplicates_and_adapts_the_threshold() {
        let old = Config::profile(Profile::Linux313);
        assert!(!old.loss.rack && old.loss.tail_loss_probe && old.window.prr);
        let adapts = LinuxConfig {
            max_reordering: 127,
        };
        assert_eq!(old.reordering, adapts.into());
    }

    #[test]
    fn mptcp_ns3_profile_has_neither_sack_nor_limited_transmit() {
        let module = Config::profile(Profile::MptcpNs3);
        assert!(!module.extensions.sack && !module.loss.limited_transmit);
        let ns3 = Config::profile(Profile::Ns3);
        assert!(ns3.extensions.sack && ns3.loss.limited_transmit);
    }
}
