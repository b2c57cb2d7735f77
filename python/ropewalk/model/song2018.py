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

from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from .arguments import Floats, array, choice, number, shared_shape
from .song2018_arrival import (
    ROUNDING,
    SEGMENT_BYTES,
    Queue,
    arrival_difference,
    arrival_time,
    link_in_turn,
    links_of,
    segment_times,
    segments_sent,
)
from .song2018_asymmetry import (
    Spread,
    average_bandwidth_asymmetry,
    average_delay_asymmetry,
    with_asymmetry,
)
from .song2018_round import (
    ACK_EVERY,
    acknowledged_probability,
    expected_acknowledged,
    expected_acknowledged_first,
    expected_acknowledged_not_first,
    expected_time,
    expected_time_by_difference,
    expected_time_first,
    expected_time_not_first,
    first_probability,
    long_run_probability,
    longest_run,
    run_shares,
    short_run_probability,
)
from .song2018_window import (
    INITIAL_WINDOW_BYTES,
    MAX_SEGMENTS,
    SSTHRESH_BYTES,
    Rounds,
    next_segments,
    next_window,
    slow_start_rounds,
    transfer_rounds,
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


def _totals(cell: npt.NDArray[np.intp], weight: Floats, cells: int) -> Floats:
    """Return the sum of the weights in each cell."""
    return np.asarray(np.bincount(cell, weight, cells), dtype=np.float64)
