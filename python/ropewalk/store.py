"""Runs in a folder, and back."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import get_args

from . import folders, plot
from .origin import without_origin
from .results import RECORDED, Frame, Results

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


def keep(results: Results, folder: str | os.PathLike[str]) -> list[Path]:
    """Write tables (Parquet), pictures, the scenario with its traces, and the JSON object.

    Parameters
    ----------
    results : Results
        What to keep.
    folder : path
        New, empty, or with results of before, which are replaced.

    Returns
    -------
    list of Path
        The pictures, the one to look at first first.

    Raises
    ------
    OSError
        The folder holds something else, or cannot be written.

    Examples
    --------
    >>> import ropewalk, tempfile
    >>> results = ropewalk.simulate("scenarios/start/two-links.toml")
    >>> with tempfile.TemporaryDirectory() as temporary:
    ...     pictures = keep(results, Path(temporary) / "two-links")
    ...     sorted(file.name for file in (Path(temporary) / "two-links").iterdir())
    ['pictures', 'result.json', 'scenario.toml', 'tables']
    """
    from . import panels, whole_runs

    has_steps = not results.connection.is_empty()
    shown = {
        "goodput": has_steps,
        "windows": has_steps and panels.has_windows(results),
        "reorder-buffer": has_steps and panels.has_reorder_buffer(results),
        "player-buffer": has_steps and panels.has_player_buffer(results),
        "flows": has_steps and panels.has_flows(results),
        "shares": whole_runs.has_shares(results),
        "airtime": whole_runs.has_radios(results.runs[0]),
        "delays": True,
    }
    return folders.keep(
        Path(folder),
        results.json(),
        results.scenario,
        {name: getattr(results, name) for name in get_args(Frame)},
        {name: partial(draw, results) for name, draw in PICTURES.items() if shown[name]},
    )


def restore(kept: folders.Kept) -> Results:
    """Return the runs that a folder holds.

    Examples
    --------
    >>> import ropewalk, tempfile
    >>> results = ropewalk.simulate("scenarios/start/two-links.toml", runs=2, step="1 s")
    >>> with tempfile.TemporaryDirectory() as temporary:
    ...     _ = keep(results, Path(temporary) / "two-links")
    ...     again = restore(folders.open_kept(Path(temporary) / "two-links"))
    >>> again.runs == results.runs, again.timeline.equals(results.timeline)
    (True, True)
    """
    return Results.restored(
        kept.scenario,
        kept.result.get("runs", [without_origin(kept.result)]),
        kept.several(RECORDED),
        origin=kept.origin,
    )
