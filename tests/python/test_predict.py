"""Predictions: applicable models, keys of the JSON form, the command, invalid input."""

import json
import os
import re

import polars as pl
import pytest

import ropewalk
from places import READY, ROOT, TWO_LINKS

STREAM = {
    "transport.protocol": "mptcp",
    "traffic.kind": "poisson",
    "traffic.rate": "10 Mbit/s",
}


@pytest.fixture(scope="module")
def stream():
    text = TWO_LINKS.read_text().replace('size = "20 MB"', "")
    return ropewalk.Scenario(text).with_(STREAM)


def names(scenario):
    return {model.name for model in ropewalk.predict(scenario).models}


# Scenarios without a formula.
WITHOUT_FORMULA = {
    "access-point": "cbr messages over 802.11 channels",
    "chunks": "the receiver requests (chunks)",
    "hidden-pair": "do not all hear each other",
    "pages": "the receiver requests (web)",
    "requests": "the receiver requests (request)",
    "slow-station": "stations that differ",
}


@pytest.mark.parametrize("path", READY, ids=lambda path: path.stem)
def test_every_ready_scenario_predicts(path):
    predictions = ropewalk.predict(path)
    if path.stem in WITHOUT_FORMULA:
        assert predictions.best is None
        assert WITHOUT_FORMULA[path.stem] in predictions.warnings[-1]
        return
    assert predictions.best is not None
    assert 0 < predictions.best.goodput_mbps < 1000
    for model in predictions.models:
        assert model.source
        assert model.validity


def test_the_json_keeps_the_contract():
    printed = ropewalk.predict(TWO_LINKS).json()
    assert printed["engine"] == "predict"
    assert printed["scenario"] == "Two unequal links"
    assert printed["goodput_mbps"] > 0
    assert printed["delay_ms"]["mean"] > 0
    for model in printed["models"]:
        assert {"name", "source", "validity"} <= model.keys()
    assert printed["models"][0]["name"] == printed["best"]
    assert "null" not in json.dumps(printed)


def test_a_cost_is_predicted_where_a_link_has_a_price():
    scenario = ropewalk.Scenario.load(TWO_LINKS)
    assert "cost" not in ropewalk.predict(scenario).json()
    cheap, dear = (
        ropewalk.predict(scenario.with_({"link.dsl.cost": cost})).json()["cost"] for cost in (0, 2)
    )
    assert 0 < cheap < dear


@pytest.mark.parametrize("congestion", ["cubic", "newreno"])
@pytest.mark.parametrize(("rate", "least"), [("100 Gbit/s", 50_000), ("1 Gbit/s", 900)])
@pytest.mark.parametrize("delay", ["0 s", "1 us", "18 us"])
def test_a_fast_and_short_link_is_predicted(congestion, rate, least, delay):
    link = f'name = "lan"\nrate = "{rate}"\ndelay = "{delay}"\nqueue = "1000 packets"'
    transport = f'protocol = "tcp"\ncongestion = "{congestion}"'
    text = f'duration = "10 s"\n[[link]]\n{link}\n[transport]\n{transport}\n'
    best = ropewalk.predict(ropewalk.Scenario(text)).best
    assert best is not None
    assert least < best.goodput_mbps < 100_000


@pytest.mark.parametrize("version", ["ipv4", "ipv6"])
def test_a_striped_packet_has_the_headers_of_its_ip_version(version):
    links = "".join(
        f'[[link]]\nname = "{name}"\nrate = "2 Mbit/s"\ndelay = "10 ms"\nqueue = "100 packets"\n'
        for name in "ab"
    )
    transport = f'protocol = "striped-tcp"\nip_version = "{version}"\nreceive_buffer = "64 KiB"'
    scenario = ropewalk.Scenario(f'duration = "60 s"\n{links}[transport]\n{transport}\n')
    best = ropewalk.predict(scenario).best
    assert best is not None
    simulated = ropewalk.simulate(scenario).mean["goodput_mbps"]
    assert best.goodput_mbps == pytest.approx(simulated, rel=1e-9)


