"""Checks of captures against the RFCs of TCP and MPTCP, for captures of any program.

The checks share no code with the simulator and see only bytes, which are parsed by external
libraries (see `packets`).
"""

from .api import capture
from .findings import Violation
from .notes import Note
from .packets import PacketFileError
from .result import ConnectionFigures, DirectionFigures, Ranked, Report, SubflowFigures

__all__ = [
    "ConnectionFigures",
    "DirectionFigures",
    "Note",
    "PacketFileError",
    "Ranked",
    "Report",
    "SubflowFigures",
    "Violation",
    "capture",
]
