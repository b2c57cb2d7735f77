"""Display of results in a notebook, as a table and a picture, without network access."""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import RenderableType

    from .style import Width


class Shown:
    """A result that a notebook displays.

    Attributes
    ----------
    table_by, picture_by : str or None
        Functions of the object that give what `rich.print` shows, and a figure; as
        ``"module:function"`` in this package. They stand beyond the results that they show.
    """

    table_by: ClassVar[str | None] = None
    picture_by: ClassVar[str | None] = None

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
        if self.picture_by is None:
            raise ValueError(f"there is no picture of {type(self).__name__}")
        made: Figure = _function(self.picture_by)(self, width=width)
        return made

    @cached_property
    def _drawn(self) -> bytes | None:
        try:
            from .figures import drawn

            return drawn(self.plot(), "png")
        except (ImportError, ValueError):  # matplotlib is left out, or there is nothing to draw
            return None

    def _repr_png_(self) -> bytes | None:
        return self._drawn

    def _repr_html_(self) -> str:
        from .notebook import html, picture

        table = "" if self.table_by is None else html(table_of(self))
        return table + ("" if self._drawn is None else picture(self._drawn))


def table_of(made: Shown) -> RenderableType:
    """Return a verb's result as `rich.print` shows it.

    Examples
    --------
    >>> import rich, ropewalk
    >>> rich.print(table_of(ropewalk.explain("start/two-links")))
    ... # doctest: +ELLIPSIS
    Two unequal links...
    """
    if made.table_by is None:
        raise ValueError(f"there is no table of {type(made).__name__}")
    table: RenderableType = _function(made.table_by)(made)
    return table


def _function(name: str) -> Any:
    module, _, function = name.partition(":")
    return getattr(import_module(f"ropewalk.{module}"), function)
