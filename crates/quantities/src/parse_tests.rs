use proptest::prelude::*;

use crate::{Bytes, Decimal, Rate, Time, parse_probability, percentage};

#[test]
fn times_are_exact() {
    for (text, nanos) in [
        ("0", 0),
        ("0 s", 0),
        ("10ms", 10_000_000),
        ("10 ms", 10_000_000),
        (" 10\tms ", 10_000_000),
        ("0.1 ms", 100_000),
        (".5s", 500_000_000),
        ("1.5 s", 1_500_000_000),
        ("200us", 200_000),
        ("200 \u{b5}s", 200_000),
        ("3usecs", 3_000),
        ("7 msec", 7_000_000),
        ("2 secs", 2_000_000_000),
        ("5 min", 300_000_000_000),
        ("1h", 3_600_000_000_000),
        ("0.5 ns", 1),
        ("0.4 ns", 0),
        ("18446744073709551615 ns", u64::MAX),
    ] {
        assert_eq!(text.parse(), Ok(Time::from_nanos(nanos)), "{text}");
    }
}

#[test]
fn rates_are_exact() {
    for (text, bps) in [
        ("20mbit", 20_000_000),
        ("20 Mbit/s", 20_000_000),
        ("20Mbit", 20_000_000),
        ("35.9 Mbit/s", 35_900_000),
        ("512 kbit", 512_000),
        ("1gbit", 1_000_000_000),
        ("9600 bit/s", 9_600),
        ("1 Kibit/s", 1_024),
    ] {
        assert_eq!(text.parse(), Ok(Rate::from_bps(bps)), "{text}");
    }
}

#[test]
fn sizes_are_exact() {
    for (text, bytes) in [
        ("20 MB", 20_000_000),
        ("4 MiB", 4 << 20),
        ("1448 B", 1448),
        ("1448 bytes", 1448),
        ("64KiB", 65_536),
        ("1.5 kB", 1_500),
        ("1 KB", 1_000),
        ("2 GB", 2_000_000_000),
    ] {
        assert_eq!(text.parse(), Ok(Bytes::new(bytes)), "{text}");
    }
}

#[test]
fn percentages_are_the_nearest_float() {
    for (text, probability) in [
        ("0.1%", 0.001),
        ("0.1 %", 0.001),
        ("100 %", 1.0),
        ("0", 0.0),
        ("33.3 %", 0.333),
    ] {
        assert_eq!(parse_probability(text), Ok(probability), "{text}");
    }
}

