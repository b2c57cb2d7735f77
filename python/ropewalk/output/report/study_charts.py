"""Charts and tables of a study: means over runs as functions of the varied keys."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ... import units
from ...analysis.study.quantities import HALF, lateness, quantities
from ...units import heading, scale_of
from . import charts
from .section import Cell, Chart, Table
from .tables import cut, number

if TYPE_CHECKING:
    import polars as pl

MEAN, INTERVAL = ("y",), ("y", "low", "high")
MAX_METRICS = 16
MAX_VALUES = 200_000  # of a chart: a page of 10 000 combinations stays below 5 MB
MAX_SERIES = 24
BANDS = "Bands are 95 % intervals over the runs."
INTERVALS = "Lines on bars are 95 % intervals over the runs."


@dataclass(frozen=True)
class Axis:
    """A varied key with its values as spelled, in the study's order."""

    key: str
    values: tuple[str, ...]

    @cached_property
    def numbers(self) -> tuple[float, ...] | None:
        """The values as numbers in the unit of the first; None for names."""
        return None if self._spelled is None else tuple(self._spelled[0])

    @property
    def title(self) -> str:
        """The key with its unit.

        Examples
        --------
        >>> Axis("link.dsl.delay", ("10 ms", "0.2 s")).title
        'link.dsl.delay (ms)'
        """
        unit = "" if self._spelled is None else self._spelled[1]
        return f"{self.key} ({unit})" if unit else self.key

    @cached_property
    def _spelled(self) -> tuple[list[float], str] | None:
        return units.numbers(self.values)


@dataclass(frozen=True)
class StudyTable:
    """The combinations of a study, a row each.

    Columns are each key as spelled, ``runs``, the mean of each quantity, and ``ci95_...``, half
    its 95 % interval.
    """

    axes: tuple[Axis, ...]
    rows: pl.DataFrame

    @cached_property
    def metrics(self) -> list[str]:
        """The quantities with numbers that are not constant."""
        return quantities(self.rows, [each.key for each in self.axes])[:MAX_METRICS]

    @property
    def has_intervals(self) -> bool:
        """Whether some combination has several runs."""
        return any(name.startswith(HALF) for name in self.rows.columns)

    def half(self, name: str) -> pl.Expr:
        """Half the interval of a quantity; 0 without one."""
        import polars as pl

        if HALF + name not in self.rows.columns:
            return pl.lit(0.0)
        return pl.col(HALF + name).fill_null(0.0).fill_nan(0.0)


def pictures(study: StudyTable) -> Iterator[Chart]:
    """Yield the charts of a study: lines, bars or a heat map, and costs."""
    if not study.metrics or not study.axes:
        return
    numeric = [each for each in study.axes if each.numbers is not None and len(each.values) > 1]
    if len(numeric) >= 2:
        yield _heat_map(study, numeric[0], numeric[1])
    elif numeric:
        yield _lines(study, numeric[0])
    else:
        yield _bars(study)
    late = lateness(study.metrics)
    if "cost" in study.metrics and late is not None:
        yield _costs(study, late)


def table(study: StudyTable, rest: str) -> Table:
    """Return a row for each combination, with means and half intervals.

    `rest` names the file with the rows that do not fit.
    """
    values = {
        each.key: dict(zip(each.values, each.numbers or (), strict=False)) for each in study.axes
    }
    rows = [
        (
            *(Cell(row[key], of.get(row[key])) for key, of in values.items()),
            Cell(str(row["runs"]), row["runs"]),
            *(_cell(row, name) for name in study.metrics),
        )
        for row in study.rows.iter_rows(named=True)
    ]
    headings = (*values, "runs", *map(heading, study.metrics))
    return cut("Combinations", headings, rows, rest)


def _cell(row: Mapping[str, Any], name: str) -> Cell:
    """Format a mean, and half its interval with as many digits."""
    mean, half = row[name], row.get(HALF + name)
    if mean is None:
        return Cell("")
    scale = scale_of(name)
    text = number(scale * mean)
    places = len(text.partition(".")[2])
    note = "" if half is None else number(scale * half, places)
    return Cell(f"{text} ± {note}" if re.search("[1-9]", note) else text, scale * mean)


