//! Links with a quota.

use ropewalk_scenario::Scenario;
use ropewalk_simulator::{Options, Outcome, simulate};

const PROTOCOLS: [&str; 2] = ["mptcp", "aggregation"];
const WITH_TUNNEL: [&str; 3] = ["mptcp", "aggregation", "striped-tcp\"\ndevice = \"tunnel"];

/// A free link of 6 Mbit/s, and an expensive one of 20 with a quota.
fn text(transport: &str, quota: &str, more: &str) -> String {
    format!(
        "duration = \"60 s\"\n\
         [[link]]\nname = \"wifi\"\nrate = \"6 Mbit/s\"\ndelay = \"10 ms\"\n{more}\n\
         [[link]]\nname = \"lte\"\nrate = \"20 Mbit/s\"\ndelay = \"30 ms\"\ncost = 5\n{quota}\n\
         [transport]\n{transport}\n"
    )
}

fn run(text: &str) -> Outcome {
    let mut no_traces = |_: &str| Err("no such file".to_owned());
    let scenario = Scenario::parse(text, "quota.toml", &[], &mut no_traces)
        .unwrap_or_else(|errors| panic!("{text}: {errors}"));
    simulate(&scenario, 1, &Options::default()).unwrap()
}

/// Bytes used and left of the expensive link's quota.
fn used(outcome: &Outcome) -> (u64, u64) {
    let [quota] = &outcome.summary.quota[..] else {
        panic!("{:?}", outcome.summary.quota);
    };
    assert_eq!(quota.link, "lte");
    (quota.used, quota.left)
}

#[test]
fn exhausted_link_is_idle_while_another_is_up() {
    for protocol in WITH_TUNNEL {
        let transport = format!("protocol = \"{protocol}\"");
        let quota = "quota = \"20 MB\"";
        let outcome = run(&text(&transport, quota, ""));
        let (used, left) = used(&outcome);
        // The excess is at most the bytes of 50 ms and a round trip at 20 Mbit/s, then ACKs and probes.
        assert!(
            (20_000_000..20_600_000).contains(&used),
            "{protocol} {used}"
        );
        assert_eq!(left, 0);
        let without = run(&text(&transport, "", ""));
        assert!(without.summary.quota.is_empty());
        assert!(without.summary.goodput_mbps > 2.0 * outcome.summary.goodput_mbps);
    }
}

#[test]
fn exhausted_link_is_the_last_resort() {
    for protocol in WITH_TUNNEL {
        let transport = format!("protocol = \"{protocol}\"");
        let quota = "quota = \"5 MB\"";
        let dead = "down = [[\"20 s\", \"40 s\"]]";
        let outcome = run(&text(&transport, quota, dead));
        let (used, _) = used(&outcome);
        // 20 s at 20 Mbit/s, minus the detection time. TCP's timer doubles while the other link is down: it
        // may expire twice as late if no other connection is dialled.
        let most = match protocol {
            "aggregation" => 56_000_000,
            _ => 106_000_000,
        };
        assert!((44_000_000..most).contains(&used), "{protocol} {used}");
        let gap = outcome.summary.longest_gap_s.unwrap();
        assert!(gap < 2.0, "{protocol} {gap}");
    }
}

#[test]
fn even_pace_spreads_quota_over_each_period() {
    for protocol in WITH_TUNNEL {
        let transport = format!("protocol = \"{protocol}\"");
        let quota = "quota = \"20 MB\"\nperiod = \"25 s\"\npace = \"even\"";
        // The run ends within the third.
        let (used, _) = used(&run(&text(&transport, quota, "")));
        let least = match protocol {
            "mptcp" | "aggregation" => 8_000_000,
            // A tunnel link that is available again is measured again, for a few round trips of each
            // quarter second that releases another 1 % of the quota.
            _ => 7_700_000,
        };
        let wanted = least..8_700_000;
        assert!(wanted.contains(&used), "{protocol} {used}");
    }
}

/// 80 % of the messages are in time over the free link: the expensive one carries the rest, and less of it
/// as its price rises, if another one is expensive too.
#[test]
fn rising_price_moves_traffic_to_another_link() {
    for protocol in PROTOCOLS {
        let share = |pace: &str| {
            let scheduler = "scheduler = \"cheapest-in-time\"";
            let traffic = "[traffic]\nkind = \"cbr\"\nrate = \"8 Mbit/s\"\nmessage = \"20 kB\"\n\
                           deadline = \"200 ms\"";
            let quota = format!("quota = \"20 MB\"\nperiod = \"1000 s\"\npace = \"{pace}\"");
            let third = "[[link]]\nname = \"satellite\"\nrate = \"20 Mbit/s\"\n\
                         delay = \"40 ms\"\ncost = 20";
            let transport = format!("protocol = \"{protocol}\"\n{scheduler}\n{traffic}");
            let outcome = run(&text(&transport, &quota, third));
            let messages = outcome.summary.application.messages.unwrap();
            assert!(messages.late_percent < 3.0, "{protocol} {messages:?}");
            let (used, _) = used(&outcome);
            used
        };
        let [free, priced] = ["free", "priced"].map(share);
        assert!(free > 15_000_000, "{protocol} {free}");
        // Its price equals the other's when the used share of the quota is twice that of the period.
        // Carriers know less of an unused link, and adapt more slowly.
        let most = match protocol {
            "aggregation" => free * 3 / 4,
            _ => 3_000_000,
        };
        assert!((1_500_000..most).contains(&priced), "{protocol} {priced}");
    }
}
