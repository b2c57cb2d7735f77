"""Timelines as arrays with a row per run and a column per step, and their means."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ...results import statistics

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from ...results import Results

    Array: TypeAlias = NDArray[np.float64]

WHOLE = 0.99  # share of its length from which a step counts as whole


@dataclass(frozen=True)
class Curve:
    """A quantity over time: mean over the runs not yet ended, NaN if unknown.

    `edges` of the steps, in s, are one more than the values. `half` is half the mean's 95 %
    interval by Student's t; None for one run.
    """

    edges: Array
    mean: Array
    half: Array | None = None

    @property
    def most(self) -> float:
        """The greatest value, interval included; 0 if none is known."""
        top = self.mean if self.half is None else self.mean + np.nan_to_num(self.half)
        return float(np.nanmax(top, initial=0.0))

    @property
    def differs(self) -> bool:
        """Whether runs differ by more than rounding."""
        if self.half is None:
            return False
        return bool(np.nanmax(self.half, initial=0.0) > 1e-9 * max(self.most, 1e-9))


class Steps:
    """The steps of one flow in some runs.

    A run's last step is omitted if it is shorter than the others: a transfer ended in it, so its
    rates are not comparable. `connection` has ``seed`` and ``time_s``, the end of each step.
    """

    def __init__(self, connection: pl.DataFrame, seeds: Sequence[int]) -> None:
        self.connection = connection
        self.seeds = list(seeds)
        self._times = [
            connection.filter(connection["seed"] == seed)["time_s"].to_numpy() for seed in seeds
        ]
        whole = [_whole(edges_of(time)) for time in self._times]
        self.edges: Array = max(whole, key=len)
        self._counts = [len(edges) - 1 for edges in whole]

    def __len__(self) -> int:
        return len(self.edges) - 1

    def values(self, column: str, rows: pl.DataFrame | None = None) -> Array:
        """Return a quantity by run and step; NaN if unknown or after the end of a run.

        `rows` has the quantity, such as a subflow's timeline. Default: the connection.
        """
        rows = self.connection if rows is None else rows
        values = np.full((len(self.seeds), len(self)), math.nan)
        for row, (seed, time) in enumerate(zip(self.seeds, self._times, strict=True)):
            of_run = rows.filter(rows["seed"] == seed)
            at = np.searchsorted(time, of_run["time_s"].to_numpy())
            known = of_run[column].cast(float).fill_null(math.nan).to_numpy()
            within = at < self._counts[row]
            values[row, at[within]] = known[within]
        return values

    def there(self, values: Array) -> Array:
        """Return values with zeros where a run continues without the entity."""
        filled = np.nan_to_num(values)
        for row, count in enumerate(self._counts):
            filled[row, count:] = math.nan
        return filled

    def curve(self, values: Array, most: int | None = None) -> Curve:
        """Return the means over the runs, averaged over steps if there are more than `most`.

        Remaining steps at the end are merged with the last ones.
        """
        starts = np.arange(0, len(self), self.together(most))
        if len(starts) > 1 and len(self) % self.together(most):
            starts = starts[:-1]
        spans = np.diff(self.edges) * ~np.isnan(values)
        sums = np.add.reduceat(np.nan_to_num(values) * spans, starts, axis=1)
        spans = np.add.reduceat(spans, starts, axis=1)
        binned = np.full_like(sums, math.nan)
        np.divide(sums, spans, out=binned, where=spans > 0)
        edges = np.append(self.edges[starts], self.edges[-1])
        return Curve(edges, *statistics.band(binned))

    def together(self, most: int | None) -> int:
        """Return the number of steps to average for at most `most` values."""
        return 1 if most is None else max(1, math.ceil(len(self) / most))


def of_first_flow(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of the first flow."""
    if "flow" not in frame.columns or frame.is_empty():
        return frame
    return frame.filter(frame["flow"] == frame["flow"][0])


def subflows_of(results: Results, seeds: Sequence[int]) -> list[tuple[int, str, pl.DataFrame]]:
    """Number, name and timeline of each subflow of the first flow; empty for datagrams."""
    rows = results.timeline.filter(results.timeline["seed"].is_in(list(seeds)))
    if "flow" in rows.columns:
        rows = rows.filter(rows["flow"] == results.connection["flow"][0])
    frames = rows.sort("subflow", "seed", "time_s").partition_by("subflow", maintain_order=True)
    names = [frame["link"][0] for frame in frames]
    return [
        (index, f"{name} ({index})" if names.count(name) > 1 else str(name), frame)
        for name, frame in zip(names, frames, strict=True)
        for index in [int(frame["subflow"][0])]
    ]


def flows_of(results: Results, seeds: Sequence[int]) -> list[tuple[str, int, pl.DataFrame]]:
    """Name, timeline and number of flows of each entry, competitors last.

    The flows of an entry with a ``count`` are summed. A competitor has the mean goodput of its
    flows.
    """
    connection = results.connection.filter(results.connection["seed"].is_in(list(seeds)))
    if "flow" in connection.columns:
        own = _by_entry(connection, results.runs[0]["flows"])
        found = [(str(rows["flow"][0]), 1, rows) for rows in own]
    else:
        found = [(results.scenario.flows[0], 1, connection)]
    others = results.competitor_timeline
    if others.is_empty():
        return found
    of_seeds = others.filter(others["seed"].is_in(list(seeds)))
    for rows in of_seeds.partition_by("competitor", maintain_order=True):
        name, count = str(rows["competitor"][0]), int(rows["count"][0])
        found.append((name if count == 1 else f"{name} ({count:,} flows)", count, rows))
    return found


def _by_entry(
    connection: pl.DataFrame, entries: Sequence[Mapping[str, Any]]
) -> list[pl.DataFrame]:
    """Return the timeline of each entry, its flows summed."""
    import polars as pl

    named = {
        f"{entry['name']} ({number})": f"{entry['name']} ({entry['count']:,} flows)"
        for entry in entries
        if entry.get("count", 1) > 1
        for number in range(1, entry["count"] + 1)
    }
    summed = (
        connection.with_columns(pl.col("flow").replace(named))
        .group_by("flow", "seed", "time_s", maintain_order=True)
        .agg(pl.col("goodput_mbps").sum(), pl.exclude("goodput_mbps").first())
    )
    return summed.partition_by("flow", maintain_order=True)


def edges_of(time: Array) -> Array:
    """Return the edges of the steps that end at these times."""
    step = time[1] - time[0] if len(time) > 1 else time[0]
    return np.concatenate([[max(time[0] - step, 0.0)], time])


def _whole(edges: Array) -> Array:
    spans = np.diff(edges)
    return edges[:-1] if len(spans) > 1 and spans[-1] < WHOLE * spans[0] else edges
