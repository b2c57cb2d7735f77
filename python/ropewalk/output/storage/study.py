"""Storage of a study."""

from ...analysis.study.folder import restore

__all__ = ["restore"]
