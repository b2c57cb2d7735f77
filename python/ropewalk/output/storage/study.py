"""Read a study from its folder."""

from ...analysis.study.folder import restore

__all__ = ["restore"]
