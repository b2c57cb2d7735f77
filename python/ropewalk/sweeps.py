"""Run a scenario over all combinations of some keys' values."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, as_completed
from typing import TYPE_CHECKING, Literal, get_args

from .needs import need
from .scenario import Scenario, Value, spelled
from .simulation import check_runs, simulate

if TYPE_CHECKING:
    import polars as pl

Table = Literal["summary", "links", "subflows", "competitors", "flows", "link_flows"]


def sweep(
    scenario: Scenario | str | os.PathLike[str],
    vary: Mapping[str, Sequence[Value]],
    *,
    seed: int = 1,
    runs: int = 1,
    table: Table = "summary",
    executor: Executor | None = None,
    progress: Callable[[int], object] | None = None,
) -> pl.DataFrame:
    """Run a scenario over all combinations of some keys' values.

    Parameters
    ----------
    scenario : Scenario or path
        What to run, a scenario file, or the name of a ready scenario.
    vary : mapping of str to sequence of values
        For each key the values that it takes, spelled as in a scenario file.
    seed : int
        Seed of each combination's first run.
    runs : int
        How many runs of each combination.
    table : {"summary", "links", "subflows", "competitors", "flows", "link_flows"}
        Which frame of the results to keep.
    executor : concurrent.futures.Executor, optional
        Where to run: a process pool, or a cluster's (a Dask client's
        ``get_executor()``). In this process on all its cores if not given.
    progress : callable, optional
        Called with the number of finished combinations after each.

    See Also
    --------
    ropewalk.study : keeps runs as they come, and goes on with what is missing.

    Returns
    -------
    polars.DataFrame
        The frames of all combinations, the last key varying fastest, with a
        column for each varied key.

    Raises
    ------
    ScenarioError
        A key is unknown or a value is wrong. All combinations are checked
        before the first one runs.
    ValueError
        Another argument is wrong; that is found before the first one runs, too.
    MissingLibraryError
        polars is not installed.

    Examples
    --------
    >>> import ropewalk
    >>> table = sweep("start/two-links", {"link.dsl.delay": ["10 ms", "50 ms", "100 ms"]})
    >>> table["link.dsl.delay"].to_list()
    ['10 ms', '50 ms', '100 ms']
    """
    need("sweep", "polars")
    import polars as pl

    if not isinstance(scenario, Scenario):
        scenario = Scenario.load(scenario)
    if table not in get_args(Table):
        raise ValueError(f"table = {table!r}; allowed: {', '.join(get_args(Table))}")
    check_runs(seed, runs)
    for key, values in vary.items():
        if isinstance(values, str) or not isinstance(values, Sequence) or not values:
            raise ValueError(f"vary: {key} = {values!r}; allowed: a list of one value or more")
    rows = [[spelled(value) for value in values] for values in itertools.product(*vary.values())]
    changes = [dict(zip(vary, row, strict=True)) for row in rows]
    scenarios = [scenario.with_(change) for change in changes]

    frames: dict[int, pl.DataFrame] = {}

    def keep(index: int, frame: pl.DataFrame) -> None:
        varied = [pl.lit(value).alias(key) for key, value in changes[index].items()]
        frames[index] = frame.select(*varied, pl.all())
        if progress is not None:
            progress(len(frames))

    if executor is None:
        for index, changed in enumerate(scenarios):
            keep(index, _point(changed, seed, runs, table, None))
    else:
        futures = {
            executor.submit(_point, changed, seed, runs, table, 1): index
            for index, changed in enumerate(scenarios)
        }
        try:
            for future in as_completed(futures):
                keep(futures[future], future.result())
        finally:
            for future in futures:
                future.cancel()
    return pl.concat([frames[index] for index in sorted(frames)], how="diagonal")


def _point(
    scenario: Scenario, seed: int, runs: int, table: Table, threads: int | None
) -> pl.DataFrame:
    results = simulate(scenario, seed=seed, runs=runs, threads=threads)
    frame: pl.DataFrame = getattr(results, table)
    return frame
