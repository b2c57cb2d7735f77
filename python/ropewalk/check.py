"""Checks of captures against the RFCs."""

from .analysis import check as _home
from .analysis.check import *

__doc__ = _home.__doc__
__all__ = _home.__all__
