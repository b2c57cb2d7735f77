"""Compare predictions, simulations and testbed runs of one scenario."""

from .api import WAYS, compare, wanted
from .result import Comparison

__all__ = [
    "WAYS",
    "Comparison",
    "compare",
    "wanted",
]
