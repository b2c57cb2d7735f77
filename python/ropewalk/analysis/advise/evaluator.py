"""Cached, parallel simulation of candidates: scenarios with some keys changed."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ...engines.simulate import simulate
from ...results import statistics
from ...scenario import Scenario
from ...scenario.toml_syntax import Value, toml_value

Changes = Mapping[str, Value]

PARTS_OF_A_QUESTION = 8  # estimated candidates of a question that has not begun


@dataclass(frozen=True)
class CandidateResult:
    """Results of one candidate: its changed keys, and the values of each run.

    Values are ``goodput_mbps``, ``cost``, ``competitors_mbps`` (mean of the competing flows, if
    any) and, if data arrived, ``delay_p95_ms``.
    """

    changes: Changes
    runs: tuple[dict[str, float], ...]

    @cached_property
    def numbers(self) -> dict[str, float]:
        """Return means over the runs, and half the goodput's interval, ``ci95_mbps``."""
        known = {key: float(value) for key, value in statistics.mean(self.runs).items()}
        if len(self.runs) > 1:
            known["ci95_mbps"] = statistics.ci95(self.runs)["goodput_mbps"]
        return known

    @property
    def goodput(self) -> float:
        """Mean goodput, 10^6 bit/s."""
        return self.numbers["goodput_mbps"]

    @property
    def delay(self) -> float:
        """Mean 95th percentile of the delay in ms; infinity if a run delivered nothing."""
        return self.numbers.get("delay_p95_ms", math.inf)


class Tally:
    """Progress counter whose expected total can grow.

    `progress`, if given, is called with the finished and the expected number of candidates.
    """

    def __init__(self, progress: Callable[[int, int], object] | None = None) -> None:
        self._progress = progress
        self._finished = self._expected = 0
        self._reserved = 0

    def expect(self, parts: int) -> None:
        """Change the expected number of candidates."""
        self._expected += parts

    def reserve(self, questions: int) -> None:
        """Reserve an estimated number of candidates for each further question."""
        self._reserved += questions * PARTS_OF_A_QUESTION

    def ask(self) -> None:
        """Replace the estimate of one reserved question by candidates as they become known."""
        self._reserved -= PARTS_OF_A_QUESTION

    def finish(self) -> None:
        """Count one candidate as finished."""
        self._finished += 1
        if self._progress is not None:
            expected = self._expected + self._reserved
            self._progress(self._finished, max(expected, self._finished))


class Evaluator:
    """Simulates each candidate once and keeps the results.

    Candidates change keys of `scenario`. Each has `runs` runs, if the scenario is random, from the
    same first `seed`. `executor` is where to run, by default threads of this process.
    """

    def __init__(
        self,
        scenario: Scenario,
        seed: int = 1,
        runs: int = 1,
        executor: Executor | None = None,
        tally: Tally | None = None,
    ) -> None:
        self.scenario = scenario
        self.seed = seed
        self.runs = runs if is_random(scenario) else 1
        self._executor = executor
        self._tally = tally or Tally()
        self._known: dict[tuple[tuple[str, str], ...], CandidateResult] = {}

    @property
    def simulated(self) -> int:
        """Number of simulated candidates."""
        return len(self._known)

    def measure(self, candidates: Sequence[Changes]) -> list[CandidateResult]:
        """Return the results of candidates in order, after simulating the new ones.

        Each candidate maps keys to values, as for `Scenario.with_`. Raises ScenarioError for an
        invalid key or value, RuntimeError if a run fails.
        """
        keys = [
            tuple(sorted((key, toml_value(value)) for key, value in changes.items()))
            for changes in candidates
        ]
        new = dict(zip(keys, candidates, strict=True))
        new = {key: changes for key, changes in new.items() if key not in self._known}
        scenarios = {key: self.scenario.with_(changes) for key, changes in new.items()}
        if self._executor is not None:
            self._run(self._executor, scenarios, new)
        elif scenarios:
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                self._run(pool, scenarios, new)
        return [self._known[key] for key in keys]

    def one(self, changes: Changes) -> CandidateResult:
        """Simulate one candidate."""
        return self.measure([changes])[0]

    def _run(
        self,
        executor: Executor,
        scenarios: Mapping[tuple[tuple[str, str], ...], Scenario],
        changes: Mapping[tuple[tuple[str, str], ...], Changes],
    ) -> None:
        self._tally.expect(len(scenarios))
        futures = {
            executor.submit(_trial, scenario, self.seed, self.runs): key
            for key, scenario in scenarios.items()
        }
        try:
            for future in as_completed(futures):
                key = futures[future]
                self._known[key] = CandidateResult(changes[key], future.result())
                self._tally.finish()
        finally:
            for future in futures:
                future.cancel()


def is_random(scenario: Scenario) -> bool:
    """Return whether runs with different seeds can differ.

    Sources of randomness: loss, jitter, contention slots, back-off, random traffic of any flow or
    competitor, and the acknowledgements that F-RTO of profile mptcp-ns3 discards.

    Examples
    --------
    >>> is_random(Scenario.load("trains/eight-links"))
    False
    """
    setup = scenario.setup
    ways = [way for link in setup.links for way in link.directions]
    drawn = any(way.loss or way.jitter or way.slot for way in ways)
    traffics = [flow.traffic for flow in setup.every_flow]
    drawn_traffic = any(
        traffic.kind in ("poisson", "request", "web") or traffic.preset is not None
        for traffic in traffics
    )
    deaf = any(
        flow.profile == "mptcp-ns3" and flow.reordering == "f-rto" for flow in setup.every_flow
    )
    return drawn or setup.is_wireless or drawn_traffic or deaf


def _trial(scenario: Scenario, seed: int, runs: int) -> tuple[dict[str, float], ...]:
    """Simulate one candidate; return the values of each run."""
    return tuple(_numbers(run) for run in simulate(scenario, seed=seed, runs=runs, threads=1).runs)


def _numbers(run: Mapping[str, Any]) -> dict[str, float]:
    known: dict[str, float] = {"goodput_mbps": run.get("goodput_mbps", 0.0)}
    if "delay_ms" in run:
        known["delay_p95_ms"] = run["delay_ms"]["p95"]
    if "cost" in run:
        known["cost"] = run["cost"]
    others = run.get("competitors", [])
    flows = sum(other["count"] for other in others)
    if flows:
        carried = sum(other["goodput_mbps"] * other["count"] for other in others)
        known["competitors_mbps"] = carried / flows
    return known
