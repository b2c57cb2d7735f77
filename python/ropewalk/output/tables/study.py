"""Table of a study for a terminal: a row for each combination."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...results.statistics import ALIKE
from ...support.numerals import decimal, with_interval
from . import terminal

if TYPE_CHECKING:
    import polars as pl
    from rich.console import RenderableType

    from ...analysis.study.result import StudyResults

MAX_ROWS = 40
MAX_WARNINGS = 5
ELAPSED = "wall_s"
# Shown columns of each combination, if known: heading, column, digits.
SHOWN = (
    ("goodput Mbit/s", "goodput_mbps", 2),
    ("predicted", "predict_goodput_mbps", 2),
    ("simulated", "simulate_goodput_mbps", 2),
    ("measured", "testbed_goodput_mbps", 2),
    ("accuracy", "accuracy_predict_against_simulate", 3),
    ("advised", "advised", 0),
    ("delay p95 ms", "delay_p95_ms", 1),
    ("completion s", "completion_s", 2),
    ("cost", "cost", 2),
)


def table(made: StudyResults) -> RenderableType:
    """Return the table of a study: means of each combination, with 95 % intervals."""
    from rich.console import Group
    from rich.text import Text

    from .terminal import NumberTable

    known = made.combinations
    counts = f"{made.points.height - made.failed.height:,} runs"
    if made.failed.height:
        counts += f", {made.failed.height:,} failed"
    if made.missing:
        counts += f", {made.missing:,} missing"
    head = Text(f"{made.scenario.title}: {known.height:,} combinations, {counts}")
    shown = NumberTable(box=None, pad_edge=False, header_style="bold")
    shown.names = max(len(made.keys), 1)
    for key in made.keys:
        shown.add_column(key, vertical="bottom", overflow="fold")
    shown.add_column("runs", justify="right", no_wrap=bool(made.keys))
    columns = [each for each in SHOWN if each[1] in known.columns]
    for heading, name, _ in columns:
        is_text = name == "advised"
        shown.add_column(
            heading,
            justify="left" if is_text else "right",
            vertical="bottom",
            no_wrap=not is_text,
        )
    for row in known.head(MAX_ROWS).to_dicts():
        cells = [_cell(row, name, digits) for _, name, digits in columns]
        shown.add_row(*(str(row[key]) for key in made.keys), str(row["runs"]), *cells)
    more = []
    if known.height > MAX_ROWS:
        more.append(Text(f"and {known.height - MAX_ROWS:,} more combinations in the tables"))
    for keys in made.keys_without_effect:
        more.append(Text(f"{', '.join(keys)}: all values give the same runs", style="dim"))
    if _is_alike(known):
        more.append(Text(f"spread: {ALIKE}", style="dim"))
    text = list(terminal.warning_lines(made.warnings[:MAX_WARNINGS]))
    if (hidden := len(made.warnings) - MAX_WARNINGS) > 0:
        text.append(Text(f"and {hidden:,} further warnings, which --json has"))
    return Group(head, Text(), shown, *more, *text)


def _is_alike(combinations: pl.DataFrame) -> bool:
    """Return whether all runs of each combination gave equal results."""
    intervals = [name for name in combinations.columns if name.startswith("ci95_")]
    measured = [name for name in intervals if not name.endswith(ELAPSED)]
    known = combinations.select(measured)
    return bool(measured) and all(known[name].max() == 0 for name in measured)


def _cell(row: dict[str, Any], name: str, digits: int) -> str:
    value = row[name]
    if value is None or isinstance(value, str):
        return value or ""
    half = row.get(f"ci95_{name}")
    if half == 0:
        return f"{decimal(value, digits)} ± 0"
    return with_interval(value, half, digits)
