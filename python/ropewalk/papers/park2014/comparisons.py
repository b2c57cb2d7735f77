"""Results of the test of Park et al. 2014, each number with its meaning."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...analysis.reproduction import ComparedValue
from ...model.park2014 import equal_delay_rates, network_delay, reordering_delay
from .bounds import BEYOND, REASONS, of_elements, passed_for
from .random_scenarios import DELAYS, Floats, MeasuredRun, random_scenarios
from .splits import KINDS

if TYPE_CHECKING:
    import polars as pl

COVERS = (
    "The paper bounds a mean, for packets that a subflow fetches when it can send one, after the"
    " start, while the windows allow more than the demand. The neglected effects are below. "
    "Percentiles are compared only to show the bound's reach."
)
DRAWN = (
    "Random scenarios have 2 to 4 links of 2 to 20 Mbit/s and 5 to 80 ms; half have no loss, the"
    " others up to 0.1 %. Traffic is constant or Poisson, 20 to 90 % of the links' capacity. "
    "Congestion control is NewReno or CUBIC uncoupled, or LIA, with min-rtt. Runs take 30 s "
    "after 10 s of warm-up."
)
FILLING = 50
"""Window in packets beyond which both links are full."""
SPLIT = 200
"""Number of random scenarios whose splits are compared."""
NAMES = {"mean": "mean", "p95": "95th percentile", "p99": "99th percentile", "max": "largest"}


def of_bounds(found: list[MeasuredRun], facts: Mapping[str, Any]) -> Iterator[ComparedValue]:
    """Report how often windows carry the demand, and how often and tightly (8) holds then."""
    bounds = np.array([of_elements(run) for run in found])
    known = np.isfinite(bounds)
    means = np.array([run.delay_s["mean"] for run in found])
    yield ComparedValue(
        f"windows carry the demand, of {len(found)} runs",
        100 * float(known.mean()),
        unit="%",
        digits=1,
        reason=f"{DRAWN} {_without(means[~known])}".strip(),
    )
    for key in DELAYS:
        measured = np.array([run.delay_s[key] for run in found])
        yield ComparedValue(
            f"then {NAMES[key]} delay within (8)",
            100 * float((measured <= bounds)[known].mean()),
            published=facts["bound_holds_percent"] if key == "mean" else None,
            unit="%",
            digits=1,
            reason=COVERS,
        )
    loose = bounds[known] / means[known]
    for share, name in ((5, "least but 5 %"), (50, "median"), (95, "most but 5 %")):
        yield ComparedValue(
            f"(8) over the mean delay, {name}", float(np.percentile(loose, share)), unit="times"
        )


def _without(means: Floats) -> str:
    if not means.size:
        return ""
    return (
        f"In {means.size} the windows allow less than the demand on average: (1) has no value, "
        "nor have (8) and (9), and the send buffer grows. The mean delay is then "
        f"{means.min():.2f} to {means.max():.2f} s. Enough link capacity is not sufficient: "
        "congestion control must find it in spite of losses and long round trips."
    )


def of_reasons(found: list[MeasuredRun]) -> Iterator[ComparedValue]:
    """Report why the mean exceeds (8)."""
    counted = Counter(passed_for(run) for run in found if np.isfinite(of_elements(run)))
    del counted[None]
    above = sum(counted.values())
    if not above:
        return
    order = (
        "Effects that (8) neglects are added to it, in the order of the next lines, until it "
        "exceeds the mean: the last one is the reason."
    )
    yield ComparedValue("mean delay above (8)", above, unit="runs", digits=0, reason=order)
    for reason in REASONS:
        yield ComparedValue(
            f"  due to {reason.name}",
            counted[reason.name],
            unit="runs",
            digits=0,
            reason=reason.why,
        )
    beyond = [run for run in found if passed_for(run) == BEYOND and np.isfinite(of_elements(run))]
    yield ComparedValue(
        "  for another reason",
        counted[BEYOND],
        unit="runs",
        digits=0,
        reason=_beyond(beyond) if beyond else None,
    )


def _beyond(runs: list[MeasuredRun]) -> str:
    each = (
        f"{run.case.name}, seed {run.seed} ({run.case.congestion}, {run.case.traffic}: mean"
        f" {run.delay_s['mean']:.3f} s, (8) {of_elements(run):.3f} s)"
        for run in runs
    )
    return f"Not explained by the three: {'; '.join(each)}."


def of_model(facts: Mapping[str, Any]) -> Iterator[ComparedValue]:
    """Compare the example of (5), and the statement that equal delays have the least bound."""
    example = facts["reordering_example_ms"]
    yield ComparedValue(
        "most reordering delay of subflows with 50 and 500 ms, by (5)",
        1e3 * float(reordering_delay(np.array(example["delays"]) / 1e3).max()),
        published=example["most"],
        unit="ms",
        digits=0,
    )
    least, splits_of_each = math.inf, 100
    drawn = random_scenarios(SPLIT)
    dice = np.random.default_rng(SPLIT)
    for case in drawn:
        equal = network_delay(
            equal_delay_rates(case.demand, case.capacity, case.rtt_min),
            case.capacity,
            case.rtt_min,
        ).max()
        shares = dice.dirichlet(np.ones(case.capacity.size), splits_of_each) * case.demand
        for rates in shares[(shares < case.capacity).all(axis=1)]:
            other = network_delay(rates, case.capacity, case.rtt_min).max()
            least = min(least, float(other / equal))
    yield ComparedValue(
        "network delay of other splits over that of equal delays, least",
        least,
        published="at least 1",
        unit="times",
        band=(1, None),
        reason=f"{splits_of_each} random splits of the demand of each of {len(drawn)} scenarios.",
    )


def of_network(windows: pl.DataFrame, facts: Mapping[str, Any]) -> Iterator[ComparedValue]:
    """Compare (2) and (3) for windows over a wired link and over 802.11."""
    for part in windows.partition_by("link", maintain_order=True):
        link = part["link"][0]
        beyond = _most_off(part["rtt_beyond_ms"], part["rtt_ms"])
        at = part["window"][int(np.argmax(np.abs(np.log(part["rtt_model_ms"] / part["rtt_ms"]))))]
        spread = (
            "(2) has every packet of the window queue behind all others, on an empty link too: it"
            " adds w / c to the least round trip. Packets queue only beyond the bandwidth-delay "
            f"product. Most off at {at} packets, of {part.height} windows. The greater of w / c "
            f"and the least round trip is at most {max(beyond, 1 / beyond):.2f} times off."
        )
        for number, name, model, measured in (
            (2, "round trip", "rtt_model_ms", "rtt_ms"),
            (3, "rate", "rate_model", "rate"),
        ):
            yield ComparedValue(
                f"one subflow over {link}: {name} by ({number}) over simulated, most off",
                _most_off(part[model], part[measured]),
                published=facts["verified_ratio"],
                unit="times",
                reason=spread,
            )

        long = part.filter(part["window"] > FILLING)
        capacity = long["rate"].to_numpy().max()
        slope = np.polyfit(long["window"], long["rtt_ms"], 1)[0] / 1e3 * capacity
        yield ComparedValue(
            f"one subflow over {link}: slope of the round trip above {FILLING} packets, times c",
            float(slope),
            published=facts["slope_of_round_trip"],
            unit="times",
            reason="Windows beyond the product have the slope of (2).",
        )


def _most_off(model: pl.Series, measured: pl.Series) -> float:
    ratios = (model / measured).to_numpy()
    return float(ratios[np.abs(np.log(ratios)).argmax()])


def of_rates(rates: pl.DataFrame) -> Iterator[ComparedValue]:
    """Compare (4) for rates of one subflow that its application limits."""
    for part in rates.partition_by("traffic", maintain_order=True):
        ratios = (part["delay_model_ms"] / part["delay_ms"]).to_numpy()
        for word, value in (("least", ratios.min()), ("most", ratios.max())):
            yield ComparedValue(
                f"one subflow, {part['traffic'][0]}: delay by (4) over simulated, {word}",
                float(value),
                published="at least 1",
                unit="times",
                band=(1, None),
                reason=(
                    "(4) is the delay with the window full, an upper bound. Limited by the "
                    "application, a link of constant rate queues as its arrivals are spaced: "
                    "constant ones not at all, Poisson ones as in M/D/1."
                ),
            )


def of_splits(cases: pl.DataFrame) -> Iterator[ComparedValue]:
    """Compare the greedy split with the best ones: cost, and violated constraints."""
    import polars as pl

    kept = pl.col("carries") & pl.col("within_delay")
    parts = {kind: cases.filter(pl.col("kind") == kind) for kind in KINDS}
    printed, floors, starting = parts.values()

    def costs(part: pl.DataFrame, column: str) -> Floats:
        return part.filter(kept)[column].drop_nulls().to_numpy()

    of_delay = costs(printed, "cost_over_delay")
    fixed = (
        f"{of_delay.size} cases. The thresholds fix the division of the delay between send buffer"
        " and network; (10) divides it at least cost, and may leave out subflows with a long "
        "minimum delay."
    )
    yield ComparedValue(
        "greedy cost over the least of (11), most",
        float(costs(printed, "cost_over_thresholds").max()),
        unit="times",
        digits=3,
        reason=(
            "Without floors and slow start (11) is a fractional knapsack, which the greedy "
            "split solves."
        ),
    )
    for share, name in ((50, "median"), (95, "most but 5 %"), (100, "most")):
        yield ComparedValue(
            f"greedy cost over the least of (10), {name}",
            float(np.percentile(of_delay, share)),
            unit="times",
            digits=3,
            reason=fixed,
        )
    for problem, column in ((11, "cost_over_thresholds"), (10, "cost_over_delay")):
        yield _missed(
            f"greedy misses delay or demand, ({problem}) can be met",
            printed,
            column,
            "no split keeps both thresholds, though one keeps the sum of them.",
        )
    yield ComparedValue(
        "with floors: greedy cost over (11) without, most",
        float(costs(floors, "cost_over_thresholds").max()),
        unit="times",
        digits=3,
        reason="The floor of an expensive subflow costs more than the same rate on a cheap one.",
    )
    yield ComparedValue(
        "with floors: a subflow is below its own",
        100 * float(floors["below_floor"].to_numpy().mean()),
        unit="%",
        digits=1,
        reason="Once nothing is missing, step 4 sets the others to 0: they are not probed.",
    )
    yield _missed(
        "in slow start: misses them, (11) can be met",
        starting,
        "cost_over_thresholds",
        "a cheap subflow is filled up to its window, and its delay exceeds all bounds.",
    )
    yield ComparedValue(
        "in slow start: network threshold passed",
        100 * float(starting["above_network"].to_numpy().mean()),
        unit="%",
        digits=1,
        reason="(17) leaves the threshold out in slow start.",
    )


def _missed(name: str, part: pl.DataFrame, column: str, why: str) -> ComparedValue:
    solvable = part.drop_nulls(column)
    missed = ~(solvable["carries"] & solvable["within_delay"])
    return ComparedValue(
        name,
        100 * float(missed.to_numpy().mean()),
        unit="%",
        digits=1,
        reason=f"In {missed.sum()} of {solvable.height} cases {why}" if missed.any() else None,
    )
