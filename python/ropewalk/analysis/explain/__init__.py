"""Explain a scenario: every setting with its source, and the budget of each radio link."""

from .api import explain
from .result import Explanation
from .settings import Setting

__all__ = [
    "Explanation",
    "Setting",
    "explain",
]
