"""Statistics of meshes: how often routings find several routes through random nodes.

`census` generates many deployments of a scenario's ``[mesh]`` and counts link-, node- and
zone-disjoint routes, as in figures 7 to 9 of Gómez et al. (2014).

Examples
--------
>>> from ropewalk import mesh
>>> counted = mesh.census(nodes=[64], graphs=100).counts[0]
>>> counted.share("link") > counted.share("node") > counted.share("zone")
True
"""

from .api import DEFAULT, census
from .result import METHODS, ROUTINGS, Census, DeploymentStatistics

__all__ = ["DEFAULT", "METHODS", "ROUTINGS", "Census", "DeploymentStatistics", "census"]
