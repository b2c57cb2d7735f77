"""Duration and throughput of a transfer over several links (Song et al. 2018)."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from ..arguments import Floats, array, choice, number, shared_shape
from .arrival import ROUNDING, SEGMENT_BYTES, Queue, links_of, segment_times
from .round import ACK_EVERY, longest_run, run_shares
from .window import INITIAL_WINDOW_BYTES, SSTHRESH_BYTES, transfer_rounds

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
    """Predict the average throughput in bytes per second: section 4.2, step 6.

    Size of the transfer over the sum of E(T_i). The rounds do not depend on the links, so a
    scenario costs two products of its links' delays and rates with cached weights.

    Parameters
    ----------
    byte_rate : array_like, shape (..., n)
        Rate of each link, bytes per second.
    delay_s : array_like, shape (..., n)
        Round-trip propagation delay of each link, seconds, all in the direction of the data.
    transfer_bytes : array_like, shape (...)
        Bytes transferred, E; not in the paper. The default includes slow start and the phase after
        it.
    segment_bytes, initial_window_bytes, ssthresh_bytes : float
        Segment, initial window and slow-start threshold; defaults from the paper's table 2.
    ack_every : int
        Segments in order per acknowledgement, m_ACK.
    queue : {"printed", "own"}
        Segments ahead in a link's queue, see `arrival_time`.
    start : {"in turn", "uniform"}
        Link of a round's first segment: the next in turn by (2), or any with equal probability, as
        section 4.3 assumes for many rounds.

    Raises
    ------
    ValueError
        An argument is out of bounds, the shapes do not broadcast, or the transfer has more than a
        million segments.

    Notes
    -----
    Compared with the paper's section 6, whose transfer size and spread of the links (see
    `with_asymmetry`) are unknown:

    - Figure 10, average delay asymmetry at which four links equal one: 35.6 ms with a minimum
      delay of 5 ms, 30.6 ms with 50 ms. Here: 33.6 ms for 100 kB and 41.5 ms for 1 MB with spread
      "one low", 55.7 and 69.3 ms with "even", for any minimum. A delay added to all links prolongs
      any transfer alike, so the equations cannot give two thresholds.
    - Figure 9, four links, from no to the largest asymmetry: delays reduce throughput by a factor
      of 2.8 (here 2.60 with delays and rates spread "even", 2.76 with rates "one low"). Rates
      reduce it by a factor of 1.8, but raise it by 1.55 and 1.61 here: with a fixed minimum, a
      larger asymmetry means higher rates.

    Examples
    --------
    Lower left corner of figure 9, 100 kbit/s and 5 ms, for one and four links:

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
    """Return the sum of E(T_i), in seconds, over the rounds of a transfer: section 4.2, step 5.

    Parameters
    ----------
    byte_rate, delay_s, transfer_bytes
        As in `throughput`.
    segment_bytes, initial_window_bytes, ssthresh_bytes, ack_every, queue, start
        As in `throughput`.

    Examples
    --------
    A first round of one segment takes one segment time and the delay:

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
    """Return the accuracy of a predicted throughput: section 5.1.4.

    Parameters
    ----------
    predicted, measured : array_like
        Throughputs in the same unit.

    Returns
    -------
    numpy.ndarray
        1 for equal values; negative if the prediction is more than twice as high.

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
    """Return the weights of each link in the sum of E(T_i) up to each end.

    E(T_i) is a mean of D_ij, linear in a link's delay and in the inverse of its rate. The weights
    are segment times and delays, shape (ends, links).
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
