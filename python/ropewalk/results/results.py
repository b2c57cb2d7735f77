"""Results of runs, as data frames and as one JSON object."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, get_args

from ..provenance import with_origin
from ..scenario import Scenario
from ..support.arguments import choice
from ..support.numerals import decimal
from ..support.optional_deps import require
from . import statistics
from .displayable import Displayable
from .run_warnings import warnings_of

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from numpy.typing import NDArray

    from ..provenance import Origin


Frame: TypeAlias = Literal[
    "summary",
    "links",
    "subflows",
    "competitors",
    "flows",
    "link_flows",
    "timeline",
    "connection",
    "competitor_timeline",
    "delays",
    "reordering",
]


# Keys with deadline statistics of an application.
DEADLINE_KEYS = ("messages", "video", "chunks", "requests", "web")
# Frames that are not in the runs' JSON objects; restored results need them.
RECORDED_FRAMES = ("subflows", "timeline", "connection", "competitor_timeline", "delays")


class FlowRecording(Protocol):
    """Recording of one flow."""

    def subflow_timeline(self) -> Mapping[str, NDArray[Any]] | None:
        """Return columns, one row per step and subflow; None without a timeline."""

    def connection_timeline(self) -> Mapping[str, NDArray[Any]] | None:
        """Return columns, one row per step; None without a timeline."""

    def delay_bins(self) -> Mapping[str, NDArray[Any]]:
        """Return the histogram of delays: ``up_to_ms`` and ``count``."""


class FurtherFlowRecording(FlowRecording, Protocol):
    """Recording of a flow after the first."""

    @property
    def name(self) -> str:
        """Name, with a number if its entry describes several flows."""

    @property
    def links(self) -> list[str]:
        """The path of each subflow."""


class RunRecording(FlowRecording, Protocol):
    """Recording of one run, from the simulator or the testbed."""

    @property
    def captured_packets(self) -> int | None:
        """Number of packets in the capture; None without one."""

    @property
    def further_flows(self) -> Sequence[FurtherFlowRecording]:
        """Recordings of the flows after the first, without competitors."""

    def competitor_timeline(self) -> Mapping[str, NDArray[Any]] | None:
        """Return columns, one row per step and competitor; None without either."""

    def summary_json(self) -> str:
        """Return the numbers as JSON text."""


class Results(Displayable):
    """Results of the runs of one scenario.

    Every frame has a column ``seed``, which identifies the run. Column names end in their unit. A
    value that a run lacks is null. If the scenario has further `[[flow]]` entries, ``subflows``,
    ``timeline``, ``connection`` and ``delays`` cover all flows except competitors, and have a
    column ``flow``.

    Parameters
    ----------
    scenario : Scenario
    runs : sequence of RunRecording
        Recording of each run.
    origin : Origin, optional
        Origin of the results.

    Examples
    --------
    >>> import ropewalk
    >>> results = ropewalk.simulate("start/two-links", step="1 s")
    >>> results.links["link"].to_list()
    ['dsl', 'cable']
    >>> results.timeline.columns[:4]
    ['seed', 'time_s', 'subflow', 'link']
    """

    def __init__(
        self, scenario: Scenario, runs: Sequence[RunRecording], origin: Origin | None = None
    ) -> None:
        self.scenario = scenario
        self.origin = origin
        self.runs: list[dict[str, Any]] = [json.loads(run.summary_json()) for run in runs]
        self._recorded = list(runs)
        self._captured = self._recorded[0].captured_packets

    @classmethod
    def restored(
        cls,
        scenario: Scenario,
        runs: Sequence[Mapping[str, Any]],
        frames: Mapping[str, pl.DataFrame],
        *,
        origin: Origin | None = None,
        captured_packets: int | None = None,
    ) -> Results:
        """Return results from a folder or a pickle.

        Parameters
        ----------
        scenario : Scenario
        runs : sequence of mapping
            JSON object of each run, as in `runs`.
        frames : mapping of str to polars.DataFrame
            ``"subflows"``, ``"timeline"``, ``"connection"``, ``"competitor_timeline"`` and
            ``"delays"``, unless empty.
        origin : Origin, optional
        captured_packets : int, optional
            Number of packets in the first run's capture.
        """
        import polars as pl

        made = cls.__new__(cls)
        made.scenario, made.origin = scenario, origin
        made.runs = [dict(run) for run in runs]
        made._recorded, made._captured = [], captured_packets
        # Fills the caches of the cached properties.
        made.__dict__.update({name: frames.get(name, pl.DataFrame()) for name in RECORDED_FRAMES})
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        frames = {name: getattr(self, name) for name in RECORDED_FRAMES}
        restore = partial(Results.restored, origin=self.origin, captured_packets=self._captured)
        return restore, (self.scenario, self.runs, frames)

    @property
    def seeds(self) -> list[int]:
        """The runs' seeds, in order."""
        return [run["seed"] for run in self.runs]

    @property
    def captured_packets(self) -> int | None:
        """Number of packets in the first run's capture; None without one."""
        return self._captured

    @cached_property
    def mean(self) -> dict[str, Any]:
        """Mean of each number over the runs, in the shape of a run's JSON object."""
        return statistics.mean(self.runs)

    @cached_property
    def ci95(self) -> dict[str, Any]:
        """Half the width of the 95 % confidence interval of each mean; empty for one run."""
        return statistics.ci95(self.runs)

    def json(self) -> dict[str, Any]:
        """Return the output of ``--json``: a run's object, or all runs with their mean."""
        first = self.runs[0]
        if len(self.runs) == 1:
            return with_origin(first, self.origin)
        head = {key: first[key] for key in ("engine", "scenario", "seed")}
        known = head | {"runs": self.runs, "mean": self.mean, "ci95": self.ci95}
        if warnings := warnings_of(self.runs):
            known["warnings"] = warnings
        return with_origin(known, self.origin)

    @cached_property
    def summary(self) -> pl.DataFrame:
        """One row per run."""
        return _frame([flat_row(run) for run in self.runs])

    @cached_property
    def links(self) -> pl.DataFrame:
        """One row per run and link: the measured time, in the direction of the data."""
        return _frame([_named("link", row) for row in self._entries("links")])

    @cached_property
    def flows(self) -> pl.DataFrame:
        """One row per run and flow, competitors included; empty for a single flow.

        An entry with ``count`` flows has their mean goodput, and sums of the other values.
        """
        return _frame([flat_row(_named("flow", row)) for row in self._entries("flows")])

    @cached_property
    def link_flows(self) -> pl.DataFrame:
        """One row per run, link and flow, with the flow's share; empty for a single flow."""
        rows = [
            {"seed": link["seed"], "link": link["name"], **_named("flow", flow)}
            for link in self._entries("links")
            for flow in link.get("flows", [])
        ]
        return _frame(rows)

    @cached_property
    def subflows(self) -> pl.DataFrame:
        """One row per run and subflow."""
        rows = []
        for run, recorded in self._with_recorded():
            of_flows: list[tuple[str | None, list[dict[str, Any]]]] = [(None, run["subflows"])]
            if recorded.further_flows:
                _, *others = run["flows"]
                of_flows = [(_first_name(run), run["subflows"])]
                of_flows += [(flow["name"], flow.get("subflows", [])) for flow in others]
            for name, entries in of_flows:
                head = {"seed": run["seed"]} | ({} if name is None else {"flow": name})
                rows += [head | {"subflow": at} | entry for at, entry in enumerate(entries)]
        return _frame(rows)

    @cached_property
    def competitors(self) -> pl.DataFrame:
        """One row per run and competitor of the scenario."""
        return _frame(list(self._entries("competitors")))

    @cached_property
    def timeline(self) -> pl.DataFrame:
        """One row per run, step and subflow; empty without `step`."""
        import polars as pl

        frames = []
        for seed, flow, links, recorded in self._recorded_flows():
            columns = recorded.subflow_timeline()
            if columns is not None:
                frame = _columns(seed, flow, columns)
                link = pl.Series("link", links, dtype=pl.String)
                at = frame.columns.index("subflow") + 1
                frames.append(frame.insert_column(at, link.gather(frame["subflow"])))
        # Only flows with a reordering algorithm have its columns.
        return pl.concat(frames, how="diagonal") if frames else pl.DataFrame()

    @cached_property
    def connection(self) -> pl.DataFrame:
        """One row per run and step, for the whole connection; empty without `step`."""
        return self._of_flows(lambda recorded: recorded.connection_timeline())

    @cached_property
    def competitor_timeline(self) -> pl.DataFrame:
        """One row per run, step and competitor; empty without competitors or `step`.

        ``goodput_mbps`` is the mean of an entry's ``count`` flows. The testbed does not measure
        it.
        """
        import polars as pl

        frames = []
        for run, recorded in self._with_recorded():
            columns = recorded.competitor_timeline()
            if columns is not None:
                frame = _columns(run["seed"], None, columns)
                at, of = frame["competitor"], pl.DataFrame(run["competitors"])
                frames.append(
                    frame.select(
                        "seed",
                        "time_s",
                        of["name"].gather(at).alias("competitor"),
                        of["count"].gather(at).alias("count"),
                        "goodput_mbps",
                    )
                )
        return pl.concat(frames) if frames else pl.DataFrame()

    @cached_property
    def delays(self) -> pl.DataFrame:
        """Histogram of the delay from the application's write to in-order delivery.

        One row per run and non-empty bin; ``up_to_ms`` is the bin's upper edge.
        """
        return self._of_flows(lambda recorded: recorded.delay_bins())

    @cached_property
    def reordering(self) -> pl.DataFrame:
        """RFC 4737 and RFC 5236 metrics: one row per run, metric and value; empty if not measured.

        ``extent`` counts packets; ``displacement`` and ``buffer_occupancy`` are ratios.
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
        """Return one of the frames as a pandas data frame.

        Parameters
        ----------
        frame : str
            ``"summary"``, ``"links"``, ``"subflows"``, ``"competitors"``, ``"flows"``,
            ``"link_flows"``, ``"timeline"``, ``"connection"``, ``"competitor_timeline"``,
            ``"delays"`` or ``"reordering"``.

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
        >>> results = ropewalk.simulate("start/two-links")
        >>> results.to_pandas("links")["link"].tolist()
        ['dsl', 'cable']
        """
        choice("frame", frame, get_args(Frame))
        require("to_pandas", "pandas", "pyarrow")
        found: pl.DataFrame = getattr(self, frame)
        return found.to_pandas()

    def __repr__(self) -> str:
        goodput = self.mean.get("goodput_mbps", float("nan"))
        count = "1 run" if len(self.runs) == 1 else f"{len(self.runs)} runs"
        return f"<Results of {self.scenario.title!r}: {count}, {decimal(goodput)} Mbit/s>"

    def _with_recorded(self) -> Iterator[tuple[dict[str, Any], RunRecording]]:
        return zip(self.runs, self._recorded, strict=True)

    def _recorded_flows(self) -> Iterator[tuple[int, str | None, list[str], FlowRecording]]:
        """Yield each flow's seed, name (None if it is the only one), paths, and recording."""
        for run, recorded in self._with_recorded():
            seed, further = run["seed"], recorded.further_flows
            first = _first_name(run) if further else None
            yield seed, first, [subflow["link"] for subflow in run["subflows"]], recorded
            for flow in further:
                yield seed, flow.name, flow.links, flow

    def _of_flows(
        self, columns: Callable[[FlowRecording], Mapping[str, NDArray[Any]] | None]
    ) -> pl.DataFrame:
        """Return a frame of all flows' columns; an empty one if none has them."""
        import polars as pl

        frames = [
            _columns(seed, flow, known)
            for seed, flow, _, recorded in self._recorded_flows()
            if (known := columns(recorded)) is not None
        ]
        return pl.concat(frames) if frames else pl.DataFrame()

    def _entries(self, key: str) -> Iterator[dict[str, Any]]:
        for run in self.runs:
            for entry in run.get(key, []):
                yield {"seed": run["seed"], **entry}


