"""Results of runs: data frames, JSON, statistics, folders, notebook display."""

from .results import RECORDED, Frame, FurtherFlow, Results, flat

__all__ = ["RECORDED", "Frame", "FurtherFlow", "Results", "flat"]
