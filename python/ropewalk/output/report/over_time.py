"""Charts of runs over time: goodput, windows, delays, buffers, airtime."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..plot import chart_data, time_panels
from ..plot.chart_data import ABOVE, CAPACITY, DELAY, DELIVERED, GOODPUT, MAX_STEPS, STATE, TIME
from ..plot.timelines import Curve, of_first_flow, subflows_of
from . import charts
from .section import Chart

if TYPE_CHECKING:
    import polars as pl

    from ...results import Results

MAX_DELAYS = 200
LEFT_ABOVE = f"Deliveries reach {{most:,.0f}} Mbit/s, above the links' capacity: {ABOVE}."
HELD = {
    "reorder_buffer_bytes": "Data waiting for a gap to close",
    "player_buffer_s": "Player's buffer",
}


def pictures(ran: Results) -> Iterator[Chart]:
    """Yield the charts that apply to runs."""
    if ran.connection.height:
        if time_panels.has_flows(ran):
            yield _flows(ran)
        yield _goodput(ran)
        if time_panels.has_windows(ran):
            yield _state(ran)
    if ran.delays.height:
        by_flow = "flow" in ran.delays.columns
        frames = _by_flow(ran.delays) if by_flow else {"": ran.delays}
        text = _bands(ran) if len(ran.seeds) > 1 else ""
        yield _delays({name: (frame, ran.seeds) for name, frame in frames.items()}, ran, text)
    if ran.connection.height:
        yield from _buffers(ran)
    if "radios" in ran.runs[0]:
        yield _airtime(ran.runs)


def delivered(ways: Mapping[str, Results]) -> Chart:
    """Return goodput over time for several ways, means with 95 % bands."""
    curves = {way: chart_data.delivered(ran, ran.seeds) for way, ran in ways.items()}
    spec = charts.lines(
        _all_rows(curves),
        [*curves],
        TIME,
        f"{DELIVERED} (Mbit/s)",
        what="way",
        steps=True,
    )
    most = max(ways.values(), key=lambda ran: len(ran.seeds))
    return Chart("Goodput at the application over time", spec, _bands(most, *curves.values()))


def delays(ways: Mapping[str, Results]) -> Chart:
    """Return the delay distribution of the first flow's data for each way."""
    first = next(iter(ways.values()))
    frames = {way: (of_first_flow(ran.delays), ran.seeds) for way, ran in ways.items()}
    return _delays(frames, first)


def _delays(
    frames: Mapping[str, tuple[pl.DataFrame, Sequence[int]]], first: Results, told: str = ""
) -> Chart:
    import polars as pl

    pieces = chart_data.pieces(first)
    parts = []
    for name, (bins, seeds) in frames.items():
        edges, share, half = chart_data.delays(bins, seeds)
        columns = {"x": edges, "y": 100 * share}
        if half is not None and np.nanmax(half, initial=0.0) > 1e-9:
            columns["low"] = 100 * np.maximum(share - half, 0)
            columns["high"] = 100 * np.minimum(share + half, 1)
        shares = pl.DataFrame(columns).with_columns(pl.lit(name or pieces).alias("of"))
        parts.append(_thinned(shares))
    spec = charts.lines(
        pl.concat(parts, how="diagonal"),
        [name or pieces for name in frames],
        DELAY,
        f"% of {pieces} within",
        what="",
        steps=True,
    )
    return Chart("Delay of the data", spec, _sentences([told, charts.MOVING]))


