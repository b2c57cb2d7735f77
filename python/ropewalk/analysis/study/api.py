"""The function `study`: runs a study, or the missing points of an existing one."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...provenance import KEY as ORIGIN
from ...provenance import Stopwatch
from ...scenario import Given, Scenario
from ...support import arguments
from ...support.optional_deps import require
from . import definition, folder
from .backends import On, check_on
from .definition import Definition, define
from .jobs import Row
from .result import StudyResults
from .rows import KEY, finished_points, frame_of, order_columns
from .runner import Runner

# Failures after which the same command resumes: a full disk, a lost cluster, an interrupt.
RESUMABLE = (OSError, RuntimeError, MemoryError, KeyboardInterrupt)
RESUME = "the same command resumes"


def study(
    scenario: Given,
    vary: Mapping[str, Any] | None = None,
    *,
    zip: Sequence[Sequence[str]] | None = None,
    verb: str | None = None,
    runs: int | None = None,
    seed: int | None = None,
    until: Mapping[str, Any] | None = None,
    out: str | os.PathLike[str] | None = None,
    on: On = None,
    progress: Callable[[int, int], object] | None = None,
) -> StudyResults:
    """Run a scenario with keys varied; of an existing study, only the missing points.

    Parameters
    ----------
    scenario : Scenario, path or mapping
        Scenario to vary, or a study file. Other arguments take precedence over the file.
    vary : mapping of str to sequence, or to mapping
        For each key a list of values, spelled as in a scenario file, or a range: ``from``, ``to``,
        ``steps``, and ``scale``, ``"linear"`` or ``"log"``. All combinations are run.
    zip : sequence of sequence of str, optional
        Groups of keys that step together instead of being combined.
    verb : str, optional
        ``"simulate"`` (the default), ``"predict"``, ``"compare"``, ``"testbed"``, ``"advise"``.
    runs : int, optional
        Seeds of each combination (1); with `until`, the smallest number (5).
    seed : int, optional
        The first seed (1).
    until : mapping, optional
        Stopping rule: add seeds until half the 95 % interval of the goodput is at most ``ci95`` of
        its mean, such as ``"2 %"``, or there are ``at_most`` runs. ``of`` names another column.
    out : path, optional
        Folder for the runs. Default: memory only.
    on : int, str or concurrent.futures.Executor, optional
        Where to run: a number of processes, ``"local"`` (a Dask cluster of this machine), the
        address of a Dask scheduler, or an executor. Default: threads of this process, one for each
        core.
    progress : callable, optional
        Called with the finished and the initially missing number of runs.

    Returns
    -------
    StudyResults
        One row per run, failed ones included.

    Raises
    ------
    ScenarioError
        A key is unknown or a value is invalid.
    ValueError
        Another argument is invalid.
    MissingLibraryError
        polars is not installed, or the requested Dask is not.
    OSError
        The folder belongs to something else, is in use, or is not writable.
    RuntimeError
        There is no worker, or all are lost. With `out`, a note of the error counts the saved runs;
        the same call resumes.

    Examples
    --------
    >>> import ropewalk
    >>> delays = {"link.dsl.delay": {"from": "10 ms", "to": "90 ms", "steps": 3}}
    >>> made = ropewalk.study("start/two-links", delays)
    >>> made.points["link.dsl.delay"].to_list(), made.points["link.dsl.delay_value"].to_list()
    (['10 ms', '50 ms', '90 ms'], [0.01, 0.05, 0.09])
    """
    require("study", "polars")
    on = check_on(on)
    others: dict[str, Any] = {
        "vary": vary,
        "zipped": zip,
        "verb": verb,
        "runs": runs,
        "seed": seed,
        "until": until,
    }
    progress = arguments.function("progress", progress)
    folder_of = None if out is None else Path(arguments.path("out", out))
    if isinstance(scenario, (str, os.PathLike)) and definition.is_study(Path(scenario)):
        defined = definition.load(Path(scenario), **others)
    else:
        given = {key: value for key, value in others.items() if value is not None}
        defined = define(Scenario.of(scenario), given.pop("vary", {}), **given)
    return run(defined, folder_of, on=on, progress=progress)


def run(
    defined: Definition,
    out: Path | None = None,
    *,
    on: On = None,
    progress: Callable[[int, int], object] | None = None,
    begun: Callable[[int, int], object] | None = None,
) -> StudyResults:
    """Run a study from its definition, in the folder `out`.

    `begun`, if given, is called with the numbers of existing and missing runs. For `on` and
    `progress` see `study`.
    """
    began = Stopwatch()
    if out is None:
        rows: list[Row] = []
        runner = Runner(defined, {}, rows.extend, progress)
        if begun is not None:
            begun(0, runner.plan())
        runner.run(on)
        order = runner.order
        rows.sort(key=lambda row: order[row[KEY]])
        return StudyResults(
            defined.scenario,
            defined.json(),
            order_columns(frame_of([{**row, ORIGIN: 0} for row in rows]), defined.columns),
            origins=(folder.origin_of(defined, began),),
        )
    with folder.open_study(out, defined, began) as kept:
        known = finished_points(kept.rows(), None if defined.until is None else defined.until.of)
        runner = Runner(defined, known, kept.add, progress)
        missing = runner.plan()
        if begun is not None:
            begun(len(runner.order) - missing, missing)
        try:
            runner.run(on)
        except BaseException as error:
            made = kept.finish(runner.order, runner.spelled)
            if isinstance(error, RESUMABLE):
                there, of = made.points.height, made.points.height + made.missing
                error.add_note(f"{there:,} of {of:,} runs are stored; {RESUME}: {out}")
            raise
        return kept.finish(runner.order, runner.spelled)
