"""The gateway on varying links of the testbed, compared with MPTCP, TCP and the simulator.

    python tests/agreement/varying.py [--runs 3] [--scenarios 30]

Named cases (jitter, another's TCP), and random scenarios with at most `MAX_MBPS`, the testbed's
limit: goodput of `aggregation`, MPTCP, and TCP on the best link; medians of some runs. Needs root
and real time: with three runs, ten minutes for the cases and twenty for thirty random
scenarios.
"""

import argparse
import statistics
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count, islice, product
from typing import Any

import polars as pl

import random_scenarios
import ropewalk
import scenario_survey
from both_sides import measured
from ropewalk.cli.progress import progress
from ropewalk.scenario import Value
from tables import ROOT, Table, write_into_pages

MAX_MBPS = 120.0
REFERENCE = "varying-testbed.csv"
METHODS = ("aggregation", "MPTCP", "best link")
SIZES: dict[str, Value] = {"receive_buffer": "4 MiB", "send_buffer": "4 MiB"}
TRANSPORT: dict[str, dict[str, Value]] = {
    "aggregation": scenario_survey.transport("aggregation 4 MiB"),
    "MPTCP": scenario_survey.MPTCP | SIZES,
    "best link": scenario_survey.alone("l1") | SIZES,
}


@dataclass(frozen=True)
class Case:
    """Links as rate in Mbit/s, round trip and jitter in ms, symmetric; and cross traffic."""

    links: tuple[tuple[float, float, float], ...]
    has_competitor: bool = False

    def scenario(self, method: str) -> ropewalk.Scenario:
        """Return its scenario with a method, with 4 MiB of buffers."""
        lines = ['duration = "15 s"', 'warmup = "3 s"']
        for number, (rate, round_trip, jitter) in enumerate(self.links, start=1):
            lines += [
                f'[[link]]\nname = "l{number}"\nrate = "{rate} Mbit/s"',
                f'delay = "{round_trip / 2} ms"\njitter = "{jitter} ms"\nqueue = "1 bdp"',
            ]
        lines.append("[transport]")
        lines += [
            f"{key} = {random_scenarios.toml_entry(value)}"
            for key, value in TRANSPORT[method].items()
        ]
        if self.has_competitor:
            lines.append('[[competitor]]\nname = "other"\nprotocol = "tcp"\npath = "l1"')
        return ropewalk.Scenario("\n".join(lines) + "\n", name="case")


CASES = {
    "10/80 ± 30 + 5/60": Case(((10, 80, 30), (5, 60, 0))),
    "10/80 ± 30, twice": Case(((10, 80, 30), (10, 80, 30))),
    "30/50 ± 20 + 10/20": Case(((30, 50, 20), (10, 20, 0))),
    "20/20 with another's TCP + 10/60": Case(((20, 20, 0), (10, 60, 0)), has_competitor=True),
}


@dataclass(frozen=True)
class Job:
    """A row's scenario with a method."""

    row: str
    method: str
    scenario: ropewalk.Scenario

    def simulated(self, runs: int) -> float:
        """Return the median goodput of simulated runs, in Mbit/s."""
        found = ropewalk.simulate(self.scenario, runs=runs).runs
        return statistics.median(run["goodput_mbps"] for run in found)

    def measured(self, seed: int) -> dict[str, Any]:
        """Return a run on the testbed, repeated if the links were late."""
        run = measured(self.scenario, seed)
        others = [flow["goodput_mbps"] for flow in run.get("competitors", [])]
        return {
            "row": self.row,
            "method": self.method,
            "seed": seed,
            "goodput_mbps": round(run["goodput_mbps"], 3),
            "others_mbps": round(sum(others), 3) if others else None,
            "late_ms": round(run["emulator"]["lateness_ms"]["p99"], 3),
            "trusted": run["emulator"]["trusted"],
        }


def case_jobs() -> Iterator[Job]:
    for (name, case), method in product(CASES.items(), METHODS):
        yield Job(name, method, case.scenario(method))


def random_jobs(wanted: int) -> Iterator[Job]:
    """Yield the first random scenarios within the testbed's limit."""
    every = (random_scenarios.random_scenario(seed) for seed in count())
    slow = (drawn for drawn in every if drawn.scenario().capacity_mbps <= MAX_MBPS)
    for drawn in islice(slow, wanted):
        name = f"{drawn.seed}, {drawn.kind}"
        for method in METHODS[:2]:
            yield Job(name, method, drawn.scenario(**TRANSPORT[method]))
        alone = [
            Job(name, METHODS[2], drawn.scenario(**scenario_survey.alone(link.name), **SIZES))
            for link in drawn.links
        ]
        yield max(alone, key=lambda job: job.simulated(1))


def measure(jobs: list[Job], runs: int) -> pl.DataFrame:
    """Measure everything on the testbed: one row per run."""
    rows = []
    every = list(product(range(1, runs + 1), jobs))
    # Two at a time: each takes part of a processor, and more would make links late.
    with ThreadPoolExecutor(2) as pool, progress("testbed", len(every)) as update:
        found = pool.map(lambda each: each[1].measured(each[0]), every)
        for number, row in enumerate(found, start=1):
            rows.append(row)
            update(number)
    return pl.DataFrame(rows, infer_schema_length=None)


def compared(found: pl.DataFrame, jobs: list[Job], runs: int) -> pl.DataFrame:
    """Return simulated results next to medians of measured ones, in Mbit/s."""
    rows: dict[str, dict[str, Any]] = {}
    for job in jobs:
        row = rows.setdefault(job.row, {"links": job.row})
        runs_of = found.filter(row=job.row, method=job.method)
        row[job.method] = runs_of["goodput_mbps"].median()
        if job.method == "aggregation":
            row["aggregation, simulated"] = job.simulated(runs)
        others = runs_of["others_mbps"].median()
        if others is not None:
            row[f"other TCP, next to {job.method}"] = others
    return pl.DataFrame(list(rows.values()), infer_schema_length=None)


def table(name: str, title: str, frame: pl.DataFrame) -> Table:
    return Table(name, title, frame, dict.fromkeys(frame.columns[1:], ".2f"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3, help="of each; 3 if not given")
    parser.add_argument("--scenarios", type=int, default=30, help="how many; 30 if not given")
    options = parser.parse_args()
    cases, random = list(case_jobs()), list(random_jobs(options.scenarios))
    found = measure(cases + random, options.runs)
    found.write_csv(ROOT / "tests/reference" / REFERENCE)
    tables = made_tables(found, cases, random, options.runs)
    for each in tables:
        each.print()
    write_into_pages(tables)


def made_tables(
    found: pl.DataFrame, cases: list[Job], random: list[Job], runs: int
) -> list[Table]:
    title = "Goodput on links that vary, Mbit/s"
    return [
        table("varying", title, compared(found, cases, runs)),
        table("varying-random", f"{title}: random scenarios", compared(found, random, runs)),
    ]


if __name__ == "__main__":
    main()
