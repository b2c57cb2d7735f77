"""What is in force in a scenario: every setting with its source, and what each radio link has."""

from .explaining import explain
from .explanation import Explanation
from .settings import Setting

__all__ = [
    "Explanation",
    "Setting",
    "explain",
]
