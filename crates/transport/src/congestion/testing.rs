//! Test utilities: subflows, acknowledgements, and a fluid model with one loss in every 1/p segments.

use ropewalk_quantities::Time;

use super::cubic::CubicConfig;
use super::{Acked, Congestion, CongestionControl, Settings, SinglePathConfig};
use crate::SubflowState;

pub(super) const MSS: u64 = 1000;

pub(super) const BY_BYTES: Settings = Settings {
    byte_counting: true,
    hystart: false,
    linux_cubic: false,
    subflow: SinglePathConfig::Cubic(CubicConfig::DEFAULT),
};

pub(super) const BY_ACKS: Settings = Settings {
    byte_counting: false,
    ..BY_BYTES
};

pub(super) fn subflow(segments: f64, rtt: f64) -> SubflowState {
    let rtt = Time::from_secs_f64(rtt);
    SubflowState {
        usable: true,
        mss: MSS,
        cwnd: (segments * MSS as f64) as u64,
        ssthresh: MSS,
        in_flight: (segments * MSS as f64) as u64,
        srtt: rtt,
        min_rtt: rtt,
        latest_rtt: rtt,
        ..SubflowState::default()
    }
}

pub(super) fn acked(bytes: u64) -> Acked {
    Acked {
        now: Time::from_secs(1),
        bytes,
        rtt: None,
        snd_una: bytes,
        snd_nxt: 2 * bytes,
        cwnd_limited: true,
    }
}

/// Mean windows in segments over `duration` seconds after a fifth of it, when subflow i has RTT `paths[i].0`
/// and loses one in every 1 / `paths[i].1` segments.
pub(super) fn fluid(
    control: &mut impl CongestionControl,
    paths: &[(f64, f64)],
    duration: f64,
) -> Vec<f64> {
    let mut table: Vec<SubflowState> = paths.iter().map(|path| subflow(4.0, path.0)).collect();
    let mut next: Vec<f64> = paths.iter().map(|path| path.0).collect();
    let mut since_loss = vec![0.0; paths.len()];
    let mut area = vec![0.0; paths.len()];
    for i in 0..paths.len() {
        control.add_subflow(i);
    }
    loop {
        let i = (0..paths.len())
            .min_by(|a, b| next[*a].total_cmp(&next[*b]))
            .unwrap();
        let now = next[i];
        if now > duration {
            break;
        }
        since_loss[i] += 1.0;
        let time = Time::from_secs_f64(now);
        if since_loss[i] * paths[i].1 >= 1.0 {
            since_loss[i] = 0.0;
            table[i].acked_between_losses = table[i].acked_since_loss;
            table[i].acked_since_loss = 0;
            let ssthresh = control.on_congestion(i, Congestion::FastRetransmit, time, &table);
            table[i].ssthresh = ssthresh;
            table[i].cwnd = ssthresh;
        } else {
            table[i].acked_since_loss += MSS;
            let ack = Acked {
                now: time,
                ..acked(MSS)
            };
            table[i].cwnd = control.on_ack(i, &ack, &table);
        }
        table[i].in_flight = table[i].cwnd;
        let gap = paths[i].0 * MSS as f64 / table[i].cwnd as f64;
        if now > duration / 5.0 {
            area[i] += table[i].cwnd as f64 / MSS as f64 * gap;
        }
        next[i] = now + gap;
    }
    area.iter().map(|a| a / (duration * 0.8)).collect()
}

/// Random numbers for property tests (SplitMix64), the same in each run.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }
}
