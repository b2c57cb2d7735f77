"""Links, paths and connections of the fluid model, and their state."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from .window import NEVER, Window


@dataclass(frozen=True, slots=True)
class FluidLink:
    """A link in the direction of the data.

    Parameters
    ----------
    rate : float
        Bytes of IP packets per second, above 0; infinity for no limit.
    queue : float
        Queue limit without the packet in transmission, bytes, at least 0.
    down : sequence of (float, float)
        Outages: start and end, seconds.
    """

    rate: float
    queue: float = math.inf
    down: Sequence[tuple[float, float]] = ()


@dataclass(frozen=True, slots=True)
class FluidPath:
    """A route from sender to receiver and back.

    Parameters
    ----------
    links : tuple of int
        Indices of the data's links, in order.
    delay : float
        One-way delay without queues, seconds.
    rtt : float
        Round trip without queues, seconds, above 0.
    loss : float
        Ratio of random loss of data packets, at least 0 and below 1.
    reverse_loss : float
        The same in the reverse direction; it affects only the handshake.
    """

    links: tuple[int, ...]
    delay: float
    rtt: float
    loss: float = 0.0
    reverse_loss: float = 0.0


@dataclass(frozen=True, slots=True)
class FluidConnection:
    """A bulk connection: its paths and its endpoints.

    Parameters
    ----------
    paths : tuple of Path
        One per subflow.
    congestion : str
        As in scenario files, but for ``uncoupled`` the subflows' algorithm.
    segment : float
        Payload of a packet, bytes.
    packet : float
        Size of a packet, bytes.
    receive_window : float
        Largest advertised window, bytes.
    send_buffer : float
        Limit of written and unacknowledged data, bytes.
    buffered_windows : float
        Size of the growing send buffer, in congestion windows of the subflows.
    size : float
        Bytes to send; infinity for no end.
    start : float
        Start of the handshake, seconds.
    count : int
        Number of such connections, each with its own paths of the same kind.
    scheduler, charge_reordered, hystart, byte_counting
        As in scenario files.
    per_ack : float
        Segments per acknowledgement.
    initial_window, initial_threshold : float
        Segments.
    min_rto, initial_rto : float
        Seconds.
    shared : bool
        Whether the subflows share one window, as in MPTCP; otherwise each has its own.
    """

    paths: tuple[FluidPath, ...]
    congestion: str
    segment: float
    packet: float
    receive_window: float = math.inf
    send_buffer: float = math.inf
    buffered_windows: float = math.inf
    size: float = math.inf
    start: float = 0.0
    count: int = 1
    scheduler: str = "linux"
    charge_reordered: bool = True
    hystart: bool = True
    byte_counting: bool = True
    per_ack: float = 2.0
    initial_window: float = 10.0
    initial_threshold: float = math.inf
    min_rto: float = 0.2
    initial_rto: float = 1.0
    shared: bool = True


@dataclass(slots=True)
class SubflowState:
    """State of a subflow during a run."""

    connection: FluidConnection
    path: FluidPath
    window: Window
    begins: float
    exit: float
    narrowest: float
    next_loss: float
    drawn: float
    rtt: float = 0.0
    held: float = 0.0
    peak: float = 0.0
    sent: float = 0.0
    alone: bool = True
    in_flight: float = 0.0
    rate: float = 0.0
    silent_until: float = 0.0
    timeouts: float = 0.0
    overflow: float = 0.0
    delivered: float = 0.0
    measured: float = 0.0
    recovered: float = 0.0
    siblings: list[SubflowState] = field(default_factory=list)


@dataclass(slots=True)
class ConnectionState:
    """State of a connection during a run."""

    connection: FluidConnection
    subflows: list[SubflowState]
    waiting: float = 0.0
    widest: float = 0.0
    held_up: bool = False
    limited: float = 0.0
    delivered: float = 0.0
    before: float = 0.0
    complete: float = NEVER


def checked(
    links: Sequence[FluidLink],
    connections: Sequence[FluidConnection],
    duration: float,
    warmup: float,
) -> None:
    """Raise ValueError if an argument is not a number or out of bounds.

    Examples
    --------
    >>> checked([FluidLink(math.nan)], [], 1.0, 0.0)
    Traceback (most recent call last):
    ValueError: links[0].rate is nan: must be above 0
    """
    _above("duration", duration, finite=True)
    if not 0 <= warmup < duration:
        raise ValueError(f"warmup is {warmup:g}: must be at least 0 and below the duration")
    for number, link in enumerate(links):
        _above(f"links[{number}].rate", link.rate)
        _least(f"links[{number}].queue", link.queue)
        for begin, end in link.down:
            if not 0 <= begin < end:
                raise ValueError(
                    f"links[{number}].down has ({begin:g}, {end:g}): must begin before it ends"
                )
    if not connections:
        raise ValueError("connections is empty: at least one is needed")
    for number, connection in enumerate(connections):
        _check_connection(f"connections[{number}]", connection, len(links))


def _check_connection(name: str, connection: FluidConnection, links: int) -> None:
    for key in ("segment", "packet", "receive_window", "send_buffer", "size", "count"):
        _above(f"{name}.{key}", getattr(connection, key))
    for key in ("per_ack", "initial_window", "initial_threshold", "initial_rto"):
        _above(f"{name}.{key}", getattr(connection, key))
    _least(f"{name}.start", connection.start)
    _least(f"{name}.min_rto", connection.min_rto)
    if not connection.paths:
        raise ValueError(f"{name}.paths is empty: at least one is needed")
    for place, path in enumerate(connection.paths):
        _check_path(f"{name}.paths[{place}]", path, links)


def _check_path(name: str, path: FluidPath, links: int) -> None:
    _above(f"{name}.rtt", path.rtt, finite=True)
    _least(f"{name}.delay", path.delay)
    for key in ("loss", "reverse_loss"):
        share = getattr(path, key)
        if not 0 <= share < 1:
            raise ValueError(f"{name}.{key} is {share:g}: must be at least 0 and below 1")
    if any(not 0 <= link < links for link in path.links):
        raise ValueError(f"{name}.links is {path.links}: there are {links} links")


def _above(name: str, value: float, *, finite: bool = False) -> None:
    if not value > 0 or (finite and value == math.inf):
        raise ValueError(f"{name} is {value:g}: must be above 0" + " and finite" * finite)


def _least(name: str, value: float) -> None:
    if not value >= 0:
        raise ValueError(f"{name} is {value:g}: must be at least 0")
