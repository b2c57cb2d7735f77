"""Explanations as tables for a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ...analysis.explain.result import Explanation
from ...analysis.explain.settings import Setting
from ...engines.wireless.link_budget import Budget
from ...support.numerals import decimal
from . import terminal

WIDEST = (80, 20, 15)  # widths of keys, values and sources; longer ones are folded
BUDGET = (
    "\nm",
    "rate\nMbit/s",
    "SNR\ndB",
    "needs\ndB",
    "margin\ndB",
    "frame\nerrors",
    "at most\nMbit/s",
)
# Up to a full stop, colon or semicolon outside parentheses.
CLAUSE = re.compile(r"(?:\([^)]*\)|[^.;:(]|[.;:](?! |$))*")


def table(explanation: Explanation) -> RenderableType:
    """Return an explanation as a `rich` renderable.

    Examples
    --------
    >>> import rich, ropewalk
    >>> rich.print(table(ropewalk.explain("start/two-links")))
    ... # doctest: +ELLIPSIS
    Two unequal links...
    """
    parts: list[RenderableType] = [terminal.heading(explanation.scenario.title)]
    parts += _settings(explanation)
    if explanation.budgets:
        parts += [_budgets(explanation), _times(explanation)]
    for hop, node in explanation.hidden:
        parts.append(
            Text(
                f"hidden: {node} does not hear {hop.sender}, and its frames collide with it at "
                f"{hop.receiver} on {hop.channel}"
            )
        )
    return Group(*parts, *terminal.warning_lines(explanation.scenario.warnings))


def _settings(explanation: Explanation) -> Iterator[RenderableType]:
    """Yield a table for each of the scenario's, with equal column widths."""
    rows = {
        name: [(each, (each.key, each.value, each.source, _first_clause(each))) for each in group]
        for name, group in _by_table(explanation.settings).items()
    }
    headings = ("key", "value", "from", "meaning")
    every = [headings, *(cells for group in rows.values() for _, cells in group)]
    widths = [
        min(most, max(map(len, cells)))
        for most, cells in zip(WIDEST, zip(*every, strict=True), strict=False)
    ]
    for number, (name, group) in enumerate(rows.items()):
        shown = Table(box=None, padding=(0, 2, 0, 0), show_header=number == 0, expand=True)
        for heading, width in zip(headings, widths, strict=False):
            shown.add_column(heading, width=width, overflow="fold")
        shown.add_column(headings[-1], ratio=1, overflow="fold")
        for each, cells in group:
            style = "" if each.source in ("file", "--set") else "dim"
            shown.add_row(*(Text(cell, style) for cell in cells))
        yield Text(f"\n{name}" if name else "", "bold")
        yield shown
    yield Text()


def _first_clause(setting: Setting) -> str:
    """Return the first clause of a key's meaning."""
    clause = CLAUSE.match(setting.meaning)
    return clause[0] if clause else ""


def _by_table(settings: Sequence[Setting]) -> dict[str, list[Setting]]:
    """Group settings by table; radios with equal settings are merged."""
    tables: dict[str, list[Setting]] = {}
    for each in settings:
        tables.setdefault(each.table, []).append(each)
    equal: dict[object, list[str]] = {}
    for name, group in tables.items():
        same = tuple(
            (each.key, each.value, each.source) for each in group if each.key != "channel"
        )
        equal.setdefault(same if ".radios." in name else name, []).append(name)
    return {
        names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more alike": tables[
            names[0]
        ]
        for names in equal.values()
    }


def _budgets(explanation: Explanation) -> Table:
    shown = terminal.number_table("wireless link", BUDGET)
    for name, each in _merge_directions(explanation.budgets):
        by_noise = each.snr_db if each.needed_snr_db is not None else None
        shown.add_row(
            f"{name} on {each.link.hop.channel}",
            f"{each.distance_m:,.1f}",
            f"{each.rate_mbps:g}",
            *map(_decibels, (by_noise, each.needed_snr_db, each.margin_db)),
            f"{each.frame_error_ratio:.1%}",
            Text(decimal(each.most_mbps), "bold"),
        )
    return shown


def _merge_directions(budgets: Sequence[Budget]) -> Iterator[tuple[str, Budget]]:
    """Yield budgets with names; both directions of a link are merged if equal."""
    for there, back in zip(budgets[::2], budgets[1::2], strict=True):
        if replace(back, link=there.link) == there:
            yield f"{there.link.name}, both directions", there
        else:
            yield there.link.name, there
            yield back.link.name, back


def _decibels(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


def _times(explanation: Explanation) -> Table:
    """Return the parts of an acknowledged frame's time, a column for each kind of link."""
    kinds: dict[object, list[Budget]] = {}
    for each in explanation.budgets:
        kinds.setdefault(each.exchange, []).append(each)
    packet = explanation.budgets[0].packet_bytes
    shown = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
    shown.add_column(f"time of a packet of {packet} bytes, us", vertical="bottom")
    for of_kind in kinds.values():
        names = [each.link.name for each in of_kind]
        more = f"\nand {len(names) - 2} more" if len(names) > 2 else ""
        shown.add_column("\n".join(names[:2]) + more, justify="right", vertical="bottom")
    exchanges = [of_kind[0].exchange for of_kind in kinds.values()]
    for name, words in WORDS.items():
        times = [getattr(each, name) for each in exchanges]
        if any(times):
            shares = [
                f"{time:,.0f}  {time / each.total_us:4.0%}"
                for time, each in zip(times, exchanges, strict=True)
            ]
            shown.add_row(words, *shares)
    shown.add_section()
    shown.add_row("all of it", *(f"{each.total_us:,.0f}  100%" for each in exchanges))
    return shown


WORDS = {
    "difs": "DIFS: the medium is idle before",
    "backoff": "back-off, mean",
    "rts_cts": "RTS, CTS and their SIFS",
    "preamble": "preamble and PHY header",
    "headers": "MAC header, LLC, checksum",
    "packet": "the IP packet itself",
    "sifs": "SIFS",
    "ack": "ACK",
}
