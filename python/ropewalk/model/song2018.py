"""The throughput of one TCP connection striped packet by packet over n links.

The model of Song et al. [1]_, one equation a function. TCP NewReno sends in
rounds; a round begins with an acknowledgement of new data and sends C segments
over the links in turn, and ends when the next such acknowledgement returns. The
order in which the segments of a round arrive is taken to be uniformly random.

Quantities are in bytes, seconds and bytes per second, so the equations need no
factors; a rate of 100 kbit/s is 12 500. Links lie on the last axis, scenarios on
the axes before it, and all arguments broadcast. A single scenario gives a NumPy
number, several give an array.

Equations (1) to (18) are numbered as section 4 cites them. Section 6 also counts
the three steps of the iteration that have a formula, so that (17) and (18) are
its (20) and (21). The paper prints sums over factorials; here are their closed
forms, which also take the C that is not whole that the recursion (16) gives. They
hold from C = 2; below it, as in a first round of one segment, no more is
acknowledged than was sent.

Left out of the model, and so of its predictions: losses, retransmissions that
reordering sets off, the return path's delay, and what earlier rounds left in the
links' queues. A prediction can therefore exceed the sum of the rates. On fast links
it stays far below: a round waits for the one before, and with table 2 it settles at
three segments in slow start and towards two after it, whatever the links can carry.

References
----------
.. [1] J. Song, P. Dong, H. Zhou, T. Zheng, X. Du, M. Guizani, "A Performance
   Analysis Model of TCP over Multiple Heterogeneous Paths for 5G Mobile
   Services", Sustainability 10(5), 1337, 2018. doi:10.3390/su10051337
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from .arguments import Floats, array, choice, number, shared_shape, whole, wholes
from .song2018_round import (
    ACK_EVERY,
    ROUNDING,
    SEGMENT_BYTES,
    Queue,
    acknowledged_mean,
    acknowledged_probability,
    arrival_difference,
    arrival_time,
    expected_acknowledged,
    expected_acknowledged_first,
    expected_acknowledged_not_first,
    expected_time,
    expected_time_by_difference,
    expected_time_first,
    expected_time_not_first,
    first_probability,
    link_in_turn,
    links_of,
    long_run_probability,
    longest_run,
    run_shares,
    segment_times,
    segments_sent,
    short_run_probability,
    with_links,
)

__all__ = [
    "ACK_EVERY",
    "INITIAL_WINDOW_BYTES",
    "MAX_SEGMENTS",
    "SEGMENT_BYTES",
    "SSTHRESH_BYTES",
    "Queue",
    "Rounds",
    "Spread",
    "Start",
    "acknowledged_probability",
    "arrival_difference",
    "arrival_time",
    "average_bandwidth_asymmetry",
    "average_delay_asymmetry",
    "expected_acknowledged",
    "expected_acknowledged_first",
    "expected_acknowledged_not_first",
    "expected_time",
    "expected_time_by_difference",
    "expected_time_first",
    "expected_time_not_first",
    "first_probability",
    "link_in_turn",
    "long_run_probability",
    "next_segments",
    "next_window",
    "prediction_accuracy",
    "segments_sent",
    "short_run_probability",
    "slow_start_rounds",
    "throughput",
    "transfer_rounds",
    "transfer_time",
    "with_asymmetry",
]

Start: TypeAlias = Literal["in turn", "uniform"]
Spread: TypeAlias = Literal["even", "one high", "one low"]

# Table 2 of the paper.
INITIAL_WINDOW_BYTES = 536.0
SSTHRESH_BYTES = 65_535.0

MAX_SEGMENTS = 1_000_000  # of a transfer: its rounds are counted one by one, some 10 s for as many


class Rounds(NamedTuple):
    """What the sender does in each round of a transfer.

    Attributes
    ----------
    window : numpy.ndarray, shape (rounds,)
        Congestion window w_i, in segments.
    segments : numpy.ndarray, shape (rounds,)
        Segments sent, C_i.
    """

    window: Floats
    segments: Floats


def throughput(
    byte_rate: npt.ArrayLike,
    delay_s: npt.ArrayLike,
    *,
    transfer_bytes: npt.ArrayLike = 1e6,
    segment_bytes: float = SEGMENT_BYTES,
    initial_window_bytes: float = INITIAL_WINDOW_BYTES,
    ssthresh_bytes: float = SSTHRESH_BYTES,
    ack_every: int = ACK_EVERY,
    queue: Queue = "printed",
    start: Start = "in turn",
) -> Floats:
    """Predict the average throughput: section 4.2, step 6.

    The transfer's size over the sum of E(T_i). The rounds are the same whatever
    the links are, so a scenario costs two products of its links' delays and
    rates with weights that are computed once.

    Parameters
    ----------
    byte_rate : array_like, shape (..., n)
        Rate of each link, bytes per second.
    delay_s : array_like, shape (..., n)
        Round-trip propagation delay of each link, seconds; the model has it all
        on the way of the data.
    transfer_bytes : array_like, shape (...)
        Bytes transferred, E. The paper does not state it. The default is past
        slow start and short enough for slow start to be seen.
    segment_bytes, initial_window_bytes, ssthresh_bytes : float
        Segment, initial window and slow-start threshold; the paper's table 2.
    ack_every : int
        The receiver acknowledges every so many segments in order, m_ACK.
    queue : {"printed", "own"}
        What a segment waits for at its link, see `arrival_time`.
    start : {"in turn", "uniform"}
        Which link carries a round's first segment: the next in turn by (2), or
        any with the same probability, as section 4.3 has it for many rounds.

    Returns
    -------
    numpy.ndarray, shape (...)
        Bytes per second.

    Raises
    ------
    ValueError
        An argument is not a finite number of the sign it must have, the shapes
        do not broadcast, or the transfer has more than a million segments.

    Notes
    -----
    Against the figures that the paper's section 6 states, whose transfer and spread
    of the links (see `with_asymmetry`) are not known:

    - Figure 10, the average delay asymmetry at which four links give what one
      gives: 35.6 ms with a minimum delay of 5 ms, 30.6 ms with 50 ms. Here it is
      33.6 ms for 100 kB and 41.5 ms for 1 MB spread "one low", 55.7 and 69.3 ms
      spread "even", and the same for each minimum: the rounds do not depend on the
      links, so a delay that is added to all of them prolongs a transfer over any
      number of links alike. The equations cannot give two thresholds.
    - Figure 9, four links, from no asymmetry to the most: delays make the throughput
      2.8 times lower. Here it is 2.60 times with delays and rates spread "even",
      2.76 with rates "one low". Rates make it 1.8 times lower there, but 1.55 and
      1.61 times higher here: with the least rate held, rates that differ more are
      higher ones.

    References
    ----------
    Song et al. 2018, section 4.2, steps 1 to 6.

    Examples
    --------
    The lower left corner of figure 9, 100 kbit/s and 5 ms, for one and four links:

    >>> one = throughput([12_500.0], [0.005])
    >>> four = throughput([12_500.0] * 4, [0.005] * 4)
    >>> print(f"{one * 8e-3:.1f} and {four * 8e-3:.1f} kbit/s")
    83.4 and 191.6 kbit/s
    """
    transfer = array("transfer_bytes", transfer_bytes, above=0)
    time = transfer_time(
        byte_rate,
        delay_s,
        transfer_bytes=transfer,
        segment_bytes=segment_bytes,
        initial_window_bytes=initial_window_bytes,
        ssthresh_bytes=ssthresh_bytes,
        ack_every=ack_every,
        queue=queue,
        start=start,
    )
    return transfer / time


def transfer_time(
    byte_rate: npt.ArrayLike,
    delay_s: npt.ArrayLike,
    *,
    transfer_bytes: npt.ArrayLike = 1e6,
    segment_bytes: float = SEGMENT_BYTES,
    initial_window_bytes: float = INITIAL_WINDOW_BYTES,
    ssthresh_bytes: float = SSTHRESH_BYTES,
    ack_every: int = ACK_EVERY,
    queue: Queue = "printed",
    start: Start = "in turn",
) -> Floats:
    """Return the sum of E(T_i) over the rounds of a transfer: section 4.2, step 5.

    Parameters
    ----------
    byte_rate, delay_s, transfer_bytes
        As in `throughput`.
    segment_bytes, initial_window_bytes, ssthresh_bytes, ack_every, queue, start
        As in `throughput`.

    Returns
    -------
    numpy.ndarray, shape (...)
        Seconds.

    Raises
    ------
    ValueError
        As `throughput`.

    References
    ----------
    Song et al. 2018, section 4.2, step 5.

    Examples
    --------
    A first round of one segment: one segment time and the delay.

    >>> round(float(transfer_time([5360.0] * 2, [0.005] * 2, transfer_bytes=536)), 9)
    0.105
    """
    rate, delay = links_of(byte_rate, delay_s)
    transfer = array("transfer_bytes", transfer_bytes, above=0)
    segment = number("segment_bytes", segment_bytes, above=0)
    choice("queue", queue, ("printed", "own"))
    choice("start", start, ("in turn", "uniform"))
    shared_shape(byte_rate=rate[..., 0], delay_s=delay[..., 0], transfer_bytes=transfer)
    rounds = transfer_rounds(
        float(np.max(transfer, initial=segment)),
        segment_bytes=segment,
        initial_window_bytes=initial_window_bytes,
        ssthresh_bytes=ssthresh_bytes,
        ack_every=ack_every,
    )
    last = np.searchsorted(np.cumsum(rounds.segments), transfer / segment - ROUNDING)
    ends, which = np.unique(np.append(last, 0), return_inverse=True)  # there may be no scenario
    which = which[:-1].reshape(last.shape)
    services, visits = _weights(rounds.segments, ends, rate.shape[-1], ack_every, queue, start)
    waiting = np.einsum("...n,...n->...", segment / rate, services[which])
    return np.asarray(waiting + np.einsum("...n,...n->...", delay, visits[which]))[()]


def transfer_rounds(
    transfer_bytes: float,
    *,
    segment_bytes: float = SEGMENT_BYTES,
    initial_window_bytes: float = INITIAL_WINDOW_BYTES,
    ssthresh_bytes: float = SSTHRESH_BYTES,
    ack_every: int = ACK_EVERY,
) -> Rounds:
    """Return the window and the segments of each round: section 4.2, steps 1 to 4.

    By (15) and (16), until what was sent reaches the transfer's size. The links
    play no part in it.

    Parameters
    ----------
    transfer_bytes : float
        Bytes transferred, E.
    segment_bytes, initial_window_bytes, ssthresh_bytes, ack_every
        As in `throughput`.

    Returns
    -------
    Rounds
        w_i and C_i.

    Raises
    ------
    ValueError
        An argument is not a finite number above zero, the initial window is
        below a segment, or the transfer has more than a million segments.

    References
    ----------
    Song et al. 2018, section 4.2, steps 1 to 4.

    Examples
    --------
    With the paper's table 2, slow start settles at three segments a round:

    >>> transfer_rounds(10 * 536).segments.tolist()
    [1.0, 2.0, 3.0, 3.0, 3.0]
    """
    transfer = number("transfer_bytes", transfer_bytes, above=0)
    segment = number("segment_bytes", segment_bytes, above=0)
    first = number("initial_window_bytes", initial_window_bytes, above=0) / segment
    threshold = number("ssthresh_bytes", ssthresh_bytes, above=0) / segment
    every = whole("ack_every", ack_every)
    if first < 1:
        raise ValueError(
            f"initial_window_bytes is {initial_window_bytes:g}: must be at least one segment, "
            f"{segment:g}"
        )
    if transfer / segment > MAX_SEGMENTS:
        raise ValueError(
            f"transfer_bytes is {transfer:g}, {transfer / segment:.0f} segments: must be at "
            f"most {MAX_SEGMENTS} segments"
        )
    return _rounds(transfer / segment, first, float(slow_start_rounds(threshold, first)), every)


def slow_start_rounds(ssthresh: npt.ArrayLike, initial_window: npt.ArrayLike) -> Floats:
    """Return the number of rounds of slow start: equation (14).

    The window grows by one segment a round, for a round has one acknowledgement.

    Parameters
    ----------
    ssthresh, initial_window : array_like
        Slow-start threshold and initial window, in segments.

    Returns
    -------
    numpy.ndarray
        Rounds, I_s; below zero where the window begins above the threshold.

    Raises
    ------
    ValueError
        An argument is not a finite number above zero.

    References
    ----------
    Song et al. 2018, equation (14).

    Examples
    --------
    Table 2 has 65 535 and 536 bytes, with segments of 536 bytes:

    >>> round(float(slow_start_rounds(65_535 / 536, 536 / 536)), 2)
    121.27
    """
    return array("ssthresh", ssthresh, above=0) - array("initial_window", initial_window, above=0)


def next_window(
    window: npt.ArrayLike, round_number: npt.ArrayLike, slow_start: npt.ArrayLike
) -> Floats:
    """Return the congestion window of the next round: equation (15).

    Parameters
    ----------
    window : array_like
        Congestion window of this round, w_i, in segments.
    round_number : array_like of int
        Number of this round, i, from 1.
    slow_start : array_like
        Rounds of slow start, I_s.

    Returns
    -------
    numpy.ndarray
        Segments, w_(i+1).

    Raises
    ------
    ValueError
        ``window`` is not above zero, ``round_number`` not whole or below 1, or
        an argument not finite.

    References
    ----------
    Song et al. 2018, equation (15), the first of the two so numbered.

    Examples
    --------
    >>> next_window([1, 122], [1, 122], 121.27).round(4).tolist()
    [2.0, 122.0082]
    """
    return array("window", window, above=0) + _growth(window, round_number, slow_start)


def next_segments(
    segments: npt.ArrayLike,
    window: npt.ArrayLike,
    round_number: npt.ArrayLike,
    slow_start: npt.ArrayLike,
    ack_every: int = ACK_EVERY,
) -> Floats:
    """Return the segments that the next round sends: equation (16).

    Parameters
    ----------
    segments : array_like
        Segments of this round, C_i, at least 1.
    window, round_number, slow_start
        As in `next_window`.
    ack_every : int
        m_ACK.

    Returns
    -------
    numpy.ndarray
        Segments, C_(i+1).

    Raises
    ------
    ValueError
        As `expected_acknowledged` and `next_window`.

    References
    ----------
    Song et al. 2018, equation (16), which the text also calls (15).

    Examples
    --------
    >>> next_segments([1, 3], [1, 122], [1, 122], 121.27).round(4).tolist()
    [2.0, 2.0082]
    """
    acknowledged = expected_acknowledged(segments, ack_every)
    return segments_sent(acknowledged, _growth(window, round_number, slow_start))


def average_delay_asymmetry(delay_s: npt.ArrayLike) -> Floats:
    """Return the mean absolute difference in delay of two links: section 4.3.

    Parameters
    ----------
    delay_s : array_like, shape (..., n)
        Delay of each link, seconds.

    Returns
    -------
    numpy.ndarray, shape (...)
        Seconds; 0 for a single link, where the paper divides by zero.

    Raises
    ------
    ValueError
        A delay is negative or not finite, or there is no link.

    References
    ----------
    Song et al. 2018, section 4.3, Average Delay Asymmetry.

    Examples
    --------
    >>> round(float(average_delay_asymmetry([0.005, 0.010, 0.020])), 6)
    0.01
    """
    return _mean_difference(with_links("delay_s", delay_s, least=0))


def average_bandwidth_asymmetry(byte_rate: npt.ArrayLike) -> Floats:
    """Return the mean absolute difference in rate of two links: section 4.3.

    Parameters
    ----------
    byte_rate : array_like, shape (..., n)
        Rate of each link, bytes per second.

    Returns
    -------
    numpy.ndarray, shape (...)
        Bytes per second; 0 for a single link, where the paper divides by zero.

    Raises
    ------
    ValueError
        A rate is not a finite number above zero, or there is no link.

    References
    ----------
    Song et al. 2018, section 4.3, Average Bandwidth Asymmetry.

    Examples
    --------
    The eight links of section 5.1.3, in Mbit/s:

    >>> rate = np.array([35.9, 18.4, 33.3, 14.7, 14.8, 4.4, 22.5, 12.5]) * 1e6 / 8
    >>> round(float(average_bandwidth_asymmetry(rate)) * 8e-6, 2)
    12.55
    """
    return _mean_difference(with_links("byte_rate", byte_rate))


def with_asymmetry(
    minimum: npt.ArrayLike, asymmetry: npt.ArrayLike, links: int, spread: Spread = "even"
) -> Floats:
    """Return delays or rates of links that have an average asymmetry.

    The paper's figures 9 and 10 give the minimum and the average asymmetry, not
    how the links lie between.

    Parameters
    ----------
    minimum : array_like, shape (...)
        The least of the links' values.
    asymmetry : array_like, shape (...)
        Mean absolute difference of two links, in the same unit; not used for a
        single link.
    links : int
        Number of links, n.
    spread : {"even", "one high", "one low"}
        Evenly spaced and rising; all at the minimum but the last; or all at one
        larger value but the first.

    Returns
    -------
    numpy.ndarray, shape (..., n)
        One value a link.

    Raises
    ------
    ValueError
        ``minimum`` or ``asymmetry`` is negative or not finite, ``links`` not
        whole or below 1, or ``spread`` none of the three.

    References
    ----------
    Song et al. 2018, section 6, whose figures leave the choice open.

    Examples
    --------
    >>> with_asymmetry(0.005, 0.010, 3).round(6).tolist()
    [0.005, 0.0125, 0.02]
    """
    least = array("minimum", minimum, least=0)
    apart = array("asymmetry", asymmetry, least=0)
    shared_shape(minimum=least, asymmetry=apart)
    n = whole("links", links)
    choice("spread", spread, ("even", "one high", "one low"))
    above = np.zeros(n)
    if spread == "even":
        above = np.arange(n) * 3 / (n + 1)
    elif n > 1:
        above[-1 if spread == "one high" else slice(1, None)] = n / 2
    return least[..., np.newaxis] + apart[..., np.newaxis] * above


def prediction_accuracy(predicted: npt.ArrayLike, measured: npt.ArrayLike) -> Floats:
    """Return how near a prediction comes to a measured throughput: section 5.1.4.

    Parameters
    ----------
    predicted, measured : array_like
        Throughputs in the same unit.

    Returns
    -------
    numpy.ndarray
        1 for equal ones; below 0 where the prediction is more than twice as high.

    Raises
    ------
    ValueError
        ``predicted`` is negative, ``measured`` not above zero, or one not finite.

    References
    ----------
    Song et al. 2018, section 5.1.4, Prediction Accuracy.

    Examples
    --------
    >>> round(float(prediction_accuracy(9.0, 10.0)), 6)
    0.9
    """
    got = array("measured", measured, above=0)
    return 1.0 - np.abs(got - array("predicted", predicted, least=0)) / got


@lru_cache(maxsize=16)
def _rounds(transfer: float, first: float, slow_start: float, ack_every: int) -> Rounds:
    """Iterate (15) and (16); all in segments."""
    windows, sent = [], []
    window = segments = first
    missing = transfer
    while True:
        windows.append(window)
        sent.append(segments)
        missing -= segments
        if missing <= ROUNDING:
            break
        growth = 1.0 if len(sent) < slow_start else 1.0 / window
        segments = float(acknowledged_mean(np.asarray(segments), ack_every)) + growth
        window += growth
    rounds = Rounds(np.array(windows), np.array(sent))
    for column in rounds:
        column.flags.writeable = False  # the cache's own
    return rounds


def _weights(
    segments: Floats,
    ends: npt.NDArray[np.intp],
    links: int,
    ack_every: int,
    queue: Queue,
    start: Start,
) -> tuple[Floats, Floats]:
    """Weigh each link in the sum of E(T_i) up to each end.

    E(T_i) is a mean of D_ij, and that is linear in a link's delay and in the
    inverse of its rate. The weights are segment times and delays, (ends, links).
    """
    segments = segments[: ends[-1] + 1]
    before = np.floor(np.cumsum(segments) - segments + ROUNDING).astype(np.intp)
    end = np.searchsorted(ends, np.arange(len(segments)))
    services: Floats = np.zeros((len(ends), links))
    visits: Floats = np.zeros((len(ends), links))
    shares = run_shares(longest_run(ack_every, segments), segments)
    for position, share in enumerate(np.moveaxis(shares, -1, 0), start=1):
        weight = share / segments + (1 - 1 / segments if position == 1 else 0.0)
        if start == "in turn":
            cell = end * links + (before + position - 1) % links
            visited = _totals(cell, weight, len(ends) * links).reshape(len(ends), links)
        else:
            visited = _totals(end, weight, len(ends))[:, np.newaxis] / links
        visits += visited
        services += visited * segment_times(np.asarray(position), links, queue)
    return services.cumsum(axis=0), visits.cumsum(axis=0)


def _growth(
    window: npt.ArrayLike, round_number: npt.ArrayLike, slow_start: npt.ArrayLike
) -> Floats:
    """Return what the window grows by after a round: 1 in slow start, then 1 / w."""
    w = array("window", window, above=0)
    threshold = array("slow_start", slow_start)
    return np.where(wholes("round_number", round_number) < threshold, 1.0, 1.0 / w)


def _mean_difference(values: Floats) -> Floats:
    """Return the mean absolute difference of two on the last axis.

    Of n sorted values the k-th is the larger one in k - 1 pairs and the smaller one in n - k.
    """
    n = values.shape[-1]
    signs = 2.0 * np.arange(n) - (n - 1)
    return np.asarray(np.sort(values) @ signs / max(n * (n - 1) / 2, 1))[()]


def _totals(cell: npt.NDArray[np.intp], weight: Floats, cells: int) -> Floats:
    """Return the sum of the weights in each cell."""
    return np.asarray(np.bincount(cell, weight, cells), dtype=np.float64)
