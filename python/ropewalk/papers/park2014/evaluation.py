"""All runs behind figures 2 to 5 of Park et al. 2014, and a figure's reproduction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...analysis.reproduction import Alternative, Choice, ComparedValue, Reproduction
from ..published import published
from . import setups
from .setups import CHOSEN, SCHEMES, Case, Scheme, Setup, answers
from .split_runs import Pooled, Run, measured
from .varying_links import Floats

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Progress = Callable[[int, int], object]
ByScheme = Mapping[Scheme, Pooled]
Curves = Mapping[str, tuple[Floats, Floats]]
"""Abscissae and ordinates by name of the scheme."""


class Found:
    """Runs of all set-ups; a run that another figure has simulated is not repeated."""

    def __init__(
        self,
        seed: int,
        runs: int,
        progress: Progress | None = None,
        *,
        more: Iterable[Scheme] = (),
    ) -> None:
        self.seed, self.count = seed, runs
        every = dict.fromkeys(answers())
        cases = [Case(scheme, setup) for setup in every for scheme in SCHEMES]
        cases += [Case(scheme) for scheme in more]
        distinct = list(dict.fromkeys(case.simulated for case in cases))
        jobs = [(case, seed + run) for case in distinct for run in range(runs)]
        made: dict[Case, list[Run]] = {case: [] for case in distinct}
        with ThreadPoolExecutor() as threads:  # threads, because a run releases the GIL
            pairs = zip(jobs, threads.map(lambda job: measured(*job), jobs), strict=True)
            for done, ((case, _), run) in enumerate(pairs, start=1):
                made[case].append(run)
                if progress is not None:
                    progress(done, len(jobs))
        pooled = {case: Pooled(parts) for case, parts in made.items()}
        self._pooled = {case: pooled[case.simulated] for case in cases}
        self.scenarios = {
            scenario.name: scenario
            for scenario in (case.scenario(seed) for case in cases if case.setup == CHOSEN)
        }

    def of(self, setup: Setup = CHOSEN) -> dict[Scheme, Pooled]:
        """Return a set-up's runs by scheme."""
        return {case.scheme: runs for case, runs in self._pooled.items() if case.setup == setup}

    def choices(
        self, numbers: Callable[[ByScheme], dict[str, float]], digits: int = 2
    ) -> tuple[Choice, ...]:
        """Return each open question with these numbers of each answer."""
        return tuple(
            Choice(
                question,
                next(name for name, changes in named.items() if not changes),
                tuple(
                    Alternative(name, numbers(self.of(replace(CHOSEN, **changes))))
                    for name, changes in named.items()
                ),
                digits,
            )
            for question, named in setups.QUESTIONS.items()
        )

    def reproduction(
        self,
        item: str,
        title: str,
        comparisons: Iterable[ComparedValue],
        draw: Callable[[], Figure],
        choices: Iterable[Choice],
        curves: tuple[str, str, Curves] | None = None,
    ) -> Reproduction:
        """Return the reproduction of a figure; `curves` has two columns of a table."""
        import polars as pl

        rows = [
            {
                "scheme": scheme.name,
                "cost": runs.mean("cost"),
                "mean_delay_ms": runs.mean("mean_delay_ms"),
                "p95_s": runs.delay_s(0.95),
            }
            for scheme, runs in self.of().items()
        ]
        tables = {"schemes": pl.DataFrame(rows)}
        if curves is not None:
            *names, by_scheme = curves
            tables["curves"] = pl.concat(
                pl.DataFrame(dict(zip(names, curve, strict=True))).with_columns(
                    scheme=pl.lit(scheme)
                )
                for scheme, curve in by_scheme.items()
            )
        return Reproduction(
            paper="park-2014",
            item=item,
            title=f"Park et al. 2014, {title}",
            source=paper()["citation"],
            comparisons=tuple(comparisons),
            draw=draw,
            choices=tuple(choices),
            tables=tables,
            scenarios=self.scenarios,
            seed=self.seed,
            runs=self.count,
        )


def paper() -> dict[str, Any]:
    """Return the paper's statements."""
    return published("park-2014")
