"""One scenario, several ways to run it: what they say, and how near they come."""

from .comparing import WAYS, compare, wanted
from .comparison import Comparison

__all__ = [
    "WAYS",
    "Comparison",
    "compare",
    "wanted",
]
