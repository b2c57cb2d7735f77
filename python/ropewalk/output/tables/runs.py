"""Results as a table for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ...engines.testbed.own_error import in_words
from ...results import statistics
from ...results.run_warnings import warnings_of
from ...support.numerals import decimal, format_number, with_interval
from . import terminal

if TYPE_CHECKING:
    from ...results import Results

MAX_SHARED = 4  # largest number of links with shares in the table
FIRST_ROWS, LAST_ROWS = 48, 16  # rows shown of longer tables; --json has all

Columns: TypeAlias = Mapping[str, tuple[str, float, str]]  # heading: key, times, format


@dataclass(frozen=True)
class EntryTable:
    """A table of entries of one kind, such as links, with its columns.

    `what` is the name of an entry, such as "link", and `label` the key of its label. Entries have
    the shape of a run's JSON object. `columns` has key, factor and format by heading.
    """

    what: str
    label: str
    entries: list[dict[str, Any]]
    columns: Columns

    @property
    def known(self) -> Columns:
        """The columns with a value in some entry."""
        return {
            heading: cell
            for heading, cell in self.columns.items()
            if not self.entries or any(cell[0] in entry for entry in self.entries)
        }


def table(results: Results) -> RenderableType:
    """Return results as a `rich` renderable.

    For several runs each number is a mean, with half its 95 % interval if there is space.

    Examples
    --------
    >>> import rich, ropewalk
    >>> results = ropewalk.simulate("start/two-links")
    >>> rich.print(table(results))  # doctest: +ELLIPSIS
    Two unequal links...
    """
    parts: list[RenderableType] = [
        terminal.heading(results.scenario.title, runs_note(results.runs)),
        terminal.fact_lines(summary_lines(results)),
    ]
    parts += [_entries(listing) for listing in entry_tables(results.mean)]
    parts += terminal.warning_lines(warnings_of(results.runs))
    return Group(*parts)


def entry_tables(mean: dict[str, Any]) -> list[EntryTable]:
    """Return the applicable tables: subflows, links, channels, radios, flows, competitors.

    `mean` has means over runs, or half intervals, in the shape of a run's JSON object.

    Examples
    --------
    >>> [listing.what for listing in entry_tables({"links": [{"name": "dsl", "sent_packets": 3}]})]
    ['link']
    """
    found = []
    if mean.get("subflows"):
        found.append(_subflows(mean["subflows"]))
    if mean.get("links"):
        found.append(_links(mean["links"]))
    if mean.get("radios"):
        found += [_channels(mean["channels"]), _radios(mean["radios"])]
    if mean.get("flows"):
        found.append(_flows(mean["flows"], mean.get("links", [])))
    elif mean.get("competitors"):
        found.append(_competitors(mean["competitors"]))
    return found


def runs_note(runs: Sequence[dict[str, Any]]) -> str:
    """Describe means and intervals by their number of runs.

    Examples
    --------
    >>> runs_note([{"seed": 1, "goodput_mbps": 9.0}, {"seed": 2, "goodput_mbps": 8.0}])
    'mean of 2 runs, seeds 1 to 2, ± 95 % interval'
    """
    first, last = runs[0]["seed"], runs[-1]["seed"]
    if len(runs) == 1:
        return f"seed {first}"
    if statistics.alike(runs):
        return f"{len(runs)} runs, all alike"
    return f"mean of {len(runs)} runs, seeds {first} to {last}, ± 95 % interval"


def summary_lines(results: Results) -> Iterator[tuple[str, str]]:
    """Yield lines of a summary: a name, and its numbers in words.

    Examples
    --------
    >>> import ropewalk
    >>> lines = dict(summary_lines(ropewalk.simulate("start/two-links")))
    >>> lines["longest gap"]  # doctest: +ELLIPSIS
    '... s without a delivery'
    """
    mean, ci95 = results.mean, results.ci95

    def known(key: str, places: int = 2) -> str:
        return with_interval(mean[key], ci95.get(key), places)

    goodput = mean["goodput_mbps"]
    if statistics.alike(results.runs):
        yield "spread", statistics.ALIKE
    if mean.get("flows"):
        yield "first flow", str(mean["flows"][0]["name"])
    share = ""
    capacity = results.scenario.capacity_mbps
    if capacity:
        share = f", {goodput / capacity:.1%} of the links' {capacity:,.1f} Mbit/s"
    yield "goodput", f"{known('goodput_mbps')} Mbit/s{share}"
    delivered = _delivered(mean, results.scenario.warmup_s)
    if "completion_s" in mean:
        delivered += f", complete after {known('completion_s')} s"
    yield "delivered", delivered
    if "delay_ms" in mean:
        delay = mean["delay_ms"]
        yield (
            "delay",
            f"mean {delay['mean']:,.0f}, median {delay['p50']:,.0f}, 95 % {delay['p95']:,.0f},"
            f" 99 % {delay['p99']:,.0f}, max {delay['max']:,.0f} ms",
        )
    yield from _timeliness(results, mean)
    if "reordering" in mean:
        reordering = mean["reordering"]
        yield (
            "reordering",
            f"{reordering['out_of_order_ratio']:.1%} of packets waited for another,"
            f" at most {reordering['buffer_max_bytes'] / 1e3:,.0f} kB",
        )
    if "mptcp_ns3" in mean:
        module = mean["mptcp_ns3"]
        text = (
            f"{module['out_of_order_percent']:.1f} % out of order,"
            f" at most {module['buffer_max_segments']:,.0f} segments"
            f" ({module['buffer_max_kib']:,.1f} KiB) stored"
        )
        if "gthroughput_mbps" in module:
            text += f", gThroughput {decimal(module['gthroughput_mbps'])} Mbit/s"
        yield "mptcp-ns3", text
    subflows = mean.get("subflows", [])
    sent = sum(subflow.get("segments_sent", 0) for subflow in subflows)
    again = sum(subflow["retransmissions"] for subflow in subflows)
    if sent:
        yield "retransmitted", f"{again:,.0f} of {sent:,.0f} segments ({again / sent:.2%})"
    yield from _cost_and_quota(mean)
    if "jain_index" in mean:
        yield "fairness", f"{known('jain_index', 3)} of 1, Jain's index over the flows' goodputs"
    if "longest_gap_s" in mean:
        yield "longest gap", f"{mean['longest_gap_s']:,.3f} s without a delivery"
    if "stats" in mean:
        stats = mean["stats"]
        wall = f" in {stats['wall_s']:,.2f} s" if "wall_s" in stats else ""
        yield "simulated", f"{stats['data_packets']:,.0f} data packets{wall}"
    yield from _testbed(results.runs, mean)


def _delivered(mean: dict[str, Any], warmup_s: float) -> str:
    """Return the delivered data, and the measured time that they cover."""
    measured = max(mean["duration_s"] - warmup_s, 0.0)
    text = f"{decimal(mean['delivered_bytes'] / 1e6, 1)} MB in {measured:,.2f} s"
    return text + (f" after the warm-up of {warmup_s:g} s" if warmup_s else "")


def _cost_and_quota(mean: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the cost of links and the used part of their quotas."""
    if "cost" in mean:
        per_gb = f", {mean['cost_per_gb']:,.0f} a GB" if "cost_per_gb" in mean else ""
        yield "cost", f"{mean['cost']:,.2f} (each link's price times its Mbit/s){per_gb}"
    for quota in mean.get("quota", []):
        text = f"{quota['used'] / 1e6:,.1f} MB of {quota['link']} used in the last period,"
        yield "quota", text + f" {quota['left'] / 1e6:,.1f} left"


