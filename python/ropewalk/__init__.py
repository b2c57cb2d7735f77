"""What several unequal network links give together.

A scenario file describes links, a transport and its traffic; `simulate` runs
it packet by packet in virtual time, and `predict` asks formulas.

Examples
--------
>>> import ropewalk
>>> scenario = ropewalk.Scenario.load("scenarios/start/two-links.toml")
>>> results = ropewalk.simulate(scenario, seed=1, runs=2)
>>> results.summary.select("seed", "goodput_mbps").shape
(2, 2)
"""

from . import plot
from ._core import ScenarioError, __version__
from .advice import Advice, Counsel, advise
from .comparison import Comparison, compare
from .connection import connect
from .emulation import testbed
from .prediction import Prediction, Predictions, predict
from .reproduction import reproduce
from .results import Results
from .scenario import Scenario, schema
from .simulation import simulate
from .sweeps import sweep

__all__ = [
    "Advice",
    "Comparison",
    "Counsel",
    "Prediction",
    "Predictions",
    "Results",
    "Scenario",
    "ScenarioError",
    "__version__",
    "advise",
    "compare",
    "connect",
    "plot",
    "predict",
    "reproduce",
    "schema",
    "simulate",
    "sweep",
    "testbed",
]
