"""Tables and figures of published papers, made again: what was published beside ours.

One file an item. `reproduce` makes one, `items` says which there are. What the papers state is in
``published.toml`` beside this file, each fact with its source.
"""

from ..analysis.reproduction import Alternative, Choice, Comparison, Reproduction
from .api import Item, items, reproduce

__all__ = ["Alternative", "Choice", "Comparison", "Item", "Reproduction", "items", "reproduce"]