#[test]
fn errors_state_the_problem() {
    let time = |text: &str| text.parse::<Time>().unwrap_err().problem.to_string();
    let rate = |text: &str| text.parse::<Rate>().unwrap_err().problem.to_string();
    let size = |text: &str| text.parse::<Bytes>().unwrap_err().problem.to_string();
    let percent = |text: &str| parse_probability(text).unwrap_err().problem.to_string();

    assert_eq!(time(""), "must not be empty");
    assert_eq!(time("  "), "must not be empty");
    assert_eq!(time("-5 ms"), "must not be negative");
    assert_eq!(time("- ms"), "must begin with a number");
    assert_eq!(time("nan"), "must begin with a number");
    assert_eq!(time("inf s"), "must begin with a number");
    assert_eq!(time("."), "must begin with a number");
    assert_eq!(time("+5 ms"), "must begin with a number");
    assert_eq!(time("10"), "must have a unit");
    assert_eq!(time("1,5 s"), "must have a decimal point, not a comma");
    assert_eq!(time("10 mss"), r#"unknown unit "mss""#);
    assert_eq!(time("1e3 ms"), r#"unknown unit "e3 ms""#);
    assert_eq!(
        time("5m"),
        r#"unit "m" means different things to different programs: write ms or min"#
    );
    assert_eq!(time("99999999999 h"), "too large");
    assert_eq!(time("99999999999999999999999 ns"), "too large");
    assert_eq!(
        rate("20 Mbps"),
        r#"unit "Mbps" means different things to different programs: write Mbit/s"#
    );
    assert_eq!(
        rate("20 MB/s"),
        r#"unit "MB/s" means different things to different programs: write Mbit/s"#
    );
    assert_eq!(
        rate("20k"),
        r#"unit "k" means different things to different programs: write kbit/s"#
    );
    assert_eq!(rate("20 ms"), r#"unknown unit "ms""#);
    assert_eq!(
        size("64k"),
        r#"unit "k" means different things to different programs: write kB or KiB"#
    );
    assert_eq!(
        size("64 kb"),
        r#"unit "kb" means different things to different programs: write kB or KiB"#
    );
    assert_eq!(
        size("1 m"),
        r#"unit "m" means different things to different programs: write MB or MiB"#
    );
    assert_eq!(percent("0.1"), "must have a unit");
    assert_eq!(percent("120 %"), "too large");
    assert_eq!(percent("5 percent"), r#"unknown unit "percent""#);
}

#[test]
fn errors_state_the_allowed_values() {
    assert_eq!(
        "10".parse::<Time>().unwrap_err().to_string(),
        r#"must have a unit; allowed: a time such as "10 ms" (units: ns us ms s min h d)"#
    );
}

#[test]
fn a_decimal_rounds_once() {
    let (number, unit) = Decimal::split("1.5 bdp").unwrap();
    assert_eq!((number.to_f64(0), unit), (1.5, "bdp"));
    assert_eq!(number.as_whole(), None);
    assert_eq!(number.times(3), Some(5));
}

proptest! {
    #[test]
    fn display_round_trips(n in any::<u64>()) {
        let (time, rate, size) = (Time::from_nanos(n), Rate::from_bps(n), Bytes::new(n));
        prop_assert_eq!(time.to_string().parse(), Ok(time));
        prop_assert_eq!(rate.to_string().parse(), Ok(rate));
        prop_assert_eq!(size.to_string().parse(), Ok(size));
    }

    #[test]
    fn round_numbers_round_trip(n in 0_u64..1 << 20, power in 0_u32..12, shift in 0_u32..40) {
        for n in [n * 10_u64.pow(power), n << shift] {
            prop_assert_eq!(Time::from_nanos(n).to_string().parse(), Ok(Time::from_nanos(n)));
            prop_assert_eq!(Rate::from_bps(n).to_string().parse(), Ok(Rate::from_bps(n)));
            prop_assert_eq!(Bytes::new(n).to_string().parse(), Ok(Bytes::new(n)));
        }
    }

    #[test]
    fn no_text_panics(text in ".{0,40}") {
        let _ = text.parse::<Time>();
        let _ = text.parse::<Rate>();
        let _ = text.parse::<Bytes>();
        let _ = parse_probability(&text);
    }

    #[test]
    fn similar_texts_do_not_panic(text in "-?[0-9]{0,30}[.,]?[0-9]{0,30} ?[a-zA-Z%/]{0,6}") {
        let _ = text.parse::<Time>();
        let _ = text.parse::<Rate>();
        let _ = text.parse::<Bytes>();
        let _ = parse_probability(&text);
    }
}

#[test]
fn display_uses_the_largest_unit() {
    for (nanos, shown) in [
        (0, "0 s"),
        (999, "999 ns"),
        (22_500_000, "22.5 ms"),
        (1_500_000, "1.5 ms"),
        (10_000_000, "10 ms"),
        (1_234_567_891, "1.234567891 s"),
        (7_200_000_000_000, "7200 s"),
    ] {
        assert_eq!(Time::from_nanos(nanos).to_string(), shown);
    }
    for (bps, shown) in [
        (0, "0 bit/s"),
        (64_000, "64 kbit/s"),
        (35_900_000, "35.9 Mbit/s"),
        (1_000_000_001, "1.000000001 Gbit/s"),
    ] {
        assert_eq!(Rate::from_bps(bps).to_string(), shown);
    }
    for (bytes, shown) in [
        (1448, "1448 B"),
        (80_000, "80 kB"),
        (2_500_000, "2.5 MB"),
        (4 << 20, "4 MiB"),
        (332 << 10, "332 KiB"),
        (2_345_000, "2345 kB"),
    ] {
        assert_eq!(Bytes::new(bytes).to_string(), shown);
    }
}

#[test]
fn percentages_are_written_without_rounding() {
    for (probability, written) in [
        (0.0, "0 %"),
        (1.0, "100 %"),
        (0.5, "50 %"),
        (0.29, "29 %"),
        (0.000317, "0.0317 %"),
        (0.07, "7 %"),
        (1e-9, "0.0000001 %"),
    ] {
        assert_eq!(percentage(probability), written);
        assert_eq!(parse_probability(written), Ok(probability));
    }
}
