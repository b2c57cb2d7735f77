"""Links whose rate and round trip vary over time, drawn or recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .modems import Drawn, Floats, over_time, rates, round_trips

PACKET_BITS = 12_000  # an opportunity of a trace
STEP_MS = 1000  # of drawn links
LASTS_MS = 5000  # time constant of drawn rates and round trips
LEAST_MBPS = 0.05
FEWEST, MOST = 2, 8  # recorded links


@dataclass(frozen=True)
class TimedLink:
    """A link that follows two records.

    Attributes
    ----------
    name : str
    opportunities_ms : numpy.ndarray of int
        Times at which 1500 bytes may leave, ascending; they repeat after the last one.
    times_ms : numpy.ndarray of int
        Times from which a round trip holds, ascending.
    round_trips_ms : numpy.ndarray of float
        One for each time.
    """

    name: str
    opportunities_ms: NDArray[np.int64]
    times_ms: NDArray[np.int64]
    round_trips_ms: Floats

    def rate_mbps(self, start_ms: int, end_ms: int) -> float:
        """Return the mean rate of an interval."""
        passed = self._opportunities_before(end_ms) - self._opportunities_before(start_ms)
        return passed * PACKET_BITS / (end_ms - start_ms) / 1e3

    def round_trip_ms(self, start_ms: int, end_ms: int) -> float:
        """Return the mean round trip of an interval.

        Examples
        --------
        >>> link = TimedLink("a", np.array([9]), np.array([0, 50]), np.array([10.0, 40.0]))
        >>> link.round_trip_ms(0, 100), link.round_trip_ms(60, 70)
        (25.0, 40.0)
        """
        at = np.searchsorted(self.times_ms, np.arange(start_ms, end_ms), side="right") - 1
        return float(self.round_trips_ms[at.clip(0)].mean())

    def files(self, share: float) -> dict[str, str]:
        """Return the files of a scenario: the rate, and `share` of the round trip as delay."""
        delays = zip(self.times_ms.tolist(), (share * self.round_trips_ms).tolist(), strict=True)
        return {
            f"{self.name}.down": "\n".join(map(str, self.opportunities_ms.tolist())),
            f"{self.name}.delays": "\n".join(f"{ms} {delay:.6f}" for ms, delay in delays),
        }

    def _opportunities_before(self, ms: int) -> int:
        period = int(self.opportunities_ms[-1])
        passes, rest = divmod(ms, period)
        within = np.searchsorted(self.opportunities_ms, rest)
        return int(passes * len(self.opportunities_ms) + within)


def drawn_links(
    facts: dict[str, Any], names: Sequence[str], drawn: Drawn, seconds: int, seed: int
) -> list[TimedLink]:
    """Draw rates and round trips of the paper's first modems, see `modems`.

    They change every second, with a time constant of 5 s.
    """
    random = np.random.default_rng(seed)
    steps = seconds * 1000 // STEP_MS
    correlation = exp(-STEP_MS / LASTS_MS)
    modems = len(facts["modems"])
    delays = 1e3 * round_trips(facts, drawn, over_time(steps, modems, correlation, random))
    speeds = rates(facts, facts["link_rate_mbps"], over_time(steps, modems, correlation, random))
    times = np.arange(steps) * STEP_MS
    return [
        TimedLink(name, opportunities(speeds[:, link]), times, delays[:, link])
        for link, name in enumerate(names)
    ]


def opportunities(mbps: Floats) -> NDArray[np.int64]:
    """Return the times in ms at which 1500 bytes may leave, for a rate in each step.

    Examples
    --------
    >>> opportunities(np.array([0.12, 0.036])).tolist()[:4]
    [100, 200, 300, 400]
    """
    packets = np.maximum(mbps, LEAST_MBPS) * 1e3 * STEP_MS / PACKET_BITS
    sent = np.concatenate([[0.0], np.cumsum(packets)])
    ends = np.arange(len(sent)) * STEP_MS
    # A little later than exact, so that rounding loses none.
    numbers = np.arange(1, int(sent[-1] + 1e-9) + 1)
    return np.asarray(np.interp(numbers, sent, ends).round().astype(np.int64))


def recorded_links(folder: Path) -> dict[str, TimedLink | NDArray[np.int64]]:
    """Read a folder of recorded links.

    ``NAME.down`` has the times at which 1500 bytes may leave, in mahimahi's format. ``NAME.rtt``
    has lines with a time and a round trip, both in ms. A link without it is returned as its times
    alone.

    Raises ValueError, which names file, line and constraint.
    """
    files = sorted(folder.glob("*.down"))
    if not FEWEST <= len(files) <= MOST:
        raise ValueError(
            f"traces = {folder}: has {len(files)} files NAME.down; allowed: {FEWEST} to {MOST}"
        )
    found: dict[str, TimedLink | NDArray[np.int64]] = {}
    for file in files:
        times = np.array([ms for (ms,) in _lines(file, "a time in ms", 1)], dtype=np.int64)
        if times[-1] < 1:
            raise ValueError(f"{file}: no time after 0 ms")
        trips = file.with_suffix(".rtt")
        if trips.exists():
            rows = np.array(_lines(trips, "a time and a round trip in ms", 2))
            found[file.stem] = TimedLink(file.stem, times, rows[:, 0].astype(np.int64), rows[:, 1])
        else:
            found[file.stem] = times
    return found


def _lines(file: Path, meaning: str, columns: int) -> list[list[float]]:
    """Return the numbers of each line; the first ones ascend."""
    rows: list[list[float]] = []
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{file}: cannot be read: {error}") from error
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row = [float(part) for part in line.replace(",", " ").split()]
        except ValueError:
            row = []
        if len(row) != columns or not all(0 <= value < 1e9 for value in row):
            raise ValueError(f"{file}: line {number}: {line[:40]!r} is not {meaning}")
        if rows and row[0] < rows[-1][0]:
            raise ValueError(f"{file}: line {number}: {row[0]:g} ms is before the line above")
        rows.append(row)
    if not rows:
        raise ValueError(f"{file}: is empty")
    return rows
