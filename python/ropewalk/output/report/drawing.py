"""Drawing of a scenario: nodes, links with rates and delays, and the paths of flows."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias
from xml.etree import ElementTree

from ...scenario.setup import Link as Wire
from ...support.escape import strip_controls
from ..style import COLOURS
from .layout import DrawingLayout, layout_of
from .paths import FlowPath, distinct_paths, flow_paths

if TYPE_CHECKING:
    from ...scenario import Scenario

Link: TypeAlias = Mapping[str, Any]

MAX_ROWS = 40  # largest number of rows of parallel links
NODE_RADIUS = 9
ROUTE_WIDTH = 4.5
LETTER = 6.6  # approximate width of a letter
NOTHING: tuple[Any, ...] = ("0 s", "0 %", 0.0, "unlimited", "none", [], None)


def draw(scenario: Scenario) -> tuple[str, str]:
    """Return a drawing of a scenario as an ``<svg>`` element, and its caption.

    All texts are escaped. The caption explains lines and colours.

    Examples
    --------
    >>> import ropewalk
    >>> svg, _ = draw(ropewalk.Scenario.load("start/two-links"))
    >>> svg.startswith("<svg"), "16 Mbit/s, 20 ms" in svg
    (True, True)
    """
    setup = scenario.setup
    # A mesh computes its links; the file has none.
    spelled = {link["name"]: link for link in tomllib.loads(scenario.resolved()).get("link", ())}
    used = list(flow_paths(setup))
    if any(link.ends is not None for link in setup.links):
        drawn, scale = layout_of(setup)
        return _draw_network(drawn, scale, setup.links, spelled, used)
    return _draw_parallel_links(distinct_paths(used), spelled, used)


def link_summary(link: Link) -> tuple[str, str]:
    """Return rate and delay of a link as in the file, and its non-default settings.

    Examples
    --------
    >>> link_summary({"rate": "16 Mbit/s", "delay": "20 ms", "loss": "1 %", "queue": "1 bdp"})
    ('16 Mbit/s, 20 ms', 'loses 1 %, queue 1 bdp')
    """
    if "channel" in link:
        return f"channel {link['channel']}", ""
    rate = link.get("rate") or (f"trace {link['trace']}" if "trace" in link else "unlimited")
    more = [
        f"{before} {text}"
        for before, text in (
            ("jitter", _jitter(link.get("jitter"))),
            ("loses", _loss(link.get("loss"))),
            ("in slots of", _slot(link.get("slot"))),
        )
        if text
    ]
    if (queue := link.get("queue")) not in NOTHING:
        more.append(f"queue {queue}")
    back = link.get("reverse", {})
    differs = [
        str(back[key]) for key in ("rate", "delay") if key in back and back[key] != link.get(key)
    ]
    if differs:
        more.append(f"back {', '.join(differs)}")
    if (cost := link.get("cost")) not in NOTHING:
        more.append(f"price {cost:g}")
    for span in link.get("down", ()):
        more.append(f"down {' to '.join(map(str, span))}")
    return f"{rate}, {link.get('delay', '0 s')}", ", ".join(more)


def _jitter(jitter: object) -> str:
    """Describe a jitter.

    Examples
    --------
    >>> _jitter({"amount": "5 ms", "reorder": True}), _jitter({"amount": "5 ms"}), _jitter("0 s")
    ('5 ms, packets may overtake', '5 ms', '')
    """
    if not isinstance(jitter, Mapping):
        return "" if jitter in NOTHING else str(jitter)
    if "trace" in jitter:
        return f"by {jitter['trace']}"
    overtakes = ", packets may overtake" if jitter.get("reorder") else ""
    return "" if jitter["amount"] in NOTHING else f"{jitter['amount']}{overtakes}"


def _slot(slot: object) -> str:
    """Describe the time between slots.

    Examples
    --------
    >>> _slot({"most": "30 ms", "least": "10 ms"}), _slot("5 ms"), _slot({"most": "0 s"})
    ('10 ms to 30 ms', '5 ms', '')
    """
    if not isinstance(slot, Mapping):
        return "" if slot in NOTHING else str(slot)
    least, most = slot.get("least", slot["most"]), slot["most"]
    if most in NOTHING:
        return ""
    return str(most) if least == most else f"{least} to {most}"


def _loss(loss: object) -> str:
    """Describe a loss.

    Examples
    --------
    >>> _loss("1 %"), _loss({"model": "gilbert-elliott", "p": "1 %", "r": "30 %"})
    ('1 %', 'in bursts (1 % of packets begin one, 30 % end it)')
    """
    if isinstance(loss, Mapping):
        return f"in bursts ({loss['p']} of packets begin one, {loss.get('r', '100 %')} end it)"
    return "" if loss in NOTHING else str(loss)


def colour(links: Sequence[str], name: str) -> str:
    """Return the colour of a link or path, consistent on the page."""
    return COLOURS[list(links).index(name) % len(COLOURS)]


def _draw_parallel_links(
    lines: Sequence[tuple[str, ...]], spelled: Mapping[str, Link], used: Sequence[FlowPath]
) -> tuple[str, str]:
    """Draw parallel links of one client and one server, a line for each path."""
    shown = lines[:MAX_ROWS]
    # As narrow as the text allows, so that phones scale it and do not cut it.
    height, left = 46, 62
    hops = max((len(line) for line in shown), default=1)
    words = [_label_lines(name, spelled[name]) for line in shown for name in line]
    widest = max((LETTER * max(map(len, each)) for each in words), default=0.0)
    right = left + 80 + (widest + 24) * hops
    total = 30 + height * len(shown)
    svg = _svg(right + left, total + (24 if len(lines) > len(shown) else 0))
    names = [way.path for way in used]
    middle = 14 + height * len(shown) / 2
    for at, line in enumerate(shown):
        y = 36 + height * at
        way = next(way for way in used if way.links == line)
        stroke = colour(list(dict.fromkeys(names)), way.path)
        each = (right - left - 80) / len(line)
        bend = f"M{left} {middle:.1f} C{left + 24} {middle:.1f} {left + 16} {y} {left + 40} {y}"
        back = f" C{right - 16} {y} {right - 24} {middle:.1f} {right} {middle:.1f}"
        _path(svg, f"{bend} H{right - 40}{back}", stroke, ROUTE_WIDTH - 1.5)
        for number, name in enumerate(line):
            x = left + 40 + each * (number + 0.5)
            if number:
                _circle(svg, x - each / 2, y, 4, "node")
            _draw_label(svg, x, y, name, spelled[name])
    for x, name in ((left, "client"), (right, "server")):
        _circle(svg, x, middle, NODE_RADIUS + 2, "node")
        anchor = "end" if x == left else "start"
        _text(svg, x + (-16 if x == left else 16), middle + 4, name, anchor=anchor)
    if len(lines) > len(shown):
        _text(svg, (left + right) / 2, total + 10, f"and {len(lines) - len(shown):,} more")
    return _written(
        svg
    ), "Each line is a path between the ends, with the colour of the pictures below."


def _draw_network(
    at: DrawingLayout,
    told: str,
    links: Sequence[Wire],
    spelled: Mapping[str, Link],
    used: Sequence[FlowPath],
) -> tuple[str, str]:
    """Draw placed nodes, the links between them, and the paths of flows on top."""
    svg = _svg(at.width, at.height)
    for one, other in at.heard:
        _line(svg, at.of[one], at.of[other], "heard")
    on_way = {name for way in used for name in way.links}
    pairs: dict[frozenset[str], list[Wire]] = {}
    for link in links:
        pairs.setdefault(frozenset(link.ends or ()), []).append(link)
    names = list(dict.fromkeys(way.path for way in used))
    labels = []
    for comparison in pairs.values():
        for number, link in enumerate(comparison):
            assert link.ends is not None
            start, end = (at.of[node] for node in link.ends)
            aside = 34 * (number - (len(comparison) - 1) / 2)
            _curve(svg, start, end, aside, "hop")
            takers = list(dict.fromkeys(way.path for way in used if link.name in way.links))
            for place_of, path in enumerate(takers):
                shift = aside + 5 * (place_of - (len(takers) - 1) / 2)
                _curve(svg, start, end, shift, None, colour(names, path))
            if len(links) <= MAX_ROWS and not (at.heard and link.name not in on_way):
                labels.append((start, end, aside, link))
    for start, end, aside, link in labels:
        if not at.heard:
            x, y = _bent(start, end, aside)
            _draw_label(svg, x, y, link.name, spelled[link.name])
    taking = {end for link in links if link.name in on_way for end in link.ends or ()}
    for name, (x, y) in at.of.items():
        _circle(
            svg, x, y, NODE_RADIUS if name in taking else 4, "node" if name in taking else "away"
        )
        if name in taking or len(at.of) <= MAX_ROWS:
            _text(svg, x, y - NODE_RADIUS - 5, name, halo=True)
    keys = [
        (
            colour(names, path),
            ", ".join(dict.fromkeys(w.flow for w in used if w.path == path)),
            path,
        )
        for path in names
    ]
    for number, (stroke, flow, path) in enumerate(keys[:12]):
        y = at.height + 16 + 20 * number
        _path(svg, f"M12 {y} H44", stroke, ROUTE_WIDTH)
        _text(svg, 52, y + 4, f"{path} ({flow})", anchor="start")
    svg.set("viewBox", f"0 0 {at.width} {at.height + 20 + 20 * min(len(keys), 12)}")
    svg.set("height", str(at.height + 20 + 20 * min(len(keys), 12)))
    return _written(svg), told


def _label_lines(name: str, link: Link) -> tuple[str, str]:
    """Return the two lines of a link."""
    short, more = link_summary(link)
    return f"{name}: {short}", more


def _draw_label(svg: ElementTree.Element, x: float, y: float, name: str, link: Link) -> None:
    """Write a link's name, rate and delay over its line, other settings below."""
    text, more = _label_lines(name, link)
    width = LETTER * len(text) + 12
    plate = ElementTree.SubElement(svg, "rect")
    for key, value in (("x", x - width / 2), ("y", y - 12), ("width", width), ("height", 22)):
        plate.set(key, f"{value:.1f}")
    plate.set("class", "plate")
    _text(svg, x, y + 3, text)
    if more:
        _text(svg, x, y + 18, more, small=True)


