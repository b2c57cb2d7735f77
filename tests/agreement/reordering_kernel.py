"""Linux's answer to reordering, simulated, beside the kernel on links that reorder.

    python tests/agreement/reordering_kernel.py [RUNS]

One TCP over the testbed's links, whose jitter lets packets overtake each other as the simulator's
does: medians of some runs (11 if it is not said), with the counters that nstat shows of the
sender. Both tables go into docs/reordering.md, and the kernel's runs into tests/reference, for the
tests of machines that cannot make them. It takes root and real time, ten seconds a run.
"""

import statistics
import sys
from functools import cache
from typing import Any

import polars as pl

import ropewalk
from both_sides import measured
from ropewalk.cli.progress import progress
from tables import ROOT, Table, write_into_pages

PAGE = ROOT / "docs/reordering.md"
REFERENCE = ROOT / "tests/reference/linux-reordering.csv"
RUNS = 11
# Mbit/s, one-way delay and jitter in ms.
CASES = ((50, 20, 1), (50, 20, 3), (50, 20, 10), (20, 40, 5), (10, 60, 20))
# The simulator's names of what nstat counts, where they differ.
OURS = {"TcpRetransSegs": "retransmissions", "TcpExtTCPSackRecovery": "fast_recoveries"}
COUNTERS = (
    *OURS,
    "TcpExtPAWSEstab",
    "TcpExtTCPPartialUndo",
    "TcpExtTCPFullUndo",
    "TcpExtTCPDSACKUndo",
    "TcpExtTCPLossUndo",
    "TcpExtTCPSpuriousRTOs",
)
Case = tuple[int, int, int]


def scenario(case: Case) -> ropewalk.Scenario:
    """One TCP of profile linux over a link that reorders."""
    rate_mbps, delay_ms, jitter_ms = case
    return ropewalk.Scenario(
        f"""
        duration = "10 s"
        [[link]]
        name = "link"
        rate = "{rate_mbps} Mbit/s"
        delay = "{delay_ms} ms"
        jitter = {{ amount = "{jitter_ms} ms", reorder = true }}
        [transport]
        protocol = "tcp"
        profile = "linux"
        reordering = "linux"
        """
    )


def simulated_counters(run: dict[str, Any]) -> dict[str, int]:
    """Return what nstat would show."""
    subflow = run["subflows"][0]
    named = {name: subflow[ours] for name, ours in OURS.items()}
    return {**subflow["nstat"], **named}


@cache
def both(runs: int) -> dict[Case, tuple[list[dict[str, Any]], list[dict[str, Any]]]]:
    """Return the runs of each case, simulated and measured."""
    found = {}
    with progress("kernel", len(CASES) * runs) as update:
        for number, case in enumerate(CASES):
            simulated = ropewalk.simulate(scenario(case), runs=runs).runs
            kernel = []
            for seed in range(1, runs + 1):
                kernel.append(measured(scenario(case), seed))
                update(number * runs + seed)
            found[case] = simulated, kernel
    return found


def goodput(runs: int) -> pl.DataFrame:
    """Return goodput by case: medians, and the least and most of the kernel."""
    rows = []
    for (rate_mbps, delay_ms, jitter_ms), (simulated, kernel) in both(runs).items():
        ours = statistics.median(run["goodput_mbps"] for run in simulated)
        theirs = [run["goodput_mbps"] for run in kernel]
        median = statistics.median(theirs)
        rows.append(
            {
                "link": f"{rate_mbps} Mbit/s, {delay_ms} ms",
                "jitter": f"{jitter_ms} ms",
                "simulated": ours,
                "kernel": median,
                "difference, %": 100 * (ours / median - 1),
                "kernel, least": min(theirs),
                "kernel, most": max(theirs),
            }
        )
    return pl.DataFrame(rows)


def counters(runs: int) -> pl.DataFrame:
    """Return medians of the counters, simulated and the kernel's, a column a case."""
    rows = []
    for name in COUNTERS:
        row: dict[str, object] = {"counter": name.removeprefix("TcpExt")}
        for (rate_mbps, _, jitter_ms), (simulated, kernel) in both(runs).items():
            ours = statistics.median(simulated_counters(run)[name] for run in simulated)
            theirs = statistics.median(
                run["kernel"]["counters"]["client"].get(name, 0) for run in kernel
            )
            row[f"{rate_mbps} Mbit/s, {jitter_ms} ms"] = f"{ours:.0f} / {theirs:.0f}"
        rows.append(row)
    return pl.DataFrame(rows)


def write_reference(runs: int = RUNS) -> None:
    """Write the kernel's runs, one a row."""
    rows = [
        {
            "rate_mbps": case[0],
            "delay_ms": case[1],
            "jitter_ms": case[2],
            "goodput_mbps": round(run["goodput_mbps"], 3),
            **{name: run["kernel"]["counters"]["client"].get(name, 0) for name in COUNTERS},
        }
        for case, (_, kernel) in both(runs).items()
        for run in kernel
    ]
    pl.DataFrame(rows).write_csv(REFERENCE)


def reference(case: Case) -> pl.DataFrame:
    """Return the kernel's runs of a case, as they were measured."""
    of = dict(zip(("rate_mbps", "delay_ms", "jitter_ms"), case, strict=True))
    return pl.read_csv(REFERENCE).filter(**of)


def tables(runs: int = RUNS) -> list[Table]:
    """Return the tables of the page."""
    found, counted = goodput(runs), counters(runs)
    tenths = dict.fromkeys(found.columns[2:], ".1f")
    return [
        Table("kernel", "Goodput in Mbit/s, Linux's answer", found, tenths),
        Table("counters", "Counters of the sender, simulated / kernel", counted),
    ]


if __name__ == "__main__":
    number = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    made = tables(number)
    for table in made:
        table.print()
    write_into_pages(made, PAGE)
    write_reference(number)
