"""Pictures of any table of runs: lines over a key, a heat map, or a trade-off."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from ... import units
from ...support.arguments import argument_error, entries_of
from ...units import heading, key_words, scale_of
from ..style import BAND, INK, colour, legend, line, name_ticks
from .axes import draw_on

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes

    from ...results.displayable import Width
    from .axes import On

    # Includes pandas' frames without an import of pandas.
    Frame: TypeAlias = pl.DataFrame | pl.LazyFrame | Any

MARKS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
INTERVAL = ": the mean's 95 % interval"
MAGNITUDES = 1e4  # ratio from which only powers of ten are labelled
MAX_TICKS = 10  # largest number of values that are all ticks of a logarithmic axis
MAX_LABELLED = 150  # largest number of labelled cells of a heat map


@dataclass(frozen=True)
class Scale:
    """Values of a column on an axis, with their positions.

    `names` are the labels at 0, 1, 2, ...; None for numeric values.
    """

    label: str
    places: dict[Any, float]
    names: list[str] | None = None

    @property
    def ordered(self) -> list[Any]:
        """The values by size; names in their order."""
        return sorted(self.places, key=lambda value: self.places[value])

    @property
    def told(self) -> list[str]:
        """The tick labels in that order."""
        if self.names is not None:
            return self.names
        return [_tick(self.places[value]) for value in self.ordered]


def series(
    points: Frame,
    x: str,
    y: str = "goodput_mbps",
    *,
    by: str | Sequence[str] = (),
    title: str = "",
    ax: On | None = None,
    width: Width | None = None,
) -> On:
    """Draw a line for each series over a varied key: means over runs, with 95 % intervals.

    `points` is any table with one row per run (polars, pandas, or a mapping of columns), such as
    the ``points`` of `ropewalk.study`. `x` is a column such as a varied key; values with units,
    such as ``"10 ms"``, are numbers. `y` is the quantity's column. The values of the columns `by`
    define the series. Raises ValueError if a column does not exist or has no numbers.

    Examples
    --------
    >>> import ropewalk
    >>> scenario = ropewalk.Scenario.load("start/two-links")
    >>> points = ropewalk.study(scenario, {"link.dsl.delay": ["10 ms", "50 ms"]}, runs=2).points
    >>> series(points, "link.dsl.delay").axes[0].get_xlabel()
    'delay of dsl (ms)'
    """
    keys: list[str] = [by] if isinstance(by, str) else list(by)
    points = _frame(points)
    _check(points, [x, *keys], y)
    text = _in_display_units(points, y)

    def draw(axes: Axes) -> None:
        across = _scale(text, x)
        groups = text.partition_by(keys, maintain_order=True) if keys else [text]
        least = min(text[y].drop_nulls(), default=0.0)
        several = False
        for number, group in enumerate(groups):
            places, means, halves = _means(group, across.places, x, y)
            # Intervals of non-negative quantities end at 0.
            under = [
                min(half, mean) if least >= 0 else half
                for mean, half in zip(means, halves, strict=True)
            ]
            several |= not all(map(math.isnan, halves))  # as of one run each
            style: dict[str, Any] = {"color": colour(number), "markersize": 4}
            style |= {"marker": MARKS[number % len(MARKS)]}
            style["label"] = ", ".join(str(group[key][0]) for key in keys)
            if across.names is not None:
                # A line would suggest values between names, so draw the series side by side.
                aside = 0.5 * ((number + 0.5) / len(groups) - 0.5)
                at = [place + aside for place in places]
                ends: Any = {"yerr": [under, halves], "capsize": 3, "elinewidth": 1}
                axes.errorbar(at, means, linestyle="", **ends, **style)
                continue
            axes.plot(places, means, linewidth=1.3, linestyle=line(number), **style)
            if several:
                low = [mean - half for mean, half in zip(means, under, strict=True)]
                high = [mean + half for mean, half in zip(means, halves, strict=True)]
                axes.fill_between(places, low, high, color=colour(number), alpha=BAND, linewidth=0)
        _axis(axes, across, "x")
        axes.set_ylabel(heading(y))
        band = "band" if across.names is None else "line"
        if keys:
            of = ", ".join(map(key_words, keys)) + (f" ({band}s: 95 %)" if several else "")
            legend(axes, *axes.get_legend_handles_labels(), title=of)
        elif several and ax is None:
            axes.set_title(f"{band}{INTERVAL}", fontsize="small")

    return _drawn(points, title, ax, width, (7, 4), draw)


def heat_map(
    points: Frame,
    x: str,
    y: str,
    of: str = "goodput_mbps",
    *,
    limits: tuple[float, float] | None = None,
    title: str = "",
    ax: On | None = None,
    width: Width | None = None,
) -> On:
    """Draw a map over two varied keys: means over runs as colours, and as numbers in small maps.

    `points` is a table as for `series`; `x` and `y` are columns such as varied keys, `of` is the
    quantity's column. `limits` are the values at the ends of the colour scale, for comparable
    maps; the default is the range of the data.

    Examples
    --------
    >>> import ropewalk
    >>> scenario = ropewalk.Scenario.load("start/two-links")
    >>> keys = {"link.dsl.delay": ["10 ms", "50 ms"], "transport.scheduler": ["min-rtt", "blest"]}
    >>> points = ropewalk.study(scenario, keys).points
    >>> figure = heat_map(points, "link.dsl.delay", "transport.scheduler")
    >>> [axes.get_ylabel() for axes in figure.axes]
    ['scheduler', 'goodput (Mbit/s)']
    """
    points = _frame(points)
    _check(points, [x, y], of)

    def draw(axes: Axes) -> None:
        import numpy as np

        across, up = (_scale(points, name) for name in (x, y))
        columns, rows = across.ordered, up.ordered
        cells = np.full((len(rows), len(columns)), np.nan)
        for group in (
            _in_display_units(points, of).drop_nulls(of).partition_by([x, y], maintain_order=True)
        ):
            cells[rows.index(group[y][0]), columns.index(group[x][0])] = group[of].mean()
        low, high = limits or (float(np.nanmin(cells)), float(np.nanmax(cells)))
        colours: Any = {"cmap": "viridis", "vmin": low, "vmax": high}
        image = axes.imshow(cells, aspect="auto", origin="lower", **colours)
        for which, scale in zip("xy", (across, up), strict=True):
            axes.set(**{f"{which}label": scale.label})
            name_ticks(axes, scale.told, which)
        axes.grid(visible=False)
        figure = axes.get_figure(root=True)
        assert figure is not None
        figure.colorbar(image, ax=axes, label=heading(of))
        if cells.size <= MAX_LABELLED:
            for row, column in np.ndindex(cells.shape):
                value = float(cells[row, column])
                if not math.isnan(value):
                    ink = "white" if value <= low + 0.6 * (high - low) else INK
                    text = (
                        f"{value:#.3g}".rstrip(".")
                        if 0.001 < abs(value) < 1000
                        else f"{value:,.0f}"
                    )
                    axes.text(
                        column, row, text, ha="center", va="center", color=ink, fontsize="small"
                    )

    height = max(3.0, 1.4 + 0.42 * points[y].n_unique())
    return _drawn(points, title, ax, width, (7, height), draw)


def hull(
    points: Frame,
    x: str,
    y: str,
    *,
    by: str,
    title: str = "",
    ax: On | None = None,
    width: Width | None = None,
) -> On:
    """Draw the trade-off of two quantities: means, and the lower convex hull of each series.

    A point on the hull between two dots is reached by time-sharing of the two. `points` is a table
    as for `series`. `x` and `y` are columns such as the share of late frames and the cost; smaller
    is better. The values of the column `by`, such as ``"transport.scheduler"``, define the series.

    Examples
    --------
    >>> import polars as pl
    >>> points = pl.DataFrame(
    ...     {"scheduler": list("aaaa"), "late": [9, 5, 5, 1], "cost": [1, 6, 3, 5]}
    ... )
    >>> hull(points, "late", "cost", by="scheduler").axes[0].lines[0].get_xydata().tolist()
    [[1.0, 5.0], [5.0, 3.0], [9.0, 1.0]]
    """
    points = _frame(points)
    _check(points, [by], x)
    _check(points, [by], y)

    def draw(axes: Axes) -> None:
        import polars as pl

        varied: list[str] = [
            name for name in points.columns if "." in name and not name.endswith("_value")
        ]
        equal = list(dict.fromkeys([by, *varied]))
        means = _in_display_units(points, x, y)
        if varied:
            means = means.group_by(equal, maintain_order=True).agg(pl.col(x, y).mean())
        for number, group in enumerate(means.partition_by(by, maintain_order=True)):
            dots = sorted(group.select(pl.col(x, y)).drop_nulls().rows())
            under = lower_hull(dots)
            label, of = str(group[by][0]), colour(number)
            axes.plot(*zip(*under, strict=True), color=of, linestyle=line(number), linewidth=1.2)
            axes.plot(
                *zip(*dots, strict=True),
                color=of,
                linestyle="",
                marker=MARKS[number % len(MARKS)],
                markersize=4,
                label=label,
            )
        axes.set(xlabel=heading(x), ylabel=heading(y))
        legend(axes, *axes.get_legend_handles_labels(), title=key_words(by))

    return _drawn(points, title, ax, width, (7, 4), draw)


def lower_hull(dots: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the lower convex hull of dots, down to the lowest one (Andrew 1979).

    Examples
    --------
    >>> lower_hull([(0.0, 4.0), (1.0, 3.0), (2.0, 1.0), (3.0, 2.0)])
    [(0.0, 4.0), (2.0, 1.0)]
    """
    found: list[tuple[float, float]] = []
    for x, y in dots:
        while len(found) > 1 and _turns_right(found[-2], found[-1], (x, y)):
            found.pop()
        found.append((x, y))
    lowest = min(range(len(found)), key=lambda at: found[at][1], default=-1)
    return found[: lowest + 1]


