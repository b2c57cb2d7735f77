"""Pictures of runs: what arrived when, windows, delays, buffers, airtime."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..statistics import student_t
from ..table import AIRTIME
from ..whole_runs import PIECES
from . import charts
from .section import Chart
from .tables import joined

if TYPE_CHECKING:
    import polars as pl

MOST_STEPS = 150  # more than a picture has dots for show nothing but noise
MOST_DELIVERED = 60
MOST_DELAYS = 200
MOST_ROOM = 1.3  # of the axis, above what links carry
CAPACITY = "sum of link rates"
DELIVERED = "delivered in order"
ABOVE = (
    "What was delivered goes up to {most:,.0f} Mbit/s, above what the links carry: what had"
    " waited behind a gap is delivered at a stroke when the gap closes."
)
# What of a subflow's state can be chosen, by the column.
STATE = {
    "cwnd_bytes": "congestion window, kB",
    "in_flight_bytes": "in flight, kB",
    "ssthresh_bytes": "slow-start threshold, kB",
    "srtt_ms": "smoothed round trip, ms",
    "goodput_mbps": "arrives, Mbit/s",
}


@dataclass(frozen=True)
class Frames:
    """What runs recorded, a row each step: of `Results`, or of a folder.

    Attributes
    ----------
    timeline, connection, delays : polars.DataFrame
        As `Results` has them; empty where nothing was recorded.
    flow : str or None
        Name of the first flow where there are several.
    pieces : str
        What the delays are of.
    """

    timeline: pl.DataFrame
    connection: pl.DataFrame
    delays: pl.DataFrame
    flow: str | None = None
    pieces: str = "packets"

    @property
    def runs(self) -> int:
        """How many runs there are."""
        return self.delays["seed"].n_unique() if self.delays.height else 0


def pieces_of(traffic: dict[str, Any]) -> str:
    """Return what the delays of a kind of traffic are of."""
    return PIECES.get(traffic["kind"], "messages")


def pictures(frames: Frames, radios: Sequence[dict[str, Any]] = ()) -> Iterator[Chart]:
    """Yield what there is to show of runs.

    Parameters
    ----------
    frames : Frames
        What was recorded.
    radios : sequence of dict
        The entries of a run's ``radios``.
    """
    if frames.connection.height:
        if "flow" in frames.connection.columns:
            yield _flows(frames)
        yield _goodput(frames)
    if frames.timeline.height:
        yield _state(frames)
    if frames.delays.height:
        yield delays({"": frames.delays} if frames.flow is None else _by_flow(frames), frames)
    if frames.connection.height:
        yield from _buffers(frames)
    if radios:
        yield _airtime(radios)


def first(frames: Frames, frame: pl.DataFrame) -> pl.DataFrame:
    """Return what a frame has of the first flow."""
    return frame if "flow" not in frame.columns else frame.filter(flow=frames.flow)


def delivered(frames: dict[str, pl.DataFrame]) -> Chart:
    """Return goodput over time of several ways, means over their runs with 95 % bands.

    Parameters
    ----------
    frames : dict of str to polars.DataFrame
        Each way's connection over time.
    """
    import polars as pl

    parts = [
        _banded(frame, "goodput_mbps", MOST_DELIVERED).with_columns(pl.lit(name).alias("of"))
        for name, frame in frames.items()
    ]
    spec = charts.lines(
        pl.concat(parts, how="diagonal"),
        [*frames],
        "time, s",
        "delivered in order, Mbit/s",
        what="way",
        steps=True,
    )
    return Chart("What the application gets, over time", spec, _bands(frames.values()))


def delays(frames: dict[str, pl.DataFrame], of: Frames) -> Chart:
    """Return the share of data that is delivered within a delay, over all runs.

    Parameters
    ----------
    frames : dict of str to polars.DataFrame
        Histograms by name; one without a name stands alone.
    of : Frames
        Says what the delays are of.
    """
    import polars as pl

    parts = []
    for name, frame in frames.items():
        summed = frame.group_by("up_to_ms").agg(pl.col("count").sum()).sort("up_to_ms")
        shares = summed.select(
            pl.col("up_to_ms").alias("x"),
            (100 * pl.col("count").cum_sum() / pl.col("count").sum()).alias("y"),
            pl.lit(name or of.pieces).alias("of"),
        )
        parts.append(_thinned(shares))
    spec = charts.lines(
        pl.concat(parts),
        [name or of.pieces for name in frames],
        "delay from write to delivery in order, ms",
        f"% of {of.pieces} within",
        what="",
        steps=True,
    )
    return Chart("How long data take", spec, charts.MOVING)


def _goodput(frames: Frames) -> Chart:
    """Return what arrives by each subflow, stacked, what is delivered, and what links carry."""
    import polars as pl

    timeline, connection = first(frames, frames.timeline), first(frames, frames.connection)
    total = _banded(connection, "goodput_mbps", MOST_DELIVERED)
    capacity = _thin(connection, ["capacity_mbps"], MOST_STEPS)
    most = float(capacity["capacity_mbps"].max() or 0)  # type: ignore[arg-type]
    layers: list[charts.Spec] = []
    order: list[str] = []
    if timeline.height:
        order = timeline["link"].unique(maintain_order=True).to_list()
        arrived = _thin(timeline, ["goodput_mbps"], MOST_STEPS, ["link", "subflow"])
        arrived = arrived.group_by("time_s", "link", maintain_order=True).agg(
            pl.col("goodput_mbps").sum()
        )
        stacked = arrived.group_by("time_s").agg(pl.col("goodput_mbps").sum())["goodput_mbps"]
        most = max(most, float(stacked.quantile(0.99) or 0))
        area: charts.Spec = {
            "data": charts.values(
                arrived.rename({"time_s": "x", "goodput_mbps": "y", "link": "of"})
            ),
            "mark": {"type": "area", "interpolate": "step-after", "clip": True},
            "params": [charts.CHOSEN],
            "encoding": {
                "y": charts.axis("y", "Mbit/s", stack="zero"),
                "color": charts.colour(order),
                "opacity": {"condition": {"param": "chosen", "value": 0.85}, "value": 0.1},
                "tooltip": charts.hints("arrives by", ("time, s", "x"), ("Mbit/s", "y")),
            },
        }
        layers.append(area)
    top = MOST_ROOM * max(most, 1e-3)
    if capacity["capacity_mbps"].drop_nulls().len():
        layers.append(_line(capacity, "capacity_mbps", CAPACITY, 1.2))
    layers += _total(total)
    shared = {
        "x": charts.axis("x", "time, s", scale={"nice": False}),
        "y": {"scale": {"domain": [0, top]}},
    }
    layers[-1]["params"] = [charts.MOVED]
    spec = charts.chart(total, {"encoding": shared, "layer": layers})
    highest = float(total["y"].max() or 0)  # type: ignore[arg-type]
    told = [_bands([connection]), ABOVE.format(most=highest) if highest > top else ""]
    told += [charts.CHOOSING if len(order) > 1 else "", charts.MOVING]
    of = f", {frames.flow}" if frames.flow else ""
    return Chart(f"Goodput over time{of}", spec, _sentences(told))


def _total(total: pl.DataFrame) -> list[charts.Spec]:
    layers: list[charts.Spec] = []
    if "low" in total.columns:
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
    layers.append(_line(None, "y", DELIVERED, 1.6))
    return layers


def _line(data: pl.DataFrame | None, field: str, name: str, width: float) -> charts.Spec:
    """Return a line that is told of in the picture, and not in the legend of subflows."""
    own = {} if data is None else {"data": charts.values(data.rename({"time_s": "x"}))}
    return {
        **own,
        "mark": {"type": "line", "interpolate": "step-after", "clip": True, "strokeWidth": width},
        "encoding": {
            "y": charts.axis(field, "Mbit/s"),
            "strokeDash": {
                "datum": name,
                "type": "nominal",
                "title": None,
                "scale": {"domain": [DELIVERED, CAPACITY], "range": [[1, 0], [5, 3]]},
            },
            "tooltip": [
                {"field": "x", "type": "quantitative", "title": "time, s", "format": ",.4~r"},
                {
                    "field": field,
                    "type": "quantitative",
                    "title": f"{name}, Mbit/s",
                    "format": ",.4~r",
                },
            ],
        },
    }


def _flows(frames: Frames) -> Chart:
    """Return what each flow gets over time, means over the runs with their bands."""
    import polars as pl

    order = frames.connection["flow"].unique(maintain_order=True).to_list()
    parts = [
        _banded(frames.connection.filter(flow=name), "goodput_mbps", MOST_DELIVERED).with_columns(
            pl.lit(name).alias("of")
        )
        for name in order
    ]
    spec = charts.lines(
        pl.concat(parts, how="diagonal"), order, "time, s", "Mbit/s", what="flow", steps=True
    )
    told = [_bands([frames.connection]), charts.CHOOSING, charts.MOVING]
    return Chart("What each flow gets, over time", spec, _sentences(told))


def _state(frames: Frames) -> Chart:
    """Return a quantity of each subflow's state over time, of the first run, to choose from."""
    import polars as pl

    timeline = first(frames, frames.timeline)
    seed = timeline["seed"][0]
    timeline = timeline.filter(seed=seed)
    order = timeline["link"].unique(maintain_order=True).to_list()
    known = [
        name
        for name in STATE
        if name in timeline.columns and timeline[name].drop_nulls().len() > 0
    ]
    scaled = timeline.with_columns(
        pl.col(name).cast(pl.Float64) * (1e-3 if name.endswith("_bytes") else 1) for name in known
    )
    thin = _thin(scaled, known, 2 * MOST_STEPS, ["link", "subflow"])
    wide = thin.select(
        pl.col("time_s").alias("x"),
        pl.concat_str("link", pl.lit(" "), "subflow").alias("each"),
        pl.col("link").alias("of"),
        *(pl.col(name).alias(f"y{at}") for at, name in enumerate(known)),
    )
    params, transforms = charts.choice([STATE[name] for name in known], ("y",))
    body: charts.Spec = {
        "params": [*params, charts.CHOSEN, charts.MOVED],
        "transform": transforms,
        "mark": {"type": "line", "strokeWidth": 1.4, "interpolate": "step-after"},
        "encoding": {
            "x": charts.axis("x", "time, s", scale={"nice": False}),
            "y": charts.axis("y", ""),
            "detail": {"field": "each", "type": "nominal"},
            "color": charts.colour(order),
            "opacity": charts.FADED,
            "tooltip": charts.hints("subflow", ("x", "time, s"), ("y", "shown")),
        },
    }
    told = [f"Of the run with seed {seed}.", charts.CHOOSING if len(order) > 1 else ""]
    return Chart("Windows and round trips of subflows", charts.chart(wide, body), _sentences(told))


