"""Meshes: how often routing methods find several routes through nodes at random positions.

`census` draws many deployments as a scenario's ``[mesh]`` says and counts the link-, node- and
zone-disjoint routes of each, as figures 7 to 9 of Gómez et al. (2014) do.

Examples
--------
>>> from ropewalk import mesh
>>> counted = mesh.census(nodes=[64], graphs=100).counts[0]
>>> counted.share("link") > counted.share("node") > counted.share("zone")
True
"""

from .api import DEFAULT, census
from .result import METHODS, ROUTINGS, Census, Counted

__all__ = ["DEFAULT", "METHODS", "ROUTINGS", "Census", "Counted", "census"]
