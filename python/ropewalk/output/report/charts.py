"""Interactive charts as Vega-Lite specifications.

Data are stored by columns, a third as long as rows; the page makes rows of them. Fields have short
names (``x``, ``y``, ``of``, ``low``, ``high``), because keys of a scenario may contain dots and
brackets.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from ..style import COLOURS, WAYS

if TYPE_CHECKING:
    import polars as pl

Spec: TypeAlias = dict[str, Any]

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
HEIGHT = 260
ROW = 22  # height of a bar and its margins, pixels
BAND = 0.25
DIGITS = 5  # significant digits of data, more than a chart shows
MAX_POINTS = 5000
INK = "#7f7f7f"  # readable on white and on black
STRONG = "#2f9d8a"

# A click on a legend entry selects its series; the next click shows all again.
CHOSEN: Spec = {
    "name": "chosen",
    "select": {"type": "point", "fields": ["of"], "toggle": "true"},
    "bind": "legend",
}
# Mouse only, because a finger scrolls the page.
MOVED: Spec = {
    "name": "moved",
    "select": {
        "type": "interval",
        "encodings": ["x"],
        "translate": "[mousedown, window:mouseup] > window:mousemove!",
        "zoom": "wheel![event.shiftKey]",
        "clear": "dblclick",
    },
    "bind": "scales",
}
MOVING = "Drag to move, shift and wheel to zoom, double click for all of it."
CHOOSING = "Click names in the legend to see them alone."
FADED: Spec = {"condition": {"param": "chosen", "value": 1}, "value": 0.1}


def values(frame: pl.DataFrame) -> Spec:
    """Return data for a specification by columns, which the page turns into rows.

    Examples
    --------
    >>> import polars as pl
    >>> values(pl.DataFrame({"x": [0.1234567, None], "of": ["dsl", "lte"]}))
    {'columns': {'x': [0.12346, None], 'of': ['dsl', 'lte']}}
    """
    import polars as pl

    floats = pl.selectors.float()
    finite = frame.with_columns(floats.fill_nan(None).round_sig_figs(DIGITS))
    return {"columns": finite.to_dict(as_series=False)}


def chart(data: pl.DataFrame, body: Mapping[str, Any], height: int = HEIGHT) -> Spec:
    """Return a full specification, as wide as the page."""
    return {
        "$schema": SCHEMA,
        "width": "container",
        "height": height,
        "data": values(data),
        **body,
    }


def axis(field: str, title: str, kind: str = "quantitative", **more: Any) -> Spec:
    """Return the encoding of an axis."""
    return {"field": field, "type": kind, "title": title, **more}


def colour(order: Sequence[str]) -> Spec:
    """Return the encoding of colours, in one order for the whole page."""
    # Bands are faint, and share the legend.
    legend: Spec | None = {"symbolOpacity": 1} if len(order) > 1 else None
    domain = list(order)
    if set(order) <= set(WAYS):
        # Ways of running a scenario keep their colours; blanks take the other places.
        way_of = {of_way: way for way, of_way in WAYS.items()}
        domain = [way_of.get(each, " " * at) for at, each in enumerate(COLOURS, 1)]
        legend = {"symbolOpacity": 1, "values": list(order)} if legend else None
    return {
        "field": "of",
        "type": "nominal",
        "title": None,
        "sort": list(order),
        "scale": {"domain": domain},
        "legend": legend,
    }


def stacked(data: pl.DataFrame, order: Sequence[str]) -> tuple[pl.DataFrame, Spec]:
    """Return rows with their places in a stack, the first at the bottom, and the encodings.

    The legend lists the top first, as in the pictures of `ropewalk.plot`.
    """
    import polars as pl

    places = pl.col("of").replace_strict(list(order), range(len(order)), return_dtype=pl.Int64)
    of = colour(order)
    if of["legend"] is not None:
        of["legend"]["values"] = list(order)[::-1]
    return data.with_columns(place=places), {"color": of, "order": {"field": "place"}}


def choice(titles: Sequence[str], fields: Sequence[str]) -> tuple[list[Spec], list[Spec]]:
    """Return parameters and transforms with which a reader selects one of several quantities.

    Data of quantity *i* are in fields such as ``y0`` and ``low0``; the selected ones appear as
    `fields`.

    Examples
    --------
    >>> _, transforms = choice(["goodput", "delay"], ["y"])
    >>> transforms[0]["calculate"]
    'chosen_y == "goodput" ? datum.y0 : chosen_y == "delay" ? datum.y1 : null'
    """
    named = [json.dumps(title) for title in titles]
    transforms = [
        {
            "calculate": "".join(
                f"chosen_y == {title} ? datum.{field}{at} : " for at, title in enumerate(named)
            )
            + "null",
            "as": field,
        }
        for field in fields
    ]
    return [select("chosen_y", titles, "shown: ")], transforms


def select(name: str, options: Sequence[str], label: str) -> Spec:
    """Return a parameter with a selection list."""
    bind = {"input": "select", "options": list(options), "name": label}
    return {"name": name, "value": options[0], "bind": bind}


def hints(title: str, *fields: tuple[str, str]) -> list[Spec]:
    """Return the tooltip of a point: its series and further fields."""
    return [
        {"field": "of", "type": "nominal", "title": title},
        *(
            {"field": field, "type": "quantitative", "title": name, "format": ",.4~r"}
            for field, name in fields
        ),
    ]


def lines(
    data: pl.DataFrame,
    order: Sequence[str],
    x: str,
    y: str,
    *,
    what: str,
    steps: bool = False,
    dots: bool = False,
) -> Spec:
    """Return a line for each name in `order`, with bands if there are columns ``low``, ``high``.

    `data` has columns ``x``, ``y`` and ``of``; `what` is the title of the legend, such as
    "subflow". With `steps` a value holds up to the next one; with `dots` values are marked.
    """
    mark: Spec = {
        "type": "line",
        "strokeWidth": 1.6,
        "interpolate": "step-after" if steps else "linear",
    }
    if dots:
        mark |= {"point": {"size": 50, "filled": True}}
    line: Spec = {
        "mark": mark,
        "params": [CHOSEN, MOVED],
        "encoding": {
            "y": axis("y", y),
            "opacity": FADED,
            "tooltip": hints(what, ("x", x), ("y", y)),
        },
    }
    layers = [line]
    if "low" in data.columns:
        band: Spec = {
            "mark": {"type": "area", "interpolate": mark["interpolate"]},
            "encoding": {
                "y": axis("low", y),
                "y2": {"field": "high"},
                "opacity": {"condition": {"param": "chosen", "value": BAND}, "value": 0.03},
            },
        }
        layers.insert(0, band)
    shared = {"x": axis("x", x, scale={"nice": False}), "color": colour(order)}
    return chart(data, {"encoding": shared, "layer": layers})


def points(data: pl.DataFrame, order: Sequence[str], x: str, y: str, *, what: str) -> Spec:
    """Return a mark for each row.

    `data` has columns ``x``, ``y``, ``of`` (kind), and ``what`` for the tooltip; `what` is the
    title of the legend.
    """
    body: Spec = {
        "mark": {"type": "point", "filled": True, "size": 45},
        "params": [CHOSEN],
        "encoding": {
            "x": axis("x", x),
            "y": axis("y", y),
            "color": colour(order),
            "opacity": {"condition": {"param": "chosen", "value": 0.8}, "value": 0.05},
            "tooltip": [
                {"field": "what", "type": "nominal", "title": " "},
                *hints(what or " ", ("x", x), ("y", y)),
            ],
        },
    }
    return chart(data, body)


def bars(data: pl.DataFrame, order: Sequence[str], x: str, *, what: str) -> Spec:
    """Return a bar for each name in `order`, with intervals if ``low`` and ``high`` exist.

    `data` has columns ``x`` and ``of``; ``group`` for adjacent bars, and ``strong`` for emphasised
    ones. `what` is the title of the legend.
    """
    grouped = "group" in data.columns
    place = "group" if grouped else "of"
    groups = list(dict.fromkeys(data[place].to_list())) if grouped else list(order)
    shared: Spec = {
        "y": axis(place, "", "nominal", sort=groups),
    }
    plain: Spec = {"value": INK}
    if "strong" in data.columns:
        plain["condition"] = {"test": "datum.strong", "value": STRONG}
    shown: Spec = {"color": colour(order) if grouped else plain}
    if grouped:
        shared["yOffset"] = {"field": "of", "sort": list(order)}
    bar: Spec = {
        "mark": {"type": "bar"},
        "encoding": {"x": axis("x", x), "tooltip": hints(what, ("x", x)), **shown},
    }
    layers = [bar]
    if "low" in data.columns:
        layers.append(
            {
                "mark": {"type": "rule"},
                "encoding": {"x": axis("low", x), "x2": {"field": "high"}},
            }
        )
    of_each = len(order) if grouped else 1
    height = max(60, ROW * len(groups) * min(of_each, 3))
    return chart(data, {"encoding": shared, "layer": layers}, height)
