"""Reproductions of tables and figures of published papers, compared with the originals.

There is one file per item; `reproduce` makes one, `items` lists them. ``published.toml`` has the
papers' statements, each with its source.
"""

from ..analysis.reproduction import Alternative, Choice, ComparedValue, Reproduction
from .api import Item, items, reproduce

__all__ = ["Alternative", "Choice", "ComparedValue", "Item", "Reproduction", "items", "reproduce"]
