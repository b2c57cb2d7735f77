use std::fs;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use proptest::prelude::*;
use ropewalk_quantities::{Bytes, Rate, Time};
use ropewalk_striping::{Pace, Terms};

use super::{Usage, UsageStore};
use crate::links::Link;
use crate::quota_policy::{AtCap, Period, QuotaPolicy};

fn at(text: &str) -> Zoned {
    text.parse().unwrap()
}

fn monthly(start_day: u8) -> QuotaPolicy {
    QuotaPolicy {
        quota: Some(Bytes::new(1000)),
        start_day,
        ..QuotaPolicy::default()
    }
}

#[test]
fn month_begins_on_start_day_or_last_day() {
    let policy = monthly(31);
    let mut usage = Usage::default();
    for (now, used) in [
        ("2027-01-30T12:00[Europe/Vienna]", 10),
        ("2027-01-31T00:00[Europe/Vienna]", 10),
        ("2027-02-27T23:59:59[Europe/Vienna]", 20),
        ("2027-02-28T00:00[Europe/Vienna]", 10),
        ("2027-03-30T12:00[Europe/Vienna]", 20),
        ("2028-02-29T12:00[Europe/Vienna]", 10),
    ] {
        usage.advance(&policy, &at(now));
        usage.charge(10);
        assert_eq!(usage.used, used, "{now}");
    }
}

#[test]
fn a_span_is_counted_from_the_first_byte() {
    let policy = QuotaPolicy {
        period: Period::Span(Time::from_secs(100)),
        ..monthly(0)
    };
    let mut usage = Usage::default();
    for (second, used) in [(1050, 10), (1149, 20), (1150, 10), (1449, 10), (1450, 10)] {
        let now = Timestamp::from_second(second).unwrap();
        usage.advance(&policy, &now.to_zoned(TimeZone::UTC));
        usage.charge(10);
        assert_eq!(usage.used, used, "{second}");
    }
}

#[test]
fn even_pace_allows_the_elapsed_share_of_the_quota() {
    let policy = QuotaPolicy {
        pace: Pace::Even,
        ..monthly(11)
    };
    let mut usage = Usage::default();
    let mut allowed = |now: &str, charged: u64| {
        let now = at(now);
        usage.advance(&policy, &now);
        usage.charge(charged);
        policy.terms(1.0, &usage, &now).quota.map(Bytes::as_u64)
    };
    // Counted from the middle of a month of 28 days: 14 days are left.
    assert_eq!(allowed("2027-02-25T00:00[UTC]", 0), Some(10));
    assert_eq!(allowed("2027-02-25T00:00[UTC]", 10), Some(0));
    assert_eq!(allowed("2027-03-04T00:00[UTC]", 0), Some(500));
    assert_eq!(allowed("2027-03-10T23:59[UTC]", 0), Some(990));
    // A month of 31 days, with a change of the clocks in it.
    assert_eq!(allowed("2027-03-11T00:00[Europe/Vienna]", 0), Some(10));
    assert_eq!(allowed("2027-03-26T13:00[Europe/Vienna]", 300), Some(210));
    // Ahead of the pace nothing is left; behind it, the unused rest.
    assert_eq!(allowed("2027-03-26T13:00[Europe/Vienna]", 300), Some(0));
    assert_eq!(allowed("2027-04-10T23:00[Europe/Vienna]", 0), Some(400));
    let free = monthly(11);
    let now = at("2027-03-11T00:00[UTC]");
    assert_eq!(
        free.terms(1.0, &Usage::default(), &now).quota,
        Some(Bytes::new(1000))
    );
}

#[test]
fn priced_pace_raises_the_cost_ahead_of_the_pace() {
    let policy = QuotaPolicy {
        pace: Pace::Priced,
        ..monthly(1)
    };
    let mut usage = Usage::default();
    let mut cost = |now: &str, charged: u64| {
        let now = at(now);
        usage.advance(&policy, &now);
        usage.charge(charged);
        let terms = policy.terms(2.0, &usage, &now);
        assert_eq!(terms.quota, policy.left(&usage));
        terms.cost
    };
    assert_eq!(cost("2027-04-01T00:00[UTC]", 10), 2.0);
    assert_eq!(cost("2027-04-01T00:00[UTC]", 10), 8.0);
    // A third of the period and a half of the quota: half as much again, squared.
    assert_eq!(cost("2027-04-11T00:00[UTC]", 480), 4.5);
    assert_eq!(cost("2027-04-30T00:00[UTC]", 0), 2.0);
}

