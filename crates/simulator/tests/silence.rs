//! Runs that deliver nothing, and their warnings.

mod support;

use support::run;

fn warnings(link: &str, more: &str) -> Vec<String> {
    let text = format!(
        "duration = \"5 s\"\n{more}\n[[link]]\nname = \"wifi\"\nrate = \"20 Mbit/s\"\n\
         delay = \"10 ms\"\n{link}\n"
    );
    run(&text, 1).summary.warnings
}

#[test]
fn run_that_delivers_nothing_warns_and_says_why() {
    for (link, more, reason) in [
        (
            "loss = \"100 %\"",
            "",
            "no data arrived before the end; link wifi: 3 packets sent, 3 lost, 0 dropped, 0 delivered",
        ),
        (
            "down = [[\"0 s\", \"9 s\"]]",
            "",
            "no data arrived before the end; link wifi: 3 packets sent, 3 lost",
        ),
        (
            "reverse = { loss = \"100 %\" }",
            "",
            "no data arrived before the end; link wifi: 3 packets sent, 0 lost, 0 dropped, 3 delivered",
        ),
        (
            "",
            "warmup = \"4 s\"\ntraffic = { size = \"10 kB\" }",
            "its data arrived during the warm-up (4 s)",
        ),
        (
            "loss = \"100 %\"",
            "transport = { protocol = \"udp\" }\ntraffic = { kind = \"cbr\", rate = \"1 Mbit/s\" }",
            "no data arrived before the end; link wifi: ",
        ),
    ] {
        let warnings = warnings(link, more);
        let expected = format!("nothing was delivered: {reason}");
        let found = warnings
            .iter()
            .any(|warning| warning.starts_with(&expected));
        assert!(found, "{link} {more}: {warnings:?}");
    }
}

#[test]
fn flow_among_others_that_delivers_nothing_is_named() {
    let flows = "competitor = [{ name = \"late\", start = \"6 s\" }]";
    let warnings = warnings("", flows);
    let expected = "flow \"late\" delivered nothing: it starts 6 s after the beginning";
    assert!(
        warnings.iter().any(|warning| warning == expected),
        "{warnings:?}"
    );
    assert_eq!(
        warnings
            .iter()
            .filter(|warning| warning.contains("nothing"))
            .count(),
        1
    );
}

#[test]
fn run_that_delivers_has_no_warning() {
    assert_eq!(warnings("", ""), Vec::<String>::new());
    assert_eq!(
        warnings("loss = \"1 %\"", "traffic = { size = \"1 MB\" }"),
        Vec::<String>::new()
    );
}