def _fitting_metrics(study: StudyTable, fields: Sequence[str]) -> list[str]:
    """Return the quantities that fit in a chart with the given fields each."""
    room = MAX_VALUES // (len(fields) * max(1, study.rows.height))
    return study.metrics[: max(1, room)]


def _short_columns(
    study: StudyTable, columns: Mapping[str, str], fields: Sequence[str]
) -> pl.DataFrame:
    """Return means under short names: keys by `columns`, else ``y0``, ``low0``, ``high0``."""
    import polars as pl

    parts = [pl.col(key).alias(name) for key, name in columns.items()]
    for at, name in enumerate(_fitting_metrics(study, fields)):
        parts.append(pl.col(name).alias(f"y{at}"))
        if "low" not in fields:
            continue
        half = study.half(name)
        low = pl.col(name) - half
        if float(study.rows[name].min() or 0) >= 0:  # type: ignore[arg-type]
            low = low.clip(lower_bound=0.0)
        parts += [low.alias(f"low{at}"), (pl.col(name) + half).alias(f"high{at}")]
    return study.rows.select(parts)


def _choice(
    study: StudyTable, fields: Sequence[str]
) -> tuple[list[charts.Spec], list[charts.Spec]]:
    return charts.choice([heading(name) for name in _fitting_metrics(study, fields)], fields)


def _series(study: StudyTable, of: Sequence[Axis]) -> pl.Series:
    """Return each combination's name from the values of some keys."""
    import polars as pl

    if not of:
        return pl.Series("of", ["all"] * study.rows.height)
    named = pl.concat_str([pl.col(each.key) for each in of], separator=", ").alias("of")
    return study.rows.select(named).to_series()


def _lines(study: StudyTable, axis: Axis) -> Chart:
    """Return lines over a numeric key, one for each combination of the others."""
    import polars as pl

    others = [each for each in study.axes if each is not axis]
    spelled = dict(zip(axis.values, axis.numbers or (), strict=True))
    data = _short_columns(study, {axis.key: "x"}, INTERVAL).with_columns(
        pl.col("x").replace_strict(spelled, return_dtype=pl.Float64), _series(study, others)
    )
    order = data["of"].unique(maintain_order=True).to_list()[:MAX_SERIES]
    params, transforms = _choice(study, INTERVAL)
    numbers = axis.numbers or ()
    scale: charts.Spec = {"nice": False, "zero": False}
    if units.is_wide(numbers):
        scale = {"nice": False, "type": "log"}
    mark = {"type": "line", "strokeWidth": 1.8, "point": {"size": 40, "filled": True}}
    line: charts.Spec = {
        "mark": mark,
        "params": [charts.CHOSEN],
        "encoding": {
            "y": charts.axis("y", ""),
            "opacity": charts.FADED,
            "tooltip": charts.hints(
                ", ".join(each.key for each in others) or " ", ("x", axis.title), ("y", "mean")
            ),
        },
    }
    band: charts.Spec = {
        "mark": {"type": "area"},
        "encoding": {
            "y": charts.axis("low", ""),
            "y2": {"field": "high"},
            "opacity": {"condition": {"param": "chosen", "value": 0.18}, "value": 0.02},
        },
    }
    body: charts.Spec = {
        "params": params,
        "transform": transforms,
        "encoding": {
            "x": charts.axis("x", axis.title, scale=scale),
            "color": charts.colour(order),
        },
        "layer": [*([band] if study.has_intervals else []), line],
    }
    text = [BANDS if study.has_intervals else "", charts.CHOOSING if len(order) > 1 else ""]
    title = f"Over {axis.key}"
    if others:
        title += f", by {', '.join(each.key for each in others)}"
    return Chart(title, charts.chart(data, body, 320), " ".join(each for each in text if each))