def _timeliness(results: Results, mean: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield missed deadlines, stalls of a video, and response and page times."""
    late_after = results.scenario.setup.first.traffic.deadline or 0.0
    for key, counted in (("messages", "count"), ("video", "frames")):
        if key not in mean:
            continue
        of = mean[key]
        pieces = "frames" if key == "video" else "messages"
        text = f"{of['late_percent']:.2f} % of {of[counted]:,.0f} {pieces} later than"
        text += f" {1e3 * late_after:,.0f} ms or never"
        if "stall" in of:
            text += _stalls(of["stall"])
        yield key, text
    if "chunks" in mean:
        of = mean["chunks"]
        text = f"{of['count']:,.0f} of {decimal(of['rate_mbps'])} Mbit/s in the mean,"
        text += f" {of['switches']:,.0f} changes of quality,"
        text += f" {of['late_percent']:.2f} % later than the player had set or never"
        yield "chunks", text + _stalls(of["stall"])
    if "requests" in mean:
        of = mean["requests"]
        text = f"{of['count']:,.0f} answered{_seconds(of, 'response_s')}"
        if "late_percent" in of:
            text += f"; {of['late_percent']:.2f} % later than {1e3 * late_after:,.0f} ms or never"
        yield "requests", text
    if "web" in mean:
        of = mean["web"]
        yield (
            "pages",
            f"{of['pages']:,.0f} of {of['objects']:,.0f} objects{_seconds(of, 'page_load_s')}",
        )


def _stalls(stall: dict[str, Any]) -> str:
    """Format the number and length of a player's stalls."""
    text = f"; stalled {stall['count']:,.1f} times, {stall['total_s']:,.1f} s"
    return f"{text} ({stall['share']:.1%})"


def _seconds(of: dict[str, Any], key: str) -> str:
    if key not in of:
        return ""
    took = of[key]
    return f", median {took['p50']:,.3g}, 95 % {took['p95']:,.3g}, max {took['max']:,.3g} s"


def _testbed(runs: Sequence[dict[str, Any]], mean: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the testbed's kernel, the emulator's punctuality, and the machine's disturbance."""
    run = runs[0]
    if "kernel" in run:
        kernel = [f"Linux {run['kernel']['release']}"]
        if "congestion" in run["kernel"]:
            kernel.append(run["kernel"]["congestion"])
        yield "kernel", ", ".join(kernel)
    if "emulator" in mean:
        known = f"{mean['emulator']['packets']:,.0f} packets"
        if "lateness_ms" in mean["emulator"]:
            late = mean["emulator"]["lateness_ms"]
            known += f", {late['p50']:.3f} ms late at the median, {late['p99']:.3f} at 99 %"
        yield "emulated", known
    if "own_error" in mean:
        yield "undisturbed", _own_error(runs, mean["own_error"])
    for end, lines in run.get("tc", {}).items():
        yield f"tc, {end}", "\n".join(lines)


def _own_error(runs: Sequence[dict[str, Any]], error: dict[str, Any]) -> str:
    """Format the range of numbers without the machine's disturbance, and the attempts."""
    text = in_words(error)
    done = sum(run["own_error"]["runs"] for run in runs)
    disturbed = sum(run["own_error"]["disturbed"] for run in runs)
    if done > len(runs):
        text += f"; {done:,.0f} runs, the least disturbed kept"
    if disturbed:
        text += f"; {disturbed:,.0f} of {len(runs):,.0f} disturbed"
    return text


def _subflows(entries: list[dict[str, Any]]) -> EntryTable:
    columns = {
        "goodput\nMbit/s": ("goodput_mbps", 1, ",.2f"),
        "share": ("share", 1, ".1%"),
        "segments": ("segments_sent", 1, ",.0f"),
        "re-\ntrans": ("retransmissions", 1, ",.0f"),
        "spu-\nrious": ("spurious_retransmissions", 1, ",.0f"),
        "recov-\neries": ("fast_recoveries", 1, ",.0f"),
        "time-\nouts": ("timeouts", 1, ",.0f"),
        "srtt\nms": ("srtt_ms", 1, ",.1f"),
    }
    return EntryTable("subflow", "link", entries, columns)


def _links(entries: list[dict[str, Any]]) -> EntryTable:
    columns = {
        "packets\nsent": ("sent_packets", 1, ",.0f"),
        "lost": ("lost_packets", 1, ",.0f"),
        "dropped": ("dropped_packets", 1, ",.0f"),
        "delivered\nMB": ("delivered_bytes", 1e-6, ",.1f"),
        "utilization": ("utilization", 1, ".1%"),
        "frames\nsent": ("attempts", 1, ",.0f"),
        "in\nerror": ("frame_error_ratio", 1, ".1%"),
    }
    return EntryTable("link", "name", entries, columns)


AIRTIME = {
    "data": ("data", 1, ".1%"),
    "re-\ntries": ("retries", 1, ".1%"),
    "ACK": ("ack", 1, ".1%"),
    "RTS,\nCTS": ("rts", 1, ".1%"),
    "waiting": ("defer", 1, ".1%"),
    "idle": ("idle", 1, ".1%"),
}


def _channels(entries: list[dict[str, Any]]) -> EntryTable:
    columns = {
        "busy": ("busy_ratio", 1, ".1%"),
        "collided": ("collision_ratio", 1, ".1%"),
    }
    return EntryTable("channel", "name", entries, columns)


def _radios(entries: list[dict[str, Any]]) -> EntryTable:
    """Return a table of radios: use of time, and drops."""
    columns = {
        **AIRTIME,
        "dropped:\ntries": ("drops_tries", 1, ",.0f"),
        "queue": ("drops_queue", 1, ",.0f"),
    }
    rows = [
        {**entry, **entry["airtime"], "radio": f"{entry['node']} on {entry['channel']}"}
        for entry in entries
    ]
    if not any(row["rts"] for row in rows):
        del columns["RTS,\nCTS"]
    return EntryTable("radio", "radio", rows, columns)


def _competitors(entries: list[dict[str, Any]]) -> EntryTable:
    columns = {"flows": ("count", 1, ",.0f"), "each\nMbit/s": ("goodput_mbps", 1, ",.2f")}
    return EntryTable("competitor", "name", entries, columns)


def _flows(entries: list[dict[str, Any]], links: list[dict[str, Any]]) -> EntryTable:
    """Return a table of flows: goodput, and shares of links if these are few."""
    columns = {
        "protocol": ("protocol", 1, ""),
        "flows": ("count", 1, ",.0f"),
        "each\nMbit/s": ("goodput_mbps", 1, ",.2f"),
        "share": ("share", 1, ".1%"),
        "delivered\nMB": ("delivered_bytes", 1e-6, ",.1f"),
        "complete\ns": ("completion_s", 1, ",.2f"),
        "95 %\nms": ("delay_p95_ms", 1, ",.0f"),
    }
    shown = links if len(links) <= MAX_SHARED else []
    columns |= {f"of\n{link['name']}": (f"of {link['name']}", 1, ".1%") for link in shown}
    rows = []
    for entry in entries:
        row = dict(entry)
        if "delay_ms" in entry:
            row["delay_p95_ms"] = entry["delay_ms"]["p95"]
        for link in shown:
            of_link = {user["name"]: user["share"] for user in link.get("flows", [])}
            if entry["name"] in of_link:
                row[f"of {link['name']}"] = of_link[entry["name"]]
        rows.append(row)
    return EntryTable("flow", "name", rows, columns)


def _entries(listing: EntryTable) -> Table:
    """Return a row for each entry, up to a readable number, and a column for each known number."""
    entries, label = listing.entries, listing.label
    more = len(entries) - FIRST_ROWS - LAST_ROWS
    longest = max((len(entry[label]) for entry in entries), default=0)
    known = listing.known
    shown = terminal.number_table(listing.what, known, at_least=min(longest, 16))
    for number, entry in enumerate(entries):
        if number < FIRST_ROWS or number >= FIRST_ROWS + more:
            shown.add_row(Text(entry[label]), *(_cell(entry, *cell) for cell in known.values()))
        elif number == FIRST_ROWS:
            shown.add_row(Text(f"... {more:,} more, which --json has ...", style="dim"))
    return shown


def _cell(entry: dict[str, Any], key: str, times: float, digits: str) -> str:
    if key not in entry:
        return ""
    value = entry[key]
    return value if isinstance(value, str) else format_number(times * value, digits)
