//! Many links, paths and flows from a few entries.

use ropewalk_scenario::Scenario;

fn read(text: &str) -> Result<Scenario, String> {
    Scenario::parse(text, "x.toml", &[], &mut |_| Err("none".into())).map_err(|all| all.to_string())
}

const STAR: &str = r#"
    [[link]]
    name = "access"
    count = 3
    from = "user-*"
    to = "hub"
    rate = "10 Mbit/s"
    delay = "5 ms"

    [[link]]
    name = "trunk"
    from = "hub"
    to = "server"
    rate = "1 Gbit/s"
    queue = "100 packets"

    [[path]]
    name = "up"
    count = 3
    hops = ["access-*", "trunk"]

    [[flow]]
    name = "user"
    protocol = "tcp"
    paths = ["up-*"]
    in_turn = true
    count = 5
"#;

#[test]
fn one_entry_makes_many() {
    let scenario = read(STAR).unwrap();
    let names: Vec<&str> = scenario
        .links
        .iter()
        .map(|link| link.name.as_str())
        .collect();
    assert_eq!(names, ["access-1", "access-2", "access-3", "trunk"]);
    let ends = scenario.links[1].ends.clone().unwrap();
    assert_eq!(ends, ["user-2", "hub"]);
    let paths = scenario.paths.iter();
    let paths: Vec<(&str, &[usize])> = paths
        .map(|path| (path.name.as_str(), &path.hops[..]))
        .collect();
    assert_eq!(
        paths,
        [("up-1", &[0, 3][..]), ("up-2", &[1, 3]), ("up-3", &[2, 3])]
    );
    let flow = scenario.measured_flow();
    assert_eq!(
        (flow.paths.as_slice(), flow.in_turn),
        (&[0, 1, 2][..], true)
    );
    let alone: Vec<Vec<usize>> = (0..5).map(|number| flow.instance(number).paths).collect();
    assert_eq!(alone, [[0], [1], [2], [0], [1]]);
}

#[test]
fn to_toml_round_trips() {
    let mut scenario = read(STAR).unwrap();
    let again = read(&scenario.to_toml()).unwrap();
    scenario.warnings = again.warnings.clone();
    assert_eq!(again, scenario);
}

#[test]
fn pattern_selects_numbered_links() {
    let text = "[[link]]\nname = 'sat'\ncount = 12\nrate = '1 Mbit/s'\n\
                [[link]]\nname = 'dsl'\nrate = '5 Mbit/s'\n\
                [transport]\npaths = ['dsl', 'sat-*']\n";
    let scenario = read(text).unwrap();
    let names = scenario.measured_flow().paths.iter();
    let names: Vec<&str> = names
        .map(|path| scenario.paths[*path].name.as_str())
        .collect();
    let sats = (1..=12).map(|number| format!("sat-{number}"));
    let wanted: Vec<String> = std::iter::once("dsl".to_owned()).chain(sats).collect();
    assert_eq!(names, wanted);
}

const LONG: &str = "a-name-of-sixty-two-characters-which-is-too-long-with-a-number";

#[test]
fn invalid_count_is_error() {
    let link = "[[link]]\nname = 'a'\nrate = '1 Mbit/s'\n";
    for (text, error) in [
        (
            format!("{link}count = 0\n"),
            "x.toml:4:9: link.a.count = 0: must be at least 1; allowed: a whole number from 1 to 65535",
        ),
        (
            format!(
                "{link}count = 65535\n[[link]]\nname = 'b'\nrate = '1 Mbit/s'\ncount = 2\n[transport]\npaths = ['b']\n"
            ),
            "x.toml:8:9: link.b.count = 2: must be at most 65535 with all others",
        ),
        (
            format!("{link}from = 'n*'\nto = 'm'\n"),
            "x.toml:4:8: link.a.from = \"n*\": only with count",
        ),
        (
            format!("{link}count = 2\n[[link]]\nname = 'a-2'\nrate = '1 Mbit/s'\n"),
            "x.toml:6:8: link.a-2.name = \"a-2\": another link has the same name",
        ),
        (
            format!("{link}count = 2\n[[path]]\nname = 'p'\ncount = 3\nhops = ['a-*']\n"),
            "x.toml:8:8: path.p.hops = [\"a-*\"]: no link is called \"a-3\"; allowed: \"a-1\", \"a-2\"; did you mean \"a-1\"?",
        ),
        (
            format!("{link}count = 2\n[[path]]\nname = 'p'\nhops = ['a-*']\n"),
            "x.toml:7:8: path.p.hops = [\"a-*\"]: only with count",
        ),
        (
            format!(
                "{link}[[link]]\nname = 'b'\nrate = '1 Mbit/s'\nfrom = 'm'\nto = 'n'\n\
                     [[path]]\nname = 'p'\ncount = 3\nfrom = 'm'\nto = 'n'\n"
            ),
            "x.toml:11:9: path.p.count = 3: only with hops",
        ),
        (
            format!("{link}count = 2\n[transport]\npaths = ['a-1', 'a-*']\n"),
            "x.toml:6:9: transport.paths = [\"a-1\", \"a-*\"]: \"a-1\" is listed twice",
        ),
        (
            format!("{link}count = 2\n[transport]\npaths = ['b-*']\n"),
            "x.toml:6:9: transport.paths = [\"b-*\"]: no path or link is called \"b-*\"; allowed: \"a-1\", \"a-2\"",
        ),
        (
            format!("{link}count = 2\n[transport]\npaths = ['a-**']\n"),
            "x.toml:6:9: transport.paths = [\"a-**\"]: not a name",
        ),
        (
            format!("[[link]]\nname = '{LONG}'\nrate = '1 Mbit/s'\ncount = 10\n"),
            "x.toml:2:8: link.a-name-of-sixty-two-characters-which-is-too-long-with-a-number.name = \
             \"a-name-of-sixty-two-characters-which-is-too-long-with-a-num...: must be at most 61 \
             characters with a number behind",
        ),
    ] {
        let told = read(&text).unwrap_err();
        assert!(told.starts_with(error), "{told}\n{error}");
        assert_eq!(told.lines().count(), 1, "{told}");
    }
}

#[test]
fn unused_in_turn_paths_warn() {
    let text = STAR.replace("count = 5", "count = 2");
    let scenario = read(&text).unwrap();
    assert_eq!(
        scenario.warnings,
        ["flow.user.count: 2 take as many of its 3 paths, one each; nobody uses the others"]
    );
}

fn many(users: usize) -> String {
    format!(
        "[[link]]\nname = 'access'\ncount = {users}\nrate = '1 Mbit/s'\nqueue = '10 packets'\n\
         [[link]]\nname = 'trunk'\nrate = '1 Gbit/s'\nqueue = '100 packets'\n\
         [[path]]\nname = 'up'\ncount = {users}\nhops = ['access-*', 'trunk']\n\
         [[flow]]\nname = 'user'\nprotocol = 'tcp'\npaths = ['up-*']\nin_turn = true\ncount = {users}\n"
    )
}

#[test]
fn list_is_read_up_to_limit() {
    let scenario = read(&many(65_534)).unwrap();
    assert_eq!(
        (scenario.links.len(), scenario.paths.len()),
        (65_535, 65_534)
    );
    let scenario = read(&many(5_000)).unwrap();
    assert_eq!(read(&scenario.to_toml()).unwrap(), scenario);
}
