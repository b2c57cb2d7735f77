"""Deduplicated warnings of several runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any


def warnings_of(runs: Sequence[dict[str, Any]]) -> list[str]:
    """Return each warning once, with the number of its runs if not all runs have it.

    Examples
    --------
    >>> warnings_of([{"warnings": ["too short"]}, {}])
    ['too short (1 of 2 runs)']
    """
    counts = Counter(warning for run in runs for warning in run.get("warnings", ()))
    return [
        warning if count == len(runs) else f"{warning} ({count:,} of {len(runs):,} runs)"
        for warning, count in counts.items()
    ]
