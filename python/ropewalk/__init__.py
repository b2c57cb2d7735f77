"""What several unequal network links give together.

A scenario file describes links, a transport and its traffic; `simulate` runs
it packet by packet in virtual time, and `predict` asks formulas.

What is named here is imported when it is first used, so that the command comes at once.

Examples
--------
>>> import ropewalk
>>> scenario = ropewalk.Scenario.load("start/two-links")
>>> results = ropewalk.simulate(scenario, seed=1, runs=2)
>>> results.summary.select("seed", "goodput_mbps").shape
(2, 2)
"""

TYPE_CHECKING = False  # as checkers know it; typing itself takes its time

if TYPE_CHECKING:
    from . import plot
    from ._core import ScenarioError, __version__
    from .advice import Advice, Counsel, advise
    from .comparison import Comparison, compare
    from .connection import connect
    from .emulation import testbed
    from .explanation import Explanation, explain
    from .origin import Origin
    from .prediction import Prediction, Predictions, predict
    from .registry import Algorithm, algorithms
    from .reproduction import reproduce
    from .results import Results
    from .scenario import Scenario, schema
    from .simulation import simulate
    from .store import load
    from .studies import StudyResults, study
    from .sweeps import sweep

__all__ = [
    "Advice",
    "Algorithm",
    "Comparison",
    "Counsel",
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
    "explain",
    "load",
    "plot",
    "predict",
    "reproduce",
    "schema",
    "simulate",
    "study",
    "sweep",
    "testbed",
]

_HOMES = {
    "Advice": "advice",
    "Algorithm": "registry",
    "Comparison": "comparison",
    "Counsel": "advice",
    "Explanation": "explanation",
    "Origin": "origin",
    "Prediction": "prediction",
    "Predictions": "prediction",
    "Results": "results",
    "Scenario": "scenario",
    "ScenarioError": "_core",
    "StudyResults": "studies",
    "__version__": "_core",
    "advise": "advice",
    "algorithms": "registry",
    "compare": "comparison",
    "connect": "connection",
    "explain": "explanation",
    "load": "store",
    "predict": "prediction",
    "reproduce": "reproduction",
    "schema": "scenario",
    "simulate": "simulation",
    "study": "studies",
    "sweep": "sweeps",
    "testbed": "emulation",
}


def __getattr__(name: str) -> object:
    """Import what is asked for: something named above, or a module."""
    from importlib import import_module
    from importlib.util import find_spec

    if name in _HOMES:
        value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    if not name.startswith("__") and find_spec(f"{__name__}.{name}") is not None:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
