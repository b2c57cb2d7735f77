"""Elahi et al. 2011, figure 4: probability of at most n packets in the system."""

from __future__ import annotations

from typing import get_args

import polars as pl

from ...analysis.reproduction import Alternative, Choice, ComparedValue, Reproduction
from ...model.elahi2011 import cumulative_probability
from ..published import published
from .distributions import UNSTATED, curves, distributions
from .rows import Capacity, Row, queue, rows


def reproduce() -> Reproduction:
    """Reproduce figure 4."""
    paper = published("elahi-2011")
    first, last = paper["fig4"]["packets"]
    every = distributions("probability", cumulative_probability)
    table = every.filter(pl.col("packets").is_between(first, last))
    return Reproduction(
        paper="elahi-2011",
        item="fig4",
        title="Elahi et al. 2011, figure 4: at most n packets in the system",
        source=paper["citation"],
        comparisons=tuple(
            ComparedValue(
                f"probability of at most {last}, {row.name} packets/s",
                _at(row, last),
                digits=3,
                reason=UNSTATED,
            )
            for row in rows()
        ),
        draw=lambda: curves(table, "probability", "probability of at most n packets"),
        choices=(
            Choice(
                f"What is the capacity of the system in packets? (p of at most {last})",
                "300 in each row",
                tuple(
                    Alternative(
                        name,
                        {f"row {row.number}": _at(row, last, name) for row in rows()},
                    )
                    for name in get_args(Capacity)
                ),
                digits=3,
            ),
        ),
        tables={"probability": table},
    )


def _at(row: Row, packets: int, capacity: Capacity = "300 in each row") -> float:
    return float(cumulative_probability(queue(row, capacity))[packets])
