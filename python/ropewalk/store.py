"""Keep results in a folder: all of it, or nothing."""

from __future__ import annotations

import io
import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import panels, plot
from .replacing import named, umask

if TYPE_CHECKING:
    import polars as pl

    from .results import Results
    from .scenario import Scenario

TABLES = (
    "summary",
    "links",
    "subflows",
    "competitors",
    "flows",
    "link_flows",
    "timeline",
    "connection",
    "delays",
    "reordering",
)
PLOTS = {
    "goodput.png": plot.goodput,
    "windows.png": plot.windows,
    "reorder-buffer.png": plot.reorder_buffer,
    "player-buffer.png": plot.player_buffer,
    "flows.png": plot.flows,
    "airtime.png": plot.airtime,
}
RESULT = "result.json"
SCENARIO = "scenario.toml"
PICTURE = "picture.png"
REPORT = "report.html"
PREDICTED = "models.parquet"
TABLES_FOLDER = "tables"
SCENARIOS_FOLDER = "scenarios"
DEPLOYMENTS_FOLDER = "deployments"
NODES = "nodes.csv"
OURS = {
    RESULT,
    SCENARIO,
    "traces",
    "delays.png",
    *PLOTS,
    *(f"{name}.parquet" for name in TABLES),
    PICTURE,
    REPORT,
    PREDICTED,
    TABLES_FOLDER,
    SCENARIOS_FOLDER,
    DEPLOYMENTS_FOLDER,
    NODES,
}


def check_folder(folder: Path) -> None:
    """Make sure that results can be kept in a folder.

    A folder may be new, empty, or hold results of before, which are replaced.

    Raises
    ------
    OSError
        It is none of these, or cannot be written.
    """
    if folder.exists():
        held = {entry.name for entry in folder.iterdir()}
        if held and (RESULT not in held or not held <= OURS):
            other = sorted(held - OURS)[:1] or sorted(held)[:1]
            raise FileExistsError(
                f"{folder}: holds {other[0]!r}, which is no result of ropewalk;"
                " name a new or empty folder"
            )
    folder.parent.mkdir(parents=True, exist_ok=True)
    _beside(folder).rmdir()


def keep(results: Results, folder: Path) -> list[Path]:
    """Write tables (Parquet), plots, the scenario used with its traces, and the JSON object.

    They are written beside the folder first and put in its place at the end,
    so that nobody finds it half written.

    Returns
    -------
    list of Path
        The plots, the one to look at first first.

    Examples
    --------
    >>> import ropewalk, tempfile
    >>> results = ropewalk.simulate("scenarios/start/two-links.toml")
    >>> with tempfile.TemporaryDirectory() as temporary:
    ...     plots = keep(results, Path(temporary) / "two-links")
    >>> [path.name for path in plots]
    ['delays.png']
    """
    with in_place_of(folder) as made:
        plots = _write(results, made)
    return [folder / name for name in plots]


@contextmanager
def in_place_of(folder: Path) -> Iterator[Path]:
    """Give a new folder beside another, and put it in that one's place at the end.

    If something fails, the other one is as it was and the new one is gone.

    Raises
    ------
    OSError
        As `check_folder`.
    """
    check_folder(folder)
    made = _beside(folder)
    try:
        yield made
        made.chmod(0o777 & ~umask())
        _put_in_place(made, folder)
    except BaseException as error:
        shutil.rmtree(made, ignore_errors=True)
        if isinstance(error, OSError):
            raise named(error, folder) from None
        raise


def write_head(folder: Path, result: dict[str, Any], scenario: Scenario) -> None:
    """Write what every folder of results has: the JSON object, the scenario, its traces.

    Of a mesh, also the places of its nodes, which ``placement = { file = "nodes.csv" }`` reads.
    """
    (folder / RESULT).write_text(json.dumps(result, indent=2) + "\n")
    text, traces = scenario.self_contained()
    (folder / SCENARIO).write_text(text)
    for trace, content in traces.items():
        (folder / trace).parent.mkdir(exist_ok=True)
        (folder / trace).write_text(content)
    if "mesh" in scenario.values:
        (folder / NODES).write_text(deployment(scenario.values["mesh"]["nodes"]))


def deployment(places: Sequence[Sequence[float]]) -> str:
    """Return places as the lines of a file that ``[mesh]`` reads.

    Examples
    --------
    >>> deployment([(0, 0), (12.5, 3)]).split()
    ['x_m,y_m', '0.0,0.0', '12.5,3.0']
    """
    return "".join(["x_m,y_m\n", *(f"{float(x)!r},{float(y)!r}\n" for x, y in places)])


def write_table(frame: pl.DataFrame, file: Path) -> None:
    """Write a data frame as Parquet; a full disk is an `OSError`, as with any file."""
    content = io.BytesIO()
    frame.write_parquet(content)
    file.write_bytes(content.getbuffer())


def _beside(folder: Path) -> Path:
    """Make a new folder beside another, which an error names."""
    try:
        return Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    except OSError as error:
        raise named(error, folder) from None


def _write(results: Results, folder: Path) -> list[str]:
    write_head(folder, results.json(), results.scenario)
    for name in TABLES:
        frame = getattr(results, name)
        if not frame.is_empty():
            write_table(frame, folder / f"{name}.parquet")
    plots = []
    if not results.connection.is_empty():
        shown = {
            plot.reorder_buffer: panels.has_reorder_buffer(results),
            plot.player_buffer: panels.has_player_buffer(results),
            plot.flows: panels.has_flows(results),
            plot.windows: panels.has_windows(results),
            plot.airtime: panels.has_radios(results.runs[0]),
        }
        for name, draw in PLOTS.items():
            if shown.get(draw, True):
                plot.save(draw(results), folder / name)
                plots.append(name)
    plot.save(plot.delays(results), folder / "delays.png")
    return [*plots, "delays.png"]


def _put_in_place(made: Path, folder: Path) -> None:
    if folder.exists():
        before = made.with_name(f"{made.name}.before")
        folder.rename(before)
        made.rename(folder)
        shutil.rmtree(before)
    else:
        made.rename(folder)
