"""The diamond of Gómez et al. 2014, figure 2: two relays between source and destination."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...engines.simulate import simulate
from ...results import statistics
from ...scenario import Scenario
from ..published import published

if TYPE_CHECKING:
    import polars as pl

    from ...results import Results

RADIOS = """\
[wifi]
standard = "802.11b"
rate = "11 Mbit/s"
basic_rates = ["1 Mbit/s"]
tries = 4
queue = "100000 packets"
lifetime = "10 s"

[[channel]]
name = "one"
propagation = {{ model = "range", range = "25 m" }}

[[channel]]
name = "two"
propagation = {{ model = "range", range = "25 m" }}
"""
PLACE = (
    """\
# A file over two relays; source, relays and destination all hear each other: 802.11b at
# 11 Mbit/s, acknowledged at 1 Mbit/s, four tries (Gómez et al. 2014, section 5.1).
#
# From the authors' code, not the paper: positions, range, rate of the ACKs, queue.
# Frames that carry data are in error on the first hop alone: `--set link.S-R1.loss=20%`.
# Both paths on one channel: `--set link.S-R2.channel=one --set link.R2-D.channel=one`.

title = "{title}"
duration = "600 s"

"""
    + RADIOS
    + """
[[node]]
name = "S"
at = ["0 m", "0 m"]
radios = ["one", "two"]

[[node]]
name = "R1"
at = ["0 m", "12.5 m"]
radios = ["one"]

[[node]]
name = "R2"
at = ["0 m", "12.5 m"]
radios = ["one", "two"]

[[node]]
name = "D"
at = ["0 m", "25 m"]
radios = ["one", "two"]

[[link]]
name = "S-R1"
channel = "one"
from = "S"
to = "R1"
loss = "{upper:g} %"
reverse = {{ loss = "0 %" }}

[[link]]
name = "R1-D"
channel = "one"
from = "R1"
to = "D"

[[link]]
name = "S-R2"
channel = "{lower_channel}"
from = "S"
to = "R2"
loss = "{lower:g} %"
reverse = {{ loss = "0 %" }}

[[link]]
name = "R2-D"
channel = "{lower_channel}"
from = "R2"
to = "D"

[[path]]
name = "upper"
hops = ["S-R1", "R1-D"]

[[path]]
name = "lower"
hops = ["S-R2", "R2-D"]

[transport]
{transport}

[traffic]
size = "20 MB"
"""
)


@dataclass(frozen=True)
class Stack:
    """A compared transport: number of channels of its paths, and keys of ``[transport]``."""

    key: str
    name: str
    channels: int
    keys: Mapping[str, str]

    def scenario(self, *, upper: float = 0.0, lower: float = 0.0) -> Scenario:
        """Return its experiment with these frame error ratios on the relays' first hops."""
        text = PLACE.format(
            title=f"Gómez et al. 2014, {self.name}",
            upper=100 * upper,
            lower=100 * lower,
            lower_channel="one" if self.channels == 1 else "two",
            transport="\n".join(f"{key} = {value}" for key, value in self.keys.items()),
        )
        return Scenario(text, name=f"{self.key}.toml")


def _mptcp(key: str, name: str, channels: int, congestion: str, **more: str) -> Stack:
    keys = {
        "profile": '"rfc"',
        "protocol": '"mptcp"',
        "paths": '["upper", "lower"]',
        "scheduler": '"round-robin"',
        "receive_buffer": '"256 KiB"',
        "send_buffer": '"256 KiB"',
        "congestion": f'"{congestion}"',
    }
    if congestion == "uncoupled":
        keys["subflow"] = '"newreno"'
    return Stack(key, name, channels, keys | more)


TCP = Stack(
    "tcp",
    "TCP over one relay",
    2,
    {
        "profile": '"rfc"',
        "protocol": '"tcp"',
        "paths": '["upper"]',
        "congestion": '"newreno"',
        "segment": '"1460 B"',
        "timestamps": "false",
        "sack": "false",
        "receive_buffer": '"65535 B"',
    },
)
ONE_CHANNEL = _mptcp("one-channel", "MPTCP on one channel, RTT compensator", 1, "lia")
UNCOUPLED = _mptcp("uncoupled", "MPTCP on two channels, uncoupled", 2, "uncoupled")
LINKED = _mptcp("linked", "MPTCP on two channels, linked increases", 2, "linked-increases")
COMPENSATED = _mptcp("compensated", "MPTCP on two channels, RTT compensator", 2, "lia")
UNBOUNDED = _mptcp(
    "unbounded",
    "MPTCP on one channel, RTT compensator, buffers of 6 MiB",
    1,
    "lia",
    receive_buffer='"6 MiB"',
    send_buffer='"6 MiB"',
)
COUPLED = _mptcp("coupled", "MPTCP on two channels, fully coupled", 2, "fully-coupled")
AS_PUBLISHED = _mptcp(
    "as-published",
    "MPTCP on two channels, the module's segments and acknowledgements",
    2,
    "uncoupled",
    segment='"1412 B"',
    delayed_ack="1",
)


