"""Gómez et al. 2014, figure 4: goodput over the frame error ratio of both relays' first hops."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from ...analysis.reproduction import ComparedValue, Reproduction
from ...output.style import COLOURS, picture
from ..published import published
from .diamond import (
    COMPENSATED,
    MODULE_COMPENSATED,
    MODULE_ONE_CHANNEL,
    ONE_CHANNEL,
    TCP,
    Stack,
    StackRuns,
    facts,
    scenarios,
    simulated,
    table,
)
from .fig3 import OF_MODULE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STANDARD = (COMPENSATED, ONE_CHANNEL)
MODULE = (MODULE_COMPENSATED, MODULE_ONE_CHANNEL)
STACKS = (COMPENSATED, TCP, ONE_CHANNEL, *MODULE)
ERRORS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
NEGLIGIBLE = 5.0  # half of an interval, percent of its mean

NO_NUMBERS = (
    "The paper prints no numbers of the curves except the gain without errors, and no list of "
    "ratios. A frame is lost for good when four tries fail, so TCP's loss ratio is the fourth "
    "power of the frame error ratio."
)
TWO_WINDOWS = (
    "If losses keep windows small, two windows keep more in flight than one. So two subflows on "
    "one channel exceed a TCP at many losses."
)
OF_MODULE_LOSSES = (
    "As in the paper, with its own code: round robin and a receiver that delays data ahead of "
    "the stream give both subflows the rate of the one with recent errors."
)
GAIN = (
    "As in figure 3c: the transport of RFC 8684 fills both channels; the authors' module does not."
)


def reproduce(
    *, seed: int, runs: int, progress: Callable[[int, int], object] | None
) -> Reproduction:
    """Reproduce figure 4."""
    wanted = [(stack, error, error) for stack in STACKS for error in ERRORS]
    measured = simulated(wanted, seed=seed, runs=runs, progress=progress)
    goodput = {(each.stack.key, each.upper): each.mean["goodput_mbps"] for each in measured}
    half = {(each.stack.key, each.upper): each.ci95.get("goodput_mbps", 0.0) for each in measured}
    return Reproduction(
        paper="gomez-2014",
        item="fig4",
        title="Gómez et al. 2014, figure 4: throughput over lossy links",
        source=published("gomez-2014")["citation"],
        comparisons=(
            *_claims("", STANDARD, goodput, half),
            *_claims("mptcp-ns3: ", MODULE, goodput, half),
            *_of_all_curves(goodput, half, runs),
            *(
                ComparedValue(
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


def _claims(
    name: str,
    stacks: tuple[Stack, Stack],
    goodput: dict[tuple[str, float], float],
    half: dict[tuple[str, float], float],
) -> list[ComparedValue]:
    """Compare with the paper's statements on one MPTCP's curves, on two channels and on one."""
    two, one = stacks
    module = stacks is MODULE
    clean = 100 * (goodput[two.key, 0] / goodput[TCP.key, 0] - 1)
    best = sum(
        goodput[two.key, error] >= max(goodput[one.key, error], goodput[TCP.key, error])
        for error in ERRORS
    )
    crossing = [
        error
        for error in ERRORS
        if goodput[one.key, error] - goodput[TCP.key, error]
        > half[one.key, error] + half[TCP.key, error]
    ]
    return [
        ComparedValue(
            f"{name}two channels above TCP without errors",
            clean,
            published=facts()["two_channels_gain_percent"],
            unit="%",
            digits=0,
            reason=OF_MODULE if module else GAIN,
        ),
        ComparedValue(
            f"{name}of {len(ERRORS)} ratios, two channels are best at",
            best,
            published=facts()["best_at"],
            digits=0,
            holds=best == len(ERRORS),
            reason=OF_MODULE_LOSSES if module else None,
        ),
        ComparedValue(
            f"{name}of {len(ERRORS)} ratios, one channel is worst at",
            len(ERRORS) - len(crossing),
            published=facts()["worst_at"],
            digits=0,
            holds=not crossing,
            reason=(
                f"Above TCP, beyond both intervals, at errors of "
                f"{', '.join(f'{error:.0%}' for error in crossing)}. {TWO_WINDOWS}"
                if crossing
                else (OF_MODULE_LOSSES if module else None)
            ),
        ),
    ]


def _of_all_curves(
    goodput: dict[tuple[str, float], float], half: dict[tuple[str, float], float], runs: int
) -> Iterator[ComparedValue]:
    """Compare with the paper's statements on all curves: they fall, with narrow intervals."""
    falling = sum(
        all(
            goodput[stack.key, after] < goodput[stack.key, before]
            for before, after in pairwise(ERRORS)
        )
        for stack in STACKS
    )
    yield ComparedValue(
        f"of {len(STACKS)} curves, falling from each ratio to the next",
        falling,
        published=facts()["falls_with_errors"],
        digits=0,
        holds=falling == len(STACKS),
    )
    if runs > 1:
        widest = max(goodput, key=lambda at: half[at] / goodput[at])
        narrow = sum(100 * half[at] / goodput[at] <= NEGLIGIBLE for at in goodput)
        (stack,) = (each for each in STACKS if each.key == widest[0])
        yield ComparedValue(
            "widest 95 % interval, half of it over the mean",
            100 * half[widest] / goodput[widest],
            published=facts()["interval"],
            unit="%",
            digits=1,
            band=(0, NEGLIGIBLE),
            reason=(
                f"{stack.name}, errors {widest[1]:.0%}. Almost negligible: at most "
                f"{NEGLIGIBLE:g} %, as at {narrow} of {len(goodput)} points."
            ),
        )


def _plus_minus(measured: StackRuns) -> str:
    half = measured.ci95.get("goodput_mbps")
    return "" if half is None else f" (± {half:.2f})"


def _draw(measured: Sequence[StackRuns]) -> Figure:
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
