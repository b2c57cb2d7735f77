"""The resolved scenario as typed data classes, with all defaults, in base units.

Units: s, bit/s of IP packets, bytes, ratios (0 to 1), dB, m, Hz. Unlimited values are infinite;
absent ones are None.

`setup_of` makes them from `Scenario.values`, without the keys that no computation uses.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar

from ..support.deprecation import renamed
from .radios import Channel, Fading, Mesh, Node, NodeRadio, Propagation

__all__ = [
    "Channel",
    "Direction",
    "Fading",
    "Flow",
    "Link",
    "Mesh",
    "Node",
    "NodeRadio",
    "Propagation",
    "Setup",
    "Traffic",
    "setup_of",
]
__getattr__ = renamed(__name__, {"Radio": "NodeRadio"})

T = TypeVar("T")


@dataclass(frozen=True)
class Direction:
    """One direction of a link.

    Attributes
    ----------
    delay : float
        Propagation delay, s.
    jitter : float
        Largest variation of the delay, s.
    slot : float
        Longest time for which packets are held to leave together, s.
    loss : float
        Mean ratio of random packet loss; on an 802.11 channel, per transmission.
    rate : float
        Bit/s; the mean of a trace. Infinite if unlimited and on an 802.11 channel.
    queue : float
        Bytes; infinite if unlimited.
    queue_packets : int or None
        Queue length in packets, if the file gives it so.
    trace : str or None
        File of the rate's trace.
    loss_in_bursts : bool
        Whether losses come in bursts (``model = "gilbert-elliott"``).
    """

    delay: float
    jitter: float
    slot: float
    loss: float
    rate: float = math.inf
    queue: float = math.inf
    queue_packets: int | None = None
    trace: str | None = None
    loss_in_bursts: bool = False


@dataclass(frozen=True)
class Link:
    """A link.

    Attributes
    ----------
    name : str
    forward, reverse : Direction
        Client to server, and back.
    down : tuple of (float, float)
        Start and end of each outage, s.
    ends : tuple of (str, str), or None
        Nodes at both ends, if named.
    channel : str or None
        Its 802.11 channel; None for a wired link.
    cost : float or None
        Price per Mbit/s.
    quota : int or None
        Bytes allowed in a period.
    strips_mptcp : str or None
        MPTCP options that a middlebox removes.
    """

    name: str
    forward: Direction
    reverse: Direction
    down: tuple[tuple[float, float], ...] = ()
    ends: tuple[str, str] | None = None
    channel: str | None = None
    cost: float | None = None
    quota: int | None = None
    strips_mptcp: str | None = None

    @property
    def directions(self) -> tuple[Direction, Direction]:
        """Both directions, forward first."""
        return self.forward, self.reverse


@dataclass(frozen=True)
class Traffic:
    """Traffic of a flow's application.

    Attributes
    ----------
    kind : str
        ``bulk``, ``cbr``, ``poisson``, ``video``, ``chunks``, ``request`` or ``web``.
    rate : float
        Mean application rate, bit/s; 0 if the traffic has none.
    message : int
        Bytes of a message; 0 if there are none.
    size : int or None
        Bytes of a bulk transfer, response or page.
    deadline : float or None
        Age from which data are late, s.
    preset : str or None
        Name of the size distribution.
    buffer_max : float or None
        Capacity of the player's buffer, s.
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
        """Bytes of a transfer; infinite if it continues until the duration ends."""
        return math.inf if self.size is None else self.size


