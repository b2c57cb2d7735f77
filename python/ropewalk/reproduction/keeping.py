"""Keep a reproduction in a folder: all of it, or nothing."""

from __future__ import annotations

import json
from pathlib import Path

from .. import plot, store
from .reproduction import Reproduction


def keep(made: Reproduction, folder: Path) -> Path:
    """Write the tables (Parquet), the picture, what was simulated, and the JSON object.

    Parameters
    ----------
    made : Reproduction
        What to keep.
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
    >>> import ropewalk, tempfile
    >>> made = ropewalk.reproduce("song-2018", "fig10")
    >>> with tempfile.TemporaryDirectory() as temporary:
    ...     keep(made, Path(temporary) / "fig10").name
    'picture.png'
    """
    with store.in_place_of(folder) as new:
        (new / store.RESULT).write_text(json.dumps(made.json(), indent=2) + "\n")
        (new / store.TABLES_FOLDER).mkdir()
        for name, table in made.tables.items():
            store.write_table(table, new / store.TABLES_FOLDER / f"{name}.parquet")
        if made.scenarios:
            (new / store.SCENARIOS_FOLDER).mkdir()
        for name, scenario in made.scenarios.items():
            (new / store.SCENARIOS_FOLDER / f"{name}.toml").write_text(scenario.effective())
        plot.save(made.figure, new / store.PICTURE)
    return folder / store.PICTURE
