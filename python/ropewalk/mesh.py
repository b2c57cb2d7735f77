"""Statistics of random meshes."""

from .analysis import mesh as _home
from .analysis.mesh import *

__doc__ = _home.__doc__
__all__ = _home.__all__
