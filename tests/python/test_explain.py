"""Explanations: every setting with its source, as table and JSON, for any scenario."""

import json

import pytest

import ropewalk
from places import READY, ROOT, TWO_LINKS


def sources(explanation):
    return {f"{each.table}.{each.key}".strip("."): each.source for each in explanation.settings}


@pytest.mark.parametrize("path", READY, ids=lambda path: path.stem)
def test_every_setting_has_a_source(path):
    explanation = ropewalk.explain(path)
    found = sources(explanation)
    assert len(found) == len(explanation.settings), "each key stands once"
    known = {"file", "file, [wifi]", "default", "profile linux", "profile rfc", "as forward"}
    known |= {
        "protocol aggregation",
        *(f"traffic {kind}" for kind in ("video", "chunks", "request", "web")),
    }
    assert known >= set(found.values()) > {"file"}
    assert all(each.value for each in explanation.settings)


def test_a_setting_is_from_file_option_profile_or_default():
    changes = [("transport.profile", "ns-3"), ("link.dsl.delay", "10 ms")]
    found = sources(ropewalk.explain(ropewalk.Scenario.load(TWO_LINKS, changes)))
    assert found["link.dsl.rate"] == "file"
    assert found["link.dsl.delay"] == "--set"
    assert found["link.dsl.loss"] == "default"
    assert found["transport.profile"] == "--set"
    assert found["transport.min_rto"] == "profile ns-3"
    assert found["link.dsl.reverse.rate"] == "as forward"
    assert found["warmup"] == "default"


def test_a_flow_without_a_name_is_the_one_in_its_place():
    text = """
    [[link]]
    name = "wire"
    rate = "1 Mbit/s"
    [[competitor]]
    start = "1 s"
    [[competitor]]
    name = "late"
    start = "2 s"
    """
    found = sources(ropewalk.explain(ropewalk.Scenario(text)))
    assert found["competitor.competitor-1.start"] == "file"
    assert found["competitor.competitor-1.name"] == "default"
    assert found["competitor.late.start"] == "file"
    assert found["competitor.late.count"] == "default"


def test_set_parameter_is_listed_by_key():
    changes = [("transport.scheduler.name", "blest"), ("transport.scheduler.lambda", "1.3")]
    scenario = ropewalk.Scenario.load(TWO_LINKS, changes)
    setting = next(each for each in ropewalk.explain(scenario).settings if each.key == "scheduler")
    assert setting.source == "--set"
    assert "1.3" in setting.value


@pytest.mark.parametrize(
    ("protocol", "traffic", "nagle", "autotuning"),
    [
        ("mptcp", 'kind = "bulk"', ("true", "file"), ("true", "profile linux")),
        (
            "tcp",
            'kind = "cbr"\nrate = "1 Mbit/s"',
            ("false", "traffic cbr"),
            ("true", "profile linux"),
        ),
        (
            "aggregation",
            'kind = "bulk"',
            ("false", "protocol aggregation"),
            ("false", "protocol aggregation"),
        ),
        (
            "aggregation",
            'kind = "web"',
            ("false", "protocol aggregation"),
            ("false", "protocol aggregation"),
        ),
    ],
)
def test_settings_disabled_by_protocol_or_traffic_are_off(protocol, traffic, nagle, autotuning):
    own = traffic.replace("\n", ", ")
    text = f"""
    [[link]]
    name = "wire"
    rate = "1 Mbit/s"
    [transport]
    protocol = "{protocol}"
    nagle = true
    [traffic]
    {traffic}
    [[flow]]
    name = "other"
    protocol = "{protocol}"
    nagle = true
    traffic = {{ {own} }}
    """
    settings = ropewalk.explain(ropewalk.Scenario(text)).settings
    found = {(each.table, each.key): (each.value, each.source) for each in settings}
    for table in ("transport", "flow.other"):
        assert found[table, "nagle"] == nagle
        assert found[table, "send_buffer_autotuning"] == autotuning


def test_resolved_scenario_is_equivalent():
    scenario = ropewalk.Scenario.load(TWO_LINKS)
    again = ropewalk.Scenario(scenario.resolved())
    assert again.values == scenario.values


def test_the_command_prints_settings_with_their_meaning(command):
    printed = json.loads(command("explain", TWO_LINKS, "--json", "--set", "duration=5s").stdout)
    assert printed["engine"] == "explain"
    found = {each["key"]: each for each in printed["settings"]}
    assert found["duration"]["source"] == "--set"
    assert found["duration"]["value"] == "5 s"
    assert "window" in found["transport.initial_window"]["meaning"].lower()
    table = command("explain", TWO_LINKS).stdout
    assert "profile linux" in table
    # Words of docs/keys.md.
    assert "Time before" in table
    assert "min_rto" in table


def test_a_wrong_scenario_is_refused(refused):
    text = refused("explain", TWO_LINKS, "--set", "link.dsl.rtae=1Mbit/s")
    assert "rtae" in text


DIAMOND = ROOT / "scenarios/papers/gomez-2014.toml"


def test_radio_settings_have_wifi_or_profile_as_source():
    changes = [("wifi.profile", "ns-3"), ("wifi.tries", "5")]
    found = sources(ropewalk.explain(ropewalk.Scenario.load(DIAMOND, changes)))
    assert found["node.S.radios.one.channel"] == "file"
    assert found["node.S.radios.one.rate"] == "file, [wifi]"
    assert found["node.S.radios.one.tries"] == "--set"
    assert found["node.S.radios.one.preamble_detection"] == "profile ns-3"
    assert found["node.S.radios.one.slot"] == "default"
    assert found["channel.one.propagation.range"] == "file"
    assert found["channel.one.propagation.sense"] == "default"
    assert found["link.S-R1.reverse.loss"] == "file"
    assert found["link.R1-D.reverse.loss"] == "as forward"


