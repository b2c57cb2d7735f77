"""Alheid et al. 2016: two networks to a station, and the compared stacks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from ...engines.simulate import simulate
from ...results import statistics
from ...scenario import Scenario
from ..published import published

Progress: TypeAlias = Callable[[int, int], object] | None
Over: TypeAlias = Literal["wires", "radios"]

POLICIES = {
    "none": "NoPR",
    "dsack": "D-SACK",
    "eifel": "Eifel",
    "tcp-door": "TCP-DOOR",
    "f-rto": "F-RTO",
}
# In place of a policy: one TCP over the first network, with its keys.
ONE_TCP = "one subflow"
ONE_PATH = {
    ONE_TCP: 'profile = "mptcp-ns3"\ncongestion = "newreno"',
    "tcp": 'profile = "ns-3"\nprotocol = "tcp"\ncongestion = "newreno"',
    "tcp, each ACK": 'profile = "ns-3"\nprotocol = "tcp"\ncongestion = "newreno"\ndelayed_ack = 1',
}
# In the order of the paper's tables.
COUPLINGS = {"lia": "Co-CC", "uncoupled": "Un-CC", "fully-coupled": "FC-CC"}
# Rates of the two networks by scenario, Mbit/s.
SCENARIOS = {1: (54, 54), 2: (2, 2), 3: (54, 2), 4: (6, 2)}
DISTANCES_M = (10, 20, 30, 40, 50, 60, 70, 80, 90, 100)
DURATION_S = 50
PACKET = 1400
# Goodput of one TCP over a radio of this rate, Mbit/s; the paper states 15 for 54.
OF_ONE_TCP = {54: 15.0, 6: 4.9, 2: 1.65}

RADIOS = """\
title = "{title}"
duration = "{duration} s"

# Long slot, queue of 400 packets, fading by distance: ns-3 of that time. The exponent is ours:
# with it 54 Mbit/s reach 70 m, as the paper has it, and the ranges of 6 and 2 Mbit/s follow.
[wifi]
standard = "802.11g"
profile = "ns-3.13"
antenna_gain = "0 dB"
{networks}
[transport]
{transport}
"""
NETWORK = """
[[channel]]
name = "{name}"

[channel.propagation]
model = "log-distance"
exponent = 2.2
reference_loss = "46.67 dB"
fading = "nakagami"

[[node]]
name = "ap-{name}"
at = ["{distance} m", "0 m"]
radios = [{radio}]

[[link]]
name = "backbone-{name}"
from = "server"
to = "ap-{name}"
rate = "100 Mbit/s"
delay = "10 ms"

[[link]]
name = "air-{name}"
channel = "{name}"
from = "ap-{name}"
to = "station"

[[path]]
name = "{name}"
hops = ["backbone-{name}", "air-{name}"]
"""
STATION = """
[[node]]
name = "station"
at = ["0 m", "0 m"]
radios = [{radios}]
"""
WIRES = """\
title = "{title}"
duration = "{duration} s"

# In place of each radio a wired link with the goodput of the paper's TCP.
[[link]]
name = "first"
rate = "{first} Mbit/s"
delay = "12 ms"
queue = "400 packets"

[[link]]
name = "second"
rate = "{second} Mbit/s"
delay = "{second_ms:g} ms"
queue = "400 packets"

