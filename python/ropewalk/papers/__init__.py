"""Reproductions of tables and figures of published papers, compared with the originals.

There is one file per item; `reproduce` makes one, `items` lists them. ``published.toml`` has the
papers' numbers, each with its source; ``statements.toml`` has every statement, and where it is
shown.
"""

from ..analysis.coverage import Coverage, CoveredStatement, Statement
from ..analysis.reproduction import Alternative, Choice, ComparedValue, Reproduction
from .api import Item, items, reproduce

__all__ = [
    "Alternative",
    "Choice",
    "ComparedValue",
    "Coverage",
    "CoveredStatement",
    "Item",
    "Reproduction",
    "Statement",
    "items",
    "reproduce",
]