#[test]
fn link_at_its_cap_is_last_resort_or_throttled() {
    let now = at("2027-04-01T00:00[UTC]");
    let rate = Rate::from_bps(512_000);
    let at_cap = |at_cap, used| {
        let policy = QuotaPolicy {
            at_cap,
            ..monthly(1)
        };
        let mut usage = Usage::default();
        usage.advance(&policy, &now);
        usage.charge(used);
        policy.terms(2.0, &usage, &now)
    };
    let terms = |quota: Option<u64>, rate| Terms {
        cost: 2.0,
        quota: quota.map(Bytes::new),
        rate,
    };
    let throttle = AtCap::Throttle(rate);
    assert_eq!(at_cap(throttle, 999), terms(Some(1), None));
    assert_eq!(at_cap(throttle, 1000), terms(None, Some(rate)));
    assert_eq!(at_cap(AtCap::LastResort, 1001), terms(Some(0), None));
}

proptest! {
    /// Using every allowance at once leaves some in each hundredth of the period until its end.
    #[test]
    fn an_even_pace_lasts(span_s in 1_i64..10_000_000, began in 0_i64..4_000_000_000, steps in 200_i64..2000) {
        let policy = QuotaPolicy {
            quota: Some(Bytes::new(1_000_000)),
            period: Period::Span(Time::from_secs(span_s as u64)),
            pace: Pace::Even,
            ..QuotaPolicy::default()
        };
        let mut usage = Usage::default();
        for step in 0..steps {
            let millis = began * 1000 + span_s * 1000 * step / steps;
            let now = Timestamp::from_millisecond(millis).unwrap().to_zoned(TimeZone::UTC);
            usage.advance(&policy, &now);
            let most = policy.terms(1.0, &usage, &now).quota.unwrap().as_u64();
            usage.charge(most);
            let share = step as f64 / steps as f64;
            prop_assert!(usage.used as f64 <= 1e6 * (share + 0.01) + 1.0, "{share} {}", usage.used);
            prop_assert!(usage.used as f64 >= 1e6 * (share - 1e-3) - 1.0, "{share} {}", usage.used);
        }
        prop_assert!(usage.used >= 970_000);
    }
}

#[test]
fn other_terms_forget_nothing() {
    let now = at("2027-03-10T12:00[UTC]");
    let mut usage = Usage::default();
    usage.advance(&monthly(1), &now);
    usage.charge(700);
    usage.advance(&monthly(9), &now);
    assert_eq!(usage.used, 700);
    let span = QuotaPolicy {
        period: Period::Span(Time::from_secs(3600)),
        ..monthly(0)
    };
    usage.advance(&span, &now);
    assert_eq!(span.left(&usage), Some(Bytes::new(300)));
    assert_eq!(span.used_percent(&usage), 70);
}

#[test]
fn remaining_time_follows_the_mean_rate_since_counting() {
    let policy = monthly(1);
    let mut usage = Usage::default();
    let first = at("2027-03-20T12:00[UTC]");
    usage.advance(&policy, &first);
    assert_eq!(policy.lasts(&usage, &at("2027-03-20T13:00[UTC]")), None);
    usage.charge(250);
    assert_eq!(policy.lasts(&usage, &first), None);
    // A quarter in an hour, and not in the twenty days of the month so far.
    let lasts = |usage: &Usage, now| policy.lasts(usage, &at(now)).map(|it| it.as_secs());
    assert_eq!(lasts(&usage, "2027-03-20T13:00[UTC]"), Some(3 * 3600));
    assert_eq!(lasts(&usage, "2027-03-20T11:00[UTC]"), None);
    usage.advance(&policy, &at("2027-04-01T00:00[UTC]"));
    usage.charge(500);
    assert_eq!(lasts(&usage, "2027-04-01T02:00[UTC]"), Some(2 * 3600));
    usage.charge(501);
    assert_eq!(lasts(&usage, "2027-04-01T02:00[UTC]"), Some(0));
}

