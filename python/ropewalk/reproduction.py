"""Reproductions of tables and figures of papers."""

from . import papers as _home
from .papers import *

__doc__ = _home.__doc__
__all__ = _home.__all__
