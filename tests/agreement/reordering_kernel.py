"""Linux's response to reordering: simulated, and the kernel's on links that reorder.

    python tests/agreement/reordering_kernel.py [--simulate]

One TCP over the testbed's links, whose jitter reorders packets as the simulator's does: medians of
eleven runs, with the sender's nstat counters. The kernel's runs are stored in tests/reference, and
both tables in docs/agreement/reordering.md. Needs root, and ten seconds per run. With --simulate
the kernel's runs are read from tests/reference, which takes seconds.
"""

import argparse
import statistics
from functools import cache
from typing import Any

import polars as pl

import ropewalk
from both_sides import measured
from ropewalk.cli.progress import progress
from tables import ROOT, Table, write_into_pages

PAGE = ROOT / "docs/agreement/reordering.md"
REFERENCE = ROOT / "tests/reference/linux-reordering.csv"
RUNS = 11
# Mbit/s, one-way delay and jitter in ms.
CASES = ((50, 20, 1), (50, 20, 3), (50, 20, 10), (20, 40, 5), (10, 60, 20))
# The simulator's names of nstat counters, where they differ.
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
    """Return one TCP of profile linux over a link that reorders."""
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
    subflow = run["subflows"][0]
    named = {name: subflow[ours] for name, ours in OURS.items()}
    return {**subflow["nstat"], **named}


def measure() -> None:
    """Run all cases on the kernel, and write the runs into tests/reference, one per row."""
    rows = []
    with progress("kernel", len(CASES) * RUNS) as update:
        for case in CASES:
            named = dict(zip(("rate_mbps", "delay_ms", "jitter_ms"), case, strict=True))
            for seed in range(1, RUNS + 1):
                run = measured(scenario(case), seed)
                counted = run["kernel"]["counters"]["client"]
                of_run = {name: counted.get(name, 0) for name in COUNTERS}
                rows.append(named | {"goodput_mbps": round(run["goodput_mbps"], 3)} | of_run)
                update(len(rows))
    pl.DataFrame(rows).write_csv(REFERENCE)


def reference(case: Case) -> pl.DataFrame:
    """Return the kernel's stored runs of a case."""
    of = dict(zip(("rate_mbps", "delay_ms", "jitter_ms"), case, strict=True))
    return pl.read_csv(REFERENCE).filter(**of)


@cache
def simulated(case: Case) -> list[dict[str, Any]]:
    """Return as many simulated runs."""
    return ropewalk.simulate(scenario(case), runs=RUNS).runs


def goodput() -> pl.DataFrame:
    """Return goodput by case: medians, and the range of the kernel."""
    rows = []
    for case in CASES:
        rate_mbps, delay_ms, jitter_ms = case
        ours = statistics.median(run["goodput_mbps"] for run in simulated(case))
        theirs = reference(case)["goodput_mbps"].to_list()
        median = statistics.median(theirs)
        rows.append(
            {
                "link": f"{rate_mbps} Mbit/s, {delay_ms} ms",
                "jitter": f"{jitter_ms} ms",
                "simulated": ours,
                "kernel": median,
                "difference, %": 100 * (ours / median - 1),
                "kernel, lowest": min(theirs),
                "kernel, highest": max(theirs),
            }
        )
    return pl.DataFrame(rows)


def counters() -> pl.DataFrame:
    """Return medians of the counters, simulated and the kernel's, one column per case."""
    rows = []
    for name in COUNTERS:
        row: dict[str, object] = {"counter": name.removeprefix("TcpExt")}
        for case in CASES:
            ours = statistics.median(simulated_counters(run)[name] for run in simulated(case))
            theirs = statistics.median(reference(case)[name].to_list())
            row[f"{case[0]} Mbit/s, {case[2]} ms"] = f"{ours:.0f} / {theirs:.0f}"
        rows.append(row)
    return pl.DataFrame(rows)


def tables() -> list[Table]:
    found = goodput()
    tenths = dict.fromkeys(found.columns[2:], ".1f")
    return [
        Table("reordering-kernel", "Goodput in Mbit/s, reordering = linux", found, tenths),
        Table("counters", "Counters of the sender, simulated / kernel", counters()),
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--simulate", action="store_true", help="measure nothing anew")
    if not parser.parse_args().simulate:
        measure()
    made = tables()
    for table in made:
        table.print()
    write_into_pages(made, PAGE)
