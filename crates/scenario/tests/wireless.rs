//! Wireless scenarios: `[wifi]`, `[[channel]]`, `[[node]]`, links and paths.

use ropewalk_network::Loss;
use ropewalk_network::radio::{
    DataRate, ErrorModel, Preamble, PreambleDetection, Propagation, RateControl, Standard,
};
use ropewalk_quantities::Time;
use ropewalk_scenario::{RadioLink, Scenario, StripsMptcp};

fn file(name: &str) -> Result<String, String> {
    match name {
        "losses.csv" => Ok(
            "dB,S,R1,R2,D\nS,-,60,60,inf\nR1,60,-,70,60\nR2,60,70,-,60\nD,inf,60,60,-\n".to_owned(),
        ),
        "short.csv" => Ok("dB,S\nS,0\n".to_owned()),
        "per.csv" => Ok("rate,snr,per\n11,5,0.9\n11,8,0.01\n".to_owned()),
        "bad.csv" => Ok("11,5,0.9\n7,8,0.01\n".to_owned()),
        _ => Err("no such file".to_owned()),
    }
}

fn parse(text: &str) -> Result<Scenario, String> {
    Scenario::parse(text, "x.toml", &[], &mut file).map_err(|errors| errors.to_string())
}

#[track_caller]
fn read(text: &str) -> Scenario {
    let scenario = parse(text).unwrap_or_else(|said| panic!("{said}"));
    let again = parse(&scenario.to_toml()).unwrap_or_else(|said| panic!("{said}"));
    assert_eq!(
        Scenario {
            warnings: scenario.warnings.clone(),
            ..again
        },
        scenario,
        "{}",
        scenario.to_toml()
    );
    scenario
}

const DIAMOND: &str = r#"
[wifi]
standard = "802.11b"
rate = "11 Mbit/s"
basic_rates = ["1 Mbit/s"]
tries = 4

[[channel]]
name = "one"
propagation = { model = "range", range = "25 m" }
[[channel]]
name = "two"
propagation = { model = "range", range = "25 m", sense = "40 m" }

[[node]]
name = "S"
at = ["0 m", "0 m"]
radios = ["one", "two"]
[[node]]
name = "R1"
at = ["0 m", "12.5 m"]
radios = ["one"]
[[node]]
name = "R2"
at = ["0 m", "12.5 m"]
radios = [{ channel = "two", tries = 7, rts = "500 B", lifetime = "1 s" }]
[[node]]
name = "D"
at = ["0 m", "25 m", "1 m"]
radios = ["one", "two"]

[[link]]
name = "S-R1"
channel = "one"
from = "S"
to = "R1"
loss = "20 %"
reverse = { loss = "0 %" }

[[path]]
name = "upper"
nodes = ["S", "R1", "D"]
channel = "one"
[[path]]
name = "lower"
nodes = ["S", "R2", "D"]
channel = "two"
"#;

#[test]
fn a_diamond_is_resolved() {
    let scenario = read(DIAMOND);
    let names: Vec<&str> = scenario
        .links
        .iter()
        .map(|link| link.name.as_str())
        .collect();
    assert_eq!(names, ["S-R1", "R1-D@one", "S-R2@two", "R2-D@two"]);
    let hops: Vec<&[usize]> = scenario.paths.iter().map(|path| &path.hops[..]).collect();
    assert_eq!(hops, [[0, 1], [2, 3]]);
    assert_eq!(scenario.links[0].forward.loss.mean(), 0.2);
    assert_eq!(scenario.links[0].reverse.loss.mean(), 0.0);
    let wireless = &scenario.wireless;
    let link = |channel, from, to| Some(RadioLink { channel, from, to });
    assert_eq!(
        wireless.links,
        [link(0, 0, 1), link(0, 1, 2), link(1, 0, 1), link(1, 1, 2)]
    );
    let [one, two] = &wireless.channels[..] else {
        panic!("two channels");
    };
    let radio = &one.radios[0];
    assert_eq!(
        (radio.standard, radio.tries, radio.long_tries),
        (Standard::B, 4, 4)
    );
    assert_eq!(radio.rate, RateControl::Fixed(DataRate::Cck11));
    assert_eq!(radio.basic_rates, [DataRate::Dsss1]);
    let nodes: Vec<&str> = two.radios.iter().map(|radio| radio.node.as_str()).collect();
    assert_eq!(nodes, ["S", "R2", "D"]);
    let own = &two.radios[1];
    assert_eq!(
        (own.tries, own.rts, own.lifetime),
        (7, Some(500), Some(Time::from_secs(1)))
    );
    assert_eq!(own.at, [0.0, 12.5, 0.0]);
    assert_eq!(two.radios[2].at, [0.0, 25.0, 1.0]);
    let Propagation::Range { range_m, sense_m } = two.config.propagation else {
        panic!("a disk");
    };
    assert_eq!((range_m, sense_m), (25.0, 40.0));
    // D is 25.02 m from S, just outside S's range of 25 m, and no link joins them.
    assert!(scenario.warnings.is_empty(), "{:?}", scenario.warnings);
}

