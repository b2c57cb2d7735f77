"""Runs in the testbed."""

from .engines import testbed as _home
from .engines.testbed import *
from .support.deprecation import renamed

__doc__ = _home.__doc__
__all__ = _home.__all__
__getattr__ = renamed(__name__, {"Run": "KernelRun"})
