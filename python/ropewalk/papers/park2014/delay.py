"""Park et al. 2014: test of the bounds on MPTCP's delay, and of the greedy split."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from ...analysis.reproduction import Alternative, Choice, Reproduction
from ..published import published
from .bounds import BOUNDS, MEASURED, Bound, passed_for
from .comparisons import of_bounds, of_model, of_network, of_rates, of_reasons, of_splits
from .network import RUNS, network
from .picture import draw
from .random_scenarios import (
    DELAYS,
    WARMUP_S,
    Delays,
    MeasuredRun,
    delay_from_the_start,
    measure,
    random_scenarios,
)
from .splits import splits

if TYPE_CHECKING:
    import polars as pl

T = TypeVar("T")

SCENARIOS = 200
CASES = 1000


def reproduce(
    *, seed: int, runs: int, progress: Callable[[int, int], object] | None = None
) -> Reproduction:
    """Simulate random scenarios and split random cases.

    The result shows how often the bounds hold, causes of violations, and the loss of the greedy
    split.
    """
    paper = published("park-2014")
    facts = paper["section3"]
    total, finished = 3 * SCENARIOS * runs + RUNS + CASES, 0

    def step() -> None:
        nonlocal finished
        finished += 1
        if progress is not None:
            progress(finished, total)

    chosen = random_scenarios(SCENARIOS)
    pairs = [(each, seed + run) for each in chosen for run in range(runs)]
    with ThreadPoolExecutor() as threads:  # threads, because a simulator run releases the GIL
        found = list(_counted(threads.map(lambda pair: measure(*pair), pairs), step))
        ahead_of = threads.map(lambda pair: measure(*pair, ahead=True), pairs)
        ahead = list(_counted(ahead_of, step))
        started_of = threads.map(lambda pair: delay_from_the_start(*pair), pairs)
        started = list(_counted(started_of, step))
    windows, rates, limited = network(seed, step)
    cases = splits(CASES, paper["section5"], lambda _: step())
    bounds = _table(found, ahead, started)
    return Reproduction(
        paper="park-2014",
        item="delay",
        title="Park et al. 2014: bounds (8) and (9) on the delay, and the greedy split",
        source=paper["citation"],
        comparisons=(
            *of_bounds(found, facts),
            *of_reasons(found),
            *of_model(facts),
            *of_network(windows, facts),
            *of_rates(rates),
            *of_splits(cases),
        ),
        draw=lambda: draw(bounds, windows, cases),
        choices=(_of_inputs(found), _of_runs(found, ahead, started)),
        tables={"bounds": bounds, "windows": windows, "rates": rates, "splits": cases},
        scenarios={each.name: each.scenario() for each in chosen} | limited,
        seed=seed,
        runs=runs,
    )


def _counted(parts: Iterable[T], step: Callable[[], None]) -> Iterator[T]:
    for part in parts:
        step()
        yield part


def _of_inputs(found: list[MeasuredRun]) -> Choice:
    delays = [run.delay_s for run in found]
    return Choice(
        "Which inputs does the bound use?",
        MEASURED.name,
        tuple(Alternative(bound.name, _held(bound, found, delays)) for bound in BOUNDS),
        digits=1,
    )


def _of_runs(found: list[MeasuredRun], ahead: list[MeasuredRun], started: list[Delays]) -> Choice:
    fetched = "fetched with room in a window"
    return Choice(
        "How subflows get data, against (8)",
        fetched,
        (
            Alternative(fetched, _held(MEASURED, found, [run.delay_s for run in found])),
            Alternative(
                f"the same, first {WARMUP_S:g} s counted", _held(MEASURED, found, started)
            ),
            Alternative(
                "assigned ahead, as by Linux",
                _held(MEASURED, ahead, [run.delay_s for run in ahead]),
            ),
        ),
        digits=1,
    )


def _held(bound: Bound, runs: list[MeasuredRun], delays: list[Delays]) -> dict[str, float]:
    """Return how often a bound has a value and holds, in per cent, and its tightness."""
    values = np.array([bound.of(run) for run in runs])
    known = np.isfinite(values)
    numbers = {"has a value, %": 100 * float(known.mean())}
    if not known.any():
        return numbers
    for key in ("mean", "p95"):
        measured = np.array([delay[key] for delay in delays])[known]
        numbers[f"{key} within, %"] = 100 * float((measured <= values[known]).mean())
    mean = np.array([delay["mean"] for delay in delays])[known]
    return numbers | {"bound over mean": float(np.median(values[known] / mean))}


def _table(
    found: list[MeasuredRun], ahead: list[MeasuredRun], started: list[Delays]
) -> pl.DataFrame:
    import polars as pl

    rows = []
    for run, with_ahead, from_start in zip(found, ahead, started, strict=True):
        rows.append(
            {
                "scenario": run.case.name,
                "seed": run.seed,
                "subflows": run.rates.size,
                "congestion": run.case.congestion,
                "traffic": run.case.traffic,
                "lossy": bool(run.case.losses.any()),
                "demand_share": run.case.demand / float(run.case.capacity.sum()),
                "carried_over_demand": float(run.carried.sum()) / run.case.demand,
                "timeouts": run.timeouts,
                **{f"{key}_s": run.delay_s[key] for key in DELAYS},
                "mean_from_the_start_s": from_start["mean"],
                "mean_assigned_ahead_s": with_ahead.delay_s["mean"],
                **{
                    bound.key: value if np.isfinite(value := bound.of(run)) else None
                    for bound in BOUNDS
                },
                "passed_for": passed_for(run),
            }
        )
    return pl.DataFrame(rows, infer_schema_length=None)
