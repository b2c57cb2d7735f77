"""Mean and confidence interval of runs that differ in their seed alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

LABELS = ("name", "link", "protocol", "node", "channel")  # what an entry of a list is called
NOT_MEASURED = ("seed",)


def mean(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the mean of each number that all runs have.

    Examples
    --------
    >>> mean([{"goodput_mbps": 10.0, "seed": 1}, {"goodput_mbps": 11.0, "seed": 2}])
    {'goodput_mbps': 10.5}
    """
    return _each_number(runs, lambda numbers: math.fsum(numbers) / len(numbers))


def ci95(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return half the width of the 95 % confidence interval of each mean.

    By Student's t; the interval is the mean plus and minus this. One run has none.

    Examples
    --------
    >>> runs = [{"srtt_ms": 10.0}, {"srtt_ms": 12.0}, {"srtt_ms": 11.0}]
    >>> round(ci95(runs)["srtt_ms"], 3)
    2.484
    """
    if len(runs) < 2:
        return {}
    # Imported here: it takes longer than many a run.
    from scipy.special import stdtrit

    quantile = float(stdtrit(len(runs) - 1, 0.975))

    def half_width(numbers: Sequence[float]) -> float:
        middle = math.fsum(numbers) / len(numbers)
        variance = math.fsum((x - middle) ** 2 for x in numbers) / (len(numbers) - 1)
        return quantile * math.sqrt(variance / len(numbers))

    return _each_number(runs, half_width)


def wilson(count: int, of: int) -> tuple[float, float]:
    """Return the 95 % interval of a share of yes and no, by Wilson's score.

    Unlike the usual one it stays within 0 and 1, and has a width where none or all were yes.

    Parameters
    ----------
    count, of : int
        How many were yes, of how many; at least one.

    References
    ----------
    E. B. Wilson, Probable inference, the law of succession, and statistical inference, JASA
    22(158), 1927.

    Examples
    --------
    >>> [round(end, 4) for end in wilson(37, 1000)]
    [0.027, 0.0506]
    >>> wilson(0, 10)[0]
    0.0
    """
    z = 1.959964
    share = count / of
    middle = share + z * z / (2 * of)
    half = z * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    scale = 1 + z * z / of
    low, high = (middle - half) / scale, (middle + half) / scale
    return (0.0 if count == 0 else low, 1.0 if count == of else high)


def _each_number(
    runs: Sequence[dict[str, Any]], fold: Callable[[Sequence[float]], float]
) -> dict[str, Any]:
    """Fold what all runs have, in their shape; lists must have the same entries in all."""
    folded: dict[str, Any] = {}
    for key in runs[0]:
        values = [run.get(key) for run in runs]
        if key in NOT_MEASURED:
            continue
        if all(isinstance(value, dict) for value in values):
            folded[key] = _each_number([value for value in values if value is not None], fold)
        elif all(_is_number(value) for value in values):
            folded[key] = fold([value for value in values if value is not None])
        elif all(isinstance(value, list) for value in values):
            entries = [value for value in values if value is not None]
            if _same_entries(entries):
                folded[key] = [_entry(same, fold) for same in zip(*entries, strict=True)]
    return folded


def _is_number(value: Any) -> bool:
    """Whether there is a mean of it: there is none of true and false."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _same_entries(lists: Sequence[list[Any]]) -> bool:
    def labels(entries: list[Any]) -> list[Any]:
        return [[entry.get(key) for key in LABELS] for entry in entries]

    if not all(isinstance(entry, dict) for entries in lists for entry in entries):
        return False
    return all(labels(entries) == labels(lists[0]) for entries in lists)


def _entry(
    same: Sequence[dict[str, Any]], fold: Callable[[Sequence[float]], float]
) -> dict[str, Any]:
    labels = {key: same[0][key] for key in LABELS if key in same[0]}
    return labels | _each_number(same, fold)
