"""HTML reports of results."""

from .output import report as _home
from .output.report import *

__doc__ = _home.__doc__
__all__ = _home.__all__
