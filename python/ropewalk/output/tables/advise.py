"""Advice as text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ...analysis.advise.result import Advice, AdviceResults, Check, Evidence
from ...scenario.toml_syntax import toml_value
from ...support.numerals import decimal
from . import terminal

MAX_ROWS = 12
MAX_WIDTH = 26  # width of the first column on a narrow terminal
COLUMNS = {
    "goodput_mbps": ("goodput\nMbit/s", 2),
    "ci95_mbps": ("± 95 %", 2),
    "predicted_mbps": ("predicted\nMbit/s", 2),
    "conflicts": ("in\nconflict", 0),
    "adds_mbps": ("adds\nMbit/s", 2),
    "alone_mbps": ("alone\nMbit/s", 2),
    "delay_p95_ms": ("95 % within\nms", 0),
    "delay_bound_ms": ("bound\nms", 1),
    "cost": ("cost", 2),
    "least_cost": ("least\ncost", 2),
    "late_by_ms": ("late by\nms", 0),
    "competitors_mbps": ("others each\nMbit/s", 2),
}


def table(results: AdviceResults) -> RenderableType:
    """Return advice as a `rich` renderable.

    Examples
    --------
    >>> import rich, ropewalk
    >>> results = ropewalk.advise("start/two-links")
    >>> rich.print(table(results))  # doctest: +ELLIPSIS
    Two unequal links...
    """
    parts: list[RenderableType] = [_heading(results)]
    if results.check is not None:
        parts.append(_check(results.check))
    parts += [_advice(each) for each in results.advice]
    return Group(*parts, *terminal.warning_lines(results.scenario.warnings))


def _heading(results: AdviceResults) -> Text:
    runs = "one run of each, nothing is random"
    if results.runs > 1:
        last = results.seed + results.runs - 1
        runs = f"{results.runs} runs of each, seeds {results.seed} to {last}"
    duration = f"{results.scenario.duration_s:g} s"
    text = f"{results.simulated} candidates simulated, of {duration} each; {runs}"
    return terminal.heading(results.scenario.title, text)


def _advice(advice: Advice) -> RenderableType:
    parts: list[RenderableType] = [
        Text(f"\n{advice.title}", style="bold"),
        Text(advice.answer),
    ]
    if advice.settings:
        parts.append(Text(options(advice), style="green"))
    if advice.evidence:
        parts.append(_evidence(advice.evidence))
    parts += [Padding(Text(note, style="dim"), (0, 0, 0, 2)) for note in advice.notes]
    return Group(*parts)


def options(advice: Advice) -> str:
    """Return the settings as options of the command.

    Examples
    --------
    >>> options(Advice("a", "", "", settings={"transport.receive_buffer": "64 KiB"}))
    "--set 'transport.receive_buffer=64 KiB'"
    """
    import shlex

    return " ".join(
        f"--set {shlex.quote(f'{key}={toml_value(value)}')}"
        for key, value in advice.settings.items()
    )


def _evidence(evidence: Sequence[Evidence]) -> Table:
    shown = _worth_showing(evidence)
    columns = [key for key in COLUMNS if any(key in each.numbers for each in shown)]
    costs = {each.numbers["cost"] for each in shown if "cost" in each.numbers}
    if len(costs) > 0 and not any("delay_bound_ms" in each.numbers for each in shown):
        columns = [key for key in columns if key != "cost"]
    widest = max(len(each.what) for each in shown)
    headings = [COLUMNS[key][0] for key in columns]
    made = terminal.number_table("", headings, at_least=min(widest, MAX_WIDTH))
    made.add_column("", vertical="bottom")
    for each in shown:
        cells = [
            decimal(each.numbers[key], COLUMNS[key][1]) if key in each.numbers else ""
            for key in columns
        ]
        strong = "bold" if "advised" in each.remarks else ""
        remarks = Text(", ".join(each.remarks), style="dim")
        made.add_row(Text(each.what), *cells, remarks, style=strong)
    left = len(evidence) - len(shown)
    if left:
        made.add_row(Text(f"and {left} more, in --json and --out", style="dim"))
    return made


def _worth_showing(evidence: Sequence[Evidence]) -> list[Evidence]:
    """Return the candidates with a remark, and their neighbours."""
    remarked = [number for number, each in enumerate(evidence) if each.remarks]
    near = sorted(
        range(len(evidence)),
        key=lambda number: min((abs(number - other) for other in remarked), default=number),
    )
    kept = sorted(near[: max(MAX_ROWS, len(remarked))])
    return [evidence[number] for number in kept]


def _check(check: Check) -> RenderableType:
    advised, best = (each.numbers["goodput_mbps"] for each in (check.advised, check.best))
    text = (
        f"The advised links are number {check.rank} of all {check.subsets} subsets, with"
        f" {check.ratio:.2%} of the best one's goodput ({decimal(advised)} of {decimal(best)}"
        " Mbit/s)."
    )
    parts: list[RenderableType] = [
        Text("\nHow good is the choice of links?", style="bold"),
        Text(text),
    ]
    if check.rank > 1:
        parts.append(Text(f"The best: {check.best.what}."))
    if check.model:
        alone = (
            f"By itself the model's first choice would be number {check.model['rank']:.0f}, with"
            f" {check.model['ratio']:.2%}"
        )
        if "rank_correlation" in check.model:
            alone += f"; rank correlation with the simulator {check.model['rank_correlation']:.3f}"
        parts.append(Text(f"{alone}.", style="dim"))
    return Group(*parts)
