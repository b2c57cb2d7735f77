"""Error of a testbed run that the machine causes: by how much its numbers may be off."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

MUCH_TIME = 0.02  # share of stolen processor time (hypervisor)


def own_error(report: Mapping[str, Any], processors: int | None = None) -> dict[str, Any] | None:
    """Return by how much the machine may have changed the numbers of a run.

    Parameters
    ----------
    report : mapping
        A run's JSON object, with ``emulator``.
    processors : int, optional
        How many the machine has; those that it says if not given.

    Returns
    -------
    dict or None
        ``delay_ms``: by how much links, and a writer with times of its own, were late, half of
        the packets and all but one in a hundred (``p50``, ``p99``): so much less than what was
        measured is the links' own delay. ``time_share``: which part of the processors' time a
        hypervisor kept from them, in which nothing went on. ``disturbed``: the p99 of the
        links is above 1 ms, or the share above a fiftieth: better done again. None of a run
        whose links were the kernel's own.

    Examples
    --------
    >>> late = {"p50": 0.02, "p99": 0.31, "max": 2.0}
    >>> emulator = {"lateness_ms": late, "trusted": True, "stolen_s": 0.08}
    >>> own_error({"emulator": emulator, "duration_s": 10.0}, processors=2)
    {'delay_ms': {'p50': 0.02, 'p99': 0.31}, 'time_share': 0.004, 'disturbed': False}
    """
    emulator = report.get("emulator")
    if emulator is None:
        return None
    parts = [emulator.get("lateness_ms"), report.get("write_lateness_ms")]
    delay = {key: sum(part[key] for part in parts if part) for key in ("p50", "p99")}
    time = report.get("duration_s", 0.0) * (processors or os.cpu_count() or 1)
    share = emulator.get("stolen_s", 0.0) / time if time > 0 else 0.0
    disturbed = not emulator["trusted"] or share > MUCH_TIME
    return {"delay_ms": delay, "time_share": share, "disturbed": disturbed}
