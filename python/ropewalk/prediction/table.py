"""Predictions as a table for a terminal."""

from __future__ import annotations

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from .results import Prediction, Predictions

WORDS = {"mean": "mean", "bound": "at most", "least": "at least"}


def table(predictions: Predictions) -> RenderableType:
    """Return what `rich.print` shows of predictions.

    Parameters
    ----------
    predictions : Predictions
        Of one scenario.

    Returns
    -------
    rich.console.RenderableType
        The prediction to believe, one line a model, and what to know of each.

    Examples
    --------
    >>> import rich, ropewalk
    >>> predictions = ropewalk.predict("scenarios/start/two-links.toml")
    >>> rich.print(table(predictions))  # doctest: +ELLIPSIS
    Two unequal links...
    """
    parts: list[RenderableType] = [_heading(predictions), _summary(predictions)]
    if predictions.models:
        parts.append(_models(predictions))
        parts += [_details(model) for model in predictions.models]
    for warning in predictions.warnings:
        parts.append(Text(f"warning: {warning}", style="yellow"))
    return Group(*parts)


def _heading(predictions: Predictions) -> Text:
    best = predictions.best
    which = "  (no model gives a goodput)" if best is None else f"  (predicted by {best.name})"
    return Text.assemble((predictions.scenario, "bold"), (which, "dim"))


def _summary(predictions: Predictions) -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim")
    grid.add_column()
    best = predictions.best
    if best is not None:
        grid.add_row("goodput", f"{best.goodput_mbps:,.2f} Mbit/s")
        if "mean" in best.delay_ms:
            grid.add_row("delay", f"{best.delay_ms['mean']:,.0f} ms in the mean")
        if best.bottleneck is not None:
            grid.add_row("bottleneck", Text(best.bottleneck))
        if best.cost is not None:
            grid.add_row("cost", f"{best.cost:,.2f} (each link's price times its Mbit/s)")
    if predictions.asymmetry:
        told = [f"{predictions.asymmetry['delay_ms']:,.1f} ms of round trip"]
        if "bandwidth_mbps" in predictions.asymmetry:
            told.append(f"{predictions.asymmetry['bandwidth_mbps']:,.1f} Mbit/s")
        grid.add_row("asymmetry", " and ".join(told) + " between two paths, in the mean")
    return grid


def _models(predictions: Predictions) -> Table:
    shown = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
    shown.add_column("model", no_wrap=True)
    shown.add_column("goodput\nMbit/s", justify="right", vertical="bottom", no_wrap=True)
    shown.add_column("delay\nms", vertical="bottom")
    has_cost = any(model.cost is not None for model in predictions.models)
    if has_cost:
        shown.add_column("cost", justify="right", vertical="bottom", no_wrap=True)
    shown.add_column("holds here", vertical="bottom")
    for model in predictions.models:
        goodput = "" if model.goodput_mbps is None else f"{model.goodput_mbps:,.2f}"
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
        *(Text(f"warning: {warning}", style="yellow") for warning in model.warnings),
    ]
    return Padding(Group(*lines), (0, 0, 1, 0))
