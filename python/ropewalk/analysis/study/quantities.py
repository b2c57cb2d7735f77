"""Selection of a study's columns to show, the most informative first."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

# Leading quantities in this order; others follow in column order.
FIRST = (
    "video_late_percent",
    "messages_late_percent",
    "goodput_mbps",
    "simulate_goodput_mbps",
    "testbed_goodput_mbps",
    "predict_goodput_mbps",
    "delay_p95_ms",
    "delay_mean_ms",
    "completion_s",
    "jain_index",
    "cost",
)
# Bookkeeping columns, which are no results.
ASIDE = ("seed", "runs", "failed", "events", "data_packets", "wall_s", "duration_s")
HALF = "ci95_"  # prefix of the half-width of a confidence interval


def quantities(rows: pl.DataFrame, keys: Collection[str], *, constant: bool = False) -> list[str]:
    """Return the numeric columns of a study's combinations that are not constant.

    `keys` are the varied keys, which are left out. With `constant`, constant columns are included.

    Examples
    --------
    >>> import polars as pl
    >>> rows = {"delay": ["1 s", "2 s"], "cost": [1, 2], "goodput_mbps": [5.0, 4.0]}
    >>> quantities(pl.DataFrame(rows | {"runs": [1, 1], "alike": [3, 3]}), ["delay"])
    ['goodput_mbps', 'cost']
    """
    known = [
        name
        for name, kind in rows.schema.items()
        if kind.is_numeric()
        and name not in ASIDE
        and not name.startswith(HALF)
        and name.removesuffix("_value") not in keys
        and rows[name].drop_nulls().n_unique() > (not constant)
    ]
    first = [name for name in FIRST if name in known]
    return [*first, *(name for name in known if name not in first)]


def lateness(names: Collection[str]) -> str | None:
    """Return the first column that measures lateness."""
    return next((name for name in names if name.endswith("late_percent")), None)
