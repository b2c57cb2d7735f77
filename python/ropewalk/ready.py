"""The scenarios bundled with the package."""

from .scenario import ready as _home
from .scenario.ready import *

__doc__ = _home.__doc__
__all__ = _home.__all__
