"""Gómez et al. 2014, figure 4: goodput over the frame error ratio of both relays' first hops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..panels import COLOURS
from .gomez2014_diamond import (
    COMPENSATED,
    ONE_CHANNEL,
    TCP,
    Measured,
    facts,
    scenarios,
    simulated,
    table,
)
from .pictures import picture
from .published import published
from .reproduction import Comparison, Reproduction

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STACKS = (COMPENSATED, TCP, ONE_CHANNEL)
ERRORS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
TRIES = 4

NO_NUMBERS = (
    "The paper prints no numbers of the curves but the gain without errors, nor the ratios that it"
    " sweeps. A frame is lost for good when four tries fail; what is left for TCP to repair is the"
    " ratio to the fourth power."
)
GAIN = (
    "As in figure 3c: the transport of RFC 8684 fills both channels; the authors' module does not."
)


def reproduce(
    *, seed: int, runs: int, progress: Callable[[int, int], object] | None
) -> Reproduction:
    """Make figure 4 again."""
    wanted = [(stack, error, error) for stack in STACKS for error in ERRORS]
    measured = simulated(wanted, seed=seed, runs=runs, progress=progress)
    goodput = {(each.stack.key, each.upper): each.mean["goodput_mbps"] for each in measured}
    half = {(each.stack.key, each.upper): each.ci95.get("goodput_mbps", 0.0) for each in measured}
    crossing = [
        error
        for error in ERRORS
        if goodput[ONE_CHANNEL.key, error] - goodput[TCP.key, error]
        > half[ONE_CHANNEL.key, error] + half[TCP.key, error]
    ]
    clean = 100 * (goodput[COMPENSATED.key, 0] / goodput[TCP.key, 0] - 1)
    best = sum(goodput[COMPENSATED.key, error] == _best(goodput, error) for error in ERRORS)
    return Reproduction(
        paper="gomez-2014",
        item="fig4",
        title="Gómez et al. 2014, figure 4: throughput over lossy links",
        source=published("gomez-2014")["citation"],
        comparisons=(
            Comparison(
                "two channels above TCP without errors",
                clean,
                published=facts()["two_channels_gain_percent"],
                unit="%",
                digits=0,
                reason=GAIN,
            ),
            Comparison(
                f"of {len(ERRORS)} ratios, two channels are best at",
                best,
                published="all",
                digits=0,
            ),
            Comparison(
                "one channel is above TCP at errors of",
                ", ".join(f"{error:.0%}" for error in crossing) or "none",
                published="none",
                reason=(
                    "Two windows keep more in flight than one where losses keep windows small, so"
                    " that two subflows on one channel pass a TCP where many packets are lost, in"
                    " ns-3.44, too. In the paper they stay below: its module couples windows"
                    " and treats reordering as said at figure 3c."
                ),
            ),
            *(
                Comparison(
                    f"{each.stack.name}, errors {each.upper:.0%}{_plus_minus(each)}",
                    each.mean["goodput_mbps"],
                    unit="Mbit/s",
                    reason=NO_NUMBERS,
                )
                for each in measured
            ),
        ),
        draw=lambda: _draw(measured),
        tables={"runs": table(measured)},
        scenarios=scenarios(measured),
        seed=seed,
        runs=runs,
    )


def _best(goodput: dict[tuple[str, float], float], error: float) -> float:
    return max(value for (_, at), value in goodput.items() if at == error)


def _plus_minus(measured: Measured) -> str:
    half = measured.ci95.get("goodput_mbps")
    return "" if half is None else f" (± {half:.2f})"


def _draw(measured: Sequence[Measured]) -> Figure:
    with picture(7, 4.4) as figure:
        axes = figure.subplots()
        for stack, colour in zip(STACKS, COLOURS, strict=False):
            of_stack = [each for each in measured if each.stack is stack]
            axes.errorbar(
                [each.upper for each in of_stack],
                [each.mean["goodput_mbps"] for each in of_stack],
                [each.ci95.get("goodput_mbps", 0.0) for each in of_stack],
                color=colour,
                marker="o",
                markersize=4,
                capsize=3,
                label=stack.name,
            )
        axes.set(xlabel="frame error ratio of the first hops", ylabel="goodput (Mbit/s)")
        axes.set_ylim(bottom=0)
        axes.legend(fontsize="small")
    return figure
