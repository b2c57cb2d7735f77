"""One scenario, several ways to run it: what they say, and how near they come."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from .._core import ScenarioError
from ..prediction import Predictions, predict
from ..results import Results
from ..scenario import Scenario
from ..simulation import simulate
from .results import Comparison

__all__ = ["WAYS", "Comparison", "compare", "wanted"]

WAYS = ("predict", "simulate")


def compare(
    scenario: Scenario | str | os.PathLike[str],
    *,
    ways: Sequence[str] | None = None,
    seed: int = 1,
    runs: int = 1,
    step: str | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Comparison:
    """Run a scenario in several ways and lay the results side by side.

    Parameters
    ----------
    scenario : Scenario or path
        What to run.
    ways : sequence of str, optional
        Of ``"predict"`` and ``"simulate"``; all that apply if not given. One that is asked
        for and does not apply is an error.
    seed : int
        Seed of the first run, 0 to 2^64 - 1.
    runs : int
        How many runs of each way that draws; formulas are asked once.
    step : str, optional
        Record timelines with this step, such as ``"100 ms"``.
    progress : callable, optional
        Called with the number of finished runs, and of how many, after each.

    Returns
    -------
    Comparison
        What each way gave, how near they come, and why they differ.

    Raises
    ------
    ScenarioError
        The scenario is wrong, or no way applies to it.
    ValueError
        Another argument is wrong, or a way that was asked for does not apply.
    OSError
        A file could not be read.
    RuntimeError
        A run failed.

    Examples
    --------
    >>> import ropewalk
    >>> comparison = ropewalk.compare("scenarios/start/two-links.toml", runs=3)
    >>> sorted(comparison.accuracy)
    ['predict_against_simulate']
    """
    asked = wanted(ways)
    if not isinstance(scenario, Scenario):
        scenario = Scenario.load(scenario)
    left_out: dict[str, str] = {}
    predictions = simulated = None
    if "predict" in asked:
        predictions = _predicted(scenario, left_out)
    if "simulate" in asked:
        simulated = _simulated(scenario, left_out, seed, runs, step, progress)
    if left_out and (ways is not None or len(left_out) == len(asked)):
        raise ScenarioError("; ".join(f"{way}: {reason}" for way, reason in left_out.items()))
    return Comparison(scenario, predictions, simulated, left_out)


def wanted(ways: Sequence[str] | None) -> tuple[str, ...]:
    """Return the ways to try, in their order.

    Raises
    ------
    ValueError
        One is unknown, or there is none.

    Examples
    --------
    >>> wanted(["simulate", "predict"])
    ('predict', 'simulate')
    >>> wanted(["guess"])
    Traceback (most recent call last):
    ValueError: no way 'guess'; there are: predict, simulate
    """
    if ways is None:
        return WAYS
    for way in ways:
        if way not in WAYS:
            raise ValueError(f"no way {way!r}; there are: {', '.join(WAYS)}")
    if not ways:
        raise ValueError(f"no way at all; there are: {', '.join(WAYS)}")
    return tuple(way for way in WAYS if way in ways)


def _predicted(scenario: Scenario, left_out: dict[str, str]) -> Predictions | None:
    predictions = predict(scenario)
    if predictions.best is None:
        left_out["predict"] = "no model gives a goodput of this scenario"
        return None
    return predictions


def _simulated(
    scenario: Scenario,
    left_out: dict[str, str],
    seed: int,
    runs: int,
    step: str | None,
    progress: Callable[[int, int], object] | None,
) -> Results | None:
    count = None if progress is None else lambda finished: progress(finished, runs)
    try:
        return simulate(scenario, seed=seed, runs=runs, step=step, progress=count)
    except ScenarioError as error:
        left_out["simulate"] = str(error).partition("\n")[0]
        return None
