"""The gateway's client over emulated links: beside each link alone and the kernel's MPTCP.

    python tests/agreement/client.py [PART]... [--runs 3] [--scenarios 10] [--write]

PART is `goodput` (a download beside a call, and a QUIC flow), `gaps` (failures of a link) or
`relays` (a relay is killed). Medians of some runs. Needs root, real time (20 minutes for
goodput, six for gaps, one for relays), and aioquic. `make client` builds the programs.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count, islice, pairwise
from pathlib import Path
from typing import Any

import polars as pl

import random_scenarios
import ropewalk
import scenario_survey
from gateway import CASES
from ropewalk.cli.progress import progress
from tables import ROOT, Table, write_into_pages

SECONDS = 9
WARMUP_S = 3
STEP_S = 0.1
MAX_MBPS = 60.0
"""Largest sum of rates for QUIC: Python's takes a processor for each end at more."""
ROWS = ROOT / "results/client.json"

Found = dict[str, Any]


@dataclass(frozen=True)
class LinkSet:
    """Links, and the scenario's text."""

    name: str
    scenario: ropewalk.Scenario
    best: str
    """Link with the highest goodput of TCP alone, simulated."""
    least_ms: float
    """Least delay of the quickest link."""


def program(name: str) -> Path:
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / name


def between(scenario: ropewalk.Scenario, method: str, seconds: float) -> Found:
    """Run a method of client_ends.py at the client's end of the scenario's links."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scenario.toml"
        file.write_text(scenario.text)
        for name, text in scenario.files.items():
            (Path(folder) / name).write_text(text)
        ends = Path(__file__).with_name("client_ends.py")
        command = [program("examples/between"), file, sys.executable, ends, method, str(seconds)]
        environment = {**os.environ, "GATEWAY": str(program("ropewalk-gateway"))}
        done = subprocess.run(
            command,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120 + 2 * seconds,
            check=False,
        )
    if done.returncode != 0:
        raise RuntimeError(f"{method}: {done.stderr[-2000:]}")
    found: Found = json.loads(done.stdout.splitlines()[-1])
    return found


def goodput(found: Found) -> float:
    """Return the goodput after the warm-up, in Mbit/s."""
    steps = found["steps"][round(WARMUP_S / STEP_S) :]
    return sum(steps) * 8e-6 / (len(steps) * STEP_S)


def call_p99(found: Found) -> float:
    """Return the 99th percentile of the call's delay after the warm-up, in ms."""
    delays = sorted(delay for at, delay, _ in found["call"] if at >= WARMUP_S)
    return delays[int(0.99 * len(delays))] if delays else float("inf")


def link_sets(scenarios: int) -> Iterator[LinkSet]:
    """Yield the fixed sets of links, and random scenarios with links that vary."""
    for case, links in CASES.items():
        text = f'duration = "60 s"\ntitle = "{case}"\n'
        for number, link in enumerate(links, start=1):
            rate, round_trip = link.split("/")
            text += f'[[link]]\nname = "l{number}"\nrate = "{rate} Mbit/s"\n'
            text += f'delay = "{float(round_trip) / 2} ms"\nqueue = "1 bdp"\n'
        text += '[transport]\nprotocol = "mptcp"\n'
        scenario = ropewalk.Scenario(text, name=case)
        rates = [float(link.split("/")[0]) for link in links]
        least = min(float(link.split("/")[1]) for link in links) / 2
        yield LinkSet(case, scenario, f"l{1 + rates.index(max(rates))}", least)
    every = (random_scenarios.random_scenario(seed) for seed in count())
    varying = (drawn for drawn in every if drawn.kind not in ("steady", "loss", "loss in bursts"))
    slow = (drawn for drawn in varying if drawn.scenario().capacity_mbps <= MAX_MBPS)
    for drawn in islice((drawn for drawn in slow if not drawn.crossing), scenarios):
        alone = {
            link.name: scenario_survey.goodput(drawn, **scenario_survey.alone(link.name))
            for link in drawn.links
        }
        best = max(alone, key=lambda name: alone[name])
        least = min(500 * link.round_trip_s for link in drawn.links)
        scenario = drawn.scenario(protocol="mptcp").with_({"duration": "60 s"})
        yield LinkSet(f"{drawn.seed}, {drawn.kind}", scenario, best, least)