def _buffers(frames: Frames) -> Iterator[Chart]:
    """Yield what waits at the receiver, and what a player holds."""
    import polars as pl

    connection = first(frames, frames.connection)
    told = _sentences([_bands([connection]), charts.MOVING])
    shown = (
        ("reorder_buffer_bytes", 1e-3, "What waits for a gap to close", "reorder buffer, kB"),
        ("player_buffer_s", 1.0, "What the player holds", "player's buffer, s"),
    )
    for column, scale, title, axis in shown:
        if column not in connection.columns or not connection[column].drop_nulls().len():
            continue
        scaled = connection.with_columns(pl.col(column).cast(pl.Float64) * scale)
        data = _banded(scaled, column, MOST_STEPS).with_columns(pl.lit(axis).alias("of"))
        spec = charts.lines(data, [axis], "time, s", axis, what="")
        yield Chart(title, spec, told)


def _airtime(radios: Sequence[dict[str, Any]]) -> Chart:
    """Return what the time of each radio goes to, stacked."""
    import polars as pl

    rows = [
        {"group": f"{radio['node']} on {radio['channel']}", "of": joined(title), "x": 100 * share}
        for radio in radios
        for title, (key, *_) in AIRTIME.items()
        if (share := radio["airtime"].get(key)) is not None
    ]
    data = pl.DataFrame(rows)
    order = data["of"].unique(maintain_order=True).to_list()
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
    height = max(80, charts.ROW * len(radios))
    return Chart("Where each radio's time goes", charts.chart(data, body, height), charts.CHOOSING)


