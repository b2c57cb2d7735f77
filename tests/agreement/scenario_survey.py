"""`aggregation` and the tunnel in random scenarios, compared with MPTCP and TCP on each link.

    python tests/agreement/scenario_survey.py [--scenarios 1000] [--out DIR] [--json] [--write]

Goodput is in-order data after the first quarter of a run; with random losses, the median of five
runs. A scenario with asymmetric links is run in both directions, and the worse one counts.
"""

import argparse
import json
import os
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import random_scenarios
import ropewalk
import survey_report
from random_scenarios import RandomScenario
from ropewalk.cli.progress import progress
from ropewalk.scenario import Value
from survey_report import BUFFERS

WAYS = ("up", "down")
BOTH = "both ways"
RUNS_AT_RANDOM = 5
PROTOCOLS: dict[str, dict[str, Value]] = {
    "aggregation": {"protocol": "aggregation", "scheduler": "earliest-arrival"},
    "tunnel": {
        "protocol": "striped-tcp",
        "device": "tunnel",
        "scheduler": "earliest-arrival",
        "congestion": "cubic",
    },
}
CALL: dict[str, Value] = {
    "name": "call",
    "protocol": "gateway",
    "carries": "udp",
    "traffic": {"kind": "cbr", "message": "160 B", "rate": "64 kbit/s"},
}
DOWNLOAD: dict[str, Value] = {"name": "download", "protocol": "gateway"}
MPTCP: dict[str, Value] = {"protocol": "mptcp", "congestion": "uncoupled", "subflow": "cubic"}

Row = dict[str, Any]


def transport(method: str) -> dict[str, Value]:
    buffer = BUFFERS[method]
    sizes = {"receive_buffer": buffer, "send_buffer": buffer}
    return PROTOCOLS[method.split(maxsplit=1)[0]] | sizes


def alone(link: str) -> dict[str, Value]:
    """Return the keys of `[transport]` of TCP on a single link."""
    return {"protocol": "tcp", "paths": [link], "congestion": "cubic"}


def goodput(drawn: RandomScenario, **keys: Value) -> float:
    """Return the goodput in Mbit/s, a median where seeds differ."""
    scenario = drawn.scenario(**keys)
    runs = RUNS_AT_RANDOM if drawn.is_random else 1
    found = ropewalk.simulate(scenario, runs=runs, threads=1).runs
    # Includes the time after the last arrival.
    seconds = scenario.duration_s - scenario.warmup_s
    return statistics.median(run["delivered_bytes"] for run in found) * 8e-6 / seconds


def best_alone(drawn: RandomScenario, buffer: str) -> float:
    """Return the goodput of TCP on its best link."""
    best = 0.0
    for link in sorted(drawn.links, key=lambda link: -link.rate_mbps):
        # A made-up trace may exceed its link's rate for a while.
        if link.rate_mbps * 1.5 < best:
            break
        sizes: dict[str, Value] = {"receive_buffer": buffer, "send_buffer": buffer}
        best = max(best, goodput(drawn, **alone(link.name), **sizes))
    return best


def mptcp(drawn: RandomScenario) -> float:
    """Return the goodput of MPTCP with 4 MiB."""
    return goodput(drawn, **MPTCP, receive_buffer="4 MiB", send_buffer="4 MiB")


def call_delay(drawn: RandomScenario, *others: dict[str, Value]) -> float:
    """Return the 99th percentile of a call's delay beside other flows of the gateway, in ms.

    The least delay of the quickest link is subtracted.
    """
    run = ropewalk.simulate(drawn.scenario_of([CALL, *others]), threads=1).runs[0]
    call = run["flows"][0] if others else run
    least = min(1000 * link.round_trip_s / 2 for link in drawn.links)
    # Nothing arrives while all links are down.
    return call["delay_ms"]["p99"] - least if call["delay_ms"] else float("inf")


