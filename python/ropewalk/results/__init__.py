"""Results of runs: data frames, JSON, statistics, folders, notebook display."""

from .results import RECORDED_FRAMES, Frame, FurtherFlowRecording, Results, flat_row

__all__ = ["RECORDED_FRAMES", "Frame", "FurtherFlowRecording", "Results", "flat_row"]
