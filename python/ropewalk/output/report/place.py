"""Layout of a drawing: nodes where the scenario places them, or in the order of the hops."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

Point: TypeAlias = tuple[float, float]

WIDTH, HEIGHT = 700, 480
MARGIN = 60
COLUMN, ROW = 270, 96


@dataclass(frozen=True)
class Place:
    """Nodes, and where each is drawn.

    Attributes
    ----------
    of : mapping of str to (float, float)
        Each node's place.
    width, height : float
        Size of the drawing.
    heard : tuple of (str, str)
        Pairs of nodes that a line is drawn between because they reach each other, of a mesh.
    """

    of: Mapping[str, Point]
    width: float
    height: float
    heard: tuple[tuple[str, str], ...] = ()


def place(values: Mapping[str, Any]) -> tuple[Place, str]:
    """Return the positions of nodes in the drawing, and their meaning.

    Examples
    --------
    >>> import ropewalk
    >>> found, _ = place(ropewalk.Scenario.load("start/nodes").values)
    >>> x = {name: at[0] for name, at in found.of.items()}
    >>> x["phone"] < x["router"] < x["server"]
    True
    """
    ends = list(
        dict.fromkeys(end for link in values["link"] for end in (link["from"], link["to"]))
    )
    heard: tuple[tuple[str, str], ...] = ()
    known = {node["name"]: node["at"][:2] for node in values["node"] if "at" in node}
    if "mesh" in values:
        heard = tuple((one, other) for one, other in values["mesh"]["links"])
        mesh = {f"n{at}": point for at, point in enumerate(values["mesh"]["nodes"])}
        known = mesh | known
    if known and all(end in known for end in ends) and _is_plane(known):
        return _as_placed(known, heard)
    return _by_hops(values, ends), "Nodes stand in the order of their hops."


def _is_plane(known: Mapping[str, Sequence[float]]) -> bool:
    """Whether positions spread in both directions, so that labels do not overlap."""
    return len({round(y, 6) for _, y in known.values()}) > 1


def _as_placed(
    known: Mapping[str, Sequence[float]], heard: tuple[tuple[str, str], ...]
) -> tuple[Place, str]:
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
    told = f"To scale: {span:,.3g} m from one side to the other."
    if heard:
        told += " Thin lines join nodes that reach each other."
    return Place(at, max(width, 420.0), height, heard), told


def _by_hops(values: Mapping[str, Any], ends: Sequence[str]) -> Place:
    """Place nodes in columns, by how many hops they are from where the first flow begins."""
    beside: dict[str, list[str]] = {end: [] for end in ends}
    for link in values["link"]:
        beside[link["from"]].append(link["to"])
        beside[link["to"]].append(link["from"])
    hops: dict[str, int] = {}
    for start in [_start(values), *ends]:
        if start in hops or start not in beside:
            continue
        hops[start] = 0
        queue = deque([start])
        while queue:
            node = queue.popleft()
            for other in beside[node]:
                if other not in hops:
                    hops[other] = hops[node] + 1
                    queue.append(other)
    # Whoever stands at the end of a longer way stands behind it.
    for chain in _chains(values):
        for before, node in pairwise(chain):
            hops[node] = max(hops[node], hops[before] + 1)
    columns: dict[int, list[str]] = {}
    for node, number in hops.items():
        columns.setdefault(number, []).append(node)
    tallest = max(len(column) for column in columns.values())
    height = max(2 * MARGIN + ROW * (tallest - 1), 200)
    order = {number: at for at, number in enumerate(sorted(columns))}
    at = {
        node: (
            MARGIN + COLUMN * order[number],
            height / 2 + ROW * (row - (len(column) - 1) / 2) + _off_line(order[number]),
        )
        for number, column in columns.items()
        for row, node in enumerate(column)
    }
    width = 2 * MARGIN + COLUMN * (len(columns) - 1)
    return Place(at, width, height + 20)


def _off_line(column: int) -> float:
    """Return how far a column is moved down, so that a way over it is no line through it."""
    return 46.0 if column % 2 else 0.0


def _start(values: Mapping[str, Any]) -> str:
    chain = next(iter(_chains(values)), None)
    return chain[0] if chain else values["link"][0]["from"]


def _chains(values: Mapping[str, Any]) -> list[list[str]]:
    """Return the nodes of the first flow's ways, in turn."""
    links = {link["name"]: link for link in values["link"]}
    hops = {path["name"]: path["hops"] for path in values["path"]}
    chains = []
    for path in values["transport"]["paths"]:
        pairs = [(links[hop]["from"], links[hop]["to"]) for hop in hops.get(path, [path])]
        node = pairs[0][0]
        if len(pairs) > 1 and node in pairs[1]:
            node = pairs[0][1]
        chain = [node]
        for one, other in pairs:
            chain.append(other if chain[-1] == one else one)
        chains.append(chain)
    return chains
