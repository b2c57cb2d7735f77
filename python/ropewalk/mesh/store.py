"""A census in a folder, and back."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import count
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .. import folders
from .picture import draw
from .results import Census, Counted

PICTURE = "mesh"
GRAPHS = "graphs"


def keep(census: Census, folder: Path) -> Path:
    """Write a row for each deployment (Parquet), the picture, deployments, and the JSON object.

    Parameters
    ----------
    census : Census
        What to keep. Deployments are ``deployments/32-nodes-0.csv`` and so on, as
        ``placement = { file = "..." }`` of ``[mesh]`` reads them.
    folder : Path
        New, empty, or with results of before, which are replaced.

    Returns
    -------
    Path
        The picture.

    Raises
    ------
    OSError
        The folder holds something else, or cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from ropewalk import mesh
    >>> with tempfile.TemporaryDirectory() as temporary:
    ...     counted = mesh.census(nodes=[40], graphs=10, keep=1)
    ...     _ = keep(counted, Path(temporary) / "mesh")
    ...     [file.name for file in (Path(temporary) / "mesh" / "deployments").iterdir()]
    ['40-nodes-0.csv']
    """
    (picture,) = folders.keep(
        folder,
        census.json(),
        census.scenario,
        {GRAPHS: census.graphs},
        {PICTURE: partial(draw, census)},
        partial(_write_deployments, census),
    )
    return picture


def restore(kept: folders.Kept) -> Census:
    """Return the census that a folder holds.

    Examples
    --------
    >>> import tempfile
    >>> from ropewalk import mesh
    >>> counted = mesh.census(nodes=[40], graphs=10, keep=1)
    >>> with tempfile.TemporaryDirectory() as temporary:
    ...     _ = keep(counted, Path(temporary) / "mesh")
    ...     again = restore(folders.open_kept(Path(temporary) / "mesh"))
    >>> again.json() == counted.json()
    True
    >>> bool((again.counts[0].places[0] == counted.counts[0].places[0]).all())
    True
    """
    graphs = kept.table(GRAPHS)
    counts = []
    for entry in kept.result["mesh"]:
        nodes = entry["nodes"]
        rows = graphs.filter(graphs["nodes"] == nodes).drop("nodes")
        columns = {column.name: column.to_numpy() for column in rows}
        counts.append(Counted(nodes, columns, tuple(_deployments(kept.folder, nodes))))
    return Census(kept.scenario, kept.result["seed"], tuple(counts), kept.origin)


def _write_deployments(census: Census, folder: Path) -> None:
    for each in census.counts:
        for number, at in enumerate(each.places):
            file = _deployment(folder, each.nodes, number)
            file.parent.mkdir(exist_ok=True)
            file.write_text(folders.deployment(at.tolist()))


def _deployments(folder: Path, nodes: int) -> Iterator[NDArray[np.float64]]:
    for number in count():
        file = _deployment(folder, nodes, number)
        if not file.exists():
            return
        yield np.loadtxt(file, delimiter=",", skiprows=1, ndmin=2)


def _deployment(folder: Path, nodes: int, number: int) -> Path:
    return folder / folders.DEPLOYMENTS / f"{nodes}-nodes-{number}.csv"
