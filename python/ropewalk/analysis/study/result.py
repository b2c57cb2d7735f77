"""Result type of a study: a row per run, and means of each combination."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from ...provenance import KEY as ORIGIN
from ...provenance import SEVERAL as ORIGINS
from ...provenance import with_origin
from ...results.displayable import Displayable
from ...support.arguments import choice
from ...support.optional_deps import require
from .jobs import DONE, FAILED
from .rows import KEY

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from ...provenance import Origin
    from ...scenario import Scenario

ENGINE = "sweep"
NOT_MEASURED = ("seed", ORIGIN)


@dataclass(frozen=True)
class StudyResults(Displayable):
    """Results of a study.

    Attributes
    ----------
    scenario : Scenario
        The scenario whose keys were varied.
    study : mapping
        Definition: ``verb``, ``runs``, ``seed``, ``vary`` with the values by key, ``zip``,
        ``until``.
    points : polars.DataFrame
        One row per run: the varied keys as spelled, ``KEY_value`` of each numeric one in base
        units, ``seed``, ``status`` (``"done"`` or ``"failed"``), ``error``, the keys of the verb's
        summary, ``origin`` (index in `origins`), and ``point`` (identity of the run).
    missing : int
        Number of runs without a row.
    origins : tuple of Origin
        Origin of each command that made runs: a study killed and resumed has two.

    Examples
    --------
    >>> import ropewalk
    >>> scenario = "start/two-links"
    >>> made = ropewalk.study(scenario, {"link.dsl.delay": ["10 ms", "80 ms"]}, runs=2)
    >>> made.points.select("link.dsl.delay", "link.dsl.delay_value", "seed", "status").rows()[0]
    ('10 ms', 0.01, 1, 'done')
    >>> made.combinations["runs"].to_list()
    [2, 2]
    """

    scenario: Scenario
    study: dict[str, Any]
    points: pl.DataFrame
    missing: int = 0
    origins: tuple[Origin, ...] = field(default=(), compare=False)

    @property
    def origin(self) -> Origin | None:
        """Origin of the latest runs; that command reproduces all runs."""
        return self.origins[-1] if self.origins else None

    @property
    def keys(self) -> list[str]:
        """The varied keys."""
        return list(self.study["vary"])

    @property
    def failed(self) -> pl.DataFrame:
        """The failed runs with their ``error``."""
        return self.points.filter(self.points["status"] == FAILED)

    @property
    def warnings(self) -> list[str]:
        """Warnings of the runs, each once, with the number of affected runs."""
        points = self.points
        if "warnings" not in points.columns:
            return []
        note = (text.split("\n") for text in points["warnings"].drop_nulls())
        counts = Counter(itertools.chain.from_iterable(note))
        return [
            f"{warning} ({count:,} of {points.height:,} runs)"
            for warning, count in counts.most_common()
        ]

    @property
    def keys_without_effect(self) -> list[list[str]]:
        """Varied keys whose values all give the same runs, seed by seed; zipped keys as a group.

        Examples
        --------
        >>> import ropewalk
        >>> schedulers = {"transport.scheduler": ["min-rtt", "blest"]}
        >>> one_link = {"duration": "1 s", "transport.paths": ["dsl"]}
        >>> scenario = ropewalk.Scenario.load("start/two-links").with_(one_link)
        >>> ropewalk.study(scenario, schedulers).keys_without_effect
        [['transport.scheduler']]
        """
        done = self.points.filter(self.points["status"] == DONE)
        zipped = [list(group) for group in self.study.get("zip", ())]
        inputs = {*self.keys, *(f"{key}_value" for key in self.keys), "seed", ORIGIN, KEY}
        results = [
            name
            for name in done.columns
            if name not in inputs and not name.endswith(("wall_s", "events", "warnings"))
        ]
        found = []
        single = set(self.keys).difference(*zipped)
        for keys in [*zipped, *([key] for key in self.keys if key in single)]:
            others = [*(key for key in self.keys if key not in keys), "seed"]
            count = done.select(keys).n_unique()
            pairs = done.select(others).n_unique()
            is_complete = count > 1 and done.height == count * pairs
            if is_complete and done.select(others + results).n_unique() == pairs:
                found.append(keys)
        return found

    def to_pandas(self, frame: Literal["points", "combinations"] = "points") -> pd.DataFrame:
        """Return one of the frames as a pandas data frame.

        Parameters
        ----------
        frame : {"points", "combinations"}
            Frame to convert.

        Returns
        -------
        pandas.DataFrame
            The same rows and columns.

        Raises
        ------
        ValueError
            There is no such frame.
        MissingLibraryError
            pandas is not installed; ``pip install "ropewalk[pandas]"`` installs it.

        Examples
        --------
        >>> import ropewalk
        >>> made = ropewalk.study("start/two-links", {"link.dsl.delay": ["10 ms", "80 ms"]})
        >>> made.to_pandas()["link.dsl.delay"].tolist()
        ['10 ms', '80 ms']
        """
        choice("frame", frame, ("points", "combinations"))
        require("to_pandas", "pandas", "pyarrow")
        found: pl.DataFrame = getattr(self, frame)
        return found.to_pandas()

    @cached_property
    def combinations(self) -> pl.DataFrame:
        """One row for each combination, in the study's order.

        Columns: the varied keys and their ``_value``; the numbers of ``runs`` done and ``failed``;
        for each number the mean over the runs that have it, and with prefix ``ci95_`` half its 95
        % interval by Student's t, null for one run. Text columns have a value if all runs agree.
        """
        import polars as pl

        points = self.points
        if points.is_empty():
            return pl.DataFrame()
        by = [*self.keys, *(f"{key}_value" for key in self.keys)]
        by = [name for name in by if name in points.columns]
        measured = [
            name
            for name in points.columns
            if name not in (*by, *NOT_MEASURED, "status", "error", KEY)
        ]
        numbers = [name for name in measured if points[name].dtype.is_numeric()]
        words = [name for name in measured if points[name].dtype == pl.String]
        is_done = pl.col("status") == DONE
        grouped = (
            points.group_by(by, maintain_order=True)
            if by
            else points.with_columns(_all=0).group_by("_all")
        )
        frame = grouped.agg(
            is_done.sum().alias("runs"),
            (~is_done).sum().alias("failed"),
            *(pl.col(name).mean() for name in numbers),
            *(pl.col(name).std().alias(f"_std_{name}") for name in numbers),
            *(pl.col(name).count().alias(f"_count_{name}") for name in numbers),
            *(
                pl.when(pl.col(name).n_unique() == 1).then(pl.col(name).first()).alias(name)
                for name in words
            ),
        )
        most = frame.select(pl.max_horizontal(pl.selectors.starts_with("_count_").max()))
        intervals = []
        if numbers and (most.item() or 0) > 1:
            counts = pl.concat([frame[f"_count_{name}"] for name in numbers]).unique()
            quantiles = _quantiles(counts.to_list())
            intervals = [
                (
                    pl.col(f"_std_{name}")
                    / pl.col(f"_count_{name}").sqrt()
                    * pl.col(f"_count_{name}").replace_strict(
                        quantiles, default=None, return_dtype=pl.Float64
                    )
                ).alias(f"ci95_{name}")
                for name in numbers
            ]
        kept = [*by, "runs", "failed", *measured]
        return frame.with_columns(intervals).select(
            *(name for name in kept if name in frame.columns),
            *(f"ci95_{name}" for name in numbers if intervals),
        )

    def json(self) -> dict[str, Any]:
        """Return the JSON form: each combination with the means of its numbers."""
        done = int((self.points["status"] == DONE).sum()) if not self.points.is_empty() else 0
        known: dict[str, Any] = {
            "engine": ENGINE,
            "scenario": self.scenario.title,
            **self.study,
            "points": {"done": done, "failed": self.failed.height, "missing": self.missing},
            "combinations": [
                {key: value for key, value in row.items() if value is not None}
                for row in self.combinations.to_dicts()
            ],
        }
        if self.warnings:
            known["warnings"] = self.warnings
        if self.failed.height:
            known["errors"] = self.failed["error"].unique(maintain_order=True).to_list()
        if self.origins:
            known[ORIGINS] = [each.without_scenarios() for each in self.origins]
        return with_origin(known, self.origin)

    def __repr__(self) -> str:
        return (
            f"<StudyResults of {self.scenario.title!r}: {len(self.keys)} keys,"
            f" {self.points.height} runs, {self.failed.height} failed>"
        )


def _quantiles(counts: Sequence[int]) -> dict[int, float]:
    """Return Student's t for the 95 % interval of a mean, for each sample size."""
    from ...results.statistics import student_t

    return {count: student_t(count - 1) for count in counts if count > 1}
