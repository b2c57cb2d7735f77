"""Segments that a striped TCP connection sends in each round: equations (14) to (16).

From Song et al. 2018, section 4.2; `ropewalk.model.song2018` has the units and the reference. The
links play no part in it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..arguments import Floats, array, number, whole, wholes
from .arrival import ROUNDING, SEGMENT_BYTES, segments_sent
from .round import ACK_EVERY, acknowledged_mean, expected_acknowledged

# Table 2 of the paper.
INITIAL_WINDOW_BYTES = 536.0
SSTHRESH_BYTES = 65_535.0

MAX_SEGMENTS = (
    1_000_000  # most segments of a transfer, whose rounds are counted one by one: some 10 s
)


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


def transfer_rounds(
    transfer_bytes: float,
    *,
    segment_bytes: float = SEGMENT_BYTES,
    initial_window_bytes: float = INITIAL_WINDOW_BYTES,
    ssthresh_bytes: float = SSTHRESH_BYTES,
    ack_every: int = ACK_EVERY,
) -> Rounds:
    """Return the window and the segments of each round: section 4.2, steps 1 to 4.

    By (15) and (16), until what was sent reaches the transfer's size. The links play no part in
    it.

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
        An argument is not a finite number above zero, the initial window is below a segment, or
        the transfer has more than a million segments.

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
        ``window`` is not above zero, ``round_number`` not whole or below 1, or an argument not
        finite.

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


def _growth(
    window: npt.ArrayLike, round_number: npt.ArrayLike, slow_start: npt.ArrayLike
) -> Floats:
    """Return what the window grows by after a round: 1 in slow start, then 1 / w."""
    w = array("window", window, above=0)
    threshold = array("slow_start", slow_start)
    return np.where(wholes("round_number", round_number) < threshold, 1.0, 1.0 / w)
