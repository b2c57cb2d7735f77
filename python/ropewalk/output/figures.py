"""Matplotlib figures that notebooks display, and whose files are reproducible byte for byte."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure

WRITTEN: Any = {
    "pdf.fonttype": 42,  # letters that a publisher's tools can read
    "savefig.dpi": "figure",
    "svg.hashsalt": "ropewalk",
}
DATES = {"svg": "Date", "pdf": "CreationDate"}


class Picture(Figure):
    """A figure that a notebook displays, whatever matplotlib's backend is there."""

    def draw(self, renderer: Any) -> None:
        """Draw it, without warnings of characters that no installed font has."""
        with no_complaints():
            super().draw(renderer)

    def get_tightbbox(self, *arguments: Any, **named: Any) -> Any:
        """Return the bounding box, without warnings of characters that no installed font has."""
        with no_complaints():
            return super().get_tightbbox(*arguments, **named)

    def _repr_png_(self) -> bytes:
        return drawn(self, "png")


def drawn(figure: Figure, form: str) -> bytes:
    """Return a figure as the bytes of a file; the same figure gives the same bytes.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The picture.
    form : {"png", "svg", "pdf"}
        Format of the file.
    """
    content = io.BytesIO()
    undated = {DATES[form]: None} if form in DATES else {}
    with rc_context(WRITTEN), no_complaints():
        figure.savefig(content, format=form, metadata=undated)
    return content.getvalue()


@contextmanager
def no_complaints() -> Iterator[None]:
    """Suppress warnings of characters that no installed font has."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")
        yield
