"""Keep a census in a folder: all of it, or nothing."""

from __future__ import annotations

from pathlib import Path

from .. import plot, store
from .picture import draw
from .results import Census


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
    with store.in_place_of(folder) as made:
        store.write_head(made, census.json(), census.scenario)
        tables = made / store.TABLES_FOLDER
        tables.mkdir()
        store.write_table(census.graphs, tables / "graphs.parquet")
        places = [
            (f"{each.nodes}-nodes-{number}.csv", places)
            for each in census.counts
            for number, places in enumerate(each.places)
        ]
        if places:
            (made / store.DEPLOYMENTS_FOLDER).mkdir()
        for name, at in places:
            (made / store.DEPLOYMENTS_FOLDER / name).write_text(store.deployment(at.tolist()))
        plot.save(draw(census), made / store.PICTURE)
    return folder / store.PICTURE