def mptcp(links: LinkSet, seed: int) -> float:
    keys = {"duration": f"{SECONDS} s", "warmup": f"{WARMUP_S} s", "transport.subflow": "cubic"}
    sizes = {"transport.receive_buffer": "16 MiB", "transport.send_buffer": "16 MiB"}
    coupling = {"transport.congestion": "uncoupled"}
    scenario = links.scenario.with_({**keys, **sizes, **coupling})
    value: float = ropewalk.testbed(scenario, seed=seed).runs[0]["goodput_mbps"]
    return value


def measured_goodput(every: Sequence[LinkSet], runs: int) -> list[Found]:
    """Return a row for each run on a set of links; sets that vary are run once."""
    rows = []
    alone = "tcp-alone", "quic-alone"
    seeds = range(1, runs + 1)
    order = [(s, w) for s in seeds for w in every if s == 1 or w.name in CASES]
    with progress("client", len(order)) as update:
        for number, (seed, links) in enumerate(order):
            # Two at a time, but one of QUIC, which needs both processors.
            with ThreadPoolExecutor(2) as pool:
                kernel = pool.submit(mptcp, links, seed)
                tcp = pool.submit(between, links.scenario, f"{alone[0]}:{links.best}", SECONDS)
                found = {"mptcp": {"goodput": kernel.result()}, alone[0]: tcp.result()}
            found["client"] = between(links.scenario, "client", SECONDS)
            is_slow = links.scenario.capacity_mbps <= MAX_MBPS
            for method in ("client-quic", f"{alone[1]}:{links.best}") if is_slow else ():
                found[method.split(":")[0]] = between(links.scenario, method, SECONDS)
            rows.append({"links": links.name, "seed": seed, "least_ms": links.least_ms, **found})
            update(number + 1)
    return rows


def goodput_tables(rows: Sequence[Found]) -> list[Table]:
    """Return goodput, the call's delay and the share of good estimates of each set of links."""
    shown, estimates = [], []
    for name in dict.fromkeys(row["links"] for row in rows):
        of_links = [row for row in rows if row["links"] == name]

        def median(method: str, of_links: list[Found] = of_links) -> float | None:
            found = [row[method] for row in of_links if method in row]
            values = [one.get("goodput") or goodput(one) for one in found]
            return statistics.median(values) if values else None

        alone, quic = median("tcp-alone"), median("quic-alone")
        least = of_links[0]["least_ms"]
        shown.append(
            {
                "links": name,
                "client": median("client"),
                "MPTCP": median("mptcp"),
                "best link": alone,
                "client / best": ratio(median("client"), alone),
                "client, QUIC": median("client-quic"),
                "QUIC / best": ratio(median("client-quic"), quic),
                "call, ms": statistics.median(call_p99(row["client"]) for row in of_links) - least,
            }
        )
        near = [within for row in of_links for within in estimates_of(row)]
        estimates.append(
            {"links": name, "seconds": len(near), "within 15 %": statistics.mean(near)}
        )
    digits = dict.fromkeys(("client", "MPTCP", "best link", "client, QUIC", "call, ms"), ".1f")
    formats = digits | dict.fromkeys(("client / best", "QUIC / best"), ".2f")
    return [
        Table("client-goodput", "The client beside each link alone", pl.DataFrame(shown), formats),
        Table(
            "client-estimate",
            "Estimate of the best single link in `status`",
            pl.DataFrame(estimates),
            {"within 15 %": ".2f"},
        ),
    ]


def ratio(value: float | None, base: float | None) -> float | None:
    return value / base if value is not None and base else None


def estimates_of(row: Found) -> list[bool]:
    """Return for each second whether the estimate is within 15 % of TCP alone on the best link."""
    truth = row["tcp-alone"]["steps"]
    later_s = row["client"]["offset_s"] - row["tcp-alone"]["offset_s"]
    near = []
    for known in row["client"]["total"]:
        end = round((known["at_s"] + later_s) / STEP_S)
        alone = sum(truth[max(0, end - 10) : end]) * 8e-6
        estimate = known.get("fastest_receiving", {}).get("rate_mbps", 0.0)
        if known["at_s"] >= WARMUP_S and end <= len(truth) and alone > 0:
            near.append(abs(estimate / alone - 1) <= 0.15)
    return near


FAILURES = {
    "silent for 5 s": 'down = [["8 s", "13 s"]]',
    "flaps every 5 s": 'down = [["5 s", "10 s"], ["15 s", "20 s"], ["25 s", "30 s"]]',
    "falls from 50 to 2 Mbit/s": 'trace = "falls.trace"',
}


