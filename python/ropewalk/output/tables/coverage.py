"""Coverage of papers as text: tables for a terminal, and cells of docs/coverage.md."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ...analysis.coverage import STATES, Coverage, CoveredStatement
from .reproduce import written

HEADINGS = ("", "statement", "where", "shown by", "published", "ours", "state", "why")
STYLES = {"not met": "yellow", "no row": "red", "no item": "red", "no result": "dim"}


def table(made: Coverage) -> RenderableType:
    """Return the coverage as a `rich` renderable: a table for each paper, then the summary."""
    parts: list[RenderableType] = []
    for paper in made.papers:
        found = made.of(paper)
        shown = Table(box=box.SIMPLE_HEAD, padding=(0, 1), title=paper, title_justify="left")
        for heading in ("", "statement", "state", "why"):
            shown.add_column(heading, no_wrap=heading != "statement")
        for row, each in zip(cells(found), found, strict=True):
            place, said, *_, state, why = row
            text = Text.assemble(said, "\n", (_details(row), "dim"))
            shown.add_row(place, text, Text(state, style=STYLES.get(each.state, "")), why)
        parts.append(shown)
        for number, reason in enumerate(reasons(found), start=1):
            note = Table.grid(padding=(0, 1))
            note.add_row(str(number), Text(reason))
            parts.append(Padding(note, (0, 0, 0, 1)))
        parts.append(Text())
    parts.append(_summary(made))
    parts += [Text(f"warning: {line}", style="yellow") for line in warnings(made)]
    return Group(*parts)


def _details(row: tuple[str, ...]) -> str:
    """Return place, item or test, and the values of a statement in a line."""
    _, _, where, shown, published, ours, _, _ = row
    values = f"published {published}, ours {ours}" if published else ours
    parts = [where, shown, values]
    return "; ".join(part for part in parts if part)


def reasons(found: Sequence[CoveredStatement]) -> list[str]:
    """Return the distinct reasons of statements in order."""
    return list(dict.fromkeys(each.reason for each in found if each.reason is not None))


def cells(found: Sequence[CoveredStatement]) -> Iterator[tuple[str, ...]]:
    """Return the cells of each statement, in the order of `HEADINGS`.

    Examples
    --------
    >>> from ropewalk.analysis.coverage import Statement
    >>> from ropewalk.reproduction import ComparedValue
    >>> said = Statement("p", 1, "figure", "TCP has 2.5 Mbit/s", "figure 3", item="fig3")
    >>> row = ComparedValue("TCP", 2.52, published=2.5, unit="Mbit/s")
    >>> next(cells([CoveredStatement(said, (row,), "met")]))[3:]
    ('fig3', '2.5 Mbit/s', '2.52', 'met', '')
    """
    numbers = {reason: str(number) for number, reason in enumerate(reasons(found), start=1)}
    for each in found:
        said = each.statement
        published, ours = _values(each)
        yield (
            str(said.number),
            said.statement,
            said.where,
            said.item or _test(said.test),
            published,
            ours,
            each.state,
            numbers[each.reason] if each.reason is not None else "",
        )


def summary_rows(made: Coverage) -> Iterator[tuple[str, ...]]:
    """Return the heading of the summary, a row for each paper, and the sums."""
    kept = [state for state in STATES if state in STATES[:5] or made.counts()[state]]
    columns = ["statements", *kept]
    yield ("paper", *columns)
    for name in (*made.papers, None):
        counts = made.counts(name)
        yield (name or "all", *(str(counts[column]) for column in columns))


def warnings(made: Coverage) -> Iterator[str]:
    """Describe missing results, faults of the list, and rows without a statement."""
    if made.missing:
        named = ", ".join(" ".join(each) for each in made.missing)
        yield f"no result of {named}"
    for each in made.faults:
        said = each.statement
        patterns = ", ".join(repr(pattern) for pattern in said.rows)
        fault = f"no row matches {patterns}" if each.state == "no row" else "no such item"
        yield f"{said.paper} {said.number}, {said.item}: {fault}"
    unclaimed: dict[tuple[str, str], list[str]] = {}
    for paper, item, quantity in made.unclaimed:
        unclaimed.setdefault((paper, item), []).append(quantity)
    for (paper, item), found in unclaimed.items():
        rows = "1 row" if len(found) == 1 else f"{len(found)} rows"
        yield f"{paper} {item}: no statement has {rows}, such as {found[0]!r}"


def _test(name: str | None) -> str:
    """Return the name of a test without its file."""
    return f"test {name.rpartition('::')[2]}" if name else ""


def _values(each: CoveredStatement) -> tuple[str, str]:
    """Return the published value and ours, or the number of rows."""
    if len(each.rows) == 1:
        (row,) = each.rows
        unit = row.unit if row.holds is None else ""
        published = "" if row.published is None else f"{row.published} {unit}".strip()
        return published, written(row.ours, row.digits)
    if not each.rows:
        return "", ""
    count = f"{len(each.rows)} rows"
    if each.judged:
        count = f"{sum(each.judged)} of {len(each.judged)} rows met"
    return "", count


def _summary(made: Coverage) -> Table:
    heading, *rows = summary_rows(made)
    shown = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
    for number, name in enumerate(heading):
        shown.add_column(name, justify="right" if number else "left", no_wrap=True)
    for row in rows:
        shown.add_row(*row)
    return shown
