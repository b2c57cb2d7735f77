"""Positions of radios: power, carrier sense, link budgets, pictures."""

import math

import pytest

from ropewalk.engines.wireless.layout import ChannelModel, RadioLayout, Station, WirelessLink
from ropewalk.engines.wireless.link_budget import budgets, error_ratio, radio_on
from ropewalk.model import wifi
from ropewalk.output.plot.wireless import draw, reach_m
from ropewalk.scenario.setup import Propagation

DISK = {"model": "range", "range": 25.0, "sense": 25.0}
LOG = {
    "model": "log-distance",
    "exponent": 3.0,
    "reference_loss": 46.6777,
    "reference_distance": 1.0,
}
LINE = {"S": (0, 0, 0), "R": (20, 0, 0), "D": (40, 0, 0)}
CHAIN = [("one", "S", "R"), ("one", "R", "D")]


def place(how, at, links, *, channel=None, losses=None, **station):
    """Return a layout with links in both directions between nodes and equal radios."""
    station = {"sensitivity_dbm": -96.0, "sense_dbm": -96.0} | station
    radio = station.pop("radio", wifi.radio("802.11b", 11, basic_rates_mbps=[1], tries=4))
    names = dict.fromkeys(name for name, *_ in links)
    stations = {
        (node, name): Station(node, name, at[node], radio, **station)
        for name in names
        for node in dict.fromkeys(end for own, *ends in links for end in ends if own == name)
    }
    ways = []
    for name, sender, receiver in links:
        hop = wifi.Hop(name, sender, receiver)
        loss = (losses or {}).get((sender, receiver), 0.0)
        ways += [
            WirelessLink(f"{sender}-{receiver}", hop, loss),
            WirelessLink(f"{sender}-{receiver}/reverse", hop.reverse),
        ]
    return RadioLayout(
        {name: ChannelModel(name, Propagation(**how), **(channel or {})) for name in names},
        stations,
        ways,
    )


def test_power_and_snr_follow_the_propagation():
    found = place(LOG, LINE, CHAIN)
    hop = wifi.Hop("one", "S", "R")
    assert found.power_dbm(hop) == pytest.approx(16.0206 - 46.6777 - 30 * math.log10(20))
    assert found.snr_db(hop) == pytest.approx(found.power_dbm(hop) - wifi.noise_dbm(7))
    gain = place(LOG, LINE, CHAIN, antenna_gain_db=1.0)
    assert gain.power_dbm(hop) == pytest.approx(found.power_dbm(hop) + 2)


@pytest.mark.parametrize(
    ("how", "loss"),
    [
        ({"model": "friis", "frequency": 2.4e9}, 66.07),
        ({"model": "two-ray", "frequency": 2.4e9, "height": 1.5}, 66.07),
        (LOG, 85.71),
        (DISK, 0.0),
    ],
)
def test_each_propagation_has_its_loss(how, loss):
    found = place(how, LINE, CHAIN)
    ends = found.stations["S", "one"], found.stations["R", "one"]
    assert found.channels["one"].loss_db(*ends) == pytest.approx(loss, abs=0.01)


def test_a_measured_loss_is_that_of_its_direction():
    losses = {("S", "R"): 80.0, ("R", "S"): 90.0}
    found = place({"model": "matrix"}, LINE, CHAIN, channel={"losses_db": losses})
    hop = wifi.Hop("one", "S", "R")
    assert found.power_dbm(hop) == pytest.approx(16.0206 - 80)
    assert found.power_dbm(hop.reverse) == pytest.approx(16.0206 - 90)
    assert found.power_dbm(wifi.Hop("one", "S", "D")) == -math.inf


def test_ends_of_a_chain_are_hidden_from_each_other_where_range_ends_between():
    found = place(DISK, LINE, CHAIN)
    assert ("S", "D") not in found.hears()["one"]
    hidden = {(hop.sender, hop.receiver, node) for hop, node in found.hidden()}
    assert hidden == {("S", "R", "D"), ("D", "R", "S")}
    sensing = place(DISK | {"sense": 40.0}, LINE, CHAIN)
    assert sensing.hidden() == []
    assert sensing.power_dbm(wifi.Hop("one", "S", "D")) == -math.inf


def test_stations_on_other_channels_are_not_hidden():
    found = place(DISK, LINE, [("one", "S", "R"), ("two", "R", "D")])
    assert found.hidden() == []


def test_a_budget_is_that_of_the_formulas():
    found = place(LOG, LINE, CHAIN, losses={("S", "R"): 0.2})
    there, back, *_ = budgets(found, 1500, 1460)
    radio = wifi.radio("802.11b", 11, basic_rates_mbps=[1], tries=4)
    assert there.distance_m == 20
    assert there.needed_snr_db == pytest.approx(wifi.snr_needed_db(radio, 1536))
    assert there.margin_db == pytest.approx(there.snr_db - there.needed_snr_db)
    assert there.frame_error_ratio == pytest.approx(0.2)
    assert back.frame_error_ratio == pytest.approx(0.0, abs=1e-9)
    expected = wifi.link_goodput_mbps(radio, 1500, 1460, frame_error=0.2)
    assert there.most_mbps == pytest.approx(expected)
    assert set(there.json()["exchange_us"]) >= {"difs", "backoff", "packet", "ack"}


