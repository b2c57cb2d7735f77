"""The gateway's tunnel, simulated and on the testbed.

    python tests/agreement/tunnel.py [RUNS]

One TCP connection with cubic through the tunnel (`striped-tcp` with `device = "tunnel"`), with
each scheduler, over six sets of links. Goodput over the sum of the link rates, 12 s from 3 s,
medians of some runs (default 3), and one of 20 s from 20 s. Needs root, and four minutes per run.
"""

import statistics
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import Any

import polars as pl

import linux
import ropewalk
from both_sides import on_testbed
from gateway import CASES, TIMES, rates
from ropewalk.cli.progress import progress
from tables import ROOT, Table, reference, write_into_pages

SCHEDULERS = ("earliest-arrival", "weighted", "round-robin")
IN_TURN = SCHEDULERS[1:]
BAND = 10  # per cent
SETTLED = {"duration": "40 s", "warmup": "20 s"}  # a slow start that ended early is over by then
REFERENCE = "tunnel-testbed.csv"


def scenario(links: str, scheduler: str, settled: bool = False) -> ropewalk.Scenario:
    """Return a case's links under the tunnel."""
    times = SETTLED if settled else TIMES
    keys = {"transport.device": "tunnel", "transport.scheduler": scheduler, **times}
    return linux.scenario("+".join(CASES[links]), "striped-tcp", "cubic", "16M", **keys)


def simulated(links: str, scheduler: str, settled: bool = False, runs: int = 3) -> float:
    """Return the median of simulated runs, over the sum of the rates."""
    results = ropewalk.simulate(scenario(links, scheduler, settled), runs=runs)
    return statistics.median(run["goodput_mbps"] for run in results.runs) / rates(links)


def measured(job: tuple[str, str, str | None, bool, int]) -> dict[str, Any]:
    """Return a run on the testbed, repeated if the links were late."""
    links, scheduler, congestion, settled, seed = job
    chosen = scenario(links, scheduler, settled)
    run: dict[str, Any] = on_testbed(chosen, seed, congestion).runs[0]
    return {
        "links": links,
        "scheduler": scheduler,
        "congestion": congestion or "cubic",
        "settled": settled,
        "seed": seed,
        "fraction_of_link_rate": round(run["goodput_mbps"] / rates(links), 4),
        "late_ms": round(run["emulator"]["lateness_ms"]["p99"], 3),
        "trusted": run["emulator"]["trusted"],
    }


def measure(runs: int) -> pl.DataFrame:
    """Measure everything on the testbed: one row per run."""
    # BBR, which the simulator lacks, with the default scheduler.
    kinds = [*((scheduler, None) for scheduler in SCHEDULERS), (SCHEDULERS[0], "bbr")]
    jobs = [
        (links, *kind, False, seed)
        for seed, links, kind in product(range(1, runs + 1), CASES, kinds)
    ]
    jobs += [(*case, None, True, 1) for case in product(CASES, IN_TURN)]
    rows = []
    # Two at a time, as for the other tables of the gateway.
    with ThreadPoolExecutor(2) as pool, progress("testbed", len(jobs)) as update:
        for number, row in enumerate(pool.map(measured, jobs), start=1):
            rows.append(row)
            update(number)
    return pl.DataFrame(rows)


def known() -> pl.DataFrame:
    """Return stored runs of this machine's kernel."""
    return reference(REFERENCE)


def fractions(
    found: pl.DataFrame, links: str, scheduler: str, congestion: str, settled: bool = False
) -> pl.Series:
    kind: dict[str, Any] = {
        "links": links,
        "scheduler": scheduler,
        "congestion": congestion,
        "settled": settled,
    }
    return found.filter(**kind)["fraction_of_link_rate"]


def measured_fraction(links: str, scheduler: str, settled: bool) -> float:
    """Return the median of stored runs with cubic."""
    median = fractions(known(), links, scheduler, "cubic", settled).median()
    assert isinstance(median, float)
    return median


def compared(found: pl.DataFrame) -> pl.DataFrame:
    """Return simulated results next to medians of measured ones."""
    rows = []
    for links, scheduler in product(CASES, SCHEDULERS):
        cubic, bbr = (fractions(found, links, scheduler, name) for name in ("cubic", "bbr"))
        ours, theirs = simulated(links, scheduler), cubic.median()
        rows.append(
            {
                "links": links,
                "scheduler": scheduler,
                "simulated": ours,
                "measured": theirs,
                "lowest": cubic.min(),
                "highest": cubic.max(),
                "difference %": 100 * (ours / theirs - 1),
                "bbr, measured": bbr.median(),
            }
        )
    return pl.DataFrame(rows)


def compared_settled(found: pl.DataFrame) -> pl.DataFrame:
    """Return simulated and measured results long after slow start."""
    rows = []
    for links, scheduler in product(CASES, IN_TURN):
        theirs = fractions(found, links, scheduler, "cubic", settled=True).median()
        ours = simulated(links, scheduler, settled=True, runs=1)
        rows.append(
            {
                "links": links,
                "scheduler": scheduler,
                "simulated": ours,
                "measured": theirs,
                "difference %": 100 * (ours / theirs - 1),
            }
        )
    return pl.DataFrame(rows)


def tables(found: pl.DataFrame | None = None) -> list[Table]:
    """Return both tables, by default of stored runs."""
    found = known() if found is None else found
    formats = dict.fromkeys(("simulated", "measured", "lowest", "highest", "bbr, measured"), ".3f")
    formats["difference %"] = "+.1f"
    title = "The tunnel's goodput over the sum of the link rates"
    return [
        Table("tunnel", title, compared(found), formats),
        Table("tunnel-settled", f"{title}, 20 s from 20 s", compared_settled(found), formats),
    ]


if __name__ == "__main__":
    if len(sys.argv) > 2:
        sys.exit(__doc__)
    runs = measure(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
    runs.write_csv(ROOT / "tests/reference" / REFERENCE)
    made = tables(runs)
    for each in made:
        each.print()
    write_into_pages(made)