def _heat_map(study: StudyTable, across: Axis, up: Axis) -> Chart:
    """Return a map of a quantity over two keys; the reader selects further keys."""
    others = [each for each in study.axes if each is not across and each is not up]
    columns = {across.key: "x", up.key: "z"}
    columns |= {each.key: f"k{at}" for at, each in enumerate(others)}
    params, transforms = _choice(study, MEAN)
    for at, each in enumerate(others):
        params.append(charts.select(f"key{at}", list(each.values), f"{each.key}: "))
        transforms.append({"filter": f"datum.k{at} == key{at}"})
    body: charts.Spec = {
        "params": params,
        "transform": transforms,
        "mark": {"type": "rect"},
        "encoding": {
            "x": charts.axis("x", across.key, "ordinal", sort=list(across.values)),
            "y": charts.axis("z", up.key, "ordinal", sort=list(up.values)[::-1]),
            "color": {
                "field": "y",
                "type": "quantitative",
                "title": None,
                "legend": {"gradientLength": 260},
            },
            "tooltip": [
                {"field": "x", "type": "nominal", "title": across.key},
                {"field": "z", "type": "nominal", "title": up.key},
                {"field": "y", "type": "quantitative", "title": "mean", "format": ",.4~r"},
            ],
        },
    }
    height = max(180, min(30 * len(up.values), 460))
    title = f"Over {across.key} and {up.key}"
    return Chart(title, charts.chart(_short_columns(study, columns, MEAN), body, height))


def _bars(study: StudyTable) -> Chart:
    """Return bars for keys with names as values, grouped by the first key."""
    first, *others = study.axes
    data = _short_columns(study, {first.key: "group"}, INTERVAL).with_columns(
        _series(study, others)
    )
    order = data["of"].unique(maintain_order=True).to_list()
    params, transforms = _choice(study, INTERVAL)
    color = charts.colour(order) if others else {"value": charts.STRONG}
    bar: charts.Spec = {
        "mark": {"type": "bar"},
        "encoding": {
            "x": charts.axis("y", ""),
            "color": color,
            "tooltip": [
                {"field": "group", "type": "nominal", "title": first.key},
                *charts.hints(", ".join(each.key for each in others) or " ", ("y", "mean")),
            ],
        },
    }
    rule: charts.Spec = {
        "mark": {"type": "rule"},
        "encoding": {"x": charts.axis("low", ""), "x2": {"field": "high"}},
    }
    shared: charts.Spec = {
        "y": charts.axis("group", first.key, "nominal", sort=list(first.values))
    }
    if others:
        shared["yOffset"] = {"field": "of", "sort": order}
    body: charts.Spec = {
        "params": params,
        "transform": transforms,
        "encoding": shared,
        "layer": [bar, *([rule] if study.has_intervals else [])],
    }
    height = max(80, 26 * len(first.values) * min(len(order), 3))
    text = INTERVALS if study.has_intervals else ""
    return Chart(
        f"By {', '.join(each.key for each in study.axes)}", charts.chart(data, body, height), text
    )


def _costs(study: StudyTable, late: str) -> Chart:
    """Return lateness over cost, with the line of Pareto-optimal combinations."""
    import polars as pl

    data = study.rows.select(
        pl.col("cost").alias("x"), pl.col(late).alias("y"), _series(study, study.axes)
    ).sort("x", "y")
    best = pl.col("y") < pl.col("y").cum_min().shift(1, fill_value=float("inf"))
    hull = data.filter(best).with_columns(pl.lit("none is better in both").alias("of"))
    mark: charts.Spec = {
        "mark": {"type": "point", "filled": True, "size": 90},
        "encoding": {
            "color": charts.colour(data["of"].to_list()),
            "tooltip": charts.hints(
                ", ".join(each.key for each in study.axes), ("x", "cost"), ("y", heading(late))
            ),
        },
    }
    line: charts.Spec = {
        "data": charts.values(hull),
        "mark": {
            "type": "line",
            "interpolate": "step-after",
            "strokeWidth": 1.2,
            "strokeDash": [5, 3],
        },
    }
    shared = {"x": charts.axis("x", "cost"), "y": charts.axis("y", heading(late))}
    body = {"encoding": shared, "layer": [line, mark]}
    text = "The dashed line joins the combinations that no other beats in both."
    return Chart("Lateness over cost", charts.chart(data, body, 320), text)
