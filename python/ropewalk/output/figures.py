"""Matplotlib figures for notebooks, with byte-for-byte reproducible files."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure

WRITTEN: Any = {
    "pdf.fonttype": 42,  # text that publishers' tools can read
    "savefig.dpi": "figure",
    "svg.hashsalt": "ropewalk",
}
DATES = {"svg": "Date", "pdf": "CreationDate"}


class NotebookFigure(Figure):
    """A figure that notebooks display under any matplotlib backend."""

    def draw(self, renderer: Any) -> None:
        """Draw without warnings about missing glyphs."""
        with without_glyph_warnings():
            super().draw(renderer)

    def get_tightbbox(self, *arguments: Any, **named: Any) -> Any:
        """Return the bounding box without warnings about missing glyphs."""
        with without_glyph_warnings():
            return super().get_tightbbox(*arguments, **named)

    def _repr_png_(self) -> bytes:
        return figure_bytes(self, "png")


def figure_bytes(figure: Figure, form: str) -> bytes:
    """Return a figure as file content; equal figures give equal bytes.

    `form` is ``"png"``, ``"svg"`` or ``"pdf"``.
    """
    content = io.BytesIO()
    undated = {DATES[form]: None} if form in DATES else {}
    with rc_context(WRITTEN), without_glyph_warnings():
        figure.savefig(content, format=form, metadata=undated)
    return content.getvalue()


@contextmanager
def without_glyph_warnings() -> Iterator[None]:
    """Suppress warnings about missing glyphs."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")
        yield