def _goodput(ran: Results) -> Chart:
    """Return stacked subflow goodput, the delivered total, and the links' capacity."""
    told_of = chart_data.goodput(ran, ran.seeds)
    total, capacity, top = told_of.total, told_of.capacity, told_of.top
    arrived = {name: curve for _, name, curve in told_of.arrived}
    layers: list[charts.Spec] = []
    if arrived:
        rows, stack = charts.stacked(_all_rows(arrived, banded=False), [*arrived])
        area: charts.Spec = {
            "data": charts.values(rows),
            "mark": {"type": "area", "interpolate": "step-after", "clip": True},
            "params": [charts.CHOSEN],
            "encoding": {
                "y": charts.axis("y", GOODPUT, stack="zero"),
                **stack,
                "opacity": {"condition": {"param": "chosen", "value": 0.85}, "value": 0.1},
                "tooltip": charts.hints("arrives by", (TIME, "x"), ("Mbit/s", "y")),
            },
        }
        layers.append(area)
    if told_of.has_capacity:
        rows = _rows(capacity, CAPACITY, banded=False)
        layers.append(_line(rows, CAPACITY, 1.2))
    layers += _total(total)
    shared = {
        "x": charts.axis("x", TIME, scale={"nice": False}),
        "y": {"scale": {"domain": [0, top]}},
    }
    layers[-1]["params"] = [charts.MOVED]
    spec = charts.chart(_rows(total, DELIVERED), {"encoding": shared, "layer": layers})
    highest = told_of.highest
    text = [_bands(ran, total), LEFT_ABOVE.format(most=highest) if highest > top else ""]
    text += [charts.CHOOSING if len(arrived) > 1 else "", charts.MOVING]
    of = f", {ran.connection['flow'][0]}" if "flow" in ran.connection.columns else ""
    return Chart(f"Goodput over time{of}", spec, _sentences(text))


def _total(total: Curve) -> list[charts.Spec]:
    layers: list[charts.Spec] = []
    if total.half is not None and total.differs:
        layers.append(
            {
                "mark": {
                    "type": "area",
                    "interpolate": "step-after",
                    "clip": True,
                    "opacity": charts.BAND,
                    "color": charts.INK,
                },
                "encoding": {"y": charts.axis("low", "Mbit/s"), "y2": {"field": "high"}},
            }
        )
    layers.append(_line(None, DELIVERED, 1.6))
    return layers


def _line(data: pl.DataFrame | None, name: str, width: float) -> charts.Spec:
    """Return a line with its label in the chart instead of the legend."""
    own = {} if data is None else {"data": charts.values(data)}
    return {
        **own,
        "mark": {"type": "line", "interpolate": "step-after", "clip": True, "strokeWidth": width},
        "encoding": {
            "y": charts.axis("y", "Mbit/s"),
            "strokeDash": {
                "datum": name,
                "type": "nominal",
                "title": None,
                "scale": {"domain": [DELIVERED, CAPACITY], "range": [[1, 0], [5, 3]]},
            },
            "tooltip": [
                {"field": "x", "type": "quantitative", "title": TIME, "format": ",.4~r"},
                {
                    "field": "y",
                    "type": "quantitative",
                    "title": f"{name} (Mbit/s)",
                    "format": ",.4~r",
                },
            ],
        },
    }


def _flows(ran: Results) -> Chart:
    """Return each flow's goodput over time, means with bands."""
    curves = chart_data.flows(ran, ran.seeds)
    spec = charts.lines(_all_rows(curves), [*curves], TIME, GOODPUT, what="flow", steps=True)
    text = [_bands(ran, *curves.values()), charts.CHOOSING, charts.MOVING]
    return Chart("Goodput of each flow over time", spec, _sentences(text))


def _state(ran: Results) -> Chart:
    """Return selectable state quantities of subflows over time, for the first run."""
    import polars as pl

    seed = ran.seeds[0]
    steps = chart_data.steps_of(ran, [seed])
    subflows = subflows_of(ran, [seed])
    order = [name for _, name, _ in subflows]
    known = [
        column
        for column in STATE
        if any(rows[column].null_count() < rows.height for _, _, rows in subflows)
    ]
    parts = []
    for _, name, rows in subflows:
        drawn: dict[str, np.ndarray] = {}
        for at, column in enumerate(known):
            values = STATE[column][1] * steps.values(column, rows)
            curve = steps.curve(values, 2 * MAX_STEPS)
            drawn |= {"x": curve.edges, f"y{at}": _held(curve.mean)}
        parts.append(pl.DataFrame(drawn).with_columns(pl.lit(name).alias("of")))
    titles = [STATE[column][0] for column in known]
    params, transforms = charts.choice(titles, ("y",))
    body: charts.Spec = {
        "params": [*params, charts.CHOSEN, charts.MOVED],
        "transform": transforms,
        "mark": {"type": "line", "strokeWidth": 1.4, "interpolate": "step-after"},
        "encoding": {
            "x": charts.axis("x", TIME, scale={"nice": False}),
            "y": charts.axis("y", ""),
            "color": charts.colour(order),
            "opacity": charts.FADED,
            "tooltip": charts.hints("subflow", ("x", TIME), ("y", "shown")),
        },
    }
    text = [f"Of the run with seed {seed}.", charts.CHOOSING if len(order) > 1 else ""]
    spec = charts.chart(pl.concat(parts), body)
    return Chart("Windows and round trips of subflows", spec, _sentences(text))


