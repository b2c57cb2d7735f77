"""Storage of a comparison."""

from __future__ import annotations

from functools import partial

from ...analysis.compare.result import Comparison
from ...results import RECORDED_FRAMES, Results, folders
from ..plot.compare import draw
from .contents import FolderContents
from .predict import of_json

PICTURE = "compare"
NUMBERS = "numbers"
TABLES = ("summary", "links", *RECORDED_FRAMES)


def contents(comparison: Comparison) -> FolderContents:
    """Return the files of a comparison.

    ``tables/numbers.parquet`` has all ways side by side. Each packet-level way has its own tables,
    such as ``tables/simulate-links.parquet``.
    """
    tables = {NUMBERS: comparison.numbers}
    for way, results in comparison.ran.items():
        tables |= {f"{way}-{name}": getattr(results, name) for name in TABLES}
    return FolderContents(comparison.scenario, tables, {PICTURE: partial(draw, comparison)})


def restore(stored: folders.ResultFolder) -> Comparison:
    """Return the stored comparison.

    Examples
    --------
    >>> import ropewalk, tempfile
    >>> scenario = "start/two-links"
    >>> comparison = ropewalk.compare(scenario, ways=["predict", "simulate"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = ropewalk.store.keep(comparison, folder)
    ...     again = ropewalk.load(folder)
    >>> again.json() == comparison.json()
    True
    """
    ways = stored.result["ways"]
    scenario = stored.scenario
    ran = {
        way: Results.restored(
            scenario,
            ways[way].get("runs", [ways[way]]),
            stored.tables_with_prefix(RECORDED_FRAMES, f"{way}-"),
        )
        for way in ways
        if way != "predict"
    }
    return Comparison(
        scenario,
        of_json(ways["predict"]) if "predict" in ways else None,
        ran.get("simulate"),
        ran.get("testbed"),
        stored.result.get("left_out", {}),
        stored.origin,
    )
