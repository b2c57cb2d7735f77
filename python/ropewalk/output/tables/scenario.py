"""A scenario as a table for a notebook: its links, and the flows over them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ...scenario import Scenario
from ...scenario.setup import Flow, Link
from . import terminal


def table(scenario: Scenario) -> RenderableType:
    """Return a short table of a scenario as a `rich` renderable; `explain` shows every key.

    Examples
    --------
    >>> import rich, ropewalk
    >>> scenario = ropewalk.Scenario.load("start/two-links")
    >>> rich.print(table(scenario))  # doctest: +NORMALIZE_WHITESPACE
    Two unequal links  (30 s)
    <BLANKLINE>
      link         rate   delay     loss    queue
     ─────────────────────────────────────────────
      dsl     16 Mbit/s   20 ms             80 kB
      cable   50 Mbit/s    8 ms   0.01 %   100 kB
    <BLANKLINE>
    measured: mptcp, bulk, over dsl, cable
    """
    setup = scenario.setup
    return Group(
        terminal.heading(setup.title, f"{setup.duration:,.6g} s"),
        _links(setup.links),
        *map(_flow, setup.every_flow),
        *terminal.warning_lines(scenario.warnings),
    )


def _links(links: Sequence[Link]) -> Table:
    """Return a table of the links' settings in the data's direction."""
    rows = [_cells(link) for link in links]
    known = [name for name in rows[0] if any(row[name] for row in rows)] if rows else []
    shown = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
    for name in known:
        shown.add_column(name, justify="left" if name in ("link", "from, to") else "right")
    for row in rows:
        shown.add_row(*(Text(row[name]) for name in known))
    return shown


def _cells(link: Link) -> dict[str, str]:
    way = link.forward
    rate = f"{way.rate / 1e6:,.4g} Mbit/s" if math.isfinite(way.rate) else ""
    return {
        "link": link.name,
        "from, to": ", ".join(link.ends or ()),
        "channel": link.channel or "",
        "rate": rate + (", a trace's mean" if way.trace is not None else ""),
        "delay": f"{1e3 * way.delay:,.4g} ms" if way.delay else "",
        "jitter": f"{1e3 * way.jitter:,.4g} ms" if way.jitter else "",
        "loss": f"{100 * way.loss:,.4g} %" if way.loss else "",
        "queue": f"{way.queue / 1e3:,.4g} kB" if math.isfinite(way.queue) else "",
        "cost": "" if link.cost is None else f"{link.cost:,.4g}",
    }


def _flow(flow: Flow) -> Text:
    count = f" ({flow.count:,} of them)" if flow.count > 1 else ""
    paths = ", ".join(flow.paths)
    return Text(f"{flow.name}{count}: {flow.protocol}, {flow.traffic.kind}, over {paths}")
