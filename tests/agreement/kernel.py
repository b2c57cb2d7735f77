"""TCP and MPTCP of this machine's kernel on the testbed, compared with the simulator.

    python tests/agreement/kernel.py [--simulate] [A.down A.up B.down B.up]

One, two, four and eight links, buffers, congestion controls, losses, an outage, and traces: files
in mahimahi's format, or made-up ones. It takes fifty minutes in real time; with --simulate
measured values are taken from the page, and the rest takes some minutes.
"""

import argparse
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import polars as pl

import cellular
import linux
import ropewalk
from both_sides import measured, simulated
from ropewalk.cli.progress import progress
from tables import Table, read_from_pages, write_into_pages

LINKS = ("35.9/40", "18.4/50", "33.3/60", "14.7/80", "14.8/70", "4.4/120", "22.5/45", "12.5/55")
COUNTS = (1, 2, 4, 8)
BUFFERS = ("256k", "1M", "16M")
LOSSES = ("0.1 %", "1 %")
OUTAGE = [["6 s", "8 s"]]
SEEDS = range(1, 6)  # of the kernel's runs
DRAWS = 5  # random delays per seed, simulated


@dataclass(frozen=True)
class Case:
    links: str
    congestion: str
    buffers: str
    event: str
    scenario: ropewalk.Scenario

    def __str__(self) -> str:
        return " ".join(filter(None, (self.links, self.congestion, self.buffers, self.event)))


def steady(count: int, congestion: str, buffers: str, **changes: str) -> ropewalk.Scenario:
    """Return the first links of linux-links.toml: TCP over one, MPTCP over several."""
    method = "tcp" if count == 1 else "mptcp"
    return linux.scenario("+".join(LINKS[:count]), method, congestion, buffers, **changes)


def cases(traces: Sequence[str] = ()) -> Iterator[Case]:
    for count in COUNTS:
        for congestion in ("cubic", "reno"):
            for buffers in BUFFERS:
                scenario = steady(count, congestion, buffers)
                yield Case(str(count), congestion, buffers, "", scenario)
    for count in COUNTS:
        for loss in LOSSES:
            lossy = {f"link.l{number}.loss": loss for number in range(1, count + 1)}
            for congestion in ("cubic", "reno") if count <= 2 else ("cubic",):
                scenario = steady(count, congestion, "4M", **lossy)
                yield Case(str(count), congestion, "4M", f"loss {loss}", scenario)
    for count in (1, 2, 4):
        scenario = steady(count, "cubic", "4M").with_({"link.l1.down": OUTAGE})
        yield Case(str(count), "cubic", "4M", "l1 is down for 2 s", scenario)
    both = cellular.scenario(list(traces)).with_({"duration": "20 s", "warmup": "3 s"})
    alone = both.with_({"transport.protocol": "tcp", "transport.paths": ["a"]})
    for count, scenario in (("1", alone), ("2", both)):
        yield Case(count, "cubic", "4M", "trace" if traces else "made-up trace", scenario)


@dataclass(frozen=True)
class Measured:
    """Results of the kernel's runs of a case, and whether the links were in time."""

    goodput_mbps: float
    of_runs: str
    late_ms: float
    trusted: bool


def measure(case: Case, seeds: Sequence[int] = SEEDS) -> Measured:
    runs = [measured(case.scenario, seed) for seed in seeds]
    goodput = [run["goodput_mbps"] for run in runs]
    return Measured(
        statistics.median(goodput),
        f"{min(goodput):.2f} to {max(goodput):.2f}",
        max(run["emulator"]["lateness_ms"]["p99"] for run in runs),
        all(run["emulator"]["trusted"] for run in runs),
    )


def as_on_the_page(case: Case) -> Measured:
    named = (case.links, case.congestion, case.buffers, case.event)
    for row in read_from_pages("kernel"):
        if tuple(row.values())[: len(named)] == named:
            goodput, late = float(row["measured"]), float(row["late ms"])
            return Measured(goodput, row["measured range"], late, row["trusted"] == "yes")
    raise ValueError(f"the page has no row for {case}")


def row(case: Case, kernel: Measured, seeds: Sequence[int] = SEEDS) -> dict[str, object]:
    """Simulate one case with the seeds of the kernel's runs: medians."""
    runs = [simulated(case.scenario, seed, draw) for seed in seeds for draw in range(DRAWS)]
    ours = [run["goodput_mbps"] for run in runs]
    our = statistics.median(ours)
    return {
        "links": case.links,
        "congestion": case.congestion,
        "buffers": case.buffers,
        "event": case.event,
        "simulated": our,
        "simulated range": f"{min(ours):.2f} to {max(ours):.2f}",
        "measured": kernel.goodput_mbps,
        "measured range": kernel.of_runs,
        "difference %": 100 * (our / kernel.goodput_mbps - 1),
        "late ms": kernel.late_ms,
        "trusted": kernel.trusted,
    }


def compared(chosen: Sequence[Case], kernel: Callable[[Case], Measured] = measure) -> pl.DataFrame:
    """Simulate cases, and measure them or look their measurements up."""
    rows = []
    with progress("kernel", len(chosen)) as update:
        for number, case in enumerate(chosen, start=1):
            rows.append(row(case, kernel(case)))
            update(number)
    return pl.DataFrame(rows)


def summary(found: pl.DataFrame) -> pl.DataFrame:
    """Return the median and the worst difference of the credible rows."""
    trusted = found.filter("trusted").with_columns(pl.col("difference %").abs().alias("off"))
    worst = trusted.sort("off").tail(1)
    return pl.DataFrame(
        {
            "scenarios": [found.height],
            "trusted": [trusted.height],
            "median of the differences %": [trusted["off"].median()],
            "worst %": [worst["difference %"].item()],
            "below 5 %": [trusted.filter(pl.col("off") < 5).height],
            "below 15 %": [trusted.filter(pl.col("off") < 15).height],
        }
    )


def tables(traces: Sequence[str], kernel: Callable[[Case], Measured]) -> list[Table]:
    """Return the kernel's tables, which takes as long as all scenarios together."""
    found = compared(list(cases(traces)), kernel)
    formats = {"simulated": ".2f", "measured": ".2f", "difference %": "+.1f", "late ms": ".2f"}
    percent = {"median of the differences %": ".1f", "worst %": "+.1f"}
    return [
        Table("kernel", "Goodput in Mbit/s, this kernel beside the simulator", found, formats),
        Table("kernel-summary", "Differences to this kernel", summary(found), percent),
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument(
        "traces", nargs="*", help="two of two links each, or none", metavar="TRACE"
    )
    parser.add_argument("--simulate", action="store_true", help="measure nothing anew")
    given = parser.parse_args()
    if len(given.traces) not in {0, 4}:
        parser.error("four traces are given, or none")
    made = tables(given.traces, as_on_the_page if given.simulate else measure)
    for table in made:
        table.print()
    write_into_pages(made)