def _first_name(run: dict[str, Any]) -> str:
    """Give the first flow a name in the form of the further flows' names."""
    first = run["flows"][0]
    return f"{first['name']} (1)" if "count" in first else str(first["name"])


def _named(what: str, entry: dict[str, Any]) -> dict[str, Any]:
    """Return an entry's numbers, with its name in the column of its kind."""
    renamed = ((what if key == "name" else key, value) for key, value in entry.items())
    return {key: value for key, value in renamed if key not in ("flows", "subflows")}


def flat_row(run: dict[str, Any]) -> dict[str, Any]:
    """Return a run's object as a row of plain columns: ``delay_ms.p95`` as ``delay_p95_ms``.

    Warnings become one text, with a line for each.

    Examples
    --------
    >>> flat_row({"goodput_mbps": 9.5, "delay_ms": {"p95": 12.0}, "links": []})
    {'goodput_mbps': 9.5, 'delay_p95_ms': 12.0}
    """
    row: dict[str, Any] = {k: v for k, v in run.items() if isinstance(v, (str, int, float))}
    if run.get("warnings"):
        row["warnings"] = "\n".join(run["warnings"])
    delay = run.get("delay_ms", {})
    row |= {f"delay_{name}_ms": value for name, value in delay.items()}
    reordering = run.get("reordering", {})
    row |= {key: value for key, value in reordering.items() if isinstance(value, (int, float))}
    metrics = reordering.get("metrics", {})
    if "reordered_ratio" in metrics:
        row["reordered_ratio"] = metrics["reordered_ratio"]
    row |= run.get("stats", {})
    row |= dict(_own_error(run.get("own_error", {})))
    for key in DEADLINE_KEYS:
        row |= dict(_within(key, run.get(key, {})))
    return row


