"""Rounds of Song et al. 2018 without closed forms: printed sums, and all orders of arrival."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Round(NamedTuple):
    """One order of arrival of a round's segments.

    Attributes
    ----------
    first : bool
        Whether the first segment arrives first.
    acknowledged : int
        Segments in order when the acknowledgement is sent: m or q, without the limit m_ACK.
    """

    first: bool
    acknowledged: int


@cache
def rounds(segments: int) -> tuple[Round, ...]:
    """Return the rounds of all orders in which `segments` segments can arrive.

    Examples
    --------
    >>> rounds(2)
    (Round(first=True, acknowledged=2), Round(first=False, acknowledged=2))
    """
    return tuple(map(_round, itertools.permutations(range(1, segments + 1))))


def _round(order: Sequence[int]) -> Round:
    if order[0] == 1:
        run = next((place for place, each in enumerate(order) if each != place + 1), len(order))
        return Round(True, run)
    arrived = set(order[: order.index(1) + 1])
    return Round(False, next(k for k in range(1, len(order) + 1) if k + 1 not in arrived))


def share(segments: int, first: bool, runs: Iterator[int] | range) -> float:
    """Return the share of rounds with such a number acknowledged, of those with this `first`."""
    wanted = set(runs)
    found = [each.acknowledged in wanted for each in rounds(segments) if each.first is first]
    return sum(found) / len(found)


def mean_time(
    arrival_s: Sequence[float] | NDArray[np.float64], segments: int, first: bool | None = None
) -> float:
    """Return the mean time of the rounds with this `first`, or of all.

    `arrival_s` has D_i1 to D_im, m = m_ACK.
    """
    times = [
        arrival_s[min(each.acknowledged, len(arrival_s)) - 1] if each.first else arrival_s[0]
        for each in rounds(segments)
        if first in (None, each.first)
    ]
    return math.fsum(times) / len(times)


def mean_acknowledged(segments: int, ack_every: int, first: bool | None = None) -> float:
    """Return the mean number acknowledged in the rounds with this `first`, or in all."""
    counts = [
        min(each.acknowledged, ack_every) if each.first else each.acknowledged
        for each in rounds(segments)
        if first in (None, each.first)
    ]
    return sum(counts) / len(counts)


def printed_run(count: int, segments: int) -> float:
    """Return the printed summand of (5) to (8): P(m = k | F)."""
    left = segments - count - 1
    return left * math.factorial(left) / math.factorial(segments - 1)


def printed_long_run(count: int, segments: int) -> float:
    """Return the printed sum (6)."""
    tail = math.fsum(printed_run(k, segments) for k in range(count, segments - 1))
    return 1 / math.factorial(segments - 1) + tail


def printed_acknowledged(count: int, segments: int, *, corrected: bool = True) -> float:
    """Return (9): with the factorial of C - k - 1, or as printed, without it."""
    c, k = segments, count
    cases = math.factorial(c) - math.factorial(c - 1)
    if k == 1:
        return (c - 2) * math.factorial(c - 1) / (2 * cases)
    if k == c:
        return math.factorial(c - 1) / cases
    factor = math.factorial(c - k - 1) if corrected else c - k - 1
    orders = sum(
        math.factorial(place - 2) // math.factorial(place - k - 1) * (c - place + 1)
        for place in range(k + 1, c + 1)
    )
    return factor * orders / cases
