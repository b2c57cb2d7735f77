"""A comparison in a folder, and back."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from .. import folders
from ..prediction.store import of_json
from ..results import RECORDED, Results
from .picture import draw
from .results import Comparison

PICTURE = "compare"
NUMBERS = "numbers"
TABLES = ("summary", "links", *RECORDED)


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
    'compare.png'
    """
    tables = {NUMBERS: comparison.numbers}
    for way, results in comparison.ran.items():
        tables |= {f"{way}-{name}": getattr(results, name) for name in TABLES}
    (picture,) = folders.keep(
        folder,
        comparison.json(),
        comparison.scenario,
        tables,
        {PICTURE: partial(draw, comparison)},
    )
    return picture


def restore(kept: folders.Kept) -> Comparison:
    """Return the comparison that a folder holds.

    Examples
    --------
    >>> import ropewalk, tempfile
    >>> scenario = "scenarios/start/two-links.toml"
    >>> comparison = ropewalk.compare(scenario, ways=["predict", "simulate"])
    >>> with tempfile.TemporaryDirectory() as temporary:
    ...     _ = keep(comparison, Path(temporary) / "two-links")
    ...     again = restore(folders.open_kept(Path(temporary) / "two-links"))
    >>> again.json() == comparison.json()
    True
    """
    ways = kept.result["ways"]
    scenario = kept.scenario
    ran = {
        way: Results.restored(
            scenario,
            ways[way].get("runs", [ways[way]]),
            kept.several(RECORDED, f"{way}-"),
        )
        for way in ways
        if way != "predict"
    }
    return Comparison(
        scenario,
        of_json(ways["predict"]) if "predict" in ways else None,
        ran.get("simulate"),
        ran.get("testbed"),
        kept.result.get("left_out", {}),
        kept.origin,
    )