#[test]
fn quota_nearer_to_its_end_decides() {
    let policy = QuotaPolicy {
        daily: Some(Bytes::new(100)),
        ..monthly(1)
    };
    let mut usage = Usage::default();
    usage.advance(&policy, &at("2027-03-10T23:00[UTC]"));
    usage.charge(96);
    assert_eq!(policy.left(&usage), Some(Bytes::new(4)));
    assert_eq!(policy.used_percent(&usage), 96);
    usage.advance(&policy, &at("2027-03-11T00:00[UTC]"));
    assert_eq!(policy.left(&usage), Some(Bytes::new(100)));
    usage.charge(90);
    assert_eq!((usage.used, usage.used_today), (186, 90));
}

#[test]
fn usage_file_outlives_store_and_corrupt_one_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("new/quota.json");
    let link: Link = "lte=wwan0,quota=1MB,period=30d,at_cap=stop"
        .parse()
        .unwrap();
    let store = UsageStore::open(file.clone());
    store.charge(&link, 300_000);
    store.save();
    let store = UsageStore::open(file.clone());
    assert_eq!(store.left(&link), Some(Bytes::new(700_000)));
    assert!(!store.is_stopped(&link));
    store.charge(&link, 700_001);
    assert!(store.is_stopped(&link));
    fs::write(&file, "{\"links\": {\"lte\": {\"used\": -1}}").unwrap();
    let store = UsageStore::open(file.clone());
    assert_eq!(store.left(&link), Some(Bytes::new(1_000_000)));
    let aside = file.with_extension("json.unreadable");
    assert!(fs::read_to_string(aside).unwrap().contains("-1"));
    // A folder cannot be overwritten: the counts stay.
    let store = UsageStore::open(folder.path().to_owned());
    store.charge(&link, 10);
    store.save();
    let status = store.status(&link).unwrap();
    let used = [status.used, status.used_today];
    assert_eq!(used, [Bytes::new(10); 2]);
}

proptest! {
    /// No more is returned than was used, and a clock that only goes back returns nothing.
    #[test]
    fn a_clock_that_jumps_back_gives_no_quota_away(
        start_day in 1_u8..=31,
        span in prop::option::of(1_u64..10_000_000),
        first in 1_000_000_000_i64..2_000_000_000,
        jumps in prop::collection::vec((0_i64..1_000_000_000, 0_u64..500, 0_usize..3), 1..20),
    ) {
        let zones = ["Pacific/Kiritimati", "America/St_Johns", "Pacific/Pago_Pago"];
        let zoned = |second: i64, zone: usize| {
            let zone = TimeZone::get(zones[zone]).unwrap();
            Timestamp::from_second(second).unwrap().to_zoned(zone)
        };
        let mut policy = monthly(start_day);
        if let Some(span) = span {
            policy = QuotaPolicy { period: Period::Span(Time::from_secs(span)), ..monthly(0) };
        }
        let mut usage = Usage::default();
        usage.advance(&policy, &zoned(first, 0));
        let mut used = 0;
        for (back, bytes, zone) in jumps {
            usage.advance(&policy, &zoned(first - back, zone));
            usage.charge(bytes);
            used += bytes;
            prop_assert_eq!((usage.used, usage.used_today), (used, used));
        }
    }

    /// Within a period nothing is forgotten, and each later period begins at zero.
    #[test]
    fn months_are_counted_separately(
        start_day in 1_u8..=31,
        mut moments in prop::collection::vec(1_000_000_000_i64..1_050_000_000, 1..60),
    ) {
        moments.sort_unstable();
        let zone = TimeZone::get("Europe/Vienna").unwrap();
        let policy = monthly(start_day);
        let mut usage = Usage::default();
        let (mut month, mut used) = (None, 0);
        for second in moments {
            let now = Timestamp::from_second(second).unwrap().to_zoned(zone.clone());
            usage.advance(&policy, &now);
            usage.charge(1);
            // Months since the year zero; before its start day, a month counts as the previous one.
            let begins = (start_day as i8).min(now.days_in_month());
            let this = i32::from(now.year()) * 12 + i32::from(now.month()) - i32::from(now.day() < begins);
            used = if month == Some(this) { used + 1 } else { 1 };
            month = Some(this);
            prop_assert_eq!(usage.used, used);
        }
    }
}
