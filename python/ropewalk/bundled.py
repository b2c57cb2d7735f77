"""The scenarios bundled with the package."""

from .scenario import bundled as _home
from .scenario.bundled import *

__doc__ = _home.__doc__
__all__ = _home.__all__
