"""Random scenarios on this machine's kernel (testbed), compared with the simulator.

    python tests/agreement/kernel_random.py [--simulate] [buffers | delays]

`buffers`: goodput of bulk data with small buffers. `delays`: delays of bulk data, of constant and
thin streams, and of the project's own scenarios. Each is run five times per side. In real time
each takes half an hour; with --simulate measured values are taken from the page, and the rest
takes a minute. A scenario is drawn from its seed alone.
"""

import argparse
import math
import random
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

import ropewalk
from both_sides import measured, simulated
from ropewalk.scenario import Value
from tables import ROOT, Table, read_from_pages, write_into_pages

SEEDS = range(1, 21)
RUNS = 5
BUFFERS = ("128 KiB", "256 KiB", "512 KiB", "1 MiB", "2 MiB", "4 MiB")
MAX_MBPS = 120.0  # of all links together: the testbed's limit on a shared machine
OWN = (
    "start/two-links",
    "video/wifi-lte",
)  # others have congestion controls that the kernel lacks
QUANTILES = ("mean", "p50", "p95", "p99")


@dataclass(frozen=True)
class Case:
    name: str
    links: str
    what: str
    scenario: ropewalk.Scenario


def buffers_case(seed: int) -> Case:
    """Return two to four links, both buffers of one size from 128 KiB to 4 MiB, cubic or reno."""
    draw = random.Random(f"buffers {seed}")
    keys, links = _links(draw, draw.choice((2, 2, 3, 4)))
    size, congestion = draw.choice(BUFFERS), draw.choice(("cubic", "newreno"))
    keys |= _transport(links, congestion)
    keys |= {"transport.receive_buffer": size, "transport.send_buffer": size}
    keys |= {"duration": "12 s", "warmup": "3 s", "traffic.kind": "bulk"}
    return Case(f"seed {seed}", _written(links), f"{size} {congestion}", _scenario(keys, links))


def delays_case(seed: int) -> Case:
    """Return one to four links, a quarter of them with loss, and bulk, constant or thin data."""
    draw = random.Random(f"delays {seed}")
    keys, links = _links(draw, draw.choice((1, 2, 2, 3, 4)))
    for name, _, _ in links:
        if draw.random() < 0.25:
            keys[f"link.{name}.loss"] = f"{_log(draw, 0.01, 0.5):.2g} %"
    total = sum(rate for _, rate, _ in links)
    kind = ("bulk", "bulk", "cbr", "poisson")[seed % 4]
    keys |= _transport(links, draw.choice(("cubic", "newreno")))
    keys |= {"duration": "8 s", "warmup": "2 s", "traffic.kind": kind}
    what = kind
    if kind != "bulk":
        rate = draw.uniform(0.3, 0.8) * total if kind == "cbr" else draw.uniform(0.1, 0.3)
        message = draw.choice((1200, 8000, 30_000)) if kind == "cbr" else 200
        keys |= {"traffic.rate": f"{rate:.3g} Mbit/s", "traffic.message": f"{message} B"}
        what = f"{kind} {rate:.3g} Mbit/s"
    lossy = ", loss" if any(key.endswith(".loss") for key in keys) else ""
    return Case(f"seed {seed}", _written(links), what + lossy, _scenario(keys, links))


def own_cases() -> Iterator[Case]:
    """Yield the project's scenarios that the kernel can run, with other durations."""
    for name in OWN:
        scenario = ropewalk.Scenario.load(ROOT / f"scenarios/{name}.toml")
        if scenario.duration_s > 10 and name != "start/two-links":
            scenario = scenario.with_({"duration": "10 s"})
        yield Case(name, "", "", scenario)


def _links(
    draw: random.Random, count: int
) -> tuple[dict[str, Value], list[tuple[str, float, float]]]:
    """Draw links: their keys, and name, rate in Mbit/s and round trip in ms of each."""
    links = []
    for number in range(1, count + 1):
        links.append((f"l{number}", _log(draw, 3, 50), _log(draw, 6, 150)))
    scale = min(1.0, MAX_MBPS / sum(rate for _, rate, _ in links))
    links = [(name, round(rate * scale, 1), round(rtt, 1)) for name, rate, rtt in links]
    keys: dict[str, Value] = {}
    for name, rate, rtt in links:
        keys[f"link.{name}.rate"] = f"{rate} Mbit/s"
        keys[f"link.{name}.delay"] = f"{rtt / 2:.4g} ms"
        keys[f"link.{name}.queue"] = f"{draw.uniform(0.5, 2):.2f} bdp"
    return keys, links


def _transport(links: Sequence[tuple[str, float, float]], congestion: str) -> dict[str, Value]:
    several = len(links) > 1
    keys: dict[str, Value] = {
        "transport.protocol": "mptcp" if several else "tcp",
        "transport.congestion": "uncoupled" if several else congestion,
    }
    if several:
        keys["transport.subflow"] = congestion
    return keys


def _scenario(
    keys: dict[str, Value], links: Sequence[tuple[str, float, float]]
) -> ropewalk.Scenario:
    blocks = "".join(
        f'[[link]]\nname = "{name}"\nrate = "1 Mbit/s"\ndelay = "1 ms"\n' for name, _, _ in links
    )
    text = f'duration = "1 s"\n{blocks}[transport]\nprofile = "linux"\n[traffic]\nkind = "bulk"\n'
    return ropewalk.Scenario(text, name="random").with_(keys)


