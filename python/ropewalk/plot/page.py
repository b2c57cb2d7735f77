"""The picture that stands for runs: all there is, of runs without a timeline their delays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .of_runs import delays
from .over_time import overview

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..results import Results
    from ..style import Width


def draw(results: Results, *, width: Width | None = None) -> Figure:
    """Draw all that runs have.

    Examples
    --------
    >>> import ropewalk
    >>> len(draw(ropewalk.simulate("scenarios/start/two-links.toml")).axes)
    1
    """
    if results.connection.is_empty():
        return delays(results, width=width)
    return overview(results, width=width)
