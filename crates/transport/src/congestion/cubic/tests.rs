//! CUBIC against RFC 9438's formulas and its table of average windows.

use super::*;
use crate::SubflowState;
use crate::congestion::testing::{BY_BYTES, MSS, acked, fluid, subflow};
use crate::congestion::{CongestionControl, SinglePathConfig};

fn cubic() -> Cubic {
    CubicConfig::DEFAULT.build(&BY_BYTES)
}

fn linux_cubic() -> Cubic {
    CubicConfig::DEFAULT.build(&Settings {
        linux_cubic: true,
        ..BY_BYTES
    })
}

/// Acknowledges segment by segment at the rate of the window, from `from` to `to` seconds.
fn drive(cubic: &mut Cubic, state: &mut SubflowState, from: f64, to: f64) {
    let mut now = from;
    while now < to {
        let ack = Acked {
            now: Time::from_secs_f64(now),
            ..acked(MSS)
        };
        state.cwnd = cubic.on_ack(&ack, state);
        now += state.srtt.as_secs_f64() * MSS as f64 / state.cwnd as f64;
    }
}

fn after_loss(cubic: &mut Cubic) -> SubflowState {
    let mut state = subflow(1000.0, 0.1);
    state.ssthresh = cubic.on_congestion(Congestion::FastRetransmit, &state);
    assert_eq!(state.ssthresh, 700 * MSS);
    state.cwnd = state.ssthresh;
    state
}

fn alpha() -> f64 {
    CubicConfig::DEFAULT.alpha()
}

#[test]
fn alpha_is_as_the_rfc_computes_it() {
    assert!((alpha() - 9.0 / 17.0).abs() < 1e-12);
}

#[test]
fn follows_figure_1_through_the_concave_and_the_convex_region() {
    let mut cubic = cubic();
    let mut state = after_loss(&mut cubic);
    // K = cbrt((1000 - 700) / 0.4) = 9.0856 s.
    let k = 9.085_602_964_160_698_f64;
    let mut at = 0.0;
    for t in [2.0, 5.0, k, 12.0, 15.0] {
        drive(&mut cubic, &mut state, at, t);
        at = t;
        let expected = 1000.0 + 0.4 * (t - k).powi(3);
        let window = state.cwnd as f64 / MSS as f64;
        assert!(
            (window / expected - 1.0).abs() < 0.01,
            "at {t}: {window}, RFC 9438 says {expected}"
        );
    }
}

#[test]
fn average_windows_equal_rfc_table_1() {
    // RFC 9438, table 1: C = 0.4, RTT = 0.1 s. The last two columns of Reno: 38 and 120.
    for (loss, published, duration) in [
        (1e-3, 38.0, 400.0),
        (1e-4, 187.0, 1500.0),
        (1e-5, 1054.0, 600.0),
    ] {
        let mut control = SinglePathConfig::from(CubicConfig::DEFAULT).build(&BY_BYTES);
        let mean = fluid(&mut control, &[(0.1, loss)], duration)[0];
        assert!(
            (mean / published - 1.0).abs() < 0.12,
            "loss {loss}: {mean}, table 1 says {published}"
        );
    }
}

#[test]
fn fast_convergence_lowers_w_max_if_windows_shrink() {
    let mut cubic = cubic();
    let mut state = after_loss(&mut cubic);
    assert_eq!(cubic.history.w_max, 1000.0);
    state.cwnd = 800 * MSS;
    state.in_flight = state.cwnd;
    let ssthresh = cubic.on_congestion(Congestion::FastRetransmit, &state);
    assert_eq!(ssthresh, 560 * MSS);
    assert!((cubic.history.w_max - 680.0).abs() < 1e-9);
    assert!(matches!(cubic.growth, Growth::Real(growth) if growth.cwnd_prior == 800.0));
}

#[test]
fn epoch_after_timeout_has_k_zero() {
    let mut cubic = cubic();
    let mut state = after_loss(&mut cubic);
    drive(&mut cubic, &mut state, 0.0, 1.0);
    state.ssthresh = cubic.on_congestion(Congestion::Timeout, &state);
    state.cwnd = MSS;
    drive(&mut cubic, &mut state, 2.0, 4.0);
    let epoch = cubic.history.epoch.expect("past slow start");
    assert_eq!(epoch.k, 0.0);
    assert!((epoch.w_max - state.ssthresh as f64 / MSS as f64).abs() < 1e-9);
}

#[test]
fn never_gains_more_than_half_a_window_for_each_window_acknowledged() {
    let mut cubic = cubic();
    let mut state = after_loss(&mut cubic);
    drive(&mut cubic, &mut state, 0.0, 1.0);
    // Far beyond the plateau: each acknowledged segment is worth half a segment, compounding to e^0.5.
    let before = state.cwnd;
    drive(&mut cubic, &mut state, 1000.0, 1000.1);
    let growth = state.cwnd as f64 / before as f64;
    assert!((growth - 0.5_f64.exp()).abs() < 0.01, "{growth}");
}

