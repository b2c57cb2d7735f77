"""Section of a report on predictions."""

from __future__ import annotations

from ...engines.predict import Predictions
from ...engines.predict.coverage import uncovered_reasons
from ...results.folders import ResultFolder
from ...support.numerals import decimal
from ...units import heading
from ..storage.predict import of_json
from . import charts, common_parts, credibility
from .section import Chart, Facts, Part, Piece, Section, Table, Text
from .tables import value

KIND = "Predicted by formulas"


def section(stored: ResultFolder) -> Section:
    """Return the section on a prediction."""
    predictions = of_json(stored.result)
    reasons = uncovered_reasons(stored.scenario.setup) if predictions.best is None else []
    short: list[Piece] = [Facts(tuple(_short(predictions)))] if predictions.models else []
    short += [Text(f"No formula gives a goodput: {reason}.") for reason in reasons]
    believed = [Text(f"Warning: {warning}.", "warning") for warning in predictions.warnings]
    if predictions.reason is not None:
        believed.append(Text(f"To believe: {predictions.believed}, {predictions.reason}"))
    text = [each for each in predictions.models if each.goodput_mbps is not None]
    return Section(
        stored.scenario.title,
        KIND,
        (
            common_parts.introduction(stored),
            Part("In short", tuple(short)),
            common_parts.scenario_part(stored.scenario),
            Part("Pictures", (_goodputs(predictions),) if text else ()),
            Part("Numbers", tuple(_tables(predictions))),
            Part(credibility.TITLE, (*believed, *credibility.models(predictions))),
            common_parts.origin_part(stored),
        ),
    )


def _short(predictions: Predictions) -> list[tuple[str, str]]:
    best = predictions.best
    text = []
    if best is not None and best.goodput_mbps is not None:
        text.append(("goodput", f"{decimal(best.goodput_mbps)} Mbit/s, by {best.name}"))
        delays = ", ".join(f"{part} {each:,.1f}" for part, each in best.delay_ms.items())
        text += [("delay", f"{delays} ms")] if delays else []
        text += [("bottleneck", best.bottleneck)] if best.bottleneck else []
        text += [("cost", f"{best.cost:,.2f}")] if best.cost is not None else []
    if predictions.asymmetry:
        text.append(
            (
                "asymmetry",
                f"{predictions.asymmetry['delay_ms']:,.1f} ms of round trip and "
                f"{predictions.asymmetry['bandwidth_mbps']:,.1f} Mbit/s between two paths, on "
                "average",
            )
        )
    return text


def _goodputs(predictions: Predictions) -> Chart:
    import polars as pl

    text = [each for each in predictions.models if each.goodput_mbps is not None]
    data = pl.DataFrame(
        {"of": [each.name for each in text], "x": [each.goodput_mbps for each in text]}
    )
    spec = charts.bars(data, [each.name for each in text], "goodput (Mbit/s)", what="model")
    return Chart("Goodput, by model", spec)


def _tables(predictions: Predictions) -> list[Table]:
    """Return each model's other quantities: numbers, and lists by path."""
    made = []
    for each in predictions.models:
        single = {key: of for key, of in each.quantities.items() if not isinstance(of, list)}
        rows = tuple(
            (value(heading(key)), value(of)) for key, of in single.items() if _is_plain(of)
        )
        if rows:
            made.append(Table(f"Further results of {each.name}", ("quantity", "value"), rows))
        for key, listed in each.quantities.items():
            if isinstance(listed, list) and listed and all(isinstance(of, dict) for of in listed):
                keys = [name for name in listed[0] if _is_plain(listed[0][name])]
                made.append(
                    Table(
                        f"{heading(key).capitalize()}, by {each.name}",
                        tuple(map(heading, keys)),
                        tuple(tuple(value(of.get(name)) for name in keys) for of in listed),
                    )
                )
    return made


def _is_plain(of: object) -> bool:
    return isinstance(of, (str, int, float))
