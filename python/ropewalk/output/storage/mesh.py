"""Storage of route statistics."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import count
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...analysis.mesh.result import Census, DeploymentStatistics
from ...results import folders
from ..plot.mesh import draw
from .contents import FolderContents

PICTURE = "mesh"
GRAPHS = "graphs"


def contents(census: Census) -> FolderContents:
    """Return the files of route statistics: a row for each deployment, and the picture.

    Kept deployments are ``deployments/32-nodes-0.csv`` and so on, in the format of ``placement = {
    file = "..." }`` of ``[mesh]``.

    Examples
    --------
    >>> import ropewalk, tempfile
    >>> from ropewalk import mesh
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = ropewalk.store.keep(mesh.census(nodes=[40], graphs=10, keep=1), folder)
    ...     [file.name for file in (Path(folder) / "deployments").iterdir()]
    ['40-nodes-0.csv']
    """
    return FolderContents(
        census.scenario,
        {GRAPHS: census.graphs},
        {PICTURE: partial(draw, census)},
        partial(_write_deployments, census),
    )


def restore(stored: folders.ResultFolder) -> Census:
    """Return the stored route statistics.

    Examples
    --------
    >>> import ropewalk, tempfile
    >>> from ropewalk import mesh
    >>> counted = mesh.census(nodes=[40], graphs=10, keep=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = ropewalk.store.keep(counted, folder)
    ...     again = ropewalk.load(folder)
    >>> again.json() == counted.json()
    True
    >>> bool((again.counts[0].places[0] == counted.counts[0].places[0]).all())
    True
    """
    graphs = stored.table(GRAPHS)
    counts = []
    for entry in stored.result["mesh"]:
        nodes = entry["nodes"]
        rows = graphs.filter(graphs["nodes"] == nodes).drop("nodes")
        columns = {column.name: column.to_numpy() for column in rows}
        counts.append(
            DeploymentStatistics(nodes, columns, tuple(_deployments(stored.folder, nodes)))
        )
    return Census(stored.scenario, stored.result["seed"], tuple(counts), stored.origin)


def _write_deployments(census: Census, folder: Path) -> None:
    for each in census.counts:
        for number, at in enumerate(each.places):
            file = _deployment(folder, each.nodes, number)
            file.parent.mkdir(exist_ok=True)
            file.write_text(folders.positions_csv(at.tolist()))


def _deployments(folder: Path, nodes: int) -> Iterator[NDArray[np.float64]]:
    for number in count():
        file = _deployment(folder, nodes, number)
        if not file.exists():
            return
        yield np.loadtxt(file, delimiter=",", skiprows=1, ndmin=2)


def _deployment(folder: Path, nodes: int, number: int) -> Path:
    return folder / folders.DEPLOYMENTS / f"{nodes}-nodes-{number}.csv"
