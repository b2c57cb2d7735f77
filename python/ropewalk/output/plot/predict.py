"""Picture of predictions: goodput and delay by model, in total and for each link."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ...results.displayable import Width
from ..style import INK, WAYS, colour, legend, picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ...engines.predict.result import Prediction, Predictions

PER_PATH = ("subflows", "paths")  # quantities by path
PLAIN = "goodput_mbps"
LIGHT = 0.45  # opacity of other than the preferred model
OUTSIDE = "////"


def draw(predictions: Predictions, *, width: Width | None = None) -> Figure:
    """Draw each model's goodput and delay, and the goodput of each link.

    The preferred model is the darkest. Predictions outside a model's range of validity are
    hatched. Raises ValueError if no model has a number to draw.

    Examples
    --------
    >>> import ropewalk
    >>> figure = draw(ropewalk.predict("start/two-links"))
    >>> [axes.get_xlabel() for axes in figure.axes]
    ['goodput (Mbit/s)', 'delay (ms)', "each link's goodput (Mbit/s)"]
    """
    rates = [model for model in predictions.models if model.goodput_mbps is not None]
    delays = [model for model in predictions.models if model.delay_ms]
    of_paths = list(_of_paths(predictions))
    paths = list(dict.fromkeys(path for _, series in of_paths for path in series))
    panels: list[tuple[float, Any]] = []
    if rates:
        panels.append((0.75 + 0.33 * len(rates), lambda axes: _goodputs(axes, predictions, rates)))
    if delays:
        count = sum(len(model.delay_ms) for model in delays)
        panels.append((0.75 + 0.3 * count, lambda axes: _delays(axes, predictions, delays)))
    if paths:
        rows = len(paths) * (0.5 + 0.5 * len(of_paths))
        panels.append((1.2 + 0.3 * rows, lambda axes: _paths(axes, of_paths, paths)))
    if not panels:
        raise ValueError("no model gives a number to draw")
    heights = [height for height, _ in panels]
    size = (3.5 if width == "column" else 8, sum(heights) + 0.4)
    letters = "".join([*paths, *(model.name for model in predictions.models)])
    with picture(*size, title=predictions.scenario, letters=letters, paper=width) as figure:
        rows_of = figure.subplots(len(panels), 1, height_ratios=heights, squeeze=False)[:, 0]
        for axes, (_, panel) in zip(rows_of, panels, strict=True):
            panel(axes)
            axes.invert_yaxis()
            axes.grid(visible=False, axis="y")
            axes.set_xlim(0, 1.16 * max(axes.dataLim.x1, 1e-9))
    return figure


def drawable(predictions: Predictions) -> bool:
    """Return whether a model has a number to draw."""
    numbers = any(model.goodput_mbps is not None or model.delay_ms for model in predictions.models)
    return numbers or any(True for _ in _of_paths(predictions))


def _goodputs(axes: Axes, predictions: Predictions, models: list[Prediction]) -> None:
    bars = axes.barh(
        [model.name for model in models],
        [model.goodput_mbps or 0.0 for model in models],
        height=0.65,
        color=WAYS["predict"],
    )
    _mark(bars, predictions, models)
    axes.bar_label(bars, fmt="{:,.4g}", padding=4, color=INK)
    axes.set_xlabel("goodput (Mbit/s)")
    text = [f"believed: {predictions.believed}"] if predictions.believed else []
    if any(model.warnings for model in models):
        text.append("hatched: outside its range of validity")
    axes.set_title("; ".join(text), fontsize="small")


def _delays(axes: Axes, predictions: Predictions, models: list[Prediction]) -> None:
    parts = [(model, part) for model in models for part in model.delay_ms]
    names = [f"{model.name}: {part.replace('_', ' ')}" for model, part in parts]
    bars = axes.barh(
        names,
        [model.delay_ms[part] for model, part in parts],
        height=0.65,
        color=WAYS["predict"],
    )
    _mark(bars, predictions, [model for model, _ in parts])
    axes.bar_label(bars, fmt="{:,.4g}", padding=4, color=INK)
    axes.set_xlabel("delay (ms)")


def _mark(bars: Any, predictions: Predictions, models: list[Prediction]) -> None:
    """Emphasise the preferred model, and hatch models outside their range of validity."""
    for bar, model in zip(bars, models, strict=True):
        bar.set_alpha(1.0 if model.name == predictions.believed else LIGHT)
        if model.warnings:
            bar.set(hatch=OUTSIDE, edgecolor="white", linewidth=0)


def _paths(axes: Axes, series: list[tuple[str, dict[str, float]]], paths: list[str]) -> None:
    """Draw each model's goodput of each link, in groups of bars."""
    high = 0.8 / len(series)
    for number, (name, rates) in enumerate(series):
        bars = axes.barh(
            [place + (number + 0.5) * high - 0.4 for place in range(len(paths))],
            [rates.get(path, 0.0) for path in paths],
            height=0.9 * high,
            color=colour(number),
            label=name,
        )
        known = [f"{rates[path]:,.4g}" if path in rates else "" for path in paths]
        axes.bar_label(bars, labels=known, padding=4, color=INK, fontsize="small")
    axes.set_yticks(range(len(paths)), paths)
    axes.set_xlabel("each link's goodput (Mbit/s)")
    if len(series) > 1:
        legend(axes, *axes.get_legend_handles_labels())
    else:
        axes.set_title(f"by {series[0][0]}", fontsize="small")


def _of_paths(predictions: Predictions) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield the name and values of each series of rates by path."""
    for model in predictions.models:
        entries = [
            entry
            for key in PER_PATH
            for entry in model.quantities.get(key, ())
            if isinstance(entry, dict) and "path" in entry
        ]
        keys = dict.fromkeys(key for entry in entries for key in entry if key.endswith("_mbps"))
        for key in keys:
            more = "" if key == PLAIN else f", {key.removesuffix('_mbps').replace('_', ' ')}"
            yield (
                f"{model.name}{more}",
                {str(entry["path"]): float(entry[key]) for entry in entries if key in entry},
            )
