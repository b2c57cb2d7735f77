"""Advice on links: predict all subsets, simulate the promising ones, then climb from the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...engines.predict.paths import paths as described
from ...scenario import Scenario
from ...support.numerals import decimal
from .evaluator import CandidateResult, Evaluator
from .result import Advice, Evidence
from .significance import EQUAL_DELAY, EQUAL_GOODPUT, MAX_NOISE, Judge, format_gain, relative_gain
from .subsets import (
    Paths,
    Predictor,
    all_subsets,
    leave_one_out,
    name_subset,
    prefixes,
    settings_for,
    use_paths,
)

MAX_PREDICTED_TRIED = 8  # number of best predicted subsets to simulate


@dataclass(frozen=True)
class LinkChoice:
    """Recommended links with the answer, and all simulated subsets.

    `paths` are in the scenario's order.
    """

    advice: Advice
    paths: Paths
    simulated: dict[Paths, CandidateResult]


def choose_links(
    evaluator: Evaluator, judge: Judge, predictor: Predictor, paths: Paths
) -> LinkChoice:
    """Choose among the subsets of some paths.

    First simulate all links, each link alone, the best predicted subsets, and prefixes of the
    links ordered by rate and by round trip. Then add or remove single links from the best subset
    until no such change is better.
    """
    scenario = evaluator.scenario
    single = scenario.setup.first.protocol == "tcp"
    shortlist = [*all_subsets(paths, single=True), *predictor.ranking[:MAX_PREDICTED_TRIED]]
    if not single:
        shortlist += [paths, *leave_one_out(paths)] if len(paths) > 1 else [paths]
        for order in _orders(scenario, paths):
            shortlist += prefixes(order, paths)
    simulated: dict[Paths, CandidateResult] = {}

    def simulate(wanted: Sequence[Paths]) -> None:
        new = list(dict.fromkeys(each for each in wanted if each not in simulated))
        found = evaluator.measure([use_paths(scenario, each) for each in new])
        simulated.update(zip(new, found, strict=True))

    simulate(shortlist)
    best = judge.best(list(simulated.values()))
    while not single:
        top = _paths_of(best)
        more = [
            tuple(path for path in paths if path in top or path == added)
            for added in paths
            if added not in top
        ]
        simulate([*more, *(leave_one_out(top) if len(top) > 1 else [])])
        found = judge.best(list(simulated.values()))
        if found is best:
            break
        best = found

    if best.goodput == 0:
        best = simulated.get(paths, best)
    fewest = (
        best
        if best.goodput == 0
        else min(
            (each for each in simulated.values() if judge.as_good(each, best)),
            key=lambda each: (
                len(_paths_of(each)),
                judge.ordered([*simulated.values()]).index(each),
            ),
        )
    )
    advice = _advice(evaluator, judge, predictor, paths, simulated, best, fewest)
    return LinkChoice(advice, _paths_of(fewest), simulated)


def _orders(scenario: Scenario, paths: Paths) -> list[list[str]]:
    known = {path.name: path for path in described(scenario.setup)}
    by_rate = sorted(paths, key=lambda name: -known[name].rate)
    by_round_trip = sorted(paths, key=lambda name: known[name].rtt)
    return [by_rate, by_round_trip]


def _paths_of(measured: CandidateResult) -> Paths:
    chosen = measured.changes["transport.paths"]
    assert isinstance(chosen, list)
    return tuple(chosen)


def _advice(
    evaluator: Evaluator,
    judge: Judge,
    predictor: Predictor,
    paths: Paths,
    simulated: dict[Paths, CandidateResult],
    best: CandidateResult,
    advised: CandidateResult,
) -> Advice:
    names = _paths_of(advised)
    alone = judge.best([simulated[each] for each in all_subsets(paths, single=True)])
    together = simulated.get(paths)
    remarks: dict[Paths, list[str]] = {}
    remarks.setdefault(names, []).append("advised")
    if advised is not best:
        remarks.setdefault(_paths_of(best), []).append("most goodput" if not judge.stream else "")
    if together is not None and len(paths) > 1:
        remarks.setdefault(paths, []).append("all links")
    remarks.setdefault(_paths_of(alone), []).append("best single link")
    if predictor.ranking:
        remarks.setdefault(predictor.ranking[0], []).append("the model's choice")
    evidence = [
        subset_evidence(
            each, predictor, paths, tuple(filter(None, remarks.get(_paths_of(each), [])))
        )
        for each in judge.ordered(list(simulated.values()))
    ]
    numbers = {"links": len(names), **advised.numbers}
    over_all = None if together is None else relative_gain(advised.goodput, together.goodput)
    over_alone = relative_gain(advised.goodput, alone.goodput)
    numbers |= {} if over_all is None else {"gain_over_all": over_all}
    numbers |= {} if over_alone is None else {"gain_over_best_single": over_alone}
    return Advice(
        question="links",
        title="Which links, and how many?",
        answer=_answer(judge, paths, advised, best, together, alone),
        settings=settings_for(evaluator.scenario, names),
        numbers=numbers,
        evidence=tuple(evidence),
        notes=tuple(_notes(evaluator, judge, predictor, paths, len(simulated))),
    )


def subset_evidence(
    measured: CandidateResult, predictor: Predictor, paths: Paths, remarks: tuple[str, ...] = ()
) -> Evidence:
    """Return a subset's simulated and predicted values."""
    names = _paths_of(measured)
    predicted = predictor.goodput(names)
    numbers = dict(measured.numbers)
    numbers |= {} if predicted is None else {"predicted_mbps": predicted}
    return Evidence(name_subset(names, paths), numbers, measured.changes, remarks)


