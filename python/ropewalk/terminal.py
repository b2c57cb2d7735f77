"""Parts of tables for a terminal, the same for every verb."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich import box
from rich.table import Table
from rich.text import Text


def heading(title: str, note: str = "") -> Text:
    """Return a line with a title, and behind it what it is of.

    Examples
    --------
    >>> heading("Two unequal links", "seed 1").plain
    'Two unequal links  (seed 1)'
    """
    return Text.assemble((title, "bold"), (f"  ({note})" if note else "", "dim"))


def warned(warnings: Iterable[str]) -> Iterator[Text]:
    """Yield a line for each warning."""
    for warning in warnings:
        yield Text(f"warning: {warning}", style="yellow")


def facts(rows: Iterable[tuple[str, str]]) -> Table:
    """Return lines of names and values in words."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim")
    grid.add_column()
    for name, value in rows:
        grid.add_row(name, Text(value))
    return grid


def numbers(what: str, headings: Iterable[str] = (), *, at_least: int = 0) -> Table:
    """Return an empty table whose first column of names may wrap, unlike numbers.

    Parameters
    ----------
    what : str
        Heading of the names.
    headings : iterable of str
        Headings of the numeric columns.
    at_least : int
        So wide the names stay where a terminal is narrow.

    Examples
    --------
    >>> import rich
    >>> shown = numbers("link", ["rate", "delay"])
    >>> shown.add_row("dsl", "16", "20")
    >>> rich.print(shown)  # doctest: +NORMALIZE_WHITESPACE
    <BLANKLINE>
      link   rate   delay
     ─────────────────────
      dsl      16      20
    <BLANKLINE>
    """
    shown = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
    shown.add_column(what, vertical="bottom", overflow="fold", min_width=at_least or None)
    for each in headings:
        add_number(shown, each)
    return shown


def add_number(shown: Table, heading: str) -> None:
    """Add a column of numbers."""
    shown.add_column(heading, justify="right", vertical="bottom", no_wrap=True)
