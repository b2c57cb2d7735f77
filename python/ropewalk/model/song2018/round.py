"""One round of a striped TCP connection: equations (4) to (13) and (17).

Song et al. 2018, sections 4.1 and 4.3; see `ropewalk.model.song2018` for units and the reference.
All arguments broadcast. Common arguments:

- ``segments``: segments of the round, C, at least 1,
- ``arrival_s``, shape (..., m_ACK): arrival of its first m_ACK segments, D_i1 and so on, seconds,
- ``ack_every``: m_ACK.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ...support.optional_deps import require
from ..arguments import Floats, array, shared_shape, whole, wholes
from .arrival import with_links

ACK_EVERY = 2  # table 2 of the paper

LONGEST_RUN = 180  # in segments: the probability of a longer run is below the smallest double


def first_probability(segments: npt.ArrayLike) -> Floats:
    """Return P(F), the probability that the first segment of a round arrives first: (4).

    Examples
    --------
    >>> float(first_probability(4))
    0.25
    """
    return 1.0 / array("segments", segments, least=1)


def short_run_probability(count: npt.ArrayLike, segments: npt.ArrayLike) -> Floats:
    """Return the probability of fewer than k segments in order: equation (5).

    Given that the first one arrives first: P(m < k | F) = 1 - (C - k)! / (C - 1)!.

    Parameters
    ----------
    count : array_like of int
        Segments in order, k; the paper has m_ACK.

    Examples
    --------
    >>> float(short_run_probability(2, 3))
    0.5
    """
    return 1.0 - long_run_probability(count, segments)


def long_run_probability(count: npt.ArrayLike, segments: npt.ArrayLike) -> Floats:
    """Return the probability of at least k segments in order: equation (6).

    Given that the first one arrives first: P(m >= k | F) = (C - k)! / (C - 1)!, the product of 1 /
    (C - j) for j from 1 to k - 1. If C - j < 1, the factor is C - j itself, hence 0 from k = C +
    1.

    Parameters
    ----------
    count : array_like of int
        Segments in order, k; the paper has m_ACK.

    Examples
    --------
    >>> float(long_run_probability(2, 3))
    0.5
    """
    k, c = wholes("count", count), array("segments", segments, least=1)
    reach = np.ones(shared_shape(count=k, segments=c))
    for j in range(1, 1 + longest_run(int(np.max(k, initial=1)) - 1, c)):
        reach = np.where(j < k, reach * _next_in_order(c - j), reach)
    return reach[()]


def expected_time_first(arrival_s: npt.ArrayLike, segments: npt.ArrayLike) -> Floats:
    """Return E'(T), a round's time in seconds if the first segment arrives first: (7).

    Examples
    --------
    >>> round(float(expected_time_first([0.05, 0.06], 3)), 6)
    0.055
    """
    arrival, c = _arrivals(arrival_s, segments)
    return np.asarray((arrival * run_shares(arrival.shape[-1], c)).sum(axis=-1))[()]


def expected_acknowledged_first(segments: npt.ArrayLike, ack_every: int = ACK_EVERY) -> Floats:
    """Return E'(A), the segments acknowledged if the first arrives first: equation (8).

    The sum of (6) over k from 1 to m_ACK.

    Examples
    --------
    >>> float(expected_acknowledged_first(3))
    1.5
    """
    c = array("segments", segments, least=1)
    return acknowledged_first_mean(c, whole("ack_every", ack_every))


def acknowledged_probability(count: npt.ArrayLike, segments: npt.ArrayLike) -> Floats:
    """Return P(q = k | not F), the probability that k segments are acknowledged: (9).

    Given that the first one does not arrive first. For 1 < k < C the paper prints C - k - 1
    instead of its factorial: as printed, the probabilities for C = 8 sum to 0.69. Corrected, they
    are C / (C - 1) times 1/2 - 1/C for k = 1, 1 / (k (k + 1)) between, and 1/C for k = C.

    Parameters
    ----------
    count : array_like of int
        Segments acknowledged, k, from 1; beyond C the probability is 0.
    segments : array_like of int
        Segments of the round, C, at least 2.

    References
    ----------
    Song et al. 2018, equation (9), corrected.

    Examples
    --------
    >>> acknowledged_probability([1, 2, 3], 3).round(6).tolist()
    [0.25, 0.25, 0.5]
    >>> float(acknowledged_probability(range(1, 9), 8).sum())
    1.0
    """
    k, c = wholes("count", count), wholes("segments", segments, least=2)
    shared_shape(count=k, segments=c)
    at_random = np.where(k < c, 1 / (k * (k + 1)), np.where(k == c, 1 / c, 0.0))
    return np.asarray((at_random - np.where(k == 1, 1 / c, 0.0)) * c / (c - 1))[()]


def expected_time_not_first(arrival_s: npt.ArrayLike) -> Floats:
    """Return a round's time if the first segment does not arrive first: equation (10).

    Returns
    -------
    numpy.ndarray, shape (...)
        Seconds, E''(T) = D_i1: the first segment fills the gap before all others.

    Examples
    --------
    >>> float(expected_time_not_first([0.05, 0.06]))
    0.05
    """
    return _arrivals(arrival_s, 1.0)[0][..., 0]


def expected_acknowledged_not_first(segments: npt.ArrayLike) -> Floats:
    """Return E''(A), the segments acknowledged if the first does not arrive first: (11).

    (H(C) - 1/C) / (1 - 1/C) with the harmonic number H, and C below C = 2.

    References
    ----------
    Song et al. 2018, equation (11), with (9) corrected.

    Examples
    --------
    >>> round(float(expected_acknowledged_not_first(3)), 6)
    2.25
    """
    return acknowledged_not_first_mean(array("segments", segments, least=1))


def expected_time(arrival_s: npt.ArrayLike, segments: npt.ArrayLike) -> Floats:
    """Return E(T), the expected time of a round in seconds: equation (12).

    Examples
    --------
    >>> round(float(expected_time([0.05, 0.06], 3)), 6)
    0.051667
    """
    otherwise = expected_time_not_first(arrival_s)
    first = expected_time_first(arrival_s, segments)
    return otherwise + first_probability(segments) * (first - otherwise)


def expected_acknowledged(segments: npt.ArrayLike, ack_every: int = ACK_EVERY) -> Floats:
    """Return E(A), the expected segments acknowledged in a round: equation (13).

    The paper's F(C), the A of the next round.

    Examples
    --------
    >>> expected_acknowledged([1, 2, 3]).round(9).tolist()
    [1.0, 2.0, 2.0]
    """
    c = array("segments", segments, least=1)
    return acknowledged_mean(c, whole("ack_every", ack_every))


def expected_time_by_difference(arrival_s: npt.ArrayLike, segments: npt.ArrayLike) -> Floats:
    """Return E(T), in seconds, from arrival differences: equation (17).

    (12) with (7) and (10) inserted: D_i1 plus weighted differences to later arrivals.

    Examples
    --------
    >>> round(float(expected_time_by_difference([0.05, 0.06], 3)), 6)
    0.051667
    """
    arrival, c = _arrivals(arrival_s, segments)
    later = arrival - arrival[..., :1]
    shares = run_shares(arrival.shape[-1], c) / c[..., np.newaxis]
    time: Floats = arrival[..., 0] + (later * shares).sum(axis=-1)
    return time


def acknowledged_mean(segments: Floats, ack_every: int) -> Floats:
    """Return (13) for checked arguments."""
    otherwise = acknowledged_not_first_mean(segments)
    return otherwise + (acknowledged_first_mean(segments, ack_every) - otherwise) / segments


def acknowledged_first_mean(segments: Floats, ack_every: int) -> Floats:
    """Return (8) for checked arguments."""
    mean = reach = np.ones_like(segments)
    for k in range(1, longest_run(ack_every, segments)):
        reach = reach * _next_in_order(segments - k)
        mean = mean + reach
    return mean


def acknowledged_not_first_mean(segments: Floats) -> Floats:
    """Return (11) for checked arguments."""
    require("the model of Song et al. 2018", "scipy")
    from scipy.special import digamma

    c = np.maximum(segments, 2.0)
    mean: Floats = np.minimum(segments, (c * (digamma(c + 1) + np.euler_gamma) - 1) / (c - 1))
    return mean


def run_shares(ack_every: int, segments: Floats) -> Floats:
    """Return the probabilities of m = 1 to m_ACK - 1 and of m >= m_ACK, on a new last axis."""
    reach = np.zeros((*segments.shape, ack_every + 1))
    reach[..., 0] = 1.0
    for k in range(1, longest_run(ack_every, segments)):
        reach[..., k] = reach[..., k - 1] * _next_in_order(segments - k)
    return reach[..., :-1] - reach[..., 1:]


def longest_run(count: int, segments: Floats) -> int:
    """Return the largest possible number of segments in order, up to `count`."""
    return min(count, LONGEST_RUN, math.ceil(float(segments.max(initial=1.0))))


def _next_in_order(left: Floats) -> Floats:
    """Return the probability that the first of the remaining segments arrives first."""
    return np.minimum(np.maximum(left, 0.0), 1.0) / np.maximum(left, 1.0)


def _arrivals(arrival_s: npt.ArrayLike, segments: npt.ArrayLike) -> tuple[Floats, Floats]:
    arrival = with_links("arrival_s", arrival_s, least=0)
    c = array("segments", segments, least=1)
    shared_shape(arrival_s=arrival[..., 0], segments=c)
    return arrival, c