@dataclass(frozen=True)
class Flow:
    """A flow: its transport, paths and traffic.

    For datagrams, windows, buffers and algorithms are 0, False, empty or None.

    Attributes
    ----------
    name : str
    protocol : str
        ``tcp``, ``udp``, ``striped-tcp``, ``mptcp``, ``mptcp-ns3``, ``bas`` or ``gateway``.
    paths : tuple of str
        Names of its paths. A link's name is a path over this link alone.
    count : int
        Number of connections.
    start : float
        s.
    traffic : Traffic
        Traffic of its application.
    segment : int
        Payload of a full segment, bytes.
    header_bytes : int
        Headers in an IP packet with data, bytes.
    ack_bytes : int
        Size of an ACK's IP packet, bytes.
    in_turn : bool
        Whether each connection uses only one of the paths, assigned round-robin.
    device : str or None
        Device of ``striped-tcp``.
    carries : str or None
        Traffic of ``gateway``: ``tcp``, ``quic`` or ``udp``.
    profile : str or None
        Option set; only for ``mptcp-ns3``.
    congestion, subflow, scheduler, reordering : str or None
        Names of the algorithms.
    congestion_parameters, subflow_parameters, scheduler_parameters : mapping
        Parameters that differ from the defaults.
    initial_ssthresh : float
        Bytes; infinite if unlimited.
    receive_window_share : float
        Share of the receive buffer that may be advertised.
    delayed_ack_timeout, initial_rto, min_rto : float
        s.
    initial_window, receive_buffer, send_buffer, main_buffer : int
        Bytes; the last only for ``bas`` and ``gateway``.

    For other attributes see the keys of ``[transport]`` in docs/keys.md.
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
    carries: str | None = None
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
    def aggregates(self) -> bool:
        """Whether an aggregation above TCP carries it, alone or as a part of the gateway."""
        return self.protocol == "bas" or self.carries == "tcp"

    @property
    def window(self) -> float:
        """Largest advertised window, bytes."""
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
    duration, warmup : float
        Latest end of a run, and start of measurements, s.
    hops : mapping of str to tuple of str
        Links of each path, in order; only paths of several links or with another name.
    first : Flow
        The measured flow.
    flows, competitors : tuple of Flow
        Further flows.
    channels, nodes : tuple
        802.11 channels, and nodes with a position.
    mesh : Mesh or None
        The mesh that links and paths come from.
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
        """The flows after the first, competitors included."""
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
        """Return the scenario with other paths for the measured flow.

        Examples
        --------
        >>> import ropewalk
        >>> setup = ropewalk.Scenario.load("start/two-links").setup
        >>> setup.with_paths(["dsl"]).first.paths
        ('dsl',)
        """
        return replace(self, first=replace(self.first, paths=tuple(paths)))

    def links_of(self, path: str) -> tuple[Link, ...]:
        """Return the links of a path, in order.

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
    """Return `ropewalk.Scenario.values` as data classes.

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
        mesh=_from_known(Mesh, values["mesh"]) if "mesh" in values else None,
    )


def _link(known: Mapping[str, Any]) -> Link:
    return _from_known(
        Link,
        known,
        forward=_from_known(Direction, known["forward"]),
        reverse=_from_known(Direction, known["reverse"]),
        ends=(known["from"], known["to"]) if "from" in known else None,
    )


def _flow(known: Mapping[str, Any], traffic: Mapping[str, Any]) -> Flow:
    return _from_known(Flow, known, traffic=_from_known(Traffic, traffic))


def _channel(known: Mapping[str, Any]) -> Channel:
    propagation, errors = known["propagation"], known["error_model"]
    fading = propagation.get("fading")
    return Channel(
        known["name"],
        _from_known(Propagation, propagation, fading=fading and _from_known(Fading, fading)),
        "own table" if "table" in errors else errors["model"],
    )


def _node(known: Mapping[str, Any]) -> Node:
    return _from_known(
        Node, known, radios=tuple(_from_known(NodeRadio, each) for each in known["radios"])
    )


def _from_known(cls: type[T], known: Mapping[str, Any], **more: Any) -> T:
    """Return a data class made of the keys that it knows; lists become tuples."""
    names = {each.name for each in fields(cls)} - more.keys()  # type: ignore[arg-type]
    return cls(**{name: _frozen(known[name]) for name in names if name in known}, **more)


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
