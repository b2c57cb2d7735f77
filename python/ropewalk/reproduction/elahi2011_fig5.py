"""Elahi et al. 2011, figure 5: the rates of table 1, drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from . import elahi2011_table1
from .reproduction import Reproduction


def reproduce(
    *, seed: int, runs: int, progress: Callable[[int, int], object] | None
) -> Reproduction:
    """Make figure 5 again: table 1's numbers, whose picture it is."""
    return replace(
        elahi2011_table1.reproduce(seed=seed, runs=runs, progress=progress),
        item="fig5",
        title="Elahi et al. 2011, figure 5: departure, analytic and experimental rates",
    )
