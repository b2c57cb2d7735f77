//! Properties of any channel with any traffic.

use proptest::prelude::*;
use ropewalk_quantities::Time;

use super::fixture::{ChannelFixture, at_rate, log_distance, range};
use crate::medium::Medium;
use crate::offer::Offer;
use crate::radio::{
    ChannelConfig, DataRate, FadingBand, HopStats, Nakagami, Propagation, QueueOrder, RadioConfig,
    RadioStats, RateControl, Standard,
};

/// Random radios, some hops between them, and packet arrivals.
#[derive(Clone, Debug)]
struct Plan {
    channel: ChannelConfig,
    radios: Vec<RadioConfig>,
    hops: Vec<(usize, usize, f64)>,
    /// Microseconds since the previous packet, hop, bytes.
    packets: Vec<(u64, usize, u32)>,
    seed: u64,
}

fn channel() -> impl Strategy<Value = ChannelConfig> {
    let propagation = prop_oneof![
        (2.0..4.0).prop_map(|exponent: f64| log_distance(exponent).propagation),
        (10.0..60.0, 1.0..2.0).prop_map(|(range_m, times): (f64, f64)| Propagation::Range {
            range_m,
            sense_m: range_m * times,
        }),
    ];
    let capture = prop::option::of(Just(10.0));
    let all = (propagation, any::<bool>(), capture, any::<bool>());
    all.prop_map(|(propagation, fades, capture_db, propagation_delay)| {
        let fades = fades && !matches!(propagation, Propagation::Range { .. });
        let bands = vec![FadingBand {
            from_m: 0.0,
            m: 1.0,
        }];
        ChannelConfig {
            propagation,
            fading: fades.then_some(Nakagami { bands }),
            capture_db,
            propagation_delay,
            ..range(1.0)
        }
    })
}

fn radio_like() -> impl Strategy<Value = RadioConfig> {
    (
        prop_oneof![
            Just((Standard::B, DataRate::Cck11)),
            Just((Standard::B, DataRate::Dsss1)),
            Just((Standard::A, DataRate::Ofdm24)),
            Just((Standard::G, DataRate::Ofdm54)),
        ],
        prop::option::of(0_u32..1500),
        1_u8..8,
        any::<bool>(),
        prop::option::of(Just(Time::from_millis(20))),
        prop::sample::select(vec!["fixed", "arf", "aarf", "ideal"]),
        prop::sample::select(vec![QueueOrder::Fifo, QueueOrder::RoundRobin]),
    )
        .prop_map(
            |((standard, rate), rts, tries, detects, lifetime, control, queue_order)| {
                let mut config = at_rate(standard, rate);
                if !detects {
                    config.preamble_detection = None;
                }
                match control {
                    "arf" => config.rate = RateControl::Arf,
                    "aarf" => config.rate = RateControl::Aarf,
                    "ideal" => config.rate = RateControl::Ideal,
                    _ => {}
                }
                RadioConfig {
                    rts,
                    tries,
                    long_tries: tries,
                    lifetime,
                    queue_packets: 8,
                    queue_order,
                    ..config
                }
            },
        )
}

fn plan() -> impl Strategy<Value = Plan> {
    (
        channel(),
        radio_like(),
        prop::collection::vec((0.0..80.0, 0.0..80.0), 2..9),
        prop::collection::vec(
            (0_usize..9, 1_usize..9, prop::sample::select(vec![0.0, 0.3])),
            1..8,
        ),
        prop::collection::vec((0_u64..3000, 0_usize..8, 40_u32..1500), 1..250),
        any::<u64>(),
    )
        .prop_map(|(channel, like, places, ends, packets, seed)| {
            let radios: Vec<RadioConfig> = places
                .iter()
                .enumerate()
                .map(|(number, (x, y)): (usize, &(f64, f64))| RadioConfig {
                    node: format!("n{number}"),
                    at: [*x, *y, 0.0],
                    ..like.clone()
                })
                .collect();
            let count = radios.len();
            let hops: Vec<(usize, usize, f64)> = ends
                .iter()
                .map(|(from, step, loss)| {
                    let from = from % count;
                    (from, (from + 1 + step % (count - 1)) % count, *loss)
                })
                .collect();
            let packets = packets
                .iter()
                .map(|(gap, hop, size)| (*gap, hop % hops.len(), *size))
                .collect();
            Plan {
                channel,
                radios,
                hops,
                packets,
                seed,
            }
        })
}

