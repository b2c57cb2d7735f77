"""Song et al. 2018, equations (1) to (18): closed forms against sums, orders and loops."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...analysis.reproduction import ComparedValue, Reproduction
from ...model import song2018 as model
from ..checks import Check, reproduction
from ..published import published
from . import orders

SUMS = range(3, 13)  # C of the printed sums
ORDERS = range(2, 8)  # segments C in a round; all their orders of arrival are enumerated
ACK_EVERY = (2, 3)  # m_ACK
ENUMERATED = "all orders of arrival, C = 2 to 7"
SUMMED = "the printed sum, C = 3 to 12"
PRINTED_AT = 8  # C of the probabilities (9) as printed
TRANSFER_BYTES = 100e3


def reproduce() -> Reproduction:
    """Check each equation against an independent computation."""
    facts = published("song-2018")["fig6"]
    rates = np.array(facts["link_rate_mbps"][:4]) * 1e6 / 8
    delays = np.random.default_rng(1).uniform(0.02, 0.2, size=4)
    return reproduction(
        "song-2018",
        "Song et al. 2018, equations (1) to (18)",
        [
            *_arrivals(rates, delays),
            *_first(),
            *_not_first(),
            *_rounds(facts),
            *_asymmetries(rates, delays),
            _throughput(facts, rates, delays),
        ],
        _sums_of_nine(),
    )


def _arrivals(rates: np.ndarray, delays: np.ndarray) -> list[Check]:
    """Check (1) to (3) and (18) by dealing segments to links one by one."""
    before, links, segment = 6, len(rates), 536
    free = [0.0] * links
    turns, arrivals = [], []
    for number in range(before, before + 3 * links):
        link = number % links
        free[link] += segment / rates[link]
        turns.append(link + 1)
        arrivals.append(free[link] + delays[link])
    places = np.arange(1, len(turns) + 1)
    ours = model.arrival_time(places, before, rates, delays, segment_bytes=segment)
    printed = places % links > 0  # (3) counts one segment too many for each n-th
    return [
        Check("(1)", "C", "A and the window's growth", model.segments_sent(2, 1), 2 + 1),
        Check("(2)", "link in turn", "segments dealt one by one",
              model.link_in_turn(places, before, links), turns),
        Check("(3)", "arrival but of each n-th segment", "a queue at each link",
              ours[printed], np.array(arrivals)[printed]),
        Check("(18)", "D_k - D_1", "the difference of (3)",
              model.arrival_difference(places, before, rates, delays, segment_bytes=segment),
              ours - ours[0]),
    ]  # fmt: skip


def _first() -> list[Check]:
    """Check (4) to (8), the rounds in which the first segment arrives first."""
    summed = [(c, k) for c in SUMS for k in ACK_EVERY]
    counted = [(c, k) for c in ORDERS for k in ACK_EVERY if k <= c]
    arrival = {k: np.linspace(0.05, 0.09, k) for k in ACK_EVERY}
    short = [math.fsum(orders.printed_run(j, c) for j in range(1, k)) for c, k in summed]
    runs = {(c, k): [*(orders.printed_run(j, c) for j in range(1, k)),
                     orders.printed_long_run(k, c)] for c, k in summed}  # fmt: skip
    time = [float(arrival[k] @ runs[c, k]) for c, k in summed]
    count = [float(np.arange(1, k + 1) @ runs[c, k]) for c, k in summed]
    by: list[tuple[str, str, Any, list[float], Any]] = [
        ("(5)", "P(m < m_ACK given F)", model.short_run_probability, short,
           lambda c, k: orders.share(c, True, range(1, k))),
          ("(6)", "P(m >= m_ACK given F)", model.long_run_probability,
           [orders.printed_long_run(k, c) for c, k in summed],
           lambda c, k: orders.share(c, True, range(k, c + 1))),
          ("(7)", "E'(T)", lambda k, c: model.expected_time_first(arrival[k], c), time,
           lambda c, k: orders.mean_time(arrival[k], c, True)),
          ("(8)", "E'(A)", lambda k, c: model.expected_acknowledged_first(c, k), count,
           lambda c, k: orders.mean_acknowledged(c, k, True))]  # fmt: skip
    shares = [sum(each.first for each in orders.rounds(c)) for c in ORDERS]
    of_all = [count / math.factorial(c) for count, c in zip(shares, ORDERS, strict=True)]
    checks = [Check("(4)", "P(F)", ENUMERATED, model.first_probability(list(ORDERS)), of_all)]
    for number, name, ours, printed, enumerated in by:
        checks += [
            Check(number, name, SUMMED, [ours(k, c) for c, k in summed], printed),
            Check(number, name, ENUMERATED, [ours(k, c) for c, k in counted],
                  [enumerated(c, k) for c, k in counted]),
        ]  # fmt: skip
    return checks


def _not_first() -> list[Check]:
    """Check (9) to (11), the other rounds."""
    cases = [(k, c) for c in ORDERS for k in range(1, c + 1)]
    summed = [(k, c) for c in SUMS for k in range(1, c + 1)]
    means = [math.fsum(k * orders.printed_acknowledged(k, c) for k in range(1, c + 1))
             for c in SUMS]  # fmt: skip
    arrival = [0.05, 0.06]
    ours = [model.acknowledged_probability(k, c) for k, c in cases]
    return [
        Check("(9)", "P(q = k given not F)", f"{SUMMED}, with the factorial of C - k - 1",
              [model.acknowledged_probability(k, c) for k, c in summed],
              [orders.printed_acknowledged(k, c) for k, c in summed]),
        Check("(9)", "P(q = k given not F)", ENUMERATED, ours,
              [orders.share(c, False, range(k, k + 1)) for k, c in cases]),
        Check("(10)", "E''(T)", ENUMERATED, model.expected_time_not_first(arrival),
              [orders.mean_time(arrival, c, False) for c in ORDERS]),
        Check("(11)", "E''(A)", f"{SUMMED}, with the factorial of C - k - 1",
              model.expected_acknowledged_not_first(list(SUMS)), means),
        Check("(11)", "E''(A)", ENUMERATED, model.expected_acknowledged_not_first(list(ORDERS)),
              [orders.mean_acknowledged(c, 2, False) for c in ORDERS]),
    ]  # fmt: skip


def _rounds(facts: dict[str, float]) -> list[Check]:
    """Check (12) to (17): the expected round, and the recursion of windows and segments."""
    cases = [(c, k) for c in ORDERS for k in ACK_EVERY if k <= c]
    arrival = {k: np.linspace(0.09, 0.05, k) for k in ACK_EVERY}
    time = [orders.mean_time(arrival[k], c) for c, k in cases]
    acknowledged = [orders.mean_acknowledged(c, k) for c, k in cases]
    segment = facts["segment_bytes"]
    first = facts["initial_window_bytes"] / segment
    slow_start = facts["slow_start_threshold_bytes"] / segment - first
    windows = [first]
    while len(windows) < 2 * slow_start:
        windows.append(windows[-1] + (1 if len(windows) < slow_start else 1 / windows[-1]))
    found = model.transfer_rounds(2e6).window[: len(windows)]
    growth = [(1, 1.0), (122, 1 / 122)]
    rounds = range(1, len(windows))
    started = model.slow_start_rounds(facts["slow_start_threshold_bytes"] / segment, first)
    return [
        Check("(12)", "E(T)", ENUMERATED,
              [model.expected_time(arrival[k], c) for c, k in cases], time),
        Check("(13)", "E(A)", ENUMERATED,
              [model.expected_acknowledged(c, k) for c, k in cases], acknowledged),
        Check("(14)", "rounds of slow start", "the whole rounds of a loop",
              np.ceil(started), 1 + sum(after - w == 1 for w, after in
                                        itertools.pairwise(windows))),
        Check("(15)", "w", "a loop over the rounds",
              [found[1:], model.next_window(windows[:-1], list(rounds), started)], windows[1:]),
        Check("(16)", "C", f"{ENUMERATED}, and the window's growth",
              [model.next_segments(c, w, w, started, k) for w, _ in growth for c, k in cases],
              [a + more for _, more in growth for a in acknowledged]),
        Check("(17)", "E(T) by differences", ENUMERATED,
              [model.expected_time_by_difference(arrival[k], c) for c, k in cases], time),
    ]  # fmt: skip


def _asymmetries(rates: np.ndarray, delays: np.ndarray) -> list[Check]:
    def of_pairs(values: np.ndarray) -> float:
        pairs = [abs(a - b) for place, a in enumerate(values) for b in values[:place]]
        return math.fsum(pairs) / len(pairs)

    return [
        Check("4.3", "average delay asymmetry", "all pairs",
              model.average_delay_asymmetry(delays), of_pairs(delays)),
        Check("4.3", "average bandwidth asymmetry", "all pairs",
              model.average_bandwidth_asymmetry(rates), of_pairs(rates)),
        Check("5.1.4", "prediction accuracy", "its definition",
              model.prediction_accuracy([9.0, 12.0], 10.0), [1 - 1 / 10, 1 - 2 / 10]),
    ]  # fmt: skip


def _throughput(facts: dict[str, float], rates: np.ndarray, delays: np.ndarray) -> Check:
    """Check steps 1 to 6 for two to four links; all rounds of the loop are whole."""
    segment, every = facts["segment_bytes"], facts["ack_every_segments"]

    def loop(links: int) -> float:
        sent, total, count = 0.0, 0.0, facts["initial_window_bytes"] / segment
        while sent * segment < TRANSFER_BYTES:
            arrival = [
                (place // links + 1) * segment / rates[link] + delays[link]
                for place in range(1, int(every) + 1)
                for link in [(place - 1 + int(sent)) % links]
            ]
            total += orders.mean_time(arrival, int(count))
            sent += count
            count = orders.mean_acknowledged(int(count), int(every)) + 1
        return TRANSFER_BYTES / total

    ours = [model.throughput(rates[:n], delays[:n], transfer_bytes=TRANSFER_BYTES)
            for n in (2, 3, 4)]  # fmt: skip
    return Check("4.2", "average throughput", "steps 1 to 6 with all orders of each round", ours,
                 [loop(n) for n in (2, 3, 4)])  # fmt: skip


def _sums_of_nine() -> Sequence[ComparedValue]:
    """Return the sum of the probabilities (9), corrected and as printed."""
    counts = range(1, PRINTED_AT + 1)
    corrected = float(model.acknowledged_probability(list(counts), PRINTED_AT).sum())
    printed = math.fsum(
        orders.printed_acknowledged(k, PRINTED_AT, corrected=False) for k in counts
    )
    reason = (
        "For 1 < k < C the paper prints the factor C - k - 1 itself. The number of orders needs "
        "its factorial. With it the probabilities sum to 1, and agree with an enumeration."
    )
    name = f"(9) sum of the probabilities, C = {PRINTED_AT}"
    return (
        ComparedValue(name, corrected, published=1, digits=9, band=(1 - 1e-9, 1 + 1e-9)),
        ComparedValue(f"{name}, factor as printed", printed, digits=3, reason=reason),
    )
