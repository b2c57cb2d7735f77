"""Gómez et al. 2014, figure 5: load sharing with errors on the lower path."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ...analysis.reproduction import ComparedValue, Reproduction
from ...output.style import COLOURS, INK, picture
from ..published import published
from .diamond import (
    COMPENSATED,
    COUPLED,
    MODULE_COMPENSATED,
    MODULE_COUPLED,
    TCP,
    Stack,
    StackRuns,
    facts,
    scenarios,
    simulated,
    table,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STANDARD = (COUPLED, COMPENSATED)
MODULE = (MODULE_COUPLED, MODULE_COMPENSATED)
STACKS = (*STANDARD, *MODULE)
ERRORS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
LOW = (0.0, 0.1)
COUPLING = {
    COUPLED.key: "fully coupled",
    MODULE_COUPLED.key: "fully coupled",
    COMPENSATED.key: "RTT compensator",
    MODULE_COMPENSATED.key: "RTT compensator",
}

STAYS_DOWN = "A window stays small for long after a loss; see figure 3d."
BY_CHANCE = (
    "If packets are lost by chance, one transfer is whole and the next is half. With more errors"
    " the lower path is left for good, without chance."
)
OWN_CHANNEL = (
    "The upper path has its own channel, like the TCP; segments and headers differ a little."
)
OF_MODULE = (
    "Profile mptcp-ns3, the authors' own code: windows fall without any loss, too, with fully "
    "coupled each time by half of both."
)
SHARES = "The paper prints no numbers of the bars."


def reproduce(
    *, seed: int, runs: int, progress: Callable[[int, int], object] | None
) -> Reproduction:
    """Reproduce figure 5."""
    wanted = [(TCP, 0.0, 0.0)] + [(stack, 0.0, error) for stack in STACKS for error in ERRORS]
    tcp, *measured = every = simulated(wanted, seed=seed, runs=runs, progress=progress)
    alone = tcp.mean["goodput_mbps"]
    return Reproduction(
        paper="gomez-2014",
        item="fig5",
        title="Gómez et al. 2014, figure 5: shares of subflows under asymmetric errors",
        source=published("gomez-2014")["citation"],
        comparisons=(
            *_claims("", STANDARD, measured, alone, runs),
            *_claims("mptcp-ns3: ", MODULE, measured, alone, runs),
            *(
                ComparedValue(
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


def _claims(
    name: str,
    stacks: tuple[Stack, Stack],
    measured: Sequence[StackRuns],
    alone: float,
    runs: int,
) -> list[ComparedValue]:
    """Compare with the paper's statements on MPTCP, fully coupled and with RTT compensator."""
    coupled, compensated = stacks
    module = stacks is MODULE
    ratio = _mean(measured, coupled, LOW) / _mean(measured, compensated, LOW)
    upper = max(each.mean["upper_mbps"] for each in measured if each.stack in stacks)
    found = [
        ComparedValue(
            f"{name}fully coupled over RTT compensator, errors of 0 to 10 %",
            ratio,
            published=facts()["coupled_over_compensated"],
            unit="times",
            holds=ratio < 1,
            reason=OF_MODULE if module else STAYS_DOWN,
        ),
        ComparedValue(
            f"{name}most of the upper path over one TCP",
            upper / alone,
            published=facts()["upper_path_over_tcp"],
            unit="times",
            band=(None, 1),
            reason=OWN_CHANNEL,
        ),
        *(_rise(name, stack, measured, alone) for stack in stacks),
    ]
    if runs > 1:
        found.insert(
            1,
            ComparedValue(
                f"{name}interval of fully coupled over RTT compensator's, errors of 0 to 10 %",
                _width(measured, coupled) / _width(measured, compensated),
                published=facts()["coupled_variability"],
                unit="times",
                digits=1,
                band=(1, None),
                reason=OF_MODULE if module else BY_CHANCE,
            ),
        )
    elif not module:
        found.insert(1, ComparedValue("runs, too few for an interval", runs, digits=0))
    return found


def _rise(name: str, stack: Stack, measured: Sequence[StackRuns], alone: float) -> ComparedValue:
    """Compare the upper path's goodput under errors with that without."""
    without, *others = [each for each in measured if each.stack is stack]
    most = max(others, key=lambda each: each.mean["upper_mbps"])
    margin = sum(each.ci95.get("upper_mbps", 0.0) for each in (without, most))
    first, best = (each.mean["upper_mbps"] for each in (without, most))
    rises = best - first > margin
    return ComparedValue(
        f"{name}{COUPLING[stack.key]}, most of the upper path over that without errors",
        best / first,
        published=facts()["upper_path"],
        unit="times",
        holds=rises,
        reason=(
            f"At errors of {most.lower:.0%}, beyond both intervals."
            if rises
            else f"The path is full from the start: without errors it has {first / alone:.2f} "
            "times the goodput of one TCP, so that its share grows and its goodput does not."
        ),
    )


def _mean(measured: Sequence[StackRuns], stack: Stack, errors: Sequence[float]) -> float:
    """Return a transport's mean goodput over some error ratios."""
    found = [
        each.mean["goodput_mbps"]
        for each in measured
        if each.stack is stack and each.lower in errors
    ]
    return sum(found) / len(found)


def _width(measured: Sequence[StackRuns], stack: Stack) -> float:
    """Return the mean width of a transport's intervals at few errors."""
    found = [
        each.ci95["goodput_mbps"] for each in measured if each.stack is stack and each.lower in LOW
    ]
    return sum(found) / len(found)


def _draw(measured: Sequence[StackRuns], alone: float) -> Figure:
    with picture(9, 7.6) as figure:
        panels = list(figure.subplots(2, 2, sharex=True, sharey=True).flat)
        for axes, stack in zip(panels, STACKS, strict=True):
            _bars(axes, [each for each in measured if each.stack is stack])
            axes.axhline(alone, color=INK, linestyle="--", linewidth=0.9, label="TCP, no errors")
            axes.set_title(stack.name)
            if stack in MODULE:
                axes.set_xlabel("frame error ratio of the lower path")
            axes.set_ylabel("goodput (Mbit/s)")
        panels[0].legend(fontsize="small")
    return figure


def _bars(axes: Axes, measured: Sequence[StackRuns]) -> None:
    """Draw adjacent bars of both subflows' goodput, and a mark for the total."""
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
