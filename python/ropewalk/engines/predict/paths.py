"""The paths of the measured connection, each with the sums of its hops."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from ...scenario.setup import Flow, Link, Setup


@dataclass(frozen=True)
class ConnectionPath:
    """A path of the measured connection, with the values of its hops combined.

    `hops` has the indices of its links. `rate` and `reverse_rate` are those of its narrowest link,
    bit/s of IP packets, infinite if all are unlimited; `delay` (one-way) and `rtt` are propagation
    delays, s. If a hop is on an 802.11 channel (`wireless`), rates, delays and losses cover only
    the wired hops.
    """

    name: str
    hops: tuple[int, ...]
    rate: float
    reverse_rate: float
    delay: float
    rtt: float
    loss: float
    reverse_loss: float
    wireless: bool = False


def paths(setup: Setup, flow: Flow | None = None) -> tuple[ConnectionPath, ...]:
    """Return the paths that a connection uses, in order; one for TCP.

    Examples
    --------
    >>> import ropewalk
    >>> setup = ropewalk.Scenario.load("start/two-links").setup
    >>> [(path.name, path.rate, path.rtt) for path in paths(setup)]
    [('dsl', 16000000, 0.04), ('cable', 50000000, 0.016)]
    """
    numbers = {link.name: number for number, link in enumerate(setup.links)}
    names = (flow or setup.first).paths
    return tuple(_path(numbers, name, setup.links_of(name)) for name in names)


def payload_share(setup: Setup) -> float:
    """Return the ratio of payload to size of a full packet.

    Examples
    --------
    >>> import ropewalk
    >>> setup = ropewalk.Scenario.load("start/two-links").setup
    >>> round(payload_share(setup), 4)
    0.9493
    """
    return setup.first.segment / setup.first.packet


def _path(numbers: Mapping[str, int], name: str, links: tuple[Link, ...]) -> ConnectionPath:
    wires = [link for link in links if link.channel is None]
    forward = [link.forward for link in wires]
    reverse = [link.reverse for link in wires]
    delay = math.fsum(direction.delay for direction in forward)
    return ConnectionPath(
        name=name,
        hops=tuple(numbers[link.name] for link in links),
        rate=min((direction.rate for direction in forward), default=math.inf),
        reverse_rate=min((direction.rate for direction in reverse), default=math.inf),
        delay=delay,
        rtt=delay + math.fsum(direction.delay for direction in reverse),
        loss=1 - math.prod(1 - direction.loss for direction in forward),
        reverse_loss=1 - math.prod(1 - direction.loss for direction in reverse),
        wireless=len(wires) < len(links),
    )
