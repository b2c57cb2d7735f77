"""Comparison of candidates with allowance for noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .evaluator import CandidateResult

EQUAL_GOODPUT = 0.01  # relative difference up to which goodputs are equal
EQUAL_DELAY = 0.05  # the same for delays
MAX_NOISE = 0.03  # relative difference above which goodputs always differ


@dataclass(frozen=True)
class Judge:
    """Compares candidates by the metric of the traffic: bulk data or a stream of messages.

    Bulk traffic is compared by goodput. A stream (cbr, poisson) must first be carried: of the
    candidates with equal goodput, the one with the lowest 95th percentile of delay is best.
    """

    stream: bool

    def ordered(self, candidates: Sequence[CandidateResult]) -> list[CandidateResult]:
        """Return the candidates, the best first.

        Examples
        --------
        >>> slow = CandidateResult({}, ({"goodput_mbps": 1.0},))
        >>> fast = CandidateResult({}, ({"goodput_mbps": 2.0},))
        >>> Judge(stream=False).ordered([slow, fast])[0].goodput
        2.0
        """
        if not self.stream:
            return sorted(candidates, key=lambda each: -each.goodput)
        enough = (1 - EQUAL_GOODPUT) * max((each.goodput for each in candidates), default=0.0)
        return sorted(
            candidates,
            key=lambda each: (
                (False, each.delay, -each.goodput)
                if each.goodput >= enough
                else (True, -each.goodput, each.delay)
            ),
        )

    def best(self, candidates: Sequence[CandidateResult]) -> CandidateResult:
        """Return the best candidate."""
        return self.ordered(candidates)[0]

    def as_good(self, other: CandidateResult, best: CandidateResult) -> bool:
        """Return whether a candidate is as good as the best one, up to noise.

        Its goodput must be at most 1 % lower, or at most 3 % lower with zero in the 95 % interval
        of the differences of runs with equal seeds. For a stream, the delay must also be at most 5
        % longer, or zero must lie in the interval.

        Examples
        --------
        >>> good = CandidateResult({}, ({"goodput_mbps": 1.0},))
        >>> better = CandidateResult({}, ({"goodput_mbps": 2.0},))
        >>> Judge(stream=False).as_good(good, better)
        False
        """
        lost = [
            of_best["goodput_mbps"] - of_other["goodput_mbps"]
            for of_best, of_other in zip(best.runs, other.runs, strict=True)
        ]
        mean = math.fsum(lost) / len(lost)
        most = MAX_NOISE if mean <= half_width(lost) else EQUAL_GOODPUT
        if mean > most * best.goodput:
            return False
        if not self.stream or other.delay <= (1 + EQUAL_DELAY) * best.delay:
            return True
        if any("delay_p95_ms" not in run for run in (*best.runs, *other.runs)):
            return False
        longer = [
            of_other["delay_p95_ms"] - of_best["delay_p95_ms"]
            for of_best, of_other in zip(best.runs, other.runs, strict=True)
        ]
        return math.fsum(longer) / len(longer) <= half_width(longer)


def half_width(numbers: Sequence[float]) -> float:
    """Return half the 95 % confidence interval of a mean; 0 for a single value.

    Examples
    --------
    >>> half_width([1.0]), round(half_width([1.0, 2.0, 3.0]), 3)
    (0.0, 2.484)
    """
    from ...results import statistics

    width: float = statistics.ci95([{"number": number} for number in numbers]).get("number", 0.0)
    return width


def format_gain(share: float) -> str:
    """Format a gain.

    Examples
    --------
    >>> format_gain(0.123), format_gain(-0.5), format_gain(2.0)
    ('+12.3%', '-50.0%', '3 times')
    """
    return f"{1 + share:.3g} times" if share >= 1 else f"{share:+.1%}"


def relative_gain(of: float, over: float) -> float | None:
    """Return the relative gain of a number over another; None if undefined.

    Examples
    --------
    >>> relative_gain(3.0, 2.0), relative_gain(1.0, 0.0)
    (0.5, None)
    """
    return of / over - 1 if over > 0 else None
