"""Elahi et al. 2011, mechanisms: striping by observed throughput, and reassembly in order."""

from __future__ import annotations

from ...analysis.reproduction import ComparedValue, Reproduction
from ..short_runs import reproduction, short_run

LINK = """
[[link]]
name = "link-{name}"
rate = "{mbps} Mbit/s"
delay = "{delay_ms} ms"
queue = "100 packets"
"""
AGGREGATED = """
duration = "100 s"
{links}
[transport]
protocol = "aggregation"
scheduler = "observed-throughput"

[traffic]
kind = "bulk"
size = "{megabytes} MB"
"""
SHARED = """
duration = "60 s"
warmup = "10 s"

[[link]]
name = "first"
rate = "100 Mbit/s"
delay = "5 ms"

[[link]]
name = "second"
rate = "100 Mbit/s"
delay = "5 ms"

[[link]]
name = "bottleneck"
rate = "12 Mbit/s"
delay = "20 ms"
queue = "60 packets"

[[path]]
name = "one"
hops = ["first", "bottleneck"]

[[path]]
name = "two"
hops = ["second", "bottleneck"]

[transport]
protocol = "aggregation"
scheduler = "observed-throughput"

[traffic]
kind = "bulk"

[[competitor]]
name = "tcp"
protocol = "tcp"
paths = ["one"]
"""
UNEQUAL = ((2, 10), (6, 40))  # Mbit/s and delay in ms
UNEQUAL_MB = 20
POINTS = 5


def reproduce() -> Reproduction:
    """Simulate the aggregation over two unequal links, and over two paths with one bottleneck."""
    text = "".join(
        LINK.format(name=place, mbps=mbps, delay_ms=delay)
        for place, (mbps, delay) in enumerate(UNEQUAL, start=1)
    )
    sent = UNEQUAL_MB * 1_000_000
    unequal = short_run("two unequal links", AGGREGATED.format(links=text, megabytes=UNEQUAL_MB))
    shared = short_run("two paths, one bottleneck", SHARED)
    rates = [mbps for mbps, _ in UNEQUAL]
    of_links = unequal.links("delivered_bytes")
    fair = 100 * rates[0] / sum(rates)
    (rival,) = shared.run["competitors"]
    return reproduction(
        "elahi-2011",
        "Elahi et al. 2011, mechanisms: the aggregation over two paths",
        {"two unequal links": unequal, "two paths, one bottleneck": shared},
        [
            ComparedValue(f"share of the link of {rates[0]} of {sum(rates)} Mbit/s",
                          100 * of_links[0] / sum(of_links), published=fair, unit="%", digits=0,
                          band=(fair - POINTS, fair + POINTS)),
            ComparedValue("bytes delivered in order", unequal.run["delivered_bytes"],
                          published=sent, unit="B", band=(sent, sent)),
            ComparedValue("packets that waited in the receive buffer for earlier ones",
                          100 * unequal.run["reordering"]["out_of_order_ratio"],
                          published="some", unit="%", digits=1, band=(0.001, 100)),
            ComparedValue("goodput of two unequal links over the faster link's rate",
                          unequal.run["goodput_mbps"] / max(rates), published="above 1",
                          unit="times", band=(1, None)),
            ComparedValue("shared bottleneck: the aggregation over a competing TCP",
                          shared.run["goodput_mbps"] / rival["goodput_mbps"],
                          published="above 1", unit="times", band=(1, None)),
        ],
    )  # fmt: skip
