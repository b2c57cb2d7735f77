"""Bandwidth aggregation above TCP in the simulator, compared with Linux's MPTCP.

Goodput over the sum of the link rates, 12 s from 3 s, cubic, and delays of a thin stream.
"""

from functools import cache
from typing import Any

import polars as pl

import ropewalk
from linux import scenario
from tables import Table

FOUR = "35.9/40+18.4/50+33.3/60+14.7/80"
EIGHT = FOUR + "+14.8/70+4.4/120+22.5/45+12.5/55"
CASES = {
    "20/20+20/20": "20/20+20/20",
    "20/20+10/60": "20/20+10/60",
    "20/20+5/200": "20/20+5/200",
    "50/10+10/100": "50/10+10/100",
    "the four": FOUR,
    "the eight": EIGHT,
}
TIMES = {"warmup": "3 s", "duration": "15 s"}
SCHEDULER = {"aggregation": "earliest-arrival", "mptcp": "linux"}


@cache
def goodput() -> pl.DataFrame:
    """Return bulk transfers over the six cases with two sizes of the receive buffer."""
    rows = []
    for name, links in CASES.items():
        rates = [float(link.split("/")[0]) for link in links.split("+")]
        row: dict[str, object] = {"links": name, "best link alone": max(rates) / sum(rates)}
        for buffer in ("4M", "1M"):
            for method in ("aggregation", "mptcp"):
                run = _run(links, method, buffer)
                row[f"{method}, {buffer}"] = run["goodput_mbps"] / sum(rates)
        rows.append(row)
    return pl.DataFrame(rows)


@cache
def thin() -> pl.DataFrame:
    """Return the delays of 200 bytes every 10 ms over 20/20 + 5/200."""
    changes = {"traffic.kind": "cbr", "traffic.rate": "160 kbit/s", "traffic.message": "200 B"}
    rows = []
    for method in ("aggregation", "mptcp"):
        delay = _run("20/20+5/200", method, "4M", **changes)["delay_ms"]
        rows.append({"protocol": method, **{f"{key}, ms": delay[key] for key in delay}})
    return pl.DataFrame(rows)


def _run(links: str, method: str, buffer: str, **changes: str) -> dict[str, Any]:
    keys = {"transport.scheduler": SCHEDULER[method], **TIMES, **changes}
    return ropewalk.simulate(scenario(links, method, "cubic", buffer, **keys)).mean


def tables() -> list[Table]:
    shares = dict.fromkeys(goodput().columns[1:], ".3f")
    delays = dict.fromkeys(thin().columns[1:], ".1f")
    return [
        Table("aggregation", "Goodput over the sum of link rates", goodput(), shares),
        Table("aggregation-thin", "Delay of a thin stream over 20/20 + 5/200", thin(), delays),
    ]


if __name__ == "__main__":
    for table in tables():
        table.print()
