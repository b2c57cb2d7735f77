//! Every way for a scenario file to be wrong, with its exact message.

mod reading;

use reading::{TWO_LINKS, errors, link_errors, section_errors};

macro_rules! snapshot {
    ($errors:expr, @$expected:literal) => {
        insta::assert_snapshot!($errors, @$expected)
    };
}

#[test]
fn all_errors_of_a_file_are_shown_at_once() {
    let text = r#"duration = "10"
warmup = "5 s"
colour = "red"

[[link]]
name = "wifi"
rate = "20 Mbps"
dealy = "5 ms"

[transport]
scheduler = "min_rtt"
"#;
    snapshot!(errors(text), @"");
}

#[test]
fn keys() {
    snapshot!(link_errors("dealy = '5 ms'"), @"");
    snapshot!(link_errors("colour = 'red'"), @"");
    snapshot!(section_errors("transport", "recieve_buffer = '4 MiB'"), @"");
    snapshot!(section_errors("transprot", ""), @"");
}

#[test]
fn types() {
    snapshot!(link_errors("delay2 = 1\n[transport]\nsack = 'yes'"), @"");
    snapshot!(link_errors("reverse = '5 ms'"), @"");
    snapshot!(link_errors("cost = '1'"), @"");
    snapshot!(errors("link = 5"), @"");
    snapshot!(errors("[link]\nname = 'a'"), @"");
    snapshot!(errors("link = [5]"), @"");
    snapshot!(errors(&format!("transport = 'tcp'\n{TWO_LINKS}")), @"");
    snapshot!(errors(&format!("title = 1979-05-27\n{TWO_LINKS}")), @"");
}

#[test]
fn times() {
    snapshot!(section_errors("transport", "min_rto = '-5 ms'"), @"");
    snapshot!(section_errors("transport", "min_rto = 5"), @"");
    snapshot!(section_errors("transport", "min_rto = -5"), @"");
    snapshot!(section_errors("transport", "min_rto = 0.2"), @"");
    snapshot!(section_errors("transport", "min_rto = '0 s'"), @"");
    snapshot!(section_errors("transport", "min_rto = '5 m'"), @"");
    snapshot!(section_errors("transport", "min_rto = ''"), @"");
    snapshot!(section_errors("transport", "min_rto = '1,5 s'"), @"");
    snapshot!(link_errors("reverse = { delay = '25 h' }"), @"");
    snapshot!(errors(&format!("duration = '0 s'\n{TWO_LINKS}")), @"");
    snapshot!(errors(&format!("duration = '999999 h'\n{TWO_LINKS}")), @"");
    snapshot!(errors(&format!("duration = '5 s'\nwarmup = '5 s'\n{TWO_LINKS}")), @"");
}

#[test]
fn rates_and_traces() {
    snapshot!(errors("[[link]]\nname = 'a'\nrate = '20 Mbps'"), @"");
    snapshot!(errors("[[link]]\nname = 'a'\nrate = '0 Mbit/s'"), @"");
    snapshot!(errors("[[link]]\nname = 'a'\nrate = 20"), @"");
    snapshot!(errors("[[link]]\nname = 'a'\nrate = '1e30 bit'"), @"");
    snapshot!(errors("[[link]]\nname = 'a'\nrate = '200000 Gbit/s'"), @"");
    snapshot!(errors("[[link]]\nname = 'a'"), @"");
    snapshot!(link_errors("trace = 'good.trace'"), @"");
    snapshot!(link_errors("reverse = { rate = '1mbit', trace = 'good.trace' }"), @"");
    snapshot!(errors("[[link]]\nname = 'a'\ntrace = 'absent.trace'"), @"");
    snapshot!(errors("[[link]]\nname = 'a'\ntrace = 'bad.trace'"), @"");
    snapshot!(errors("[[link]]\nname = 'a'\ntrace = 'down.trace'"), @"");
    snapshot!(errors("[[link]]\nname = 'a'\ntrace = 'empty.trace'"), @"");
    snapshot!(errors("[[link]]\nname = 'a'\ntrace = ''"), @"");
}

