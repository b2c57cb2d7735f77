"""Display of results: table and picture of each result class."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import RenderableType

    from ..results.displayable import Width

# By class: module of `tables` with its function `table`, and module of `plot` with its function
# `draw`, None without a picture.
OF_CLASSES = {
    "Scenario": ("scenario", None),
    "Results": ("runs", "runs"),
    "Predictions": ("predict", "predict"),
    "Comparison": ("compare", "compare"),
    "AdviceResults": ("advise", "advise"),
    "Census": ("mesh", "mesh"),
    "Explanation": ("explain", "explain"),
    "StudyResults": ("study", "study"),
    "Reproduction": ("reproduce", None),
    "Coverage": ("coverage", None),
}


def table_of(made: object) -> RenderableType:
    """Return a verb's result as a `rich` renderable.

    Examples
    --------
    >>> import rich, ropewalk
    >>> rich.print(table_of(ropewalk.explain("start/two-links")))
    ... # doctest: +ELLIPSIS
    Two unequal links...
    """
    module, _ = _known(made)
    if module is None:
        raise ValueError(f"there is no table of {type(made).__name__}")
    table: RenderableType = _module("tables", module).table(made)
    return table


def figure_of(made: object, width: Width | None) -> Figure:
    """Return the picture of a verb's result; ValueError if there is nothing to draw."""
    _, module = _known(made)
    if module is None:
        raise ValueError(f"there is no picture of {type(made).__name__}")
    figure: Figure = _module("plot", module).draw(made, width=width)
    return figure


def png_of(figure: Figure) -> bytes:
    """Return a figure as PNG bytes."""
    from .figures import figure_bytes

    return figure_bytes(figure, "png")


def html_of(made: object, png: bytes | None = None) -> str:
    """Return a verb's result as HTML for a notebook: table and picture."""
    from .notebook import html, picture

    table = "" if _known(made)[0] is None else html(table_of(made))
    return table + ("" if png is None else picture(png))


def _known(made: object) -> tuple[str | None, str | None]:
    names = (each.__name__ for each in type(made).__mro__)
    return next((OF_CLASSES[name] for name in names if name in OF_CLASSES), (None, None))


def _module(package: str, name: str) -> Any:
    return import_module(f"{__package__}.{package}.{name}")
