//! Links of an association that go down: the gap in deliveries, and the time until they are used
//! again.

mod support;

use ropewalk_quantities::Time;
use ropewalk_simulator::{Options, Outcome, simulate};
use support::{run, scenario};

/// Rate in Mbit/s and round trip in ms of each link; link `dark` is down from 5 s to 8 s.
fn outage(links: [(u32, u32); 2], dark: usize) -> Outcome {
    let mut text = String::from("duration = \"12 s\"\nwarmup = \"3 s\"\n");
    for (number, (rate, round_trip)) in links.into_iter().enumerate() {
        text += &format!(
            "[[link]]\nname = \"{number}\"\nrate = \"{rate} Mbit/s\"\ndelay = \"{} ms\"\nqueue = \"1 bdp\"\n",
            round_trip / 2
        );
        if number == dark {
            text += "down = [[\"5 s\", \"8 s\"]]\n";
        }
    }
    text += "[transport]\nprotocol = \"aggregation\"\nreceive_buffer = \"4 MiB\"\n";
    let options = Options {
        timeline_step: Some(Time::from_millis(250)),
        ..Options::default()
    };
    let outcome = simulate(&scenario(&text), 1, &options).expect("a scenario that is simulated");
    assert_eq!(outcome.summary, run(&text, 1).summary);
    outcome
}

/// Returns when a link delivers again, in seconds.
fn back_at(outcome: &Outcome, link: u32) -> f64 {
    let rows = &outcome.timeline.as_ref().expect("asked for").subflows;
    let rows = rows
        .time_s
        .iter()
        .zip(&rows.subflow)
        .zip(&rows.goodput_mbps);
    let mut back = rows
        .filter(|((time, subflow), mbps)| **subflow == link && **time > 8.0 && **mbps > 0.0)
        .map(|((time, _), _)| *time);
    back.next().expect("it is used again")
}

#[test]
fn either_of_two_equal_links_may_fail() {
    for dark in [0, 1] {
        let outcome = outage([(20, 20), (20, 20)], dark);
        let gap = outcome.summary.longest_gap_s.unwrap();
        assert!(gap <= 0.150, "{gap} s");
        assert!(back_at(&outcome, dark as u32) <= 9.0);
    }
}

#[test]
fn either_of_two_unequal_links_may_fail() {
    for (dark, most) in [(0, 0.5), (1, 0.15)] {
        let outcome = outage([(20, 20), (5, 200)], dark);
        let gap = outcome.summary.longest_gap_s.unwrap();
        assert!(gap <= most, "link {dark}: {gap} s");
        assert!(back_at(&outcome, dark as u32) <= 9.0);
    }
}
