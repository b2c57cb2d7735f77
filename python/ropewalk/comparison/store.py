"""Keep a comparison in a folder: all of it, or nothing."""

from __future__ import annotations

from pathlib import Path

from .. import plot, store
from .picture import draw
from .results import Comparison

TABLES = ("summary", "links", "subflows", "timeline", "connection", "delays")


def keep(comparison: Comparison, folder: Path) -> Path:
    """Write tables (Parquet), the picture, the scenario with its traces, and the JSON object.

    Parameters
    ----------
    comparison : Comparison
        What to keep. ``tables/numbers.parquet`` has all ways side by side; each way that
        carried packets has its own frames, such as ``tables/simulate-links.parquet``.
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
    >>> scenario = "scenarios/start/two-links.toml"
    >>> comparison = ropewalk.compare(scenario, ways=["predict", "simulate"])
    >>> with tempfile.TemporaryDirectory() as temporary:
    ...     keep(comparison, Path(temporary) / "two-links").name
    'picture.png'
    """
    with store.in_place_of(folder) as made:
        store.write_head(made, comparison.json(), comparison.scenario)
        tables = made / store.TABLES_FOLDER
        tables.mkdir()
        store.write_table(comparison.numbers, tables / "numbers.parquet")
        for way, results in comparison.ran.items():
            for name in TABLES:
                frame = getattr(results, name)
                if not frame.is_empty():
                    store.write_table(frame, tables / f"{way}-{name}.parquet")
        plot.save(draw(comparison), made / store.PICTURE)
    return folder / store.PICTURE
