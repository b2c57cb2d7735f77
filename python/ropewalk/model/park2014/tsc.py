"""MPTCP-TSC's computation at the end of each time slot: estimates, then the next rates.

Park, Joo, Park and Bahk, "Impact of traffic splitting on the delay performance of MPTCP", 2014,
section 4.B: (12) and (13) of `park2014.estimation`, and (15) to (17) of `park2014.splitting`.
Rates are packets per second, times seconds.

As printed, the algorithm suits only traffic at a constant rate. (12) counts arrivals of the last
slot: with video, a frame arrives in one slot, and the target rate of later slots is 1/d_send
whatever the backlog, so the rest of a frame stays in the send buffer. If (13) is exact, a subflow
at rate (15) has a round trip of twice the network delay threshold, all queued in one direction, so
the one-way delay is twice the threshold less half the idle round trip. The smoothed estimator,
which is not in the paper, avoids the backlog.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from ..arguments import Vector
from .estimation import capacity, demand
from .splitting import greedy_rates

BACKLOG_SHARE = (
    0.5  # share of the backlog over d_send that the smoothed estimator adds to the demand
)
MAX_CAPACITY = 1.5  # largest smoothed sample of (13), relative to the acknowledged rate


@dataclass(frozen=True)
class Settings:
    """Parameters of MPTCP-TSC.

    Attributes
    ----------
    cost : numpy.ndarray, shape (n,)
        Cost of each subflow, per packet per second, at least 0.
    slot : float
        Duration of a slot, seconds, above 0. The paper only says "much shorter than the round
        trip".
    send_threshold, network_threshold : float
        d_send and d_net: largest mean wait in the send buffer, and largest network delay of a
        subflow, seconds, above 0.
    floor : float
        Smallest rate of a used subflow, packets per second, at least 0; not in the paper.
    hops : float
        Hops M of each path, at least 1.
    smoothing : float or None
        Time constant of the smoothed estimator in seconds; None for the algorithm as printed.
    """

    cost: Vector
    slot: float = 0.01
    send_threshold: float = 0.1
    network_threshold: float = 0.1
    floor: float = 2.0
    hops: float = 1.0
    smoothing: float | None = 0.2

    @property
    def weight(self) -> float:
        """Weight of a slot's sample in a moving average of that time constant; 1 as printed."""
        return 1.0 if self.smoothing is None else -math.expm1(-self.slot / self.smoothing)


@dataclass(frozen=True)
class Slot:
    """Observations of a sender at the end of a slot.

    Attributes
    ----------
    backlog : float
        Packets in the send buffer.
    sent, acked : numpy.ndarray, shape (n,)
        Packets sent and acknowledged on each subflow during the slot.
    rtt : numpy.ndarray, shape (n,)
        Mean round trip of the slot, seconds; NaN without a sample.
    rtt_min, srtt : numpy.ndarray, shape (n,)
        Smallest and smoothed round trip, seconds, above 0.
    window : numpy.ndarray, shape (n,)
        Congestion window, packets, above 0.
    slow_start : numpy.ndarray of bool, shape (n,)
        Whether the window is below the slow start threshold.
    """

    backlog: float
    sent: Vector
    acked: Vector
    rtt: Vector
    rtt_min: Vector
    srtt: Vector
    window: Vector
    slow_start: Vector


@dataclass(frozen=True)
class Estimates:
    """State from slot to slot.

    Attributes
    ----------
    backlog : float
        Packets in the send buffer at the end of the last slot.
    demand : float
        Rate of the application, packets per second: the mean so far, without the backlog.
    capacity : numpy.ndarray, shape (n,)
        Capacity of each subflow, packets per second; empty before the first slot.
    """

    backlog: float = 0.0
    demand: float = 0.0
    capacity: Vector = field(default_factory=lambda: np.empty(0))


def end_slot(settings: Settings, kept: Estimates, seen: Slot) -> tuple[Estimates, Vector]:
    """Estimate demand and capacities, and set each subflow's rate for the next slot.

    As printed, the rate x of (13) is the rate sent during the slot. The smoothed estimator differs
    as follows:

    - x is the acknowledged rate.
    - A sample of (13) counts only with acknowledgements, and at most 1.5 times their rate, since
      (13) assumes a full window and overestimates one that the application leaves empty.
    - Both estimates are exponential averages.
    - The demand includes half the rate that clears the backlog within d_send.

    Before the first sample the capacity is the window over the smoothed round trip. Subflows of
    equal cost are filled by rising smoothed round trip.

    Parameters
    ----------
    settings : Settings
    kept : Estimates
        Estimates of the previous slot; ``Estimates()`` for the first.
    seen : Slot
        Observations of the slot.

    Returns
    -------
    Estimates
        Estimates for the next slot.
    numpy.ndarray, shape (n,)
        Rates, packets per second.

    Raises
    ------
    ValueError
        A number is out of bounds, or the backlog shrank by more than was sent.

    Examples
    --------
    A video frame of 12 packets arrives in one slot of 10 ms, nothing in the next. As printed, the
    demand is then 0, and the rate only 1/d_send although 12 packets wait:

    >>> settings = Settings(np.array([1.0, 10.0]), smoothing=None)
    >>> still = {
    ...     "sent": np.zeros(2), "acked": np.zeros(2), "rtt": np.full(2, np.nan),
    ...     "rtt_min": np.array([0.02, 0.04]), "srtt": np.array([0.02, 0.04]),
    ...     "window": np.array([10.0, 10.0]), "slow_start": np.zeros(2),
    ... }
    >>> kept, rates = end_slot(settings, Estimates(), Slot(12.0, **still))
    >>> kept.demand, rates.tolist()
    (1200.0, [450.0, 200.0])
    >>> kept, rates = end_slot(settings, kept, Slot(12.0, **still))
    >>> kept.demand, rates.tolist()
    (0.0, [10.0, 0.0])
    """
    n, smooth = settings.cost.size, settings.smoothing is not None
    arrived = demand(kept.backlog, seen.backlog, settings.slot, seen.sent / settings.slot)
    mean = kept.demand + settings.weight * (arrived - kept.demand)
    asked = mean
    if smooth:
        asked += BACKLOG_SHARE * seen.backlog / settings.send_threshold

    allowed = seen.window / seen.srtt
    last = kept.capacity if kept.capacity.size else allowed
    rates = (seen.acked if smooth else seen.sent) / settings.slot
    sampled = ~np.isnan(seen.rtt) & ((rates > 0) | (not smooth))
    # Without a sample the round trip is the smallest: (13) has no value, and the last one stays.
    rtt = np.where(sampled, seen.rtt, seen.rtt_min)
    found = capacity(rates, rtt, seen.rtt_min, settings.hops, last)
    if smooth:
        has_value = sampled & (rtt > seen.rtt_min)
        limited = np.where(has_value, np.minimum(found, MAX_CAPACITY * rates), found)
        found = last + np.where(has_value, settings.weight, 1.0) * (limited - last)

    order = np.lexsort((seen.srtt, settings.cost))
    split = np.empty(n)
    split[order] = greedy_rates(
        asked,
        settings.send_threshold,
        settings.network_threshold,
        settings.cost[order],
        np.maximum(found, np.finfo(float).tiny)[order],
        seen.rtt_min[order],
        settings.hops,
        allowed[order],
        settings.floor,
        seen.slow_start[order],
    )
    return Estimates(seen.backlog, mean, found), split
