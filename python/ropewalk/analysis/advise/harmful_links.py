"""Links that reduce the goodput: a simulation of all links, and of all but each one."""

from __future__ import annotations

from ...engines.predict import predict
from ...engines.predict.paths import paths as described
from ...scenario.setup import Setup
from ...support.numerals import decimal
from .buffers import format_kib
from .evaluator import CandidateResult, Evaluator
from .result import Advice, Evidence
from .significance import Judge, format_gain, relative_gain
from .subsets import Paths, Predictor, leave_one_out, use_paths


def advise_harmful_links(
    evaluator: Evaluator, judge: Judge, predictor: Predictor, paths: Paths
) -> Advice | None:
    """Return the links that reduce the goodput, with their effect; None for a single path."""
    scenario = evaluator.scenario
    if len(paths) == 1 or scenario.setup.first.protocol == "tcp":
        return None
    rest = leave_one_out(paths)
    together = evaluator.one(use_paths(scenario, paths))
    without = evaluator.measure([use_paths(scenario, others) for others in rest])
    alone = evaluator.measure([use_paths(scenario, (path,)) for path in paths])
    rows, harmful = [], []
    for path, others, less, single in zip(paths, rest, without, alone, strict=True):
        numbers = {
            "goodput_mbps": less.goodput,
            "adds_mbps": together.goodput - less.goodput,
            "alone_mbps": single.goodput,
        }
        numbers |= {
            key: less.numbers[key]
            for key in ("ci95_mbps", "delay_p95_ms", "competitors_mbps")
            if key in less.numbers
        }
        predicted = predictor.goodput(others)
        numbers |= {} if predicted is None else {"predicted_mbps": predicted}
        harms = judge.best([together, less]) is less and not judge.as_good(together, less)
        if harms:
            harmful.append((path, less))
        rows.append(
            Evidence(f"without {path}", numbers, less.changes, ("harms",) if harms else ())
        )
    rows.sort(key=lambda row: row.numbers["adds_mbps"])
    least = rows[0]
    return Advice(
        question="weakest",
        title="How much does the weakest link cost the others?",
        answer=_answer(evaluator, judge, together, harmful, least),
        numbers={"goodput_mbps": together.goodput, "harmful_links": len(harmful)},
        evidence=(Evidence("all links", together.numbers, together.changes), *rows),
    )


def _answer(
    evaluator: Evaluator,
    judge: Judge,
    together: CandidateResult,
    harmful: list[tuple[str, CandidateResult]],
    least: Evidence,
) -> str:
    if not harmful:
        adds, alone = least.numbers["adds_mbps"], least.numbers["alone_mbps"]
        name = least.what.removeprefix("without ")
        did = (
            f"adds {decimal(adds)} Mbit/s"
            if adds >= 0
            else f"takes {decimal(-adds)} Mbit/s, within noise"
        )
        return f"No link harms. {name} contributes least: it {did}; alone it carries {alone:,.2f}."
    setup = evaluator.scenario.setup
    harmful = sorted(harmful, key=lambda pair: -pair[1].goodput)
    text = []
    for path, less in harmful:
        share = relative_gain(less.goodput, together.goodput)
        costs = f"{decimal(less.goodput - together.goodput)} Mbit/s"
        costs += "" if share is None else f" ({format_gain(share)})"
        if judge.stream:
            costs = f"{together.delay - less.delay:,.0f} ms of delay"
        text.append(f"{path} {costs}")
    worst = harmful[0][0]
    why = harm_reason(setup, worst)
    if why is None:
        best = predict(evaluator.scenario).best
        why = None if best is None else best.bottleneck
    because = "" if why is None else f" {worst}: {why}."
    return (
        f"With all links in use, the goodput would be better without: {'; '.join(text)}.{because}"
    )


def harm_reason(setup: Setup, name: str) -> str | None:
    """Explain from the links' parameters why a path harms the others; None if they give no reason.

    Examples
    --------
    >>> import ropewalk
    >>> scenario = ropewalk.Scenario.load("start/two-links")
    >>> small = scenario.with_({"transport.receive_buffer": "1 MiB", "link.dsl.delay": "200 ms"})
    >>> harm_reason(small.setup, "dsl")
    'in its round trip of 400 ms the others could carry 2.38 MiB, and the buffers let 632 KiB wait'
    """
    used = {path.name: path for path in described(setup)}
    path = used.pop(name)
    flow = setup.first
    if flow.protocol == "striped-tcp" and flow.device == "naive":
        quickest = min(other.delay for other in used.values())
        if path.delay > quickest:
            return (
                f"its packets arrive up to {1000.0 * (path.delay - quickest):,.3g} ms later than "
                "the others', and TCP takes late packets for lost"
            )
        return None
    window = min(flow.window, flow.send_buffer)
    carried = sum(other.rate for other in used.values()) / 8 * path.rtt
    if carried <= window or carried == float("inf"):
        return None
    return (
        f"in its round trip of {1e3 * path.rtt:,.3g} ms the others could carry"
        f" {format_kib(carried / 1024)}, and the buffers let {format_kib(window / 1024)} wait"
    )