def test_asymmetry_is_the_mean_difference_of_two_paths():
    predictions = ropewalk.predict(TWO_LINKS)
    assert predictions.asymmetry == pytest.approx({"delay_ms": 24.0, "bandwidth_mbps": 34.0})


def test_models_come_where_they_apply(two_links, stream):
    assert "fluid" in names(two_links)
    assert "song-2018" not in names(two_links)
    striped = names(two_links.with_({"transport.protocol": "striped-tcp"}))
    assert "song-2018" in striped
    assert "fluid" not in striped
    tunnel = {"transport.protocol": "striped-tcp", "transport.device": "tunnel"}
    assert not {"song-2018", "striped-cycle", "fluid"} & names(two_links.with_(tunnel))
    assert {"elahi-2011", "park-2014", "in-order"} <= names(stream)
    single = two_links.with_({"transport.protocol": "tcp", "link.dsl.loss": "0.1 %"})
    assert {"loss-limits", "cardwell-2000"} <= names(single)
    lossy = {"link.dsl.loss": "1 %", "transport.congestion": "lia"}
    assert "lia-at-rest" in names(two_links.with_(lossy))


def test_a_model_that_does_not_apply_is_named(two_links):
    with pytest.raises(ValueError, match=r"no prediction 'song-2018'; there are: fluid"):
        ropewalk.predict(two_links).model("song-2018")


def test_stream_goodput_equals_its_load(stream):
    assert ropewalk.predict(stream).best.goodput_mbps == pytest.approx(10, rel=0.01)
    more = stream.with_({"traffic.rate": "100 Mbit/s"})
    assert 50 < ropewalk.predict(more).best.goodput_mbps < 66


def test_overloaded_queue_gives_prediction_and_warning(stream):
    over = ropewalk.predict(stream.with_({"traffic.rate": "100 Mbit/s"}))
    queue = over.model("elahi-2011")
    assert queue.quantities["load"] > 1
    assert "of the links' capacity" in " ".join(queue.warnings)
    assert 50 < queue.goodput_mbps < 66
    assert over.model("park-2014").delay_ms == {}
    assert "no bound" in " ".join(over.model("park-2014").warnings)


def test_delays_of_a_stream_are_in_order(stream):
    predictions = ropewalk.predict(stream)
    least = predictions.model("in-order").delay_ms["least"]
    bound = predictions.model("park-2014").delay_ms
    assert least < bound["bound"]
    assert bound["bound"] == pytest.approx(bound["send"] + bound["network"] + bound["loss"])
    queue = predictions.model("elahi-2011").delay_ms
    assert queue["queue_p50"] < queue["queue_p95"] < queue["queue_p99"]


def test_bas_is_a_tcp_on_each_path(two_links):
    scenario = two_links.with_({"transport.protocol": "aggregation", "traffic.size": "100 MB"})
    simulated = ropewalk.simulate(scenario).runs[0]
    best = ropewalk.predict(scenario).best
    assert best.name == "fluid"
    assert best.goodput_mbps == pytest.approx(simulated["goodput_mbps"], rel=0.05)


def test_delay_of_bulk_is_the_simulators(two_links):
    endless = two_links.with_({"traffic.size": "200 MB", "duration": "20 s"})
    predicted = ropewalk.predict(endless).best.delay_ms["mean"]
    simulated = ropewalk.simulate(endless).mean["delay_ms"]["mean"]
    assert predicted == pytest.approx(simulated, rel=0.15)


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({}, "rate"),
        ({"transport.receive_buffer": "64 KiB"}, "receive_buffer"),
        ({"transport.send_buffer": "64 KiB"}, "send_buffer"),
        ({"link.dsl.loss": "2 %", "link.cable.loss": "2 %"}, "loss"),
        ({"traffic.size": "100 kB"}, "start"),
    ],
    ids=["rate", "receive buffer", "send buffer", "loss", "start"],
)
def test_the_bottleneck_is_named(two_links, changes, word):
    assert word in ropewalk.predict(two_links.with_(changes)).best.bottleneck


