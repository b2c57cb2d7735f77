"""Predictions over 802.11 channels."""

import pytest

import ropewalk
from places import ROOT


@pytest.fixture(scope="module")
def diamond():
    return ropewalk.Scenario.load(ROOT / "scenarios/papers/gomez-2014.toml")


ONE_CHANNEL = {"link.S-R2.channel": "one", "link.R2-D.channel": "one"}


BESIDE = '[[flow]]\nname = "late"\nprotocol = "tcp"\npaths = ["lower"]\n'


STREAMED = ('size = "20 MB"', 'kind = "cbr"\nrate = "1 Mbit/s"')


CELL = """
[wifi]
basic_rates = ["1 Mbit/s", "2 Mbit/s", "5.5 Mbit/s", "11 Mbit/s"]
[[channel]]
name = "air"
propagation = { model = "range", range = "50 m" }
[[node]]
name = "sink"
radios = ["air"]
"""


def cell(stations, distance=1):
    """Return stations around a sink that all send datagrams to it."""
    text = CELL
    for number in range(stations):
        place = f'["{distance * (1 - 2 * (number % 2))} m", "{number} m"]'
        text += f'[[node]]\nname = "s{number}"\nat = {place}\nradios = ["air"]\n'
        text += f'[[path]]\nname = "p{number}"\nnodes = ["s{number}", "sink"]\nchannel = "air"\n'
        text += f'[[flow]]\nname = "f{number}"\nprotocol = "udp"\npaths = ["p{number}"]\n'
        text += 'segment = "1000 B"\n'
    return ropewalk.Scenario('duration = "20 s"\n' + text)


@pytest.mark.parametrize("changes", [{}, ONE_CHANNEL, {"link.S-R1.loss": "5 %"}])
def test_wireless_paths_have_a_ceiling_that_the_simulator_keeps(diamond, changes):
    scenario = diamond.with_(changes)
    made = ropewalk.predict(scenario)
    simulated = ropewalk.simulate(scenario).runs[0]["goodput_mbps"]
    assert [model.name for model in made.models] == ["wifi-airtime"]
    assert simulated <= made.best.quantities["at_most_mbps"]
    assert simulated == pytest.approx(made.best.goodput_mbps, rel=0.1)
    assert made.best.warnings == ()
    assert "not predicted" in made.warnings[-1]
    assert made.asymmetry == {}


def test_losses_that_the_last_try_leaves_are_a_warning(diamond):
    lossy = diamond.with_({"link.S-R1.loss": "30 %"})
    best = ropewalk.predict(lossy).best
    assert ropewalk.simulate(lossy).runs[0]["goodput_mbps"] < best.goodput_mbps
    (warning,) = best.warnings
    assert "from S to R1 0.81%" in warning


def test_losses_in_bursts_are_a_warning_and_drop_more_packets(diamond):
    hop = "link.S-R1.loss"
    model = {f"{hop}.model": "gilbert-elliott", f"{hop}.p": "2 %", f"{hop}.r": "20 %"}
    bursts = diamond.with_(model)
    alone = diamond.with_({hop: f"{bursts.setup.links[0].forward.loss:.4%}"})
    assert bursts.setup.links[0].forward.loss == pytest.approx(0.02 / 0.22)
    (warning,) = ropewalk.predict(bursts).best.warnings
    assert "from S to R1 frames are lost in bursts" in warning
    assert ropewalk.predict(alone).best.warnings == ()
    links = [ropewalk.simulate(each).runs[0]["links"][0] for each in (bursts, alone)]
    assert all(0.05 < link["frame_error_ratio"] < 0.2 for link in links)
    lost = [link["lost_packets"] / link["sent_packets"] for link in links]
    assert lost[0] > 5 * lost[1]


def test_one_channel_is_half_of_two(diamond):
    both = ropewalk.predict(diamond).best.goodput_mbps
    one = ropewalk.predict(diamond.with_(ONE_CHANNEL)).best.goodput_mbps
    assert one == pytest.approx(both / 2)


@pytest.mark.parametrize("stations", [1, 5])
def test_a_cell_of_senders_is_bianchis(stations):
    scenario = cell(stations)
    made = ropewalk.predict(scenario)
    best = made.best
    assert best.name == ("bianchi" if stations > 1 else "wifi-airtime")
    results = ropewalk.simulate(scenario)
    flows = results.runs[0].get("flows", [results.runs[0]])
    together = sum(flow["goodput_mbps"] for flow in flows)
    assert best.goodput_mbps * stations == pytest.approx(together, rel=0.03)


@pytest.mark.parametrize(
    ("scenario", "why"),
    [
        (lambda diamond: ropewalk.Scenario(diamond.text.replace(*STREAMED)), "cbr"),
        (lambda diamond: ropewalk.Scenario(diamond.text + BESIDE), "several flows"),
        (lambda diamond: cell(2, distance=40), "do not all hear"),
    ],
)
def test_wireless_effects_without_formula_are_named(diamond, scenario, why):
    made = ropewalk.predict(scenario(diamond))
    assert made.best is None
    assert any(why in warning for warning in made.warnings), made.warnings
