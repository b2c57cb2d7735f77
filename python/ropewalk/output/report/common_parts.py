"""Input of a section: the scenario, its drawing, and the origin of the results."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from ...analysis.explain import explain
from ...provenance import Origin
from ...results.folders import ResultFolder
from ...scenario import Scenario
from ...scenario.setup import Traffic
from . import drawing
from .section import Drawing, Facts, Part, Piece, Source, Table, Text
from .tables import cut, value

DRAWN = "Links, and paths of the flows"
FLOW = ("protocol", "congestion", "scheduler", "reordering")
HIDDEN = (
    "Hidden stations: {count}. Each reaches the receiver of a hop and does not hear its sender, so"
    " that their frames collide."
)
NO_ORIGIN = "Version, date, command and machine are not known: no run has stored them."


def introduction(stored: ResultFolder, told: Mapping[str, str] | None = None) -> Part:
    """Return the introduction: the scenario's comments, the command, and further facts."""
    pieces: list[Piece] = [
        Text(each.strip(), "code" if each.startswith("    ") else "plain")
        for each in preface(stored.scenario.text)
    ]
    pairs = [("scenario", stored.scenario.title)]
    if stored.origin is not None:
        pairs.append(("command", stored.origin.command))
    pieces.append(Facts((*pairs, *(told or {}).items())))
    return Part("Input", tuple(pieces))


def preface(text: str) -> list[str]:
    r"""Return the leading comments of a scenario file as paragraphs.

    Examples
    --------
    >>> preface("# Two links.\n# One is slow.\n#\n#     ropewalk simulate two.toml\n\ntitle = 'x'")
    ['Two links. One is slow.', '    ropewalk simulate two.toml']
    """
    lines = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        lines.append(line[1:].removeprefix(" ").rstrip())
    paragraphs = "\n".join(lines).strip("\n").split("\n\n")
    # Lines of indented commands and tables stay apart.
    return [re.sub(r"\n(?=\S)", " ", each) for each in paragraphs if each.strip()]


def scenario_part(scenario: Scenario) -> Part:
    """Return the scenario: drawing, flows and settings."""
    svg, caption = drawing.draw(scenario)
    text, _ = scenario.self_contained()
    pieces = (
        Drawing(DRAWN, svg, caption),
        _flows(scenario),
        Source("The scenario file", text),
        *_settings(scenario),
    )
    return Part("The scenario", pieces)


def origin_part(stored: ResultFolder, *more: Piece) -> Part:
    """Return the origin of results: version, date, command, machine, time, seeds."""
    known = stored.origin
    folder = ("folder", str(stored.folder))
    if known is None:
        return Part("Origin", (Text(NO_ORIGIN, "faint"), Facts((folder,))))
    commit = f", commit {known.commit}" if known.commit else ""
    pairs = [
        ("Ropewalk", f"{known.version}{commit}"),
        ("date", date(known)),
        ("command", known.command),
        ("machine", known.machine),
        ("took", duration_text(known)),
    ]
    if known.seeds:
        pairs.append(("seeds", _seeds(known.seeds)))
    return Part("Origin", (Facts((*pairs, folder)), *more))


def date(origin: Origin) -> str:
    """Format the start time of the work."""
    return origin.date.replace("T", " ").replace("Z", " UTC")


def duration_text(origin: Origin) -> str:
    """Format the duration of the work."""
    return f"{origin.wall_s:,.2f} s"


def _seeds(seeds: Sequence[int]) -> str:
    """Format consecutive seeds as a range, others as a list.

    Examples
    --------
    >>> _seeds([1, 2, 3]), _seeds([4]), _seeds([1, 5])
    ('1 to 3', '4', '1, 5')
    """
    first, last = seeds[0], seeds[-1]
    if len(seeds) > 1 and list(seeds) == list(range(first, last + 1)):
        return f"{first} to {last}"
    return ", ".join(map(str, seeds))


def _flows(scenario: Scenario) -> Table:
    """Return a table of flows with traffic, paths and algorithms."""
    rows = []
    for flow in scenario.setup.every_flow:
        name = flow.name if flow.count == 1 else f"{flow.name} ({flow.count:,} of them)"
        of = [getattr(flow, key) or None for key in FLOW]
        cells = [name, *of, _traffic(flow.traffic), ", ".join(flow.paths)]
        rows.append(tuple(value(cell) for cell in cells))
    return cut("Flows", ("flow", *FLOW, "traffic", "paths"), rows, "scenario.toml")


def _traffic(traffic: Traffic) -> str:
    text = [traffic.kind]
    if traffic.size is not None:
        text.append(f"{traffic.size / 1e6:,.4g} MB")
    if traffic.rate:
        text.append(f"{traffic.rate / 1e6:,.4g} Mbit/s")
    if traffic.deadline is not None:
        text.append(f"within {1e3 * traffic.deadline:,.4g} ms")
    return ", ".join(text)


def _settings(scenario: Scenario) -> Iterator[Piece]:
    """Yield all settings, and the budgets of radio links."""
    explained = explain(scenario)
    hidden = [
        f"{node} on channel {hop.channel}: does not hear {hop.sender}, reaches {hop.receiver}"
        for hop, node in explained.hidden
    ]
    if hidden:
        yield Text(HIDDEN.format(count=len(hidden)), "warning")
        yield Source("Hidden stations", "\n".join(hidden))
    lines = [
        f"{each.table}.{each.key} = {each.value}  ({each.source})"
        if each.table
        else f"{each.key} = {each.value}  ({each.source})"
        for each in explained.settings
    ]
    yield Source("All settings with their sources", "\n".join(lines))
