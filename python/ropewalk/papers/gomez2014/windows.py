"""Congestion windows of two simulated subflows, read from the simulator's qlog file."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

from ...engines.simulate import simulate
from ...scenario import Scenario

SCENARIO = """
title = "Two subflows, {congestion}"
duration = "{duration_s} s"

[[link]]
name = "upper"
rate = "10 Mbit/s"
delay = "20 ms"
queue = "30 packets"

[[link]]
name = "lower"
rate = "5 Mbit/s"
delay = "40 ms"
queue = "30 packets"

[transport]
protocol = "mptcp"
profile = "rfc"
congestion = "{congestion}"
scheduler = "round-robin"
delayed_ack = 1
byte_counting = false
initial_ssthresh = "45 kB"

[traffic]
kind = "bulk"
"""
DURATION_S = 30


@dataclass
class Path:
    """State of a subflow; window and threshold in bytes, times in milliseconds."""

    window: float = 0.0
    threshold: float = float("inf")
    rtt: float = 0.0
    flight: float = 0.0
    in_recovery: bool = False


@dataclass(frozen=True)
class Change:
    """An acknowledgement in congestion avoidance, or the answer to a loss.

    Attributes
    ----------
    path : int
        Number of the subflow.
    before, after : float
        Window, segments.
    windows, rtts_ms : list of float
        Windows before the change in segments, and smoothed round trips, of both subflows.
    flight : float
        Data in flight before the change, segments.
    loss : bool
        Whether it is the answer to a loss.
    """

    path: int
    before: float
    after: float
    windows: list[float]
    rtts_ms: list[float]
    flight: float
    loss: bool


@dataclass
class Reader:
    """Reads the changes of windows from the events of a qlog file, in order."""

    segment: float
    paths: dict[int, Path] = field(default_factory=lambda: {0: Path(), 1: Path()})

    def read(self, event: dict[str, Any]) -> Iterator[Change]:
        """Take an event; yield the change that it reports, if any."""
        if "path_id" not in event:
            return
        path, data = self.paths[event["path_id"]], event["data"]
        if event["name"] == "recovery:packet_lost":
            path.in_recovery = True
        if event["name"] != "recovery:metrics_updated":
            return
        before, after = path.window, float(data.get("congestion_window", path.window))
        path.rtt = data.get("smoothed_rtt", path.rtt)
        fell = path.in_recovery and after < before
        avoids = before >= path.threshold and "smoothed_rtt" in data
        paths = self.paths.values()
        both = all(each.rtt and not each.in_recovery for each in paths)
        if fell or (avoids and both):
            windows = [each.window / self.segment for each in paths]
            rtts = [each.rtt for each in paths]
            number = event["path_id"]
            yield Change(
                number,
                before / self.segment,
                after / self.segment,
                windows,
                rtts,
                path.flight / self.segment,
                loss=fell,
            )
        path.flight = data.get("bytes_in_flight", path.flight)
        path.threshold = data.get("ssthresh", path.threshold)
        if after > before:
            path.in_recovery = False
        path.window = after


def changes(congestion: str) -> tuple[list[Change], Scenario]:
    """Simulate two subflows; return all changes of their windows, and the scenario."""
    text = SCENARIO.format(congestion=congestion, duration_s=DURATION_S)
    scenario = Scenario(text, name=congestion)
    with tempfile.TemporaryDirectory() as folder:
        log = FilePath(folder) / "windows.sqlog"
        simulate(scenario, qlog=log)
        events = [json.loads(line) for line in log.read_text().split("\x1e") if line.strip()]
    sizes = (event["data"]["raw"]["payload_length"] for event in events
             if event.get("name") == "recovery:packet_lost")  # fmt: skip
    reader = Reader(float(max(sizes)))
    return [change for event in events for change in reader.read(event)], scenario