def failing(failure: str) -> ropewalk.Scenario:
    """Return a scenario of two links; the faster one fails."""
    keys = FAILURES[failure]
    rate = "" if "trace" in keys else 'rate = "50 Mbit/s"\n'
    text = 'duration = "60 s"\n[[link]]\nname = "l1"\n' + rate + keys + "\n"
    text += 'delay = "10 ms"\nqueue = "200 packets"\n[[link]]\nname = "l2"\nrate = "10 Mbit/s"\n'
    text += 'delay = "30 ms"\nqueue = "1 bdp"\n[transport]\nprotocol = "mptcp"\n'
    # A packet each 0.24 ms, and from 8 s on each 6 ms.
    times = [round(n * 0.24) for n in range(int(8000 / 0.24))] + list(range(8000, 60000, 6))
    files = {"falls.trace": "".join(f"{at}\n" for at in times)} if "trace" in keys else {}
    return ropewalk.Scenario(text, name=failure, files=files)


def gaps(runs: int) -> list[Table]:
    """Return the longest time without a byte, and without a datagram of a call."""
    rows = []
    for failure in (*FAILURES, "returns with another address"):
        row: Found = {"failure": failure}
        base = failure if failure in FAILURES else "silent for 5 s"
        change = "" if failure in FAILURES else "+address"
        for method in ("proxy", "tunnel", "client"):
            with ThreadPoolExecutor(2) as pool:
                jobs = [
                    pool.submit(between, failing(base), method + change, 26.0) for _ in range(runs)
                ]
                found = [job.result() for job in jobs]
            row[f"{method}, TCP ms"] = statistics.median(map(longest_pause, found))
            if method != "proxy":
                row[f"{method}, UDP ms"] = statistics.median(map(longest_silence, found))
        rows.append(row)
    formats = dict.fromkeys(list(rows[0])[1:], ".0f")
    return [Table("client-gaps", "A link fails", pl.DataFrame(rows), formats)]


def longest_pause(found: Found) -> float:
    """Return the longest time without a byte of the download after the warm-up, in ms."""
    longest = run = 0
    for step in found["steps"][round(WARMUP_S / STEP_S) :]:
        run = 0 if step else run + 1
        longest = max(longest, run)
    return longest * STEP_S * 1e3


def longest_silence(found: Found) -> float:
    """Return the longest time without a datagram of the call after the warm-up, in ms."""
    times = [at for at, _, _ in found["call"] if at >= WARMUP_S]
    return 1e3 * max((b - a for a, b in pairwise(times)), default=float("inf"))


def relays(runs: int) -> list[Table]:
    """Return how long TCP and UDP pause when the relay is killed and a second one takes over."""
    case = link_sets(0)
    next(case)
    links = next(case)
    found = [between(links.scenario, "relays", 20) for _ in range(runs)]
    rows = [
        {
            "run": number,
            "new connection, s": each["new_s"],
            "call, s": longest_silence(each) / 1e3,
        }
        for number, each in enumerate(found, start=1)
    ]
    formats = dict.fromkeys(("new connection, s", "call, s"), ".2f")
    return [Table("client-relays", "The relay is killed", pl.DataFrame(rows), formats)]


def chosen(links: LinkSet, only: str | None) -> bool:
    return only is None or (links.name in CASES) == (only == "fixed")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", nargs="*", choices=["goodput", "gaps", "relays"], metavar="PART")
    parser.add_argument("--runs", type=int, default=3, help="of each; 3 if not given")
    parser.add_argument("--scenarios", type=int, default=10, help="how many that vary; 10")
    parser.add_argument(
        "--only", choices=["fixed", "varying"], help="goodput of these; others from the last run"
    )
    parser.add_argument("--write", action="store_true", help="renew docs/agreement/client.md, too")
    options = parser.parse_args()
    parts = options.part or ["goodput", "gaps", "relays"]
    tables = []
    if "goodput" in parts:
        every = [links for links in link_sets(options.scenarios) if chosen(links, options.only)]
        names = {links.name for links in every}
        before = json.loads(ROWS.read_text()) if options.only else []
        rows = [row for row in before if row["links"] not in names]
        rows += measured_goodput(every, options.runs)
        ROWS.parent.mkdir(exist_ok=True)
        ROWS.write_text(json.dumps(rows) + "\n")
        tables += goodput_tables(rows)
    if "gaps" in parts:
        tables += gaps(options.runs)
    if "relays" in parts:
        tables += relays(options.runs)
    for each in tables:
        each.print()
    if options.write:
        write_into_pages(tables)


if __name__ == "__main__":
    main()
