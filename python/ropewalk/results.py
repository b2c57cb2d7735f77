"""What runs gave, as data frames and as one JSON object."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, get_args

from . import statistics
from .scenario import Scenario

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from numpy.typing import NDArray


Frame: TypeAlias = Literal[
    "summary",
    "links",
    "subflows",
    "competitors",
    "timeline",
    "connection",
    "delays",
    "reordering",
]


class Run(Protocol):
    """What one run recorded: of the simulator, or of whatever else carried packets."""

    @property
    def captured_packets(self) -> int | None:
        """How many packets are in its capture; None without one."""

    def summary_json(self) -> str:
        """Return its numbers with the keys of the JSON contract, as JSON text."""

    def subflow_timeline(self) -> Mapping[str, NDArray[Any]] | None:
        """Return columns, a row per step and subflow; None without a timeline."""

    def connection_timeline(self) -> Mapping[str, NDArray[Any]] | None:
        """Return columns, a row per step; None without a timeline."""

    def delay_bins(self) -> Mapping[str, NDArray[Any]]:
        """Return the histogram of delays: ``up_to_ms`` and ``count``."""


class Results:
    """What runs of one scenario gave.

    Every frame has a column ``seed`` that tells the runs apart; columns have
    their unit in their name. A number that a run does not know is null.

    Parameters
    ----------
    scenario : Scenario
        What was run.
    runs : sequence of Run
        What each recorded.

    Examples
    --------
    >>> import ropewalk
    >>> results = ropewalk.simulate("scenarios/start/two-links.toml", step="1 s")
    >>> results.links["link"].to_list()
    ['dsl', 'cable']
    >>> results.timeline.columns[:4]
    ['seed', 'time_s', 'subflow', 'link']
    """

    def __init__(self, scenario: Scenario, runs: Sequence[Run]) -> None:
        self.scenario = scenario
        self.runs: list[dict[str, Any]] = [json.loads(run.summary_json()) for run in runs]
        self._recorded = list(runs)

    @property
    def seeds(self) -> list[int]:
        """The runs' seeds, in their order."""
        return [run["seed"] for run in self.runs]

    @property
    def captured_packets(self) -> int | None:
        """How many packets of the first run are in its capture; None without one."""
        return self._recorded[0].captured_packets

    @cached_property
    def mean(self) -> dict[str, Any]:
        """Mean over the runs of each number, in the shape of a run's JSON object."""
        return statistics.mean(self.runs)

    @cached_property
    def ci95(self) -> dict[str, Any]:
        """Half the width of the 95 % confidence interval of each mean; empty for one run."""
        return statistics.ci95(self.runs)

    def json(self) -> dict[str, Any]:
        """Return what ``--json`` prints: a run's object, or all of them with their mean."""
        first = self.runs[0]
        if len(self.runs) == 1:
            return first
        head = {key: first[key] for key in ("engine", "scenario", "seed")}
        return head | {"runs": self.runs, "mean": self.mean, "ci95": self.ci95}

    @cached_property
    def summary(self) -> pl.DataFrame:
        """One row per run."""
        return _frame([_flat(run) for run in self.runs])

    @cached_property
    def links(self) -> pl.DataFrame:
        """One row per run and link, over the measured time, in the direction of the data."""
        rows = self._entries("links")
        return _frame([{"link" if k == "name" else k: v for k, v in row.items()} for row in rows])

    @cached_property
    def subflows(self) -> pl.DataFrame:
        """One row per run and subflow."""
        return _frame(list(self._entries("subflows", number="subflow")))

    @cached_property
    def competitors(self) -> pl.DataFrame:
        """One row per run and competitor of the scenario."""
        return _frame(list(self._entries("competitors")))

    @cached_property
    def timeline(self) -> pl.DataFrame:
        """One row per run, step and subflow; empty if no step was asked for."""
        import polars as pl

        frames = []
        for run, recorded in self._with_recorded():
            columns = recorded.subflow_timeline()
            if columns is not None:
                names = [subflow["link"] for subflow in run["subflows"]]
                frame = _columns(run["seed"], columns)
                link = pl.Series("link", names, dtype=pl.String)
                frame.insert_column(3, link.gather(frame["subflow"]))
                frames.append(frame)
        return pl.concat(frames) if frames else pl.DataFrame()

    @cached_property
    def connection(self) -> pl.DataFrame:
        """One row per run and step: the whole connection; empty if no step was asked for."""
        import polars as pl

        frames = []
        for run, recorded in self._with_recorded():
            columns = recorded.connection_timeline()
            if columns is not None:
                frames.append(_columns(run["seed"], columns))
        return pl.concat(frames) if frames else pl.DataFrame()

    @cached_property
    def delays(self) -> pl.DataFrame:
        """Histogram of the delay from the application's write to delivery in order.

        One row per run and bin that is not empty; ``up_to_ms`` is the bin's upper edge.
        """
        import polars as pl

        frames = [
            _columns(run["seed"], recorded.delay_bins()) for run, recorded in self._with_recorded()
        ]
        return pl.concat(frames)

    @cached_property
    def reordering(self) -> pl.DataFrame:
        """RFC 4737 and RFC 5236: one row per run, metric and value; empty if not asked for.

        ``extent`` counts packets; ``displacement`` and ``buffer_occupancy`` are shares.
        """
        rows = []
        for run in self.runs:
            metrics = run.get("reordering", {}).get("metrics")
            if metrics is None:
                continue
            series = {
                "extent": enumerate(metrics["extents"], start=1),
                "displacement": metrics["density"],
                "buffer_occupancy": enumerate(metrics["buffer_density"]),
            }
            for metric, pairs in series.items():
                for value, frequency in pairs:
                    rows.append(
                        {
                            "seed": run["seed"],
                            "metric": metric,
                            "value": value,
                            "frequency": float(frequency),
                        }
                    )
        return _frame(rows)

    def to_pandas(self, frame: Frame = "summary") -> pd.DataFrame:
        """Return one of the frames as pandas has them.

        Parameters
        ----------
        frame : str
            Which: ``"summary"``, ``"links"``, ``"subflows"``, ``"competitors"``,
            ``"timeline"``, ``"connection"``, ``"delays"`` or ``"reordering"``.

        Returns
        -------
        pandas.DataFrame
            The same rows and columns.

        Raises
        ------
        ValueError
            There is no such frame.
        ImportError
            pandas is not installed: ``pip install "ropewalk[pandas]"`` does.

        Examples
        --------
        >>> import ropewalk
        >>> results = ropewalk.simulate("scenarios/start/two-links.toml")
        >>> results.to_pandas("links")["link"].tolist()
        ['dsl', 'cable']
        """
        if frame not in get_args(Frame):
            raise ValueError(f"frame = {frame!r}; allowed: {', '.join(get_args(Frame))}")
        try:
            import pandas  # noqa: F401
            import pyarrow  # type: ignore[import-untyped]  # noqa: F401
        except ImportError as error:
            raise ImportError(
                f'{error.name} is not installed: pip install "ropewalk[pandas]"', name=error.name
            ) from None
        found: pl.DataFrame = getattr(self, frame)
        return found.to_pandas()

    def __repr__(self) -> str:
        goodput = self.mean.get("goodput_mbps", float("nan"))
        count = "1 run" if len(self.runs) == 1 else f"{len(self.runs)} runs"
        return f"<Results of {self.scenario.title!r}: {count}, {goodput:.2f} Mbit/s>"

    def _with_recorded(self) -> Iterator[tuple[dict[str, Any], Run]]:
        return zip(self.runs, self._recorded, strict=True)

    def _entries(self, key: str, number: str | None = None) -> Iterator[dict[str, Any]]:
        for run in self.runs:
            for index, entry in enumerate(run.get(key, [])):
                numbered = {} if number is None else {number: index}
                yield {"seed": run["seed"], **numbered, **entry}


