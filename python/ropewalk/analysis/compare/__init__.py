"""Compare predictions, simulations and testbed runs of one scenario."""

from .api import WAYS, compare, ways_to_run
from .result import Comparison

__all__ = [
    "WAYS",
    "Comparison",
    "compare",
    "ways_to_run",
]
