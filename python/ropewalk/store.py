"""Result folders."""

from .output import storage as _home
from .output.storage import *

__doc__ = _home.__doc__
__all__ = _home.__all__
