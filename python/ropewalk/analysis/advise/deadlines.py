"""Advice for traffic with deadlines: the value of each link, and the cost of a deadline."""

from __future__ import annotations

from ...engines.predict import deadline_bound
from ...engines.predict.result import Prediction
from ...scenario import Scenario
from ...scenario.toml_syntax import Value
from .result import Advice, Evidence
from .subsets import Paths, leave_one_out, use_paths

DEADLINE_FACTORS = (0.5, 1.0, 2.0, 4.0)
"""Examined deadlines, as multiples of the scenario's deadline."""
NOTE = (
    "A bound: the fluid linear programme of ropewalk.model.cheapest_in_time, which knows the "
    "links' future. It uses the first run's writes, with headers."
)


def advise_deadlines(scenario: Scenario, paths: Paths) -> Advice | None:
    """Advise on the value of each link for meeting deadlines; None without deadlines."""
    whole = deadline_bound.predict(scenario.with_(use_paths(scenario, paths)))
    if whole is None or "late_by" not in whole.delay_ms:
        return None
    span = scenario.setup.first.traffic.deadline
    assert span is not None
    without: list[tuple[str, Prediction]] = []
    if len(paths) > 1 and scenario.setup.first.protocol != "tcp":
        for path, others in zip(paths, leave_one_out(paths), strict=True):
            less = deadline_bound.predict(scenario.with_(use_paths(scenario, others)))
            if less is not None:
                without.append((path, less))
    rows = [Evidence("all links", _numbers(whole))]
    rows += [Evidence(f"without {path}", _numbers(less)) for path, less in without]
    spans: list[tuple[float, Prediction]] = []
    for times in DEADLINE_FACTORS:
        key: dict[str, Value] = {"traffic.deadline": f"{1e3 * times * span:g} ms"}
        found = whole if times == 1 else deadline_bound.predict(scenario.with_(key))
        if found is not None:
            spans.append((times * span, found))
            rows.append(Evidence(f"within {1e3 * times * span:g} ms", _numbers(found), key))
    return Advice(
        question="deadlines",
        title="Which link is worth its price, and how much does the deadline cost?",
        answer=" ".join([_of_links(whole, without), *_of_spans(span, spans)]),
        numbers=_numbers(whole),
        evidence=tuple(rows),
        notes=(NOTE,),
    )


def _numbers(found: Prediction) -> dict[str, float]:
    numbers = {} if found.cost is None else {"least_cost": found.cost}
    if "late_by" in found.delay_ms:
        numbers["late_by_ms"] = found.delay_ms["late_by"]
    return numbers


def _of_links(whole: Prediction, without: list[tuple[str, Prediction]]) -> str:
    late = whole.delay_ms["late_by"]
    if late > 0:
        text = (
            f"Not all data can be in time over all links: deadlines {late:,.0f} ms later can "
            "be met."
        )
    elif whole.cost is None:
        text = "All can be in time."
    else:
        text = f"All can be in time, at a cost of {whole.cost:,.2f} or more."
    note = [_of_link(whole, path, less) for path, less in without]
    return " ".join([text, *note])


def _of_link(whole: Prediction, path: str, less: Prediction) -> str:
    if "late_by" not in less.delay_ms:
        return f"Without {path} the other links never carry it."
    more = less.delay_ms["late_by"] - whole.delay_ms["late_by"]
    if more > 1:
        return f"Without {path} it comes {more:,.0f} ms later."
    if whole.cost is None or less.cost is None:
        return f"Without {path} it comes no later."
    saved = whole.cost - less.cost
    if abs(saved) < 0.005 * whole.cost:
        return f"Without {path} it comes no later and costs the same: {path} is not worth a price."
    if saved > 0:
        return f"Without {path} it comes no later and costs {saved:,.2f} less."
    return f"Without {path} it costs {-saved:,.2f} more."


def _of_spans(span: float, spans: list[tuple[float, Prediction]]) -> list[str]:
    """Compare the cost of the shortest and the longest deadline that can be met."""
    met = [(each, found.cost) for each, found in spans if found.delay_ms.get("late_by") == 0]
    costs = [(each, cost) for each, cost in met if cost is not None]
    if len(costs) < 2:
        return []
    listed = ", ".join(f"{1e3 * each:g} ms {cost:,.2f}" for each, cost in costs)
    return [f"By deadline: {listed}."]