def _buffers(ran: Results) -> Iterator[Chart]:
    """Yield charts of the reorder buffer and the playout buffer."""
    for column, title in HELD.items():
        text = chart_data.buffer(ran, ran.seeds, column, MAX_STEPS)
        if text is not None:
            axis, curve = text
            spec = charts.lines(_rows(curve, axis), [axis], TIME, axis, what="", steps=True)
            yield Chart(title, spec, _sentences([_bands(ran, curve), charts.MOVING]))


def _airtime(runs: Sequence[Mapping[str, Any]]) -> Chart:
    """Return each radio's use of time, stacked."""
    import polars as pl

    names, shares = chart_data.airtime(runs)
    order = [label for label, _ in chart_data.AIRTIME.values()]
    parts = zip(order, shares.values(), strict=True)
    data = pl.concat(pl.DataFrame({"group": names, "of": label, "x": of}) for label, of in parts)
    body: charts.Spec = {
        "mark": {"type": "bar"},
        "params": [charts.CHOSEN],
        "encoding": {
            "y": charts.axis("group", "", "nominal", sort=None),
            "x": charts.axis("x", "% of the time", stack="zero"),
            "color": charts.colour(order),
            "order": {"field": "place"},
            "opacity": charts.FADED,
            "tooltip": charts.hints("for", ("x", "% of the time")),
        },
    }
    places = pl.col("of").replace_strict(order, range(len(order)), return_dtype=pl.Int64)
    data = data.with_columns(places.alias("place"))
    height = max(80, charts.ROW * len(names))
    return Chart("Use of time by each radio", charts.chart(data, body, height), charts.CHOOSING)


def _by_flow(delays: pl.DataFrame) -> dict[str, pl.DataFrame]:
    names = delays["flow"].unique(maintain_order=True).to_list()
    return {name: delays.filter(flow=name) for name in names}


def _rows(curve: Curve, of: str, *, banded: bool = True) -> pl.DataFrame:
    """Return the values at the start of each step, and the last one at its end."""
    import polars as pl

    columns = {"x": curve.edges, "y": _held(curve.mean)}
    if banded and curve.half is not None and curve.differs:
        columns["low"] = _held(np.maximum(curve.mean - curve.half, 0))
        columns["high"] = _held(curve.mean + curve.half)
    return pl.DataFrame(columns).with_columns(pl.lit(of).alias("of"))


def _held(values: np.ndarray) -> np.ndarray:
    return np.append(values, values[-1:])


def _all_rows(curves: Mapping[str, Curve], *, banded: bool = True) -> pl.DataFrame:
    import polars as pl

    parts = [_rows(curve, name, banded=banded) for name, curve in curves.items()]
    return pl.concat(parts, how="diagonal")


def _thinned(shares: pl.DataFrame) -> pl.DataFrame:
    """Reduce a distribution to the resolution of the picture, keeping its ends."""
    if shares.height <= MAX_DELAYS:
        return shares
    bins = (shares["y"] / 100 * MAX_DELAYS).floor().alias("bin")
    return shares.with_columns(bins).group_by("bin", maintain_order=True).last().drop("bin")


def _bands(ran: Results, *curves: Curve) -> str:
    text = chart_data.means_note(ran, ran.seeds)
    if text is None:
        return ""
    drawn = any(curve.half is not None and curve.differs for curve in curves)
    return f"{text.capitalize()}{'; bands are 95 % intervals' if drawn else ''}."


def _sentences(told: Sequence[str]) -> str:
    return " ".join(each for each in told if each)
