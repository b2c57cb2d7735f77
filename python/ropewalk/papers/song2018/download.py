"""A download striped over links that vary over time, simulated and by three models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from ...engines.simulate import simulate
from ...model.song2018 import SEGMENT_BYTES, prediction_accuracy, throughput
from ...model.striped_cycle import rule_of_thumb, transfer
from ...scenario import Scenario
from .striped import MBPS
from .timed_links import TimedLink

if TYPE_CHECKING:
    import polars as pl

Tcp: TypeAlias = Literal["linux-3.13", "threshold of three", "newreno", "linux"]
Delays: TypeAlias = Literal["half each way", "with the data"]

TRANSPORT: dict[Tcp, str] = {
    "linux-3.13": 'profile = "linux-3.13"',
    "threshold of three": 'profile = "linux-3.13"\nreordering = "none"',
    "newreno": 'profile = "ns-3"',
    "linux": 'profile = "linux"',
}
LINK = """
[[link]]
name = "{name}"
trace = "{name}.down"
delay = "0 ms"
jitter = {{ trace = "{name}.delays" }}
queue = "1000 packets"
reverse = {{ rate = "unlimited"{reverse} }}
"""
SCENARIO = """
title = "One TCP striped over {count} links of a train"
duration = "{seconds} s"
{links}
[transport]
protocol = "striped-tcp"
scheduler = "round-robin"
{transport}

[traffic]
kind = "bulk"
"""
MODELS = ("paper", "cycle", "rule")
# Of the models. Long enough for slow start not to matter.
TRANSFER_BYTES = 5e6
LEAST_MBPS = 1e-3  # an interval without a delivery counts as this


@dataclass(frozen=True)
class Download:
    """A download over links that vary.

    `delays` is the part of the round trip that delays data; the paper's model has all of it there.
    `table_segment` gives the paper's model the segment of its table 2 instead of the connection's.
    """

    links: Sequence[TimedLink]
    seconds: int
    tcp: Tcp
    delays: Delays
    table_segment: bool

    def scenario(self) -> Scenario:
        """Return the scenario with its traces."""
        half = self.delays == "half each way"
        reverse = "" if half else ', jitter = "0 ms"'
        files: dict[str, str] = {}
        for link in self.links:
            files |= link.files(0.5 if half else 1.0)
        text = SCENARIO.format(
            count=len(self.links),
            seconds=self.seconds,
            links="".join(LINK.format(name=link.name, reverse=reverse) for link in self.links),
            transport=TRANSPORT[self.tcp],
        )
        return Scenario(text, name=f"download over {len(self.links)} links", files=files)

    def intervals(self, step_s: int, seed: int) -> pl.DataFrame:
        """Simulate, and predict each interval from its mean rates and round trips.

        A row for each interval: its end ``time_s``, goodput in Mbit/s, ``simulated`` and by each
        model, and each model's accuracy.
        """
        import polars as pl

        scenario = self.scenario()
        recorded = simulate(scenario, seed=seed, step=f"{step_s} s").connection
        segment = scenario.setup.first.segment
        rows = []
        for end_s, goodput in recorded.select("time_s", "goodput_mbps").iter_rows():
            span = round((end_s - step_s) * 1e3), round(end_s * 1e3)
            row = {"time_s": end_s, "simulated": goodput} | self._predicted(span, segment)
            for model in MODELS:
                accuracy = prediction_accuracy(row[model], max(goodput, LEAST_MBPS))
                row[f"{model}_accuracy_percent"] = 100 * float(accuracy)
            rows.append(row)
        return pl.DataFrame(rows)

    def _predicted(self, span: tuple[int, int], segment: int) -> dict[str, float]:
        rate = np.array([link.rate_mbps(*span) for link in self.links]) * MBPS
        trip = np.array([link.round_trip_ms(*span) for link in self.links]) / 1e3
        forward = trip / 2 if self.delays == "half each way" else trip
        own = SEGMENT_BYTES if self.table_segment else segment
        paper = throughput(
            rate,
            trip,
            transfer_bytes=TRANSFER_BYTES,
            segment_bytes=own,
            initial_window_bytes=own,
        )
        cycle = transfer(
            rate,
            forward,
            transfer_bytes=TRANSFER_BYTES,
            segment_bytes=segment,
            initial_window_bytes=segment,
            return_delay_s=trip - forward,
        )
        return {
            "paper": float(paper) / MBPS,
            "cycle": segment * cycle.segments / cycle.time_s / MBPS,
            "rule": rule_of_thumb(trip, segment_bytes=segment) / MBPS,
        }
