use super::*;

const MIN: f64 = 0.1;
const GAIN: f64 = 1.25;
const BASE: f64 = GAIN * MIN + 0.0075;

struct Run {
    probe: InflightProbe,
    now: Time,
    /// Bytes per second that the link carries.
    capacity: f64,
    /// Seconds of a round trip without our queue.
    path: f64,
    /// Most bytes that TCP has in flight.
    window: f64,
    /// The largest recent rates, and the estimate.
    rates: Vec<f64>,
    estimate: f64,
}

impl Run {
    /// Start-up ends after rounds of these rates, with a queue as long as the least round trip.
    fn new(capacity: f64, path: f64, window: f64, rates: [f64; 2]) -> Run {
        let mut run = Run {
            probe: InflightProbe::default(),
            now: Time::from_secs(1),
            capacity,
            path,
            window,
            rates: rates.to_vec(),
            estimate: rates[1],
        };
        for rate in rates {
            let round = Round {
                rate,
                error: 0.0,
                least: 2.0 * MIN,
                filled: 2.0 * MIN * rate,
                held: true,
                busy: true,
                drained: false,
            };
            run.probe.on_round(run.now, &run.estimates(None), &round);
        }
        run.probe
            .on_full(run.now, &run.estimates(None), rates[1], false);
        run
    }

    fn estimates(&self, rate: Option<f64>) -> Estimates {
        Estimates {
            base: BASE,
            gain: GAIN,
            min_rtt: MIN,
            rate,
        }
    }

    /// Rounds for `seconds` seconds; returns the rate and the round trip of the last one.
    fn pass(&mut self, seconds: u64) -> (f64, f64) {
        let until = self.now + Time::from_secs(seconds);
        let mut last = (0.0, 0.0);
        while self.now < until {
            last = self.round(1.0);
        }
        last
    }

    /// A round that delivers `times` times the link's capacity.
    fn round(&mut self, times: f64) -> (f64, f64) {
        let cap = self.estimate * (BASE + self.probe.extra_secs);
        let filled = cap.min(self.window);
        let rtt = self.path.max(filled / self.capacity);
        let rate = times * filled / rtt;
        self.now += Time::from_secs_f64(rtt);
        self.rates.push(rate);
        let recent = &self.rates[self.rates.len().saturating_sub(10)..];
        let new = recent.iter().copied().fold(0.0, f64::max);
        let held = cap < self.window;
        if held && new != self.estimate {
            self.probe.on_estimate(BASE, self.estimate, new);
        }
        self.estimate = new;
        let round = Round {
            rate,
            error: 0.0,
            least: rtt,
            filled,
            held,
            busy: true,
            drained: false,
        };
        self.probe
            .on_round(self.now, &self.estimates(Some(new)), &round);
        (rate, rtt)
    }
}

#[test]
fn without_jitter_no_queue_remains() {
    let mut run = Run::new(1e6, MIN, 1e6, [1e6, 1e6]);
    assert_eq!(run.probe.extra_secs, 0.0);
    for _ in 0..60 {
        let (rate, rtt) = run.pass(1);
        assert!(rate > 0.99e6 && rtt < STEP * BASE * 1.01, "{rate} {rtt}");
    }
}

#[test]
fn single_fast_round_does_not_free_carrier() {
    // Data behind a repaired loss arrive at once: a round delivers more than the link carries, also within
    // trials.
    for every in 3..20 {
        let mut run = Run::new(1e6, MIN, 1e6, [1e6, 1e6]);
        for index in 0..400 {
            run.round(if index % every == 0 { 1.3 } else { 1.0 });
            assert!(run.probe.extra_secs.is_finite(), "every {every}: {index}");
        }
    }
}

#[test]
fn carrier_with_queue_is_trimmed_once_rate_is_flat() {
    // Start-up ended for no good reason, with a round trip more in flight than needed.
    let mut run = Run::new(1e6, MIN, 4e5, [0.7e6, 0.9e6]);
    assert!((run.probe.extra_secs - (2.0 * STEP * MIN - BASE)).abs() < 1e-9);
    run.pass(20);
    assert!(run.probe.extra_secs < 1e-9, "{}", run.probe.extra_secs);
    let (rate, rtt) = run.pass(1);
    assert!(rate > 0.99e6 && rtt < STEP * BASE * 1.01, "{rate} {rtt}");
}

#[test]
fn long_return_path_is_no_queue() {
    // A round trip is three times the least, without a queue.
    let mut run = Run::new(1e6, 3.0 * MIN, 3.1e5, [1e6, 1e6]);
    assert_eq!(run.probe.extra_secs, 0.0);
    run.pass(3);
    let before = run.rates.len();
    run.pass(120);
    let rates = &run.rates[before..];
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    assert!(mean > 0.95e6, "{mean}");
    assert!(run.estimate > 0.95e6, "{}", run.estimate);
}

#[test]
fn a_rate_learnt_while_the_link_was_fast_is_forgotten() {
    let mut run = Run::new(3e8, MIN, 6e7, [3e8, 3e8]);
    run.pass(5);
    // From 2.4 Gbit/s to 8 Mbit/s; TCP notices by losses.
    run.capacity = 1e6;
    run.window = 2e5;
    run.pass(10);
    let (rate, rtt) = run.pass(1);
    assert!((run.estimate - 1e6).abs() < 1e4, "{}", run.estimate);
    assert!(rate > 0.99e6 && rtt <= 0.2, "{rate} {rtt}");
}