ODD = {
    "an unlimited link": {"link.dsl.rate": "unlimited"},
    "no delay": {"link.dsl.delay": "0 ms", "link.cable.delay": "0 ms"},
    "all is lost": {"link.dsl.loss": "100 %", "link.cable.loss": "100 %"},
    "down all the time": {"link.dsl.down": [["0 s", "30 s"]]},
    "a buffer of one segment": {
        "transport.receive_buffer": "1500 B",
        "transport.send_buffer": "1500 B",
    },
    "a millisecond": {"duration": "1 ms"},
    "a byte": {"traffic.size": "1 B"},
    "no queue": {"link.dsl.queue": "0 packets"},
    "striped": {"transport.protocol": "striped-tcp"},
    "striped over an unlimited link": {
        "transport.protocol": "striped-tcp",
        "link.dsl.rate": "unlimited",
    },
}


def test_prediction_outside_validity_warns(two_links):
    assert ropewalk.predict(two_links).best.warnings == ()
    changes = {
        "transport.congestion": "lia",
        "transport.receive_buffer": "64 KiB",
        "link.dsl.jitter": "1 ms",
    }
    warned = " ".join(ropewalk.predict(two_links.with_(changes)).best.warnings)
    for word in ("couples", "small window", "jitter"):
        assert word in warned


@pytest.mark.parametrize("case", ODD)
def test_odd_scenarios_give_numbers_or_nothing(two_links, case):
    printed = ropewalk.predict(two_links.with_(ODD[case])).json()
    json.dumps(printed, allow_nan=False)
    assert printed.get("goodput_mbps", 0) >= 0


@pytest.mark.parametrize("protocol", ["mptcp", "striped-tcp"])
def test_forty_links(protocol):
    links = "".join(
        f'[[link]]\nname = "l{number}"\nrate = "10 Mbit/s"\ndelay = "{number + 1} ms"\n'
        for number in range(40)
    )
    scenario = ropewalk.Scenario(f'{links}[transport]\nprotocol = "{protocol}"\n')
    assert 0 < ropewalk.predict(scenario).best.goodput_mbps < 400


def test_the_command_prints_one_object(command):
    done = command("predict", TWO_LINKS, "--json")
    assert done.returncode == 0
    assert done.stderr == ""
    assert done.stdout.count("\n") == 1
    there, here = json.loads(done.stdout), ropewalk.predict(TWO_LINKS).json()
    assert there.pop("origin")["command"].startswith("ropewalk predict")
    del here["origin"]
    assert there == here


@pytest.mark.parametrize("path", READY, ids=lambda path: path.stem)
def test_the_table_fits_a_terminal(command, path):
    done = command("predict", path, env=os.environ | {"COLUMNS": "80"})
    assert done.returncode == 0, done.stderr
    assert "goodput" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_the_table_warns(command):
    done = command("predict", TWO_LINKS, "--set", "transport.protocol=striped-tcp")
    assert "warning: " in done.stdout
    assert "song-2018" in done.stdout


