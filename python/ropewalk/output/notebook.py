"""Conversion of rich tables and texts to HTML in a notebook's colours."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

from ..support.escape import strip_controls

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

# Lines and colours use the notebook's text colour with different opacities, for any theme.
TABLE = "border-collapse: collapse; margin: 0.6em 0; font-variant-numeric: tabular-nums"
HEAD = "border-bottom: 1px solid currentColor; font-weight: 600; vertical-align: bottom"
CELL = "padding: 0.15em 0.7em; white-space: pre-line; background: none"
PROSE = "margin: 0.35em 0; max-width: 60em; white-space: pre-wrap"
COLOURS = {"yellow": "#b58900", "red": "#c1272d", "green": "#117733"}


def html(shown: RenderableType) -> str:
    """Return a rich renderable as self-contained HTML.

    Texts, tables and groups become HTML elements; other renderables are set as on a terminal.

    Examples
    --------
    >>> from rich.text import Text
    >>> html(Text("2 < 3", "bold"))
    '<p style="margin: 0.35em 0; max-width: 60em; white-space: pre-wrap"><span \
style="font-weight: 600">2 &lt; 3</span></p>'
    """
    return "".join(_parts(shown))


def picture(png: bytes) -> str:
    """Return a picture as HTML with embedded data."""
    content = base64.b64encode(png).decode()
    return (
        f'<img style="max-width: 100%; background: white" src="data:image/png;base64,{content}">'
    )


def _parts(shown: RenderableType) -> Iterator[str]:
    from rich.console import Group
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    if isinstance(shown, Group):
        for each in shown.renderables:
            yield from _parts(each)
    elif isinstance(shown, Padding):
        yield from _parts(shown.renderable)
    elif isinstance(shown, Table):
        yield _table(shown)
    elif isinstance(shown, Text):
        yield f'<p style="{PROSE}">{_text(shown)}</p>'
    elif isinstance(shown, str):
        yield f'<p style="{PROSE}">{_text(Text.from_markup(shown))}</p>'
    else:
        yield f"<pre>{escape(strip_controls(_as_printed(shown)))}</pre>"


def _table(table: Table) -> str:
    sides = [
        f"text-align: {'left' if column.justify == 'default' else column.justify}"
        for column in table.columns
    ]
    rows = []
    if table.show_header:
        heads = zip(sides, table.columns, strict=True)
        cells = [
            f'<th style="{CELL}; {HEAD}; {side}">{_cell(of.header)}</th>' for side, of in heads
        ]
        rows.append(f"<thead><tr>{''.join(cells)}</tr></thead>")
    rows.append("<tbody>")
    styles = [_css(column.style) for column in table.columns]
    for row in zip(*(column.cells for column in table.columns), strict=True):
        cells = [
            f'<td style="{CELL}; {side}{style and "; " + style}">{_cell(cell)}</td>'
            for side, style, cell in zip(sides, styles, row, strict=True)
        ]
        rows.append(f'<tr style="background: none">{"".join(cells)}</tr>')
    rows.append("</tbody>")
    title = f"<caption>{_cell(table.title)}</caption>" if table.title else ""
    return f'<table style="{TABLE}">{title}{"".join(rows)}</table>'


def _cell(cell: RenderableType) -> str:
    from rich.text import Text

    if isinstance(cell, str):
        return _text(Text.from_markup(cell))
    return _text(cell) if isinstance(cell, Text) else "".join(_parts(cell))


def _text(text: Text) -> str:
    """Return a text with its styles, from rich's pieces of one style each."""
    from rich.console import Console

    console = Console(color_system=None, width=10**6)
    pieces = []
    for part, style, _ in text.render(console):
        css = _css(style or text.style)
        note = escape(strip_controls(part))
        pieces.append(f'<span style="{css}">{note}</span>' if css else note)
    return "".join(pieces)


def _css(style: object) -> str:
    from rich.style import Style

    if not style:
        return ""
    known = style if isinstance(style, Style) else Style.parse(str(style))
    text = ["font-weight: 600"] if known.bold else []
    text += ["opacity: 0.65"] if known.dim else []
    colour = known.color.name if known.color is not None else ""
    text += [f"color: {COLOURS[colour]}"] if colour in COLOURS else []
    return "; ".join(text)


def _as_printed(shown: RenderableType) -> str:
    from rich.console import Console

    console = Console(color_system=None, width=100)
    with console.capture() as capture:
        console.print(shown)
    return capture.get()
