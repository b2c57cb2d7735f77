"""A run of the fluid model, step by step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from . import coupling, sharing
from .components import ConnectionState, FluidConnection, FluidLink, SubflowState, checked
from .losses import GOLDEN, gap, lose_one, overflow, silenced
from .window import NEVER, Window, hystart_exit

STEPS = 40  # steps of a run, besides short ones at the start
FIRST_STEP = 0.25  # first step, in smallest round trips
RELATIVE_STEP = 0.2  # longest step, as a share of the time so far


@dataclass(frozen=True)
class Outcome:
    """Results of one connection.

    Attributes
    ----------
    goodput : float
        In-order payload per second of the measured time, bytes.
    delivered : float
        In-order payload of the measured time, bytes.
    completion : float
        Arrival of the last byte; infinity if not all arrived.
    subflows : tuple of float
        Payload of each, bytes per second.
    rtts : tuple of float
        Round trip of each at the end, with queues, seconds.
    limited : float
        Share of the time in which the shared window, not congestion control, limited a subflow.
    """

    goodput: float
    delivered: float
    completion: float
    subflows: tuple[float, ...]
    rtts: tuple[float, ...]
    limited: float


def run(
    links: Sequence[FluidLink],
    connections: Sequence[FluidConnection],
    duration: float,
    warmup: float = 0.0,
) -> list[Outcome]:
    """Run connections over links.

    Parameters
    ----------
    links : sequence of Link
    connections : sequence of Connection
        The first one's end is the end of the run.
    duration, warmup : float
        Length of the run and start of measurements, seconds.

    Examples
    --------
    A TCP over 10 Mbit/s and 40 ms gets the rate without headers:

    >>> from ropewalk.model.fluid import FluidConnection, FluidLink, FluidPath
    >>> path = FluidPath(links=(0,), delay=0.02, rtt=0.04)
    >>> tcp = FluidConnection((path,), "cubic", segment=1448, packet=1500)
    >>> outcome = run([FluidLink(1.25e6, 50e3)], [tcp], 30)[0]
    >>> round(outcome.goodput * 8e-6, 1)
    9.6
    """
    checked(links, connections, duration, warmup)
    coupling.checked([connection.congestion for connection in connections])
    queues = [0.0] * len(links)
    bulks = [_begin(links, connection) for connection in connections]
    users: list[list[SubflowState]] = [[] for _ in links]
    for bulk in bulks:
        for subflow in bulk.subflows:
            for link in subflow.path.links:
                users[link].append(subflow)
    for each in users:
        if len(each) > 1:
            for subflow in each:
                subflow.alone = False
    least = min(subflow.path.rtt for bulk in bulks for subflow in bulk.subflows)
    now = min(subflow.begins for bulk in bulks for subflow in bulk.subflows)
    while now < duration:
        step = min(
            max(FIRST_STEP * least, min(duration / STEPS, RELATIVE_STEP * now)), duration - now
        )
        if now < warmup:
            step = min(step, warmup - now)
        step = max(step, 1e-9)
        now += step
        _fill(links, queues, users, bulks, now)
        for bulk in bulks:
            _grow(bulk, links, now, step)
        overflow(links, queues, users)
        for bulk in bulks:
            _deliver(bulk, now, step, warmup)
        if bulks[0].complete < NEVER:
            break
    return [_outcome(bulk, min(duration, bulks[0].complete), warmup) for bulk in bulks]


def _begin(links: Sequence[FluidLink], connection: FluidConnection) -> ConnectionState:
    subflows = []
    joined = connection.start
    for number, path in enumerate(connection.paths):
        lost = path.loss + path.reverse_loss
        handshake = path.rtt + connection.initial_rto * min(lost, 1.0)
        if number == 0:
            joined += handshake
            begins = joined
        else:
            # RFC 8684: MP_JOIN follows when the first subflow has delivered data; data may use the
            # new subflow when its third ACK is acknowledged.
            begins = joined + connection.paths[0].rtt + handshake + path.rtt
        rates = [links[link].rate for link in path.links]
        narrowest = min(rates, default=math.inf) / connection.packet
        cubic = connection.congestion == "cubic"
        out = (
            hystart_exit(narrowest, path.rtt, connection.per_ack)
            if cubic and connection.hystart
            else NEVER
        )
        window = Window(connection.initial_window, connection.initial_threshold, cubic)
        drawn = (0.5 + GOLDEN * number) % 1
        until = gap(path.loss, drawn)
        subflows.append(
            SubflowState(
                connection, path, window, begins, out, narrowest, until, drawn, rtt=path.rtt
            )
        )
    for each in subflows:
        each.siblings = subflows
    return ConnectionState(connection, subflows)


def _fill(
    links: Sequence[FluidLink],
    queues: list[float],
    users: list[list[SubflowState]],
    bulks: list[ConnectionState],
    now: float,
) -> None:
    """Distribute data over subflows, and find the queues at which links are in balance."""
    for bulk in bulks:
        active = [each for each in bulk.subflows if _is_on(each, now)]
        for subflow in bulk.subflows:
            subflow.in_flight = subflow.held = 0.0
        if active and bulk.complete == NEVER:
            sharing.share(bulk, active)
    for number, link in enumerate(links):
        flows = [each for each in users[number] if each.in_flight > 0]
        if not flows or link.rate == math.inf:
            queues[number] = 0.0
            continue
        loads = []
        for each in flows:
            others = sum(
                queues[other] / links[other].rate for other in each.path.links if other != number
            )
            data = each.in_flight * each.connection.packet * each.connection.count
            loads.append((data, each.path.rtt + others))
        queues[number] = _queue(loads, link.rate, queues[number])
    for bulk in bulks:
        for subflow in bulk.subflows:
            waited = sum(
                min(queues[link], links[link].queue) / links[link].rate
                for link in subflow.path.links
            )
            subflow.rtt = subflow.path.rtt + waited
            subflow.rate = min(subflow.in_flight / subflow.rtt, subflow.narrowest)
    for number, link in enumerate(links):
        if queues[number] <= link.queue or len(users[number]) == 1:
            continue
        offered = sum(
            each.rate * each.connection.packet * each.connection.count for each in users[number]
        )
        if offered > link.rate:
            for each in users[number]:
                each.rate *= link.rate / offered


def _is_on(subflow: SubflowState, now: float) -> bool:
    return subflow.begins <= now and subflow.silent_until <= now


def _queue(loads: list[tuple[float, float]], rate: float, before: float) -> float:
    """Return the queue q, bytes, at which sum(data / (rtt + q / rate)) equals the rate."""
    if len(loads) == 1:
        data, rtt = loads[0]
        return max(data - rate * rtt, 0.0)
    if sum(data / rtt for data, rtt in loads) <= rate:
        return 0.0
    # The sum falls and is convex in q, so Newton's steps from below stay below.
    waited = 0.0
    for _ in range(6):
        value = slope = 0.0
        for data, rtt in loads:
            part = data / (rtt + waited)
            value += part
            slope += part / (rtt + waited)
        ahead = (value - rate) / slope
        waited += ahead
        if ahead < 1e-4 * (waited + 1e-6):
            break
    return waited * rate


def _grow(bulk: ConnectionState, links: Sequence[FluidLink], now: float, step: float) -> None:
    """Increase windows, and reduce them at random losses and outages."""
    connection = bulk.connection
    growth = 2.0 if connection.byte_counting else 1 + 1 / connection.per_ack
    active = [each for each in bulk.subflows if _is_on(each, now)]
    increases = coupling.increases(connection.congestion, active)
    for subflow, increase in zip(active, increases, strict=True):
        if silenced(subflow, links, now):
            continue
        left = step
        window = subflow.window
        limited = subflow.peak >= 0.95 * window.size or (
            window.slow_start and 2 * subflow.peak >= window.size
        )
        filled, rate_filled = max(subflow.in_flight, 1e-9), subflow.rate
        subflow.sent = 0.0
        while left > 0:
            before = window.size
            recovering = max(subflow.recovered - (now - left), 0.0)
            rate = max(_rate(subflow, before, filled, rate_filled), 1e-9)
            lasts = min(left, recovering + subflow.next_loss / rate)
            lost = lasts < left
            if limited:
                rounds = lasts / subflow.rtt
                if not connection.byte_counting and not window.slow_start:
                    rounds /= connection.per_ack
                if window.slow_start:
                    rounds = window.double(rounds, growth, subflow.exit)
                    if window.size >= subflow.exit:
                        window.leave_slow_start()
                if rounds > 0 and not window.slow_start:
                    window.avoid(now - left + lasts, subflow.rtt, rounds, increase)
            rate = (rate + _rate(subflow, window.size, filled, rate_filled)) / 2
            subflow.sent += lasts * rate
            subflow.next_loss -= max(lasts - recovering, 0.0) * rate
            window.since_loss += lasts * rate
            left -= lasts
            if lost:
                lose_one(subflow, now - left)
                left -= max(subflow.silent_until - (now - left), 0.0)


def _rate(subflow: SubflowState, size: float, filled: float, rate: float) -> float:
    """Return the segments per second of a window, if `filled` in flight gave `rate`."""
    if subflow.held < 0.99 * subflow.window.size and size > filled:
        return rate
    if subflow.alone:
        return min(size / subflow.path.rtt, subflow.narrowest)
    return min(rate * size / filled, subflow.narrowest)


def _deliver(bulk: ConnectionState, now: float, step: float, warmup: float) -> None:
    arrived = 0.0
    redundant = bulk.connection.scheduler == "redundant"
    for subflow in bulk.subflows:
        if subflow.in_flight <= 0:
            continue
        sent = subflow.sent * (1 - subflow.path.loss) * bulk.connection.segment
        subflow.delivered += sent
        if now > warmup:
            subflow.measured += sent
        arrived = max(arrived, sent) if redundant else arrived + sent
    bulk.delivered += arrived
    if bulk.held_up:
        bulk.limited += step
    if now <= warmup:
        bulk.before = max(bulk.delivered - bulk.waiting, 0.0)
    if bulk.delivered >= bulk.connection.size and bulk.complete == NEVER:
        excess = (bulk.delivered - bulk.connection.size) / arrived * step
        latest = max(
            each.path.delay + each.rtt - each.path.rtt
            for each in bulk.subflows
            if each.in_flight > 0
        )
        bulk.complete = now - excess + latest


def _outcome(bulk: ConnectionState, end: float, warmup: float) -> Outcome:
    measured = max(end - max(warmup, bulk.connection.start), 1e-9)
    last = 0.0
    if bulk.complete == NEVER:
        # Data in flight, or behind a gap, are not delivered yet.
        last = bulk.waiting + sum(
            each.rate * each.path.delay * bulk.connection.segment for each in bulk.subflows
        )
        if warmup > 0:
            last -= sum(
                each.rate * each.path.delay * bulk.connection.segment for each in bulk.subflows
            )
    delivered = max(min(bulk.delivered, bulk.connection.size) - bulk.before - last, 0.0)
    return Outcome(
        goodput=delivered / measured,
        delivered=delivered,
        completion=bulk.complete,
        subflows=tuple(each.measured / measured for each in bulk.subflows),
        rtts=tuple(each.rtt for each in bulk.subflows),
        limited=bulk.limited / max(end, 1e-9),
    )
