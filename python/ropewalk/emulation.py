"""Runs in the testbed."""

from .engines import testbed as _home
from .engines.testbed import *

__doc__ = _home.__doc__
__all__ = _home.__all__
