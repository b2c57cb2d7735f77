"""Items that check a paper's equations: rows, table and picture.

A row has the greatest relative difference of a function of `ropewalk.model` from an independent
computation, such as the printed sum, an enumeration or a simulation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..analysis.reproduction import ComparedValue, Reproduction
from ..output.style import COLOURS, picture
from .published import published

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCALE = 1e-9  # unit of the differences
UNIT = "x 10^-9"
SMALLEST = 1e-17  # drawn for a difference of 0


@dataclass(frozen=True)
class Check:
    """An equation, an independent computation of it, and both results.

    Attributes
    ----------
    equation : str
        Number in the paper, or a name: ``"(5)"``.
    quantity, against : str
        The quantity, and the independent computation.
    ours, expected : array_like
        Values of both, of the same shape.
    most : float
        Largest relative difference that meets the equation.
    reason : str or None
        Reason of a difference beyond rounding.
    """

    equation: str
    quantity: str
    against: str
    ours: npt.ArrayLike
    expected: npt.ArrayLike
    most: float = SCALE
    reason: str | None = None

    @property
    def difference(self) -> float:
        """The greatest difference relative to the expected value, absolute where that is 0.

        Examples
        --------
        >>> Check("(1)", "C", "a sum", [2.0, 0.0], [1.0, 0.5]).difference
        1.0
        """
        ours, expected = np.broadcast_arrays(
            np.asarray(self.ours, dtype=float), np.asarray(self.expected, dtype=float)
        )
        if not ours.size or not np.isfinite(ours).all() or not np.isfinite(expected).all():
            return np.inf
        scale = np.where(expected == 0, 1.0, np.abs(expected))
        return float(np.max(np.abs(ours - expected) / scale))

    @property
    def name(self) -> str:
        """Equation, quantity and the independent computation."""
        return f"{self.equation} {self.quantity}, from {self.against}"

    def row(self) -> ComparedValue:
        """Return the row of the comparison."""
        return ComparedValue(
            self.name,
            self.difference / SCALE,
            published=0,
            unit=UNIT,
            band=(0, self.most / SCALE),
            reason=self.reason,
        )


def reproduction(
    paper: str, title: str, checks: Sequence[Check], more: Sequence[ComparedValue] = ()
) -> Reproduction:
    """Return the item ``equations`` of a paper, with further rows below its checks."""
    import polars as pl

    table = pl.DataFrame(
        {
            "equation": [each.equation for each in checks],
            "quantity": [each.quantity for each in checks],
            "against": [each.against for each in checks],
            "values": [int(np.size(each.ours)) for each in checks],
            "difference": [each.difference for each in checks],
        }
    )
    return Reproduction(
        paper=paper,
        item="equations",
        title=title,
        source=published(paper)["citation"],
        comparisons=(*(each.row() for each in checks), *more),
        draw=lambda: _draw(checks),
        tables={"checks": table},
    )


def _draw(checks: Sequence[Check]) -> Figure:
    with picture(7, 1.2 + 0.22 * len(checks)) as figure:
        axes = figure.subplots()
        places = np.arange(len(checks))
        axes.plot(
            [max(each.difference, SMALLEST) for each in checks], places, "o", color=COLOURS[0]
        )
        axes.plot([each.most for each in checks], places, "|", markersize=9, color=COLOURS[4])
        axes.set_xscale("log")
        axes.set_yticks(places, [f"{each.equation} {each.quantity}" for each in checks])
        axes.invert_yaxis()
        axes.set_xlabel("greatest relative difference (lines: limits)")
        axes.set_ylabel("equation")
    return figure
