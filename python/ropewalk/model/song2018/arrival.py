"""Arrival times of a round's segments: equations (1) to (3) and (18) of Song et al. 2018.

Sections 4.1 and 4.3; see `ropewalk.model.song2018` for units and the reference. All arguments
broadcast.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from ..arguments import Floats, array, choice, number, shared_shape, whole, wholes

Queue: TypeAlias = Literal["printed", "own"]

SEGMENT_BYTES = 536.0  # table 2 of the paper

ROUNDING = 1e-6  # in segments: rounding error of a C that should be whole


def segments_sent(acknowledged: npt.ArrayLike, window_growth: npt.ArrayLike) -> Floats:
    """Return the segments that a round sends, C_i: equation (1).

    They are the segments that the last acknowledgement covered, and the window's growth.

    Parameters
    ----------
    acknowledged : array_like
        Segments that the last acknowledgement of new data covered, A_i.
    window_growth : array_like
        Growth of the window at this acknowledgement, segments.

    Examples
    --------
    >>> float(segments_sent(2, 1))
    3.0
    """
    return array("acknowledged", acknowledged, least=0) + array(
        "window_growth", window_growth, least=0
    )


def link_in_turn(
    position: npt.ArrayLike, sent_before: npt.ArrayLike, links: int
) -> npt.NDArray[np.intp]:
    """Return the number, from 1 to n, of the link that carries a segment: equation (2).

    Parameters
    ----------
    position : array_like of int
        Place of the segment in its round, j, from 1.
    sent_before : array_like
        Segments sent in all earlier rounds, rounded down.
    links : int
        Number of links, n.

    Examples
    --------
    >>> link_in_turn([1, 2, 3, 4], 6, links=4).tolist()
    [3, 4, 1, 2]
    """
    place = wholes("position", position)
    before = np.floor(array("sent_before", sent_before, least=0) + ROUNDING)
    turn = (place - 1 + before) % whole("links", links) + 1
    return turn.astype(np.intp)


def arrival_time(
    position: npt.ArrayLike,
    sent_before: npt.ArrayLike,
    byte_rate: npt.ArrayLike,
    delay_s: npt.ArrayLike,
    *,
    segment_bytes: float = SEGMENT_BYTES,
    queue: Queue = "printed",
) -> Floats:
    """Return the time from the start of a round to a segment's arrival: equation (3).

    Parameters
    ----------
    position : int or array_like of int, shape (m,)
        Place of the segment in its round, j, from 1.
    sent_before : array_like, shape (...)
        Segments sent in all earlier rounds.
    byte_rate, delay_s : array_like, shape (..., n)
        Rate, bytes per second, and delay, seconds, of each link.
    segment_bytes : float
        Size of a segment, s, bytes.
    queue : {"printed", "own"}
        Segments ahead in the link's queue. ``"printed"``: floor(j / n) + 1 segment times as in the
        paper, one too many for each n-th segment (on a single link the first takes two).
        ``"own"``: floor((j - 1) / n) + 1, the earlier segments on the link and the segment itself.
        They differ only if n is at most m_ACK.

    Returns
    -------
    numpy.ndarray, shape (..., m)
        Seconds, D_ij; without the last axis if ``position`` is one number.

    Examples
    --------
    Links I and II of section 5.1.3, 35.9 and 18.4 Mbit/s, at 50 and 60 ms:

    >>> rate = np.array([35.9e6, 18.4e6]) / 8
    >>> (arrival_time([1, 2], 0, rate, [0.05, 0.06]) * 1e3).round(3).tolist()
    [50.119, 60.466]
    """
    place = wholes("position", position)
    choice("queue", queue, ("printed", "own"))
    rate, delay = _carriers(place, sent_before, byte_rate, delay_s)
    segment = number("segment_bytes", segment_bytes, above=0)
    services = segment_times(np.atleast_1d(place), np.shape(byte_rate)[-1], queue)
    arrival = services * segment / rate + delay
    if not place.ndim:
        arrival = arrival[..., 0]
    return arrival


def arrival_difference(
    position: npt.ArrayLike,
    sent_before: npt.ArrayLike,
    byte_rate: npt.ArrayLike,
    delay_s: npt.ArrayLike,
    *,
    segment_bytes: float = SEGMENT_BYTES,
) -> Floats:
    """Return the arrival time of a segment of a round after the first one's: equation (18).

    D_ik - D_i1 as three terms: differences in delay and rate, and the queue. In (3) the first
    segment also waits if there is a single link; the paper's queue term ignores this, and it is
    subtracted here.

    Parameters
    ----------
    position : int or array_like of int, shape (m,)
        Place of the segment in its round, k, from 1.
    sent_before, byte_rate, delay_s, segment_bytes
        As in `arrival_time`.

    Returns
    -------
    numpy.ndarray, shape (..., m)
        Seconds, negative for a segment that overtakes; without the last axis if ``position`` is
        one number.

    Examples
    --------
    Links I and II of section 5.1.3 at 50 and 60 ms:

    >>> rate = np.array([35.9e6, 18.4e6]) / 8
    >>> round(float(arrival_difference(2, 0, rate, [0.05, 0.06])) * 1e3, 3)
    10.347
    """
    place = wholes("position", position)
    both = np.concatenate([[1.0], np.atleast_1d(place)])
    rate, delay = _carriers(both, sent_before, byte_rate, delay_s)
    segment = number("segment_bytes", segment_bytes, above=0)
    links = np.shape(byte_rate)[-1]
    first, its = rate[..., :1], rate[..., 1:]
    difference: Floats = (
        (delay[..., 1:] - delay[..., :1])
        + (first - its) * segment / (its * first)
        + (np.floor(both[1:] / links) * segment / its - (1 // links) * segment / first)
    )
    if not place.ndim:
        difference = difference[..., 0]
    return difference


def segment_times(position: Floats, links: int, queue: Queue) -> Floats:
    """Return the segment times that a segment takes at its link, by (3)."""
    return np.floor((position if queue == "printed" else position - 1) / links) + 1


def with_links(name: str, value: npt.ArrayLike, *, least: float | None = None) -> Floats:
    """Return numbers above 0, or of at least `least`, for at least one link.

    Examples
    --------
    >>> with_links("delay_s", 0.005, least=0)
    Traceback (most recent call last):
    ValueError: delay_s has shape (): must have at least one value on its last axis
    """
    values = array(name, value, above=0 if least is None else None, least=least)
    if not values.ndim or not values.shape[-1]:
        raise ValueError(
            f"{name} has shape {values.shape}: must have at least one value on its last axis"
        )
    return values


def links_of(byte_rate: npt.ArrayLike, delay_s: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Return rates and delays of equally many links, which are on the last axis.

    Examples
    --------
    >>> links_of([12_500.0, 12_500.0], [0.005])
    Traceback (most recent call last):
    ValueError: delay_s has 1 links on its last axis: must have as many as byte_rate, 2
    """
    rate = with_links("byte_rate", byte_rate)
    delay = with_links("delay_s", delay_s, least=0)
    if rate.shape[-1] != delay.shape[-1]:
        raise ValueError(
            f"delay_s has {delay.shape[-1]} links on its last axis: must have as many as "
            f"byte_rate, {rate.shape[-1]}"
        )
    shared_shape(byte_rate=rate[..., 0], delay_s=delay[..., 0])
    return rate, delay


def _carriers(
    position: Floats, sent_before: npt.ArrayLike, byte_rate: npt.ArrayLike, delay_s: npt.ArrayLike
) -> tuple[Floats, Floats]:
    """Return rate and delay of the links that carry the segments, one position per column."""
    rate, delay = links_of(byte_rate, delay_s)
    before = array("sent_before", sent_before, least=0)
    scenarios = shared_shape(byte_rate=rate[..., 0], delay_s=delay[..., 0], sent_before=before)
    link = link_in_turn(np.atleast_1d(position), before[..., np.newaxis], rate.shape[-1]) - 1
    link = np.broadcast_to(link, (*scenarios, link.shape[-1]))
    both = [np.broadcast_to(each, (*scenarios, rate.shape[-1])) for each in (rate, delay)]
    return np.take_along_axis(both[0], link, -1), np.take_along_axis(both[1], link, -1)
