"""Park et al. 2014, figure 2: end-to-end delay of conventional MPTCP and of MPTCP-TSC."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from ...analysis.reproduction import Alternative, Choice, ComparedValue, Reproduction
from ...model.park2014.tsc import MAX_CAPACITY
from ...output.style import COLOURS, picture
from .evaluation import ByScheme, Curves, Found, Progress, paper
from .setups import (
    CHOSEN,
    CONVENTIONAL,
    LTE_ALONE,
    REQUIRED_MS,
    SCHEMES,
    SEND_MS,
    TSC,
    UNCOUPLED,
    Scheme,
)
from .split_runs import GRID, Pooled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LOW_PERCENT = 1.0
SHORTER_MS = 60.0
"""A round trip of Wi-Fi at which the smoothed estimate of the capacity can grow at 100 ms."""


def reproduce(*, seed: int, runs: int, progress: Progress | None = None) -> Reproduction:
    """Reproduce figure 2."""
    found = Found(seed, runs, progress, more=[LTE_ALONE])
    chosen = found.of()
    delays = {scheme.name: (GRID, chosen[scheme].delays) for scheme in SCHEMES}
    return found.reproduction(
        "fig2",
        "figure 2: end-to-end delay",
        [*of_conventional(chosen), *of_tsc(found), *of_outperforming(chosen)],
        lambda: draw(delays),
        [_required(chosen), *found.choices(_numbers)],
        ("delay_ms", "share", delays),
    )


def bound_ms(scheme: Scheme) -> int:
    """Return the delay that a scheme must keep: d_send + d_net, the least for conventional MPTCP.

    Examples
    --------
    >>> bound_ms(TSC[1])
    300
    """
    return SEND_MS + (scheme.threshold_ms or REQUIRED_MS - SEND_MS)


def of_conventional(chosen: ByScheme) -> Iterator[ComparedValue]:
    """Compare the statements on conventional MPTCP."""
    facts = paper()["fig2"]
    within = {scheme: chosen[scheme].within(REQUIRED_MS) for scheme in CONVENTIONAL}
    for scheme in CONVENTIONAL:
        stated = facts[scheme.name]
        single = [Pooled([run]) for run in chosen[scheme].runs]
        shares = [each.within(REQUIRED_MS) for each in single]
        tails = [each.delay_s(0.95) for each in single]
        spread = (
            "The paper's links and film are not published. The mean of the film and the loss on "
            "LTE are chosen to come near these four numbers (other answers below). "
            f"{scheme.name.capitalize()}, single runs have {min(shares):.0f} to "
            f"{max(shares):.0f} % and {min(tails):.2f} to {max(tails):.2f} s."
        )
        yield ComparedValue(
            f"data within the required delay, {scheme.name}",
            within[scheme],
            published=stated["within_required_delay_percent"],
            unit="%",
            digits=0,
            reason=spread,
        )
        yield ComparedValue(
            f"95th percentile of the delay, {scheme.name}",
            chosen[scheme].delay_s(0.95),
            published=stated["p95_s"],
            unit="s",
            reason=spread,
        )
    uncoupled, coupled = within.values()
    yield ComparedValue(
        "coupled: data within the required delay",
        f"{coupled:.1f} against {uncoupled:.1f} % uncoupled",
        published=facts["coupled_within"],
        holds=coupled < uncoupled,
        reason=(
            "A loss on LTE ends its slow start. Coupled, its window then grows more slowly while "
            "Wi-Fi has a large one, and round robin sends more over Wi-Fi. Without losses both "
            "are in slow start for the whole run, and alike (below)."
        ),
    )
    lost = [chosen[UNCOUPLED].lost_percent(link) for link in ("wifi", "lte")]
    yield ComparedValue(
        "packets lost on Wi-Fi and LTE, uncoupled",
        f"{lost[0]:.2f} and {lost[1]:.2f} %",
        published=facts["conventional_losses"],
        holds=max(lost) < LOW_PERCENT,
        reason=f"Low is below {LOW_PERCENT:g} % here.",
    )
    sent = {link: chosen[UNCOUPLED].sent_mbps(link) for link in ("wifi", "lte")}
    yield ComparedValue(
        "part of Wi-Fi in the transmission rate, uncoupled",
        100 * sent["wifi"] / sum(sent.values()),
        published=facts["conventional_wifi_share_percent"],
        unit="%",
        digits=0,
    )


def of_tsc(found: Found) -> Iterator[ComparedValue]:
    """Compare the statements on MPTCP-TSC."""
    facts, chosen = paper()["fig2"], found.of()
    for scheme in TSC:
        bound = bound_ms(scheme)
        yield ComparedValue(
            f"mean delay, {scheme.name}",
            chosen[scheme].mean("mean_delay_ms"),
            published=f"at most {bound}",
            unit="ms",
            digits=0,
            band=(0, bound),
            reason=f"The bounds of (11) are on means: d_send = {SEND_MS} ms and d_net.",
        )
    tails = [chosen[scheme].delay_s(0.95) for scheme in TSC]
    yield ComparedValue(
        f"95th percentile of the delay, {_names(TSC)}",
        f"{_listed(tails)} s",
        published=facts["tighter"],
        holds=all(one < other for one, other in pairwise(tails)),
    )
    follows = [chosen[scheme].follows("wifi") for scheme in (UNCOUPLED, *TSC)]
    nearer = found.of(replace(CHOSEN, wifi_rtt_ms=SHORTER_MS))[TSC[0]].follows("wifi")
    least = 2 * (TSC[0].threshold_ms or 0) * (1 - 1 / MAX_CAPACITY)
    yield ComparedValue(
        f"correlation of Wi-Fi's rate and capacity, {_names(TSC)}",
        f"{_listed(follows[1:])} against {follows[0]:.2f} uncoupled",
        published=facts["tsc_follows"],
        holds=min(follows[1:]) > follows[0],
        reason=(
            f"The smoothed estimator is ours. It takes at most {MAX_CAPACITY:g} times the "
            f"acknowledged rate for the capacity, so that at {TSC[0].threshold_ms} ms the rate of "
            "(15) shrinks to the floor on a path with a least round trip above "
            f"{least:.0f} ms. "
            f"With {SHORTER_MS:g} ms the correlation is {nearer:.2f}."
        ),
    )


def of_outperforming(chosen: ByScheme) -> Iterator[ComparedValue]:
    """Compare MPTCP-TSC, conventional MPTCP and TCP over LTE."""
    facts = paper()["section5"]
    for scheme in TSC:
        bound = bound_ms(scheme)
        ours, *others = (chosen[each].within(bound) for each in (scheme, *CONVENTIONAL))
        yield ComparedValue(
            f"data within {bound} ms, {scheme.name}",
            f"{ours:.0f} against {max(others):.0f} % conventional",
            published=facts["outperforms"],
            holds=ours > max(others),
        )
    alone, both = (chosen[scheme].delay_s(0.95) for scheme in (LTE_ALONE, UNCOUPLED))
    yield ComparedValue(
        "95th percentile of the delay, TCP over LTE alone",
        f"{alone:.2f} against {both:.2f} s over both",
        published=facts["more_subflows"],
        holds=alone < both,
        reason="LTE carries the film alone. Round robin gives half of it to Wi-Fi's queue.",
    )


def _names(schemes: tuple[Scheme, ...]) -> str:
    return f"TSC {', '.join(str(scheme.threshold_ms) for scheme in schemes)} ms"


def _listed(values: list[float]) -> str:
    return ", ".join(f"{value:.2f}" for value in values)


def _required(chosen: ByScheme) -> Choice:
    """Report other required delays; the paper requires at least d_send + d_net."""
    return Choice(
        "Which delay is required? The paper has it as at least d_send + d_net.",
        f"{REQUIRED_MS} ms",
        tuple(
            Alternative(
                f"{bound} ms",
                {f"{each.name}, within %": chosen[each].within(bound) for each in CONVENTIONAL},
            )
            for bound in map(bound_ms, TSC)
        ),
        digits=0,
    )


def _numbers(runs: ByScheme) -> dict[str, float]:
    numbers = {}
    for scheme in CONVENTIONAL:
        numbers[f"{scheme.name}, % in {REQUIRED_MS} ms"] = runs[scheme].within(REQUIRED_MS)
        numbers[f"{scheme.name}, p95 s"] = runs[scheme].delay_s(0.95)
    for scheme in TSC:
        bound = bound_ms(scheme)
        numbers[f"{scheme.name}, % in {bound} ms"] = runs[scheme].within(bound)
        numbers[f"{scheme.name}, mean s"] = runs[scheme].mean("mean_delay_ms") / 1e3
    return numbers


def draw(delays: Curves) -> Figure:
    """Draw the distributions of the delay."""
    with picture(7, 4.2) as figure:
        axes = figure.subplots()
        distributions(axes, delays)
        axes.axvline(REQUIRED_MS, color="k", linewidth=0.8, linestyle=":")
        axes.set(xlabel="delay (ms)", ylabel="share of frames")
    return figure


def distributions(axes: Axes, curves: Curves) -> None:
    """Draw distributions up to 3 s."""
    for colour, (name, (values, shares)) in zip(COLOURS, curves.items(), strict=False):
        line = "--" if name == "coupled" else "-"
        axes.plot(values, shares, line, color=colour, label=name)
    axes.set(xlim=(0, 3000), ylim=(0, 1))
    axes.legend(loc="lower right")
