"""Loss of the greedy split (15) to (17) of Park et al. 2014 in random cases."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...model.park2014.splitting import compare_greedy, rate_needed
from .random_scenarios import PACKET

if TYPE_CHECKING:
    import polars as pl

KINDS = ("as printed", "with floors", "in slow start")
DRAWN_WITH = 1517
ROUNDING = 1e-9


def splits(
    count: int, facts: dict[str, Any], progress: Callable[[int], object] | None = None
) -> pl.DataFrame:
    """Split the traffic of random cases greedily, and at the least cost of (11) and (10).

    A case has 2 to 4 subflows of 2 to 20 Mbit/s with minimum round trips of 10 to 160 ms, losses
    up to 0.1 % and costs of 1 to 10 per Mbit/s. Windows allow at least half of the capacity.
    Demands are 10 to 100 % of the links' capacity, with the paper's thresholds. A third of the
    cases has floors x_min up to a tenth of the capacity, a third has subflows in slow start.

    The table has a row for each case. Cost ratios are absent if the problem has no solution, and
    the excess delay if the greedy split has none.
    """
    import polars as pl

    rows = []
    for number in range(count):
        rows.append(_case(number, facts))
        if progress is not None:
            progress(number + 1)
    return pl.DataFrame(rows)


def _case(number: int, facts: dict[str, Any]) -> dict[str, Any]:
    dice = np.random.default_rng((DRAWN_WITH, number))
    kind = KINDS[number % len(KINDS)]
    links = int(dice.integers(2, 5))
    mbps = np.exp(dice.uniform(np.log(2), np.log(20), links))
    capacity = mbps * 1e6 / 8 / PACKET
    rtt_min = dice.uniform(0.01, 0.16, links)
    loss = dice.uniform(0, 1e-3, links)
    cost = dice.uniform(1, 10, links) * PACKET * 8 / 1e6
    limit = capacity * dice.uniform(0.5, 1.5, links)
    demand = dice.uniform(0.1, 1.0) * float(capacity.sum())
    send = facts["send_threshold_ms"] / 1e3
    network = float(dice.choice(facts["network_threshold_ms"])) / 1e3
    floor = dice.uniform(0, 0.1, links) * capacity * (kind == "with floors")
    starting = (dice.random(links) < 0.5) & (kind == "in slow start")
    found = compare_greedy(
        demand,
        send,
        network,
        cost,
        capacity,
        rtt_min,
        loss=loss,
        limit=limit,
        floor=floor,
        slow_start=starting,
    )
    requested = send + network * (1 + 2 * float(loss.sum()))
    carries = found.missing <= ROUNDING * rate_needed(demand, send)
    return {
        "case": number + 1,
        "kind": kind,
        "subflows": links,
        "demand_share": demand / float(capacity.sum()),
        "network_threshold_ms": network * 1e3,
        "carries": carries,
        "within_delay": found.greedy.delay <= requested * (1 + ROUNDING),
        "above_network": bool((found.above_network > ROUNDING * capacity).any()),
        "above_limit": bool((found.above_limit > ROUNDING * capacity).any()),
        "below_floor": bool((found.below_floor > ROUNDING * capacity).any()),
        "delay_over_asked": (
            found.greedy.delay / requested if math.isfinite(found.greedy.delay) else None
        ),
        "cost_over_thresholds": _known(found.of_thresholds),
        "cost_over_delay": _known(found.of_delay),
    }


def _known(ratio: float) -> float | None:
    return None if math.isnan(ratio) else ratio