def _flat(run: dict[str, Any]) -> dict[str, Any]:
    """One row of plain columns: ``delay_ms.p95`` becomes ``delay_p95_ms``."""
    row: dict[str, Any] = {k: v for k, v in run.items() if isinstance(v, (str, int, float))}
    delay = run.get("delay_ms", {})
    row |= {f"delay_{name}_ms": value for name, value in delay.items()}
    reordering = run.get("reordering", {})
    row |= {key: value for key, value in reordering.items() if isinstance(value, (int, float))}
    metrics = reordering.get("metrics", {})
    if "reordered_ratio" in metrics:
        row["reordered_ratio"] = metrics["reordered_ratio"]
    row |= run.get("stats", {})
    return row


def _frame(rows: list[dict[str, Any]]) -> pl.DataFrame:
    import polars as pl

    frame = pl.DataFrame(rows, infer_schema_length=None)
    if "seed" in frame.columns:
        frame = frame.with_columns(pl.col("seed").cast(pl.UInt64))
    return frame


def _columns(seed: int, columns: Mapping[str, NDArray[Any]]) -> pl.DataFrame:
    """Data frame of columns that all belong to one run; NaN becomes null."""
    import polars as pl

    frame = pl.DataFrame(dict(columns)).with_columns(pl.selectors.float().fill_nan(None))
    return frame.insert_column(
        0, pl.repeat(seed, frame.height, dtype=pl.UInt64, eager=True).alias("seed")
    )
