"""Statistics of random meshes."""

from .analysis import mesh as _home
from .analysis.mesh import *
from .support.deprecation import renamed

__doc__ = _home.__doc__
__all__ = _home.__all__
__getattr__ = renamed(__name__, {"Counted": "DeploymentStatistics"})
