"""Shares of a connection's window that its scheduler gives to the subflows.

A subflow holds data that were given to it and are not acknowledged to it: in flight, or waiting
for its congestion window. A byte occupies the connection's window from its assignment to a subflow
until the sender knows that all data before it have arrived. Let D be the largest of the subflows'
delays from assignment to arrival, b the reverse part of a round trip, and x_i the rates. The
occupied window is then

    sum x_i (D + b)

bytes. At the receiver, data that wait for slower subflows, sum x_i (D - D_i), are charged a second
time if the scenario says so (Linux).

Linux's scheduler assigns bursts, each to the subflow that would finish its data soonest. All
subflows therefore hold the same time's worth, L, and at most a burst more. A slow subflow that
starts a burst blocks the window until its end. If the window has room for fewer bursts than
subflows, D is the mean of the largest delay among that many. The largest L that the window allows
is found by bisection. The other schedulers assign data when a congestion window has room; L then
bounds the used share of each window.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .components import ConnectionState, SubflowState

PACING = 1.2  # pacing rate in windows per round trip; 2 in slow start, as in Linux
SLOW_START_PACING = 2.0
BURST_BYTES = 65_428.0  # MPTCP_SEND_BURST_SIZE
BURST_HELD = 0.2  # mean share of a burst in flight in addition to L; fitted to simulations
HALVINGS = 8


def share(bulk: ConnectionState, subflows: Sequence[SubflowState]) -> None:
    """Set the data held and in flight on each subflow that can send, and the data behind a gap."""
    connection = bulk.connection
    sent = connection.send_buffer / connection.segment
    received = connection.receive_window / connection.segment
    if len(subflows) == 1 or not connection.shared or connection.scheduler == "redundant":
        for each in subflows:
            each.peak = each.held = each.in_flight = min(each.window.size, sent, received)
        bulk.waiting = 0.0
        bulk.held_up = all(each.held < each.window.size for each in subflows)
        return
    bulk.widest = max(bulk.widest, sum(each.window.size for each in subflows))
    grown = min(sent, connection.buffered_windows * bulk.widest)
    ahead = connection.scheduler == "linux"
    burst = min(BURST_BYTES / connection.segment, sent, received) if ahead else 0.0
    room = _WindowRoom(grown, received, burst, connection.charge_reordered)
    if connection.scheduler == "min-rtt":
        subflows = _fastest(subflows, room)
    facts = _SubflowProfile.of(subflows, burst)
    linger = facts.enough
    allowed, waiting = _allowed(facts, room, linger)
    bulk.held_up = allowed < 1
    if bulk.held_up:
        if grown < sent:
            # A buffer that grows with the windows is not a bound of the scenario.
            bound = _WindowRoom(sent, received, burst, connection.charge_reordered)
            bulk.held_up = _allowed(facts, bound, linger)[0] < 1
        low, high = 0.0, linger
        for _ in range(HALVINGS):
            linger = (low + high) / 2
            if _allowed(facts, room, linger)[0] >= 1:
                low = linger
            else:
                high = linger
        linger = low or high
        allowed, waiting = _allowed(facts, room, linger)
    left = min(allowed, 1.0)
    bulk.waiting = waiting * left * connection.segment
    for each, (size, _, paced, _, _) in zip(subflows, facts.flows, strict=True):
        held = linger * paced if ahead else min(linger * paced, size)
        each.peak = held + burst
        each.held = (held + BURST_HELD * burst) * left
        each.in_flight = min(each.held, size)


@dataclass(frozen=True, slots=True)
class _WindowRoom:
    """Room of the windows, and the unit in which it is used, in segments."""

    sent: float
    received: float
    burst: float
    charged: bool


@dataclass(frozen=True, slots=True)
class _SubflowProfile:
    """Properties of the subflows that do not depend on L.

    `flows` has window, round trip, pacing rate, highest rate, and delay of data that need not wait
    for the congestion window; `back` is the shortest reverse delay, and `enough` the L at which
    every subflow fills its congestion window.
    """

    flows: list[tuple[float, float, float, float, float]]
    back: float
    enough: float

    @classmethod
    def of(cls, subflows: Sequence[SubflowState], burst: float) -> _SubflowProfile:
        """Return the properties of subflows."""
        flows = []
        enough = 0.0
        for each in subflows:
            window, rtt = each.window, each.rtt
            slow_start = window.size < window.threshold / 2
            pace = SLOW_START_PACING if slow_start else PACING
            queued = max(rtt - each.path.rtt, min(burst, window.size) / each.narrowest)
            rate = window.size / rtt
            most = min(rate, each.narrowest)
            flows.append((window.size, rtt, pace * rate, most, each.path.delay + queued))
            enough = max(enough, rtt / pace)
        return cls(flows, min(each.path.rtt - each.path.delay for each in subflows), enough)


def _fastest(subflows: Sequence[SubflowState], room: _WindowRoom) -> Sequence[SubflowState]:
    """Return the fastest subflows that the window has room for, and one more."""
    order = sorted(subflows, key=lambda each: each.rtt)
    count = 1
    while count < len(order):
        facts = _SubflowProfile.of(order[: count + 1], 0.0)
        if _allowed(facts, room, facts.enough)[0] < 1:
            break
        count += 1
    count += sum(each.window.size for each in order[:count]) < min(room.sent, room.received)
    for each in order[count:]:
        each.peak = each.held = each.in_flight = 0.0
    return order[:count]


def _allowed(facts: _SubflowProfile, room: _WindowRoom, linger: float) -> tuple[float, float]:
    """Return the share of L that the windows allow, and the data waiting at the receiver."""
    burst, rest = room.burst, BURST_HELD * room.burst
    total = arriving = 0.0
    delays = []
    for size, rtt, paced, most, came in facts.flows:
        held = linger * paced
        if burst == 0 and held > size:
            held = size
        rate = (held + rest) / rtt
        rate = min(rate, most)
        late = held + burst - size
        delay = came + late / most if late > 0 else came
        total += rate
        arriving += rate * delay
        delays.append(delay)
    latest = _latest(delays, min(room.sent, room.received) / burst if burst else math.inf)
    waiting = max(total * latest - arriving, 0.0)
    span = total * (latest + facts.back)
    charged = waiting if room.charged else 0.0
    return min(room.sent / span, room.received / (span + charged)), waiting


def _latest(delays: list[float], bursts: float) -> float:
    """Return the mean of the largest delay of several bursts, each on any of the subflows."""
    if bursts >= len(delays):
        return max(delays)
    shares: list[float] = [(place / len(delays)) ** bursts for place in range(len(delays) + 1)]
    steps = zip(sorted(delays), shares[1:], shares[:-1], strict=True)
    return sum(delay * (upto - below) for delay, upto, below in steps)
