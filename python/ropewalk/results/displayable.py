"""Display of results in a notebook, as table and picture, without network access."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ..support.hooks import display_module

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Width: TypeAlias = Literal["column", "page"]  # of a figure in a paper


class Displayable:
    """A result that a notebook displays by `ropewalk.output.display`."""

    def json(self) -> dict[str, Any]:
        """Return the output of ``--json``."""
        raise NotImplementedError

    def plot(self, *, width: Width | None = None) -> Figure:
        """Return the figure that a notebook shows.

        Parameters
        ----------
        width : {"column", "page"}, optional
            Draw for a column or page of a paper.

        Returns
        -------
        matplotlib.figure.Figure
            Figure for `ropewalk.plot.save`.

        Raises
        ------
        ValueError
            There is nothing to draw.

        Examples
        --------
        >>> import ropewalk
        >>> figure = ropewalk.predict("start/two-links").plot()
        >>> figure.axes[0].get_xlabel()
        'goodput (Mbit/s)'
        """
        figure: Figure = display_module().figure_of(self, width)
        return figure

    @cached_property
    def _drawn(self) -> bytes | None:
        try:
            png: bytes = display_module().png_of(self.plot())
        except (ImportError, ValueError):  # matplotlib is missing, or there is nothing to draw
            return None
        return png

    def _repr_png_(self) -> bytes | None:
        return self._drawn

    def _repr_html_(self) -> str:
        html: str = display_module().html_of(self, self._drawn)
        return html
