"""Bounds (8) and (9) of Park et al. 2014 for measured scenarios, and causes of violations."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from ...model.park2014 import delay_of_elements, loss_delay, network_delay, send_delay
from .random_scenarios import Floats, MeasuredRun


class Bound(NamedTuple):
    """A way to compute the bound from measurements."""

    key: str
    name: str
    of: Callable[[MeasuredRun], float]


def send(run: MeasuredRun) -> float:
    """Return the send buffer delay (1); infinite if the windows do not carry the demand."""
    if run.carried.sum() <= run.case.demand:
        return math.inf
    return send_delay(run.carried, run.case.demand)


def of_elements(run: MeasuredRun) -> float:
    """Return (8) with (5) and (6) from measured round trips; infinite if (1) has no value."""
    if not math.isfinite(send(run)):
        return math.inf
    return delay_of_elements(send(run), run.rtt / 2, loss_delay(run.rtt, run.loss))


def of_rates(run: MeasuredRun, rates: Floats) -> float:
    """Return (9), with (4) at these rates; infinite if one reaches the capacity."""
    if not math.isfinite(send(run)) or (rates >= run.case.capacity).any():
        return math.inf
    network = network_delay(rates, run.case.capacity, run.case.rtt_min)
    return delay_of_elements(send(run), network, loss_delay(2 * network, run.loss))


MEASURED = Bound("bound_8_s", "(8), round trips measured", of_elements)
BOUNDS = (
    MEASURED,
    Bound("bound_9_sent_s", "(9), rates sent", lambda run: of_rates(run, run.rates)),
    Bound(
        "bound_9_windows_s",
        "(9), rates of windows",
        lambda run: of_rates(run, run.window_rates),
    ),
)


class Reason(NamedTuple):
    """A neglected effect, with its delay in seconds."""

    name: str
    why: str
    adds: Callable[[MeasuredRun], float]


# Effects in the order in which they are added to the bound.
REASONS = (
    Reason(
        "queues in the data's direction",
        (
            "(4) takes half the round trip as the one-way delay. Here the links queue data, not "
            "acknowledgements, so the one-way delay is the round trip less half its minimum."
        ),
        lambda run: float((run.rtt - run.case.rtt_min / 2).max() - (run.rtt / 2).max()),
    ),
    Reason(
        "waiting behind a lost packet",
        (
            "(6) counts a round trip for a lost packet. In-order delivery also delays all packets "
            "that arrive in that round trip, by half of it on average."
        ),
        lambda run: float((run.recoveries * run.rtt**2 / 2).sum()),
    ),
    Reason(
        "temporarily small windows",
        (
            "(1) assumes an M/M/1 queue, which serves at its mean rate at any time. Windows fall "
            "to a half or two thirds after a loss and take seconds to grow: meanwhile the send "
            "buffer fills. The added delay is that of a fluid drained by the windows."
        ),
        lambda run: run.backlog_s,
    ),
)
BEYOND = "not explained"


def passed_for(run: MeasuredRun) -> str | None:
    """Return the effects that must be added to (8) to cover the mean delay.

    None if no effect is needed, or if the windows do not carry the demand.
    """
    bound = of_elements(run)
    if run.delay_s["mean"] <= bound:
        return None
    for reason in REASONS:
        bound += reason.adds(run)
        if run.delay_s["mean"] <= bound:
            return reason.name
    return BEYOND
