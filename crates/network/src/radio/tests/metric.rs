//! Link costs.

use ropewalk_quantities::Time;

use super::fixture::{log_distance, radio, range};
use crate::radio::{
    ChannelConfig, DataRate, FrameError, LinkCost, LinkMetric, RateControl, Standard, noise_dbm,
};

fn cost(channel: &ChannelConfig, metres: f64, rate: RateControl) -> Option<LinkCost> {
    let radios = [0.0, metres].map(|x| {
        let mut radio = radio("n", [x, 0.0, 0.0]);
        radio.rate = rate;
        radio.basic_rates = vec![DataRate::Dsss1];
        radio
    });
    LinkMetric::new(channel, &radios).cost(0, 1)
}

const FIXED: RateControl = RateControl::Fixed(DataRate::Cck11);

#[test]
fn a_clean_link_takes_one_exchange() {
    let clean = cost(&range(25.0), 20.0, FIXED).unwrap();
    assert!((clean.tries - 1.0).abs() < 1e-12);
    // DIFS 50, 15.5 slots of 20, preamble 192, 1536 bytes at 11 Mbit/s, SIFS 10, ACK at 1 Mbit/s.
    assert_eq!(
        clean.airtime,
        Time::from_micros(50 + 310 + 192 + 1118 + 10 + 304)
    );
    assert_eq!(cost(&range(25.0), 26.0, FIXED), None);
}

#[test]
fn lost_frames_are_retransmitted() {
    let channel = log_distance(3.0);
    let errors = FrameError::new(&channel.error_model);
    let mut before = 1.0;
    for metres in (1..40).map(f64::from) {
        let Some(link) = cost(&channel, metres, FIXED) else {
            continue;
        };
        let snr_db = 16.0206 - 46.6777 - 30.0 * metres.log10() - noise_dbm(7.0);
        let lost = |rate, bytes: u32| errors.ratio(rate, snr_db, f64::from(8 * bytes));
        let both = (1.0 - lost(DataRate::Cck11, 1536)) * (1.0 - lost(DataRate::Dsss1, 14));
        assert!((link.tries * both - 1.0).abs() < 1e-9);
        assert!(link.tries >= before);
        before = link.tries;
    }
    assert_eq!(cost(&channel, 500.0, FIXED), None);
}

#[test]
fn link_cost_uses_the_rate_of_least_airtime() {
    let near = cost(&log_distance(3.0), 1.0, RateControl::Ideal);
    let fixed = cost(&log_distance(3.0), 1.0, FIXED);
    assert_eq!(near, fixed);
    // At this noise 11 Mbit/s loses nearly all frames.
    let noisy = |metres, rate| {
        let radios = [0.0, metres].map(|x| {
            let mut radio = radio("n", [x, 0.0, 0.0]);
            radio.rate = rate;
            radio.noise_figure_db = 25.0;
            radio
        });
        LinkMetric::new(&log_distance(3.0), &radios).cost(0, 1)
    };
    let best = noisy(10.0, RateControl::Ideal).unwrap();
    let mut slower = 0;
    for rate in Standard::B.rates() {
        if let Some(one) = noisy(10.0, RateControl::Fixed(*rate)) {
            assert!(best.airtime <= one.airtime);
            slower += u32::from(best.airtime < one.airtime);
        }
    }
    assert!(slower > 0);
}
