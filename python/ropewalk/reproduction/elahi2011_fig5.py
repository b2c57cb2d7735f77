"""Elahi et al. 2011, figure 5: the rates of table 1, drawn."""

from __future__ import annotations

from dataclasses import replace

from . import elahi2011_table1
from .reproduction import Reproduction


def reproduce() -> Reproduction:
    """Make figure 5 again: table 1's numbers, whose picture it is."""
    return replace(
        elahi2011_table1.reproduce(),
        item="fig5",
        title="Elahi et al. 2011, figure 5: departure, analytic and experimental rates",
    )