const PAIR: &str = r#"
[[channel]]
name = "air"
[[node]]
name = "A"
radios = ["air"]
[[node]]
name = "B"
at = ["10 m", "0 m"]
radios = ["air"]
[[path]]
name = "p"
nodes = ["A", "B"]
channel = "air"
"#;

#[test]
fn a_profile_is_a_family_of_defaults() {
    let radio = |wifi: &str| {
        let scenario = read(&format!("[wifi]\n{wifi}\n{PAIR}"));
        scenario.wireless.channels[0].clone()
    };
    let standard = radio("");
    let of = &standard.radios[0];
    assert_eq!(of.basic_rates, [DataRate::Dsss1, DataRate::Dsss2]);
    assert_eq!((of.tries, of.long_tries, of.queue_packets), (7, 4, 500));
    assert_eq!(
        (of.sensitivity_dbm, of.sense_dbm, of.preamble_detection),
        (-82.0, -82.0, None)
    );
    assert_eq!(
        (of.power_dbm, of.antenna_gain_db, of.noise_figure_db),
        (16.0206, 0.0, 7.0)
    );
    assert_eq!(
        (of.preamble, of.slot, of.rts),
        (Preamble::Long, Time::from_micros(20), None)
    );
    assert_eq!(standard.config.error_model, ErrorModel::Nist);

    let ns3 = radio("profile = \"ns-3\"\nstandard = \"802.11g\"\nslot = \"9 us\"");
    let of = &ns3.radios[0];
    assert_eq!(of.rate, RateControl::Fixed(DataRate::Ofdm54));
    assert_eq!(
        of.preamble_detection,
        Some(PreambleDetection { sinr_db: 4.0 })
    );
    assert_eq!(
        (of.long_tries, of.lifetime),
        (7, Some(Time::from_millis(500)))
    );
    assert!(matches!(ns3.config.error_model, ErrorModel::Table(_)));

    let old = radio("profile = \"ns-3.13\"\nstandard = \"802.11g\"\nrate = \"arf\"");
    let of = &old.radios[0];
    assert_eq!(of.rate, RateControl::Arf);
    assert_eq!(
        (of.sensitivity_dbm, of.sense_dbm, of.antenna_gain_db),
        (-96.0, -99.0, 1.0)
    );
    assert_eq!((of.queue_packets, of.eifs_rate), (400, DataRate::Dsss1));
}

#[test]
fn channels_are_of_many_kinds() {
    for (channel, holds) in [
        (
            "propagation = \"friis\"",
            "Friis { frequency_hz: 2400000000.0 }",
        ),
        (
            "propagation = { model = \"two-ray\", height = \"2 m\" }",
            "height_m: 2.0",
        ),
        (
            "propagation = { exponent = 2.2, reference_loss = \"46.67 dB\", fading = \"nakagami\" }",
            "[FadingBand { from_m: 0.0, m: 1.5 }, FadingBand { from_m: 80.0, m: 0.75 }]",
        ),
        (
            "propagation = { fading = { model = \"nakagami\", m = 3 } }",
            "bands: [FadingBand { from_m: 0.0, m: 3.0 }]",
        ),
        (
            "error_model = \"none\"\ncapture = \"10 dB\"",
            "capture_db: Some(10.0)",
        ),
        ("error_model = \"table\"", "name: \"ns-3\""),
        (
            "error_model = { table = \"per.csv\", frame = \"1000 B\" }",
            "frame_bytes: 1000",
        ),
    ] {
        let text = PAIR.replacen("name = \"air\"", &format!("name = \"air\"\n{channel}"), 1);
        let shown = format!("{:?}", read(&text).wireless.channels[0].config);
        assert!(shown.contains(holds), "{channel}: {shown}");
    }
    let matrix = DIAMOND.replacen(
        "{ model = \"range\", range = \"25 m\" }",
        "{ model = \"matrix\", file = \"losses.csv\" }",
        1,
    );
    let scenario = read(&matrix);
    let Propagation::Matrix { loss_db } = &scenario.wireless.channels[0].config.propagation else {
        panic!("a matrix");
    };
    assert_eq!(loss_db[0][1..], [60.0, f64::INFINITY]);
    assert_eq!(
        scenario.to_json()["channel"][0]["propagation"]["loss"][0][2],
        serde_json::Value::Null
    );
}