def test_a_budget_out_of_range_is_nothing():
    found = place(DISK, LINE | {"R": (30, 0, 0)}, CHAIN[:1])
    there = budgets(found, 1500, 1460)[0]
    assert there.power_dbm is None
    assert there.margin_db is None
    assert there.frame_error_ratio == 1
    assert there.most_mbps == 0
    assert "power_dbm" not in there.json()


def test_fading_puts_frames_in_error_that_the_mean_would_not():
    bands = {"fading": [(0.0, 1.5), (30.0, 0.75)]}
    at = LINE | {"R": (40, 0, 0)}
    link = place(LOG, at, CHAIN).links[0]
    clear = error_ratio(place(LOG, at, CHAIN), link, 1500)
    faded = error_ratio(place(LOG, at, CHAIN, channel=bands), link, 1500)
    radio = wifi.radio("802.11b", 11, basic_rates_mbps=[1])
    snr = place(LOG, at, CHAIN).snr_db(link.hop)
    assert clear < 1e-6
    assert faded == pytest.approx(float(wifi.faded_frame_error(radio, snr, 1536, 0.75)))


@pytest.mark.parametrize(("distance", "rate"), [(10, 54), (32, 36), (60, 12), (200, 6)])
def test_a_rate_control_takes_the_fastest_rate_that_the_mean_allows(distance, rate):
    radio = wifi.radio("802.11a")
    found = place(
        LOG, {"S": (0, 0, 0), "R": (distance, 0, 0)}, CHAIN[:1], radio=radio, rate_control="ideal"
    )
    assert radio_on(found, found.links[0], 1500).rate_mbps == rate


def test_long_frames_alone_have_an_rts():
    found = place(LOG, LINE, CHAIN, rts_above=500)
    assert radio_on(found, found.links[0], 1500).rts
    assert not radio_on(found, found.links[0], 464).rts
    assert radio_on(found, found.links[0], 465).rts


def test_zones_end_where_power_does():
    found = place(LOG, LINE, CHAIN, sensitivity_dbm=-96.0, sense_dbm=-82.0)
    station = found.stations["S", "one"]
    heard, received = (reach_m(found, station, sensing=sensing) for sensing in (True, False))
    assert wifi.log_distance_loss_db(heard, 3) == pytest.approx(16.0206 + 82)
    needed = wifi.noise_dbm(7) + wifi.snr_needed_db(station.radio, 1536)
    assert wifi.log_distance_loss_db(received, 3) == pytest.approx(16.0206 - needed)
    disk = place(DISK | {"sense": 40.0}, LINE, CHAIN)
    station = disk.stations["S", "one"]
    assert [reach_m(disk, station, sensing=sensing) for sensing in (True, False)] == [40, 25]
    matrix = place({"model": "matrix"}, LINE, CHAIN)
    assert reach_m(matrix, matrix.stations["S", "one"], sensing=True) is None


@pytest.mark.parametrize("how", [DISK, LOG, {"model": "matrix"}], ids=lambda how: how["model"])
def test_the_picture_has_a_panel_for_each_channel(how):
    found = place(how, LINE, [("one", "S", "R"), ("two", "R", "D")])
    figure = draw(found, "a chain")
    assert [axes.get_title("left") for axes in figure.axes] == ["channel one", "channel two"]
    labels = [[text.get_text() for text in axes.texts] for axes in figure.axes]
    assert {"S", "R"} <= set(labels[0])
    assert {"R", "D"} <= set(labels[1])
    zones = [len(axes.patches) for axes in figure.axes]
    assert zones == ([0, 0] if how["model"] == "matrix" else [4, 4])


def test_frames_below_sensitivity_are_not_received():
    at = LINE | {"R": (30, 0, 0)}
    weak = place(LOG, at, CHAIN[:1], sensitivity_dbm=-74.0)
    (there, _) = budgets(weak, 1500, 1460)
    assert there.frame_error_ratio == 1
    assert there.margin_db == pytest.approx(there.power_dbm + 74)
    bands = {"fading": [(0.0, 1.0)]}
    faded = place(LOG, at, CHAIN[:1], channel=bands, sensitivity_dbm=-74.0)
    # Rayleigh power is exponential: the share more than 1 dB above the mean, and without error.
    share = math.exp(-(10 ** ((-74.0 - there.power_dbm) / 10)))
    assert budgets(faded, 1500, 1460)[0].frame_error_ratio == pytest.approx(1 - share, abs=1e-6)