def test_a_radio_of_its_own_is_of_the_file():
    text = DIAMOND.read_text().replace(
        'radios = ["one"]', 'radios = [{ channel = "one", power = "20 dBm" }]'
    )
    found = sources(ropewalk.explain(ropewalk.Scenario(text)))
    assert found["node.R1.radios.one.power"] == "file"
    assert found["node.S.radios.one.power"] == "default"
    assert found["node.R1.radios.one.rate"] == "file, [wifi]"


def test_budgets_of_wireless_links_are_printed(command, tmp_path):
    lossy = ("--set", "link.S-R1.loss=20%")
    printed = json.loads(command("explain", DIAMOND, "--json", *lossy).stdout)
    links = {link["name"]: link for link in printed["wireless_links"]}
    assert links["S-R1"]["frame_error_ratio"] == pytest.approx(0.2)
    assert links["S-R1/reverse"]["frame_error_ratio"] == 0
    assert links["R1-D"]["distance_m"] == 12.5
    assert links["R1-D"]["exchange_us"]["ack"] == 304
    assert sum(links["R1-D"]["exchange_us"].values()) == pytest.approx(1984)
    assert links["S-R1"]["most_mbps"] < links["R1-D"]["most_mbps"] < 5.9
    done = command("explain", DIAMOND, "--plot", tmp_path / "place.svg", *lossy)
    assert done.returncode == 0
    assert "R1-D, both directions on one" in " ".join(done.stdout.split())
    assert "more alike" in done.stdout
    assert (tmp_path / "place.svg").read_text().startswith("<?xml")


def test_hidden_stations_are_named(command):
    text = DIAMOND.read_text().replace('"25 m"]\nradios', '"26 m"]\nradios')
    explanation = ropewalk.explain(ropewalk.Scenario(text))
    named = {(hop.sender, hop.receiver, station) for hop, station in explanation.hidden}
    assert ("S", "R1", "D") in named
    assert ("D", "R1", "S") in named
    assert explanation.json()["hidden"]


def test_wires_have_no_place(refused, tmp_path):
    text = refused("explain", TWO_LINKS, "--plot", tmp_path / "place.png")
    assert "wired" in text


SOURCES = """
[[link]]
name = "wifi"
count = 2
rate = "35.9 Mbit/s"
delay = "22.5 ms"
jitter = "5 ms"
slot = "8 ms"
loss = "0.5 %"
queue = "1 bdp"
reverse = { delay = "30 ms", jitter = { amount = "1 ms" } }
[[link]]
name = "lte"
rate = "15 Mbit/s"
loss = { model = "gilbert-elliott", p = "1 %", r = "30 %" }
[[path]]
name = "both"
hops = ["wifi-1", "lte"]
[[flow]]
name = "one"
path = "both"
protocol = "tcp"
congestion = { name = "cubic", c = 0.5 }
"""


def test_a_key_of_the_file_is_from_the_file_however_it_is_spelled():
    found = sources(ropewalk.explain(ropewalk.Scenario(SOURCES)))
    for link in ("wifi-1", "wifi-2"):
        for key in ("rate", "delay", "jitter.amount", "slot.most", "loss", "queue"):
            assert found[f"link.{link}.{key}"] == "file", key
        assert found[f"link.{link}.jitter.reorder"] == "default"
        assert found[f"link.{link}.slot.least"] == "default"
        assert found[f"link.{link}.reverse.delay"] == "file"
        assert found[f"link.{link}.reverse.jitter.amount"] == "file"
        assert found[f"link.{link}.reverse.slot.most"] == "as forward"
        assert found[f"link.{link}.reverse.rate"] == "as forward"
    assert found["link.lte.delay"] == "default"
    assert found["link.lte.loss.p"] == "file"
    assert found["path.both.hops"] == "file"
    paths = [key for key in found if key.endswith(".paths")]
    assert {found[key] for key in paths} == {"file"}


def test_a_key_is_from_an_override_however_it_is_given():
    changes = [("link.*.jitter", "3 ms"), ("link.lte.loss.p", "2 %")]
    text = SOURCES.replace("count = 2\n", "").replace('"wifi-1"', '"wifi"')
    text = text.replace('rate = "15 Mbit/s"', 'rate = "15 Mbit/s"\ndelay = "9 ms"')
    found = sources(ropewalk.explain(ropewalk.Scenario(text).with_(dict(changes))))
    assert found["link.wifi.jitter.amount"] == "--set"
    assert found["link.lte.jitter.amount"] == "--set"
    assert found["link.lte.jitter.reorder"] == "default"
    assert found["link.lte.loss.p"] == "--set"
    assert found["link.lte.loss.r"] == "file"
    assert found["link.wifi.loss"] == "file"


def test_explained_values_have_readable_units():
    found = ropewalk.explain(ropewalk.Scenario(SOURCES)).settings
    values = {f"{each.table}.{each.key}": each.value for each in found}
    assert values["link.wifi-1.rate"] == "35.9 Mbit/s"
    assert values["link.wifi-1.delay"] == "22.5 ms"
    assert values["link.wifi-1.loss"] == "0.5 %"
