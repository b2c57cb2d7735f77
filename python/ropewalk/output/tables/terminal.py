"""Common parts of the verbs' tables for a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Column, Table
from rich.text import Text

NAMES = 16  # minimum width of names


def heading(title: str, note: str = "") -> Text:
    """Return a line with a title and a note.

    Examples
    --------
    >>> heading("Two unequal links", "seed 1").plain
    'Two unequal links  (seed 1)'
    """
    return Text.assemble((title, "bold"), (f"  ({note})" if note else "", "dim"))


def warning_lines(warnings: Iterable[str]) -> Iterator[Text]:
    """Yield a line for each warning."""
    for warning in warnings:
        yield Text(f"warning: {warning}", style="yellow")


def fact_lines(rows: Iterable[tuple[str, str]]) -> Table:
    """Return lines of names with values in words."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim")
    grid.add_column()
    for name, value in rows:
        grid.add_row(name, Text(value))
    return grid


class NumberTable(Table):
    """A table with columns of names, columns of numbers, and optionally a last column of words.

    On a narrow terminal names and words wrap and headings wrap after full stops. Numbers that do
    not fit are in further tables below, with the names repeated.
    """

    names = 1

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the table in one piece if it fits, or in parts."""
        room = options.max_width
        if self._total([*map(_widest, self.columns)], pad_edge=self.pad_edge) <= room:
            yield from super().__rich_console__(console, options)
            return
        first = self.columns[: self.names]
        others = [each for each in self.columns[self.names :] if _widest(each)]
        pad_edge = (
            self._total([_narrowest(each) for each in (*first, *others)], pad_edge=True) <= room
        )
        block: list[Column] = []
        for column in others:
            widths = [_narrowest(each) for each in (*first, *block, column)]
            if block and self._total(widths, pad_edge=pad_edge) > room:
                yield self._part([*first, *block], room, pad_edge=pad_edge)
                block = []
            block.append(column)
        yield self._part([*first, *block], room, pad_edge=pad_edge)

    def _total(self, widths: Sequence[int], *, pad_edge: bool) -> int:
        """Return the width of a table with such columns: padding, gaps and edges."""
        edges = 0 if pad_edge else -2
        if self.box is None:
            return sum(widths) + 2 * len(widths) + edges
        return sum(widths) + 3 * len(widths) + 1 + edges

    def _part(self, columns: Sequence[Column], room: int, *, pad_edge: bool) -> Table:
        """Return a table of some columns; columns that can wrap share the remaining width."""
        widths = [_narrowest(each) for each in columns]
        left = room - self._total(widths, pad_edge=pad_edge)
        part = Table(box=self.box, padding=(0, 1), pad_edge=pad_edge)
        for number, column in enumerate(columns):
            more = max(min(_widest(column) - widths[number], left), 0)
            left -= more
            width = None if column.no_wrap else widths[number] + more
            header = column.header
            if width is not None and isinstance(header, str):
                header = wrap_key(header, width)
            part.columns.append(replace(column, header=header, width=width, _index=number))
        part.rows = list(self.rows)
        return part


def _texts(column: Column) -> list[str]:
    return [str(each) for each in (column.header, *column.cells)]


def _widest(column: Column) -> int:
    lines = [line for text in _texts(column) for line in text.splitlines()]
    return max((cell_len(line) for line in lines), default=0)


def _narrowest(column: Column) -> int:
    """Return a column's minimum width: numbers do not wrap, words do."""
    if column.no_wrap:
        return _widest(column)
    words = [word for text in _texts(column)[1:] for word in text.split()]
    longest = max((cell_len(word) for word in words), default=0)
    headings = (cell_len(piece) for piece in _pieces(str(column.header)))
    return max(column.min_width or 0, min(longest, NAMES), *headings)


def wrap_key(key: str, width: int) -> str:
    r"""Wrap a dotted key after full stops, in lines of at most a width.

    Examples
    --------
    >>> tuple(wrap_key("link.wifi.loss", width) for width in (14, 10, 5))
    ('link.wifi.loss', 'link.wifi.\nloss', 'link.\nwifi.\nloss')
    """
    lines = [""]
    for piece in _pieces(key):
        if lines[-1] and cell_len(lines[-1] + piece) > width:
            lines.append("")
        lines[-1] += piece
    return "\n".join(lines)


def _pieces(key: str) -> list[str]:
    return re.findall(r"[^.]*\.|[^.]+", key) or [""]


def number_table(what: str, headings: Iterable[str] = (), *, at_least: int = 0) -> NumberTable:
    """Return an empty table with a first column of names that can wrap, unlike numbers.

    `what` is the heading of the names, `at_least` their minimum width.

    Examples
    --------
    >>> import rich
    >>> shown = number_table("link", ["rate", "delay"])
    >>> shown.add_row("dsl", "16", "20")
    >>> rich.print(shown)  # doctest: +NORMALIZE_WHITESPACE
    <BLANKLINE>
      link   rate   delay
     ─────────────────────
      dsl      16      20
    <BLANKLINE>
    """
    shown = NumberTable(box=box.SIMPLE_HEAD, padding=(0, 1))
    shown.add_column(what, vertical="bottom", overflow="fold", min_width=at_least or None)
    for each in headings:
        add_number(shown, each)
    return shown


def add_number(shown: Table, heading: str) -> None:
    """Add a column of numbers."""
    shown.add_column(heading, justify="right", vertical="bottom", no_wrap=True)
