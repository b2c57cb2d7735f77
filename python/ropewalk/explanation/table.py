"""Explanations as tables for a terminal."""

from __future__ import annotations

from itertools import groupby

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from .results import Explanation


def table(explanation: Explanation) -> RenderableType:
    """Return what `rich.print` shows of an explanation.

    Parameters
    ----------
    explanation : Explanation
        Of a scenario.

    Returns
    -------
    rich.console.RenderableType
        Settings by table, those that the file says the brighter ones.

    Examples
    --------
    >>> import rich, ropewalk
    >>> rich.print(table(ropewalk.explain("scenarios/start/two-links.toml")))
    ... # doctest: +ELLIPSIS
    Two unequal links...
    """
    parts: list[RenderableType] = [Text(explanation.scenario.title, "bold")]
    parts.append(_settings(explanation))
    for warning in explanation.scenario.warnings:
        parts.append(Text(f"warning: {warning}", style="yellow"))
    return Group(*parts)


def _settings(explanation: Explanation) -> Table:
    shown = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
    for heading in ("table", "key", "value", "from"):
        shown.add_column(heading, overflow="fold")
    for name, group in groupby(explanation.settings, key=lambda setting: setting.table):
        for number, each in enumerate(group):
            style = "" if each.source in ("file", "--set") else "dim"
            first = Text(name, "bold") if number == 0 else ""
            shown.add_row(
                first, Text(each.key, style), Text(each.value, style), Text(each.source, style)
            )
        shown.add_section()
    return shown
