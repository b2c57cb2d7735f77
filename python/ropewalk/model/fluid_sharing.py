"""How the subflows of a connection share its window, by its scheduler.

What a subflow holds was given to it and is not acknowledged to it: in flight, or waiting for
room in its congestion window. A byte takes room in the connection's window from when it
is given to a subflow until all before it have arrived and the sender knows. With D the
largest of the subflows' delays, from being given to a subflow to arrival, a round trip's
way back b, and rates x_i, that is

    sum x_i (D + b)

bytes. At the receiver what arrived and waits for slower subflows, sum x_i (D - D_i), is
charged a second time where the scenario has it so (Linux).

Linux's scheduler gives data to subflows in bursts, each to the one that would be done with
what it holds soonest: all hold the same time's worth, L, and at most a burst more, for one
that has run dry gets the next. A slow subflow that starts on a burst holds up the window
until it is through with it; where the window has room for fewer bursts than there are
subflows, D is the mean of the largest among so many. The largest L that the window allows
is found by halving. The other schedulers give data when a congestion window has room;
then L bounds the share of each window that is used.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .fluid_parts import Bulk, Subflow

PACING = 1.2  # of the window per round trip; twice the window in slow start, as Linux
SLOW_START_PACING = 2.0
BURST_BYTES = 65_428.0  # MPTCP_SEND_BURST_SIZE
BURST_HELD = 0.2  # of a burst in the mean, besides L; found by comparing with simulations
HALVINGS = 8


def share(bulk: Bulk, subflows: Sequence[Subflow]) -> None:
    """Set what each subflow holds and has in flight, and what waits for a gap to close.

    Parameters
    ----------
    bulk : Bulk
        The connection.
    subflows : sequence of Subflow
        Those of its subflows that can send.
    """
    connection = bulk.connection
    sent = connection.send_buffer / connection.segment
    received = connection.receive_window / connection.segment
    if len(subflows) == 1 or not connection.shared or connection.scheduler == "redundant":
        for each in subflows:
            each.peak = each.held = each.in_flight = min(each.window.size, sent, received)
        bulk.waiting = 0.0
        bulk.held_up = all(each.held < each.window.size for each in subflows)
        return
    ahead = connection.assign_ahead and connection.scheduler == "min-rtt"
    burst = min(BURST_BYTES / connection.segment, sent, received) if ahead else 0.0
    if connection.scheduler == "min-rtt" and not ahead:
        subflows = _fastest(bulk, subflows, sent, received)
    enough = _enough(subflows)
    bulk.held_up = _allowed(bulk, subflows, enough, burst, sent, received) < 1
    if not bulk.held_up:
        return
    low, high = 0.0, enough
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if _allowed(bulk, subflows, middle, burst, sent, received) >= 1:
            low = middle
        else:
            high = middle
    left = min(_allowed(bulk, subflows, low or high, burst, sent, received), 1.0)
    bulk.waiting *= left
    for each in subflows:
        each.held *= left
        each.in_flight = min(each.held, each.window.size)


def _fastest(
    bulk: Bulk, subflows: Sequence[Subflow], sent: float, received: float
) -> Sequence[Subflow]:
    """Return the fastest subflows that the window has room for, and the one after them."""
    order = sorted(subflows, key=lambda each: each.rtt)
    count = 1
    while count < len(order):
        some = order[: count + 1]
        if _allowed(bulk, some, _enough(some), 0.0, sent, received) < 1:
            break
        count += 1
    fit = sum(each.window.size for each in order[:count]) < min(sent, received)
    count += fit
    for each in order[count:]:
        each.peak = 0.0
        each.held = each.in_flight = 0.0
    return order[:count]


def _enough(subflows: Sequence[Subflow]) -> float:
    """Time's worth of data from which on every subflow fills its congestion window."""
    return max(each.rtt / _pace(each) for each in subflows)


def _pace(subflow: Subflow) -> float:
    window = subflow.window
    return SLOW_START_PACING if window.size < window.threshold / 2 else PACING


def _allowed(
    bulk: Bulk,
    subflows: Sequence[Subflow],
    linger: float,
    burst: float,
    sent: float,
    received: float,
) -> float:
    """Let each hold what it sends in so much time; return what the windows allow of that."""
    total = arriving = 0.0
    delays = []
    for each in subflows:
        size, rtt = each.window.size, each.rtt
        held = linger * _pace(each) * size / rtt
        if burst == 0:
            held = min(held, size)
        each.peak = held + burst
        each.held = held + BURST_HELD * burst
        each.in_flight = min(each.held, size)
        rate = min(each.in_flight / rtt, each.narrowest)
        late = max(each.peak - size, 0.0) / min(size / rtt, each.narrowest)
        queued = max(rtt - each.path.rtt, min(burst, size) / each.narrowest)
        delay = each.path.delay + queued + late
        total += rate
        arriving += rate * delay
        delays.append(delay)
    latest = _latest(delays, min(sent, received) / burst if burst else math.inf)
    waiting = max(total * latest - arriving, 0.0)
    bulk.waiting = waiting * bulk.connection.segment
    span = total * (latest + min(each.path.rtt - each.path.delay for each in subflows))
    charged = waiting if bulk.connection.charge_reordered else 0.0
    return min(sent / span, received / (span + charged))


def _latest(delays: list[float], bursts: float) -> float:
    """Mean of the largest delay of so many bursts at a time, each on any of the subflows."""
    if bursts >= len(delays):
        return max(delays)
    shares: list[float] = [(place / len(delays)) ** bursts for place in range(len(delays) + 1)]
    steps = zip(sorted(delays), shares[1:], shares[:-1], strict=True)
    return sum(delay * (upto - below) for delay, upto, below in steps)
