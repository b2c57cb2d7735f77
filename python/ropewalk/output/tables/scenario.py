"""A scenario as a table for a notebook: its links, and the flows over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from . import terminal


def table(values: Mapping[str, Any], warnings: Sequence[str]) -> RenderableType:
    """Return a scenario in short as `rich.print` shows it; `explain` shows every key.

    Examples
    --------
    >>> import rich, ropewalk
    >>> scenario = ropewalk.Scenario.load("start/two-links")
    >>> rich.print(table(scenario.values, scenario.warnings))  # doctest: +NORMALIZE_WHITESPACE
    Two unequal links  (30 s)
    <BLANKLINE>
      link         rate   delay     loss    queue
     ─────────────────────────────────────────────
      dsl     16 Mbit/s   20 ms             80 kB
      cable   50 Mbit/s    8 ms   0.01 %   100 kB
    <BLANKLINE>
    measured: mptcp, bulk, over dsl, cable
    """
    parts: list[RenderableType] = [
        terminal.heading(values["title"], f"{values['duration']:,.6g} s"),
        _links(values["link"]),
    ]
    first = values["transport"] | {"traffic": values["traffic"]}
    parts += [_flow(flow) for flow in (first, *values["flow"], *values["competitor"])]
    return Group(*parts, *terminal.warned(warnings))


def _links(links: list[dict[str, Any]]) -> Table:
    """Show what the links have in the direction of the data, as far as any has it."""
    rows = [_cells(link) for link in links]
    known = [name for name in rows[0] if any(row[name] for row in rows)] if rows else []
    shown = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
    for name in known:
        shown.add_column(name, justify="left" if name in ("link", "from, to") else "right")
    for row in rows:
        shown.add_row(*(Text(row[name]) for name in known))
    return shown


def _cells(link: dict[str, Any]) -> dict[str, str]:
    way = link["forward"]
    rate = f"{way['rate'] / 1e6:,.4g} Mbit/s" if "rate" in way else ""
    ends = f"{link['from']}, {link['to']}" if "from" in link else ""
    return {
        "link": link["name"],
        "from, to": ends,
        "channel": str(link.get("channel", "")),
        "rate": rate + (", a trace's mean" if "trace" in way else ""),
        "delay": f"{1e3 * way['delay']:,.4g} ms" if way.get("delay") else "",
        "jitter": f"{1e3 * way['jitter']:,.4g} ms" if way.get("jitter") else "",
        "loss": _loss(way.get("loss", 0.0)),
        "queue": f"{way['queue'] / 1e3:,.4g} kB" if "queue" in way else "",
        "cost": f"{link['cost']:,.4g}" if "cost" in link else "",
    }


def _loss(loss: Any) -> str:
    if isinstance(loss, Mapping):
        return str(loss.get("model", ""))
    return f"{100 * loss:,.4g} %" if loss else ""


def _flow(flow: dict[str, Any]) -> Text:
    count = f" ({flow['count']:,} of them)" if flow.get("count", 1) > 1 else ""
    told = [flow["protocol"], flow["traffic"]["kind"], "over " + ", ".join(flow["paths"])]
    return Text(f"{flow['name']}{count}: {', '.join(map(str, told))}")