def _turns_right(
    first: tuple[float, float], second: tuple[float, float], third: tuple[float, float]
) -> bool:
    (a, b), (c, d), (e, f) = first, second, third
    return (c - a) * (f - b) < (d - b) * (e - a)


def _frame(points: Frame) -> pl.DataFrame:
    """Return any kind of data frame as polars' one."""
    import polars as pl

    if isinstance(points, pl.DataFrame):
        return points
    if isinstance(points, pl.LazyFrame):
        return points.collect()
    is_frame = hasattr(points, "columns") and hasattr(points, "dtypes")
    if not is_frame and not isinstance(points, Mapping):
        allowed = (
            "a data frame of polars or pandas, or a mapping of columns; made.points of a study"
        )
        raise argument_error("points", points, allowed)
    names = points.columns if is_frame else points
    return pl.DataFrame(
        {str(name): entries_of(points[name]) for name in names}, strict=False, nan_to_null=True
    )


def _check(points: pl.DataFrame, columns: Sequence[str], numbers: str) -> None:
    for name in (*columns, numbers):
        if name not in points.columns:
            raise ValueError(f"no column {name!r}; there are: {', '.join(points.columns)}")
    if not points[numbers].dtype.is_numeric():
        raise ValueError(f"column {numbers!r} has no numbers")


