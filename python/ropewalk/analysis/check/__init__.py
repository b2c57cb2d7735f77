"""Checks of captures against the RFCs of TCP and MPTCP, whatever program wrote them.

It shares no rule with the simulator: a capture of a run, of the testbed or of any other host is
judged alike, from its bytes alone. Libraries of others read the bytes (see `packets`).
"""

from .api import capture
from .findings import Violation
from .notes import Note
from .packets import PacketFileError
from .report import ConnectionFigures, DirectionFigures, Ranked, Report, SubflowFigures

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
