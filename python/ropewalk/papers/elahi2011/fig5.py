"""Elahi et al. 2011, figure 5: the rates of table 1 as a picture."""

from __future__ import annotations

from collections.abc import Callable

from ...analysis.reproduction import ComparedValue, Reproduction
from ..published import published
from .rates import draw, of_ethernet, rates
from .rows import rows
from .simulated import ETHERNET, EXACT, simulated


def reproduce(
    *, seed: int, runs: int, progress: Callable[[int, int], object] | None
) -> Reproduction:
    """Reproduce figure 5.

    It adds the distance of the rates of table 1 from the uppermost curve, the departure rates.
    """
    runs_of_all, scenarios = simulated((EXACT, ETHERNET), seed=seed, runs=runs, progress=progress)
    table = rates(runs_of_all)
    share = (100 * table[ETHERNET.key] / table["departure"]).to_list()
    return Reproduction(
        paper="elahi-2011",
        item="fig5",
        title="Elahi et al. 2011, figure 5: how far below the departure rates",
        source=published("elahi-2011")["citation"],
        comparisons=tuple(
            ComparedValue(
                f"experiment over departure; simulated, Ethernet, {row.name}",
                ours,
                published=round(100 * row.experimental / sum(row.departure), 1),
                unit="%",
                digits=1,
                reason=of_ethernet(table, runs_of_all),
            )
            for row, ours in zip(rows(), share, strict=True)
        ),
        draw=lambda: draw(table),
        tables={"rates": table, "simulated": runs_of_all},
        scenarios=scenarios,
        seed=seed,
        runs=runs,
    )
