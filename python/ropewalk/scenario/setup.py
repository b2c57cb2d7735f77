"""The resolved scenario as typed data classes, every default filled in, in base units.

Times are in seconds, rates in bit/s of IP packets, sizes in bytes, shares of one, decibels, metres
and hertz. What is unlimited is infinite; what is not given is None.

`setup_of` makes them of `Scenario.values`, which has further keys that nothing here computes with.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar

from .radios import Channel, Fading, Mesh, Node, Propagation, Radio

__all__ = [
    "Channel",
    "Direction",
    "Fading",
    "Flow",
    "Link",
    "Mesh",
    "Node",
    "Propagation",
    "Radio",
    "Setup",
    "Traffic",
    "setup_of",
]

T = TypeVar("T")


@dataclass(frozen=True)
class Direction:
    """One direction of a link.

    Attributes
    ----------
    delay : float
        Propagation delay, s.
    jitter : float
        Most that the delay varies, s.
    slot : float
        Longest time for which packets are held to leave together, s.
    loss : float
        Mean share of packets that random loss drops; on an 802.11 channel, of each try.
    rate : float
        Bit/s; the mean of a trace. Infinite if unlimited, and on an 802.11 channel.
    queue : float
        Bytes; infinite if unlimited.
    queue_packets : int or None
        Length of the queue in packets, where the file gives it so.
    trace : str or None
        File of the trace that the rate follows.
    """

    delay: float
    jitter: float
    slot: float
    loss: float
    rate: float = math.inf
    queue: float = math.inf
    queue_packets: int | None = None
    trace: str | None = None


@dataclass(frozen=True)
class Link:
    """A link.

    Attributes
    ----------
    name : str
        Name of the link.
    forward, reverse : Direction
        The direction from client to server, and the other one.
    down : tuple of (float, float)
        Begin and end of each outage, s.
    ends : tuple of (str, str), or None
        Nodes at both ends, where the scenario names them.
    channel : str or None
        Its 802.11 channel; None of a wire.
    cost : float or None
        Price of a Mbit/s.
    quota : int or None
        Bytes that may be used in a period.
    """

    name: str
    forward: Direction
    reverse: Direction
    down: tuple[tuple[float, float], ...] = ()
    ends: tuple[str, str] | None = None
    channel: str | None = None
    cost: float | None = None
    quota: int | None = None

    @property
    def directions(self) -> tuple[Direction, Direction]:
        """Both directions, the forward one first."""
        return self.forward, self.reverse


@dataclass(frozen=True)
class Traffic:
    """Traffic of a flow's application.

    Attributes
    ----------
    kind : str
        ``bulk``, ``cbr``, ``poisson``, ``video``, ``chunks``, ``request`` or ``web``.
    rate : float
        Mean rate of the application's bytes, bit/s; 0 where the traffic has none.
    message : int
        Bytes of a message; 0 where there are none.
    size : int or None
        Bytes of a bulk transfer, a response, or a page.
    deadline : float or None
        Age from which on data are late, s.
    preset : str or None
        Name of the distribution that sizes are drawn from.
    buffer_max : float or None
        Most that a player holds, s.
    """

    kind: str
    rate: float = 0.0
    message: int = 0
    size: int | None = None
    deadline: float | None = None
    preset: str | None = None
    buffer_max: float | None = None

    @property
    def most(self) -> float:
        """Bytes of a transfer; infinite where it goes on until the duration ends."""
        return math.inf if self.size is None else self.size


@dataclass(frozen=True)
class Flow:
    """A flow: its transport, its paths and its traffic.

    Datagrams have no windows, buffers and algorithms; these are then 0, False, empty or None.

    Attributes
    ----------
    name : str
        Name of the flow.
    protocol : str
        ``tcp``, ``udp``, ``striped-tcp``, ``mptcp``, ``mptcp-ns3`` or ``bas``.
    paths : tuple of str
        Names of its paths; that of a link is a path over this link alone.
    count : int
        Number of connections.
    start : float
        Time of the start, s.
    traffic : Traffic
        What its application sends.
    segment : int
        Payload of a full segment, bytes.
    header_bytes : int
        Bytes of an IP packet with data that are no payload.
    ack_bytes : int
        Size of an acknowledgement's IP packet.
    in_turn : bool
        Whether each of the connections uses one of the paths.
    device : str or None
        Device of ``striped-tcp``.
    profile : str or None
        Set of ``mptcp-ns3`` alone.
    congestion, subflow, scheduler, reordering : str or None
        Names of the algorithms.
    congestion_parameters, subflow_parameters, scheduler_parameters : mapping
        Their parameters that differ from the defaults.
    initial_ssthresh : float
        Bytes; infinite if unlimited.
    receive_window_share : float
        Share of the receive buffer that may be advertised.
    delayed_ack_timeout, initial_rto, min_rto : float
        Times, s.
    initial_window, receive_buffer, send_buffer, main_buffer : int
        Sizes, bytes; the last of ``bas`` alone.

    Other attributes are keys of ``[transport]``, as docs/keys.md describes them.
    """

    name: str
    protocol: str
    paths: tuple[str, ...]
    count: int
    start: float
    traffic: Traffic
    segment: int
    header_bytes: int
    ack_bytes: int = 0
    in_turn: bool = False
    device: str | None = None
    profile: str | None = None
    congestion: str = ""
    congestion_parameters: Mapping[str, Any] = field(default_factory=dict)
    subflow: str = ""
    subflow_parameters: Mapping[str, Any] = field(default_factory=dict)
    scheduler: str = ""
    scheduler_parameters: Mapping[str, Any] = field(default_factory=dict)
    reordering: str = ""
    subflows_per_path: int = 1
    initial_window: int = 0
    initial_ssthresh: float = math.inf
    receive_buffer: int = 0
    receive_window_share: float = 0.0
    send_buffer: int = 0
    send_buffer_autotuning: bool = False
    main_buffer: int = 0
    delayed_ack: int = 0
    delayed_ack_timeout: float = 0.0
    initial_rto: float = 0.0
    min_rto: float = 0.0
    byte_counting: bool = False
    charge_reordered: bool = False
    grow_in_disorder: bool = False
    halve_pipe: bool = False
    hystart: bool = False
    limited_transmit: bool = False
    prr: bool = False
    quick_ack: bool = False
    rack: bool = False
    sack: bool = False
    min_rto_on_variance: bool = False

    @property
    def window(self) -> float:
        """Most that the receiver advertises, bytes."""
        return self.receive_buffer * self.receive_window_share

    @property
    def packet(self) -> int:
        """Size of a full IP packet, bytes."""
        return self.segment + self.header_bytes


@dataclass(frozen=True)
class Setup:
    """A resolved scenario.

    Attributes
    ----------
    title : str
        Title of the scenario.
    duration, warmup : float
        Latest end of a run, and the begin of measurements, s.
    links : tuple of Link
        The links.
    hops : mapping of str to tuple of str
        By each path of several links or of another name: its links, in turn.
    first : Flow
        The measured flow.
    flows, competitors : tuple of Flow
        Further flows.
    channels, nodes : tuple
        802.11 channels, and nodes with a position.
    mesh : Mesh or None
        The mesh that links and paths are of.
    """

    title: str
    duration: float
    warmup: float
    links: tuple[Link, ...]
    hops: Mapping[str, tuple[str, ...]]
    first: Flow
    flows: tuple[Flow, ...]
    competitors: tuple[Flow, ...]
    channels: tuple[Channel, ...]
    nodes: tuple[Node, ...]
    mesh: Mesh | None

    @property
    def others(self) -> tuple[Flow, ...]:
        """The flows after the first one, competitors included."""
        return self.flows + self.competitors

    @property
    def every_flow(self) -> tuple[Flow, ...]:
        """All flows, the first one first."""
        return (self.first, *self.others)

    @property
    def is_wireless(self) -> bool:
        """Whether a link is on an 802.11 channel."""
        return any(link.channel is not None for link in self.links)

    @property
    def has_prices(self) -> bool:
        """Whether a link has a price."""
        return any(link.cost is not None for link in self.links)

    def with_paths(self, paths: Sequence[str]) -> Setup:
        """Return the scenario with other paths of the measured flow.

        Examples
        --------
        >>> import ropewalk
        >>> setup = ropewalk.Scenario.load("start/two-links").setup
        >>> setup.with_paths(["dsl"]).first.paths
        ('dsl',)
        """
        return replace(self, first=replace(self.first, paths=tuple(paths)))

    def links_of(self, path: str) -> tuple[Link, ...]:
        """Return the links of a path, in turn.

        Examples
        --------
        >>> import ropewalk
        >>> setup = ropewalk.Scenario.load("start/two-links").setup
        >>> [(link.name, link.forward.rate) for link in setup.links_of("dsl")]
        [('dsl', 16000000)]
        """
        named = {link.name: link for link in self.links}
        return tuple(named[hop] for hop in self.hops.get(path, (path,)))


def setup_of(values: Mapping[str, Any]) -> Setup:
    """Return the values of a scenario as data classes.

    Parameters
    ----------
    values : mapping
        `ropewalk.Scenario.values`.

    Examples
    --------
    >>> import ropewalk
    >>> setup = setup_of(ropewalk.Scenario.load("start/two-links").values)
    >>> setup.first.protocol, setup.first.paths, setup.links[0].forward.delay
    ('mptcp', ('dsl', 'cable'), 0.02)
    """
    return Setup(
        title=values["title"],
        duration=values["duration"],
        warmup=values["warmup"],
        links=tuple(map(_link, values["link"])),
        hops={path["name"]: tuple(path["hops"]) for path in values["path"]},
        first=_flow(values["transport"], values["traffic"]),
        flows=tuple(_flow(each, each["traffic"]) for each in values["flow"]),
        competitors=tuple(_flow(each, each["traffic"]) for each in values["competitor"]),
        channels=tuple(map(_channel, values["channel"])),
        nodes=tuple(map(_node, values["node"])),
        mesh=_made(Mesh, values["mesh"]) if "mesh" in values else None,
    )


def _link(known: Mapping[str, Any]) -> Link:
    return _made(
        Link,
        known,
        forward=_made(Direction, known["forward"]),
        reverse=_made(Direction, known["reverse"]),
        ends=(known["from"], known["to"]) if "from" in known else None,
    )


def _flow(known: Mapping[str, Any], traffic: Mapping[str, Any]) -> Flow:
    return _made(Flow, known, traffic=_made(Traffic, traffic))


def _channel(known: Mapping[str, Any]) -> Channel:
    propagation, errors = known["propagation"], known["error_model"]
    fading = propagation.get("fading")
    return Channel(
        known["name"],
        _made(Propagation, propagation, fading=fading and _made(Fading, fading)),
        "own table" if "table" in errors else errors["model"],
    )


def _node(known: Mapping[str, Any]) -> Node:
    return _made(Node, known, radios=tuple(_made(Radio, each) for each in known["radios"]))


def _made(cls: type[T], known: Mapping[str, Any], **more: Any) -> T:
    """Return a data class of the keys that it has; lists become tuples."""
    names = {each.name for each in fields(cls)} - more.keys()  # type: ignore[arg-type]
    return cls(**{name: _frozen(known[name]) for name in names if name in known}, **more)


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
