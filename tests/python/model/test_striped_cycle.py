"""Cycle of a striped connection compared with the simulator, which shares no code with it."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ropewalk
from ropewalk.model.striped_cycle import Transfer, rule_of_thumb, transfer
from ropewalk.model.striped_cycle.links import LinkSelector, StripedLinks
from ropewalk.model.striped_cycle.parameters import Parameters
from ropewalk.model.striped_cycle.recursion import Recursion

MBPS = [35.9, 18.4, 33.3, 14.7, 14.8, 4.4, 22.5, 12.5]  # song-2018, section 5.1.3
TRANSFER = 750 * 536  # whole segments, as in the model
LINK = """
[[link]]
name = "l{number}"
rate = "{rate} Mbit/s"
delay = "{delay} us"
queue = "100000 packets"
reverse = {{ rate = "{back}", delay = "{back_delay} us" }}
"""


def simulated(delays_us: list[int], *, acks_return_at_once: bool = True, **keys: Any) -> Any:
    """Simulate a transfer over the first links of the paper."""
    links = [
        LINK.format(
            number=number,
            rate=rate,
            delay=delay,
            back="unlimited" if acks_return_at_once else f"{rate} Mbit/s",
            back_delay=0 if acks_return_at_once else delay,
        )
        for number, (rate, delay) in enumerate(zip(MBPS, delays_us, strict=False))
    ]
    scenario = ropewalk.Scenario(
        f"""
        duration = "1000 s"
        {"".join(links)}
        [transport]
        protocol = "striped-tcp"
        profile = "ns-3"
        scheduler = "round-robin"
        segment = "536 B"
        initial_window = "536 B"
        initial_ssthresh = "65535 B"
        receive_buffer = "100 MB"
        send_buffer = "100 MB"
        [traffic]
        kind = "bulk"
        size = "{TRANSFER} B"
        """
    )
    return ropewalk.simulate(scenario.with_({f"transport.{k}": v for k, v in keys.items()})).mean


def predicted(delays_us: list[int], **options: Any) -> Transfer:
    rates = np.array(MBPS[: len(delays_us)]) * 1e6 / 8
    delays = np.array(delays_us) * 1e-6
    return transfer(rates, delays, transfer_bytes=TRANSFER, **options)


DELAYS = st.lists(st.integers(2_000, 200_000), min_size=2, max_size=8)


# The FIN, absent in the model, may cause a further final acknowledgement. With SACK this rarely
# matters, and in no generated case.
WITHIN = {True: {"abs": 2e-6}, False: {"rel": 0.01}}


@settings(max_examples=60, deadline=None)
@given(delays=DELAYS, sack=st.booleans())
def test_it_is_the_simulator_but_for_the_end(delays: list[int], sack: bool) -> None:
    mean, model = simulated(delays, sack=sack), predicted(delays, sack=sack)
    end = 2 * max(delays) * 1e-6
    assert model.time_s == pytest.approx(mean["completion_s"], rel=0.005, abs=end)


def test_it_is_the_simulator_to_the_packet_with_sack() -> None:
    draw = np.random.default_rng(6)
    for _ in range(40):
        delays = draw.integers(5_000, 200_000, draw.integers(2, 9)).tolist()
        mean, model = simulated(delays), predicted(delays)
        subflow = mean["subflows"][0]
        assert subflow["timeouts"] == 0
        assert model.recoveries == subflow["fast_recoveries"]
        assert model.retransmissions == subflow["retransmissions"]
        assert model.time_s == pytest.approx(mean["completion_s"], **WITHIN[True])


@pytest.mark.parametrize("sack", [True, False])
@pytest.mark.parametrize(
    ("keys", "options"),
    [
        (
            {"halve_pipe": False, "byte_counting": True},
            {"halve_pipe": False, "byte_counting": True},
        ),
        ({"limited_transmit": False}, {"limited_transmit": False}),
        ({"delayed_ack": 1}, {"ack_every": 1}),
        ({"prr": True}, {"prr": True}),
        ({"grow_in_disorder": True}, {"grow_in_disorder": True}),
        ({"quick_ack": True}, {"quick_acks": 16}),
        ({"scheduler": "weighted"}, {"weighted": True}),
        ({"receive_buffer": "4288 B"}, {"window_bytes": 4288}),
    ],
)
def test_options_match_the_keys(keys: dict[str, Any], options: dict[str, Any], sack: bool) -> None:
    draw = np.random.default_rng(7)
    for count in (2, 3, 5, 8):
        delays = draw.integers(5_000, 120_000, count).tolist()
        mean = simulated(delays, sack=sack, **keys)
        model = predicted(delays, sack=sack, **options)
        assert model.time_s == pytest.approx(mean["completion_s"], **WITHIN[sack])


@pytest.mark.parametrize("sack", [True, False])
def test_acknowledgements_may_overtake_each_other(sack: bool) -> None:
    draw = np.random.default_rng(8)
    for count in (2, 4, 8):
        delays = draw.integers(5_000, 120_000, count).tolist()
        mean = simulated(delays, acks_return_at_once=False, sack=sack)
        back = {
            "return_byte_rate": np.array(MBPS[:count]) * 1e6 / 8,
            "return_delay_s": np.array(delays) * 1e-6,
        }
        model = predicted(delays, sack=sack, **back)
        assert model.time_s == pytest.approx(mean["completion_s"], **WITHIN[sack])


@settings(max_examples=30, deadline=None)
@given(delays=DELAYS, sack=st.booleans(), periods=st.integers(1, 50))
def test_omitted_periods_equal_simulated_ones(delays: list[int], sack: bool, periods: int) -> None:
    rates = np.array(MBPS[: len(delays)]) * 1e6 / 8
    seconds = np.array(delays) * 1e-6
    segments = 4000
    short = transfer(rates, seconds, transfer_bytes=segments * 536, sack=sack)
    if short.cycle is None:
        return
    more = segments + periods * short.cycle.segments
    long = transfer(rates, seconds, transfer_bytes=more * 536, sack=sack)
    assert long.time_s - short.time_s == pytest.approx(periods * short.cycle.period_s, abs=1e-6)
    assert long.recoveries - short.recoveries == periods * short.cycle.recoveries
    assert long.retransmissions - short.retransmissions == periods * short.cycle.retransmissions


@settings(max_examples=30, deadline=None)
@given(delays=DELAYS, sack=st.booleans())
def test_periods_left_out_change_nothing(delays: list[int], sack: bool) -> None:
    """Compares with the same recursion for each packet."""
    whole = predicted(delays, sack=sack)
    turns = LinkSelector(len(delays))
    parameters = Parameters(
        segment=536,
        headers=80,
        initial_window=536,
        ssthresh=65_535,
        window_segments=2**62,
        ack_every=2,
        ack_delay=200_000_000,
        sack=sack,
        limited_transmit=True,
        halve_pipe=True,
        byte_counting=False,
        prr=False,
        grow_in_disorder=False,
        quick_acks=0,
    )
    there = StripedLinks(
        [8e3 / rate for rate in MBPS[: len(delays)]], [d * 1000 for d in delays], turns
    )
    back = StripedLinks([0.0] * len(delays), [0] * len(delays), replace(turns))
    recursion = Recursion(parameters, there, back)
    assert not recursion.run(math.ceil(TRANSFER / 536), 2**62, lambda: False)
    assert whole.time_s == pytest.approx(recursion.now / 1e9, abs=1e-6)
    assert whole.recoveries == recursion.sender.recoveries


@settings(max_examples=30, deadline=None)
@given(delays=DELAYS, share=st.floats(0.1, 0.99))
def test_a_duration_ends_it(delays: list[int], share: float) -> None:
    whole = predicted(delays)
    part = predicted(delays, duration_s=share * whole.time_s)
    assert 0 < part.time_s <= share * whole.time_s
    assert part.segments < whole.segments
    exactly = transfer(
        np.array(MBPS[: len(delays)]) * 1e6 / 8,
        np.array(delays) * 1e-6,
        transfer_bytes=part.segments * 536,
    )
    assert exactly.time_s <= share * whole.time_s + 0.2  # a final delayed acknowledgement


def test_equal_delays_fill_links_and_report_backlog() -> None:
    equal = transfer([1e6, 1e6], [0.03, 0.03], transfer_bytes=1e7, ssthresh_bytes=math.inf)
    assert equal.recoveries == 0
    assert 1e7 / equal.time_s > 0.9 * 2e6 * 536 / 616
    assert min(equal.queue_bytes) > 10_000


def test_the_rule_of_thumb_is_near_where_delays_differ_much() -> None:
    draw = np.random.default_rng(9)
    accuracies = []
    for _ in range(40):
        delays = draw.lognormal(np.log(0.05), 0.4, 6)
        model = transfer(np.array(MBPS[:6]) * 1e6 / 8, delays)
        accuracies.append(1 - abs(rule_of_thumb(delays) * model.time_s / 1e6 - 1))
    assert np.mean(accuracies) > 0.8


def test_a_longest_silence_warns_of_a_timer() -> None:
    assert transfer([1e6, 1e6], [0.01, 1.5]).longest_silence_s > 1


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        (([0, 1e6], [0.1, 0.1]), r"byte_rate\[0\] is 0: .* above 0"),
        (([1e6, math.nan], [0.1, 0.1]), r"byte_rate\[1\] is nan"),
        (([1e6, 1e6], [0.1, -0.1]), r"delay_s\[1\] is -0.1: .* at least 0"),
        (([1e6, 1e6], [0.1, 0.1, 0.1]), r"delay_s has 3 entries: must have 2"),
        (([1e6, math.inf], [0.1, 0.1]), r"byte_rate\[1\] is inf"),
    ],
)
def test_wrong_links_are_refused(arguments: tuple[Any, Any], wrong: str) -> None:
    with pytest.raises(ValueError, match=wrong):
        transfer(*arguments)


@pytest.mark.parametrize(
    ("options", "wrong"),
    [
        ({"transfer_bytes": 0}, "transfer_bytes is 0"),
        ({"transfer_bytes": 1e12}, "10000000 segments"),
        ({"ack_every": 0}, "ack_every is 0"),
        ({"initial_window_bytes": 100}, "initial_window_bytes is 100"),
        ({"window_bytes": 100}, "window_bytes is 100"),
        ({"ssthresh_bytes": math.nan}, "ssthresh_bytes is nan"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], wrong: str) -> None:
    with pytest.raises(ValueError, match=wrong):
        transfer([1e6], [0.1], **options)


def test_forty_links_are_no_more_than_two() -> None:
    many = transfer([1e6] * 40, np.linspace(0.01, 0.2, 40))
    assert many.cycle is not None
