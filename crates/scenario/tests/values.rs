//! A scenario in base units.

use ropewalk_scenario::Scenario;
use serde_json::json;

#[test]
fn every_value_is_there_in_base_units() {
    let text = r#"
        duration = "5 s"
        warmup = "500 ms"
        [[link]]
        name = "wifi"
        rate = "20 mbit"
        delay = "10 ms"
        jitter = "1 ms"
        slot = "20 ms"
        loss = { model = "gilbert-elliott", p = "1 %", r = "30 %", h = "50 %", k = "100 %" }
        queue = "1 bdp"
        down = [["1 s", "2 s"]]
        reverse = { rate = "5 mbit", queue = "100 packets", loss = "0 %", slot = "0 ms" }
        [[link]]
        name = "wire"
        rate = "unlimited"
        cost = 2.5
        [transport]
        initial_window = "10 packets"
        initial_ssthresh = "unlimited"
        [traffic]
        kind = "cbr"
        rate = "3 mbit"
        [[competitor]]
        path = "wifi"
        size = "1 MB"
    "#;
    let scenario = Scenario::parse(text, "test", &[], &mut |_| Err("none".into()))
        .expect("the scenario is right");
    let values = scenario.to_json();
    let expected = json!([
        {
            "name": "wifi",
            "cost": 1.0,
            "down": [[1.0, 2.0]],
            "forward": {
                "rate": 20_000_000,
                "delay": 0.01,
                "jitter": 0.001,
                "slot": 0.02,
                "loss": 0.01 / 0.31 * 0.5,
                "loss_in_bursts": true,
                "queue": 50_000,
            },
            "reverse": {
                "rate": 5_000_000,
                "delay": 0.01,
                "jitter": 0.001,
                "slot": 0.0,
                "loss": 0.0,
                "queue": 150_000,
                "queue_packets": 100,
            },
        },
        {
            "name": "wire",
            "cost": 2.5,
            "down": [],
            "forward": { "delay": 0.0, "jitter": 0.0, "slot": 0.0, "loss": 0.0 },
            "reverse": { "delay": 0.0, "jitter": 0.0, "slot": 0.0, "loss": 0.0 },
        },
    ]);
    assert_eq!(values["link"], expected);
    assert_eq!(values["duration"], 5.0);
    assert_eq!(values["warmup"], 0.5);
    assert_eq!(values["transport"]["protocol"], "mptcp");
    assert_eq!(values["transport"]["paths"], json!(["wifi", "wire"]));
    assert_eq!(values["transport"]["initial_window"], 10 * 1424);
    assert_eq!(values["transport"].get("initial_ssthresh"), None);
    let traffic = json!({ "kind": "cbr", "rate": 3_000_000, "message": 1000 });
    assert_eq!(values["traffic"], traffic);
    assert_eq!(values["competitor"][0]["size"], 1_000_000);
    assert_eq!(values["competitor"][0]["paths"], json!(["wifi"]));
}

#[test]
fn an_endpoint_has_the_lengths_of_its_packets() {
    for (keys, header, acknowledgement) in [
        ("protocol = \"tcp\"", 52, 52),
        ("protocol = \"tcp\"\ntimestamps = false", 40, 40),
        ("protocol = \"mptcp\"", 76, 64),
        ("protocol = \"mptcp\"\nip_version = \"ipv6\"", 96, 84),
        ("protocol = \"striped-tcp\"", 80, 80),
        (
            "protocol = \"striped-tcp\"\nip_version = \"ipv6\"",
            120,
            120,
        ),
    ] {
        let text = format!("[[link]]\nname = \"a\"\nrate = \"1 Mbit/s\"\n[transport]\n{keys}\n");
        let scenario = Scenario::parse(&text, "test", &[], &mut |_| Err("none".into())).unwrap();
        let transport = &scenario.to_json()["transport"];
        assert_eq!(transport["header_bytes"], header, "{keys}");
        assert_eq!(transport["ack_bytes"], acknowledgement, "{keys}");
        assert_eq!(transport["segment"], 1500 - header, "{keys}");
    }
}

#[test]
fn bare_zero_is_valid_percentage() {
    for (written, loss) in [("0", 0.0), ("0.0", 0.0), ("\"100 %\"", 1.0)] {
        let text = format!("[[link]]\nname = \"a\"\nrate = \"1 Mbit/s\"\nloss = {written}\n");
        let scenario = Scenario::parse(&text, "test", &[], &mut |_| Err("none".into()))
            .unwrap_or_else(|errors| panic!("{errors}"));
        let values = scenario.to_json();
        assert_eq!(values["link"][0]["forward"]["loss"], loss, "{written}");
    }
}
