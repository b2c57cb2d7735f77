"""Predictions as a table for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ...engines.predict.result import Prediction, Predictions
from ...support.numerals import decimal
from . import terminal

WORDS = {"mean": "mean", "bound": "at most", "least": "at least"}


def table(predictions: Predictions) -> RenderableType:
    """Return predictions as a `rich` renderable.

    Examples
    --------
    >>> import rich, ropewalk
    >>> predictions = ropewalk.predict("start/two-links")
    >>> rich.print(table(predictions))  # doctest: +ELLIPSIS
    Two unequal links...
    """
    parts: list[RenderableType] = [
        _heading(predictions),
        terminal.fact_lines(_summary(predictions)),
    ]
    if predictions.models:
        parts.append(_models(predictions))
        parts += [_details(model) for model in predictions.models]
    return Group(*parts, *terminal.warning_lines(predictions.warnings))


def _heading(predictions: Predictions) -> Text:
    best = predictions.best
    which = "no model gives a goodput" if best is None else f"predicted by {best.name}"
    return terminal.heading(predictions.scenario, which)


def _summary(predictions: Predictions) -> Iterator[tuple[str, str]]:
    best = predictions.best
    if best is not None and best.goodput_mbps is not None:
        yield "goodput", f"{decimal(best.goodput_mbps)} Mbit/s"
        if "mean" in best.delay_ms:
            yield "delay", f"{best.delay_ms['mean']:,.0f} ms on average"
        if best.bottleneck is not None:
            yield "bottleneck", best.bottleneck
        if best.cost is not None:
            yield "cost", f"{best.cost:,.2f} (each link's price times its Mbit/s)"
    if predictions.asymmetry:
        text = [f"{predictions.asymmetry['delay_ms']:,.1f} ms of round trip"]
        if "bandwidth_mbps" in predictions.asymmetry:
            text.append(f"{predictions.asymmetry['bandwidth_mbps']:,.1f} Mbit/s")
        yield "asymmetry", " and ".join(text) + " between two paths, on average"


def _models(predictions: Predictions) -> Table:
    shown = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
    shown.add_column("model", no_wrap=True)
    terminal.add_number(shown, "goodput\nMbit/s")
    shown.add_column("delay\nms", vertical="bottom")
    has_cost = any(model.cost is not None for model in predictions.models)
    if has_cost:
        terminal.add_number(shown, "cost")
    shown.add_column("holds here", vertical="bottom")
    for model in predictions.models:
        goodput = "" if model.goodput_mbps is None else decimal(model.goodput_mbps)
        holds = Text("not quite", "yellow") if model.warnings else Text("yes")
        cost = "" if model.cost is None else f"{model.cost:,.2f}"
        shown.add_row(model.name, goodput, _delay(model), *[cost][: int(has_cost)], holds)
    return shown


def _delay(model: Prediction) -> str:
    return ", ".join(
        f"{WORDS.get(part, part.replace('_', ' '))} {value:,.1f}"
        for part, value in model.delay_ms.items()
    )


def _details(model: Prediction) -> Padding:
    lines = [
        Text.assemble((model.name, "bold"), f": {model.validity}"),
        Text(model.source, style="dim"),
        *terminal.warning_lines(model.warnings),
    ]
    return Padding(Group(*lines), (0, 0, 1, 0))
