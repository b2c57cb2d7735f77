"""The function `compare`: one scenario predicted, simulated and measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..._core import ScenarioError
from ...engines import testbed
from ...engines.predict import Predictions, predict
from ...engines.predict.coverage import uncovered_reasons
from ...engines.simulate import check_runs, simulate
from ...provenance import Stopwatch
from ...scenario import Given, Scenario
from ...support.arguments import argument_error, entries_of, function, text, whole
from .result import Comparison

WAYS = ("predict", "simulate", "testbed")


def compare(
    scenario: Given,
    *,
    ways: Sequence[str] | None = None,
    seed: int = 1,
    runs: int = 1,
    step: str | None = None,
    progress: Callable[[int, int], object] | None = None,
    again: int = 0,
) -> Comparison:
    """Run a scenario in several ways, and compare the results.

    Parameters
    ----------
    scenario : Scenario, path or mapping
        The scenario to run.
    ways : sequence of str, optional
        Any of ``"predict"``, ``"simulate"`` and ``"testbed"``. Default: all applicable ways.
        Naming one that does not apply is an error. The testbed runs in real time.
    seed : int
        Seed of the first run, 0 to 2^64 - 1.
    runs : int
        Runs of each random way; formulas are evaluated once.
    step : str, optional
        Time step of recorded timelines, such as ``"100 ms"``.
    progress : callable, optional
        Called with the finished and the total seconds of the scenario, over all ways and runs.
    again : int
        Largest number of repetitions of a testbed run that the machine disturbed. The least
        disturbed run is kept.

    Returns
    -------
    Comparison
        Results of each way, their agreement, and reasons of differences.

    Raises
    ------
    ScenarioError
        The scenario is invalid, or a requested way cannot run it.
    ValueError
        Another argument is invalid.
    OSError
        A file could not be read.
    RuntimeError
        A run failed, or this machine cannot run the requested testbed.

    Examples
    --------
    >>> import ropewalk
    >>> scenario = "start/two-links"
    >>> comparison = ropewalk.compare(scenario, ways=["predict", "simulate"], runs=3)
    >>> sorted(comparison.accuracy)
    ['predict_against_simulate']
    """
    began = Stopwatch()
    requested = ways_to_run(ways)
    scenario = Scenario.of(scenario)
    seed, runs = check_runs(seed, runs)
    progress = function("progress", progress)
    again = whole("again", again, least=0)
    step = None if step is None else text("step", step, "100 ms")
    options: dict[str, Any] = {"seed": seed, "runs": runs, "step": step}
    left_out: dict[str, str] = {}
    predictions = simulated = measured = None
    each = scenario.duration_s
    total = each * runs * sum(way != "predict" for way in requested)
    for way in requested:
        try:
            if way == "predict":
                predictions = _predicted(scenario)
            elif way == "simulate":
                tell = _way_progress(progress, 0.0, each, total)
                simulated = simulate(scenario, **options, progress=tell)
            else:
                tell = _way_progress(progress, total - each * runs, 1.0, total)
                measured = testbed.testbed(scenario, **options, progress=tell, again=again)
        except (ScenarioError, testbed.UnavailableError) as error:
            left_out[way] = str(error).partition("\n")[0]
            if ways is not None or len(left_out) == len(requested):
                raise
    origin = began.origin(scenario, seeds=range(seed, seed + runs))
    return Comparison(scenario, predictions, simulated, measured, left_out, origin)


def ways_to_run(ways: Sequence[str] | None) -> tuple[str, ...]:
    """Return the ways to try, in order; ValueError if one is unknown or none is given.

    Examples
    --------
    >>> ways_to_run(["simulate", "predict"])
    ('predict', 'simulate')
    >>> ways_to_run(["guess"])
    Traceback (most recent call last):
    ValueError: ways = ['guess']: allowed: some of predict, simulate, testbed
    """
    if ways is None:
        return WAYS
    requested = entries_of(ways)
    if not requested or not set(requested) <= set(WAYS):
        raise argument_error("ways", ways, f"some of {', '.join(WAYS)}")
    return tuple(way for way in WAYS if way in requested)


def _predicted(scenario: Scenario) -> Predictions:
    predictions = predict(scenario)
    if predictions.best is None:
        reasons = uncovered_reasons(scenario.setup)
        note = f": {'; '.join(reasons)}" if reasons else ""
        raise ScenarioError(f"no model gives a goodput of this scenario{note}")
    return predictions


def _way_progress(
    progress: Callable[[int, int], object] | None, before: float, each: float, total: float
) -> Callable[..., object] | None:
    """Return the progress callback of a way that counts for `each` seconds of the total."""
    if progress is None:
        return None
    whole = max(round(total), 1)
    return lambda finished, *_: progress(min(round(before + each * finished), whole), whole)
