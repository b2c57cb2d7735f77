"""Compare predictions, simulations and testbed runs of one scenario."""

from .comparing import WAYS, compare, wanted
from .comparison import Comparison

__all__ = [
    "WAYS",
    "Comparison",
    "compare",
    "wanted",
]
