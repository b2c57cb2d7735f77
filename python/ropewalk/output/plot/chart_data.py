"""Descriptions of pictures of runs: names, labels and data, for any renderer.

Used by `time_panels` and `total_panels` (matplotlib) and by `ropewalk.output.report.over_time`
(interactive charts).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...results import statistics
from ..style import COLOURS
from .timelines import Curve, Steps, flows_of, of_first_flow, subflows_of

if TYPE_CHECKING:
    import polars as pl

    from ...results import Results
    from .timelines import Array

TIME = "time (s)"
GOODPUT = "goodput (Mbit/s)"
DELAY = "delay from write to delivery in order (ms)"
DELIVERED = "delivered in order"
CAPACITY = "sum of link rates"
INTERVAL = "95 % interval"
# Why the goodput can exceed the capacity for a while.
ABOVE = "data held behind a gap are delivered at once when the gap closes"
MAX_STEPS = 150  # finer steps show only the bursts after repaired losses
MAX_DELIVERED = 60
MAX_AVERAGED = 30  # the same for means over runs, whose gaps close at different times
ROOM = 1.3  # height of the axis over the capacity of links
USED = 0.1  # share of the capacity from which the axis includes it
PIECES = {"bulk": "packets", "video": "frames"}  # units of delays; otherwise messages
# Columns of timelines: label, and factor from the column's unit.
STATE = {
    "cwnd_bytes": ("congestion window (kB)", 1e-3),
    "in_flight_bytes": ("in flight (kB)", 1e-3),
    "ssthresh_bytes": ("slow-start threshold (kB)", 1e-3),
    "srtt_ms": ("smoothed round trip (ms)", 1.0),
    "goodput_mbps": ("arrives (Mbit/s)", 1.0),
}
BUFFERS = {
    "reorder_buffer_bytes": ("reorder buffer (kB)", 1e-3),
    "player_buffer_s": ("player's buffer (s)", 1.0),
}
# Uses of a radio's time by key: name and colour.
AIRTIME = {
    "data": ("data", COLOURS[0]),
    "retries": ("retries", COLOURS[4]),
    "ack": ("ACK", COLOURS[1]),
    "rts": ("RTS, CTS", COLOURS[3]),
    "defer": ("something to send, and waiting", "#d9d9d9"),
    "idle": ("nothing to send", "#f6f6f6"),
}


@dataclass(frozen=True)
class Goodput:
    """Goodput over time, 10^6 bit/s: in order at the application, and of each subflow.

    `arrived` has number, name and goodput of the subflows, in stacking order. `capacity` is the
    sum of the links' rates, NaN if unknown.
    """

    arrived: tuple[tuple[int, str, Curve], ...]
    total: Curve
    capacity: Curve

    @property
    def has_capacity(self) -> bool:
        """Whether the capacity is known."""
        return not np.isnan(self.capacity.mean).all()

    @property
    def highest(self) -> float:
        """The highest goodput in order."""
        return float(np.nanmax(self.total.mean, initial=0.0))

    @property
    def is_small(self) -> bool:
        """Whether the goodput would be hard to see below the capacity."""
        used = max(self._stacked, self.highest)
        return self.has_capacity and used < USED * float(np.nanmin(self.capacity.mean))

    @property
    def top(self) -> float:
        """End of the axis: above the stack and the capacity, but not above each burst."""
        most = self._stacked
        if self.is_small:
            most = max(most, self.highest)
        elif self.has_capacity:
            most = max(most, float(np.nanmax(self.capacity.mean)))
        return ROOM * most

    @property
    def _stacked(self) -> float:
        curves = [np.nan_to_num(curve.mean) for _, _, curve in self.arrived]
        return max(float(np.quantile(np.sum(curves, axis=0), 0.99)) if curves else 0.0, 1e-3)


def goodput(results: Results, seeds: Sequence[int]) -> Goodput:
    """Describe goodput over time: by subflow, in order, and the capacity."""
    steps = steps_of(results, seeds)
    arrived = [
        (index, name, steps.curve(steps.there(steps.values("goodput_mbps", rows)), MAX_STEPS))
        for index, name, rows in subflows_of(results, seeds)
    ]
    capacity = steps.curve(_capacity(results, steps), MAX_STEPS)
    return Goodput(tuple(arrived), delivered(results, seeds), capacity)


def delivered(results: Results, seeds: Sequence[int]) -> Curve:
    """Goodput in order at the application, 10^6 bit/s."""
    steps = steps_of(results, seeds)
    return steps.curve(steps.values("goodput_mbps"), most_delivered(seeds))


def flows(results: Results, seeds: Sequence[int]) -> dict[str, Curve]:
    """Goodput of each flow, 10^6 bit/s; the flows of a competitor are summed.

    If there are many, all but the largest are merged.
    """
    of_flows = flows_of(results, seeds)
    steps = Steps(max((rows for _, _, rows in of_flows), key=len), seeds)
    text = [
        (name, steps.there(count * steps.values("goodput_mbps", rows)))
        for name, count, rows in of_flows
    ]
    if len(text) > len(COLOURS):
        ranks = np.argsort([-float(np.nanmean(values)) for _, values in text])
        largest, others = sorted(ranks[: len(COLOURS) - 1]), ranks[len(COLOURS) - 1 :]
        together = np.sum([text[flow][1] for flow in others], axis=0)
        count = sum(of_flows[flow][1] for flow in others)
        text = [*(text[flow] for flow in largest), (f"{count:,} others", together)]
    return {name: steps.curve(values, MAX_DELIVERED) for name, values in text}


def buffer(
    results: Results, seeds: Sequence[int], column: str, most: int | None = None
) -> tuple[str, Curve] | None:
    """Label and content over time of a buffer of `BUFFERS`; None if unknown."""
    steps = steps_of(results, seeds)
    label, scale = BUFFERS[column]
    if column not in steps.connection.columns:
        return None
    values = scale * steps.values(column)
    return None if np.isnan(values).all() else (label, steps.curve(values, most))


def delays(bins: pl.DataFrame, seeds: Sequence[int]) -> tuple[Array, Array, Array | None]:
    """Upper edges of delay bins in ms, mean share within each, and half its interval."""
    edges = np.unique(bins.filter(bins["seed"].is_in(list(seeds)))["up_to_ms"].to_numpy())
    found = []
    for seed in seeds:
        of_run = bins.filter(bins["seed"] == seed)
        counts = np.zeros(len(edges))
        np.add.at(
            counts,
            np.searchsorted(edges, of_run["up_to_ms"].to_numpy()),
            of_run["count"].to_numpy(),
        )
        if counts.sum():
            found.append(np.cumsum(counts) / counts.sum())
    if not found:
        return edges, np.array([]), None
    return edges, *statistics.band(np.array(found))


def airtime(runs: Sequence[Mapping[str, Any]]) -> tuple[list[str], dict[str, Array]]:
    """Names of the radios, and their percentages of time by key of `AIRTIME`."""
    names = [f"{radio['node']} on {radio['channel']}" for radio in runs[0]["radios"]]
    shares = {
        part: np.mean(
            [[100 * radio["airtime"][part] for radio in run["radios"]] for run in runs], axis=0
        )
        for part in AIRTIME
    }
    return names, shares


def pieces(results: Results) -> str:
    """Return the unit of delay measurements, such as packets or frames."""
    return PIECES.get(results.scenario.setup.first.traffic.kind, "messages")


def means_note(results: Results, seeds: Sequence[int]) -> str | None:
    """Describe means by their number of runs; None for one run.

    Examples
    --------
    >>> import ropewalk
    >>> results = ropewalk.simulate("start/two-links", runs=3)
    >>> means_note(results, [1]), means_note(results, [1, 2, 3])
    (None, 'means of 3 runs')
    """
    if len(seeds) < 2:
        return None
    if statistics.alike(results.runs):
        return f"{len(seeds)} runs, all alike"
    return f"means of {len(seeds)} runs"


def steps_of(results: Results, seeds: Sequence[int]) -> Steps:
    """Steps of the first flow in some runs."""
    connection = of_first_flow(results.connection)
    return Steps(connection.filter(connection["seed"].is_in(list(seeds))), seeds)


def most_delivered(seeds: Sequence[int]) -> int:
    """Return the largest number of goodput steps in a picture."""
    return MAX_DELIVERED if len(seeds) == 1 else MAX_AVERAGED


def _capacity(results: Results, steps: Steps) -> Array:
    """Capacity of the links by run and step, 10^6 bit/s; NaN if unknown."""
    if "capacity_mbps" in steps.connection.columns:
        return steps.values("capacity_mbps")
    steady = not any(link.forward.trace for link in results.scenario.setup.links)
    capacity = results.scenario.capacity_mbps if steady else None
    return np.full((len(steps.seeds), len(steps)), math.nan if capacity is None else capacity)
