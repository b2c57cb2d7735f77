"""Folder of a study: definition, rows of finished points, and results."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...provenance import KEY as ORIGIN
from ...provenance import SEVERAL as ORIGINS
from ...provenance import Origin, Stopwatch, origin_from_json
from ...results import folders
from ...scenario import Scenario
from ...support.atomic_write import named, replace
from ...support.locking import lock_open
from .axes import Axis, count
from .definition import Definition
from .jobs import Row
from .result import ENGINE, StudyResults
from .rows import EARLIER, KEY, POINTS, RowWriter, read, write_sorted

if TYPE_CHECKING:
    import polars as pl

COMBINATIONS = "combinations"
LOCK = ".lock"
OWN_NAMES = {*folders.OWN_NAMES, POINTS, EARLIER, LOCK}
ASKED = ("verb", "runs", "seed", "until", "zip", "vary")


class StudyFolder:
    """A study's folder, locked for this process.

    `began` is the start time of this command.
    """

    def __init__(self, folder: Path, study: Definition, began: Stopwatch) -> None:
        self._folder = folder
        self._study = study
        self._began = began
        self._earlier = _origins(folder, study)
        self._has_more = False
        self._write_begun()
        folders.write_scenario(folder / folders.SCENARIO, study.scenario)
        self._parts = RowWriter(folder / POINTS)

    def rows(self) -> pl.DataFrame:
        """Return the rows of all runs in the folder, each once."""
        import polars as pl

        found = [read(self._folder / name) for name in (EARLIER, POINTS)]
        return pl.concat(found, how="diagonal_relaxed").unique(KEY, keep="last")

    def add(self, rows: Sequence[Row]) -> None:
        """Write rows, each with the index of this command's origin."""
        self._has_more = True
        if self._parts.add([{**row, ORIGIN: len(self._earlier)} for row in rows]):
            # If the command is killed later, its origin is in the folder, with the time so far.
            self._write_begun()
            self._parts.flush()

    def finish(
        self, order: Mapping[str, int], spelled: Mapping[str, Mapping[str, str]]
    ) -> StudyResults:
        """Sort the rows, and write the results."""
        self._parts.flush()
        points = write_sorted(self._folder, order, spelled, self._study.columns, self.rows())
        missing = len(order) - points.height
        made = StudyResults(
            self._study.scenario, self._study.json(), points, missing, self._origins
        )
        tables = self._folder / folders.TABLES
        tables.mkdir(exist_ok=True)
        if points.height:
            folders.write_table(made.combinations, tables / f"{COMBINATIONS}.parquet")
        _write_result(self._folder, made.json())
        if self._has_more:
            # An earlier report covers fewer runs.
            (self._folder / folders.REPORT).unlink(missing_ok=True)
        return made

    @property
    def _origins(self) -> tuple[Origin, ...]:
        """Origins of the folder's runs; a command without runs adds none."""
        if self._earlier and not self._has_more:
            return self._earlier
        return (*self._earlier, origin_of(self._study, self._began))

    def _write_begun(self) -> None:
        """Write the result of an unfinished study."""
        begun = {"engine": ENGINE, "scenario": self._study.scenario.title, **self._study.json()}
        origins = self._origins if self._has_more else self._earlier
        begun[ORIGINS] = [each.without_scenarios() for each in origins]
        _write_result(self._folder, begun)


@contextmanager
def open_study(folder: Path, study: Definition, began: Stopwatch) -> Iterator[StudyFolder]:
    """Open the new or existing folder of a study for the duration of a run.

    Raises OSError if it holds something else, is locked by another study, or is not writable.
    """
    check_folder(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            if not lock_open(lock):
                raise FileExistsError(f"{folder}: another study is being run in it")
            yield StudyFolder(folder, study, began)
        finally:
            os.close(lock)
    except OSError as error:
        if error.filename is not None and error.errno is not None:
            raise named(error, Path(error.filename)) from None
        raise


def check_folder(folder: Path) -> None:
    """Raise OSError unless a folder is new, empty, or of a study."""
    if not folder.exists():
        return
    held = {entry.name for entry in folder.iterdir()}
    others = sorted(held - OWN_NAMES)
    is_study = POINTS in held or not held - {LOCK}
    if held and (others or not is_study):
        other = (others or sorted(held))[0]
        raise FileExistsError(
            f"{folder}: holds {other!r}, which is no study; name a new or empty folder"
        )


def restore(stored: folders.ResultFolder) -> StudyResults:
    """Return the study in a folder, finished or not.

    Examples
    --------
    >>> import ropewalk, tempfile
    >>> scenario = "start/two-links"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = ropewalk.study(scenario, {"duration": ["1 s", "2 s"]}, out=folder)
    ...     again = restore(folders.open_result_folder(Path(folder)))
    >>> again.points.equals(made.points), again.json() == made.json()
    (True, True)
    """
    study = {key: stored.result[key] for key in ASKED if key in stored.result}
    points = read(stored.folder / POINTS)
    missing = stored.result.get("points", {}).get("missing")
    if missing is None:
        # The study was killed before it wrote the table.
        axes = [Axis(key, tuple(values), ()) for key, values in study["vary"].items()]
        missing = max(count(axes, study.get("zip", ())) * study["runs"] - points.height, 0)
    origins = _restored(stored.result, stored.scenario)
    return StudyResults(stored.scenario, study, points, missing, origins)


def origin_of(study: Definition, began: Stopwatch) -> Origin:
    """Return the origin of a study."""
    most = study.runs if study.until is None else study.until.at_most
    drawn = () if study.verb == "predict" else range(study.seed, study.seed + most)
    return began.origin(study.scenario, seeds=drawn)


def _origins(folder: Path, study: Definition) -> tuple[Origin, ...]:
    """Return the origins of a folder's runs; none for a new folder."""
    try:
        result = json.loads((folder / folders.RESULT).read_text())
    except (FileNotFoundError, ValueError):
        return ()
    return _restored(result, study.scenario)


def _restored(result: Mapping[str, Any], scenario: Scenario) -> tuple[Origin, ...]:
    # Folders of older versions have one origin, that of the last command.
    stored = result.get(ORIGINS, [result[ORIGIN]] if ORIGIN in result else [])
    return tuple(origin_from_json(each, {scenario.title: scenario}) for each in stored)


def _write_result(folder: Path, result: Mapping[str, Any]) -> None:
    replace(folder / folders.RESULT, (json.dumps(result, indent=2) + "\n").encode())
