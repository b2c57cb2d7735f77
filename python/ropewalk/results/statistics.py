"""Means and confidence intervals of runs that differ only in their seed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LABELS = ("name", "link", "protocol", "node", "channel")  # keys that identify an entry of a list
CONFIDENCE = 0.95
NORMAL = 1.959963984540054  # two-sided 95 % quantile of the normal distribution
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

    The interval is the mean plus and minus this value (Student's t). One run has none.

    Examples
    --------
    >>> runs = [{"srtt_ms": 10.0}, {"srtt_ms": 12.0}, {"srtt_ms": 11.0}]
    >>> round(ci95(runs)["srtt_ms"], 3)
    2.484
    """
    if len(runs) < 2:
        return {}
    return _each_number(runs, half_width)


def half_width(numbers: Sequence[float]) -> float:
    """Return half the width of the mean's 95 % confidence interval, by Student's t.

    Examples
    --------
    >>> round(half_width([10.0, 12.0, 11.0]), 3)
    2.484
    """
    middle = math.fsum(numbers) / len(numbers)
    variance = math.fsum((x - middle) ** 2 for x in numbers) / (len(numbers) - 1)
    return student_t(len(numbers) - 1) * math.sqrt(variance / len(numbers))


@cache
def student_t(freedom: int) -> float:
    """Return the two-sided 95 % quantile of Student's t; ValueError if `freedom` is below 1.

    References
    ----------
    Abramowitz and Stegun, Handbook of Mathematical Functions, 1964: equations 26.7.3 and 26.7.4;
    for more than 1000 degrees the expansion 26.7.5.

    Examples
    --------
    >>> [round(student_t(freedom), 3) for freedom in (1, 2, 19, 10_000)]
    [12.706, 4.303, 2.093, 1.96]
    """
    if freedom < 1:
        raise ValueError(f"freedom = {freedom}: must be at least 1")
    if freedom > 1000:  # truncation error below rounding
        x, n = NORMAL, freedom
        return (
            x
            + (x**3 + x) / (4 * n)
            + (5 * x**5 + 16 * x**3 + 3 * x) / (96 * n**2)
            + (3 * x**7 + 19 * x**5 + 17 * x**3 - 15 * x) / (384 * n**3)
            + (79 * x**9 + 776 * x**7 + 1482 * x**5 - 1920 * x**3 - 945 * x) / (92160 * n**4)
        )
    low, high = 0.0, math.pi / 2
    while low < (angle := (low + high) / 2) < high:
        low, high = (angle, high) if _within(angle, freedom) < CONFIDENCE else (low, angle)
    return math.sqrt(freedom) * math.tan(angle)


def _within(angle: float, freedom: int) -> float:
    """Return the probability of |t| <= tan(angle) sqrt(freedom)."""
    odd = freedom % 2
    squared = math.cos(angle) ** 2
    term = math.sin(angle) * (math.cos(angle) if odd else 1.0)
    total = term if freedom > 1 else 0.0
    for step in range(2 + odd, freedom, 2):
        term *= squared * (step - 1) / step
        total += term
    return 2 / math.pi * (angle + total) if odd else total


def rank_correlation(one: Sequence[float], other: Sequence[float]) -> float:
    """Return Spearman's rank correlation; equal values share the mean of their ranks.

    Examples
    --------
    >>> round(rank_correlation([1, 2, 3, 4], [10, 30, 20, 20]), 4)
    0.3162
    """
    import numpy as np

    def ranks(values: Sequence[float]) -> Any:
        _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
        return (np.cumsum(counts) - (counts - 1) / 2)[which]

    return float(np.corrcoef(ranks(one), ranks(other))[0, 1])


# Floyd and Jacobson, Traffic Phase Effects in Packet-Switched Gateways, CCR 21 (2), 1991.
ALIKE = (
    "none: all runs are equal; no random loss, delay or arrival changed them. Losses may fall in"
    " step (phase effects); a little randomness, such as --set 'link.*.jitter=1 ms', shows whether"
    " the numbers depend on that"
)


def alike(runs: Sequence[dict[str, Any]]) -> bool:
    """Whether several runs are equal except for seed and running time.

    Examples
    --------
    >>> alike([{"seed": 1, "goodput_mbps": 9.0}, {"seed": 2, "goodput_mbps": 9.0}])
    True
    """

    def drawn(run: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in run.items() if key not in ("seed", "stats")}

    return len(runs) > 1 and all(drawn(run) == drawn(runs[0]) for run in runs)


def band(
    values: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Return the mean of each column, and half the width of its 95 % interval by Student's t.

    The rows are runs; NaN is a value that a run lacks. The mean is NaN where no run has the value,
    the half width where fewer than two runs have it; for one run it is None.

    Examples
    --------
    >>> import numpy as np
    >>> mean, half = band(np.array([[10.0, 1.0], [12.0, np.nan], [11.0, np.nan]]))
    >>> mean.tolist(), half.round(3).tolist()
    ([11.0, 1.0], [2.484, nan])
    """
    import numpy as np

    known = ~np.isnan(values)
    counts = known.sum(axis=0)
    zeros = np.where(known, values, 0.0)
    unknown = np.full(values.shape[1], math.nan)
    mean = np.divide(zeros.sum(axis=0), counts, out=unknown.copy(), where=counts > 0)
    if len(values) < 2:
        return mean, None
    squares = (np.where(known, values - np.nan_to_num(mean), 0.0) ** 2).sum(axis=0)
    several = counts > 1
    error = unknown.copy()
    error[several] = np.sqrt(squares[several] / (counts[several] - 1) / counts[several])
    quantiles = {int(count): student_t(int(count) - 1) for count in np.unique(counts[several])}
    return mean, error * [quantiles.get(int(count), math.nan) for count in counts]


def wilson(count: int, of: int) -> tuple[float, float]:
    """Return the 95 % interval of a proportion, by Wilson's score.

    It stays within 0 and 1, and has a width even at proportions of 0 and 1. `count` successes are
    `of` as many trials, at least one.

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
    z = NORMAL
    share = count / of
    middle = share + z * z / (2 * of)
    half = z * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    scale = 1 + z * z / of
    low, high = (middle - half) / scale, (middle + half) / scale
    return (0.0 if count == 0 else low, 1.0 if count == of else high)


def _each_number(
    runs: Sequence[dict[str, Any]], fold: Callable[[Sequence[float]], float]
) -> dict[str, Any]:
    """Fold each number that all runs have, recursively; lists must have equal entries."""
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
    """Whether a value is a number, True and False excluded."""
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
