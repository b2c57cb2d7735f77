"""One connection striped over the links of Song et al. 2018, simulated and by three models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...engines.simulate import simulate
from ...model.song2018 import throughput
from ...model.striped_cycle import rule_of_thumb, transfer
from ...scenario import Scenario

MBPS = 125_000.0  # bytes per second

LINK = """
[[link]]
name = "{name}"
rate = "{rate} Mbit/s"
delay = "{delay_us} us"
queue = "100000 packets"
reverse = {{ rate = "unlimited", delay = "0 ms", loss = "0 %", jitter = "0 ms" }}
loss = "{loss}"
jitter = "{jitter}"
"""
SCENARIO = """
title = "One TCP striped over {count} links"
duration = "10000 s"
{links}
[transport]
protocol = "striped-tcp"
profile = "ns-3"
congestion = "{congestion}"
scheduler = "round-robin"
segment = "{segment} B"
initial_window = "{initial_window} B"
initial_ssthresh = "{ssthresh} B"
delayed_ack = {ack_every}
sack = {sack}
receive_buffer = "100 MB"
send_buffer = "100 MB"

[traffic]
kind = "bulk"
size = "{size} B"
"""
Beyond: TypeAlias = Literal["nothing", "loss", "jitter", "cubic"]
BEYOND: dict[Beyond, dict[str, str]] = {
    "nothing": {},
    "loss": {"loss": "0.1 %"},
    "jitter": {"jitter": "1 ms"},
    "cubic": {"congestion": "cubic"},
}
NAMES = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII")


@dataclass(frozen=True)
class Striped:
    """A transfer over the first of the paper's links.

    `facts` has the paper's rates, segment, windows and acknowledgements, `delays_s` the round trip
    of each link, all of it in the data's direction, as in the paper's model. `beyond` is an effect
    in the simulation that no model includes.
    """

    facts: dict[str, Any]
    delays_s: Sequence[float]
    transfer_bytes: float
    sack: bool
    beyond: Beyond = "nothing"

    def scenario(self) -> Scenario:
        """Return the scenario; queues are never full."""
        has = {"loss": "0 %", "jitter": "0 ms", "congestion": "newreno"} | BEYOND[self.beyond]
        links = [
            LINK.format(name=name, rate=rate, delay_us=round(delay * 1e6), **has)
            for name, rate, delay in zip(
                NAMES, self.facts["link_rate_mbps"], self.delays_s, strict=False
            )
        ]
        text = SCENARIO.format(
            count=len(links),
            links="".join(links),
            segment=self.facts["segment_bytes"],
            initial_window=self.facts["initial_window_bytes"],
            ssthresh=self.facts["slow_start_threshold_bytes"],
            ack_every=self.facts["ack_every_segments"],
            sack=str(self.sack).lower(),
            size=round(self.transfer_bytes),
            **has,
        )
        return Scenario(text, name=f"striped over {len(links)} links")

    def simulated(self, seed: int) -> float:
        """Return the simulated goodput, Mbit/s; only `beyond` may be random."""
        goodput: float = simulate(self.scenario(), seed=seed).runs[0]["goodput_mbps"]
        return goodput

    def of_paper(self) -> float:
        """Return the throughput by the paper's model, Mbit/s."""
        predicted = throughput(
            self._rates,
            np.asarray(self.delays_s),
            transfer_bytes=self.transfer_bytes,
            segment_bytes=self.facts["segment_bytes"],
            initial_window_bytes=self.facts["initial_window_bytes"],
            ssthresh_bytes=self.facts["slow_start_threshold_bytes"],
            ack_every=self.facts["ack_every_segments"],
        )
        return float(predicted) / MBPS

    def of_cycle(self) -> tuple[float, float]:
        """Return the goodput by `striped_cycle`, Mbit/s, and the longest wait for an answer, s."""
        done = transfer(
            self._rates,
            self.delays_s,
            transfer_bytes=self.transfer_bytes,
            segment_bytes=self.facts["segment_bytes"],
            initial_window_bytes=self.facts["initial_window_bytes"],
            ssthresh_bytes=self.facts["slow_start_threshold_bytes"],
            ack_every=self.facts["ack_every_segments"],
            sack=self.sack,
        )
        handshake_s = max(self.delays_s)
        return self.transfer_bytes / done.time_s / MBPS, max(handshake_s, done.longest_silence_s)

    def of_rule(self) -> float:
        """Return the rate of four segments in the largest delay, Mbit/s."""
        return rule_of_thumb(self.delays_s, segment_bytes=self.facts["segment_bytes"]) / MBPS

    @property
    def _rates(self) -> NDArray[np.float64]:
        return np.array(self.facts["link_rate_mbps"][: len(self.delays_s)]) * MBPS