#[test]
fn jitter_and_loss() {
    snapshot!(link_errors("jitter = '11 ms'"), @"");
    snapshot!(link_errors("jitter = { amount = '11 ms' }"), @"");
    snapshot!(link_errors("jitter = { reorder = true }"), @"");
    snapshot!(link_errors("jitter = '5 ms'\nreverse = { delay = '1 ms' }"), @"");
    snapshot!(link_errors("loss = '120 %'"), @"");
    snapshot!(link_errors("loss = '-1 %'"), @"");
    snapshot!(link_errors("loss = '1'"), @"");
    snapshot!(link_errors("loss = 1"), @"");
    snapshot!(link_errors("loss = 1.5"), @"");
    snapshot!(link_errors("loss = nan"), @"");
    snapshot!(link_errors("loss = { model = 'gilbert', p = 0.1 }"), @"");
    snapshot!(link_errors("loss = { p = 0.1, r = 0.2 }"), @"");
    snapshot!(link_errors("loss = { model = 'gilbert-elliott', p = 0.1, r = 2.0 }"), @"");
    snapshot!(link_errors("loss = { model = 'gilbert-elliott' }"), @"");
}

#[test]
fn queues_costs_and_outages() {
    snapshot!(link_errors("queue = '5'"), @"");
    snapshot!(link_errors("queue = '1.5 packets'"), @"");
    snapshot!(link_errors("queue = '64k'"), @"");
    snapshot!(link_errors("queue = '-1 bdp'"), @"");
    snapshot!(link_errors("queue = '2000000000 packets'"), @"");
    snapshot!(link_errors("queue = '9999999 bdp'"), @"");
    snapshot!(link_errors("queue = true"), @"");
    snapshot!(link_errors("cost = -1"), @"");
    snapshot!(link_errors("cost = inf"), @"");
    snapshot!(link_errors("down = [['5 s', '4 s']]"), @"");
    snapshot!(link_errors("down = [['1 s', '5 s'], ['4 s', '6 s']]"), @"");
    snapshot!(link_errors("down = ['5 s']"), @"");
    snapshot!(link_errors("down = [['1 s', '2 s', '3 s']]"), @"");
    snapshot!(link_errors("down = [['1 s', '2']]"), @"");
}

#[test]
fn names() {
    snapshot!(errors(TWO_LINKS.replace("lte", "wifi").as_str()), @"");
    snapshot!(errors("[[link]]\nrate = '1mbit'"), @"");
    snapshot!(errors("[[link]]\nname = ''\nrate = '1mbit'"), @"");
    snapshot!(errors("[[link]]\nname = 'a/b'\nrate = '1mbit'"), @"");
    snapshot!(errors("[[link]]\nname = 'a.b'\nrate = '1mbit'"), @"");
    snapshot!(errors(&format!("[[link]]\nname = '{}'\nrate = '1mbit'", "a".repeat(65))), @"");
    snapshot!(errors("title = 'nothing'"), @"");
    snapshot!(errors("link = []"), @"");
}

#[test]
fn paths() {
    snapshot!(section_errors("[path]", "name = 'p'\nhops = ['wify']"), @"");
    snapshot!(section_errors("[path]", "name = 'p'\nhops = []"), @"");
    snapshot!(section_errors("[path]", "name = 'p'"), @"");
    snapshot!(section_errors("[path]", "name = 'p'\nhops = 'wifi'"), @"");
    snapshot!(section_errors("[path]", "name = 'p'\nhops = ['wifi', 'wifi']"), @"");
    snapshot!(
        section_errors("[path]", "name = 'p'\nhops = ['wifi']\n[[path]]\nname = 'p'\nhops = ['lte']"),
        @""
    );
    snapshot!(
        section_errors("[path]", "name = 'home'\nhops = ['wifi', 'lte']\n[transport]\npaths = ['hone']"),
        @""
    );
}