def _module(key: str, name: str, congestion: str, channels: int = 2) -> Stack:
    """Return the authors' own module in its D-SACK mode."""
    keys = {
        "profile": '"mptcp-ns3"',
        "reordering": '"dsack"',
        "paths": '["upper", "lower"]',
        "congestion": f'"{congestion}"',
        "segment": '"1412 B"',
    }
    on = "two channels" if channels == 2 else "one channel"
    return Stack(key, f"mptcp-ns3 on {on}, {name}", channels, keys)


MODULE_UNCOUPLED = _module("module-uncoupled", "uncoupled", "uncoupled")
MODULE_LINKED = _module("module-linked", "linked increases", "linked-increases")
MODULE_COMPENSATED = _module("module-compensated", "RTT compensator", "lia")
MODULE_ONE_CHANNEL = _module("module-one-channel", "RTT compensator", "lia", 1)
MODULE_COUPLED = _module("module-coupled", "fully coupled", "fully-coupled")


@dataclass(frozen=True)
class StackRuns:
    """Runs of one experiment, with a timeline.

    `upper` and `lower` are the frame error ratios of the relays' first hops.
    """

    stack: Stack
    upper: float
    lower: float
    scenario: Scenario
    results: Results

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Goodputs in total and by path, and packets lost on links; one row per run."""
        return [_row(run) for run in self.results.runs]

    @property
    def mean(self) -> dict[str, float]:
        """Mean of each number over the runs."""
        return statistics.mean(self.rows)

    @property
    def ci95(self) -> dict[str, float]:
        """Half the 95 % interval of each mean; empty for one run."""
        return statistics.ci95(self.rows)


def simulated(
    wanted: Sequence[tuple[Stack, float, float]],
    *,
    seed: int,
    runs: int,
    progress: Callable[[int, int], object] | None,
) -> list[StackRuns]:
    """Simulate experiments on the diamond.

    Each wanted experiment is a transport with the frame error ratios of the upper and of the lower
    relay's first hop.
    """
    found = []
    for done, (stack, upper, lower) in enumerate(wanted):

        def finished(count: int, before: int = done * runs) -> None:
            if progress is not None:
                progress(before + count, len(wanted) * runs)

        scenario = stack.scenario(upper=upper, lower=lower)
        results = simulate(scenario, seed=seed, runs=runs, progress=finished, step="1 s")
        found.append(StackRuns(stack, upper, lower, scenario, results))
    return found


def jain(row: Mapping[str, Any]) -> float:
    """Return Jain's index of both subflows' goodputs; 0.5 if one path carries all.

    Examples
    --------
    >>> jain({"upper_mbps": 2.0, "lower_mbps": 2.0})
    1.0
    """
    upper, lower = row["upper_mbps"], row["lower_mbps"]
    return float((upper + lower) ** 2 / (2 * (upper**2 + lower**2)))


def table(measured: Sequence[StackRuns]) -> pl.DataFrame:
    """Return all runs of all experiments, a row each."""
    import polars as pl

    return pl.DataFrame(
        [
            {"stack": each.stack.key, "upper_fer": each.upper, "lower_fer": each.lower} | row
            for each in measured
            for row in each.rows
        ]
    )


def scenarios(measured: Sequence[StackRuns]) -> dict[str, Scenario]:
    """Return the scenarios by name."""
    return {
        f"{each.stack.key}-{100 * each.upper:g}-{100 * each.lower:g}": each.scenario
        for each in measured
    }


def facts() -> dict[str, Any]:
    """Return the paper's statements about the diamond."""
    stated: dict[str, Any] = published("gomez-2014")["diamond"]
    return stated


def _row(run: Mapping[str, Any]) -> dict[str, Any]:
    of_path = {subflow["link"]: subflow["goodput_mbps"] for subflow in run["subflows"]}
    return {
        "seed": run["seed"],
        "goodput_mbps": run["goodput_mbps"],
        "upper_mbps": of_path["upper"],
        "lower_mbps": of_path.get("lower", 0.0),
        "lost_packets": sum(link["lost_packets"] for link in run["links"]),
        "retransmissions": sum(subflow["retransmissions"] for subflow in run["subflows"]),
        "timeouts": sum(subflow["timeouts"] for subflow in run["subflows"]),
    }
