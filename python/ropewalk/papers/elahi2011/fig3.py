"""Elahi et al. 2011, figure 3: probability of n packets in the system."""

from __future__ import annotations

from typing import get_args

import numpy as np

from ...analysis.reproduction import Alternative, Choice, ComparedValue, Reproduction
from ...model.elahi2011 import mean_packets, probability
from ..published import published
from .distributions import UNSTATED, curves, distributions
from .rows import Capacity, Row, queue, rows


def reproduce() -> Reproduction:
    """Reproduce figure 3."""
    table = distributions("probability", probability)
    return Reproduction(
        paper="elahi-2011",
        item="fig3",
        title="Elahi et al. 2011, figure 3: n packets in the system",
        source=published("elahi-2011")["citation"],
        comparisons=tuple(
            ComparedValue(
                f"mean n, {row.name} packets/s",
                mean_packets(queue(row)),
                unit="packets",
                digits=1,
                reason=UNSTATED,
            )
            for row in rows()
        ),
        draw=lambda: curves(table, "probability", "probability of n packets"),
        choices=(
            Choice(
                "For which row of table 1 is the curve?",
                "all six are drawn",
                tuple(
                    Alternative(
                        row.name,
                        {
                            "p of none": float(probability(queue(row))[0]),
                            "greatest p": float(np.max(probability(queue(row)))),
                            "most probable n": int(np.argmax(probability(queue(row)))),
                        },
                    )
                    for row in rows()
                ),
                digits=4,
            ),
            Choice(
                "What is the capacity of the system in packets?",
                "300 in each row",
                tuple(
                    Alternative(name, {"greatest change of p": max(_changes(name))})
                    for name in get_args(Capacity)
                ),
                digits=5,
            ),
        ),
        tables={"probability": table},
    )


def _changes(capacity: Capacity) -> list[float]:
    """Return the largest change of p_n for each row."""
    return [_change(row, capacity) for row in rows()]


def _change(row: Row, capacity: Capacity) -> float:
    taken, other = probability(queue(row)), probability(queue(row, capacity))
    padded = np.zeros_like(taken)
    padded[: len(other)] = other
    return float(np.max(np.abs(taken - padded)))
