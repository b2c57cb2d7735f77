"""Prediction and simulation of multipath transport over unequal links.

A scenario file describes links, a transport and its traffic. `simulate` runs it packet by packet
in virtual time; `predict` evaluates formulas.

Names are imported on first use, so that the command starts quickly.

Examples
--------
>>> import ropewalk
>>> scenario = ropewalk.Scenario.load("start/two-links")
>>> results = ropewalk.simulate(scenario, seed=1, runs=2)
>>> results.summary.select("seed", "goodput_mbps").shape
(2, 2)
"""

from .support import hooks

TYPE_CHECKING = False  # as type checkers know it; importing typing is slow

if TYPE_CHECKING:
    from . import plot
    from ._core import ScenarioError, __version__
    from .analysis.advise import Advice, AdviceResults, advise
    from .analysis.compare import Comparison, compare
    from .analysis.explain import Explanation, explain
    from .analysis.study import StudyResults, study, sweep
    from .engines.gateway import connect
    from .engines.predict import Prediction, Predictions, predict
    from .engines.simulate import simulate
    from .engines.testbed import testbed
    from .output.storage import load
    from .papers import reproduce
    from .papers.coverage import coverage
    from .provenance import Origin
    from .results import Results
    from .results.schema import results_schema
    from .scenario import Scenario, schema
    from .scenario.registry import Algorithm, algorithms

hooks.display = f"{__name__}.output.display"

__all__ = [
    "Advice",
    "AdviceResults",
    "Algorithm",
    "Comparison",
    "Explanation",
    "Origin",
    "Prediction",
    "Predictions",
    "Results",
    "Scenario",
    "ScenarioError",
    "StudyResults",
    "__version__",
    "advise",
    "algorithms",
    "compare",
    "connect",
    "coverage",
    "explain",
    "load",
    "plot",
    "predict",
    "reproduce",
    "results_schema",
    "schema",
    "simulate",
    "study",
    "sweep",
    "testbed",
]

_HOMES = {
    "Advice": "analysis.advise",
    "Algorithm": "scenario.registry",
    "Comparison": "analysis.compare",
    "AdviceResults": "analysis.advise",
    "Explanation": "analysis.explain",
    "Origin": "provenance",
    "Prediction": "engines.predict",
    "Predictions": "engines.predict",
    "Results": "results",
    "Scenario": "scenario",
    "ScenarioError": "_core",
    "StudyResults": "analysis.study",
    "__version__": "_core",
    "advise": "analysis.advise",
    "algorithms": "scenario.registry",
    "compare": "analysis.compare",
    "connect": "engines.gateway",
    "coverage": "papers.coverage",
    "explain": "analysis.explain",
    "load": "output.storage",
    "predict": "engines.predict",
    "reproduce": "papers",
    "results_schema": "results.schema",
    "schema": "scenario",
    "simulate": "engines.simulate",
    "study": "analysis.study",
    "sweep": "analysis.study",
    "testbed": "engines.testbed",
}
_RENAMED = {"Counsel": "AdviceResults"}


def __getattr__(name: str) -> object:
    """Import a name of the table above, or a module."""
    from importlib import import_module
    from importlib.util import find_spec

    if name in _HOMES:
        value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    if name in _RENAMED:
        from warnings import warn

        told = f"{__name__}.{name} is now {__name__}.{_RENAMED[name]}"
        warn(told, DeprecationWarning, stacklevel=2)
        return __getattr__(_RENAMED[name])
    if not name.startswith("__") and find_spec(f"{__name__}.{name}") is not None:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