[transport]
{transport}
"""


@dataclass(frozen=True)
class Experiment:
    """A transport over the two networks of one of the paper's scenarios, 1 to 4.

    `policy` is the module's policy; None means MPTCP of RFC 8684, one of `ONE_PATH` a single TCP.
    `distance_m` is from the station to both access points. With wired links instead of radios, the
    second has the delay `second_ms`, the first 12 ms. With `waits`, the module sends no data
    before both subflows are open.
    """

    number: int
    coupling: str
    policy: str | None
    over: Over
    distance_m: int = 10
    second_ms: float = 12.1
    waits: bool = True

    @property
    def key(self) -> str:
        """Short name for files and tables."""
        stack = self.policy or "rfc8684"
        return f"s{self.number}-{self.over}-{self.distance_m}-{stack}-{self.coupling}"

    @property
    def name(self) -> str:
        """Description in the paper's words."""
        stack = POLICIES.get(self.policy or "", self.policy or "RFC 8684")
        return f"S{self.number} {stack}, {COUPLINGS[self.coupling]}"

    @property
    def is_random(self) -> bool:
        """Whether runs differ by seed: radios draw fading, F-RTO draws its deaf windows."""
        return self.over == "radios" or self.policy == "f-rto"

    def scenario(self) -> Scenario:
        """Return the scenario."""
        rates = SCENARIOS[self.number]
        keys = {"congestion": f'"{self.coupling}"', "segment": f'"{PACKET} B"'}
        if self.policy in ONE_PATH:
            del keys["congestion"]
            keys["paths"] = f'["first"]\n{ONE_PATH[self.policy]}'
        elif self.policy is not None:
            keys |= {"profile": '"mptcp-ns3"', "reordering": f'"{self.policy}"'}
            keys["wait_for_subflows"] = str(self.waits).lower()
        else:
            keys |= {"profile": '"rfc"', "protocol": '"mptcp"', "scheduler": '"round-robin"'}
            if self.coupling == "uncoupled":
                keys["subflow"] = '"newreno"'
        shared = {
            "title": f"Alheid et al. 2016, {self.name}",
            "duration": DURATION_S,
            "transport": "\n".join(f"{key} = {value}" for key, value in keys.items()),
        }
        if self.over == "wires":
            first, second = (OF_ONE_TCP[rate] for rate in rates)
            wires = {"first": first, "second": second, "second_ms": self.second_ms}
            text = WIRES.format(**wires, **shared)
        else:
            radios = [_radio(name, rate) for name, rate in _named(rates)]
            parts = [
                NETWORK.format(name=name, distance=self.distance_m, radio=radio)
                for (name, _), radio in zip(_named(rates), radios, strict=True)
            ]
            station = STATION.format(radios=", ".join(radios))
            text = RADIOS.format(networks="".join([*parts, station]), **shared)
        return Scenario(text, name=f"{self.key}.toml")


@dataclass(frozen=True)
class ExperimentRuns:
    """Runs of one experiment.

    Rows have the measurements: out of order in percent, largest number of stored segments,
    gThroughput (module only) and goodput in Mbit/s, goodput of each path, and share of the lesser.
    """

    experiment: Experiment
    rows: list[dict[str, Any]]

    @property
    def mean(self) -> dict[str, float]:
        """Mean of each number over the runs."""
        return statistics.mean(self.rows)


# Tables III and IV share runs, also with the figures at 10 m.
_SIMULATED: dict[tuple[Experiment, int, int], ExperimentRuns] = {}


def simulated(
    wanted: Sequence[Experiment], *, seed: int, runs: int, progress: Progress
) -> dict[Experiment, ExperimentRuns]:
    """Simulate experiments that no other item has simulated; without random draws, only once."""
    found = {}
    total, done = sum(runs if each.is_random else 1 for each in wanted), 0
    for experiment in wanted:
        own = runs if experiment.is_random else 1

        def finished(count: int, before: int = done) -> None:
            if progress is not None:
                progress(before + count, total)

        key = (experiment, seed, own)
        if key not in _SIMULATED:
            results = simulate(experiment.scenario(), seed=seed, runs=own, progress=finished)
            _SIMULATED[key] = ExperimentRuns(experiment, [_row(run) for run in results.runs])
        finished(own)
        done += own
        found[experiment] = _SIMULATED[key]
    return found


def claims() -> dict[str, Any]:
    """Return the paper's statements about gThroughput."""
    stated: dict[str, Any] = published("alheid-2016")["claims"]
    return stated


def _named(rates: tuple[int, int]) -> tuple[tuple[str, int], tuple[str, int]]:
    return ("first", rates[0]), ("second", rates[1])


def _radio(channel: str, rate: int) -> str:
    # 802.11g includes the rates of 802.11b, but stations of 802.11b reply at their own.
    basic = ', basic_rates = ["2 Mbit/s"]' if rate == 2 else ""
    return f'{{ channel = "{channel}", rate = "{rate} Mbit/s"{basic} }}'


def _row(run: dict[str, Any]) -> dict[str, Any]:
    goodputs = [subflow["goodput_mbps"] for subflow in run["subflows"]] + [0.0]
    row = {
        "seed": run["seed"],
        "out_of_order_percent": 100 * run["reordering"]["out_of_order_ratio"],
        "buffer_packets": run["reordering"]["buffer_max_bytes"] / PACKET,
        "goodput_mbps": run["goodput_mbps"],
        "first_mbps": goodputs[0],
        "second_mbps": goodputs[1],
        "lesser_share": min(goodputs[:2]) / max(sum(goodputs), 1e-9),
        "timeouts": sum(subflow["timeouts"] for subflow in run["subflows"]),
    }
    if "mptcp_ns3" in run:
        row["gthroughput_mbps"] = run["mptcp_ns3"].get("gthroughput_mbps", 0.0)
    return row
