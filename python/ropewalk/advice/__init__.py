"""Advice on a scenario: which links, scheduler and buffers to use, each answer with evidence."""

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
