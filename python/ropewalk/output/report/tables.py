"""Tables of a report, built from JSON entries and data frames."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...support.numerals import format_number
from ...units import heading, scale_of
from ..tables.runs import EntryTable
from .section import Cell, Table

if TYPE_CHECKING:
    import polars as pl

MAX_ROWS = 400


def number(value: float, digits: int | None = None) -> str:
    """Format a number with thousands separators, by default with about four digits.

    Examples
    --------
    >>> number(12345.678), number(0.0123), number(3.0), number(2.5, 2)
    ('12,346', '0.01230', '3', '2.50')
    """
    if not math.isfinite(value):
        return str(value)
    if digits is not None:
        return f"{value:,.{digits}f}"
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{value:,.0f}"
    before = math.floor(math.log10(abs(value))) + 1
    if before < -3:
        return f"{value:.3e}"
    return f"{value:,.{max(0, 4 - max(before, 0)) + max(0, -before)}f}"


def of_listing(listing: EntryTable, intervals: EntryTable | None) -> Table:
    """Return a table of entries, each mean with half its interval.

    `intervals` has the half-widths in the form of `listing`.
    """
    known = listing.known
    halves: Sequence[Mapping[str, Any]] = [{}] * len(listing.entries)
    if intervals is not None and len(intervals.entries) == len(listing.entries):
        halves = intervals.entries
    rows = [
        (Cell(str(entry[listing.label])), *(_cell(entry, half, *each) for each in known.values()))
        for entry, half in zip(listing.entries, halves, strict=True)
    ]
    return cut(
        f"{listing.what.capitalize()}s",
        (listing.what, *map(joined, known)),
        rows,
        "result.json",
    )


def of_frame(
    frame: pl.DataFrame,
    caption: str,
    rest: str,
    headings: Mapping[str, str] | None = None,
) -> Table:
    """Return a table of a data frame, with columns named in words.

    List columns are omitted. `caption` is the meaning of a row, `rest` the file with the rows that
    do not fit, and `headings` replaces results of `heading`.
    """
    shown = [name for name in frame.columns if not frame[name].dtype.is_nested()]
    of = dict(headings or {})
    scales = {name: scale_of(name) for name in shown}
    rows = [
        tuple(value(row[name], scales[name]) for name in shown)
        for row in frame.head(MAX_ROWS).iter_rows(named=True)
    ]
    named = tuple(of.get(name, heading(name)) for name in shown)
    return cut(caption, named, rows, rest, frame.height)


def cut(
    caption: str,
    headings: tuple[str, ...],
    rows: Sequence[tuple[Cell, ...]],
    rest: str,
    there_are: int | None = None,
) -> Table:
    """Return a table of the first rows, with a note on the file `rest` that has all.

    `there_are` is the number of all rows if `rows` has fewer.
    """
    more = (len(rows) if there_are is None else there_are) - MAX_ROWS
    note = f"The first {MAX_ROWS} rows; {more:,} more are in {rest}." if more > 0 else ""
    return Table(caption, headings, tuple(rows[:MAX_ROWS]), note=note)


def joined(title: str) -> str:
    r"""Join the lines of a terminal table's heading.

    Examples
    --------
    >>> joined("spu-\nrious"), joined("goodput\nMbit/s")
    ('spurious', 'goodput Mbit/s')
    """
    return title.replace("-\n", "").replace("\n", " ")


def value(of: object, scale: float = 1.0, digits: int | None = None) -> Cell:
    """Return a cell for a value; empty for None.

    Examples
    --------
    >>> value(1234.5), value(None).text, value("lte").text
    (Cell(text='1,234', value=1234.5), '', 'lte')
    """
    if of is None:
        return Cell("")
    if isinstance(of, bool):
        return Cell("yes" if of else "no", float(of))
    if isinstance(of, (int, float)):
        return Cell(number(scale * of, digits), scale * of if math.isfinite(of) else None)
    return Cell(str(of))


def _cell(
    entry: Mapping[str, Any], half: Mapping[str, Any], key: str, times: float, digits: str
) -> Cell:
    if key not in entry:
        return Cell("")
    known = entry[key]
    if isinstance(known, str):
        return Cell(known)
    text = format_number(times * known, digits)
    interval = half.get(key)
    if isinstance(interval, (int, float)):
        half_width = format_number(times * interval, digits)
        text += f" ± {half_width}" if re.search("[1-9]", half_width) else ""
    return Cell(text, times * known)