#[test]
fn more_is_found_when_there_is_more() {
    let mut run = Run::new(1e6, MIN, 2e5, [1e6, 1e6]);
    run.pass(5);
    run.capacity = 1e7;
    run.window = 2e6;
    run.pass(20);
    assert!(run.estimate > 0.95e7, "{}", run.estimate);
}

#[test]
fn shared_queue_leaves_half_of_the_rate() {
    let mut run = Run::new(1e6, MIN, 2e5, [0.7e6, 0.9e6]);
    run.probe.release(run.now);
    let mut least: f64 = 1e9;
    for _ in 0..200 {
        let cap = run.estimate * (BASE + run.probe.extra_secs);
        let filled = cap.min(run.window);
        let rtt = (filled + 2e5) / run.capacity;
        let rate = filled / rtt;
        run.now += Time::from_secs_f64(rtt);
        run.rates.push(rate);
        let recent = &run.rates[run.rates.len().saturating_sub(10)..];
        let new = recent.iter().copied().fold(0.0, f64::max);
        if cap < run.window && new != run.estimate {
            run.probe.on_estimate(BASE, run.estimate, new);
        }
        run.estimate = new;
        let round = Round {
            rate,
            error: 0.0,
            least: rtt,
            filled,
            held: cap < run.window,
            busy: true,
            drained: false,
        };
        let estimates = run.estimates(Some(new));
        run.probe.on_round(run.now, &estimates, &round);
        if run.rates.len() > 40 {
            least = least.min(run.estimate);
        }
    }
    assert!(least > 0.45e6, "{least}");
}

#[test]
fn slower_round_before_a_faster_one_had_no_queue() {
    let mut probe = InflightProbe::default();
    let estimates = Estimates {
        base: BASE,
        gain: GAIN,
        min_rtt: MIN,
        rate: None,
    };
    for (rate, least) in [(1e5, 0.16), (1.2e5, 0.3), (2e5, 0.2)] {
        let round = Round {
            rate,
            error: 0.0,
            least,
            filled: 0.0,
            held: true,
            busy: true,
            drained: false,
        };
        probe.on_round(Time::from_secs(1), &estimates, &round);
    }
    assert!(
        (probe.extra_secs - GAIN * 0.2).abs() < 1e-9,
        "{}",
        probe.extra_secs
    );
}

#[test]
fn carrier_reuses_result_of_its_link_at_equal_rate() {
    let run = Run::new(1e6, MIN, 1e6, [0.7e6, 0.9e6]);
    let extra_secs = run.probe.extra_secs;
    let begun = |is_found_again| {
        let mut probe = InflightProbe::starting(run.probe.found());
        let round = Round {
            rate: 1e6,
            least: MIN,
            ..Round::default()
        };
        probe.on_round(run.now, &run.estimates(None), &round);
        probe.on_full(run.now, &run.estimates(None), 1e6, is_found_again);
        probe.extra_secs
    };
    assert!(extra_secs > 0.05);
    assert_eq!(begun(true), extra_secs);
    assert_eq!(begun(false), 0.0);
    let mut free = InflightProbe::default();
    free.release(run.now);
    assert_eq!(free.found(), None);
}

#[test]
fn a_frame_more_or_less_is_the_same_rate() {
    let extra_secs = |error| {
        let mut probe = InflightProbe::default();
        for rate in [1e6, 1.1e6] {
            let round = Round {
                rate,
                error,
                least: 2.0 * MIN,
                filled: 2.0 * MIN * rate,
                ..Round::default()
            };
            let run = Run::new(1e6, MIN, 1e6, [1e6, 1e6]);
            probe.on_round(run.now, &run.estimates(None), &round);
        }
        let estimates = Run::new(1e6, MIN, 1e6, [1e6, 1e6]).estimates(None);
        probe.on_full(Time::from_secs(1), &estimates, 1.1e6, false);
        probe.extra_secs
    };
    assert_eq!(extra_secs(0.2), 0.0);
    assert!(extra_secs(0.05) > 0.0);
}

/// With a queue as long as the round trip.
#[test]
fn less_is_tried_after_two_limited_rounds() {
    let tries = |is_busy: fn(usize) -> bool| {
        let mut probe = InflightProbe {
            extra_secs: f64::INFINITY,
            ..InflightProbe::default()
        };
        (0..40).find(|round| {
            let now = Time::from_millis(200 * *round as u64);
            let estimates = Estimates {
                base: BASE,
                gain: GAIN,
                min_rtt: MIN,
                rate: Some(1e6),
            };
            let of_round = Round {
                rate: 1e6,
                error: 0.0,
                least: 2.0 * MIN,
                filled: 3.0 * MIN * 1e6,
                held: false,
                busy: is_busy(*round),
                drained: false,
            };
            probe.on_round(now, &estimates, &of_round);
            probe.trial.is_some()
        })
    };
    assert_eq!(tries(|_| false), None);
    assert_eq!(tries(|round| round % 2 == 0), None);
    assert!(tries(|_| true).is_some());
}
