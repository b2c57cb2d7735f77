"""Simulation of all recommendations together, compared with the present scenario."""

from __future__ import annotations

from ...support.numerals import decimal
from .evaluator import Changes, Evaluator
from .result import Advice, Evidence
from .significance import Judge, format_gain, relative_gain


def advise_combined(
    evaluator: Evaluator,
    judge: Judge,
    settings: Changes,
    with_buffers: Changes,
    *,
    fair: bool = True,
) -> Advice:
    """Compare the scenario with all recommendations applied to the present one.

    Random scenarios use seeds that took no part in choosing. ``settings`` keep the present
    buffers, ``with_buffers`` change them. With ``fair`` false the combination takes bandwidth from
    competitors and is not recommended.
    """
    tried: list[tuple[str, Changes]] = [("as it is", {})]
    if settings:
        tried.append(("as advised, with the present buffers", settings))
    if with_buffers:
        tried.append(("as advised, with the advised buffers", with_buffers))
    made = evaluator.measure([changes for _, changes in tried])
    present = made[0]
    allowed = made if fair else made[1:]
    best = judge.best(allowed)
    best = next(each for each in allowed if judge.as_good(each, best))
    rows = [
        Evidence(
            what,
            each.numbers,
            changes,
            ("advised",) * (each is best) + ("present",) * (each is present),
        )
        for (what, changes), each in zip(tried, made, strict=True)
    ]
    share = relative_gain(best.goodput, present.goodput)
    if best is present:
        better = "is better" if judge.stream else "gives more"
        answer = (
            f"Leave it as it is: {decimal(present.goodput)} Mbit/s, and nothing here {better}."
        )
    else:
        answer = (
            f"{decimal(best.goodput)} Mbit/s instead of the present {decimal(present.goodput)}"
        )
        answer += "" if share is None else f" ({format_gain(share)})"
        if judge.stream:
            answer += (
                f"; 95 % of messages within {best.delay:,.0f} ms, now within {present.delay:,.0f}"
            )
        answer += "." if fair else ": fairness to others has its price."
    last = made[-1]
    if with_buffers and not judge.stream and last is not best and 2 * last.delay < best.delay:
        answer += (
            f" If delay matters, also use the advised buffers: {decimal(last.goodput)} Mbit/s, 95"
            f" % of the data within {last.delay:,.0f} ms instead of {best.delay:,.0f}."
        )
    return Advice(
        question="together",
        title="How much do all changes together give?",
        answer=answer,
        settings=best.changes,
        numbers={} if share is None else {"gain_over_present": share},
        evidence=tuple(rows),
        notes=_notes(evaluator),
    )


def _notes(evaluator: Evaluator) -> tuple[str, ...]:
    if evaluator.runs == 1:
        return ()
    last = evaluator.seed + evaluator.runs - 1
    return (f"seeds {evaluator.seed} to {last}, which were not used for choosing",)