def _svg(width: float, height: float) -> ElementTree.Element:
    root = ElementTree.Element("svg", xmlns="http://www.w3.org/2000/svg")
    root.set("viewBox", f"0 0 {width:.0f} {height:.0f}")
    root.set("width", f"{width:.0f}")
    root.set("height", f"{height:.0f}")
    return root


def _text(
    svg: ElementTree.Element,
    x: float,
    y: float,
    text: str,
    *,
    anchor: str = "middle",
    small: bool = False,
    halo: bool = False,
) -> None:
    element = ElementTree.SubElement(svg, "text", x=f"{x:.1f}", y=f"{y:.1f}")
    element.set("text-anchor", anchor)
    kinds = [kind for kind, is_so in (("small", small), ("halo", halo)) if is_so]
    if kinds:
        element.set("class", " ".join(kinds))
    element.text = strip_controls(text)


def _circle(svg: ElementTree.Element, x: float, y: float, radius: float, kind: str) -> None:
    element = ElementTree.SubElement(svg, "circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r=f"{radius}")
    element.set("class", kind)


def _line(
    svg: ElementTree.Element, one: tuple[float, float], other: tuple[float, float], kind: str
) -> None:
    element = ElementTree.SubElement(svg, "path", d=f"M{_at(one)} L{_at(other)}")
    element.set("class", kind)


def _path(svg: ElementTree.Element, d: str, stroke: str, width: float) -> None:
    ElementTree.SubElement(
        svg,
        "path",
        {"d": d, "stroke": stroke, "stroke-width": f"{width}", "fill": "none"},
    )


def _curve(
    svg: ElementTree.Element,
    one: tuple[float, float],
    other: tuple[float, float],
    aside: float,
    kind: str | None,
    stroke: str = "",
) -> None:
    """Draw a connection, bent so that parallel links stay apart."""
    d = f"M{_at(one)} Q{_at(_bent(one, other, 2 * aside))} {_at(other)}"
    if kind is None:
        _path(svg, d, stroke, ROUTE_WIDTH)
    else:
        element = ElementTree.SubElement(svg, "path", d=d)
        element.set("class", kind)


def _bent(
    one: tuple[float, float], other: tuple[float, float], aside: float
) -> tuple[float, float]:
    """Return the midpoint of two places, moved sideways; the same from either end."""
    (x, y), (u, v) = sorted((one, other))
    length = ((u - x) ** 2 + (v - y) ** 2) ** 0.5 or 1.0
    return (x + u) / 2 - aside * (v - y) / length, (y + v) / 2 + aside * (u - x) / length


def _at(point: tuple[float, float]) -> str:
    return f"{point[0]:.1f} {point[1]:.1f}"


def _written(svg: ElementTree.Element) -> str:
    return ElementTree.tostring(svg, encoding="unicode")
