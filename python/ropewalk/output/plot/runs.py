"""Main picture of runs: all panels, or the delays of runs without a timeline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .over_time import overview
from .totals import delays

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ...results import Results
    from ...results.displayable import Width


def draw(results: Results, *, width: Width | None = None) -> Figure:
    """Draw all applicable panels of runs.

    Examples
    --------
    >>> import ropewalk
    >>> len(draw(ropewalk.simulate("start/two-links")).axes)
    1
    """
    if results.connection.is_empty():
        return delays(results, width=width)
    return overview(results, width=width)
