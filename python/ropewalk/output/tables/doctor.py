"""Diagnosis of ``testbed doctor``, as a table for a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text


def table(diagnosis: Mapping[str, Any]) -> RenderableType:
    """Return a diagnosis as a `rich` renderable.

    Examples
    --------
    >>> import rich
    >>> check = {"name": "netem", "works": False, "needed": False, "detail": "none"}
    >>> rich.print(table({"machine": {"kernel": "6.18", "checks": [check]}}))
    Linux 6.18
    no  netem  none
    """
    machine = diagnosis["machine"]
    grid = Table.grid(padding=(0, 2))
    for check in machine["checks"]:
        lacking = Text("NO", "red") if check["needed"] else Text("no", "yellow")
        works = Text("yes", "green") if check["works"] else lacking
        grid.add_row(works, Text(check["name"]), Text(check["detail"], "dim"))
    parts: list[RenderableType] = [Text(f"Linux {machine['kernel']}", "bold"), grid]
    if "scenario" in diagnosis:
        parts += _scenario(diagnosis["scenario"])
    return Group(*parts)


def _scenario(found: Mapping[str, Any]) -> list[Text]:
    if "refused" in found:
        return [Text.assemble(("NO", "red"), f"   the scenario: {found['refused']}")]
    if not found["subflows"]:
        return [Text.assemble(("yes", "green"), "  the scenario can run")]
    return [Text.assemble(("NO", "red"), f"   {line}") for line in found["subflows"]]
