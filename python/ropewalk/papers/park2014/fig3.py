"""Park et al. 2014, figure 3: round trips on Wi-Fi, and on LTE."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...analysis.reproduction import ComparedValue, Reproduction
from ...output.style import picture
from .evaluation import ByScheme, Curves, Found, Progress, paper
from .fig2 import distributions
from .setups import CONVENTIONAL, SCHEMES, TSC, Scheme
from .split_runs import GRID

if TYPE_CHECKING:
    from matplotlib.figure import Figure

QUEUED_MS = 200
"""Round trip from which a packet counts as queued additionally: twice the least d_net."""


def reproduce(*, seed: int, runs: int, progress: Progress | None = None) -> Reproduction:
    """Reproduce figure 3."""
    found = Found(seed, runs, progress)
    chosen = found.of()
    trips = {scheme.name: (GRID, chosen[scheme].trips["wifi"]) for scheme in SCHEMES}
    return found.reproduction(
        "fig3",
        "figure 3: round trips on Wi-Fi",
        compared(chosen),
        lambda: draw(trips),
        found.choices(_numbers, digits=0),
        ("rtt_ms", "share", trips),
    )


def compared(chosen: ByScheme) -> Iterator[ComparedValue]:
    """Compare the statements on figure 3, and on LTE's round trip."""
    facts = paper()["fig3"]
    least, queued = (
        facts["tsc_rtt_below_twice_threshold_percent"],
        facts["conventional_queued_percent"],
    )
    for scheme in TSC:
        yield ComparedValue(
            f"Wi-Fi round trips below {_twice(scheme)} ms, {scheme.name}",
            chosen[scheme].trips_within("wifi", _twice(scheme)),
            published=f"more than {least}",
            unit="%",
            digits=0,
            band=(least, None),
        )
    for scheme in CONVENTIONAL:
        yield ComparedValue(
            f"Wi-Fi round trips above {QUEUED_MS} ms, {scheme.name}",
            _queued(chosen, scheme),
            published=f"more than {queued}",
            unit="%",
            digits=0,
            band=(queued, None),
            reason=(
                "The paper has an additional delay in the network, without a number. Here a "
                f"packet has one if its round trip is above {QUEUED_MS} ms, twice the least d_net."
            ),
        )
    for share, name in ((0.5, "median"), (0.95, "95th percentile")):
        yield ComparedValue(
            f"LTE round trip, {name}, greatest of the schemes",
            _lte(chosen, share),
            published=paper()["section5"]["lte_rtt_ms"],
            unit="ms",
            digits=0,
            reason=(
                "The frames of a film are bursts, which queue on LTE for their own transmission. "
                "Poisson packets of the same mean do not (below)."
            ),
        )


def _twice(scheme: Scheme) -> int:
    return 2 * (scheme.threshold_ms or 0)


def _queued(runs: ByScheme, scheme: Scheme) -> float:
    return 100 - runs[scheme].trips_within("wifi", QUEUED_MS)


def _lte(runs: ByScheme, share: float) -> float:
    return max(runs[scheme].trip_ms("lte", share) for scheme in SCHEMES)


def _numbers(runs: ByScheme) -> dict[str, float]:
    return {
        **{
            f"{scheme.name}, % below {_twice(scheme)} ms": runs[scheme].trips_within(
                "wifi", _twice(scheme)
            )
            for scheme in TSC
        },
        **{
            f"{scheme.name}, % above {QUEUED_MS} ms": _queued(runs, scheme)
            for scheme in CONVENTIONAL
        },
        "LTE, median ms": _lte(runs, 0.5),
        "LTE, p95 ms": _lte(runs, 0.95),
    }


def draw(trips: Curves) -> Figure:
    """Draw the distributions of Wi-Fi's round trips."""
    with picture(7, 4.2) as figure:
        axes = figure.subplots()
        distributions(axes, trips)
        for scheme in TSC:
            axes.axvline(_twice(scheme), color="k", linewidth=0.8, linestyle=":")
        axes.set(xlabel="round trip on Wi-Fi (ms)", ylabel="share of packets")
    return figure
