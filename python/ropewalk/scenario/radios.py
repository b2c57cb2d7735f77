"""802.11 channels, radios and meshes of a resolved scenario, in base units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Standard: TypeAlias = Literal["802.11b", "802.11a", "802.11g"]


@dataclass(frozen=True)
class Fading:
    """Fading of a channel (Nakagami): shape `m`, and `far_m` from the distance `far` on, in m."""

    model: str
    m: float
    far_m: float
    far: float | None = None


@dataclass(frozen=True)
class Propagation:
    """Propagation on a channel; attributes that its model has not are 0.

    Attributes
    ----------
    model : str
        ``log-distance``, ``friis``, ``two-ray``, ``range`` or ``matrix``.
    exponent, reference_loss, reference_distance : float
        Of ``log-distance``: a number, dB and m.
    frequency, height : float
        Of ``friis`` and ``two-ray``: Hz and m.
    range, sense : float
        Of ``range``: m.
    loss : tuple of tuple of float or None
        Of ``matrix``: dB from each node to each node; None where nothing arrives.
    fading : Fading or None
        How power varies from frame to frame.
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
    """An 802.11 channel: its name, its propagation, and its model of frame errors.

    `error_model` is ``nist``, ``table``, ``none``, or ``own table`` for a file's.
    """

    name: str
    propagation: Propagation
    error_model: str


@dataclass(frozen=True)
class Radio:
    """A node's radio on a channel.

    Attributes
    ----------
    channel : str
        Name of the channel.
    standard, preamble : str
        Standard, and kind of preamble.
    rate : float or str
        Bit/s; or the name of an adaptive rate control.
    basic_rates : tuple of float
        Rates of control frames, bit/s.
    eifs_rate : float
        Rate of the acknowledgement in EIFS, bit/s.
    slot : float
        Slot time, s.
    tries : int
        Transmissions of a frame until it is dropped.
    rts : int or str
        Bytes of a frame from which on it has an RTS; ``never``.
    power, sensitivity, sense : float
        Transmit power and thresholds, dBm.
    antenna_gain, noise_figure : float
        DB.
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
    """A node: its name, its position in metres (x, y, z), and its radios."""

    name: str
    at: tuple[float, float, float]
    radios: tuple[Radio, ...] = ()


@dataclass(frozen=True)
class Mesh:
    """A mesh: nodes at drawn positions, and routes through them.

    Attributes
    ----------
    nodes : tuple of (float, float)
        Position of each node, m.
    range : float
        Distance up to which nodes reach each other, m.
    links : tuple of (str, str)
        Pairs of nodes that reach each other.
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