def _written(links: Sequence[tuple[str, float, float]]) -> str:
    return " + ".join(f"{rate:g}/{rtt:g}" for _, rate, rtt in links)


def _log(draw: random.Random, least: float, most: float) -> float:
    return math.exp(draw.uniform(math.log(least), math.log(most)))


def simulate(case: Case) -> list[dict[str, Any]]:
    return [simulated(case.scenario, seed) for seed in range(1, RUNS + 1)]


def measure(case: Case) -> list[dict[str, Any]]:
    return [measured(case.scenario, seed) for seed in range(1, RUNS + 1)]


def on_the_page(table: str, case: Case) -> dict[str, str]:
    for row in read_from_pages(table):
        if row["case"] == case.name:
            return row
    raise ValueError(f"the page has no row for {case.name}")


def goodput_row(case: Case, *, anew: bool) -> dict[str, object]:
    """Simulate a case of small buffers, and measure it or look its measurement up."""
    ours = [run["goodput_mbps"] for run in simulate(case)]
    if anew:
        theirs = [run["goodput_mbps"] for run in measure(case)]
        their, least, most = statistics.median(theirs), min(theirs), max(theirs)
    else:
        before = on_the_page("kernel-buffers", case)
        their = float(before["measured"])
        least, most = map(float, before["measured range"].split(" to "))
    our = statistics.median(ours)
    return {
        "case": case.name,
        "links": case.links,
        "buffers": case.what,
        "simulated": our,
        "simulated range": f"{min(ours):.2f} to {max(ours):.2f}",
        "measured": their,
        "measured range": f"{least:.2f} to {most:.2f}",
        "difference %": 100 * (our / their - 1),
        "inside": least <= our <= most,
    }


def delay_row(case: Case, *, anew: bool) -> dict[str, object]:
    """Simulate a case of delays, and measure it or look its measurement up."""
    simulations = simulate(case)
    real = measure(case) if anew else []
    before = {} if anew else on_the_page("kernel-delays", case)
    row: dict[str, object] = {"case": case.name, "links": case.links, "data": case.what}
    for name in QUANTILES:
        ours = statistics.median([run["delay_ms"][name] for run in simulations])
        if anew:
            theirs = statistics.median([run["delay_ms"][name] for run in real])
        else:
            theirs = float(before[f"{name}, measured"])
        row |= {f"{name}, simulated": ours, f"{name}, measured": theirs}
        row[f"{name} %"] = 100 * (ours / theirs - 1)
    return row


def compared(
    cases: Sequence[Case], row: Callable[..., dict[str, object]], anew: bool
) -> pl.DataFrame:
    rows = []
    for number, case in enumerate(cases, start=1):
        print(f"{number} of {len(cases)}: {case.name}", file=sys.stderr, flush=True)
        rows.append(row(case, anew=anew))
    return pl.DataFrame(rows)


def buffers(*, anew: bool) -> list[Table]:
    """Return goodput with small buffers, and its error."""
    found = compared([buffers_case(seed) for seed in SEEDS], goodput_row, anew)
    off = found["difference %"].abs()
    outside = found.filter(~pl.col("inside"))["difference %"].abs()
    summary = pl.DataFrame(
        {
            "cases": [found.height],
            "inside the kernel's range": [int(found["inside"].sum())],
            "median of the differences %": [off.median()],
            "worst %": [off.max()],
            "worst outside %": [outside.max()],
        }
    )
    percent = {"median of the differences %": ".1f", "worst %": ".1f", "worst outside %": ".1f"}
    formats = {"simulated": ".2f", "measured": ".2f", "difference %": "+.1f"}
    title = "Goodput with small buffers, Mbit/s, medians"
    return [
        Table("kernel-buffers", title, found, formats),
        Table("kernel-buffers-summary", "How far off", summary, percent),
    ]


def delays(*, anew: bool) -> list[Table]:
    cases = [*own_cases(), *(delays_case(seed) for seed in SEEDS)]
    found = compared(cases, delay_row, anew)
    summary = pl.DataFrame(
        [
            {
                "of": name,
                "median of the differences %": found[f"{name} %"].abs().median(),
                "worst %": found[f"{name} %"].abs().max(),
            }
            for name in QUANTILES
        ]
    )
    formats = {
        f"{name}{suffix}": written
        for name in QUANTILES
        for suffix, written in ((", simulated", ".1f"), (", measured", ".1f"), (" %", "+.0f"))
    }
    percent = {"median of the differences %": ".1f", "worst %": ".1f"}
    return [
        Table("kernel-delays", "Delays in ms, medians", found, formats),
        Table("kernel-delays-summary", "How far off", summary, percent),
    ]


SHOWN = {"buffers": buffers, "delays": delays}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("shown", nargs="*", choices=[*SHOWN, []], help="both if none is said")
    parser.add_argument("--simulate", action="store_true", help="measure nothing anew")
    given = parser.parse_args()
    chosen = given.shown or list(SHOWN)
    made = [table for name in chosen for table in SHOWN[name](anew=not given.simulate)]
    for table in made:
        table.print()
    write_into_pages(made)
