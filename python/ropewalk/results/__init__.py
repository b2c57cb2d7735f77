"""Results of runs: data frames, the JSON object, statistics, folders, display in a notebook."""

from .results import RECORDED, Frame, FurtherFlow, Results, flat

__all__ = ["RECORDED", "Frame", "FurtherFlow", "Results", "flat"]