#[test]
fn unused_time_does_not_count() {
    let mut used = cubic();
    let mut state = after_loss(&mut used);
    drive(&mut used, &mut state, 0.0, 2.0);
    let (mut other, mut other_state) = (used.clone(), state.clone());
    drive(&mut used, &mut state, 2.0, 3.0);

    let mut idle = acked(MSS);
    idle.cwnd_limited = false;
    for now in [2.0, 5.0, 8.0] {
        idle.now = Time::from_secs_f64(now);
        assert_eq!(other.on_ack(&idle, &other_state), other_state.cwnd);
    }
    drive(&mut other, &mut other_state, 12.0, 13.0);
    let apart = state.cwnd.abs_diff(other_state.cwnd);
    assert!(apart <= 2 * MSS, "{apart}");
}

#[test]
fn undo_restores_state_before_loss() {
    let mut cubic = cubic();
    let mut state = after_loss(&mut cubic);
    drive(&mut cubic, &mut state, 0.0, 2.0);
    cubic.save();
    let before = format!("{cubic:?}");
    // Two events, and growth after the second: the undo restores the state before the first.
    for cause in [Congestion::FastRetransmit, Congestion::Timeout] {
        let ssthresh = cubic.on_congestion(cause, &state);
        state.ssthresh = ssthresh;
    }
    state.cwnd = MSS;
    drive(&mut cubic, &mut state, 2.0, 3.0);
    assert_ne!(format!("{cubic:?}"), before);
    cubic.restore();
    assert_eq!(format!("{cubic:?}"), before);
}

#[test]
fn hystart_ends_slow_start_at_the_window_it_finds() {
    let mut cubic = CubicConfig::DEFAULT.build(&Settings {
        hystart: true,
        ..BY_BYTES
    });
    let mut state = subflow(20.0, 0.08);
    state.ssthresh = u64::MAX;
    state.min_rtt = Time::from_millis(80);
    let mut now = 0.1;
    for i in 0..200 {
        let ack = Acked {
            now: Time::from_secs_f64(now),
            rtt: Some(Time::from_millis(if i < 10 { 80 } else { 95 })),
            snd_una: (i + 1) * MSS,
            snd_nxt: (i + 1) * MSS + state.cwnd,
            ..acked(MSS)
        };
        state.cwnd = cubic.on_ack(&ack, &state);
        now += 0.003;
    }
    let exit = cubic.history.slow_start_exit;
    assert!(exit < 60 * MSS, "left at {exit}");
    assert!(state.cwnd < exit + 20 * MSS);
    assert!(cubic.on_congestion(Congestion::FastRetransmit, &state) >= 2 * MSS);
    assert_eq!(cubic.history.slow_start_exit, u64::MAX);
}

#[test]
fn single_path_algorithm_is_separate_per_subflow() {
    let mut control = SinglePathConfig::from(CubicConfig::DEFAULT).build(&BY_BYTES);
    control.add_subflow(0);
    control.add_subflow(1);
    let table = [subflow(100.0, 0.1), subflow(10.0, 0.1)];
    let _ = control.on_congestion(0, Congestion::FastRetransmit, Time::ZERO, &table);
    let grown = control.on_ack(1, &acked(MSS), &table);
    assert!(grown > 10 * MSS);
}

#[test]
fn linux_grows_slower_than_reno_beyond_w_max() {
    let grown = |mut cubic: Cubic| {
        let mut state = subflow(10.0, 0.02);
        state.min_rtt = state.srtt;
        state.cwnd = cubic.on_congestion(Congestion::FastRetransmit, &state);
        state.ssthresh = state.cwnd;
        drive(&mut cubic, &mut state, 0.0, 1.0);
        state.cwnd as f64 / MSS as f64
    };
    // Linux: fifty round trips of 0.53 segments from 7 on, in whole segments within a round trip; RFC: one
    // segment each from 10 on.
    let (linux, w_est) = (grown(linux_cubic()), 7.0 + 50.0 * alpha());
    assert!(linux > w_est - 2.0 && linux <= w_est, "{linux} {w_est}");
    let rfc = grown(cubic());
    assert!((rfc - (10.0 + 50.0 - 3.0 / alpha())).abs() < 1.5, "{rfc}");
}

#[test]
fn until_the_first_loss_linux_grows_by_a_twentieth() {
    let after = |mut cubic: Cubic| {
        let mut state = subflow(200.0, 0.1);
        state.ssthresh = state.cwnd;
        state.min_rtt = state.srtt;
        drive(&mut cubic, &mut state, 0.0, 0.5);
        state.cwnd as f64 / MSS as f64
    };
    // Five round trips, of one segment each by the RFC.
    let linux = after(linux_cubic());
    assert!(
        (linux / (200.0 * 1.05_f64.powi(5)) - 1.0).abs() < 0.01,
        "{linux}"
    );
    let rfc = after(cubic());
    assert!((rfc - 205.0).abs() < 0.5, "{rfc}");
}