#[test]
fn weak_link_warning_has_margin() {
    for (change, said) in [
        (
            ("10 m", "400 m"),
            "link.A-B@air: \"B\" is 400.0 m from \"A\" and gets -108.7 dBm, 26.7 dB below its sensitivity of -82 dBm",
        ),
        (
            ("10 m", "40 m"),
            "link.A-B@air: \"B\" is 40.0 m from \"A\" with an SNR of 15.2 dB, 6.7 dB below the 22.0 dB at which 54 Mbit/s loses half of its full frames",
        ),
    ] {
        let text = PAIR.replacen(change.0, change.1, 1);
        let text = format!("[wifi]\nstandard = \"802.11g\"\n{text}");
        assert_eq!(read(&text).warnings, [said]);
    }
    let disk = PAIR.replacen(
        "name = \"air\"",
        "name = \"air\"\npropagation = { model = \"range\", range = \"5 m\" }",
        1,
    );
    assert_eq!(
        read(&disk).warnings,
        ["link.A-B@air: \"B\" is 10.0 m from \"A\" and gets no frame of it"]
    );
}

/// Each change of the diamond, with its one-line error.
#[test]
fn every_wrong_wireless_scenario_is_one_line() {
    let mut said = String::new();
    for (from, to) in [
        ("channel = \"one\"\nfrom", "channel = \"oen\"\nfrom"),
        ("radios = [\"one\"]", "radios = [\"won\"]"),
        ("from = \"S\"\nto = \"R1\"", "from = \"S\"\nto = \"R2\""),
        ("from = \"S\"\nto = \"R1\"", "from = \"S\"\nto = \"S\""),
        (
            "nodes = [\"S\", \"R2\", \"D\"]",
            "nodes = [\"S\", \"R1\", \"D\"]",
        ),
        ("nodes = [\"S\", \"R2\", \"D\"]", "nodes = [\"S\"]"),
        (
            "nodes = [\"S\", \"R2\", \"D\"]\nchannel = \"two\"",
            "nodes = [\"S\", \"R2\", \"D\"]",
        ),
        (
            "nodes = [\"S\", \"R2\", \"D\"]\nchannel = \"two\"",
            "hops = [\"S-R1\", \"S-R1\"]",
        ),
        (
            "nodes = [\"S\", \"R2\", \"D\"]",
            "hops = [\"S-R1\"]\nnodes = [\"S\", \"R2\", \"D\"]",
        ),
        ("rate = \"11 Mbit/s\"", "rate = \"12 Mbit/s\""),
        ("rate = \"11 Mbit/s\"", "rate = \"minstrel\""),
        (
            "rate = \"11 Mbit/s\"",
            "rate = \"1 Mbit/s\"\npreamble = \"short\"",
        ),
        (
            "basic_rates = [\"1 Mbit/s\"]",
            "basic_rates = [\"6 Mbit/s\"]",
        ),
        ("standard = \"802.11b\"", "standard = \"802.11n\""),
        ("tries = 4", "tries = 0"),
        ("tries = 4", "queue = \"64 KiB\""),
        ("tries = 4", "sense = \"-60 dBm\""),
        ("tries = 4", "power = \"16\""),
        (
            "range = \"25 m\" }\n[[channel]]",
            "range = \"-5 m\" }\n[[channel]]",
        ),
        (
            "range = \"25 m\" }\n[[channel]]",
            "exponent = 3.0 }\n[[channel]]",
        ),
        ("sense = \"40 m\"", "sense = \"20 m\""),
        ("sense = \"40 m\"", "fading = \"nakagami\""),
        (
            "{ model = \"range\", range = \"25 m\", sense = \"40 m\" }",
            "{ exponent = 0 }",
        ),
        (
            "{ model = \"range\", range = \"25 m\", sense = \"40 m\" }",
            "{ model = \"matrix\" }",
        ),
        (
            "{ model = \"range\", range = \"25 m\", sense = \"40 m\" }",
            "{ model = \"matrix\", file = \"short.csv\" }",
        ),
        (
            "{ model = \"range\", range = \"25 m\", sense = \"40 m\" }",
            "{ model = \"matrix\", file = \"no.csv\" }",
        ),
        (
            "{ model = \"range\", range = \"25 m\", sense = \"40 m\" }",
            "\"friis\"\nerror_model = { table = \"bad.csv\" }",
        ),
        (
            "{ model = \"range\", range = \"25 m\", sense = \"40 m\" }",
            "\"friis\"\nerror_model = { model = \"nist\", frame = \"100 B\" }",
        ),
        ("name = \"two\"", "name = \"one\""),
        ("name = \"R2\"", "name = \"R1\""),
        ("radios = [\"one\"]", "radios = [\"one\", \"one\"]"),
        (
            "{ channel = \"two\", tries",
            "{ channel = \"two\", standard = \"802.11a\", rate = \"54 Mbit/s\", basic_rates = [\"6 Mbit/s\"], tries",
        ),
        (
            "at = [\"0 m\", \"12.5 m\"]\nradios = [\"one\"]",
            "at = [\"0 m\"]\nradios = [\"one\"]",
        ),
        ("loss = \"20 %\"\n", "loss = \"20 %\"\ndelay = \"5 ms\"\n"),
        (
            "loss = \"20 %\"\n",
            "loss = { model = \"gilbert-elliott\", p = \"1 %\", r = \"200 %\" }\n",
        ),
        (
            "loss = \"20 %\"\n",
            "loss = \"20 %\"\nrate = \"1 Mbit/s\"\n",
        ),
        ("loss = \"20 %\"\n", "down = [[\"1 s\", \"2 s\"]]\n"),
        ("{ loss = \"0 %\" }", "{ rate = \"1 Mbit/s\" }"),
    ] {
        let text = DIAMOND.replacen(from, to, 1);
        assert_ne!(text, DIAMOND, "{from}");
        let line = parse(&text).expect_err(to);
        let first = line.lines().next().unwrap_or_default();
        assert!(first.starts_with("x.toml:"), "{line}");
        said.push_str(&format!(
            "{}\n    {}\n",
            to.replace('\n', "; "),
            line.replace('\n', "\n    ")
        ));
    }
    // By distance, the power at the same position is infinite.
    let line = parse(&PAIR.replacen("10 m", "0 m", 1)).expect_err("at one place");
    said.push_str(&format!("both at 0 m\n    {line}\n"));
    // The range exceeds the distance that light travels in a SIFS.
    let channel = "propagation = { model = \"range\", range = \"9 km\" }\npropagation_delay = true";
    let far = PAIR.replacen("[[node]]", &format!("{channel}\n[[node]]"), 1);
    let line = parse(&far.replacen("10 m", "3 km", 1)).expect_err("too far");
    said.push_str(&format!("3 km\n    {line}\n"));
    let near = read(&far.replacen("10 m", "2 km", 1));
    assert!(near.wireless.channels[0].config.propagation_delay);
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!(said);
    });
}

/// Bursts on the air use the keys of wires; a middlebox may stand on either kind of link.
#[test]
fn bursts_and_middleboxes_of_links_are_read_and_written() {
    let bursts = "loss = { model = \"gilbert-elliott\", p = \"2 %\", r = \"20 %\" }\n\
                  strips_mptcp = \"after-syn\"\n";
    let scenario = read(&DIAMOND.replacen("loss = \"20 %\"\n", bursts, 1));
    let (p, r) = (0.02, 0.2);
    let (h, k) = (0.0, 1.0);
    let loss = Loss::GilbertElliott { p, r, h, k };
    assert_eq!(scenario.links[0].forward.loss, loss);
    assert_eq!(scenario.links[0].reverse.loss, Loss::None);
    assert_eq!(scenario.strips_mptcp(0), Some(StripsMptcp::AfterSyn));
    assert_eq!(scenario.strips_mptcp(1), None);
    let json = scenario.to_json();
    assert_eq!(json["link"][0]["forward"]["loss_in_bursts"], true);
    assert!(json["link"][1]["forward"].get("loss_in_bursts").is_none());
    assert_eq!(json["link"][0]["strips_mptcp"], "after-syn");
}