#[test]
fn transport() {
    snapshot!(section_errors("transport", "protocol = 'mtcp'"), @"");
    snapshot!(section_errors("transport", "congestion = 'bbr'"), @"");
    snapshot!(section_errors("transport", "scheduler = 'min_rtt'"), @"");
    snapshot!(section_errors("transport", "protocol = 'tcp'\ncongestion = 'lia'"), @"");
    snapshot!(section_errors("transport", "protocol = 'striped-tcp'\ncongestion = 'uncoupled'"), @"");
    snapshot!(section_errors("transport", "congestion = 'lia'\nsubflow = 'cubic'"), @"");
    snapshot!(section_errors("transport", "segment = '63 B'"), @"");
    snapshot!(section_errors("transport", "segment = '1 MB'"), @"");
    snapshot!(section_errors("transport", "segment = 1448"), @"");
    snapshot!(section_errors("transport", "receive_buffer = '64k'"), @"");
    snapshot!(section_errors("transport", "send_buffer = '1000 B'"), @"");
    snapshot!(section_errors("transport", "initial_window = '10'"), @"");
    snapshot!(section_errors("transport", "initial_window = '0 packets'"), @"");
    snapshot!(section_errors("transport", "initial_window = '0 B'"), @"");
    snapshot!(section_errors("transport", "initial_ssthresh = 'infinite'"), @"");
    snapshot!(section_errors("transport", "delayed_ack = 0"), @"");
    snapshot!(section_errors("transport", "delayed_ack = 65"), @"");
    snapshot!(section_errors("transport", "delayed_ack = -1"), @"");
    snapshot!(section_errors("transport", "delayed_ack = 1.5"), @"");
    snapshot!(section_errors("transport", "receive_window_share = 0"), @"");
    snapshot!(section_errors("transport", "receive_window_share = 1.01"), @"");
    snapshot!(section_errors("transport", "min_rto = '200 s'"), @"");
    snapshot!(section_errors("transport", "max_rto = '1 ms'"), @"");
    snapshot!(section_errors("transport", "paths = ['wifi', 'wifi']"), @"");
}

#[test]
fn traffic() {
    snapshot!(section_errors("traffic", "kind = 'video'"), @"");
    snapshot!(section_errors("traffic", "kind = 'cbr'"), @"");
    snapshot!(section_errors("traffic", "kind = 'cbr'\nrate = '0 bit/s'"), @"");
    snapshot!(section_errors("traffic", "kind = 'cbr'\nrate = 'unlimited'"), @"");
    snapshot!(section_errors("traffic", "kind = 'poisson'\nrate = '1mbit'\nsize = '1 MB'"), @"");
    snapshot!(section_errors("traffic", "rate = '1mbit'"), @"");
    snapshot!(section_errors("traffic", "size = '0 B'"), @"");
}

#[test]
fn competitors() {
    snapshot!(section_errors("[competitor]", ""), @"");
    snapshot!(section_errors("[competitor]", "path = 'wifi5'"), @"");
    snapshot!(section_errors("[competitor]", "path = 'wifi'\npaths = ['lte']"), @"");
    snapshot!(section_errors("[competitor]", "paths = ['wifi', 'lte']"), @"");
    snapshot!(section_errors("[competitor]", "path = 'wifi'\nprotocol = 'bas'"), @"");
    snapshot!(section_errors("[competitor]", "path = 'wifi'\ncongestion = 'olia'"), @"");
    snapshot!(section_errors("[competitor]", "path = 'wifi'\ncount = 0"), @"");
    snapshot!(
        section_errors("[competitor]", "path = 'wifi'\ncount = 60000\n[[competitor]]\npath = 'wifi'\ncount = 60000"),
        @""
    );
    snapshot!(
        section_errors("[competitor]", "path = 'wifi'\n[[competitor]]\nname = 'competitor-1'\npath = 'wifi'"),
        @""
    );
}

#[test]
fn toml_itself() {
    snapshot!(errors("title = \"a\"\nlink = [\n"), @"");
    snapshot!(errors("title = \"a\"\ntitle = \"b\""), @"");
    snapshot!(errors("just words"), @"");
    snapshot!(errors("a = 99999999999999999999"), @"");
    snapshot!(errors(&format!("a = {}", "[".repeat(10_000))), @"");
}
