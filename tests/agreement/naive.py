"""The naive device of Song et al. 2018: models, simulator and the kernel on the testbed.

    python tests/agreement/naive.py [--simulate]

One TCP connection over two, four and six of the paper's links (`striped-tcp` with
`device = "naive"`; on the testbed `ropewalk-gateway tunnel --naive` with the kernel's TCP inside).
Rates are the paper's, delays two groups drawn around the medians of figure 1. Medians of
three runs, 10 s from 3 s. Needs root, and twelve minutes. The kernel's runs are stored in
tests/reference, and the tables in docs/agreement/naive.md. With --simulate the kernel's runs are
read from tests/reference.
"""

import argparse
import statistics
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import polars as pl

import ropewalk
from both_sides import measured, simulated
from ropewalk.cli.progress import progress
from ropewalk.model.song2018 import average_delay_asymmetry
from ropewalk.papers.published import published
from tables import ROOT, Table, reference, write_into_pages

PAGE = ROOT / "docs/agreement/naive.md"
REFERENCE = "naive-testbed.csv"
FACTS = published("song-2018")["fig6"]
LINKS = (2, 4, 6)
PLACES = ("low", "middle")  # average delay asymmetry
# Log-normal, standard deviation 0.4, drawn once: the stored runs are of these links.
DELAYS_US: dict[tuple[int, str], tuple[int, ...]] = {
    (2, "low"): (43_625, 48_461),
    (2, "middle"): (43_625, 67_456),
    (4, "low"): (56_767, 55_682, 45_605, 37_425),
    (4, "middle"): (34_698, 24_395, 69_294, 33_757),
    (6, "low"): (34_782, 33_943, 32_635, 35_213, 62_387, 56_686),
    (6, "middle"): (48_034, 51_362, 78_694, 46_985, 99_567, 44_011),
}
RUNS = 3
# Effects of the testbed that the simulation lacks: encrypted datagrams, of 644 in place of 604
# bytes, and threads that wait for a processor.
LONGER = 644 / 604
JITTER_MS = 0.5
CLASSIC = "three duplicate ACKs"
# The paper's NewReno, and two that Linux has by default.
TCPS: dict[str, dict[str, ropewalk.scenario.Value]] = {
    CLASSIC: {
        "transport.congestion": "newreno",
        "transport.reordering": "none",
        "transport.sack": False,
        "transport.timestamps": False,
    },
    "newreno": {"transport.congestion": "newreno"},
    "cubic": {"transport.congestion": "cubic"},
}
# Details of TCP that the paper leaves open.
DETAILS: dict[str, dict[str, ropewalk.scenario.Value]] = {
    "every segment acknowledged": {"transport.delayed_ack": 1},
    "no quick ACKs": {"transport.quick_ack": False},
    "no PRR": {"transport.prr": False},
    "no limited transmit": {"transport.limited_transmit": False},
}
# Sender's counters that show an adaptation to reordering, by nstat's names.
COUNTERS = (
    "TcpRetransSegs",
    "TcpExtTCPRenoRecovery",
    "TcpExtTCPSackRecovery",
    "TcpExtTCPSACKReorder",
    "TcpExtTCPTSReorder",
    "TcpExtTCPPartialUndo",
    "TcpExtTCPFullUndo",
    "TcpExtTCPDSACKUndo",
)
HEADER = """
title = "Song et al. 2018: {links} links in turn"
duration = "13 s"
warmup = "3 s"
[transport]
protocol = "striped-tcp"
device = "naive"
profile = "linux"
segment = "{segment} B"
initial_window = "{segment} B"
"""
# As in the paper's model, all of the delay is in the data's direction.
LINK = """
[[link]]
name = "{number}"
rate = "{rate} Mbit/s"
delay = "{delay_us} us"
jitter = "{jitter_ms} ms"
queue = "1000 packets"
reverse = {{ rate = "unlimited", delay = "0 ms", jitter = "0 ms" }}
"""
Case = tuple[int, str, str]
CASES: tuple[Case, ...] = tuple(product(LINKS, PLACES, TCPS))


def delays(links: int, place: str) -> tuple[list[float], float]:
    """Return the round trip of each link and the average asymmetry, in seconds."""
    found = np.array(DELAYS_US[links, place]) / 1e6
    return found.tolist(), float(average_delay_asymmetry(found))


def scenario(case: Case, slower: float = 1.0, jitter_ms: float = 0) -> ropewalk.Scenario:
    """Return a case, with rates divided by `slower`, and with jitter in the data's direction."""
    links, place, tcp = case
    text = HEADER.format(links=links, segment=FACTS["segment_bytes"])
    of_links = zip(FACTS["link_rate_mbps"], delays(links, place)[0], strict=False)
    for number, (rate, delay_s) in enumerate(of_links, start=1):
        text += LINK.format(
            number=number,
            rate=round(rate / slower, 6),
            delay_us=round(delay_s * 1e6),
            jitter_ms=jitter_ms,
        )
    return ropewalk.Scenario(text, name=f"{links} links in turn").with_(TCPS[tcp])


def predicted(case: Case) -> dict[str, float]:
    """Return the goodput by each model of striped TCP."""
    models = ropewalk.predict(scenario(case)).models
    return {model.name: model.goodput_mbps for model in models if model.goodput_mbps is not None}


