"""Agreement of two ways of running a scenario, for each quantity, with its significance."""

from __future__ import annotations

import itertools
import math
import random
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...results.statistics import half_width
from .numbers import entry_names, flat_numbers, total

LEVEL = 0.05  # level of significance
MAX_SPLITS = 20_000  # largest number of permutations; above it, as many random ones
ROUNDING = 1e-9  # relative difference that counts as rounding
DETERMINISTIC = ("predict",)  # ways that give one number for all seeds
DELAYS = {"mean": "mean delay", "p50": "median delay", "p95": "95 % delay", "p99": "99 % delay"}


@dataclass(frozen=True)
class Agreement:
    """Agreement of two ways in one quantity.

    `of` is ``"goodput"``, ``"mean delay"``, ``"99 % delay"``, ``"share of dsl"``,
    ``"retransmitted"``, ... `ones` and `others` have the values of each run.
    """

    judged: str
    against: str
    of: str
    unit: str
    ones: tuple[float, ...]
    others: tuple[float, ...]

    @property
    def accuracy(self) -> float | None:
        """Accuracy of the means P and S, 1 if they are equal.

        This is 1 - abs(P - S) / S; for percentages, 1 less 0.01 for each point of difference. None
        if S is 0 and P is not.
        """
        one, other = statistics.fmean(self.ones), statistics.fmean(self.others)
        if self.unit == "%":
            return 1 - abs(one - other) / 100
        if other == 0:
            return 1.0 if one == 0 else None
        return 1 - abs(one - other) / abs(other)

    @property
    def differs(self) -> bool | None:
        """Whether the runs differ significantly; None if there are too few runs.

        Uses a permutation test of the difference of means at 5 %. If one way is deterministic,
        tests whether its number is outside the 95 % interval of the other's mean.
        """
        if self.judged in DETERMINISTIC:
            return _is_outside(self.ones[0], self.others)
        if self.against in DETERMINISTIC:
            return _is_outside(self.others[0], self.ones)
        p = permutation_p_value(self.ones, self.others)
        return None if p is None else p < LEVEL

    def json(self) -> dict[str, Any]:
        """Return the JSON form, without unknown values."""
        known = {
            "judged": self.judged,
            "against": self.against,
            "of": self.of,
            "unit": self.unit,
            "accuracy": self.accuracy,
            "differs": self.differs,
        }
        return {key: value for key, value in known.items() if value is not None}


def agreements(
    judged: str, against: str, runs: Mapping[str, Sequence[Mapping[str, float]]]
) -> list[Agreement]:
    """Compare two ways in goodput, delays, the share of each subflow, and retransmissions.

    `runs` has the runs of each way as returned by `flat_numbers`. Quantities that only one way has
    are omitted.

    Examples
    --------
    >>> runs = {"simulate": [{"goodput_mbps": 9.0}], "testbed": [{"goodput_mbps": 10.0}]}
    >>> [(each.of, round(each.accuracy, 2)) for each in agreements("simulate", "testbed", runs)]
    [('goodput', 0.9)]
    """
    ones, others = ([dict(_quantities(run)) for run in runs[way]] for way in (judged, against))
    names = [name for name in ones[0] if all(name in run for run in (*ones, *others))]
    return [
        Agreement(
            judged,
            against,
            of,
            unit,
            tuple(run[of, unit] for run in ones),
            tuple(run[of, unit] for run in others),
        )
        for of, unit in names
    ]


def _is_outside(value: float, runs: Sequence[float]) -> bool | None:
    """Return whether a number is outside the 95 % interval of a mean; None for a single run.

    Examples
    --------
    >>> _is_outside(9.0, [10.0, 12.0, 11.0]), _is_outside(5.0, [10.0, 12.0, 11.0])
    (False, True)
    >>> _is_outside(5.0, [10.0])
    """
    if len(runs) < 2:
        return None
    apart = abs(statistics.fmean(runs) - value)
    return apart > half_width(runs) + ROUNDING * abs(value)


def permutation_p_value(ones: Sequence[float], others: Sequence[float]) -> float | None:
    """Return the p-value of a permutation test of the difference of means.

    Tests all permutations, or many random ones (R. A. Fisher, The Design of Experiments, 1935,
    section 21). None if even the largest possible difference would be likely, as with three runs
    each.

    Examples
    --------
    >>> permutation_p_value([1.0, 1.1, 1.2, 1.3], [2.0, 2.1, 2.2, 2.3]) < 0.05
    True
    >>> permutation_p_value([1.0, 2.0, 1.5, 1.2], [1.1, 1.9, 1.6, 1.3]) < 0.05
    False
    >>> permutation_p_value([1.0, 1.1, 1.2], [2.0, 2.1, 2.2])
    """
    both = (*ones, *others)
    splits = math.comb(len(both), len(ones))
    if (2 if len(ones) == len(others) else 1) / splits > LEVEL:
        return None
    # Rounding errors are no difference.
    found = abs(statistics.fmean(ones) - statistics.fmean(others))
    found -= ROUNDING * max(map(abs, both))
    whole = math.fsum(both)
    if splits <= MAX_SPLITS:
        chosen: Iterator[tuple[float, ...]] = itertools.combinations(both, len(ones))
    else:
        draw = random.Random(0)
        chosen = (tuple(draw.sample(both, len(ones))) for _ in range(MAX_SPLITS))
    count = least = 0
    for split in chosen:
        part = math.fsum(split)
        apart = abs(part / len(ones) - (whole - part) / len(others))
        least += apart >= found
        count += 1
    return least / count


def _quantities(run: Mapping[str, float]) -> Iterator[tuple[tuple[str, str], float]]:
    """Yield the name, unit and value of a run's quantities."""
    if "goodput_mbps" in run:
        yield ("goodput", "Mbit/s"), run["goodput_mbps"]
    for key, name in DELAYS.items():
        if f"delay_ms.{key}" in run:
            yield (name, "ms"), run[f"delay_ms.{key}"]
    names = entry_names(run, "subflows")
    carried = total(run, "goodput_mbps")
    if len(names) > 1 and carried:
        for name in names:
            yield (f"share of {name}", "%"), 100 * run[f"subflows.{name}.goodput_mbps"] / carried
    sent, again = total(run, "segments_sent"), total(run, "retransmissions")
    if sent and again is not None:
        yield ("retransmitted", "%"), 100 * again / sent


def flat_runs(results: Any) -> list[dict[str, float]]:
    """Return a packet-level way's runs, as returned by `flat_numbers`."""
    return [flat_numbers(run) for run in results.runs]
