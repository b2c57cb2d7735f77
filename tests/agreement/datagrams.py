"""Datagrams by formula, simulated, and on the testbed."""

from collections.abc import Iterator
from dataclasses import dataclass

import ropewalk
from tables import SCENARIOS


@dataclass(frozen=True)
class Case:
    name: str
    scenario: ropewalk.Scenario

    def __str__(self) -> str:
        return self.name


def cases() -> Iterator[Case]:
    """Yield bulk and messages over a link, over a narrower second hop, and with losses."""
    one = ropewalk.Scenario.load(SCENARIOS / "datagrams.toml")
    both = one.with_({"transport.paths": ["both"]})
    constant = {"traffic.kind": "cbr", "traffic.rate": "2 Mbit/s", "traffic.message": "1000 B"}
    poisson = constant | {"traffic.kind": "poisson", "traffic.rate": "4 Mbit/s"}
    voice = constant | {"traffic.rate": "64 kbit/s", "traffic.message": "160 B"}
    yield Case("bulk", one)
    yield Case("bulk into a narrower link", both)
    yield Case("bulk, 2 % lost", one.with_({"link.wide.loss": "2 %"}))
    yield Case("messages", one.with_(constant))
    yield Case("messages above the rate", one.with_(constant | {"traffic.rate": "12 Mbit/s"}))
    yield Case("voice over both", both.with_(voice))
    yield Case("Poisson over both", both.with_(poisson))


def numbers(results: ropewalk.Results) -> dict[str, float]:
    """Return goodput, mean delay, and the ratio of packets lost or dropped."""
    mean = results.mean
    links = {link["name"]: link for link in results.runs[0]["links"]}
    first = links["wide"]
    offered = first["sent_packets"] + first["dropped_packets"]
    gone = sum(link["lost_packets"] + link["dropped_packets"] for link in links.values())
    return {
        "goodput_mbps": mean["goodput_mbps"],
        "delay_ms": mean["delay_ms"]["mean"],
        "lost": gone / offered,
    }


def predicted(case: Case) -> dict[str, float]:
    """Return the same by formula."""
    best = ropewalk.predict(case.scenario).best
    assert best is not None
    return {
        "goodput_mbps": best.goodput_mbps,
        "delay_ms": best.delay_ms["mean"],
        "lost": best.quantities["lost_ratio"],
    }
