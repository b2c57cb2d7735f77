"""Alheid et al. 2016, tables III and IV: out-of-order segments and their storage."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from statistics import fmean
from typing import TYPE_CHECKING

from ...analysis.reproduction import Alternative, Choice, ComparedValue, Reproduction
from ...output.style import COLOURS, INK, picture
from ..published import published
from .network import (
    COUPLINGS,
    PACKET,
    POLICIES,
    SCENARIOS,
    Experiment,
    ExperimentRuns,
    Over,
    Progress,
    simulated,
)

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

OVER: tuple[Over, ...] = ("wires", "radios")
KIB = PACKET / 1024
# Delay of the second wired link, in place of 12.1 ms.
LONGER_MS = 12.5

OF_POLICY = {
    "none": (
        "NoPR: the faster path is ahead of the stream, and its own receiver answers with "
        "duplicates. The path backs off until one path is left."
    ),
    "dsack": (
        "D-SACK: duplicates count against the path that delays the stream. Neither of two equal "
        "links does, so that both stay full (S1); with radios one does at times. Why Un-CC uses "
        "more of the slower radio in S3 than the paper's is not known."
    ),
    "eifel": (
        "Eifel does not agree and is not fitted: windows are restored at each duplicate whose "
        "echo is older than the retransmission, so that single packets decide which path is "
        "left. The paper's S2 to S4 contradict each other (its sections IV.B and V)."
    ),
    "tcp-door": (
        "TCP-DOOR: duplicates are ignored, and both paths are used at the slower one's rate. In "
        "S2 with wired links the second path has one timeout while its first queue builds up, "
        "and never catches up with the other. A delay of 12.5 ms avoids the timeout (below), and"
        " so do radios, and data that begin before the second subflow is open."
    ),
    "f-rto": (
        "F-RTO: the module discards acknowledgements at random, with a probability that it takes "
        "from the wall clock of the run (0 to 6.1 %). Here it is 3 %, and the seed draws them; "
        "values are means of the seeds."
    ),
}
OF_RFC = (
    "RFC 8684 judges a subflow by its own numbers. No path reorders its packets, so nothing "
    "resembles a loss, all reordering policies are equal, and both paths are full. The buffer "
    "holds the lead of the faster path. The paper's stack hardly has such a lead, because it "
    "stops that path."
)


def table3(*, seed: int, runs: int, progress: Progress) -> Reproduction:
    """Reproduce table III: out-of-order segments, in percent."""
    return _made("table3", "III: out of order", "out_of_order_percent", "%", seed, runs, progress)


def table4(*, seed: int, runs: int, progress: Progress) -> Reproduction:
    """Reproduce table IV: largest amount stored at once."""
    return _made("table4", "IV: buffer", "buffer_packets", "packets", seed, runs, progress)


def _made(
    item: str, title: str, column: str, unit: str, seed: int, runs: int, progress: Progress
) -> Reproduction:
    module = [
        Experiment(number, coupling, policy, over)
        for over in OVER
        for policy in POLICIES
        for number in SCENARIOS
        for coupling in COUPLINGS
    ]
    standard = [
        Experiment(number, coupling, None, "wires")
        for number in SCENARIOS
        for coupling in COUPLINGS
    ]
    measured = simulated([*module, *standard], seed=seed, runs=runs, progress=progress)
    stated = {each: _published(item, each) for each in measured}
    digits = 1 if unit == "%" else 0
    early = [replace(each, waits=False) for each in module]
    not_waiting = simulated(early, seed=seed, runs=runs, progress=None)
    return Reproduction(
        paper="alheid-2016",
        item=item,
        title=f"Alheid et al. 2016, table {title}",
        source=published("alheid-2016")["citation"],
        comparisons=(
            *(
                ComparedValue(
                    f"{each.name}, {each.over}",
                    runs_of.mean[column],
                    published=stated[each],
                    unit=unit,
                    digits=digits,
                    reason=OF_RFC if each.policy is None else OF_POLICY[each.policy],
                )
                for each, runs_of in measured.items()
            ),
            *(
                ComparedValue(
                    f"mean difference of {POLICIES[policy]}'s 12 values, {over}",
                    error,
                    unit="points" if unit == "%" else unit,
                    digits=1,
                    reason="Mean of the absolute differences from the paper's values.",
                )
                for over in OVER
                for policy, error in _errors(item, measured, column, over).items()
            ),
            *([_smallest(measured)] if item == "table4" else []),
        ),
        draw=lambda: _draw(measured, stated, column, unit),
        choices=(
            *(
                Choice(
                    f"When do data begin? Mean differences ({unit}), {over}",
                    "once all subflows are open",
                    (
                        Alternative(
                            "once all subflows are open",
                            _named(_errors(item, measured, column, over)),
                        ),
                        Alternative(
                            "once the first is open",
                            _named(_errors(item, not_waiting, column, over)),
                        ),
                    ),
                    digits=1,
                )
                for over in OVER
            ),
            _of_second_wire(item, measured, column, unit, digits, seed, runs),
        ),
        tables={"runs": table(measured)},
        scenarios={each.key: each.scenario() for each in measured},
        seed=seed,
        runs=runs,
    )


def _errors(
    item: str, measured: Mapping[Experiment, ExperimentRuns], column: str, over: Over
) -> dict[str, float]:
    """Return each policy's mean absolute difference from the paper's values."""
    return {
        policy: fmean(
            abs(of.mean[column] - _published(item, each))
            for each, of in measured.items()
            if each.over == over and each.policy == policy
        )
        for policy in POLICIES
    }


def _named(errors: Mapping[str, float]) -> dict[str, float]:
    return {POLICIES[policy]: error for policy, error in errors.items()}


def _smallest(measured: Mapping[Experiment, ExperimentRuns]) -> ComparedValue:
    """Compare section VI: D-SACK has the smallest buffer in most instances."""
    answers = [policy for policy in POLICIES if policy != "none"]

    def counts(stored: Callable[[Experiment], float]) -> dict[str, int]:
        least = []
        for number in SCENARIOS:
            for coupling in COUPLINGS:
                own = [Experiment(number, coupling, policy, "radios") for policy in answers]
                least.append(min(own, key=stored).policy)
        return {policy: least.count(policy) for policy in answers}

    ours = counts(lambda each: measured[each].mean["buffer_packets"])
    theirs = counts(lambda each: _published("table4", each))
    return ComparedValue(
        "instances, of 12, in which D-SACK stores least of the answers, radios",
        ours["dsack"],
        published=f"most: {theirs['dsack']} in table IV",
        digits=0,
        holds=ours["dsack"] == max(ours.values()),
    )


def _of_second_wire(
    item: str,
    measured: Mapping[Experiment, ExperimentRuns],
    column: str,
    unit: str,
    digits: int,
    seed: int,
    runs: int,
) -> Choice:
    """Return S2's TCP-DOOR without the timeout caused by the second link's delay."""
    usual = [Experiment(2, coupling, "tcp-door", "wires") for coupling in COUPLINGS]
    longer = [replace(each, second_ms=LONGER_MS) for each in usual]
    of_longer = simulated(longer, seed=seed, runs=runs, progress=None)
    return Choice(
        "How long is the second link's delay? S2 TCP-DOOR",
        f"{usual[0].second_ms:g} ms",
        tuple(
            Alternative(
                f"{each.second_ms:g} ms, {COUPLINGS[each.coupling]}",
                {
                    f"published ({unit})": _published(item, each),
                    f"ours ({unit})": of[each].mean[column],
                    "timeouts": of[each].mean["timeouts"],
                },
            )
            for wires, of in ((usual, measured), (longer, of_longer))
            for each in wires
        ),
        digits=digits,
    )


def _published(item: str, experiment: Experiment) -> float:
    """Return the paper's value; for RFC 8684, the one without a policy."""
    rows = published("alheid-2016")[item][experiment.policy or "none"]
    value: float = rows[experiment.number - 1][list(COUPLINGS).index(experiment.coupling)]
    # Table IV's KB have 1024 bytes: then each value is a whole number of packets.
    return value if item == "table3" else round(value / KIB)


