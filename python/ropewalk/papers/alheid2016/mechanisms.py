"""Alheid et al. 2016, mechanisms: out-of-order packets without a loss, and the answers to them."""

from __future__ import annotations

from ...analysis.reproduction import ComparedValue, Reproduction
from ..short_runs import ShortRun, reproduction, short_run
from .network import POLICIES

# No packet is lost; the second link is 30 ms slower.
TEXT = """
duration = "10 s"

[[link]]
name = "first"
rate = "10 Mbit/s"
delay = "10 ms"
queue = "100000 packets"

[[link]]
name = "second"
rate = "10 Mbit/s"
delay = "40 ms"
queue = "100000 packets"

[transport]
protocol = "mptcp"
profile = "{profile}"
congestion = "uncoupled"
scheduler = "round-robin"
reordering = "{policy}"

[traffic]
kind = "bulk"
"""
RFC = "RFC 8684"


def reproduce() -> Reproduction:
    """Simulate the module with each answer, and a stack by RFC 8684, without losses."""
    runs = {name: _run(policy) for policy, name in POLICIES.items()}
    runs[RFC] = _run("none", "rfc")
    none, dsack, door = runs["NoPR"], runs["D-SACK"], runs["TCP-DOOR"]
    module = [runs[name] for name in POLICIES.values()]
    ratio = [_ratio(each) for each in module]
    stored = [each.run["mptcp_ns3"]["buffer_max_segments"] for each in module]
    return reproduction(
        "alheid-2016",
        "Alheid et al. 2016, mechanisms: two links without losses, one 30 ms slower",
        runs,
        [
            ComparedValue("packets lost by the links, all runs",
                          sum(each.lost for each in runs.values()), published=0, unit="packets",
                          band=(0, 0)),
            ComparedValue("OOO-R of the module, least of the five policies", min(ratio),
                          published="above 0", unit="%", digits=1, band=(0.001, None)),
            ComparedValue("out-of-order buffer of the module, least of the five policies",
                          min(stored), published="above 0", unit="packets", band=(1, None)),
            ComparedValue("NoPR: fast retransmissions without a loss", _sum(none), unit="segments",
                          published="some", band=(1, None)),
            ComparedValue(f"{RFC}: fast retransmissions without a loss", _sum(runs[RFC]),
                          unit="segments",
                          reason="Figure 1 calls a packet out of order by either sequence number, "
                          "and such a packet draws a duplicate acknowledgement. RFC 8684 "
                          "acknowledges by the subflow's sequence alone."),
            ComparedValue("TCP-DOOR: window reductions", _sum(door) + _timeouts(door),
                          published=0, band=(0, 0)),
            ComparedValue("TCP-DOOR: goodput over NoPR's", _over(door, none),
                          published="above 1", unit="times", band=(1, None)),
            ComparedValue("D-SACK: fast retransmissions over NoPR's", _sum(dsack) / _sum(none),
                          published="below 1", unit="times", band=(None, 1)),
            ComparedValue("D-SACK: goodput over NoPR's", _over(dsack, none),
                          published="above 1", unit="times", band=(1, None)),
            ComparedValue("Eifel: undone reductions", int(sum(runs["Eifel"].subflows("undone"))),
                          published="some", band=(1, None)),
        ],
    )  # fmt: skip


def _run(policy: str, profile: str = "mptcp-ns3") -> ShortRun:
    return short_run(f"{profile}, {policy}", TEXT.format(profile=profile, policy=policy))


def _ratio(done: ShortRun) -> float:
    return float(done.run["mptcp_ns3"]["out_of_order_percent"])


def _sum(done: ShortRun) -> int:
    return int(sum(done.subflows("fast_recoveries")))


def _timeouts(done: ShortRun) -> int:
    return int(sum(done.subflows("timeouts")))


def _over(one: ShortRun, other: ShortRun) -> float:
    return float(one.run["goodput_mbps"] / other.run["goodput_mbps"])
