"""Interactive charts as Vega-Lite specifications.

Data stand in them by columns, a third as long as rows, which the page makes of them. Fields have
short names of their own (``x``, ``y``, ``of``, ``low``, ``high``), since those of a scenario may
have dots and brackets.
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

# A name in the legend shows what is its alone; the next click on it shows all again.
CHOSEN: Spec = {
    "name": "chosen",
    "select": {"type": "point", "fields": ["of"], "toggle": "true"},
    "bind": "legend",
}
# With the mouse, not with a finger, which moves the page.
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
    """Return data for a specification: columns, of which the page makes the rows.

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
    """Return a whole specification, as wide as the page."""
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
    """Return the encoding of colours: names in their order, as everywhere on the page."""
    # Bands are faint, and share the legend.
    legend: Spec | None = {"symbolOpacity": 1} if len(order) > 1 else None
    domain = list(order)
    if set(order) <= set(WAYS):
        # The ways of running a scenario keep their colours; blanks fill the places of others.
        domain = [_way_of(each) or " " * at for at, each in enumerate(COLOURS, 1)]
        legend = {"symbolOpacity": 1, "values": list(order)} if legend else None
    return {
        "field": "of",
        "type": "nominal",
        "title": None,
        "sort": list(order),
        "scale": {"domain": domain},
        "legend": legend,
    }


def _way_of(colour: str) -> str | None:
    return next((way for way, of_way in WAYS.items() if of_way == colour), None)


def stacked(data: pl.DataFrame, order: Sequence[str]) -> tuple[pl.DataFrame, Spec]:
    """Return rows with their places in a stack, and its encodings: the first at the foot.

    The legend has the top first, as the pictures of `ropewalk.plot`.
    """
    import polars as pl

    places = pl.col("of").replace_strict(list(order), range(len(order)), return_dtype=pl.Int64)
    of = colour(order)
    if of["legend"] is not None:
        of["legend"]["values"] = list(order)[::-1]
    return data.with_columns(place=places), {"color": of, "order": {"field": "place"}}


def choice(titles: Sequence[str], fields: Sequence[str]) -> tuple[list[Spec], list[Spec]]:
    """Return the parameter by which a reader chooses among several quantities.

    Parameters
    ----------
    titles : sequence of str
        Of the quantities; their data are in ``y0``, ``y1``, ...
    fields : sequence of str
        Those of each quantity, such as ``("y", "low", "high")``.

    Returns
    -------
    list, list
        Parameters and transforms of the specification; the chosen quantity is in the fields.

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
    """Return a parameter that a reader chooses from a list."""
    bind = {"input": "select", "options": list(options), "name": label}
    return {"name": name, "value": options[0], "bind": bind}


def hints(title: str, *fields: tuple[str, str]) -> list[Spec]:
    """Return the tooltip of a point: its series, and some fields."""
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
    """Return a line for each name, with a band where there is one.

    Parameters
    ----------
    data : polars.DataFrame
        Columns ``x``, ``y``, ``of``; for bands also ``low`` and ``high``.
    order : sequence of str
        The names.
    x, y : str
        Titles of the axes.
    what : str
        Title of the legend: what the names are of, such as "subflow".
    steps : bool
        Whether a value holds up to the next one.
    dots : bool
        Whether the values are marked.
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

    Parameters
    ----------
    data : polars.DataFrame
        Columns ``x``, ``y``, ``of``, and ``what``, which is told under the mouse.
    order : sequence of str
        The names of kinds.
    x, y : str
        Titles of the axes.
    what : str
        Title of the legend: what the names are of, such as "subflow".
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
    """Return a bar for each name, with its interval where there is one.

    Parameters
    ----------
    data : polars.DataFrame
        Columns ``x`` and ``of``, and ``group`` for bars that stand together; for intervals also
        ``low`` and ``high``, and ``strong`` for those that stand out.
    order : sequence of str
        The names.
    x : str
        Title of the axis.
    what : str
        Title of the legend: what the names are of, such as "subflow".
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
