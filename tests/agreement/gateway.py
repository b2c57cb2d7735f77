"""The gateway over emulated links, compared with the kernel's MPTCP and TCP.

    python tests/agreement/gateway.py [RUNS]

Goodput over the sum of the link rates, 12 s from 3 s, and the effect of an outage: medians of some
runs (default 5; one where the kernel's runs are alike). Needs root, and ten minutes per run. `make
goodput` builds the programs.
"""

import os
import re
import statistics
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import repeat
from pathlib import Path

import polars as pl

import linux
import ropewalk
from both_sides import on_testbed
from kernel import LINKS
from ropewalk.cli.progress import progress
from tables import ROOT, Table, write_into_pages

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
DARK = (5, 8)  # outage, in seconds
OUTAGES = (("20/20 + 20/20", 1), ("20/20 + 5/200", 1), ("20/20 + 5/200", 2))
TITLES = {
    "goodput": "Goodput over the sum of the link rates",
    "goodput-loss": f"The same with {LOSS} loss on the first link",
    "outages": f"A link down for {DARK[1] - DARK[0]} s: the longest time without a byte",
}


@dataclass
class Cell(ABC):
    """Part of a table's row, and results of its runs by column."""

    table: str
    row: str
    name: str
    scenario: ropewalk.Scenario
    most_runs: int | None = None
    found: dict[str, list[float]] = field(default_factory=dict)

    @abstractmethod
    def once(self, seed: int) -> dict[str, float]:
        """Run it once, and return its columns."""

    def run(self, seed: int) -> None:
        """Run it again, unless it has enough runs."""
        if self.most_runs is None or seed <= self.most_runs:
            for column, value in self.once(seed).items():
                self.found.setdefault(column, []).append(value)

    def measured(self, seed: int) -> ropewalk.Results:
        """Run the scenario on the testbed, again if the links were late."""
        return on_testbed(self.scenario, seed)


class Goodput(Cell):
    """Goodput over the sum of rates."""

    def once(self, seed: int) -> dict[str, float]:
        goodput: float = self.measured(seed).runs[0]["goodput_mbps"]
        return {self.name: goodput / rates(self.row)}


class Tunnel(Cell):
    """The same for the tunnel's own program, since scenarios lack its scheduler."""

    def once(self, seed: int) -> dict[str, float]:
        congestion = self.name.removeprefix("tunnel ")
        line = printed("tunnel_goodput", self.row, congestion=congestion)
        return {self.name: float(line.split()[-1])}


class Outage(Cell):
    """Longest time without a byte of an upload."""

    def once(self, seed: int) -> dict[str, float]:
        gap: float = self.measured(seed).runs[0]["longest_gap_s"]
        return {f"{self.name}, ms": 1000 * gap}


class ProxyOutage(Cell):
    """The same for a download, and the time until the link is used again."""

    def once(self, seed: int) -> dict[str, float]:
        case, link = self.row.split(", link ")
        line = printed("outage", case, dark=str(int(link) - 1))
        columns = ("proxy, ms", "link delivers, ms", "both deliver, ms")
        times = re.findall(r"(\d+) ms", line)
        return {column: float(time) for column, time in zip(columns, times, strict=True)}


def printed(program: str, case: str, **words: str) -> str:
    """Return the last line that a program of benches/over-links prints in a run."""
    release = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
    arguments = {
        "gateway": str(release / "ropewalk-gateway"),
        "links": ",".join(CASES[case]),
        "runs": "1",
        **words,
    }
    command = [str(release / program), *(f"{k}={v}" for k, v in arguments.items())]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1]


def rates(case: str) -> float:
    """Return the sum of the rates of a case's links."""
    return sum(float(link.split("/")[0]) for link in CASES[case])


def made(case: str, method: str, buffer: str = "4M", **keys: str) -> ropewalk.Scenario:
    """Return a case's links with a method: cubic, with that receive buffer."""
    changes = {**TIMES, **(GATEWAY if method == "aggregation" else {}), **keys}
    return linux.scenario("+".join(CASES[case]), method, "cubic", buffer, **changes)


def alone(case: str, number: int, **keys: str) -> ropewalk.Scenario:
    """Return TCP over one link of a case."""
    return made(case, "tcp", **keys).with_({"transport.paths": [f"l{number}"]})


def second(case: str) -> int:
    """Return the index of the fastest link of a case except for its first."""
    others = CASES[case][1:]
    return 2 + max(range(len(others)), key=lambda link: float(others[link].split("/")[0]))


def cells() -> Iterator[Cell]:
    for case in CASES:
        for buffer in ("4M", "1M"):
            size = linux.SIZES[buffer]
            yield Goodput("goodput", case, f"proxy {size}", made(case, "aggregation", buffer))
            kernel = made(case, "mptcp", buffer)
            yield Goodput("goodput", case, f"MPTCP {size}", kernel, most_runs=1)
        for congestion in ("cubic", "bbr"):
            yield Tunnel("goodput", case, f"tunnel {congestion}", made(case, "tcp"))
        yield Goodput("goodput", case, "best link", alone(case, 1), most_runs=1)
    for case in CASES:
        lossy = {"link.l1.loss": LOSS}
        yield Goodput("goodput-loss", case, "proxy", made(case, "aggregation", **lossy))
        yield Goodput("goodput-loss", case, "MPTCP", made(case, "mptcp", **lossy))
        yield Goodput("goodput-loss", case, "lossy link", alone(case, 1, **lossy), most_runs=1)
        other = alone(case, second(case))
        yield Goodput("goodput-loss", case, "next link", other, most_runs=1)
    for case, link in OUTAGES:
        times = {f"link.l{link}.down": [[f"{second} s" for second in DARK]]}
        kernel = made(case, "mptcp").with_(times)
        row = f"{case}, link {link}"
        yield ProxyOutage("outages", row, "proxy", kernel)
        yield Outage("outages", row, "MPTCP", kernel, most_runs=1)


def tables(runs: int) -> list[Table]:
    """Measure all cells `runs` times, in turns, and return the tables."""
    every = list(cells())
    with progress("testbed", runs * len(every)) as update:
        for seed in range(1, runs + 1):
            # Two at a time: each takes a fifth of a processor, and more would make links late.
            with ThreadPoolExecutor(2) as pool:
                done = pool.map(Cell.run, every, repeat(seed))
                for number, _ in enumerate(done, start=1 + (seed - 1) * len(every)):
                    update(number)
    return [table(name, title, every) for name, title in TITLES.items()]


def table(name: str, title: str, every: list[Cell]) -> Table:
    rows: dict[str, dict[str, object]] = {}
    formats = {}
    for each in every:
        if each.table == name:
            row = rows.setdefault(each.row, {"links": each.row})
            for column, values in each.found.items():
                row[column] = statistics.median(values)
                formats[column] = ".0f" if column.endswith(", ms") else ".3f"
    return Table(name, title, pl.DataFrame(list(rows.values())), formats)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        sys.exit(__doc__)
    made_tables = tables(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
    for each in made_tables:
        each.print()
    write_into_pages(made_tables)
