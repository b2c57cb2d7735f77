"""What to do: which links, which scheduler, which buffers, each answer with its numbers."""

from .advising import RUNS, advise, wished
from .checking import allow_check
from .counsel import Advice, Check, Counsel, Evidence, Subset

__all__ = [
    "RUNS",
    "Advice",
    "Check",
    "Counsel",
    "Evidence",
    "Subset",
    "advise",
    "allow_check",
    "wished",
]
