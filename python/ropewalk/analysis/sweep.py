"""Run a scenario over all combinations of some keys' values."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor, as_completed
from typing import TYPE_CHECKING, Literal, get_args

from ..engines.simulate import check_runs, simulate
from ..scenario import Given, Scenario
from ..scenario.spelling import Value, spelled
from ..support import arguments
from ..support.optional_deps import require

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
    """Run a scenario over all combinations of some keys' values.

    Parameters
    ----------
    scenario : Scenario, path or mapping
        A scenario, a scenario file, or the name of a bundled scenario.
    vary : mapping of str to iterable of values
        Values by key, spelled as in a scenario file.
    seed : int
        Seed of each combination's first run.
    runs : int
        Runs of each combination.
    table : {"summary", "links", "subflows", "competitors", "flows", "link_flows"}
        Table of the results to keep.
    executor : concurrent.futures.Executor, optional
        Where to run: a process pool, or a cluster (a Dask client's ``get_executor()``). Default:
        threads of this process, one for each core.
    progress : callable, optional
        Called with the number of finished combinations.

    See Also
    --------
    ropewalk.study : saves runs as they finish, and resumes.

    Returns
    -------
    polars.DataFrame
        The tables of all combinations, the last key varying fastest, with a column for each varied
        key.

    Raises
    ------
    ScenarioError
        A key is unknown or a value is invalid. All combinations are checked before the first run.
    ValueError
        Another argument is invalid, also found before the first run.
    MissingLibraryError
        polars is not installed.

    Examples
    --------
    >>> import ropewalk
    >>> table = sweep("start/two-links", {"link.dsl.delay": ["10 ms", "50 ms", "100 ms"]})
    >>> table["link.dsl.delay"].to_list()
    ['10 ms', '50 ms', '100 ms']
    """
    require("sweep", "polars")
    import polars as pl

    scenario = Scenario.of(scenario)
    arguments.choice("table", table, get_args(Table))
    seed, runs = check_runs(seed, runs)
    progress = arguments.function("progress", progress)
    rows = [list(row) for row in itertools.product(*_spelled(vary))]
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


def _spelled(vary: Mapping[str, Iterable[Value]]) -> Iterator[list[str]]:
    """Yield the values of each key as in a scenario file."""
    for key, values in arguments.mapping("vary", vary, "keys to their values").items():
        listed = arguments.entries_of(values)
        if not listed:
            raise arguments.argument_error(f"vary: {key}", values, "a list of one value or more")
        try:
            yield [spelled(value) for value in listed]
        except ValueError as error:
            raise ValueError(f"vary: {key} = {error}") from None


def _point(
    scenario: Scenario, seed: int, runs: int, table: Table, threads: int | None
) -> pl.DataFrame:
    results = simulate(scenario, seed=seed, runs=runs, threads=threads)
    frame: pl.DataFrame = getattr(results, table)
    return frame
