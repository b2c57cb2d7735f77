"""Deployments of nodes with their routes, read from a folder of two CSV files.

`nodes.csv` has the columns ``deployment,node,x_m,y_m,role``: positions in metres; the role is
``source``, ``destination`` or empty. `routes.csv` has ``deployment,kind,route,nodes``: the kind is
``link``, ``node`` or ``zone`` for routes that share none of these, route 1 is the shortest, and
nodes are separated by spaces.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

NODES = ("nodes.csv", ("deployment", "node", "x_m", "y_m", "role"))
ROUTES = ("routes.csv", ("deployment", "kind", "route", "nodes"))
ROLES = ("source", "destination", "")
KINDS = ("link", "node", "zone")

Row = Mapping[str, str]


@dataclass
class Deployment:
    """Nodes with their places, and disjoint routes between two of them.

    Attributes
    ----------
    name : str
    places : dict of str to (float, float)
        Position of each node, m.
    source, destination : str
    routes : dict of str to list of tuple of str
        Nodes of each route, the shortest first, by kind of disjointness.
    """

    name: str
    places: dict[str, tuple[float, float]] = field(default_factory=dict)
    source: str = ""
    destination: str = ""
    routes: dict[str, list[tuple[str, ...]]] = field(default_factory=dict)

    def hops(self, kind: str = "link") -> list[int]:
        """Return the number of hops of each route of a kind."""
        return [len(route) - 1 for route in self.routes.get(kind, [])]


def read_deployments(folder: Path) -> list[Deployment]:
    r"""Read the deployments of a folder, in the order of `nodes.csv`.

    Parameters
    ----------
    folder : Path
        Folder with `nodes.csv` and `routes.csv`.

    Returns
    -------
    list of Deployment
        Each has two link-disjoint routes or more.

    Raises
    ------
    OSError
        A file cannot be read.
    ValueError
        A value is wrong; the message has file, line and constraint.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> nodes = ["a,S,0,0,source", "a,R,0,20,", "a,Q,20,0,", "a,D,20,20,destination"]
    >>> text = "\n".join([",".join(NODES[1]), *nodes])
    >>> _ = (folder / "nodes.csv").write_text(text)
    >>> routes = ["a,link,1,S R D", "a,link,2,S Q D"]
    >>> _ = (folder / "routes.csv").write_text("\n".join([",".join(ROUTES[1]), *routes]))
    >>> read_deployments(folder)[0].hops()
    [2, 2]
    """
    found: dict[str, Deployment] = {}
    for at, row in _rows(folder, *NODES):
        _add_node(found.setdefault(row["deployment"], Deployment(row["deployment"])), row, at)
    for deployment in found.values():
        for role in ROLES[:2]:
            if not getattr(deployment, role):
                raise ValueError(f"{folder / NODES[0]}: deployment {deployment.name}: no {role}")
    for at, row in _rows(folder, *ROUTES):
        if row["deployment"] not in found:
            raise ValueError(f"{at}: deployment {row['deployment']}: not in {NODES[0]}")
        _add_route(found[row["deployment"]], row, at)
    for deployment in found.values():
        count = len(deployment.hops())
        if count < 2:
            raise ValueError(
                f"{folder / ROUTES[0]}: deployment {deployment.name}: {count} link-disjoint"
                " routes; must be at least 2"
            )
    if not found:
        raise ValueError(f"{folder / NODES[0]}: no deployment")
    return list(found.values())


def _rows(folder: Path, name: str, columns: Sequence[str]) -> Iterator[tuple[str, Row]]:
    """Yield the place of each line in its file, and its values by column."""
    file = folder / name
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        raise ValueError(f"{file}: not UTF-8 text") from None
    rows = csv.reader(lines)
    header = next(rows, [])
    if header != list(columns):
        raise ValueError(f"{file}:1: {','.join(header)}: must be {','.join(columns)}")
    for values in rows:
        if not values:
            continue
        at = f"{file}:{rows.line_num}"
        if len(values) != len(columns):
            raise ValueError(f"{at}: {len(values)} values; must be {len(columns)}")
        yield at, dict(zip(columns, values, strict=True))


def _add_node(deployment: Deployment, row: Row, at: str) -> None:
    name, role = row["node"], row["role"]
    if not name or " " in name:
        raise ValueError(f"{at}: node {name!r}: must be a name without spaces")
    if name in deployment.places:
        raise ValueError(f"{at}: node {name}: already in deployment {deployment.name}")
    if role not in ROLES:
        raise ValueError(f"{at}: role {role}: must be source, destination or empty")
    if role and getattr(deployment, role):
        raise ValueError(f"{at}: role {role}: deployment {deployment.name} has one already")
    deployment.places[name] = (_metres(row["x_m"], at), _metres(row["y_m"], at))
    if role:
        setattr(deployment, role, name)


def _metres(text: str, at: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"{at}: {text!r}: must be a number of metres")
    return number


def _add_route(deployment: Deployment, row: Row, at: str) -> None:
    if row["kind"] not in KINDS:
        raise ValueError(f"{at}: kind {row['kind']}: must be link, node or zone")
    routes = deployment.routes.setdefault(row["kind"], [])
    if row["route"] != str(len(routes) + 1):
        raise ValueError(f"{at}: route {row['route']}: must be {len(routes) + 1}")
    nodes = tuple(row["nodes"].split())
    for node in nodes:
        if node not in deployment.places:
            raise ValueError(f"{at}: node {node}: not in deployment {deployment.name}")
    if len(set(nodes)) != len(nodes):
        raise ValueError(f"{at}: a node stands twice on the route")
    ends = (deployment.source, deployment.destination)
    if nodes[:1] + nodes[-1:] != ends or len(nodes) < 2:
        raise ValueError(f"{at}: must lead from {ends[0]} to {ends[1]}")
    links = {frozenset(link) for each in routes for link in pairwise(each)}
    if links & {frozenset(link) for link in pairwise(nodes)}:
        raise ValueError(f"{at}: shares a link with an earlier route")
    routes.append(nodes)
