"""Reproductions of tables and figures of papers."""

from . import papers as _home
from .papers import *
from .support.deprecation import renamed

__doc__ = _home.__doc__
__all__ = _home.__all__
__getattr__ = renamed(__name__, {"Comparison": "ComparedValue"})