def measured(
    methods: Sequence[str], traces: Sequence[Path], known: dict[int, list[Row]], seed: int
) -> list[Row]:
    """Return a scenario's results in each direction; those of TCP and MPTCP may be known."""
    there = random_scenarios.random_scenario(seed, traces)
    back = there.mirrored()
    ways = {BOTH: there} if there == back else dict(zip(WAYS, (there, back), strict=True))
    rows = []
    for number, (way, drawn) in enumerate(ways.items()):
        if seed in known:
            row = dict(known[seed][number])
        else:
            row = {
                "seed": seed,
                "kind": drawn.kind,
                "way": way,
                "links": len(drawn.links),
                "duration_s": drawn.duration_s,
                "sum": drawn.scenario().capacity_mbps,
                "MPTCP": mptcp(drawn),
                "alone": {size: best_alone(drawn, size) for size in sorted({*BUFFERS.values()})},
            }
        row["call"] = {"alone": call_delay(drawn), "download": call_delay(drawn, DOWNLOAD)}
        row |= {method: goodput(drawn, **transport(method)) for method in methods}
        rows.append(row)
    return rows


def measured_all(
    seeds: Sequence[int], measure: Callable[[int], list[Row]], jobs: int
) -> Iterator[list[Row]]:
    """Yield the rows of each scenario, in order, and show the progress."""
    with ProcessPoolExecutor(jobs) as pool, progress("random scenarios", len(seeds)) as update:
        for finished, rows in enumerate(pool.map(measure, seeds), start=1):
            update(finished)
            yield rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scenarios", type=int, default=1000, help="how many (1000)")
    parser.add_argument("--first", type=int, default=0, help="seed of the first; 0 if not given")
    parser.add_argument("--only", type=int, nargs="+", metavar="SEED", help="only these seeds")
    parser.add_argument(
        "--methods", nargs="+", choices=BUFFERS, default=tuple(BUFFERS), metavar="METHOD"
    )
    parser.add_argument("--traces", type=Path, help="folder of measured traces (mahimahi's)")
    parser.add_argument("--known", type=Path, help="scenarios.json with MPTCP and TCP to take")
    parser.add_argument("--out", type=Path, default=Path("results/random-scenarios"))
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at a time")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead")
    parser.add_argument(
        "--write", action="store_true", help="renew docs/agreement/random-scenarios.md, too"
    )
    options = parser.parse_args()
    traces = measured_traces(parser, options.traces)
    known: dict[int, list[Row]] = {}
    if options.known:
        for row in json.loads(options.known.read_text())["scenarios"]:
            known.setdefault(row["seed"], []).append(row)
    seeds = options.only or range(options.first, options.first + options.scenarios)
    measure = partial(measured, tuple(options.methods), traces, known)
    rows = [row for drawn in measured_all(seeds, measure, options.jobs) for row in drawn]
    report = survey_report.Report(rows, tuple(options.methods))
    report.write(options.out, partial(scenario_of, traces))
    if options.write:
        report.write_into_pages()
    if options.json:
        json.dump(report.as_json(), sys.stdout)
        print()
    else:
        for table in report.tables():
            table.print()
        print(f"seeds {min(seeds)} to {max(seeds)}; rows, picture and the worst: {options.out}")


def scenario_of(traces: Sequence[Path], row: Row, method: str) -> ropewalk.Scenario:
    drawn = random_scenarios.random_scenario(row["seed"], traces)
    return (drawn.mirrored() if row["way"] == WAYS[1] else drawn).scenario(**transport(method))


def measured_traces(parser: argparse.ArgumentParser, folder: Path | None) -> tuple[Path, ...]:
    if folder is None:
        return ()
    files = (file for file in folder.glob("**/*") if file.is_file())
    traces = tuple(sorted(file for file in files if file.suffix != ".up"))
    if not traces:
        parser.error(f"--traces {folder}: no file is there")
    return traces


if __name__ == "__main__":
    main()
