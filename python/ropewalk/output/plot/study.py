"""Picture of a study: lines, dots or heat maps over varied keys, or cost over lateness."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ... import units
from ...analysis.study.jobs import DONE
from ...analysis.study.quantities import lateness, quantities
from ...units import key_words
from ..style import picture
from .over_keys import INTERVAL, heat_map, hull, series

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ...analysis.study.result import StudyResults
    from ...results.displayable import Width

FEW = 4  # largest number of values of a key drawn as lines instead of a heat map
MAX_LINES = 18
MAX_MAPS = 6


def draw(made: StudyResults, *, width: Width | None = None) -> Figure:
    """Draw the first quantity of a study over the varied keys.

    Numeric keys are axes: one key gives a line for each combination of the others, two a map for
    each. Names are placed side by side. If links have prices and data can be late, lateness is
    drawn over cost, with the hull of each series. Raises ValueError unless a key has two values
    with finished runs.

    Examples
    --------
    >>> import ropewalk
    >>> delays = {"link.dsl.delay": ["10 ms", "80 ms"]}
    >>> made = ropewalk.study("start/two-links", delays, runs=2)
    >>> [axes.get_xlabel() for axes in draw(made).axes]
    ['delay of dsl (ms)']
    """
    points = made.points.filter(made.points["status"] == DONE)
    keys = _apart(made, points)
    known = made.combinations
    names = quantities(known, made.keys) or quantities(known, made.keys, constant=True)
    if not names or not keys:
        raise ValueError("there is nothing to draw: no key with two values has finished runs")
    of = names[0]
    numeric = [key for key in keys if units.numbers(made.study["vary"][key]) is not None]
    late = lateness(names)
    costs = late is not None and "cost" in names
    flat = sorted(numeric[:2], key=lambda key: int(points[key].n_unique()))
    maps = len(numeric) > 1 and points[flat[0]].n_unique() > FEW
    parts = _parts(points, [key for key in keys if key not in numeric[:2]]) if maps else []
    rows = math.ceil(len(parts) / 2) if maps else 1
    high = (1.2 + 0.36 * points[numeric[1]].n_unique()) if maps else 3.6
    size = (9.0 if len(parts) > 1 else 7.0, max(3.4, high) * rows + 3.6 * costs)
    letters = made.scenario.effective() + "".join(map(str, made.study["vary"].values()))
    with picture(*size, title=made.scenario.title, letters=letters, paper=width) as figure:
        heights = [max(3.4, high) * rows, *([3.6] if costs else [])]
        above, *below = figure.subfigures(len(heights), 1, height_ratios=heights, squeeze=False)[
            :, 0
        ]
        if maps:
            grid = above.subplots(rows, min(2, len(parts)), squeeze=False)
            for axes in grid.flat[len(parts) :]:
                axes.set_visible(False)
            limits = _limits([part for _, part in parts], numeric[:2], of)
            for axes, (title, part) in zip(grid.flat, parts, strict=False):
                heat_map(part, numeric[0], numeric[1], of, limits=limits, ax=axes)
                axes.set_title(title)
                _name_zipped(axes, made, "y", numeric[1])
                _name_zipped(axes, made, "x", numeric[0])
        else:
            axes = above.subplots()
            _name_zipped(axes, made, "x", _lines(axes, points, keys, numeric, of))
        for room in below:
            assert late is not None
            hull(points, "cost", late, by=_named(keys, numeric), ax=room.subplots())
    return figure


def _apart(made: StudyResults, points: pl.DataFrame) -> list[str]:
    """Return the keys with several values; of keys that step together the first."""
    following = {key for group in made.study.get("zip", ()) for key in group[1:]}
    if points.is_empty():
        return []
    return [key for key in made.keys if key not in following and points[key].n_unique() > 1]


def _lines(
    axes: Axes, points: pl.DataFrame, keys: Sequence[str], numeric: Sequence[str], of: str
) -> str:
    """Draw a line for each series, limited to the first ones; return the key of the x axis."""
    by_size = sorted(numeric, key=lambda key: -int(points[key].n_unique()))
    over = by_size[0] if numeric else keys[0]
    others = [key for key in keys if key != over]
    if others:
        combinations = points.select(others).unique(maintain_order=True)
        if combinations.height > MAX_LINES:
            points = points.join(combinations.head(MAX_LINES), on=others, how="semi")
            axes.set_title(f"the first {MAX_LINES} of {combinations.height:,} series")
    series(points, over, of, by=others, ax=axes)
    if not others and points.group_by(over).len()["len"].max() != 1:
        axes.set_title(("band" if numeric else "line") + INTERVAL, fontsize="small")
    return over


def _name_zipped(axes: Axes, made: StudyResults, which: str, key: str) -> None:
    """Add the keys that step together with an axis's key to its label."""
    others = [
        other for group in made.study.get("zip", ()) if key == group[0] for other in group[1:]
    ]
    label = axes.get_xlabel() if which == "x" else axes.get_ylabel()
    axes.set(
        **{f"{which}label": ", ".join([label, *(f"with {key_words(each)}" for each in others)])}
    )


def _limits(parts: Sequence[pl.DataFrame], keys: Sequence[str], of: str) -> tuple[float, float]:
    """Return the range of means over several maps, in the unit of the picture."""
    import polars as pl

    means = pl.concat([part.group_by(keys).agg(pl.col(of).mean()) for part in parts])[of]
    low, high = (units.scale_of(of) * float(end) for end in (means.min(), means.max()))  # type: ignore[arg-type]
    return low, high


def _parts(points: pl.DataFrame, others: Sequence[str]) -> list[tuple[str, pl.DataFrame]]:
    """Return the rows and title of each map."""
    if not others:
        return [("", points)]
    groups = points.partition_by(list(others), maintain_order=True)
    text = [
        (", ".join(str(group[key][0]) for key in others), group) for group in groups[:MAX_MAPS]
    ]
    if len(groups) > MAX_MAPS:
        last, group = text[-1]
        text[-1] = (f"{last}; {len(groups) - MAX_MAPS:,} more are not shown", group)
    return text


def _named(keys: Sequence[str], numeric: Sequence[str]) -> str:
    """Return the first key with names as values, such as schedulers, or the first key."""
    return next((key for key in keys if key not in numeric), keys[0])
