"""Recording of one testbed run, in the form that `ropewalk.Results` takes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from . import own_error

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ...results import FurtherFlowRecording
    from ...scenario import Scenario

NOT_IN_JSON = (
    "timeline",
    "delays",
    "captured_packets",
)  # keys outside the JSON output
COUNTS = ("subflow", "cwnd_bytes", "in_flight_bytes")


class KernelRun:
    """One run, from the report of the child process.

    Parameters
    ----------
    report : mapping
        Keys of the JSON output; ``timeline`` with the columns of ``subflows`` and ``connection``;
        ``delays``, the histogram's bins; ``captured_packets``.
    scenario : Scenario, optional
        Scenario of the run, for the machine's own error; without it, no error is computed.

    Examples
    --------
    >>> run = KernelRun({"goodput_mbps": 9.0, "delays": [{"up_to_ms": 1.5, "count": 3}]})
    >>> run.summary_json()
    '{"goodput_mbps": 9.0}'
    >>> run.delay_bins()["count"].tolist()
    [3]
    """

    def __init__(self, report: Mapping[str, Any], scenario: Scenario | None = None) -> None:
        self._summary = {key: value for key, value in report.items() if key not in NOT_IN_JSON}
        error = None if scenario is None else own_error.own_error(report, scenario)
        if error is not None:
            self._summary["own_error"] = error | {"runs": 1}
            warning = own_error.warning(report, error)
            if warning is not None:
                self._summary["warnings"] = [*report.get("warnings", []), warning]
        self._timeline = report.get("timeline")
        self._delays = report.get("delays", [])
        self.captured_packets: int | None = report.get("captured_packets")
        self.further_flows: tuple[FurtherFlowRecording, ...] = ()

    @property
    def is_disturbed(self) -> bool:
        """Whether the machine was too busy for the run."""
        error = self._summary.get("own_error")
        return error is not None and bool(error["disturbed"])

    @property
    def disturbance(self) -> tuple[bool, float]:
        """Whether the machine was too busy, and the wider interval's share; the least is best."""
        error = self._summary.get("own_error")
        width = 0.0 if error is None else own_error.width(self._summary, error)
        return self.is_disturbed, width

    def mark_least_disturbed(self, runs: int) -> None:
        """Record that this is the least disturbed of several runs."""
        if "own_error" in self._summary:
            self._summary["own_error"]["runs"] = runs

    def summary_json(self) -> str:
        """Return the numbers of the JSON output, as text."""
        return json.dumps(self._summary)

    def subflow_timeline(self) -> dict[str, NDArray[Any]] | None:
        """Return columns, one row per step and subflow; None without a timeline."""
        return self._columns("subflows")

    def connection_timeline(self) -> dict[str, NDArray[Any]] | None:
        """Return columns, one row per step; None without a timeline."""
        return self._columns("connection")

    def competitor_timeline(self) -> None:
        """Return None: the kernel's competitors have no timeline."""

    def delay_bins(self) -> dict[str, NDArray[Any]]:
        """Return the histogram of delays: ``up_to_ms`` and ``count``."""
        import numpy as np

        return {
            "up_to_ms": np.array([each["up_to_ms"] for each in self._delays], dtype=np.float64),
            "count": np.array([each["count"] for each in self._delays], dtype=np.uint64),
        }

    def _columns(self, kind: str) -> dict[str, NDArray[Any]] | None:
        import numpy as np

        if self._timeline is None:
            return None
        return {
            # Values that the kernel lacks are null.
            name: np.array(column, dtype=np.uint64 if name in COUNTS else np.float64)
            for name, column in self._timeline[kind].items()
        }
