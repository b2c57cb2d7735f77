"""The paths of the measured connection, from a scenario's values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

Values: TypeAlias = Mapping[str, Any]


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


def paths(values: Values) -> tuple[Path, ...]:
    """Return the paths that the measured connection uses, in their order.

    Parameters
    ----------
    values : mapping
        Of `ropewalk.Scenario.values`.

    Returns
    -------
    tuple of Path
        One for tcp.

    Examples
    --------
    >>> import ropewalk
    >>> values = ropewalk.Scenario.load("start/two-links").values
    >>> [(path.name, path.rate, path.rtt) for path in paths(values)]
    [('dsl', 16000000, 0.04), ('cable', 50000000, 0.016)]
    """
    hops = {path["name"]: path["hops"] for path in values["path"]}
    numbers = {link["name"]: number for number, link in enumerate(values["link"])}
    return tuple(
        _path(values, numbers, name, hops.get(name, [name]))
        for name in values["transport"]["paths"]
    )


def header_bytes(transport: Values) -> int:
    """Return how many bytes of each full packet are no payload, options included.

    Parameters
    ----------
    transport : mapping
        The key ``transport`` of `ropewalk.Scenario.values`, or a competitor.

    Examples
    --------
    >>> import ropewalk
    >>> values = ropewalk.Scenario.load("start/two-links").values
    >>> header_bytes(values["transport"]) + values["transport"]["segment"]
    1500
    """
    header: int = transport["header_bytes"]
    return header


def others(values: Values) -> list[Values]:
    """Return the flows beside the first one, competitors included.

    Examples
    --------
    >>> import ropewalk
    >>> others(ropewalk.Scenario.load("start/two-links").values)
    []
    """
    return [*values["flow"], *values["competitor"]]


def ack_bytes(transport: Values) -> int:
    """Return the size of an acknowledgement's IP packet in bytes.

    Examples
    --------
    >>> import ropewalk
    >>> values = ropewalk.Scenario.load("start/two-links").values
    >>> ack_bytes(values["transport"])
    64
    """
    acknowledgement: int = transport["ack_bytes"]
    return acknowledgement


def payload_share(values: Values) -> float:
    """Return the share of a full packet that is payload.

    Examples
    --------
    >>> import ropewalk
    >>> values = ropewalk.Scenario.load("start/two-links").values
    >>> round(payload_share(values), 4)
    0.9493
    """
    segment: int = values["transport"]["segment"]
    return segment / (segment + header_bytes(values["transport"]))


def _path(values: Values, numbers: Mapping[str, int], name: str, hops: list[str]) -> Path:
    links = [values["link"][numbers[hop]] for hop in hops]
    wires = [link for link in links if "channel" not in link]
    forward = [link["forward"] for link in wires]
    reverse = [link["reverse"] for link in wires]
    delay = math.fsum(way["delay"] for way in forward)
    return Path(
        name=name,
        hops=tuple(numbers[hop] for hop in hops),
        rate=min((way.get("rate", math.inf) for way in forward), default=math.inf),
        reverse_rate=min((way.get("rate", math.inf) for way in reverse), default=math.inf),
        delay=delay,
        rtt=delay + math.fsum(way["delay"] for way in reverse),
        loss=1 - math.prod(1 - way["loss"] for way in forward),
        reverse_loss=1 - math.prod(1 - way["loss"] for way in reverse),
        wireless=len(wires) < len(links),
    )
