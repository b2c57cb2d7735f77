"""Execution of a study's missing points."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

from .axes import Changes
from .backends import Backend, On, backends_on
from .definition import Definition, StoppingRule
from .driver import Driver
from .identity import PointKeys
from .jobs import DONE, Job, Point, Row
from .rows import KEY

GROWTH = 2  # largest growth factor of the number of runs in one step


class Runner:
    """Runs the missing points of a study.

    `known` has the rows of finished points by key; with a stopping rule, with the number it tests.
    `keep` is called with new rows, `progress` with the finished and the initially missing number
    of runs.
    """

    def __init__(
        self,
        study: Definition,
        known: dict[str, Any],
        keep: Callable[[Sequence[Row]], object],
        progress: Callable[[int, int], object] | None = None,
    ) -> None:
        self._study = study
        self._known = known
        self._keep = keep
        self._progress = progress
        self._keys = PointKeys(study)
        self._numbers: dict[Changes, dict[str, Any]] = {}
        self._points: list[Point] = []
        self._missing = self._finished = 0

    @property
    def order(self) -> dict[str, int]:
        """Ranks of the points by key; complete when all have run."""
        return {point.key: at for at, point in enumerate(self._points)}

    @property
    def spelled(self) -> dict[str, dict[str, str]]:
        """The varied keys as spelled in this study, by point key."""
        found: dict[str, dict[str, str]] = {}
        for point in self._points:
            for key, value in point.changes:
                found.setdefault(key, {})[point.key] = value
        return found

    def plan(self) -> int:
        """Return the number of certain runs without a row."""
        counts = dict.fromkeys(self._study.combinations, self._study.runs)
        return len(self._todo(counts))

    def run(self, on: On) -> None:
        """Run the missing points on backends.

        Raises ImportError, OSError or RuntimeError if there is no backend.
        """
        until = self._study.until
        counts = dict.fromkeys(self._study.combinations, self._study.runs)
        todo = self._todo(counts)
        with ExitStack() as stack:
            backends: list[Backend] = []
            while True:
                if todo:
                    # A complete study needs no cluster.
                    if not backends:
                        job = Job(self._study.scenario, self._study.verb)
                        backends = stack.enter_context(backends_on(on, job))
                    Driver(backends, self._take).run(todo)
                more = counts if until is None else self._more(counts, until)
                if more == counts:
                    return
                counts, todo = more, self._todo(more)

    def _todo(self, counts: dict[Changes, int]) -> list[Point]:
        """Return the points without a row, for the given number of runs of each combination."""
        self._points = [
            Point(changes, seed, self._keys.key(changes, seed))
            for changes, count in counts.items()
            for seed in range(self._study.seed, self._study.seed + count)
        ]
        todo = [point for point in self._points if point.key not in self._known]
        self._missing = self._finished + len(todo)
        return todo

    def _take(self, points: Sequence[Point], rows: Sequence[Row]) -> None:
        whole = []
        of = None if self._study.until is None else self._study.until.of
        for point, row in zip(points, rows, strict=True):
            if point.changes not in self._numbers:
                self._numbers[point.changes] = self._study.numbers(point.changes)
            named = dict(point.changes) | self._numbers[point.changes]
            whole.append(
                {**named, "seed": point.seed, "status": row["status"], "error": None}
                | {key: value for key, value in row.items() if key not in ("seed", *named)}
                | {KEY: point.key}
            )
            # A failed run is not repeated now, and does not count as a run.
            done = row["status"] == DONE
            self._known[point.key] = row.get(of) if of is not None and done else None
        self._keep(whole)
        self._finished += len(rows)
        if self._progress is not None:
            self._progress(self._finished, self._missing)

    def _more(self, counts: dict[Changes, int], until: StoppingRule) -> dict[Changes, int]:
        """Return the wanted number of runs of each combination, from the existing ones."""
        if all(self._known.get(point.key) is None for point in self._points):
            raise ValueError(f"until: of = {until.of!r}: no run has such a number")
        return {changes: self._enough(changes, count, until) for changes, count in counts.items()}

    def _enough(self, changes: Changes, count: int, until: StoppingRule) -> int:
        seeds = range(self._study.seed, self._study.seed + count)
        values = [self._known.get(self._keys.key(changes, seed)) for seed in seeds]
        return wanted_runs(values, count, until)


def wanted_runs(values: Sequence[float | None], count: int, until: StoppingRule) -> int:
    """Return the wanted number of runs of a combination, from the results so far.

    The number follows from the interval's width, at most twice the present number, which limits
    the harm of a wrong first estimate.

    Examples
    --------
    >>> wanted_runs([10.0, 10.1, 9.9], 3, StoppingRule(ci95=0.1, at_most=50))
    3
    >>> wanted_runs([10.0, 12.0, 8.0], 3, StoppingRule(ci95=0.1, at_most=50))
    6
    """
    from ...results.statistics import half_width

    there = [value for value in values if value is not None]
    if count >= until.at_most or not there:
        return count
    if len(there) == 1:
        return min(count + 1, until.at_most)
    middle = math.fsum(there) / len(there)
    half = half_width(there)
    allowed = until.ci95 * abs(middle)
    if half <= allowed:
        return count
    guessed = math.ceil(count * (half / allowed) ** 2) if allowed else GROWTH * count
    return min(max(guessed, count + 1), GROWTH * count, until.at_most)
