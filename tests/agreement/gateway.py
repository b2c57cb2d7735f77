"""The gateway over emulated links, beside the kernel's MPTCP and TCP on the same links.

    python tests/agreement/gateway.py [RUNS]

Goodput over the sum of the link rates, 12 s from 3 s, the median of some runs (5 if it is not
said). It takes root and real time, a quarter of an hour for each of the runs. `make goodput`
builds what it needs.
"""

import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

import linux
import ropewalk
from kernel import ATTEMPTS, LINKS
from tables import ROOT, Table, write_into_page

CASES = {
    "20/20 + 20/20": ("20/20", "20/20"),
    "20/20 + 10/60": ("20/20", "10/60"),
    "20/20 + 5/200": ("20/20", "5/200"),
    "50/10 + 10/100": ("50/10", "10/100"),
    "four": LINKS[:4],
    "eight": LINKS,
}
TIMES = {"duration": "15 s", "warmup": "3 s"}
GATEWAY = {"transport.scheduler": "earliest-arrival"}
LOSS = "1 %"


@dataclass
class Cell:
    """A cell of a table: one scenario, and the goodput of its runs over the sum of rates."""

    table: str
    links: str
    column: str
    scenario: ropewalk.Scenario
    most_runs: int | None = None
    goodputs: list[float] = field(default_factory=list)

    def run(self, seed: int) -> None:
        """Run it once more, again where the links came late."""
        for _ in range(ATTEMPTS):
            (run,) = ropewalk.testbed(self.scenario, seed=seed).runs
            if run["emulator"]["trusted"]:
                break
        self.goodputs.append(run["goodput_mbps"] / rates(self.links))


@dataclass
class TunnelCell(Cell):
    """The same of the tunnel's own program, since scenarios have no such scheduler."""

    def run(self, seed: int) -> None:
        """Run it once more."""
        release = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
        program = release / "examples/tunnel_goodput"
        arguments = {
            "gateway": release / "ropewalk-gateway",
            "links": ",".join(CASES[self.links]),
            "congestion": self.column.removeprefix("tunnel "),
            "runs": 1,
        }
        words = [program, *(f"{key}={value}" for key, value in arguments.items())]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        self.goodputs.append(float(done.stdout.split()[-1]))


def rates(case: str) -> float:
    """Return the sum of the rates of a case's links."""
    return sum(float(link.split("/")[0]) for link in CASES[case])


def made(case: str, method: str, buffer: str = "4M", **keys: str) -> ropewalk.Scenario:
    """Return a case's links under a method: cubic, with that receive buffer."""
    changes = {**TIMES, **(GATEWAY if method == "bas" else {}), **keys}
    return linux.scenario("+".join(CASES[case]), method, "cubic", buffer, **changes)


def alone(case: str, number: int, **keys: str) -> ropewalk.Scenario:
    """Return TCP over one link of a case."""
    return made(case, "tcp", **keys).with_({"transport.paths": [f"l{number}"]})


def cells() -> Iterator[Cell]:
    """Yield what is measured."""
    for case in CASES:
        for method, name in (("bas", "proxy"), ("mptcp", "MPTCP")):
            for buffer in ("4M", "1M"):
                column = f"{name} {linux.SIZES[buffer]}"
                yield Cell("goodput", case, column, made(case, method, buffer))
        for congestion in ("cubic", "bbr"):
            yield TunnelCell("goodput", case, f"tunnel {congestion}", made(case, "tcp"))
        yield Cell("goodput", case, "best link", alone(case, 1), most_runs=1)
        lossy = {"link.l1.loss": LOSS}
        yield Cell("goodput-loss", case, "proxy", made(case, "bas", **lossy))
        yield Cell("goodput-loss", case, "MPTCP", made(case, "mptcp", **lossy))
        yield Cell("goodput-loss", case, "lossy link", alone(case, 1, **lossy))
        yield Cell("goodput-loss", case, "next link", alone(case, second(case)), most_runs=1)


def second(case: str) -> int:
    """Return the number of the fastest link of a case but for its first."""
    others = CASES[case][1:]
    return 2 + max(range(len(others)), key=lambda link: float(others[link].split("/")[0]))


def tables(runs: int) -> list[Table]:
    """Measure all cells `runs` times, in turns, and return what comes of it."""
    every = list(cells())
    for seed in range(1, runs + 1):
        for number, each in enumerate(every, start=1):
            if sys.stderr.isatty():
                note = f"\rrun {seed} of {runs}, {number} of {len(every)}"
                print(note, end="", file=sys.stderr, flush=True)
            if each.most_runs is None or seed <= each.most_runs:
                each.run(seed)
    if sys.stderr.isatty():
        print("\r", end="", file=sys.stderr)
    titles = {
        "goodput": "Goodput over the sum of the link rates",
        "goodput-loss": f"The same with {LOSS} loss on the first link",
    }
    return [table(name, title, every) for name, title in titles.items()]


def table(name: str, title: str, every: list[Cell]) -> Table:
    """Return one of the tables."""
    rows: dict[str, dict[str, object]] = {}
    columns = []
    for each in every:
        if each.table == name:
            row = rows.setdefault(each.links, {"links": each.links})
            row[each.column] = statistics.median(each.goodputs)
            columns.append(each.column)
    return Table(name, title, pl.DataFrame(list(rows.values())), dict.fromkeys(columns, ".3f"))


if __name__ == "__main__":
    if len(sys.argv) > 2:
        sys.exit(__doc__)
    measured = tables(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
    for each in measured:
        each.print()
    write_into_page(measured)