@cache
def simulated_median(case: Case, slower: float = 1.0, jitter_ms: float = 0) -> float:
    """Return the median goodput of five simulated runs, whose delays differ by up to 1 %."""
    chosen = scenario(case, slower, jitter_ms)
    runs = [simulated(chosen, seed) for seed in range(1, 6)]
    return statistics.median(run["goodput_mbps"] for run in runs)


def named(case: Case) -> dict[str, Any]:
    return dict(zip(("links", "delays", "tcp"), case, strict=True))


def measured_row(case: Case, seed: int) -> dict[str, Any]:
    """Run a case on the kernel."""
    run = measured(scenario(case), seed)
    counted = run["kernel"]["counters"]["client"]
    return (
        named(case)
        | {"seed": seed, "goodput_mbps": round(run["goodput_mbps"], 4)}
        | {"late_ms": round(run["emulator"]["lateness_ms"]["p99"], 3)}
        | {"trusted": run["emulator"]["trusted"], "disturbed": run["own_error"]["disturbed"]}
        | {"dropped": sum(link["dropped_packets"] for link in run["links"])}
        | {name: counted.get(name, 0) for name in COUNTERS}
    )


def measure() -> None:
    """Run all cases on the kernel, and write the runs into tests/reference, one per row."""
    rows = []
    with progress("kernel", len(CASES) * RUNS) as update:
        for seed, case in product(range(1, RUNS + 1), CASES):
            rows.append(measured_row(case, seed))
            update(len(rows))
    pl.DataFrame(rows).write_csv(ROOT / "tests/reference" / REFERENCE)


def stored(case: Case) -> pl.DataFrame:
    """Return the kernel's stored runs of a case."""
    return reference(REFERENCE).filter(**named(case))


def goodput() -> pl.DataFrame:
    """Return goodput by case: models, simulated with each effect, and the kernel's range."""
    rows = []
    for case in CASES:
        links, place, tcp = case
        models = predicted(case)
        kernel = stored(case)["goodput_mbps"]
        median = kernel.median()
        assert isinstance(median, float)
        rows.append(
            {
                "links": links,
                "asymmetry, ms": delays(links, place)[1] * 1e3,
                "TCP": tcp,
                "song-2018": models["song-2018"],
                "striped-cycle": models.get("striped-cycle"),
                "simulated": simulated_median(case),
                "longer": simulated_median(case, LONGER),
                "jitter": simulated_median(case, jitter_ms=JITTER_MS),
                "testbed": median,
                "lowest": kernel.min(),
                "highest": kernel.max(),
            }
        )
    return pl.DataFrame(rows)


def accuracy(found: pl.DataFrame) -> pl.DataFrame:
    """Return the mean accuracy of each column of `goodput` against the testbed, by TCP.

    Accuracy is that of the paper's section 5.1.4: 1 - |P - S| / S, in percent.
    """
    rows = []
    for column in ("song-2018", "striped-cycle", "simulated", "longer", "jitter"):
        off = (pl.col(column) / pl.col("testbed") - 1).abs()
        means = found.group_by("TCP").agg((100 * (1 - off)).mean())
        by_tcp = dict(means.iter_rows())
        rows.append({"column": column} | {tcp: by_tcp[tcp] for tcp in TCPS})
    return pl.DataFrame(rows)


def details() -> pl.DataFrame:
    """Return the goodput of the paper's NewReno, simulated with other details of TCP."""
    rows = []
    for links, place in product(LINKS, PLACES):
        case = (links, place, CLASSIC)
        row: dict[str, object] = {"links": links, "asymmetry, ms": delays(links, place)[1] * 1e3}
        for name, keys in {"simulated": {}, **DETAILS}.items():
            results = ropewalk.simulate(scenario(case).with_(keys))
            row[name] = results.runs[0]["goodput_mbps"]
        rows.append(row | {"testbed": stored(case)["goodput_mbps"].median()})
    return pl.DataFrame(rows)


def counters() -> pl.DataFrame:
    """Return medians of the kernel's counters."""
    rows = []
    for case in CASES:
        columns = ("dropped", *COUNTERS)
        medians = {name.removeprefix("TcpExt"): stored(case)[name].median() for name in columns}
        links, place, tcp = case
        asymmetry = delays(links, place)[1] * 1e3
        rows.append({"links": links, "asymmetry, ms": asymmetry, "TCP": tcp} | medians)
    return pl.DataFrame(rows)


def disturbed() -> pl.DataFrame:
    """Count the runs of each TCP, and how many of them the machine may have changed by 5 %."""
    runs = reference(REFERENCE).group_by("tcp", maintain_order=True)
    return runs.agg(pl.len().alias("runs"), pl.col("disturbed").sum()).rename({"tcp": "TCP"})


def tables() -> list[Table]:
    found = goodput()
    other = details()
    formats = dict.fromkeys((*found.columns, *other.columns), ".2f") | {"asymmetry, ms": ".1f"}
    counted, tenths = counters(), dict.fromkeys(TCPS, ".1f")
    whole = dict.fromkeys(counted.columns, ".0f") | {"asymmetry, ms": ".1f"}
    return [
        Table("naive", "Goodput in Mbit/s over links in turn", found, formats),
        Table("naive-accuracy", "Mean accuracy in percent", accuracy(found), tenths),
        Table("naive-details", "Goodput in Mbit/s with other details of TCP", other, formats),
        Table("naive-counters", "Counters of the kernel's sender", counted, whole),
        Table("naive-disturbed", "Runs, and those that the machine disturbed", disturbed(), {}),
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
