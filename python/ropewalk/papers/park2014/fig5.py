"""Park et al. 2014, figure 5: peak of the ratio of transmission rate to capacity."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ...analysis.reproduction import Alternative, Choice, ComparedValue, Reproduction
from ...output.style import COLOURS, picture
from .evaluation import ByScheme, Curves, Found, Progress, paper
from .fig4 import NAMES, bars
from .setups import CONVENTIONAL, DURATION_S, SCHEMES, TSC, UNCOUPLED, WARMUP_S
from .split_runs import WEIGHED_S, ratios

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .varying_links import Floats

INTERVALS_S = (0.1, 0.5, 1.0, 2.0, 5.0)


def reproduce(*, seed: int, runs: int, progress: Progress | None = None) -> Reproduction:
    """Reproduce figure 5."""
    found = Found(seed, runs, progress)
    chosen = found.of()
    series = {
        scheme.name: _series(ratios(chosen[scheme].runs[0], "wifi"))
        for scheme in (UNCOUPLED, *TSC)
    }
    return found.reproduction(
        "fig5",
        "figure 5: peak of rate over capacity",
        compared(chosen),
        lambda: draw(chosen, series),
        [_interval(chosen), *found.choices(_numbers)],
        ("time_s", "ratio", series),
    )


def _series(ratio: Floats) -> tuple[Floats, Floats]:
    return np.linspace(WARMUP_S, DURATION_S, ratio.size + 1)[1:], ratio


def compared(chosen: ByScheme) -> Iterator[ComparedValue]:
    """Compare the statements on figure 5."""
    facts = paper()["fig5"]
    peaks = {scheme: chosen[scheme].peak("wifi") for scheme in SCHEMES}
    for scheme in CONVENTIONAL:
        single = [float(ratios(run, "wifi").max()) for run in chosen[scheme].runs]
        yield ComparedValue(
            f"peak on Wi-Fi, {scheme.name}",
            peaks[scheme],
            published=facts["wifi_peak"][scheme.name],
            unit="times",
            reason=(
                f"Mean of the runs' peaks, {min(single):.2f} to {max(single):.2f}, of ratios over "
                f"{WEIGHED_S:g} s; over 2 s the peak is {chosen[scheme].peak('wifi', 2.0):.2f}, "
                f"over 5 s {chosen[scheme].peak('wifi', 5.0):.2f}. The paper does not name the "
                "time, nor the least rate of Wi-Fi, which both decide the peak (below)."
            ),
        )
    for scheme in TSC:
        yield ComparedValue(
            f"peak on Wi-Fi, {scheme.name}",
            peaks[scheme],
            published=facts["tsc_peak"],
            unit="times",
            holds=peaks[scheme] < min(peaks[each] for each in CONVENTIONAL),
        )


def _interval(chosen: ByScheme) -> Choice:
    return Choice(
        "Over which time is an instantaneous rate a mean?",
        f"{WEIGHED_S:g} s",
        tuple(
            Alternative(
                f"{seconds:g} s",
                {scheme.name: chosen[scheme].peak("wifi", seconds) for scheme in SCHEMES},
            )
            for seconds in INTERVALS_S
        ),
    )


def _numbers(runs: ByScheme) -> dict[str, float]:
    return {scheme.name: runs[scheme].peak("wifi") for scheme in SCHEMES}


def draw(chosen: ByScheme, by_scheme: Curves) -> Figure:
    """Draw the peaks, and the ratio on Wi-Fi over time in the first run."""
    with picture(10, 3.8) as figure:
        peaks, series = figure.subplots(1, 2, width_ratios=(2, 3))
        bars(
            peaks,
            {name: [chosen[each].peak(link) for each in SCHEMES] for link, name in NAMES.items()},
        )
        peaks.set(ylabel="peak of rate over capacity")
        for colour, (name, curve) in zip(COLOURS[2:], by_scheme.items(), strict=False):
            series.plot(*curve, color=colour, label=name)
        series.set(xlabel="time (s)", ylabel="rate over capacity of Wi-Fi")
        series.set_ylim(0, 1.25 * series.get_ylim()[1])
        series.legend(loc="upper center", ncols=4)
        for axes in (peaks, series):
            axes.axhline(1, color="k", linewidth=0.8, linestyle=":")
    return figure
