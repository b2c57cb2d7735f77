"""The radios of a scenario, and the 802.11 links between them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...model.wifi import Hop, radio
from ...scenario.setup import Channel, Fading, Link, Node, NodeRadio, Setup
from ...units import BITS_TO_MBPS
from .layout import ChannelModel, RadioLayout, Station, WirelessLink


@dataclass(frozen=True)
class Route:
    """A path of a scenario: its wireless hops, and the rate of its slowest wired link.

    The rate is in bit/s of IP packets, and infinite without a wired link.
    """

    name: str
    hops: tuple[Hop, ...]
    wired_bps: float


def radio_layout(setup: Setup) -> RadioLayout:
    """Return the radios of a scenario, and the links between them.

    Examples
    --------
    >>> import ropewalk
    >>> layout = radio_layout(ropewalk.Scenario.load("papers/gomez-2014").setup)
    >>> layout.nodes["D"]
    (0.0, 25.0, 0.0)
    """
    links = [link for link in setup.links if link.channel is not None]
    stations = {
        (node.name, own.channel): _station(node, own)
        for node in setup.nodes
        for own in node.radios
    }
    return RadioLayout(
        {each.name: _channel(each, stations) for each in setup.channels},
        stations,
        tuple(direction for link in links for direction in _both_directions(link)),
    )


def routes(setup: Setup, paths: Sequence[str]) -> list[Route]:
    """Return paths of a scenario by name, with the direction of each wireless hop."""
    return [_route(name, setup.links_of(name)) for name in paths]


def _route(name: str, links: Sequence[Link]) -> Route:
    ends = [link.ends or (None, None) for link in links]
    at = ends[0][0]
    if len(ends) > 1 and at in ends[1]:
        at = ends[0][1]
    hops = []
    slowest = math.inf
    for link, (one, other) in zip(links, ends, strict=True):
        following = other if at == one else one
        direction = link.forward if at == one else link.reverse
        if link.channel is not None:
            hops.append(Hop(link.channel, str(at), str(following)))
        else:
            slowest = min(slowest, direction.rate)
        at = following
    return Route(name, tuple(hops), slowest)


def _channel(settings: Channel, stations: Mapping[tuple[str, str], Station]) -> ChannelModel:
    own = [node for node, channel in stations if channel == settings.name]
    propagation = settings.propagation
    losses = {
        (sender, receiver): loss
        for sender, row in zip(own, propagation.loss, strict=False)
        for receiver, loss in zip(own, row, strict=True)
        if loss is not None
    }
    return ChannelModel(
        name=settings.name,
        propagation=propagation,
        fading=_bands(propagation.fading),
        error_model=settings.error_model,
        losses_db=losses,
    )


def _bands(fading: Fading | None) -> list[tuple[float, float]]:
    """Return pairs of a distance and Nakagami's m from this distance on."""
    if fading is None:
        return []
    near = [(0.0, fading.m)]
    return near if fading.far is None else [*near, (fading.far, fading.far_m)]


def _station(node: Node, own: NodeRadio) -> Station:
    return Station(
        node=node.name,
        channel=own.channel,
        at=node.at,
        radio=radio(
            own.standard,
            None if isinstance(own.rate, str) else own.rate * BITS_TO_MBPS,
            basic_rates_mbps=[rate * BITS_TO_MBPS for rate in own.basic_rates],
            preamble=own.preamble,
            slot_us=round(own.slot * 1e6),
            eifs_rate_mbps=own.eifs_rate * BITS_TO_MBPS,
            tries=own.tries,
        ),
        rate_control=own.rate if isinstance(own.rate, str) else None,
        rts_above=None if isinstance(own.rts, str) else own.rts,
        power_dbm=own.power,
        antenna_gain_db=own.antenna_gain,
        noise_figure_db=own.noise_figure,
        sensitivity_dbm=own.sensitivity,
        sense_dbm=own.sense,
    )


def _both_directions(link: Link) -> Iterator[WirelessLink]:
    assert link.channel is not None
    assert link.ends is not None
    hop = Hop(link.channel, *link.ends)
    for name, each, direction in (
        (link.name, hop, link.forward),
        (f"{link.name}/reverse", hop.reverse, link.reverse),
    ):
        yield WirelessLink(name, each, direction.loss, direction.loss_in_bursts)
