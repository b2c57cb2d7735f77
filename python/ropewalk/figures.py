"""Figures that show themselves, and are written alike each time."""

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
    """A figure that shows itself in a notebook, whatever matplotlib is set to there."""

    def draw(self, renderer: Any) -> None:
        """Draw it; letters that no installed font has are no reason to warn."""
        with no_complaints():
            super().draw(renderer)

    def get_tightbbox(self, *arguments: Any, **named: Any) -> Any:
        """Return what is drawn on; letters that no installed font has are no reason to warn."""
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
        Of the file.
    """
    content = io.BytesIO()
    undated = {DATES[form]: None} if form in DATES else {}
    with rc_context(WRITTEN), no_complaints():
        figure.savefig(content, format=form, metadata=undated)
    return content.getvalue()


@contextmanager
def no_complaints() -> Iterator[None]:
    """Say nothing of letters that no installed font has: nobody can do anything about them."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")
        yield