def _in_display_units(points: pl.DataFrame, *columns: str) -> pl.DataFrame:
    """Return rows with some columns converted to display units."""
    import polars as pl

    return points.with_columns(pl.col(name).cast(float) * scale_of(name) for name in columns)


def _means(
    group: pl.DataFrame, places: dict[Any, float], x: str, y: str
) -> tuple[list[float], list[float], list[float]]:
    """Return the positions of a series, the means over runs, and half the intervals."""
    from ...results.statistics import half_width

    found = []
    for same in group.drop_nulls(y).partition_by(x, maintain_order=True):
        numbers = same[y].to_list()
        half = half_width(numbers) if len(numbers) > 1 else math.nan
        found.append((places[same[x][0]], math.fsum(numbers) / len(numbers), half))
    found.sort()
    first, second, third = zip(*found, strict=True) if found else ((), (), ())
    return list(first), list(second), list(third)


def _scale(points: pl.DataFrame, name: str) -> Scale:
    values = points[name].unique(maintain_order=True).to_list()
    if points[name].dtype.is_numeric():
        return Scale(heading(name), {value: scale_of(name) * value for value in values})
    spelled = units.numbers([str(value) for value in values])
    if spelled is None:
        places = {value: float(at) for at, value in enumerate(values)}
        return Scale(key_words(name), places, [str(value) for value in values])
    numbers, unit = spelled
    label = key_words(name) + (f" ({unit})" if unit else "")
    return Scale(label, dict(zip(values, numbers, strict=True)))


def _axis(axes: Axes, scale: Scale, which: str) -> None:
    axes.set(**{f"{which}label": scale.label})
    if scale.names is not None:
        name_ticks(axes, scale.names, which)
    elif units.is_wide(places := list(scale.places.values())):
        from matplotlib.ticker import FixedLocator, LogLocator, NullLocator

        axes.set(**{f"{which}scale": "log"})
        axis = axes.xaxis if which == "x" else axes.yaxis
        few = max(places) / min(places) < MAGNITUDES
        if units.has_even_ratios(places) and len(places) <= MAX_TICKS:
            axis.set_major_locator(FixedLocator(places))
        else:
            axis.set_major_locator(LogLocator(subs=(1, 2, 5) if few else (1,)))
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(lambda value, _: _tick(value))


def _tick(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _drawn(
    points: pl.DataFrame,
    title: str,
    ax: On | None,
    width: Width | None,
    size: tuple[float, float],
    draw: Any,
) -> On:
    def labels() -> tuple[str, str]:
        keys = [name for name in points.columns if "." in name]
        return title, "".join(str(value) for key in keys for value in points[key].unique())

    return draw_on(ax, width, size, draw, labels)
