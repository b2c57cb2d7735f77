"""Advice on the scheduler and the congestion control, from simulations of all allowed values."""

from __future__ import annotations

from collections.abc import Sequence

from ..._core import ScenarioError
from ...engines.predict.paths import paths as described
from ...scenario import Scenario
from ...scenario.registry import algorithms, is_coupled
from ...support.numerals import decimal
from .evaluator import CandidateResult, Changes, Evaluator
from .result import Advice, Evidence
from .significance import Judge, format_gain, relative_gain
from .subsets import Paths

FAIRNESS = (
    "uncoupled algorithms take more than one flow's share if subflows pass the same bottleneck; "
    "coupled ones avoid that (RFC 6356, goal 2)"
)


def advise_scheduler(
    evaluator: Evaluator, judge: Judge, base: Changes, paths: Paths
) -> Advice | None:
    """Choose the scheduler for a connection over these paths; None for a single path."""
    if len(paths) == 1:
        return None
    found = _simulate_values(evaluator, base, "scheduler")
    if len(found) < 2:
        return None
    present = evaluator.scenario.setup.first.scheduler
    chosen, answer = _decide(judge, found, present, "scheduler")
    return Advice(
        question="scheduler",
        title="Which scheduler?",
        answer=answer + ".",
        settings={} if chosen == present else {"transport.scheduler": chosen},
        numbers=_gain(found[chosen], found[present]),
        evidence=_rows(judge, found, chosen, present),
    )


def advise_congestion(
    evaluator: Evaluator, judge: Judge, base: Changes, paths: Paths
) -> Advice | None:
    """Choose the congestion control for a connection over these paths.

    If several paths share a link with other traffic, only coupled algorithms are candidates: an
    uncoupled one gains goodput at the expense of that traffic.
    """
    found = _simulate_values(evaluator, base, "congestion")
    if len(found) < 2:
        return None
    present = evaluator.scenario.setup.first.congestion
    shared = shared_with_others(evaluator.scenario, paths)
    allowed = {name: made for name, made in found.items() if is_coupled(name) or not shared}
    if not allowed:
        allowed, shared = found, []
    if present in allowed:
        chosen, answer = _decide(judge, allowed, present, "congestion control")
    else:
        chosen = _name(allowed, judge.best(list(allowed.values())))
        answer = (
            f"Use {chosen}, the best of the coupled ones ({decimal(found[chosen].goodput)} "
            f"Mbit/s; {present}: {decimal(found[present].goodput)})"
        )
    coupled = {name: made for name, made in found.items() if is_coupled(name)}
    notes = []
    if shared:
        answer += (
            f": paths share {' and '.join(shared)} with others, and uncoupled ones take more than"
            " one flow's share from them"
        )
    elif coupled and not is_coupled(chosen) and len(paths) > 1:
        fair = _name(coupled, judge.best(list(coupled.values())))
        share = relative_gain(coupled[fair].goodput, found[chosen].goodput)
        if share is not None:
            answer += (
                f". If the links share a bottleneck, use {fair}, the best of the coupled ones "
                f"({decimal(coupled[fair].goodput)} Mbit/s, {format_gain(share)})"
            )
    if coupled and len(paths) > 1:
        notes.append(FAIRNESS)
    return Advice(
        question="congestion",
        title="Which congestion control?",
        answer=answer + ".",
        settings={} if chosen == present else {"transport.congestion": chosen},
        numbers=_gain(found[chosen], found[present]),
        evidence=_rows(judge, found, chosen, present),
        notes=tuple(notes),
    )


def _simulate_values(evaluator: Evaluator, base: Changes, key: str) -> dict[str, CandidateResult]:
    """Simulate each allowed value of one transport key."""
    allowed = []
    for name in (each.name for each in algorithms(key)):
        try:
            evaluator.scenario.with_({**base, f"transport.{key}": name})
        except ScenarioError:
            continue
        allowed.append(name)
    changes = [{**base, f"transport.{key}": name} for name in allowed]
    return dict(zip(allowed, evaluator.measure(changes), strict=True))


def _decide(
    judge: Judge, found: dict[str, CandidateResult], present: str, what: str
) -> tuple[str, str]:
    best = judge.best(list(found.values()))
    name = _name(found, best)
    if all(judge.as_good(each, best) for each in found.values()):
        return present, f"No difference here: keep {present}"
    if name == present or judge.as_good(found[present], best):
        others = [made for made in found.values() if made.runs != found[present].runs]
        second = judge.best(others)
        share = relative_gain(found[present].goodput, second.goodput)
        comparison = (
            ""
            if share is None
            else f" ({format_gain(share)} compared with {_name(found, second)})"
        )
        return present, f"Keep {present}: no other {what} is better{comparison}"
    share = relative_gain(best.goodput, found[present].goodput)
    text = f"Use {name}: {decimal(best.goodput)} Mbit/s"
    text += "" if share is None else f", {format_gain(share)} compared with {present}"
    if judge.stream:
        text += (
            f", 95 % of messages within {best.delay:,.0f} ms instead of "
            f"{found[present].delay:,.0f}"
        )
    return name, text


def shared_with_others(scenario: Scenario, paths: Paths) -> list[str]:
    """Return the links that several of the paths share with competitors.

    Examples
    --------
    >>> shared_with_others(Scenario.load("start/two-links"), ("dsl", "cable"))
    []
    """
    setup = scenario.setup
    users = [path for path in described(setup) if path.name in paths]
    counts = [sum(number in path.hops for path in users) for number in range(len(setup.links))]
    others = {
        hop for other in setup.others for path in described(setup, other) for hop in path.hops
    }
    return [
        link.name
        for number, link in enumerate(setup.links)
        if counts[number] > 1 and number in others
    ]


def _rows(
    judge: Judge, found: dict[str, CandidateResult], chosen: str, present: str
) -> tuple[Evidence, ...]:
    rows = []
    for measured in judge.ordered(list(found.values())):
        name = _name(found, measured)
        remarks = [word for word, of in (("advised", chosen), ("present", present)) if of == name]
        rows.append(Evidence(name, measured.numbers, measured.changes, tuple(remarks)))
    return tuple(rows)


def _gain(chosen: CandidateResult, present: CandidateResult) -> dict[str, float]:
    share = relative_gain(chosen.goodput, present.goodput)
    return {} if share is None else {"gain_over_present": share}


def _name(found: dict[str, CandidateResult], measured: CandidateResult) -> str:
    return next(name for name, each in found.items() if each is measured)


def merge_settings(advice: Sequence[Advice | None]) -> Changes:
    """Merge the settings of several answers.

    Examples
    --------
    >>> merge_settings([None, Advice("a", "", "", settings={"transport.scheduler": "ecf"})])
    {'transport.scheduler': 'ecf'}
    """
    return {
        key: value for each in advice if each is not None for key, value in each.settings.items()
    }
