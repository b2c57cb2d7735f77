"""Storage of runs."""

from __future__ import annotations

from functools import partial
from typing import get_args

from ...provenance import without_origin
from ...results import RECORDED_FRAMES, Frame, Results, folders
from .. import plot
from .contents import FolderContents

PICTURES = {
    "goodput": plot.goodput,
    "windows": plot.windows,
    "reorder-buffer": plot.reorder_buffer,
    "player-buffer": plot.player_buffer,
    "flows": plot.flows,
    "shares": plot.shares,
    "airtime": plot.airtime,
    "delays": plot.delays,
}


def contents(results: Results) -> FolderContents:
    """Return the files of runs: tables, and the applicable pictures."""
    from ..plot import time_panels, total_panels

    has_steps = not results.connection.is_empty()
    shown = {
        "goodput": has_steps,
        "windows": has_steps and time_panels.has_windows(results),
        "reorder-buffer": has_steps and time_panels.has_reorder_buffer(results),
        "player-buffer": has_steps and time_panels.has_player_buffer(results),
        "flows": has_steps and time_panels.has_flows(results),
        "shares": total_panels.has_shares(results),
        "airtime": total_panels.has_radios(results.runs[0]),
        "delays": True,
    }
    return FolderContents(
        results.scenario,
        {name: getattr(results, name) for name in get_args(Frame)},
        {name: partial(draw, results) for name, draw in PICTURES.items() if shown[name]},
    )


def restore(stored: folders.ResultFolder) -> Results:
    """Return the stored runs.

    Examples
    --------
    >>> import ropewalk, tempfile
    >>> results = ropewalk.simulate("start/two-links", runs=2, step="1 s")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = ropewalk.store.keep(results, folder)
    ...     again = ropewalk.load(folder)
    >>> again.runs == results.runs, again.timeline.equals(results.timeline)
    (True, True)
    """
    return Results.restored(
        stored.scenario,
        stored.result.get("runs", [without_origin(stored.result)]),
        stored.tables_with_prefix(RECORDED_FRAMES),
        origin=stored.origin,
    )
