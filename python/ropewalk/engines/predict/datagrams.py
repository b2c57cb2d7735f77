"""Datagrams over wired links: without congestion control, each link is computed alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ...scenario.setup import Direction, Link, Setup
from ...units import BITS_TO_MBPS
from .paths import paths
from .result import NoFormulaError, Prediction

NAME = "datagrams"
SOURCE = (
    "each link in turn carries at most its rate and loses its share; queueing by Pollaczek and"
    " Khinchine (M/D/1), in a series of links only at the slowest (Friedman, Operations"
    " Research 13, 1965)"
)
VALIDITY = "links with constant rate, delay and loss, without other traffic"
NEARLY_FULL = 0.95  # load from which a run is too short for the stationary mean


@dataclass(frozen=True)
class _DatagramLoad:
    """Datagrams at a link's input: bit/s of IP packets, and losses and delays so far."""

    rate: float
    delay: float = 0.0
    slowest: float = 0.0  # longest transmission time so far, s
    load: float = 0.0  # of that link
    queues: tuple[
        tuple[float, float], ...
    ] = ()  # longest wait in each queue, s, and its first time


def predict(setup: Setup) -> Prediction | None:
    """Predict goodput, loss and mean delay of datagrams over wires; None for other protocols."""
    flow, traffic = setup.first, setup.first.traffic
    if flow.protocol != "udp":
        return None
    (path,) = paths(setup)
    payload = traffic.message or flow.segment
    packet = payload + flow.header_bytes
    links = [setup.links[hop] for hop in path.hops]
    bulk = traffic.kind == "bulk"
    first = links[0].forward.rate
    offered = first if bulk else traffic.rate * packet / payload
    if math.isinf(offered):
        raise NoFormulaError("bulk datagrams need a rate for their first link")
    stream = _DatagramLoad(offered)
    for link in links:
        stream = _after(stream, link.forward, packet)
    duration, size = _duration(setup, offered, payload / packet)
    waits = traffic.kind == "poisson" and not stream.queues
    waiting = stream.load * stream.slowest / (2 * (1 - stream.load)) if waits else 0.0
    filling = math.fsum(
        _mean_ramp(most, full, setup.warmup, duration) for most, full in stream.queues
    )
    last = math.fsum(most * min(duration / full, 1) for most, full in stream.queues)
    kept = stream.rate / offered
    quantities: dict[str, Any] = {
        "offered_mbps": offered * BITS_TO_MBPS * payload / packet,
        "lost_ratio": 1 - kept,
    }
    if size is not None and kept == 1:
        quantities["completion_s"] = duration + stream.delay + last
    return Prediction(
        NAME,
        SOURCE,
        VALIDITY,
        goodput_mbps=stream.rate * BITS_TO_MBPS * payload / packet,
        delay_ms={"mean": 1e3 * (stream.delay + waiting + filling)},
        bottleneck=_bottleneck(links, packet, offered, bulk),
        warnings=_outside(links, waits and stream.load > NEARLY_FULL),
        quantities=quantities,
        cost=_cost(links, packet, offered),
    )


def _after(stream: _DatagramLoad, link: Direction, packet: int) -> _DatagramLoad:
    """Return the output of a link; excess input fills its queue, then is dropped."""
    rate = link.rate
    takes = 8 * packet / rate
    queues, slowest, load = stream.queues, stream.slowest, stream.load
    if takes > slowest:
        slowest, load = takes, stream.rate / rate
    if stream.rate > rate:
        queued = 8 * _waiting_bytes(link, packet)
        queues = (*queues, (queued / rate, queued / (stream.rate - rate)))
    return _DatagramLoad(
        min(stream.rate, rate) * (1 - link.loss),
        stream.delay + takes + link.delay,
        slowest,
        load,
        queues,
    )


def _waiting_bytes(link: Direction, packet: int) -> float:
    """Return the bytes in a full queue: whole packets, besides the one in transmission."""
    if link.queue_packets is not None:
        return float(link.queue_packets * packet)
    return float(link.queue // packet * packet)


def _duration(setup: Setup, offered: float, share: float) -> tuple[float, int | None]:
    """Return the sending time of datagrams, s, and the bytes of a finite transfer."""
    duration: float = setup.duration
    size: int | None = setup.first.traffic.size
    if size is None:
        return duration, None
    takes = 8 * size / share / offered
    return (takes, size) if takes <= duration else (duration, None)


def _mean_ramp(most: float, full: float, begin: float, end: float) -> float:
    """Return the mean between two times of a linear ramp that stays at its maximum."""
    if end <= begin:
        return most

    def area(time: float) -> float:
        rising = min(time, full)
        return most * (rising**2 / (2 * full) + time - rising)

    return (area(end) - area(begin)) / (end - begin)


def _bottleneck(links: list[Link], packet: int, offered: float, bulk: bool) -> str:
    rate, narrow = offered, f"the rate of {links[0].name}" if bulk else ""
    for link in links:
        limit = link.forward.rate
        if rate > limit:
            rate, narrow = limit, f"the rate of {link.name}"
        rate *= 1 - link.forward.loss
    return narrow or "none: the links carry the offered load"


def _cost(links: list[Link], packet: int, offered: float) -> float | None:
    if not any(link.cost is not None for link in links):
        return None
    cost, stream = 0.0, _DatagramLoad(offered)
    for link in links:
        stream = _after(stream, link.forward, packet)
        cost += (link.cost or 0.0) * stream.rate * BITS_TO_MBPS
    return cost


def _outside(links: list[Link], nearly_full: bool) -> tuple[str, ...]:
    forward = [link.forward for link in links]
    checks = {
        "a link's rate follows a trace: the formula uses its mean": any(
            direction.trace is not None for direction in forward
        ),
        "links have outages: the formula ignores them": any(link.down for link in links),
        "links have jitter or slots: the formula assumes constant delays": any(
            direction.jitter or direction.slot for direction in forward
        ),
        "a link's load is close to its rate: its queue varies slowly, so that a run may"
        " differ from the mean": nearly_full,
    }
    return tuple(text for text, holds in checks.items() if holds)