/// Runs until all queues are empty; returns the state and the packets accepted per hop.
fn run(plan: &Plan) -> (ChannelFixture, Vec<u64>) {
    let mut fixture = ChannelFixture::new(&plan.channel, &plan.radios, &plan.hops, plan.seed);
    let mut taken = vec![0; plan.hops.len()];
    for (gap, hop, size) in &plan.packets {
        fixture.run(fixture.now + Time::from_micros(*gap));
        if fixture.offer(*hop, *size) == Offer::Accepted {
            taken[*hop] += 1;
        }
    }
    fixture.run(Time::from_secs(100));
    (fixture, taken)
}

fn counted(fixture: &ChannelFixture, plan: &Plan) -> (Vec<HopStats>, Vec<RadioStats>) {
    let hops = (0..plan.hops.len()).map(|hop| fixture.channel.hop_stats(hop));
    let radios =
        (0..plan.radios.len()).map(|radio| fixture.channel.radio_stats(radio, fixture.now));
    (hops.collect(), radios.collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_packet_is_delivered_or_dropped_once(plan in plan()) {
        let (fixture, taken) = run(&plan);
        prop_assert_eq!(fixture.channel.next(), None);
        for (hop, taken) in taken.iter().enumerate() {
            let out = fixture.out[hop].iter().chain(&fixture.dropped[hop]);
            let mut numbers: Vec<u64> = out.map(|(_, number)| *number).collect();
            numbers.sort_unstable();
            prop_assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "{numbers:?}");
            prop_assert_eq!(numbers.len() as u64, *taken);
            let came: Vec<u64> = fixture.out[hop].iter().map(|(_, number)| *number).collect();
            prop_assert!(came.is_sorted(), "in order: {came:?}");
            let stats = fixture.channel.hop_stats(hop);
            prop_assert_eq!(stats.packets, *taken);
            prop_assert_eq!(stats.delivered_packets, fixture.out[hop].len() as u64);
            let dropped = stats.drops_tries + stats.drops_lifetime;
            prop_assert_eq!(dropped, fixture.dropped[hop].len() as u64);
            let tries = u64::from(plan.radios[0].tries);
            prop_assert!(stats.attempts <= taken * (2 * tries));
        }
    }

    #[test]
    fn airtimes_sum_to_the_duration_and_channel_becomes_idle(plan in plan()) {
        let (fixture, _) = run(&plan);
        prop_assert!(fixture.channel.powers().all(|power| power == 0));
        let mut sending = Time::ZERO;
        for radio in 0..plan.radios.len() {
            let stats = fixture.channel.radio_stats(radio, fixture.now);
            prop_assert_eq!(stats.airtime.total(), fixture.now);
            sending += stats.airtime.sending();
        }
        let stats = fixture.channel.stats(fixture.now);
        prop_assert!(stats.busy <= sending && stats.time == fixture.now);
        prop_assert!(stats.collisions <= stats.attempts);
    }

    #[test]
    fn radio_order_and_distant_radios_do_not_matter(plan in plan(), by in 1_usize..8) {
        let count = plan.radios.len();
        let by = by % count;
        let mut turned = plan.clone();
        turned.radios.rotate_left(by);
        turned.radios.push(RadioConfig {
            node: "far".to_owned(),
            at: [1e9, 0.0, 0.0],
            ..plan.radios[0].clone()
        });
        let moved = |radio: usize| (radio + count - by) % count;
        for (from, to, _) in &mut turned.hops {
            (*from, *to) = (moved(*from), moved(*to));
        }
        let ((one, _), (other, _)) = (run(&plan), run(&turned));
        let (hops, radios) = counted(&one, &plan);
        let (turned_hops, turned_radios) = counted(&other, &turned);
        prop_assert_eq!(hops, turned_hops);
        for radio in 0..count {
            prop_assert_eq!(radios[radio], turned_radios[moved(radio)]);
        }
        prop_assert_eq!(&one.out, &other.out);
        prop_assert_eq!(&one.dropped, &other.dropped);
        let (again, _) = run(&plan);
        prop_assert_eq!(&one.out, &again.out);
    }
}
