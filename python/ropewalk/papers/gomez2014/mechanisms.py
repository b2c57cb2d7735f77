"""Gómez et al. 2014, mechanisms: distribution of packets, subflows, and recovery of a loss."""

from __future__ import annotations

from ...analysis.reproduction import ComparedValue, Reproduction
from ..short_runs import ShortRun, reproduction, short_run

LINK = """
[[link]]
name = "{name}"
rate = "10 Mbit/s"
delay = "{delay_ms} ms"
queue = "100 packets"
loss = "{loss}"
"""
TEXT = """
duration = "20 s"
{links}
[transport]
protocol = "{protocol}"
profile = "rfc"
congestion = "{congestion}"
scheduler = "round-robin"
{more}
[traffic]
kind = "bulk"
size = "10 MB"
"""
LOSS = "0.1 %"


def reproduce() -> Reproduction:
    """Simulate TCP on one link and MPTCP on two."""
    two = _links(10, 10)
    runs = {
        "TCP on one link": _run(_links(10), protocol="tcp", congestion="newreno"),
        "MPTCP on two links": _run(two),
        "MPTCP, a link 30 ms slower": _run(_links(10, 40)),
        "MPTCP with D-SACK, 0.1 % loss": _run(
            _links(10, 10, loss=LOSS), more='reordering = "dsack"'
        ),
    }
    tcp, mptcp, slower, lossy = runs.values()
    sent = mptcp.subflows("segments_sent")
    share = 100 * sent[0] / sum(sent)
    return reproduction(
        "gomez-2014",
        "Gómez et al. 2014, mechanisms: MPTCP over two links",
        runs,
        [
            ComparedValue("subflows of an MPTCP session with two interfaces", len(sent),
                          published=2, band=(2, 2)),
            ComparedValue("round robin: the first subflow's share of the segments", share,
                          published=50, unit="%", digits=0),
            ComparedValue("reordering over links of unequal delay: bytes delivered in order",
                          slower.run["delivered_bytes"], published=10_000_000, unit="B",
                          band=(10_000_000, 10_000_000)),
            ComparedValue("reordering over links of unequal delay: packets that waited",
                          100 * slower.run["reordering"]["out_of_order_ratio"],
                          published="some", unit="%", digits=1, band=(0.001, 100)),
            ComparedValue("D-SACK: spurious retransmissions of all",
                          _spurious(lossy), published="few", unit="%", digits=1, band=(0, 10)),
            ComparedValue("fast retransmit and recovery: recoveries with losses",
                          int(sum(lossy.subflows("fast_recoveries"))), published="some",
                          band=(1, None)),
            ComparedValue("MPTCP on two links over TCP on the better",
                          mptcp.run["goodput_mbps"] / tcp.run["goodput_mbps"],
                          published="at least 1", unit="times", band=(1, None)),
        ],
    )  # fmt: skip


def _links(*delays_ms: int, loss: str = "0 %") -> str:
    return "".join(LINK.format(name=f"link-{place}", delay_ms=delay, loss=loss)
                   for place, delay in enumerate(delays_ms, start=1))  # fmt: skip


def _run(
    links: str, *, protocol: str = "mptcp", congestion: str = "lia", more: str = ""
) -> ShortRun:
    text = TEXT.format(links=links, protocol=protocol, congestion=congestion, more=more)
    return short_run(f"{protocol}, {congestion}", text)


def _spurious(done: ShortRun) -> float:
    """Return the percentage of retransmissions of segments that the receiver had."""
    again = sum(done.subflows("spurious_retransmissions"))
    return 100 * again / max(done.retransmitted, 1)
