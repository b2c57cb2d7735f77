"""Read radios and links from a scenario's values; only this file knows their keys."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ...model.wifi import Hop, radio
from .layout import Channel, Place, Station, WirelessLink

Values: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class Route:
    """A path of a scenario.

    Attributes
    ----------
    name : str
        Its name.
    hops : tuple of Hop
        Its wireless hops, in turn.
    wired_bps : float
        Of its slowest wired link, bit/s of IP packets; infinite without one.
    """

    name: str
    hops: tuple[Hop, ...]
    wired_bps: float


def place_of(values: Values) -> Place:
    """Return the radios of a scenario, and the links between them.

    Parameters
    ----------
    values : mapping
        Of `ropewalk.Scenario.values`.

    Examples
    --------
    >>> import ropewalk
    >>> place = place_of(ropewalk.Scenario.load("papers/gomez-2014").values)
    >>> place.nodes["D"]
    (0.0, 25.0, 0.0)
    """
    links = [link for link in values["link"] if "channel" in link]
    stations = {
        (node["name"], own["channel"]): _station(node, own)
        for node in values["node"]
        for own in node["radios"]
    }
    return Place(
        {each["name"]: _channel(each, stations) for each in values["channel"]},
        stations,
        tuple(way for link in links for way in _ways(link)),
    )


def routes(values: Values, paths: Sequence[str]) -> list[Route]:
    """Return paths of a scenario, with the direction of each wireless hop.

    Parameters
    ----------
    values : mapping
        Of `ropewalk.Scenario.values`.
    paths : sequence of str
        Their names.
    """
    links = {link["name"]: link for link in values["link"]}
    hops = {path["name"]: path["hops"] for path in values["path"]}
    return [_route(name, [links[hop] for hop in hops.get(name, [name])]) for name in paths]


def _route(name: str, links: Sequence[Values]) -> Route:
    ends = [(link.get("from"), link.get("to")) for link in links]
    at = ends[0][0]
    if len(ends) > 1 and at in ends[1]:
        at = ends[0][1]
    hops = []
    slowest = math.inf
    for link, (one, other) in zip(links, ends, strict=True):
        following = other if at == one else one
        way = "forward" if at == one else "reverse"
        if "channel" in link:
            hops.append(Hop(link["channel"], str(at), str(following)))
        else:
            slowest = min(slowest, link[way].get("rate", math.inf))
        at = following
    return Route(name, tuple(hops), slowest)


def _channel(values: Values, stations: Mapping[tuple[str, str], Station]) -> Channel:
    own = [node for node, channel in stations if channel == values["name"]]
    propagation, errors = values["propagation"], values["error_model"]
    losses = {
        (sender, receiver): loss
        for sender, row in zip(own, propagation.get("loss", ()), strict=False)
        for receiver, loss in zip(own, row, strict=True)
        if loss is not None
    }
    return Channel(
        name=values["name"],
        propagation=propagation,
        fading=_bands(propagation.get("fading")),
        error_model="own table" if "table" in errors else errors["model"],
        losses_db=losses,
    )


def _bands(fading: Values | None) -> list[tuple[float, float]]:
    """Return Nakagami's m from each distance on."""
    if fading is None:
        return []
    near = [(0.0, fading["m"])]
    return [*near, (fading["far"], fading["far_m"])] if "far" in fading else near


def _station(node: Values, own: Values) -> Station:
    adaptive = isinstance(own["rate"], str)
    x, y, z = node["at"]
    return Station(
        node=node["name"],
        channel=own["channel"],
        at=(x, y, z),
        radio=radio(
            own["standard"],
            None if adaptive else own["rate"] * 1e-6,
            basic_rates_mbps=[rate * 1e-6 for rate in own["basic_rates"]],
            preamble=own["preamble"],
            slot_us=round(own["slot"] * 1e6),
            eifs_rate_mbps=own["eifs_rate"] * 1e-6,
            tries=own["tries"],
        ),
        rate_control=own["rate"] if adaptive else None,
        rts_above=None if own["rts"] == "never" else own["rts"],
        power_dbm=own["power"],
        antenna_gain_db=own["antenna_gain"],
        noise_figure_db=own["noise_figure"],
        sensitivity_dbm=own["sensitivity"],
        sense_dbm=own["sense"],
    )


def _ways(link: Values) -> Iterator[WirelessLink]:
    hop = Hop(link["channel"], link["from"], link["to"])
    yield WirelessLink(link["name"], hop, link["forward"]["loss"])
    yield WirelessLink(f"{link['name']}/reverse", hop.reverse, link["reverse"]["loss"])