def test_predict_out_replaces_a_folder_of_simulate(command, tmp_path):
    folder = tmp_path / "results"
    assert command("simulate", TWO_LINKS, "--out", folder).returncode == 0
    done = command("predict", TWO_LINKS, "--set", "link.dsl.delay=30ms", "--out", folder)
    assert done.returncode == 0, done.stderr
    kept = {file.name for file in folder.iterdir()}
    assert kept == {"result.json", "scenario.toml", "tables", "pictures"}
    assert (folder / "pictures/models.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads((folder / "result.json").read_text())["engine"] == "predict"
    assert "fluid" in pl.read_parquet(folder / "tables/models.parquet")["name"].to_list()
    assert 'delay = "30ms"' in (folder / "scenario.toml").read_text()


def test_predict_plot_compares_models_and_links(command, tmp_path):
    picture = tmp_path / "models.svg"
    done = command("predict", TWO_LINKS, "--plot", picture)
    assert done.returncode == 0, done.stderr
    assert f"picture: {picture}" in done.stdout.replace("\n", "")
    assert picture.read_bytes().startswith(b"<?xml")
    predictions = ropewalk.predict(TWO_LINKS)
    goodput, _, of_links = predictions.plot().axes
    assert [bar.get_width() for bar in goodput.patches] == [
        model.goodput_mbps for model in predictions.models
    ]
    subflows = predictions.best.quantities["subflows"]
    assert [bar.get_width() for bar in of_links.containers[0]] == [
        entry["goodput_mbps"] for entry in subflows
    ]


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["none.toml"], "none.toml"),
        ([TWO_LINKS, "--plot", "models.txt"], "models.txt"),
        ([TWO_LINKS, "--set", "link.dsl.rate=0 Mbit/s"], "greater than zero"),
        ([TWO_LINKS, "--set", "link.dsl.rat=1"], "rat"),
        ([TWO_LINKS, "--out", TWO_LINKS], "two-links.toml"),
        ([TWO_LINKS, "--seed", "1"], "--seed"),
    ],
    ids=["no file", "no picture", "no rate", "no key", "no folder", "no option"],
)
def test_wrong_input_ends_with_status_2(refused, arguments, word):
    text = refused("predict", *arguments)
    assert word in text


def test_every_option_model_and_key_is_in_the_guide(command, two_links, stream):
    pages = (ROOT / f"docs/guide/{name}.md" for name in ("predict", "results"))
    guide = "".join(page.read_text() for page in pages)
    options = re.findall(r"^  (--[a-z-]+)", command("predict", "--help").stdout, re.MULTILINE)
    assert {"--json", "--set", "--out"} <= set(options)
    text = {*options, *ropewalk.predict(two_links).json(), *names(two_links), *names(stream)}
    assert [word for word in sorted(text) if word not in guide] == []


def test_unsupported_algorithm_excludes_the_model_with_reason():
    scenario = ropewalk.Scenario.load(TWO_LINKS)
    scenario.values["transport"]["congestion"] = "toy"
    predictions = ropewalk.predict(scenario)
    assert predictions.best is None
    assert "fluid" not in [model.name for model in predictions.models]
    text = 'fluid is left out: it has no formula for congestion = "toy"'
    assert text in predictions.warnings
    assert text in predictions.json()["warnings"]


def test_parameters_of_ones_own_are_warned_of():
    scenario = ropewalk.Scenario.load(TWO_LINKS)
    changed = scenario.with_({"transport.congestion": {"name": "cubic", "beta": 0.8}})
    assert changed.values["transport"]["congestion_parameters"] == {"beta": 0.8}
    warnings = ropewalk.predict(changed).best.warnings
    assert any("congestion control has parameters" in warning for warning in warnings)
    warnings = ropewalk.predict(scenario).best.warnings
    assert not any("congestion control has parameters" in warning for warning in warnings)


DATAGRAMS = """
duration = "10 s"
[[link]]
name = "a"
rate = "8 Mbit/s"
delay = "20 ms"
loss = "2 %"
[[link]]
name = "b"
rate = "6 Mbit/s"
delay = "10 ms"
queue = "40 packets"
[[path]]
name = "both"
hops = ["a", "b"]
[transport]
protocol = "udp"
paths = ["both"]
"""


