"""Credibility of results: warnings, number of runs, intervals, predictions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..._core import ScenarioError
from ...analysis.compare import Comparison
from ...engines.predict import Predictions, predict
from ...engines.predict.coverage import uncovered_reasons
from ...results import Results
from ...results.run_warnings import warnings_of
from ...scenario import Scenario
from ..tables.runs import runs_note
from .section import Facts, Part, Piece, Table, Text
from .tables import value

TITLE = "Confidence in the results"
ONE_RUN = "One run has no interval; --runs 10 gives one."
SAME = "all alike"
INTERVALS = (
    "The number after ± is half the 95 % confidence interval of a mean over runs with different "
    "seeds, by Student's t."
)
NOW = "Predictions are from the time of this report, for the scenario drawn above."


def runs_credibility(runs: Results) -> Part:
    """Return the credibility of runs, with predictions for the same scenario."""
    pieces = [*run_facts(runs)]
    predictions = _asked(runs.scenario)
    if predictions is None or predictions.best is None:
        reasons = uncovered_reasons(runs.scenario.setup)
        text = f": {'; '.join(reasons)}" if reasons else ""
        pieces.append(Text(f"No formula gives the goodput of this scenario{text}."))
    else:
        pieces += _beside(runs, predictions)
    return Part(TITLE, tuple(pieces))


def new_predictions(scenario: Scenario) -> list[Piece]:
    """Return new predictions for a scenario."""
    predictions = _asked(scenario)
    if predictions is None or not predictions.models:
        return []
    return [Text(NOW, "faint"), *models(predictions)]


def run_facts(runs: Results, way: str = "") -> list[Piece]:
    """Return facts on runs: warnings, number, punctuality of the emulator."""
    return [*warning_texts(runs.runs), *_certainty(runs, way), *_emulated(runs)]


def warning_texts(runs: Sequence[dict[str, Any]]) -> list[Piece]:
    """Return the warnings stored with runs, each once."""
    return [Text(f"Warning: {warning}.", "warning") for warning in warnings_of(runs)]


def agreement_facts(comparison: Comparison) -> list[Piece]:
    """Return the agreement of ways, and the reasons of differences."""
    text: list[tuple[str, str]] = [
        (pair.replace("_", " "), f"{near:.1%}") for pair, near in comparison.accuracy.items()
    ]
    pieces: list[Piece] = []
    if text:
        pieces.append(Text("Agreement of goodput between ways:"))
        pieces.append(Facts(tuple(text)))
    pieces += [Text(sentence) for sentence in comparison.explanation]
    return pieces


def models(predictions: Predictions) -> list[Piece]:
    """Return the applicable models with predictions and ranges of validity."""
    rows = [
        (
            value(each.name),
            value(each.goodput_mbps, digits=2),
            value(each.delay_ms.get("mean"), digits=1),
            value(each.bottleneck),
            value("not quite" if each.warnings else "yes"),
        )
        for each in predictions.models
    ]
    strong = [
        at for at, each in enumerate(predictions.models) if each.name == predictions.believed
    ]
    headings = ("model", "goodput (Mbit/s)", "mean delay (ms)", "bottleneck", "holds here")
    pieces: list[Piece] = [Table("Models that apply", headings, tuple(rows), tuple(strong))]
    for each in predictions.models:
        pieces.append(Text(f"{each.name} holds for {each.validity}. {each.source}."))
        pieces += [Text(f"{each.name} does not hold: {warning}.") for warning in each.warnings]
    return pieces


def _certainty(run_facts: Results, way: str) -> Iterator[Piece]:
    text = runs_note(run_facts.runs)
    yield Facts(((f"runs, {way}" if way else "runs", text),))
    if len(run_facts.runs) == 1:
        yield Text(ONE_RUN)
    elif SAME not in text:
        yield Text(INTERVALS)
        mean, half = run_facts.mean.get("goodput_mbps"), run_facts.ci95.get("goodput_mbps")
        if mean and half:
            yield Text(f"Goodput's interval is ± {half / mean:.1%} of it.")


def _emulated(run_facts: Results) -> Iterator[Piece]:
    """Report the punctuality of a testbed's emulator."""
    links = [run["emulator"] for run in run_facts.runs if "emulator" in run]
    late = [each for each in links if not each.get("trusted", True)]
    if late:
        worst = max(each["lateness_ms"]["p99"] for each in late)
        yield Text(
            f"The emulator handed packets on up to {worst:,.1f} ms late at 99 % in {len(late)} of"
            f" {len(links)} runs: the machine was too busy to trust them.",
            "warning",
        )
    elif links:
        yield Text(f"The emulator kept its time in all of {len(links)} runs.")


def _asked(scenario: Scenario) -> Predictions | None:
    try:
        return predict(scenario)
    except ScenarioError:
        return None


def _beside(run_facts: Results, predictions: Predictions) -> Iterator[Piece]:
    if run_facts.runs[0].get("engine") == "testbed":
        compared = Comparison(run_facts.scenario, predictions, measured=run_facts)
    else:
        compared = Comparison(run_facts.scenario, predictions, simulated=run_facts)
    yield Text(NOW, "faint")
    if predictions.reason is not None:
        yield Text(f"To believe: {predictions.believed}, {predictions.reason}")
    yield from agreement_facts(compared)
    yield from models(predictions)
