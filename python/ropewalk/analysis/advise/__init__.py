"""Advice on a scenario: which links, scheduler and buffers to use, each answer with evidence."""

from .api import RUNS, advise, read_requirement
from .exhaustive import require_few_paths
from .result import Advice, AdviceResults, Check, Evidence, Subset

__all__ = [
    "RUNS",
    "Advice",
    "AdviceResults",
    "Check",
    "Evidence",
    "Subset",
    "advise",
    "read_requirement",
    "require_few_paths",
]
