"""Alheid et al. 2016, figures 3 to 6: gThroughput over the distance to both access points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...analysis.reproduction import Alternative, Choice, ComparedValue, Reproduction
from ...output.style import COLOURS, INK, picture
from ..published import published
from .network import (
    COUPLINGS,
    DISTANCES_M,
    POLICIES,
    SCENARIOS,
    Experiment,
    ExperimentRuns,
    Progress,
    claims,
    simulated,
)
from .tables import table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NEAR_M = 10
# The paper says "beyond 80 m".
FAR_M = 90

TWO_NUMBERS = (
    "The paper plots the module's gThroughput, the sum of cwnd x MSS / srtt, which is the rate "
    "allowed by the windows. The comparison uses it, too; goodput is in the table."
)
OF_DOOR = (
    "TCP-DOOR of the module ignores duplicates: both paths stay full, at the slower one's rate, "
    "which gives twice the rate of a single remaining path."
)
OF_DEAF = "F-RTO of the module ignores duplicates, too, and discards acknowledgements at random."
OF_EQUAL = (
    "D-SACK counts duplicates against the path that delays the stream. Between two equal links "
    "neither path does, and both stay full (table III). Between two radios one path does at "
    "times; how often depends on their noise, which the paper does not state."
)
OF_SLOW = "Duplicates halve the faster path's window until only the slower one is left."
OF_FAST = (
    "D-SACK blames the slower path for segments not reported before; the faster one remains, "
    "with its queue full."
)
OF_RANGE = (
    "One number is fitted, the exponent of the path loss (2.2), so that 54 Mbit/s reach 70 m as "
    "in the paper. Nakagami's m falls from 1.5 to 0.75 at 80 m, the default of ns-3."
)
OF_RFC = "RFC 8684 uses both paths for every reordering policy, because no subflow is reordered."


def fig3(*, seed: int, runs: int, progress: Progress) -> Reproduction:
    """Reproduce figure 3: 54 and 54 Mbit/s."""
    return _made(1, seed, runs, progress)


def fig4(*, seed: int, runs: int, progress: Progress) -> Reproduction:
    """Reproduce figure 4: 2 and 2 Mbit/s."""
    return _made(2, seed, runs, progress)


def fig5(*, seed: int, runs: int, progress: Progress) -> Reproduction:
    """Reproduce figure 5: 54 and 2 Mbit/s."""
    return _made(3, seed, runs, progress)


def fig6(*, seed: int, runs: int, progress: Progress) -> Reproduction:
    """Reproduce figure 6: 6 and 2 Mbit/s."""
    return _made(4, seed, runs, progress)


def _made(number: int, seed: int, runs: int, progress: Progress) -> Reproduction:
    wanted = [
        Experiment(number, coupling, policy, "radios", distance)
        for policy in (*POLICIES, None)
        for coupling in COUPLINGS
        for distance in DISTANCES_M
    ]
    measured = simulated(wanted, seed=seed, runs=runs, progress=progress)
    of = _Curves(number, measured)
    item = f"fig{number + 2}"
    both = " and ".join(map(str, SCENARIOS[number]))
    return Reproduction(
        paper="alheid-2016",
        item=item,
        title=f"Alheid et al. 2016, figure {number + 2}: {both} Mbit/s",
        source=published("alheid-2016")["citation"],
        comparisons=(*_claims(of), *_near(of)),
        choices=(
            Choice(
                "Does gThroughput equal the delivered rate?",
                "both are shown; the paper's log has the first",
                tuple(
                    Alternative(
                        f"{POLICIES[policy]} at {NEAR_M} m, Co-CC",
                        {"gThroughput": of.at(policy), "goodput": of.goodput(policy)},
                    )
                    for policy in POLICIES
                ),
            ),
        ),
        draw=lambda: _draw(measured),
        tables={"runs": table(measured)},
        scenarios={each.key: each.scenario() for each in measured},
        seed=seed,
        runs=runs,
    )


class _Curves:
    """Measurements of one scenario by policy, coupling and distance."""

    def __init__(self, number: int, measured: Mapping[Experiment, ExperimentRuns]) -> None:
        self.number = number
        self._measured = measured

    def at(self, policy: str, coupling: str = "lia", distance: int = NEAR_M) -> float:
        return self._mean(policy, coupling, distance)["gthroughput_mbps"]

    def goodput(self, policy: str | None, coupling: str = "lia", distance: int = NEAR_M) -> float:
        return self._mean(policy, coupling, distance)["goodput_mbps"]

    def _mean(self, policy: str | None, coupling: str, distance: int) -> dict[str, float]:
        key = Experiment(self.number, coupling, policy, "radios", distance)
        return self._measured[key].mean

    def most_beyond(self) -> float:
        """Largest value of any policy and coupling beyond 80 m."""
        far = [distance for distance in DISTANCES_M if distance >= FAR_M]
        return max(
            self.goodput(policy, coupling, distance)
            for policy in POLICIES
            for coupling in COUPLINGS
            for distance in far
        )


def _claims(of: _Curves) -> list[ComparedValue]:
    """Compare with the paper's text about this scenario."""
    stated = claims()
    if of.number == 1:
        return [
            ComparedValue(
                f"{POLICIES[policy]} above NoPR, {COUPLINGS[coupling]}",
                100 * (of.at(policy, coupling) / of.at("none", coupling) - 1),
                published=stated[key],
                unit="%",
                digits=0,
                reason=reason,
            )
            for policy, key, reason, couplings in (
                ("tcp-door", "s1_tcp_door_gain_percent", OF_DOOR, COUPLINGS),
                ("dsack", "s1_dsack_gain_percent", OF_EQUAL, ("lia", "uncoupled")),
            )
            for coupling in couplings
        ] + [_beyond(of, OF_RANGE)]
    if of.number == 2:
        return [
            ComparedValue(
                f"{POLICIES[policy]} above NoPR, Un-CC",
                100 * (of.at(policy, "uncoupled") / of.at("none", "uncoupled") - 1),
                published=stated["s2_gain_percent"],
                unit="%",
                digits=0,
                reason=(
                    f'{reason} The paper has "up to"; the reason of the difference is not known.'
                ),
            )
            for policy, reason in (("tcp-door", OF_DOOR), ("dsack", OF_EQUAL), ("f-rto", OF_DEAF))
        ]
    name = f"s{of.number}"
    dsack, most = stated[f"{name}_dsack_mbps"], stated[f"{name}_none_most_mbps"]
    return [
        *(
            ComparedValue(
                f"D-SACK at {NEAR_M} m, {COUPLINGS[coupling]}",
                of.at("dsack", coupling),
                published=dsack if isinstance(dsack, int) else f"{dsack[0]} to {dsack[1]}",
                unit="Mbit/s",
                reason=OF_FAST,
            )
            for coupling in COUPLINGS
        ),
        *(
            ComparedValue(
                f"NoPR at {NEAR_M} m, {COUPLINGS[coupling]}",
                of.at("none", coupling),
                published=f"at most {most}",
                unit="Mbit/s",
                reason=OF_SLOW,
            )
            for coupling in COUPLINGS
        ),
        *([_beyond(of, OF_RANGE)] if of.number == 3 else []),
    ]


