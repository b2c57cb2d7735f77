"""Exhaustive check of the recommended links: a simulation of every subset."""

from __future__ import annotations

from ...results.statistics import rank_correlation
from ...scenario import Scenario
from .evaluator import Evaluator
from .links import subset_evidence
from .result import Check
from .significance import Judge
from .subsets import Paths, Predictor, all_subsets, candidate_paths, use_paths

MAX_CHECKED = 10  # largest number of paths to check: 1023 subsets


def require_few_paths(scenario: Scenario, name: str = "check") -> None:
    """Raise ValueError if the scenario has too many paths to simulate all subsets.

    Examples
    --------
    >>> require_few_paths(Scenario.load("trains/eight-links"))
    """
    paths = candidate_paths(scenario)
    if len(paths) > MAX_CHECKED:
        raise ValueError(
            f"{name}: {len(paths)} paths have {2 ** len(paths) - 1} subsets; at most"
            f" {MAX_CHECKED} paths are checked"
        )


def check(
    evaluator: Evaluator, judge: Judge, predictor: Predictor, paths: Paths, advised: Paths
) -> Check:
    """Simulate all subsets of at most 10 paths, and rank the advised one and the model's."""
    single = evaluator.scenario.setup.first.protocol == "tcp"
    subsets = all_subsets(paths, single=single)
    made = dict(
        zip(
            subsets,
            evaluator.measure([use_paths(evaluator.scenario, each) for each in subsets]),
            strict=True,
        )
    )
    order = judge.ordered(list(made.values()))
    best = order[0]
    ratio = {each: made[each].goodput / best.goodput if best.goodput else 1.0 for each in subsets}
    rank = {each: 1 + order.index(made[each]) for each in subsets}
    model: dict[str, float] = {}
    known = predictor.known
    if known:
        first = predictor.ranking[0]
        model = {"rank": rank[first], "ratio": ratio[first]}
        predicted = [each for each in subsets if each in known]
        goodputs = [made[each].goodput for each in predicted]
        if len({*goodputs}) > 1 and len({known[each] for each in predicted}) > 1:
            model["rank_correlation"] = rank_correlation(
                [known[each] for each in predicted], goodputs
            )
    winner = next(each for each in subsets if made[each] is best)
    return Check(
        subsets=len(subsets),
        rank=rank[advised],
        ratio=ratio[advised],
        best=subset_evidence(made[winner], predictor, paths),
        advised=subset_evidence(made[advised], predictor, paths),
        model=model,
        simulated=made,
    )