def _own_error(error: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Yield the entries of a testbed's own error; ends of intervals as ``delay_mean_low_ms``."""
    for end, value in error.get("goodput_mbps", {}).items():
        yield f"goodput_{end}_mbps", value
    for name, interval in error.get("delay_ms", {}).items():
        yield from ((f"delay_{name}_{end}_ms", value) for end, value in interval.items())
    for name, value in error.get("added_ms", {}).items():
        yield f"own_delay_{name}_ms", value
    columns = {"time_share": "own_time_share", "disturbed": "disturbed", "runs": "own_runs"}
    yield from ((column, error[key]) for key, column in columns.items() if key in error)


def _within(key: str, of: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Yield an object's numbers: ``video.frame_delay_ms.p95`` as ``video_frame_delay_p95_ms``."""
    for name, value in of.items():
        if isinstance(value, Mapping):
            stem, unit = name, ""
            for ending in ("_ms", "_s"):
                if name.endswith(ending):
                    stem, unit = name.removesuffix(ending), ending
            yield from ((f"{key}_{stem}_{part}{unit}", each) for part, each in value.items())
        elif isinstance(value, (int, float)):
            yield f"{key}_{name}", value


def _frame(rows: list[dict[str, Any]]) -> pl.DataFrame:
    import polars as pl

    frame = pl.DataFrame(rows, infer_schema_length=None)
    if "seed" in frame.columns:
        frame = frame.with_columns(pl.col("seed").cast(pl.UInt64))
    return frame


def _columns(seed: int, flow: str | None, columns: Mapping[str, NDArray[Any]]) -> pl.DataFrame:
    """Return a data frame of one run's and flow's columns; NaN becomes null."""
    import polars as pl

    frame = pl.DataFrame(dict(columns)).with_columns(pl.selectors.float().fill_nan(None))
    if flow is not None:
        name = pl.repeat(flow, frame.height, dtype=pl.String, eager=True).alias("flow")
        frame.insert_column(0, name)
    return frame.insert_column(
        0, pl.repeat(seed, frame.height, dtype=pl.UInt64, eager=True).alias("seed")
    )
