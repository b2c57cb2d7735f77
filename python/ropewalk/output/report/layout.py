"""Layout of a drawing: the scenario's positions, or columns by hops."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from ...scenario.setup import Link, Setup

Point: TypeAlias = tuple[float, float]

WIDTH, HEIGHT = 700, 480
MARGIN = 60
COLUMN, ROW = 270, 96


@dataclass(frozen=True)
class DrawingLayout:
    """Positions of nodes in a drawing.

    `heard` has the pairs of mesh nodes in range of each other, joined by a line.
    """

    of: Mapping[str, Point]
    width: float
    height: float
    heard: tuple[tuple[str, str], ...] = ()


def layout_of(setup: Setup) -> tuple[DrawingLayout, str]:
    """Return the positions of nodes in the drawing, and their meaning.

    Examples
    --------
    >>> import ropewalk
    >>> found, _ = layout_of(ropewalk.Scenario.load("start/nodes").setup)
    >>> x = {name: at[0] for name, at in found.of.items()}
    >>> x["phone"] < x["router"] < x["server"]
    True
    """
    ends = list(dict.fromkeys(end for link in setup.links for end in link.ends or ()))
    heard: tuple[tuple[str, str], ...] = ()
    known = {node.name: node.at[:2] for node in setup.nodes}
    if setup.mesh is not None:
        heard = setup.mesh.links
        mesh = {f"n{at}": point for at, point in enumerate(setup.mesh.nodes)}
        known = mesh | known
    # Along one line, labels would overlap.
    is_plane = len({round(y, 6) for _, y in known.values()}) > 1
    if is_plane and all(end in known for end in ends):
        return _as_placed(known, heard)
    return _by_hops(setup, ends), "Nodes are in the order of their hops."


def _as_placed(
    known: Mapping[str, Sequence[float]], heard: tuple[tuple[str, str], ...]
) -> tuple[DrawingLayout, str]:
    xs, ys = ([point[axis] for point in known.values()] for axis in (0, 1))
    span = max(max(xs) - min(xs), max(ys) - min(ys), 1e-9)
    scale = min((WIDTH - 2 * MARGIN) / span, (HEIGHT + 120 - 2 * MARGIN) / span)
    scale = max(scale, (WIDTH - 2 * MARGIN) / span if max(ys) - min(ys) < 0.6 * span else scale)
    at = {
        name: (MARGIN + scale * (x - min(xs)), MARGIN + scale * (max(ys) - y))
        for name, (x, y) in known.items()
    }
    width = 2 * MARGIN + scale * (max(xs) - min(xs))
    height = 2 * MARGIN + scale * (max(ys) - min(ys))
    text = f"To scale: {span:,.3g} m from one side to the other."
    if heard:
        text += " Thin lines join nodes in range of each other."
    return DrawingLayout(at, max(width, 420.0), height, heard), text


def _by_hops(setup: Setup, ends: Sequence[str]) -> DrawingLayout:
    """Place nodes in columns by their hops from the source of the first flow."""
    comparison: dict[str, list[str]] = {end: [] for end in ends}
    for link in setup.links:
        one, other = _ends(link)
        comparison[one].append(other)
        comparison[other].append(one)
    hops: dict[str, int] = {}
    for start in [_start(setup), *ends]:
        if start in hops or start not in comparison:
            continue
        hops[start] = 0
        queue = deque([start])
        while queue:
            node = queue.popleft()
            for other in comparison[node]:
                if other not in hops:
                    hops[other] = hops[node] + 1
                    queue.append(other)
    # The longest path determines a node's column.
    for chain in _chains(setup):
        for before, node in pairwise(chain):
            hops[node] = max(hops[node], hops[before] + 1)
    columns: dict[int, list[str]] = {}
    for node, number in hops.items():
        columns.setdefault(number, []).append(node)
    tallest = max(len(column) for column in columns.values())
    height = max(2 * MARGIN + ROW * (tallest - 1), 200)
    order = {number: at for at, number in enumerate(sorted(columns))}
    # The offset of every other column keeps paths from forming one line.
    at = {
        node: (
            MARGIN + COLUMN * order[number],
            height / 2 + ROW * (row - (len(column) - 1) / 2) + 46.0 * (order[number] % 2),
        )
        for number, column in columns.items()
        for row, node in enumerate(column)
    }
    width = 2 * MARGIN + COLUMN * (len(columns) - 1)
    return DrawingLayout(at, width, height + 20)


def _start(setup: Setup) -> str:
    chain = next(iter(_chains(setup)), None)
    return chain[0] if chain else _ends(setup.links[0])[0]


def _chains(setup: Setup) -> list[list[str]]:
    """Return the nodes of the first flow's paths in order."""
    chains = []
    for path in setup.first.paths:
        pairs = [_ends(link) for link in setup.links_of(path)]
        node = pairs[0][0]
        if len(pairs) > 1 and node in pairs[1]:
            node = pairs[0][1]
        chain = [node]
        for one, other in pairs:
            chain.append(other if chain[-1] == one else one)
        chains.append(chain)
    return chains


def _ends(link: Link) -> tuple[str, str]:
    assert link.ends is not None
    return link.ends
