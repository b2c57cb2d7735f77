"""Segments that a striped TCP connection sends in each round: equations (14) to (16).

Song et al. 2018, section 4.2; see `ropewalk.model.song2018` for units and the reference. The links
have no influence.
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
    1_000_000  # limit of segments per transfer, whose rounds are counted one by one in 10 s
)


class Rounds(NamedTuple):
    """Window and segments of each round of a transfer.

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

    Rounds follow (15) and (16) until the transfer is sent.

    Parameters
    ----------
    transfer_bytes : float
        Bytes transferred, E.
    segment_bytes, initial_window_bytes, ssthresh_bytes, ack_every
        As in `throughput`.

    Raises
    ------
    ValueError
        An argument is not a finite number above zero, the initial window is below a segment, or
        the transfer has more than a million segments.

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

    The window grows by one segment per round, since a round has one acknowledgement.

    Parameters
    ----------
    ssthresh, initial_window : array_like
        Slow-start threshold and initial window, in segments.

    Returns
    -------
    numpy.ndarray
        Rounds, I_s; negative if the initial window exceeds the threshold.

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
    """Return the congestion window of the next round, w_(i+1), in segments: equation (15).

    Parameters
    ----------
    window : array_like
        Congestion window of this round, w_i, in segments.
    round_number : array_like of int
        Number of this round, i, from 1.
    slow_start : array_like
        Rounds of slow start, I_s.

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
    """Return the segments that the next round sends, C_(i+1): equation (16).

    Parameters
    ----------
    segments : array_like
        Segments of this round, C_i, at least 1.
    window, round_number, slow_start
        As in `next_window`.
    ack_every : int
        m_ACK.

    Examples
    --------
    >>> next_segments([1, 3], [1, 122], [1, 122], 121.27).round(4).tolist()
    [2.0, 2.0082]
    """
    acknowledged = expected_acknowledged(segments, ack_every)
    return segments_sent(acknowledged, _growth(window, round_number, slow_start))


@lru_cache(maxsize=16)
def _rounds(transfer: float, first: float, slow_start: float, ack_every: int) -> Rounds:
    """Iterate (15) and (16), all in segments."""
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
        column.flags.writeable = False  # the array is cached
    return rounds


def _growth(
    window: npt.ArrayLike, round_number: npt.ArrayLike, slow_start: npt.ArrayLike
) -> Floats:
    """Return the window's growth after a round: 1 in slow start, then 1 / w."""
    w = array("window", window, above=0)
    threshold = array("slow_start", slow_start)
    return np.where(wholes("round_number", round_number) < threshold, 1.0, 1.0 / w)
