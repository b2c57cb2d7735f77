"""Execution of points of a study in any process."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ..._core import __version__
from ...scenario import Scenario
from .axes import apply_changes

Row: TypeAlias = dict[str, Any]

DONE = "done"
FAILED = "failed"


@dataclass(frozen=True)
class Job:
    """Scenario, verb and version of Ropewalk of all points; workers must have this version."""

    scenario: Scenario
    verb: str
    version: str = __version__


@dataclass(frozen=True)
class Point:
    """One run of a study: values of the varied keys, and seed.

    `key` is its identity, a hash of all that determines the result.
    """

    changes: tuple[tuple[str, str], ...]
    seed: int
    key: str


def run_points(job: Job, points: Sequence[Point]) -> list[Row]:
    """Run points in sequence; return their rows.

    A row has ``status`` (``"done"`` or ``"failed"``), ``error`` if it failed, and the keys of the
    verb's summary. Raises RuntimeError in another version of Ropewalk.

    Examples
    --------
    >>> scenario = Scenario.load("start/two-links")
    >>> good, bad = (Point((("duration", value),), 1, "") for value in ("5 s", "soon"))
    >>> [row["status"] for row in run_points(Job(scenario, "simulate"), [good, bad])]
    ['done', 'failed']
    """
    if job.version != __version__:
        raise RuntimeError(f"a worker has ropewalk {__version__}; the study needs {job.version}")
    return [_one(job, point) for point in points]


def failed(error: str) -> Row:
    """Return the row of a failed point."""
    return {"status": FAILED, "error": error}


def _one(job: Job, point: Point) -> Row:
    try:
        scenario = apply_changes(job.scenario, dict(point.changes))
        return {"status": DONE, **RUNNERS[job.verb](scenario, point.seed)}
    except Exception as error:
        return failed(f"{type(error).__name__}: {error}")


def _simulate(scenario: Scenario, seed: int) -> Row:
    from ...engines.simulate import simulate
    from ...results import flat_row

    return flat_row(simulate(scenario, seed=seed, threads=1).runs[0])


def _testbed(scenario: Scenario, seed: int) -> Row:
    from ...engines.testbed import testbed
    from ...results import flat_row

    return flat_row(testbed(scenario, seed=seed).runs[0])


def _predict(scenario: Scenario, seed: int) -> Row:
    from ...engines.predict import predict
    from ...results import flat_row

    made = predict(scenario)
    known = flat_row({key: value for key, value in made.json().items() if key != "reason"})
    for model in made.models:
        if model.goodput_mbps is not None:
            known[f"{model.name}_goodput_mbps"] = model.goodput_mbps
    return known | {f"asymmetry_{key}": value for key, value in made.asymmetry.items()}


def _compare(scenario: Scenario, seed: int) -> Row:
    from ...results import flat_row
    from ..compare import compare

    made = compare(scenario, seed=seed)
    known: Row = {"engine": "compare", "scenario": scenario.title, "seed": seed}
    for way, printed in made.json()["ways"].items():
        of_way = flat_row(printed)
        known |= {f"{way}_{key}": of_way[key] for key in of_way if key not in known}
    known |= {f"accuracy_{key}": value for key, value in made.accuracy.items()}
    return known | {f"{way}_left_out": reason for way, reason in made.left_out.items()}


def _advise(scenario: Scenario, seed: int) -> Row:
    from concurrent.futures import ThreadPoolExecutor

    from ..advise import advise

    # Points run in parallel, so a point's candidates run in sequence.
    with ThreadPoolExecutor(1) as one:
        made = advise(scenario, seed=seed, executor=one)
    known: Row = {
        "engine": "advise",
        "scenario": scenario.title,
        "seed": seed,
        "advised": ", ".join(made.advised),
        "simulated": made.simulated,
    }
    for advice in made.advice:
        known[f"{advice.question}_answer"] = advice.answer
        known |= {f"{advice.question}_{key}": value for key, value in advice.numbers.items()}
    return known


RUNNERS: Mapping[str, Callable[[Scenario, int], Row]] = {
    "simulate": _simulate,
    "predict": _predict,
    "compare": _compare,
    "testbed": _testbed,
    "advise": _advise,
}
