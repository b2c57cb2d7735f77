"""Loss events of the fluid model: random loss, full queues, outages."""

from __future__ import annotations

import math
from collections.abc import Sequence

from . import coupling
from .components import FluidLink, SubflowState
from .window import NEVER

DUPLICATES = 3
GOLDEN = (math.sqrt(5) - 1) / 2


def gap(loss: float, drawn: float) -> float:
    """Return the segments until a loss, at a quantile of their distribution."""
    return -math.log(1 - drawn) / loss if loss > 0 else NEVER


def silenced(subflow: SubflowState, links: Sequence[FluidLink], now: float) -> bool:
    """Whether a link of its path is down; the retransmission timer then determines the restart."""
    for number in subflow.path.links:
        for begin, end in links[number].down:
            if begin <= now < end:
                wait = subflow.rtt + subflow.connection.min_rto
                at = begin
                while at < end:
                    at += wait
                    wait *= 2
                subflow.silent_until = at
                subflow.window.lose(subflow.window.size)
                subflow.window.time_out()
                return True
    return False


def lose_one(subflow: SubflowState, now: float) -> None:
    """Reduce a window at a random loss, and determine the next one."""
    connection, window = subflow.connection, subflow.window
    flight = min(window.size, max(subflow.in_flight, 1.0))
    coupling.lose(connection.congestion, subflow, flight)
    # A fast retransmit needs three duplicate ACKs: too few segments in flight give none, and with
    # few more one of them may be lost.
    few = DUPLICATES / flight if flight > DUPLICATES else 1.0
    subflow.timeouts += few * min(DUPLICATES * subflow.path.loss, 1.0) if few < 1 else 1.0
    if subflow.timeouts >= 1:
        subflow.timeouts -= 1
        window.time_out()
        subflow.silent_until = now + subflow.rtt + connection.min_rto
    subflow.drawn = (subflow.drawn + GOLDEN) % 1
    subflow.next_loss = gap(subflow.path.loss, subflow.drawn)
    subflow.recovered = now + subflow.rtt


def overflow(
    links: Sequence[FluidLink], queues: list[float], users: list[list[SubflowState]]
) -> None:
    """Reduce the windows that overflow a queue."""
    for number, link in enumerate(links):
        if queues[number] <= link.queue:
            continue
        flows = [each for each in users[number] if each.in_flight > 0]
        total = sum(each.in_flight * each.connection.count for each in flows)
        for each in flows:
            each.overflow += each.in_flight * each.connection.count / total
        worst = max(flows, key=lambda each: each.overflow)
        for each in flows:
            slow_start = each.window.slow_start
            if each is worst or slow_start:
                each.overflow = 0.0
                # Slow start sends this much in the round trip before it detects the loss.
                flight = each.window.size
                share = 1 / each.connection.count
                before = each.window.size
                coupling.lose(each.connection.congestion, each, flight)
                if not slow_start and share < 1:
                    each.window.size = before + (each.window.size - before) * share
        queues[number] = link.queue
