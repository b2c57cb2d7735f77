"""Picture of an explained scenario: positions of radios, or routes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ...analysis.explain.result import Explanation
    from ...results.displayable import Width


def draw(explained: Explanation, *, width: Width | None = None) -> Figure:
    """Draw the layout of a scenario with radios; ValueError if all links are wired.

    Examples
    --------
    >>> import ropewalk
    >>> draw(ropewalk.explain("start/two-links"))
    Traceback (most recent call last):
    ValueError: all links of the scenario are wired
    """
    from . import mesh_layout
    from .wireless import draw as draw_place

    if explained.place is None:
        raise ValueError("all links of the scenario are wired")
    if explained.scenario.setup.mesh is not None:
        return mesh_layout.draw(explained.scenario, width=width)
    return draw_place(explained.place, explained.scenario.title, width=width)