def table(measured: Mapping[Experiment, ExperimentRuns]) -> pl.DataFrame:
    """Return all runs of all experiments, a row each."""
    import polars as pl

    return pl.DataFrame(
        [
            {
                "scenario": each.number,
                "over": each.over,
                "distance_m": each.distance_m,
                "policy": each.policy or "rfc8684",
                "coupling": each.coupling,
            }
            | row
            for each, runs_of in measured.items()
            for row in runs_of.rows
        ],
        infer_schema_length=None,
    )


def _draw(
    measured: Mapping[Experiment, ExperimentRuns],
    stated: Mapping[Experiment, float],
    column: str,
    unit: str,
) -> Figure:
    """Draw a panel per scenario: each policy and coupling as published, and ours."""
    places = {
        (policy, coupling): 4 * group + place
        for group, policy in enumerate(POLICIES)
        for place, coupling in enumerate(COUPLINGS)
    }
    with picture(10, 8) as figure:
        panels = figure.subplots(4, 1, sharex=True)
        for axes, number in zip(panels, SCENARIOS, strict=True):
            own = {each: of for each, of in measured.items() if each.number == number}
            paper = {
                places[each.policy, each.coupling]: value
                for each, value in stated.items()
                if each.number == number and each.policy is not None
            }
            axes.bar(list(paper), list(paper.values()), color="#dddddd", label="published")
            for over, colour, marker in zip(OVER, (COLOURS[0], COLOURS[4]), "os", strict=True):
                of_over = [each for each in own if each.over == over and each.policy is not None]
                axes.plot(
                    [places[each.policy or "", each.coupling] for each in of_over],
                    [own[each].mean[column] for each in of_over],
                    marker,
                    color=colour,
                    label=f"mptcp-ns3 over {over}",
                )
            for each, of in own.items():
                if each.policy is None:
                    axes.axhline(of.mean[column], color=INK, linestyle=":", linewidth=0.7)
            axes.set_title(f"S{number}: {' + '.join(map(str, SCENARIOS[number]))} Mbit/s")
            axes.set_ylabel(unit)
            if unit == "packets":
                axes.set_yscale("log")
                axes.yaxis.set_major_formatter("{x:g}")
        panels[0].plot([], [], color=INK, linestyle=":", linewidth=0.7, label="RFC 8684")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
        panels[-1].set_xticks(
            list(places.values()),
            [
                f"{COUPLINGS[coupling]}" + (f"\n{POLICIES[policy]}" if place % 4 == 1 else "")
                for (policy, coupling), place in places.items()
            ],
            fontsize="small",
        )
    return figure
