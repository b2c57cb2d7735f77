"""Measured runs of Park et al. 2014, section 5, which figures 2 to 5 share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ...engines.simulate import simulate
from .setups import LTE_RTT_MS, WARMUP_S, Case, link_rates
from .varying_links import PACKET, STEP_S, Floats

if TYPE_CHECKING:
    import polars as pl

TIMELINE_S = 0.01
PAYLOAD = 1424
"""Bytes of payload in a packet of MPTCP."""
GRID = np.geomspace(1, 1e5, 2001)
"""Values in ms at which distributions are known."""
WEIGHED_S = 1.0
"""Time over which an instantaneous rate is a mean."""


@dataclass(frozen=True)
class Run:
    """Measurements of one run after the warm-up; mappings by link.

    `delays` is the share of data with a delay, from write to delivery in order, up to each value
    of `GRID`; `trips` is the share of packets by smoothed round trip. `sent` and `capacity` are
    rates in Mbit/s of IP packets, one for each 0.1 s. `lost_percent` counts lost and dropped
    packets.
    """

    delays: Floats
    mean_delay_ms: float
    cost: float
    lost_percent: Mapping[str, float]
    trips: Mapping[str, Floats]
    sent: Mapping[str, Floats]
    capacity: Mapping[str, Floats]


@lru_cache(maxsize=4096)
def measured(case: Case, seed: int) -> Run:
    """Simulate a case once; a further call returns the same run."""
    import polars as pl

    results = simulate(case.scenario(seed), seed=seed, step=f"{TIMELINE_S} s", threads=1)
    run, bins = results.json(), results.delays
    delays = {"wifi": case.setup.wifi_rtt_ms / 2e3, "lte": LTE_RTT_MS / 2e3}
    trips, sent, capacity = {}, {}, {}
    first = round(WARMUP_S / STEP_S)
    for (link,), part in results.timeline.sort("time_s").group_by("link", maintain_order=True):
        # A step has as many packets as it delivers bytes.
        known = part.filter(pl.col("time_s") > WARMUP_S).drop_nulls("srtt_ms")
        trips[link] = distribution(known["srtt_ms"].to_numpy(), known["goodput_mbps"].to_numpy())
        sent[link] = _sent(part, delays[link], first)
        capacity[link] = link_rates(seed, case.setup.least_mbps)[link][first:]
    return Run(
        distribution(bins["up_to_ms"].to_numpy(), bins["count"].to_numpy()),
        run["delay_ms"]["mean"],
        run["cost"],
        {
            link["name"]: 100
            * (link["lost_packets"] + link["dropped_packets"])
            / max(link["sent_packets"] + link["dropped_packets"], 1)
            for link in run["links"]
        },
        trips,
        sent,
        capacity,
    )


def distribution(values: Floats, weights: Floats) -> Floats:
    """Return the share up to each value of `GRID`; a value ends a bin, which is filled evenly.

    Examples
    --------
    >>> shares = distribution(np.array([100.0, 200.0]), np.array([1.0, 3.0]))
    >>> np.interp([50, 150, 200], GRID, shares).round(2).tolist()
    [0.0, 0.62, 1.0]
    """
    order = np.argsort(values)
    grown = np.cumsum(weights[order], dtype=np.float64)
    return np.asarray(np.interp(GRID, values[order], grown / grown[-1], left=0.0))


def _sent(steps: pl.DataFrame, delay_s: float, first: int) -> Floats:
    """Return the rate at which a subflow sent, Mbit/s of IP packets, for each 0.1 s from `first`.

    Sent data are acknowledged or in flight. Acknowledged data were delivered one delay before.
    Lost data leave the sum, so that they count once, with their retransmission.
    """
    delivered = np.cumsum(steps["goodput_mbps"].to_numpy()) * TIMELINE_S
    back = round(delay_s / TIMELINE_S)
    acknowledged = np.concatenate([np.zeros(back), delivered[: delivered.size - back]])
    in_flight = steps["in_flight_bytes"].to_numpy().astype(np.float64) * 8e-6
    at = np.arange(1, round(delivered.size * TIMELINE_S / STEP_S) + 1)
    total = (acknowledged + in_flight)[np.round(at * STEP_S / TIMELINE_S).astype(int) - 1]
    grown = np.maximum.accumulate(total[first - 1 :])
    return np.diff(grown) / STEP_S * PACKET / PAYLOAD


class Pooled:
    """All runs of one case, and means of their distributions, costs and rates."""

    def __init__(self, runs: Iterable[Run]) -> None:
        self.runs = list(runs)
        self.delays: Floats = np.mean([run.delays for run in self.runs], axis=0)
        self.trips: dict[str, Floats] = {
            link: np.mean([run.trips[link] for run in self.runs], axis=0)
            for link in self.runs[0].trips
        }

    def within(self, ms: float) -> float:
        """Return the percentage of data with a delay of at most `ms`."""
        return 100 * float(np.interp(ms, GRID, self.delays))

    def delay_s(self, share: float) -> float:
        """Return the delay in seconds that this share of the data does not exceed."""
        return float(np.interp(share, self.delays, GRID)) / 1e3

    def trips_within(self, link: str, ms: float) -> float:
        """Return the percentage of packets with a round trip of at most `ms`."""
        return 100 * float(np.interp(ms, GRID, self.trips[link]))

    def trip_ms(self, link: str, share: float) -> float:
        """Return the round trip in ms that this share of the packets does not exceed."""
        return float(np.interp(share, self.trips[link], GRID))

    def mean(self, name: str) -> float:
        """Return the mean of an attribute of the runs."""
        return float(np.mean([getattr(run, name) for run in self.runs]))

    def lost_percent(self, link: str) -> float:
        """Return the percentage of a link's packets that are lost or dropped."""
        return float(np.mean([run.lost_percent[link] for run in self.runs]))

    def sent_mbps(self, link: str) -> float:
        """Return the mean rate of transmission."""
        return float(np.mean([run.sent[link] for run in self.runs]))

    def ratio(self, link: str) -> float:
        """Return the mean rate of transmission over the mean capacity."""
        return self.sent_mbps(link) / float(np.mean([run.capacity[link] for run in self.runs]))

    def peak(self, link: str, seconds: float = WEIGHED_S) -> float:
        """Return the greatest ratio of a run, each ratio a mean of `seconds`; mean of the runs."""
        return float(np.mean([ratios(run, link, seconds).max() for run in self.runs]))

    def follows(self, link: str) -> float:
        """Return the correlation of a link's rate and its capacity, in means of a second."""
        found = [
            np.corrcoef(_means(run.sent[link], 1.0), _means(run.capacity[link], 1.0))[0, 1]
            for run in self.runs
        ]
        return float(np.mean(found))


def ratios(run: Run, link: str, seconds: float = WEIGHED_S) -> Floats:
    """Return the ratio of transmission rate to capacity in each interval of `seconds`."""
    return np.asarray(_means(run.sent[link], seconds) / _means(run.capacity[link], seconds))


def _means(series: Floats, seconds: float) -> Floats:
    size = round(seconds / STEP_S)
    whole = series[: series.size // size * size]
    return np.asarray(whole.reshape(-1, size).mean(axis=1))
