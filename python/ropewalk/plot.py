"""Plots of results."""

from .output import plot as _home
from .output.plot import *

__doc__ = _home.__doc__
__all__ = _home.__all__
