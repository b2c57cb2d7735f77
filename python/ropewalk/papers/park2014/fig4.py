"""Park et al. 2014, figure 4: cost, and ratio of transmission rate to capacity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from ...analysis.reproduction import ComparedValue, Reproduction
from ...model.park2014.splitting import rate_limit
from ...output.style import COLOURS, picture
from .evaluation import ByScheme, Found, Progress, paper
from .setups import CHOSEN, CONVENTIONAL, PRICES, SCHEMES, TSC, UNCOUPLED, Setup

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


SHORTER = 100
"""Packets of Wi-Fi's queue in another answer."""


def reproduce(*, seed: int, runs: int, progress: Progress | None = None) -> Reproduction:
    """Reproduce figure 4."""
    found = Found(seed, runs, progress)
    chosen = found.of()
    return found.reproduction(
        "fig4",
        "figure 4: cost, and rate over capacity",
        compared(found),
        lambda: draw(chosen),
        found.choices(_numbers),
    )


def compared(found: Found) -> Iterator[ComparedValue]:
    """Compare the statements on figure 4."""
    facts, chosen = paper()["fig4"], found.of()
    costs = {scheme: chosen[scheme].mean("cost") for scheme in SCHEMES}
    tsc = [costs[scheme] for scheme in TSC]
    yield ComparedValue(
        "cost at 100, 200, 500 ms",
        ", ".join(f"{cost:.1f}" for cost in tsc),
        published=f"rises {facts['cost_rises']}",
        holds=all(one > other for one, other in pairwise(tsc)),
    )
    more_than = facts["tsc_100_ms_over_conventional"]
    for scheme in CONVENTIONAL:
        yield ComparedValue(
            f"cost of {TSC[0].name} over {scheme.name}",
            tsc[0] / costs[scheme],
            published=f"more than {more_than}",
            unit="times",
            band=(more_than, None),
            reason=_of_limit(chosen[TSC[0]].ratio("wifi")),
        )
    for scheme in TSC[1:]:
        yield ComparedValue(
            f"cost of {scheme.name} over {UNCOUPLED.name}",
            costs[scheme] / costs[UNCOUPLED],
            published=paper()["section5"]["lowers_cost"],
            unit="times",
            holds=costs[scheme] < costs[UNCOUPLED],
        )
    used = [chosen[scheme].ratio("wifi") for scheme in TSC]
    yield ComparedValue(
        "part of Wi-Fi's capacity used at 100, 200, 500 ms",
        ", ".join(f"{part:.2f}" for part in used),
        published=facts["capacity_used"],
        holds=all(one < other for one, other in pairwise(used)),
    )
    lost, shorter = (
        [found.of(setup)[scheme].lost_percent("wifi") for scheme in TSC]
        for setup in (CHOSEN, replace(CHOSEN, queue=SHORTER))
    )
    yield ComparedValue(
        "packets lost on Wi-Fi at 100, 200, 500 ms",
        _percent(lost),
        published=facts["losses"],
        holds=all(one < other for one, other in pairwise(lost)),
        reason=(
            f"Wi-Fi loses packets at its full queue alone. With a queue of {SHORTER} packets, not "
            f"{CHOSEN.queue}, it loses {_percent(shorter)}."
        ),
    )
    for scheme in SCHEMES:
        yield ComparedValue(
            f"rate over capacity, Wi-Fi and LTE, {scheme.name}",
            " and ".join(f"{chosen[scheme].ratio(link):.2f}" for link in PRICES),
        )


def cost_by_limit(setup: Setup, threshold_ms: float) -> float:
    """Return the cost of TSC over round robin's, with (15) at Wi-Fi's mean capacity.

    Examples
    --------
    >>> round(cost_by_limit(Setup(wifi_rtt_ms=60.0, mean_mbps=5.0), 100), 2)
    1.13
    """
    capacity = paper()["section5"]["wifi_mbps"]["mean"]
    limit = float(rate_limit(threshold_ms / 1e3, capacity, setup.wifi_rtt_ms / 1e3)[0])
    wifi = min(limit, setup.mean_mbps)
    split = PRICES["wifi"] * wifi + PRICES["lte"] * (setup.mean_mbps - wifi)
    return split / (setup.mean_mbps / 2 * sum(PRICES.values()))


def _percent(values: list[float]) -> str:
    return ", ".join(f"{value:.3f}" for value in values) + " %"


def _of_limit(used: float) -> str:
    threshold = TSC[0].threshold_ms or 0
    trips = (CHOSEN.wifi_rtt_ms, 20.0)
    by_limit = [cost_by_limit(replace(CHOSEN, wifi_rtt_ms=trip), threshold) for trip in trips]
    return (
        "TSC costs more if (15) leaves Wi-Fi less than half of the film. By (15), at Wi-Fi's mean "
        f"capacity, the ratio is {by_limit[0]:.2f} with a round trip of {trips[0]:g} ms on Wi-Fi "
        f"and {by_limit[1]:.2f} with {trips[1]:g} ms. The smoothed estimator gives Wi-Fi "
        f"{used:.2f} of its capacity, (15) {1 - CHOSEN.wifi_rtt_ms / 2 / threshold:.2f} (see "
        "figure 2)."
    )


def _numbers(runs: ByScheme) -> dict[str, float]:
    over = runs[UNCOUPLED].mean("cost")
    return {
        **{f"cost, {each.name} over uncoupled": runs[each].mean("cost") / over for each in TSC},
        **{f"ratio, {each.name}": runs[each].ratio("wifi") for each in (UNCOUPLED, *TSC)},
    }


def draw(chosen: ByScheme) -> Figure:
    """Draw bars of cost and of both ratios."""
    with picture(9, 3.6) as figure:
        costs, used = figure.subplots(1, 2)
        bars(costs, {"": [chosen[scheme].mean("cost") for scheme in SCHEMES]})
        costs.set(ylabel="cost of a second")
        bars(
            used,
            {name: [chosen[each].ratio(link) for each in SCHEMES] for link, name in NAMES.items()},
        )
        used.set(ylabel="transmission rate over capacity")
    return figure


NAMES = {"wifi": "Wi-Fi", "lte": "LTE"}


def bars(axes: Axes, values: Mapping[str, list[float]]) -> None:
    """Draw a group of bars for each scheme, a bar for each name."""
    width = 0.8 / len(values)
    for number, (name, heights) in enumerate(values.items()):
        places = [at + width * (number + 0.5) - 0.4 for at in range(len(SCHEMES))]
        axes.bar(places, heights, width, color=COLOURS[number], label=name)
    axes.set_xticks(range(len(SCHEMES)), [scheme.name for scheme in SCHEMES], rotation=30)
    if len(values) > 1:
        axes.set_ylim(top=1.15 * max(map(max, values.values())))
        axes.legend(loc="upper right", ncols=len(values))
