"""The fluid model: general properties, and agreement with the simulator."""

import math

import pytest

import ropewalk
from ropewalk.engines.predict import fluid
from ropewalk.model.fluid import FluidConnection, FluidLink, FluidPath, run
from ropewalk.model.fluid.coupling import INCREASES
from ropewalk.model.fluid.window import Window, hystart_exit

MBIT = 1e6 / 8


def tcp(path, congestion="newreno", **more):
    return FluidConnection((path,), congestion, segment=1448, packet=1500, **more)


def goodput(links, connection, duration=60.0, **more):
    return run(links, [connection], duration, **more)[0].goodput


@pytest.mark.parametrize("scheme", INCREASES)
@pytest.mark.parametrize("loss", [0.0, 0.01])
def test_no_link_carries_more_than_its_rate(scheme, loss):
    paths = tuple(FluidPath((number,), 0.02, 0.04, loss) for number in (0, 1))
    both = FluidConnection(paths, scheme, segment=1424, packet=1500)
    links = [FluidLink(10 * MBIT, 50e3), FluidLink(5 * MBIT, 25e3)]
    outcome = run(links, [both], 30)[0]
    for carried, link in zip(outcome.subflows, links, strict=True):
        assert 0 < carried <= 1.0001 * link.rate * 1424 / 1500


def test_a_window_over_a_round_trip():
    path = FluidPath((0,), 0.05, 0.1)
    carried = goodput([FluidLink(1e9)], tcp(path, receive_window=1e5), duration=600.0)
    assert carried == pytest.approx(1e5 / 0.1, rel=0.01)


@pytest.mark.parametrize("loss", [0.001, 0.01])
def test_newreno_under_loss_keeps_mathiss_window(loss):
    path = FluidPath((), 0.05, 0.1, loss)
    window = goodput([], tcp(path), duration=2000.0) * 0.1 / 1448
    assert window == pytest.approx(math.sqrt(1.5 / loss), rel=0.15)


def test_cubic_is_ahead_of_newreno_on_a_long_fat_path():
    path = FluidPath((), 0.1, 0.2, 1e-5)
    assert goodput([], tcp(path, "cubic"), 600.0) > 1.3 * goodput([], tcp(path), 600.0)


def test_equal_flows_share_a_link_equally():
    path = FluidPath((0,), 0.02, 0.04)
    link = FluidLink(20 * MBIT, 1e5)
    first, second = run([link], [tcp(path), tcp(path)], 120.0)
    assert first.goodput == pytest.approx(second.goodput, rel=0.2)
    assert first.goodput + second.goodput == pytest.approx(20 * MBIT * 1448 / 1500, rel=0.1)


def test_an_outage_costs_its_time_and_the_timers():
    path = FluidPath((0,), 0.02, 0.04)
    whole = goodput([FluidLink(10 * MBIT, 5e4)], tcp(path), 20.0)
    cut = goodput([FluidLink(10 * MBIT, 5e4, ((5.0, 9.0),))], tcp(path), 20.0)
    assert 0.5 * whole < cut < 0.8 * whole


def test_a_short_transfer_ends_after_its_slow_start():
    path = FluidPath((0,), 0.05, 0.1)
    short = tcp(path, "cubic", size=70 * 1448.0, initial_window=10.0)
    completion = run([FluidLink(1e9)], [short], 30.0)[0].completion
    assert 0.35 < completion < 0.55  # a handshake, three rounds, and the one-way delay


def test_a_slow_path_holds_up_a_small_window():
    fast, slow = FluidPath((0,), 0.01, 0.02), FluidPath((1,), 0.2, 0.4)
    links = [FluidLink(20 * MBIT, 5e4), FluidLink(1 * MBIT, 5e4)]
    alone = FluidConnection((fast,), "cubic", 1424, 1500, receive_window=131072)
    both = FluidConnection((fast, slow), "cubic", 1424, 1500, receive_window=131072)
    assert goodput(links, both) < 0.5 * goodput(links, alone)


def test_the_same_arguments_give_the_same_numbers():
    path = FluidPath((0,), 0.02, 0.04, 0.003)
    assert goodput([FluidLink(1e6, 4e4)], tcp(path)) == goodput([FluidLink(1e6, 4e4)], tcp(path))


@pytest.mark.parametrize("rounds", [1.0, 1e3, 1e4, 1e9])
def test_a_step_of_time_may_have_any_number_of_rounds(rounds):
    window = Window(size=10.0, threshold=math.inf, cubic=True)
    left = window.double(rounds, 2.0, 1000.0)
    assert window.size <= 1000
    assert 0 <= left <= rounds
    window.lose(1000.0)
    before = window.size
    window.avoid(now=1.0, rtt=1 / rounds, rounds=rounds, increase=1.0)
    assert before <= window.size < math.inf


