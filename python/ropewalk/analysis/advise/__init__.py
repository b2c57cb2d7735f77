"""Advice on a scenario: which links, scheduler and buffers to use, each answer with evidence."""

from .api import RUNS, advise, wished
from .exhaustive import allow_check
from .result import Advice, Check, Counsel, Evidence, Subset

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