def _beyond(of: _Curves, reason: str) -> ComparedValue:
    return ComparedValue(
        "most goodput beyond 80 m",
        of.most_beyond(),
        published=f"below {claims()['beyond_80_m_most_mbps']}",
        unit="Mbit/s",
        reason=reason,
    )


def _near(of: _Curves) -> list[ComparedValue]:
    """Return each policy's and coupling's gThroughput at 10 m, and the goodput of RFC 8684."""
    module = [
        ComparedValue(
            f"{POLICIES[policy]}, {COUPLINGS[coupling]}, {NEAR_M} m",
            of.at(policy, coupling),
            unit="Mbit/s",
            reason=TWO_NUMBERS,
        )
        for policy in POLICIES
        for coupling in COUPLINGS
    ]
    standard = [
        ComparedValue(
            f"RFC 8684, {COUPLINGS[coupling]}, {NEAR_M} m",
            of.goodput(None, coupling),
            unit="Mbit/s",
            reason=OF_RFC,
        )
        for coupling in COUPLINGS
    ]
    return [*module, *standard]


def _draw(measured: Mapping[Experiment, ExperimentRuns]) -> Figure:
    """Draw a row per coupling: gThroughput over all distances as a box, and at each."""
    names = [*POLICIES.values(), "RFC 8684\n(goodput)"]
    with picture(10, 8) as figure:
        rows = figure.subplots(3, 2, sharex="col", sharey=True)
        for (boxes, lines), (coupling, name) in zip(rows, COUPLINGS.items(), strict=True):
            curves = [_curve(measured, policy, coupling) for policy in (*POLICIES, None)]
            boxes.boxplot(curves, whis=(0, 100), tick_labels=names, medianprops={"color": INK})
            for place, curve in enumerate(curves):
                lines.plot(
                    DISTANCES_M,
                    curve,
                    color=INK if place == len(POLICIES) else COLOURS[place],
                    linestyle=":" if place == len(POLICIES) else "-",
                    marker="o",
                    markersize=3,
                    label=names[place].replace("\n", " "),
                )
            boxes.set_title(f"{name}: all distances")
            lines.set_title(f"{name}: by distance")
            boxes.set_ylabel("gThroughput (Mbit/s)")
        rows[0][1].legend(fontsize="small", ncols=2)
        rows[-1][0].tick_params(axis="x", labelsize="small")
        rows[-1][1].set_xlabel("distance (m)")
        rows[-1][1].set_xticks(DISTANCES_M)
    return figure


def _curve(
    measured: Mapping[Experiment, ExperimentRuns], policy: str | None, coupling: str
) -> list[float]:
    """Return the mean at each distance: gThroughput, or goodput for RFC 8684."""
    column = "goodput_mbps" if policy is None else "gthroughput_mbps"
    own = {
        each.distance_m: of.mean[column]
        for each, of in measured.items()
        if each.coupling == coupling and each.policy == policy
    }
    return [own[distance] for distance in DISTANCES_M]