def _answer(
    judge: Judge,
    paths: Paths,
    advised: CandidateResult,
    best: CandidateResult,
    together: CandidateResult | None,
    alone: CandidateResult,
) -> str:
    names = _paths_of(advised)
    if len(paths) == 1:
        return f"There is one link, {names[0]}: {_worth(judge, advised)}."
    if advised.goodput == 0:
        return "No link delivers anything, so no choice of links helps."
    which = f"all {len(paths)}" if names == paths else f"{len(names)} of {len(paths)}"
    which = "both" if names == paths and len(paths) == 2 else which
    text = f"Use {which} links: " if len(names) > 1 else "Use one link, "
    text += f"{', '.join(names)}; {_worth(judge, advised)}"
    compared = []
    for other, what in ((together, "all links"), (alone, "the best single link")):
        if other is not None and other is not advised:
            more = "" if judge.stream else f"{_more(advised, other)} "
            compared.append(f"{more}{what} ({_worth(judge, other)})")
    text += (
        (", compared with " if judge.stream else ", ") + " and ".join(compared) if compared else ""
    )
    if advised is not best:
        extra = len(_paths_of(best)) - len(names)
        lost = 1 - advised.goodput / best.goodput
        text += (
            f". The best, {name_subset(_paths_of(best), paths)}, gives {_worth(judge, best)}: "
            f"{abs(lost):.1%} {'more' if lost >= 0 else 'less'} goodput, which is within noise"
        )
        text += f" and not worth {extra} link{'s' if extra > 1 else ''} more" if extra > 0 else ""
    return text + "."


def _worth(judge: Judge, measured: CandidateResult) -> str:
    text = f"{decimal(measured.goodput)} Mbit/s"
    if judge.stream and "delay_p95_ms" in measured.numbers:
        text += f" with 95 % of messages within {measured.delay:,.0f} ms"
    return text


def _more(of: CandidateResult, use_paths: CandidateResult) -> str:
    share = relative_gain(of.goodput, use_paths.goodput)
    if share is None:
        return "where nothing comes over"
    if abs(share) < 0.0005:
        return "as much as"
    if share >= 1:
        return format_gain(share)
    return f"{abs(share):.1%} {'more' if share > 0 else 'less'} than"


def _notes(
    evaluator: Evaluator, judge: Judge, predictor: Predictor, paths: Paths, simulated: int
) -> list[str]:
    if len(paths) == 1:
        return []
    notes = []
    single = evaluator.scenario.setup.first.protocol == "tcp"
    if predictor.name is None:
        notes.append("no model gives a goodput here: nothing was predicted")
    elif predictor.all:
        notes.append(f"{len(predictor.ranking)} subsets predicted by {predictor.name}")
    else:
        notes.append(
            f"{len(predictor.ranking)} subsets predicted by {predictor.name} in two greedy"
            " searches: from the best single link the one added that helps most, from all links"
            " the one dropped that hurts most"
        )
    how = "each link alone"
    if not single:
        how = (
            "all links, all but one, each alone, the model's best, links by falling rate and by"
            " rising round trip, then one link more or less than the best until none was better"
        )
    notes.append(f"{simulated} of them simulated: {how}")
    if evaluator.runs > 1:
        notes.append(
            f"{evaluator.runs} runs of each with the same seeds, ± 95 % interval; the best of "
            "many noisy means is biased upwards: see the last question"
        )
    noise = f"within {EQUAL_GOODPUT:.0%} of goodput"
    if judge.stream:
        noise += f" and {EQUAL_DELAY:.0%} of delay"
    if evaluator.runs > 1:
        noise += f", or where the runs' differences may be zero and are at most {MAX_NOISE:.0%},"
    notes.append(f"{noise} fewer links are preferred")
    return notes
