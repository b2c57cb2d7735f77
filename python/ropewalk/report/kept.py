"""Runs from a folder, as far as a report asks of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..scenario import Scenario


@dataclass(frozen=True)
class KeptRuns:
    """Runs of one scenario, from a folder: what tables and comparisons ask of `Results`.

    Attributes
    ----------
    scenario : Scenario
        What was run.
    runs : list of dict
        Each run's JSON object.
    mean, ci95 : dict
        Over the runs: means, and half the widths of their 95 % intervals.
    """

    scenario: Scenario
    runs: list[dict[str, Any]]
    mean: dict[str, Any]
    ci95: dict[str, Any]

    @classmethod
    def of(cls, result: Mapping[str, Any], scenario: Scenario) -> KeptRuns:
        """Take runs from what ``--json`` prints of one or several."""
        if "runs" in result and isinstance(result["runs"], list):
            return cls(scenario, result["runs"], result["mean"], result["ci95"])
        return cls(scenario, [dict(result)], dict(result), {})
