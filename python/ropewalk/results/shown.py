"""Results that a notebook displays as a table and a picture, without network access."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ..support.hooks import display_module

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Width: TypeAlias = Literal["column", "page"]  # of a picture for a paper


class Shown:
    """A result that a notebook displays; `ropewalk.output.display` has its table and picture."""

    def json(self) -> dict[str, Any]:
        """Return what ``--json`` prints."""
        raise NotImplementedError

    def plot(self, *, width: Width | None = None) -> Figure:
        """Return the picture that a notebook shows.

        Parameters
        ----------
        width : {"column", "page"}, optional
            Draw for a paper.

        Returns
        -------
        matplotlib.figure.Figure
            `ropewalk.plot.save` writes it.

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
        except (ImportError, ValueError):  # matplotlib is left out, or there is nothing to draw
            return None
        return png

    def _repr_png_(self) -> bytes | None:
        return self._drawn

    def _repr_html_(self) -> str:
        html: str = display_module().html_of(self, self._drawn)
        return html
