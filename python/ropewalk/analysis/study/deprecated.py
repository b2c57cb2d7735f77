"""The deprecated function `sweep`, now `study`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from functools import partial
from typing import TYPE_CHECKING, Literal, get_args
from warnings import warn

from ...engines.simulate import check_runs, simulate
from ...scenario import Given, Scenario
from ...scenario.toml_syntax import Value
from ...support import arguments
from ...support.optional_deps import require
from .axes import Changes, apply_changes
from .definition import define

if TYPE_CHECKING:
    import polars as pl

Table = Literal["summary", "links", "subflows", "competitors", "flows", "link_flows"]


def sweep(
    scenario: Given,
    vary: Mapping[str, Iterable[Value]],
    *,
    seed: int = 1,
    runs: int = 1,
    table: Table = "summary",
    executor: Executor | None = None,
    progress: Callable[[int], object] | None = None,
) -> pl.DataFrame:
    """Return one table of the runs of all combinations. Deprecated: use `ropewalk.study`.

    ``study(scenario, vary, runs=10).points`` has the columns of the summary. The other tables
    come from `ropewalk.simulate`.

    Examples
    --------
    >>> import ropewalk
    >>> made = ropewalk.study("start/two-links", {"link.dsl.delay": ["10 ms", "50 ms", "100 ms"]})
    >>> made.points["link.dsl.delay"].to_list()
    ['10 ms', '50 ms', '100 ms']
    """
    warn(
        "ropewalk.sweep is deprecated: ropewalk.study(scenario, vary, runs=N).points has the"
        " summary's columns",
        DeprecationWarning,
        stacklevel=2,
    )
    require("study", "polars")
    import polars as pl

    scenario = Scenario.of(scenario)
    arguments.choice("table", table, get_args(Table))
    seed, runs = check_runs(seed, runs)
    progress = arguments.function("progress", progress)
    run = partial(_frame, scenario, seed, runs, table, threads=1 if executor else None)
    changes = list(define(scenario, vary).combinations)
    frames = []
    for frame in map(run, changes) if executor is None else executor.map(run, changes):
        frames.append(frame)
        if progress is not None:
            progress(len(frames))
    return pl.concat(frames, how="diagonal")


def _frame(
    scenario: Scenario,
    seed: int,
    runs: int,
    table: Table,
    changes: Changes,
    *,
    threads: int | None,
) -> pl.DataFrame:
    """Return a table of one combination's runs, with a column for each varied key."""
    import polars as pl

    made = simulate(apply_changes(scenario, dict(changes)), seed=seed, runs=runs, threads=threads)
    frame: pl.DataFrame = getattr(made, table)
    return frame.select(*(pl.lit(value).alias(key) for key, value in changes), pl.all())
