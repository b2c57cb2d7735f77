"""Alheid et al. 2016, figures 3 to 6: gThroughput over the distance to both access points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...analysis.reproduction import Alternative, Choice, ComparedValue, Reproduction
from ...output.style import COLOURS, INK, picture
from ..published import published
from .curves import FAR_M, NEAR_M, Curves, G, statement
from .dissimilar import scenario_3, scenario_4
from .network import (
    COUPLINGS,
    DISTANCES_M,
    ONE_PATH,
    POLICIES,
    SCENARIOS,
    Experiment,
    ExperimentRuns,
    Progress,
    claims,
    simulated,
)
from .reasons import OF_RANGE, OF_RFC, TWO_NUMBERS
from .similar import SAME_PERCENT, scenario_1, scenario_2
from .tables import table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STATEMENTS = {1: scenario_1, 2: scenario_2, 3: scenario_3, 4: scenario_4}


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
    if number in (1, 3):
        wanted += [Experiment(number, "uncoupled", which, "radios") for which in ONE_PATH]
    measured = simulated(wanted, seed=seed, runs=runs, progress=progress)
    of = Curves(number, measured)
    item = f"fig{number + 2}"
    both = " and ".join(map(str, SCENARIOS[number]))
    return Reproduction(
        paper="alheid-2016",
        item=item,
        title=f"Alheid et al. 2016, figure {number + 2}: {both} Mbit/s",
        source=published("alheid-2016")["citation"],
        comparisons=(*STATEMENTS[number](of), *_of_all(of), *_near(of)),
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
            *([_one_tcp(of)] if number == 1 else []),
        ),
        draw=lambda: _draw(measured),
        tables={"runs": table(measured)},
        scenarios={each.key: each.scenario() for each in measured},
        seed=seed,
        runs=runs,
    )


def _one_tcp(of: Curves) -> Choice:
    names = ("the module with one subflow", "ns-3's TCP", "ns-3's TCP, each segment acknowledged")
    return Choice(
        f"Which TCP has {claims()['one_tcp_mbps']} Mbit/s over 54 Mbit/s?",
        names[0],
        tuple(
            Alternative(name, {"goodput": of.one_tcp(which)})
            for name, which in zip(names, ONE_PATH, strict=True)
        ),
    )


def _of_all(of: Curves) -> list[ComparedValue]:
    """Compare with the text about all scenarios, sections V and VI."""
    stated = claims()
    none = [of.at("none", coupling) for coupling in COUPLINGS]
    best, wanted = of.ranked()[0], stated["best"][of.number - 1]
    limit, fast = stated["beyond_80_m_most_mbps"], of.number in (1, 3)
    far = [distance for distance in of.distances if distance >= FAR_M]
    return [
        ComparedValue(
            "most goodput beyond 80 m",
            of.most("goodput_mbps", POLICIES, far),
            published=f"below {limit}" if fast else f"not below {limit}",
            unit="Mbit/s",
            band=(None, limit) if fast else (limit, None),
            reason=OF_RANGE,
        ),
        ComparedValue(
            f"NoPR at {NEAR_M} m: difference of the couplings",
            100 * (max(none) / min(none) - 1),
            published=stated["coupling_without_answer"],
            unit="%",
            digits=1,
            band=(0, SAME_PERCENT),
        ),
        statement(
            f"largest gThroughput at {NEAR_M} m, mean of the couplings",
            best == wanted,
            POLICIES[wanted],
            POLICIES[best],
            reason=", ".join(f"{POLICIES[each]} {of.mean(G, each):.2f}" for each in of.ranked())
            + " Mbit/s.",
        ),
    ]


def _near(of: Curves) -> list[ComparedValue]:
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
        shown = rows[0][1].get_legend_handles_labels()
        figure.legend(*shown, loc="outside lower center", fontsize="small", ncols=6)
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
