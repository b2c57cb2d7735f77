"""The folder of a study: its definition, its rows as they are written, and its results."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import folders
from ..origin import Beginning, Origin
from ..replacing import named, replace
from .axes import Axis, count
from .definition import Definition
from .points import EARLIER, KEY, POINTS, Parts, read, settle
from .study_results import ENGINE, StudyResults
from .work import Row

if TYPE_CHECKING:
    import polars as pl

COMBINATIONS = "combinations"
LOCK = ".lock"
OURS = {*folders.OURS, POINTS, EARLIER, LOCK}
ASKED = ("verb", "runs", "seed", "until", "zip", "vary")


class Opened:
    """A study's folder, locked for this process.

    Parameters
    ----------
    folder : Path
        Path of the folder.
    study : Definition
        The study.
    """

    def __init__(self, folder: Path, study: Definition) -> None:
        self._folder = folder
        self._study = study
        self._parts = Parts(folder / POINTS)
        self._has_more = False

    def rows(self) -> pl.DataFrame:
        """Return the rows of all runs in the folder, each once."""
        import polars as pl

        found = [read(self._folder / name) for name in (EARLIER, POINTS)]
        return pl.concat(found, how="diagonal_relaxed").unique(KEY, keep="last")

    def add(self, rows: Sequence[Row]) -> None:
        """Write rows."""
        self._parts.add(rows)
        self._has_more = True

    def finish(self, order: Mapping[str, int], origin: Origin) -> StudyResults:
        """Sort the rows, and write the results."""
        self._parts.flush()
        points = settle(self._folder, order, self._study.columns, self.rows())
        missing = len(order) - points.height
        made = StudyResults(self._study.scenario, self._study.json(), points, missing, origin)
        tables = self._folder / folders.TABLES
        tables.mkdir(exist_ok=True)
        if points.height:
            folders.write_table(made.combinations, tables / f"{COMBINATIONS}.parquet")
        _write_result(self._folder, made.json())
        if self._has_more:
            # A report of before tells of fewer runs.
            (self._folder / folders.REPORT).unlink(missing_ok=True)
        return made


@contextmanager
def opened(folder: Path, study: Definition) -> Iterator[Opened]:
    """Open the folder of a study, new or existing, for the duration of a run.

    Raises
    ------
    OSError
        It holds something else, somebody else runs a study in it, or it cannot be written.
    """
    check_folder(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise FileExistsError(f"{folder}: another study is being run in it") from None
            began = {"engine": ENGINE, "scenario": study.scenario.title, **study.json()}
            _write_result(folder, began)
            folders.write_scenario(folder / folders.SCENARIO, study.scenario)
            yield Opened(folder, study)
        finally:
            os.close(lock)
    except OSError as error:
        if error.filename is not None and error.errno is not None:
            raise named(error, Path(error.filename)) from None
        raise


def check_folder(folder: Path) -> None:
    """Check that a folder is new, empty, or of a study.

    Raises
    ------
    OSError
        It is not.
    """
    if not folder.exists():
        return
    held = {entry.name for entry in folder.iterdir()}
    others = sorted(held - OURS)
    is_study = POINTS in held or not held - {LOCK}
    if held and (others or not is_study):
        other = (others or sorted(held))[0]
        raise FileExistsError(
            f"{folder}: holds {other!r}, which is no study; name a new or empty folder"
        )


def restore(kept: folders.Kept) -> StudyResults:
    """Return the study that a folder holds, finished or not.

    Examples
    --------
    >>> import ropewalk, tempfile
    >>> scenario = "scenarios/start/two-links.toml"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = ropewalk.study(scenario, {"duration": ["1 s", "2 s"]}, out=folder)
    ...     again = restore(folders.open_kept(Path(folder)))
    >>> again.points.equals(made.points), again.json() == made.json()
    (True, True)
    """
    study = {key: kept.result[key] for key in ASKED if key in kept.result}
    points = read(kept.folder / POINTS)
    missing = kept.result.get("points", {}).get("missing")
    if missing is None:
        # Nobody came to write it.
        axes = [Axis(key, tuple(values), ()) for key, values in study["vary"].items()]
        missing = max(count(axes, study.get("zip", ())) * study["runs"] - points.height, 0)
    return StudyResults(kept.scenario, study, points, missing, kept.origin)


def origin_of(study: Definition, began: Beginning) -> Origin:
    """Return the origin of a study."""
    most = study.runs if study.until is None else study.until.at_most
    drawn = () if study.verb == "predict" else range(study.seed, study.seed + most)
    return began.origin(study.scenario, seeds=drawn)


def _write_result(folder: Path, result: Mapping[str, Any]) -> None:
    replace(folder / folders.RESULT, (json.dumps(result, indent=2) + "\n").encode())
