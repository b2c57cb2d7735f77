"""802.11 channels, radios and meshes of a resolved scenario, in base units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Standard: TypeAlias = Literal["802.11b", "802.11a", "802.11g"]


@dataclass(frozen=True)
class Fading:
    """Nakagami fading of a channel: shape `m`, and `far_m` beyond the distance `far`, in m."""

    model: str
    m: float
    far_m: float
    far: float | None = None


@dataclass(frozen=True)
class Propagation:
    """Propagation on a channel; attributes of other models are 0.

    Attributes
    ----------
    model : str
        ``log-distance``, ``friis``, ``two-ray``, ``range`` or ``matrix``.
    exponent, reference_loss, reference_distance : float
        For ``log-distance``: exponent, dB, m.
    frequency, height : float
        For ``friis`` and ``two-ray``: Hz, m.
    range, sense : float
        For ``range``: m.
    loss : tuple of tuple of float or None
        For ``matrix``: dB from each node to each node; None where nothing arrives.
    fading : Fading or None
        Random power per frame.
    """

    model: str
    exponent: float = 0.0
    reference_loss: float = 0.0
    reference_distance: float = 0.0
    frequency: float = 0.0
    height: float = 0.0
    range: float = 0.0
    sense: float = 0.0
    loss: tuple[tuple[float | None, ...], ...] = ()
    fading: Fading | None = None


@dataclass(frozen=True)
class Channel:
    """An 802.11 channel: name, propagation, frame error model.

    `error_model` is ``nist``, ``table``, ``none``, or ``own table`` for a table from a file.
    """

    name: str
    propagation: Propagation
    error_model: str


@dataclass(frozen=True)
class NodeRadio:
    """A node's radio on a channel.

    Attributes
    ----------
    channel : str
    standard, preamble : str
    rate : float or str
        Bit/s, or the name of a rate control.
    basic_rates : tuple of float
        Rates of control frames, bit/s.
    eifs_rate : float
        Rate of the ACK within EIFS, bit/s.
    slot : float
        s.
    tries : int
        Transmissions of a frame before it is dropped.
    rts : int or str
        Frame size from which RTS is used, bytes; ``never``.
    power, sensitivity, sense : float
        Transmit power and thresholds, dBm.
    antenna_gain, noise_figure : float
        dB.
    """

    channel: str
    standard: Standard
    preamble: Literal["long", "short"]
    rate: float | str
    basic_rates: tuple[float, ...]
    eifs_rate: float
    slot: float
    tries: int
    rts: int | str
    power: float
    antenna_gain: float
    noise_figure: float
    sensitivity: float
    sense: float


@dataclass(frozen=True)
class Node:
    """A node: name, position in m (x, y, z), radios."""

    name: str
    at: tuple[float, float, float]
    radios: tuple[NodeRadio, ...] = ()


@dataclass(frozen=True)
class Mesh:
    """A random mesh: node positions, and routes between two nodes.

    Attributes
    ----------
    nodes : tuple of (float, float)
        Positions, m.
    range : float
        Distance up to which nodes receive each other, m.
    links : tuple of (str, str)
        Pairs of nodes within `range`.
    source, destination : str
        Ends of the routes.
    paths : tuple of tuple of str
        Nodes of each route.
    routing, method : str
        Kind of the routes, and their search, ``greedy`` or ``optimal``.
    channels : tuple of str
        Channels that the routes use in turn.
    seed : int
        Seed of the positions.
    """

    nodes: tuple[tuple[float, float], ...]
    range: float
    links: tuple[tuple[str, str], ...]
    source: str
    destination: str
    paths: tuple[tuple[str, ...], ...]
    routing: str
    method: str
    channels: tuple[str, ...]
    seed: int
