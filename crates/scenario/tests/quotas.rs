//! Quotas of links.

mod reading;

use reading::read;
use ropewalk_quantities::{Bytes, Time};
use ropewalk_scenario::Quota;
use ropewalk_striping::Pace;

#[test]
fn a_quota_is_read_and_written() {
    let text = "[[link]]\nname = 'lte'\nrate = '1mbit'\ncount = 2\nquota = '10 GB'\n\
                period = '30 d'\npace = 'even'\n[[link]]\nname = 'dsl'\nrate = '1mbit'\n\
                [[link]]\nname = 'sat'\nrate = '1mbit'\nquota = '1 MB'\n[transport]\nprotocol = 'mptcp'\n";
    let scenario = read(text);
    let lte = Quota {
        size: Bytes::new(10_000_000_000),
        period: Some(Time::from_secs(30 * 86_400)),
        pace: Pace::Even,
    };
    let sat = Quota {
        size: Bytes::new(1_000_000),
        period: None,
        pace: Pace::Free,
    };
    assert_eq!(scenario.quotas, [Some(lte), Some(lte), None, Some(sat)]);
    assert_eq!(read(&scenario.to_toml()).quotas, scenario.quotas);
    let written = scenario.to_json();
    assert_eq!(written["link"][0]["period"], 2_592_000.0);
    assert_eq!(written["link"][3]["quota"], 1_000_000);
    // A period includes its last instant.
    let periods = [0, 1, 2_592_000, 2_592_001].map(|second| lte.period_at(Time::from_secs(second)));
    assert_eq!(periods, [0, 0, 0, 1]);
    let progress = lte.progress(Time::from_secs(2_592_001), Bytes::new(7));
    assert_eq!(progress.passed, Time::from_secs(1));
}