def test_datagram_goodput_is_reduced_by_each_link():
    best = ropewalk.predict(ropewalk.Scenario(DATAGRAMS)).best
    assert best.name == "datagrams"
    assert best.bottleneck == "the rate of b"
    # Capacity of b, below a's output of 7.84 Mbit/s.
    assert best.goodput_mbps == pytest.approx(6 * 1472 / 1500)
    assert best.quantities["lost_ratio"] == pytest.approx(1 - 6 / 8)
    # 1.5 ms at a, 2 at b, 30 ms of propagation; 40 packets queued at b once 480 kbit have arrived.
    full = 40 * 1500 * 8 / 1.84e6
    assert best.delay_ms["mean"] == pytest.approx(1.5 + 2 + 30 + 80 * (1 - full / 2 / 10))


def test_voice_datagrams_have_no_queueing_delay():
    voice = '\n[traffic]\nkind = "cbr"\nrate = "64 kbit/s"\nmessage = "160 B"\n'
    best = ropewalk.predict(ropewalk.Scenario(DATAGRAMS + voice)).best
    assert best.goodput_mbps == pytest.approx(0.064 * 0.98)
    assert best.delay_ms["mean"] == pytest.approx(30 + 188 * 8 / 8e3 + 188 * 8 / 6e3)
    assert best.bottleneck == "none: the links carry the offered load"


def test_datagrams_with_competitors_have_no_formula():
    made = ropewalk.predict(ropewalk.Scenario(DATAGRAMS + '\n[[competitor]]\npath = "a"\n'))
    assert made.best is None
    assert "no formula covers datagrams with other flows" in made.warnings[0]


VIDEO = "scenarios/video/wifi-lte.toml"


@pytest.fixture
def video():
    return ropewalk.Scenario.load(VIDEO)


def test_deadline_traffic_has_a_least_cost(video):
    found = ropewalk.predict(video).model("in-time")
    assert found.delay_ms["late_by"] == 0
    assert sum(found.quantities["shares"]) == pytest.approx(1)
    # The simulation is in time except for a few frames, and no cheaper than the bound.
    chosen = video.with_({"transport.scheduler": "cheapest-in-time", "duration": "30 s"})
    cost = ropewalk.simulate(chosen).runs[0]["cost"]
    assert ropewalk.predict(chosen).model("in-time").cost < cost
    # A shorter deadline costs more.
    longer = ropewalk.predict(video.with_({"traffic.deadline": "1 s"})).model("in-time")
    assert longer.cost < found.cost
    assert longer.quantities["shares"][1] < found.quantities["shares"][1]


def test_unreachable_deadlines_give_the_lateness(video):
    # 1 MB/s from the start of an outage of two seconds, over 10 Mbit/s.
    changes = {
        "transport.protocol": "tcp",
        "transport.paths": ["lte"],
        "link.lte.rate": "10 Mbit/s",
        "link.lte.down": [["1 s", "3 s"]],
        "traffic.deadline": "1 s",
        "duration": "5 s",
    }
    found = ropewalk.predict(video.with_(changes)).model("in-time")
    # A frame written at the start of the outage is delayed by two seconds and half a round trip.
    assert found.delay_ms["late_by"] > 1000
    assert "not all data can be in time" in found.warnings[0]


def test_without_a_price_there_is_no_cost_and_without_a_deadline_no_bound(stream):
    assert "in-time" not in names(stream)
    found = ropewalk.predict(stream.with_({"traffic.deadline": "1 s"})).model("in-time")
    assert found.cost is None
    assert found.delay_ms["late_by"] == 0


def test_the_bottleneck_of_a_shared_buffer_is_the_link_on_which_data_wait():
    text = """
    duration = "60 s"
    [[link]]
    name = "fast"
    rate = "100 Mbit/s"
    delay = "10 ms"
    queue = "1000 packets"
    [[link]]
    name = "slow"
    rate = "2 Mbit/s"
    delay = "1 ms"
    queue = "1000 packets"
    [transport]
    protocol = "mptcp"
    [traffic]
    size = "1 MB"
    """
    note = ropewalk.predict(ropewalk.Scenario(text)).best.bottleneck
    assert "data wait on slow, with a round trip of " in note
    assert "fast" not in note
