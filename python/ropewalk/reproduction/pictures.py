"""What the pictures of reproductions have in common."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..plot import STYLE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LINES = ("-", "--", "-.", ":")


@contextmanager
def picture(width: float, height: float) -> Iterator[Figure]:
    """Give a new figure to draw on, in the package's style.

    Parameters
    ----------
    width, height : float
        In inches.

    Yields
    ------
    matplotlib.figure.Figure
        Without axes yet.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(STYLE):
        yield Figure(figsize=(width, height), layout="constrained")
