"""The paths of the measured connection, from a scenario's values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from ...scenario.setup import Flow, Link, Setup


@dataclass(frozen=True)
class Path:
    """One path of the measured connection, its hops taken together.

    Attributes
    ----------
    name : str
        Its name.
    hops : tuple of int
        Numbers of its links, in turn.
    rate : float
        Of its narrowest link, bit/s of IP packets; infinity if all are unlimited.
    reverse_rate : float
        The same on the way back.
    delay : float
        Propagation, one way, seconds.
    rtt : float
        Propagation there and back, seconds.
    loss : float
        Share of packets that random loss takes on the way of the data.
    reverse_loss : float
        The same on the way back.
    wireless : bool
        Whether one of its hops is on an 802.11 channel: rates and delays are then of its wires
        alone, and what its radios lose is not counted.
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


def paths(setup: Setup, flow: Flow | None = None) -> tuple[Path, ...]:
    """Return the paths that a connection uses, in their order.

    Parameters
    ----------
    setup : Setup
        The scenario, of `ropewalk.Scenario.setup`.
    flow : Flow, optional
        The connection; the measured one if not given.

    Returns
    -------
    tuple of Path
        One for tcp.

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
    """Return the share of a full packet that is payload.

    Examples
    --------
    >>> import ropewalk
    >>> setup = ropewalk.Scenario.load("start/two-links").setup
    >>> round(payload_share(setup), 4)
    0.9493
    """
    return setup.first.segment / setup.first.packet


def _path(numbers: Mapping[str, int], name: str, links: tuple[Link, ...]) -> Path:
    wires = [link for link in links if link.channel is None]
    forward = [link.forward for link in wires]
    reverse = [link.reverse for link in wires]
    delay = math.fsum(way.delay for way in forward)
    return Path(
        name=name,
        hops=tuple(numbers[link.name] for link in links),
        rate=min((way.rate for way in forward), default=math.inf),
        reverse_rate=min((way.rate for way in reverse), default=math.inf),
        delay=delay,
        rtt=delay + math.fsum(way.delay for way in reverse),
        loss=1 - math.prod(1 - way.loss for way in forward),
        reverse_loss=1 - math.prod(1 - way.loss for way in reverse),
        wireless=len(wires) < len(links),
    )