def _by_flow(frames: Frames) -> dict[str, pl.DataFrame]:
    names = frames.delays["flow"].unique(maintain_order=True).to_list()
    return {name: frames.delays.filter(flow=name) for name in names}


def _thin(
    frame: pl.DataFrame, columns: list[str], most: int, keys: Sequence[str] = ()
) -> pl.DataFrame:
    """Return means over runs, and over so many steps together that there are `most` at most."""
    import polars as pl

    of_run = frame.filter(pl.col("seed") == frame["seed"][0])
    times = of_run["time_s"].unique().sort()
    together = max(1, -(-len(times) // most))
    step = float(times[1] - times[0]) * together if len(times) > 1 else 1.0
    start = float(times[0]) if len(times) else 0.0
    at = (((pl.col("time_s") - start) / step + 1e-9).floor() * step + start).round(6)
    grouped = frame.with_columns(at.alias("time_s"))
    means = [pl.col(name).cast(pl.Float64).mean() for name in columns]
    return grouped.group_by("time_s", *keys, maintain_order=True).agg(means).sort("time_s")


def _banded(frame: pl.DataFrame, column: str, most: int) -> pl.DataFrame:
    """Return a quantity over time: its mean over the runs and, of several, the 95 % interval."""
    import polars as pl

    thin = _thin(frame, [column], most, ["seed"])
    mean = pl.col(column).mean().alias("y")
    runs = thin["seed"].n_unique()
    if runs < 2:
        return thin.group_by("time_s", maintain_order=True).agg(mean).rename({"time_s": "x"})
    half = student_t(runs - 1) / runs**0.5 * pl.col(column).std()
    low, high = (mean.name.map(lambda name: name) - half, mean + half)
    found = thin.group_by("time_s", maintain_order=True).agg(
        mean,
        pl.max_horizontal(low, 0.0).alias("low"),
        high.alias("high"),
    )
    return found.rename({"time_s": "x"})


def _thinned(shares: pl.DataFrame) -> pl.DataFrame:
    """Return as many points of a distribution as a picture has dots for, its ends included."""
    if shares.height <= MOST_DELAYS:
        return shares
    bins = (shares["y"] / 100 * MOST_DELAYS).floor().alias("bin")
    return shares.with_columns(bins).group_by("bin", maintain_order=True).last().drop("bin")


def _bands(frames: Any) -> str:
    runs = max((frame["seed"].n_unique() for frame in frames), default=1)
    return f"Means over {runs} runs; bands are 95 % intervals." if runs > 1 else ""


def _sentences(told: Sequence[str]) -> str:
    return " ".join(each for each in told if each)
