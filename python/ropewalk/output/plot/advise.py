"""Picture of advice: goodput of subsets over their number of links."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...results.displayable import Width
from .. import style
from ..style import picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ...analysis.advise.result import AdviceResults

SPREAD = 0.34  # horizontal spread of dots with one number of links


def draw(results: AdviceResults, *, width: Width | None = None) -> Figure:
    """Draw every subset, faint if only predicted, marked if simulated.

    Examples
    --------
    >>> import ropewalk
    >>> figure = draw(ropewalk.advise("start/two-links"))
    >>> figure.axes[0].get_xlabel()
    'number of links'
    """
    with picture(
        8, 4.6, title=results.scenario.title, letters=results.scenario.effective(), paper=width
    ) as figure:
        axes = figure.subplots()
        _dots(axes, results)
        axes.set_xlabel("number of links")
        axes.set_ylabel("goodput (Mbit/s)")
        axes.set_ylim(bottom=0)
        axes.set_xticks(sorted({len(each.paths) for each in results.subsets}))
        axes.grid(visible=False, axis="x")
        axes.legend(loc="upper left", bbox_to_anchor=(1, 1))
    return figure


def _dots(axes: Axes, results: AdviceResults) -> None:
    sizes: dict[int, int] = {}
    for each in results.subsets:
        sizes[len(each.paths)] = sizes.get(len(each.paths), 0) + 1
    placed: dict[int, int] = {}
    across: list[float] = []
    for each in results.subsets:
        count = len(each.paths)
        number = placed[count] = placed.get(count, 0) + 1
        width = SPREAD if sizes[count] > 2 else SPREAD / 2
        offset = 0.0 if sizes[count] == 1 else width * (2 * (number - 1) / (sizes[count] - 1) - 1)
        across.append(count + offset)
    dots = list(zip(across, results.subsets, strict=True))
    _scatter(
        axes,
        [(x, each.predicted_mbps) for x, each in dots],
        s=9,
        color=style.FAINT,
        alpha=0.35,
        linewidths=0,
        label=f"predicted ({results.model})",
    )
    _scatter(
        axes,
        [(x, each.simulated_mbps) for x, each in dots],
        s=16,
        facecolors="none",
        edgecolors=style.COLOURS[0],
        linewidths=0.9,
        label="simulated",
    )
    _scatter(
        axes,
        [(x, each.simulated_mbps) for x, each in dots if each.paths == results.advised],
        s=90,
        marker="*",
        color=style.COLOURS[4],
        linewidths=0,
        zorder=3,
        label=textwrap.fill(f"advised: {', '.join(results.advised)}", 30),
    )


def _scatter(axes: Axes, dots: Sequence[tuple[float, float | None]], **style: Any) -> None:
    """Draw the dots with a known height."""
    known = [(x, y) for x, y in dots if y is not None]
    if known:
        axes.scatter([x for x, _ in known], [y for _, y in known], **style)
