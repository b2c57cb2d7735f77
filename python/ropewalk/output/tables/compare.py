"""A comparison as a table for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ...analysis.compare.numbers import entry_names, total
from ...analysis.compare.result import Comparison
from ...engines.testbed.own_error import in_words
from ...results.statistics import ALIKE, alike, half_width
from ...support.numerals import format_mean, format_number, with_interval
from . import terminal

SUMMARY = {
    "goodput (Mbit/s)": ("goodput_mbps", 1.0, ",.2f"),
    "complete after (s)": ("completion_s", 1.0, ",.2f"),
    "delay (ms): mean": ("delay_ms.mean", 1.0, ",.1f"),
    "median": ("delay_ms.p50", 1.0, ",.1f"),
    "95 %": ("delay_ms.p95", 1.0, ",.1f"),
    "99 %": ("delay_ms.p99", 1.0, ",.1f"),
    "max": ("delay_ms.max", 1.0, ",.1f"),
    "waited for another (%)": ("reordering.out_of_order_ratio", 100.0, ",.1f"),
    "waited at most (kB)": ("reordering.buffer_max_bytes", 1e-3, ",.0f"),
    "cost": ("cost", 1.0, ",.2f"),
}
SUMS = {"retransmitted": "retransmissions", "timeouts": "timeouts"}
SUBFLOW = {
    "Mbit/s": ("goodput_mbps", 1.0, ",.2f"),
    "retransmitted": ("retransmissions", 1.0, ",.0f"),
}
FLOW = {
    "Mbit/s": ("goodput_mbps", 1.0, ",.2f"),
    "share (%)": ("share", 100.0, ",.1f"),
}
LINK = {
    "lost": ("lost_packets", 1.0, ",.0f"),
    "dropped": ("dropped_packets", 1.0, ",.0f"),
    "utilized (%)": ("utilization", 100.0, ",.1f"),
}


def table(comparison: Comparison) -> RenderableType:
    """Return a comparison as a `rich` renderable.

    Examples
    --------
    >>> import rich, ropewalk
    >>> scenario = "start/two-links"
    >>> comparison = ropewalk.compare(scenario, ways=["predict", "simulate"])
    >>> rich.print(table(comparison))  # doctest: +ELLIPSIS
    Two unequal links...
    """
    parts: list[RenderableType] = [
        terminal.heading(comparison.scenario.title, _runs(comparison)),
        _summary(comparison),
    ]
    for way, results in comparison.ran.items():
        if alike(results.runs):
            parts.append(Text(f"spread of {way}: {ALIKE}"))
    if comparison.undisturbed and comparison.measured is not None:
        text = in_words(comparison.measured.mean["own_error"])
        parts.append(Text(f"testbed without the machine's disturbance: {text}"))
    has_subflows = any(entry_names(of, "subflows") for of in comparison.means.values())
    if len(comparison.scenario.links) > 1 and has_subflows:
        parts.append(_each(comparison, "subflows", "subflow", SUBFLOW))
    if comparison.ran:
        parts.append(_each(comparison, "links", "link", LINK))
    if len(comparison.scenario.flows) > 1 and comparison.ran:
        parts.append(_each(comparison, "flows", "flow", FLOW))
    parts += _agreements(comparison)
    parts += [Text(sentence) for sentence in comparison.explanation]
    parts += [
        Text(f"left out: {way}: {reason}", style="dim")
        for way, reason in comparison.left_out.items()
    ]
    parts += terminal.warning_lines(_warnings(comparison))
    return Group(*parts)


def _runs(comparison: Comparison) -> str:
    for results in comparison.ran.values():
        seeds = results.seeds
        if len(seeds) == 1:
            return f"seed {seeds[0]}"
        return f"means of {len(seeds)} runs, seeds {seeds[0]} to {seeds[-1]}, ± 95 % interval"
    return ""


def _summary(comparison: Comparison) -> Table:
    shown = terminal.number_table("", comparison.ways)
    for label, (key, scale, digits) in SUMMARY.items():
        _row(shown, label, [_cell(comparison, way, key, scale, digits) for way in comparison.ways])
    for label, key in SUMS.items():
        sums = [total(comparison.means[way], key) for way in comparison.ways]
        _row(shown, label, ["" if value is None else f"{value:,.0f}" for value in sums])
    return shown


def _row(shown: Table, label: str, cells: Sequence[str]) -> None:
    if any(cells):
        shown.add_row(Text(label), *cells)


def _cell(comparison: Comparison, way: str, key: str, scale: float, digits: str) -> str:
    value = comparison.means[way].get(key)
    if value is None:
        return ""
    interval = comparison.ci95[way].get(key)
    return format_mean(scale * value, interval and scale * interval, digits)


def _each(
    comparison: Comparison, kind: str, what: str, columns: Mapping[str, tuple[str, float, str]]
) -> Table:
    """Return a row for each subflow or link, with a column for each number and way."""
    known = list(
        dict.fromkeys(
            name for way in comparison.ways for name in entry_names(comparison.means[way], kind)
        )
    )
    shown = terminal.number_table(what, at_least=min(16, max(map(len, known), default=0)))
    filled: list[list[str]] = []
    for heading, (key, scale, digits) in columns.items():
        title = heading
        for way in comparison.ways:
            of = comparison.means[way]
            values = [of.get(f"{kind}.{name}.{key}") for name in known]
            if any(value is not None for value in values):
                terminal.add_number(shown, f"{title}\n{way}")
                filled.append(
                    ["" if v is None else format_number(scale * v, digits) for v in values]
                )
                title = ""
    for name, *cells in zip(known, *filled, strict=True):
        shown.add_row(Text(name), *cells)
    return shown


def _agreements(comparison: Comparison) -> Iterator[Table]:
    """Yield a table for each pair: both means, their agreement, and its significance."""
    pairs = dict.fromkeys((each.judged, each.against) for each in comparison.agreements)
    for judged, against in pairs:
        shown = terminal.number_table("", (judged, against, "accuracy"), at_least=12)
        shown.title = f"accuracy of {judged} against {against}, of means"
        shown.title_justify, shown.title_style = "left", "bold"
        shown.add_column("differ", no_wrap=True, min_width=len("too few runs"))
        for each in comparison.agreements:
            if (each.judged, each.against) == (judged, against):
                near = "" if each.accuracy is None else f"{each.accuracy:.1%}"
                text = {True: "yes", False: "by chance", None: "too few runs"}[each.differs]
                means = (_mean(each.ones), _mean(each.others))
                shown.add_row(f"{each.of} ({each.unit})", *means, near, text)
        yield shown


def _mean(runs: Sequence[float]) -> str:
    """Format the mean of runs with half its 95 % interval, as in the main table."""
    return with_interval(fmean(runs), half_width(runs) if len(runs) > 1 else None)


def _warnings(comparison: Comparison) -> list[str]:
    """Return the warnings of the packet-level ways, each once."""
    return list(
        dict.fromkeys(
            warning
            for results in comparison.ran.values()
            for run in results.runs
            for warning in run.get("warnings", [])
        )
    )
