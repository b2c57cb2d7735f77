"""Intervals of the testbed's own error: runs with busy loops, and without them.

    python tests/agreement/own_error.py [RUNS]

A number measured next to busy loops has an interval for its undisturbed value. This script
compares it with the range of runs without busy loops. Three runs take ten minutes on an otherwise
idle machine.
"""

import multiprocessing
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import polars as pl

import ropewalk
from ropewalk.cli.progress import progress
from ropewalk.engines.testbed.own_error import bounds
from tables import ROOT, Table

RUNS = 3
BESIDE = (0, 1, 2, 8)  # busy loops per processor
SHORT = {"duration": "15 s", "warmup": "3 s"}
UNITS = {"goodput_mbps": "goodput, Mbit/s", "delay_ms.mean": "mean delay, ms"}


def cases() -> dict[str, ropewalk.Scenario]:
    """Return the scenarios by name: bulk data over two links, and messages over one."""
    text = (ROOT / "scenarios/start/two-links.toml").read_text()
    bulk = ropewalk.Scenario(text.replace('size = "20 MB"', ""), name="two-links.toml")
    messages = """
        [[link]]
        name = "dsl"
        rate = "16 Mbit/s"
        delay = "20 ms"
        [traffic]
        kind = "cbr"
        rate = "8 Mbit/s"
    """
    return {
        "bulk, MPTCP": bulk.with_(SHORT),
        "bulk, TCP": bulk.with_({"transport.protocol": "tcp", **SHORT}),
        "8 Mbit/s, TCP": ropewalk.Scenario(messages, name="messages.toml").with_(SHORT),
    }


@contextmanager
def busy(loops: int) -> Iterator[None]:
    ended = multiprocessing.Event()
    processes = [multiprocessing.Process(target=_spin, args=(ended,)) for _ in range(loops)]
    for process in processes:
        process.start()
    try:
        yield
    finally:
        ended.set()
        for process in processes:
            process.join()


def _spin(ended) -> None:  # type: ignore[no-untyped-def]
    while not ended.is_set():
        pass


def compared(runs: int) -> pl.DataFrame:
    """Run all cases without and with busy loops; one row per case, loops, run and number."""
    rows = []
    chosen = [(name, loops) for name in cases() for loops in BESIDE]
    quiet: dict[tuple[str, str], list[float]] = {}
    with progress("own error", len(chosen)) as update:
        for number, (name, loops) in enumerate(chosen, start=1):
            with busy(loops * (os.cpu_count() or 1)):
                found = ropewalk.testbed(cases()[name], runs=runs).runs
            for run in found:
                measured = {"goodput_mbps": run["goodput_mbps"]}
                measured["delay_ms.mean"] = run["delay_ms"]["mean"]
                for key, (low, high) in bounds(run["own_error"]).items():
                    if key not in UNITS:
                        continue
                    of = quiet.setdefault((name, key), [])
                    if not loops:
                        of.append(measured[key])
                    rows.append(
                        {
                            "traffic": name,
                            "loops": loops,
                            "number": UNITS[key],
                            "measured": measured[key],
                            "low": low,
                            "high": high,
                            "disturbed": run["own_error"]["disturbed"],
                            "quiet from": min(of),
                            "quiet to": max(of),
                        }
                    )
            update(number)
    ends = pl.DataFrame(rows)
    over = ("traffic", "number")
    # The range of all quiet runs, which the first of them did not know.
    return ends.with_columns(
        pl.col("quiet from").min().over(over), pl.col("quiet to").max().over(over)
    ).with_columns(
        meets=(pl.col("low") <= pl.col("quiet to")) & (pl.col("high") >= pl.col("quiet from"))
    )


def summary(found: pl.DataFrame) -> pl.DataFrame:
    """Return how often intervals meet the quiet range, by loops and number."""
    width = 100 * (pl.col("high") - pl.col("low")) / pl.col("measured")
    off = (pl.col("measured") < pl.col("quiet from")) | (pl.col("measured") > pl.col("quiet to"))
    return found.group_by("loops", "number", maintain_order=True).agg(
        pl.len().alias("rows"),
        pl.col("disturbed").sum(),
        off.sum().alias("measured elsewhere"),
        pl.col("meets").sum().alias("intervals meet"),
        width.median().alias("median width %"),
    )


def tables(runs: int = RUNS) -> list[Table]:
    """Return numbers with intervals, and how often they meet the quiet range."""
    found = compared(runs)
    digits = dict.fromkeys(("measured", "low", "high", "quiet from", "quiet to"), ".2f")
    return [
        Table("own-error-runs", "Numbers of the testbed beside busy loops", found, digits),
        Table(
            "own-error", "Intervals beside busy loops", summary(found), {"median width %": ".1f"}
        ),
    ]


if __name__ == "__main__":
    given = sys.argv[1:]
    if len(given) > 1 or not all(each.isdecimal() and int(each) for each in given):
        sys.exit(__doc__)
    for table in tables(*map(int, given)):
        table.print()
