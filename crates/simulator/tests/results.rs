//! Results as reviewed snapshots: a change in the transport shows as a diff of numbers.
//! `INSTA_UPDATE=always cargo test` rewrites them; a diff is a "Results change" of the changelog.

mod support;

use std::fmt::Write;

use support::run;

/// Two unequal links with these additions to `[transport]` and to each link.
fn two_links(transport: &str, link: &str) -> String {
    format!(
        r#"
        duration = "20 s"
        warmup = "5 s"
        [[link]]
        name = "near"
        rate = "20 Mbit/s"
        delay = "10 ms"
        {link}
        [[link]]
        name = "far"
        rate = "10 Mbit/s"
        delay = "40 ms"
        {link}
        [transport]
        {transport}
        "#
    )
}

fn mbps(text: &str) -> f64 {
    run(text, 1).summary.goodput_mbps
}

#[test]
fn goodput_by_loss_and_receive_buffer() {
    let mut table = String::from("loss  buffer  tcp  mptcp   (Mbit/s; profile rfc)\n");
    for loss in ["0 %", "0.1 %", "1 %", "5 %"] {
        for buffer in ["64 KiB", "256 KiB", "4 MiB"] {
            let link = format!("loss = \"{loss}\"");
            let transport = |protocol: &str| {
                let setting = format!(
                    "profile = \"rfc\"\nreceive_buffer = \"{buffer}\"\nprotocol = \"{protocol}\"\npaths = "
                );
                let paths = if protocol == "tcp" {
                    r#"["near"]"#
                } else {
                    r#"["near", "far"]"#
                };
                setting + paths
            };
            let tcp = mbps(&two_links(&transport("tcp"), &link));
            let mptcp = mbps(&two_links(&transport("mptcp"), &link));
            writeln!(table, "{loss:>5} {buffer:>8} {tcp:6.2} {mptcp:6.2}").unwrap();
        }
    }
    insta::assert_snapshot!(table);
}

#[test]
fn goodput_by_scheduler_and_congestion_control() {
    let schedulers = [
        "linux",
        "min-rtt",
        "round-robin",
        "weighted",
        "redundant",
        "blest",
        "ecf",
    ];
    let mut table = format!("{:<18}", "Mbit/s");
    for scheduler in schedulers {
        write!(table, "{scheduler:>12}").unwrap();
    }
    for congestion in [
        "newreno",
        "cubic",
        "fully-coupled",
        "linked-increases",
        "lia",
        "olia",
        "balia",
    ] {
        write!(table, "\n{congestion:<18}").unwrap();
        for scheduler in schedulers {
            let transport = format!("congestion = \"{congestion}\"\nscheduler = \"{scheduler}\"");
            write!(
                table,
                "{:12.2}",
                mbps(&two_links(&transport, "loss = \"0.05 %\""))
            )
            .unwrap();
        }
    }
    insta::assert_snapshot!(table);
}

#[test]
fn striping_by_delay_asymmetry() {
    let mut table = String::from("step ms  round-robin  weighted   (Mbit/s; three links)\n");
    for step in [0, 1, 5, 20] {
        let text = |scheduler: &str| {
            let mut text = String::from("duration = \"10 s\"\n");
            for (index, rate) in ["35.9", "18.4", "33.3"].iter().enumerate() {
                let delay = 20 + index * step;
                write!(text, "[[link]]\nname = \"l{index}\"\nrate = \"{rate} Mbit/s\"\ndelay = \"{delay} ms\"\n")
                    .unwrap();
            }
            text + &format!(
                "[transport]\nprotocol = \"striped-tcp\"\nscheduler = \"{scheduler}\"\n"
            )
        };
        let [round, weighted] = ["round-robin", "weighted"].map(|scheduler| mbps(&text(scheduler)));
        writeln!(table, "{step:>7} {round:12.2} {weighted:9.2}").unwrap();
    }
    insta::assert_snapshot!(table);
}
