"""Gómez et al. 2014, figure 5: how load is shared where the lower path alone has errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..panels import COLOURS, INK
from .gomez2014_diamond import (
    COMPENSATED,
    COUPLED,
    TCP,
    Measured,
    Stack,
    scenarios,
    simulated,
    table,
)
from .pictures import picture
from .published import published
from .reproduction import Comparison, Reproduction

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STACKS = (COUPLED, COMPENSATED)
ERRORS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
LOW = (0.0, 0.1)

SHARES = (
    "The paper prints no numbers of the bars. What the lower path cannot carry the upper one"
    " does not take, for it is full already: its share grows since the other's goodput falls."
)


def reproduce(
    *, seed: int, runs: int, progress: Callable[[int, int], object] | None
) -> Reproduction:
    """Make figure 5 again."""
    wanted = [(TCP, 0.0, 0.0)] + [(stack, 0.0, error) for stack in STACKS for error in ERRORS]
    tcp, *measured = every = simulated(wanted, seed=seed, runs=runs, progress=progress)
    alone = tcp.mean["goodput_mbps"]
    return Reproduction(
        paper="gomez-2014",
        item="fig5",
        title="Gómez et al. 2014, figure 5: shares of subflows under asymmetric errors",
        source=published("gomez-2014")["citation"],
        comparisons=(
            Comparison(
                "fully coupled over RTT compensator, errors of 0 to 10 %",
                _mean(measured, COUPLED, LOW) / _mean(measured, COMPENSATED, LOW),
                published="below 1",
                unit="times",
                reason="A window that a loss took down stays down for long; see figure 3d.",
            ),
            Comparison(
                "interval of fully coupled over RTT compensator's, errors of 0 to 10 %",
                _width(measured, COUPLED) / _width(measured, COMPENSATED),
                published="above 1",
                unit="times",
                digits=1,
                reason=(
                    "Where a packet is lost by chance one transfer is whole and the next is half."
                    " With more errors the lower path is left for good, and nothing is chance."
                ),
            )
            if runs > 1
            else Comparison("runs, too few for an interval", runs, digits=0),
            Comparison(
                "most of the upper path over one TCP",
                max(each.mean["upper_mbps"] for each in measured) / alone,
                published="at most 1",
                unit="times",
                reason=(
                    "The upper path has a channel to itself, as the TCP has; segments and headers"
                    " differ a little."
                ),
            ),
            *(
                Comparison(
                    f"{each.stack.name}, errors {each.lower:.0%}: upper path's share",
                    100 * each.mean["upper_mbps"] / each.mean["goodput_mbps"],
                    unit="%",
                    digits=0,
                    reason=SHARES,
                )
                for each in measured
            ),
        ),
        draw=lambda: _draw(measured, alone),
        tables={"runs": table(every)},
        scenarios=scenarios(every),
        seed=seed,
        runs=runs,
    )


def _mean(measured: Sequence[Measured], stack: Stack, errors: Sequence[float]) -> float:
    """Return the mean goodput of a transport over some ratios."""
    found = [
        each.mean["goodput_mbps"]
        for each in measured
        if each.stack is stack and each.lower in errors
    ]
    return sum(found) / len(found)


def _width(measured: Sequence[Measured], stack: Stack) -> float:
    """Return the mean width of a transport's intervals where errors are few."""
    found = [
        each.ci95["goodput_mbps"] for each in measured if each.stack is stack and each.lower in LOW
    ]
    return sum(found) / len(found)


def _draw(measured: Sequence[Measured], alone: float) -> Figure:
    with picture(9, 4.2) as figure:
        panels = figure.subplots(1, len(STACKS), sharey=True)
        for axes, stack in zip(panels, STACKS, strict=True):
            _bars(axes, [each for each in measured if each.stack is stack])
            axes.axhline(alone, color=INK, linestyle="--", linewidth=0.9, label="TCP, no errors")
            axes.set_title(stack.name)
            axes.set_xlabel("frame error ratio of the lower path")
        panels[0].set_ylabel("goodput (Mbit/s)")
        panels[0].legend(fontsize="small")
    return figure


def _bars(axes: Axes, measured: Sequence[Measured]) -> None:
    """Draw the goodputs of both subflows beside each other, and that of both with a mark."""
    places = range(len(measured))
    for offset, (column, colour) in zip(
        (-0.2, 0.2), (("upper_mbps", COLOURS[0]), ("lower_mbps", COLOURS[1])), strict=True
    ):
        axes.bar(
            [place + offset for place in places],
            [each.mean[column] for each in measured],
            0.38,
            yerr=[each.ci95.get(column, 0.0) for each in measured],
            color=colour,
            capsize=2,
            label=column.removesuffix("_mbps") + " path",
        )
    axes.errorbar(
        list(places),
        [each.mean["goodput_mbps"] for each in measured],
        [each.ci95.get("goodput_mbps", 0.0) for each in measured],
        color=INK,
        marker="s",
        linestyle="",
        markersize=4,
        capsize=3,
        label="both",
    )
    axes.set_xticks(list(places), [f"{each.lower:g}" for each in measured])