def test_a_cubic_window_is_back_at_its_plateau_after_k_seconds():
    window = Window(70.0, 70.0, cubic=True, plateau=100.0)
    k = (30 / 0.4) ** (1 / 3)
    rtt = 0.001  # too short to look ahead, too long for the friendly region
    window.avoid(rtt, rtt, 1.0, 1.0)
    window.epoch, window.friendly = 0.0, 0.0
    window.avoid(k - rtt, rtt, 0.0, 1.0)
    assert window.size == pytest.approx(100.0, rel=1e-6)


def test_hystart_leaves_before_the_path_is_full():
    assert hystart_exit(1000.0, 0.1, 1.0) < 1000.0 * 0.1
    assert hystart_exit(math.inf, 0.1, 1.0) == math.inf


GOOD_PATH = FluidPath((0,), 0.02, 0.04)
WRONG = {
    "a rate of NaN": (([FluidLink(math.nan)], [tcp(GOOD_PATH)], 1.0), "links[0].rate is nan"),
    "a rate of 0": (([FluidLink(0.0)], [tcp(GOOD_PATH)], 1.0), "links[0].rate is 0"),
    "a queue below 0": (([FluidLink(1.0, -1.0)], [tcp(GOOD_PATH)], 1.0), "queue is -1"),
    "an endless run": (([FluidLink(1.0)], [tcp(GOOD_PATH)], math.inf), "duration is inf"),
    "a round trip of NaN": (
        ([FluidLink(1.0)], [tcp(FluidPath((0,), 0.0, math.nan))], 1.0),
        "paths[0].rtt is nan",
    ),
    "a loss of 1": (([FluidLink(1.0)], [tcp(FluidPath((0,), 0.0, 1.0, 1.0))], 1.0), "loss is 1"),
    "an unknown scheme": (([FluidLink(1.0)], [tcp(GOOD_PATH, "vegas")], 1.0), "'vegas'"),
    "a link that is not there": (([], [tcp(GOOD_PATH)], 1.0), "there are 0 links"),
    "no connection": (([FluidLink(1.0)], [], 1.0), "at least one"),
    "a size of NaN": (([FluidLink(1.0)], [tcp(GOOD_PATH, size=math.nan)], 1.0), "size is nan"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_argument_is_named(case):
    arguments, words = WRONG[case]
    with pytest.raises(ValueError, match=r".") as raised:
        run(*arguments)
    assert words in str(raised.value)


# Changes to the two links of scenarios/start, and the model's largest error.
NEAR = {
    "both links": ({}, 0.1),
    "tcp": ({"transport.protocol": "tcp"}, 0.05),
    "newreno under loss": (
        {"transport.protocol": "tcp", "transport.congestion": "newreno", "link.dsl.loss": "1 %"},
        0.15,
    ),
    "a window": ({"transport.protocol": "tcp", "transport.receive_buffer": "64 KiB"}, 0.05),
    "loss on both": ({"link.dsl.loss": "0.5 %", "link.cable.loss": "0.2 %"}, 0.2),
    "lia": ({"transport.congestion": "lia"}, 0.15),
    "a long run": ({"traffic.size": "200 MB", "duration": "20 s"}, 0.05),
}


@pytest.mark.parametrize("case", NEAR)
def test_it_is_near_the_simulator(two_links, case):
    changes, apart = NEAR[case]
    scenario = two_links.with_(changes)
    simulated = ropewalk.simulate(scenario, runs=6).mean["goodput_mbps"]
    assert fluid.run(scenario.setup)[0].goodput * 8e-6 == pytest.approx(simulated, rel=apart)


# With 4 MiB a run may stall for data dropped beyond the shared window, by chance.
@pytest.mark.parametrize(("buffer", "least"), [("256 KiB", 0.9), ("4 MiB", 0.75)])
def test_the_subset_of_links_that_it_chooses_is_a_good_one(buffer, least):
    train = ropewalk.Scenario.load("scenarios/trains/eight-links.toml").with_(
        {"duration": "10 s", "transport.receive_buffer": buffer, "transport.send_buffer": buffer}
    )
    prefixes = [train.with_({"transport.paths": train.links[:count]}) for count in range(1, 9)]
    predicted = [fluid.run(scenario.setup)[0].goodput for scenario in prefixes]
    simulated = [ropewalk.simulate(each).runs[0]["goodput_mbps"] for each in prefixes]
    assert simulated[predicted.index(max(predicted))] > least * max(simulated)
    assert max(simulated) > 1.1 * simulated[-1], "all eight are not the best here"
