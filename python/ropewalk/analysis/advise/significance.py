"""Which candidate is better, and which differ by no more than noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .evaluator import Measured

SAME = 0.01  # relative difference up to which goodputs count as equal
SAME_DELAY = 0.05  # the same for delays
MAX_NOISE = 0.03  # relative difference above which goodputs differ, however noisy


@dataclass(frozen=True)
class Judge:
    """Compares candidates by the quantity that matters for the traffic.

    Bulk traffic needs goodput. A stream of messages (cbr, poisson) needs to be carried, and then a
    short delay: of those that carry as much as any, the one with the least 95th percentile.

    Parameters
    ----------
    stream : bool
        Whether the traffic is a stream of messages.
    """

    stream: bool

    def ordered(self, candidates: Sequence[Measured]) -> list[Measured]:
        """Return candidates, the best first.

        Examples
        --------
        >>> slow = Measured({}, ({"goodput_mbps": 1.0},))
        >>> fast = Measured({}, ({"goodput_mbps": 2.0},))
        >>> Judge(stream=False).ordered([slow, fast])[0].goodput
        2.0
        """
        if not self.stream:
            return sorted(candidates, key=lambda each: -each.goodput)
        enough = (1 - SAME) * max((each.goodput for each in candidates), default=0.0)
        return sorted(
            candidates,
            key=lambda each: (
                (False, each.delay, -each.goodput)
                if each.goodput >= enough
                else (True, -each.goodput, each.delay)
            ),
        )

    def best(self, candidates: Sequence[Measured]) -> Measured:
        """Return the best candidate."""
        return self.ordered(candidates)[0]

    def as_good(self, other: Measured, best: Measured) -> bool:
        """Whether a candidate is as good as the best one, up to noise.

        That is: its goodput is less by at most 1 %, or by at most 3 % where zero lies in the 95 %
        interval of the runs' differences, which share their seeds. A stream's delay, too, is
        longer by at most 5 %, or zero lies in the interval.

        Examples
        --------
        >>> good = Measured({}, ({"goodput_mbps": 1.0},))
        >>> better = Measured({}, ({"goodput_mbps": 2.0},))
        >>> Judge(stream=False).as_good(good, better)
        False
        """
        lost = [
            of_best["goodput_mbps"] - of_other["goodput_mbps"]
            for of_best, of_other in zip(best.runs, other.runs, strict=True)
        ]
        mean = math.fsum(lost) / len(lost)
        most = MAX_NOISE if mean <= half_width(lost) else SAME
        if mean > most * best.goodput:
            return False
        if not self.stream or other.delay <= (1 + SAME_DELAY) * best.delay:
            return True
        if any("delay_p95_ms" not in run for run in (*best.runs, *other.runs)):
            return False
        longer = [
            of_other["delay_p95_ms"] - of_best["delay_p95_ms"]
            for of_best, of_other in zip(best.runs, other.runs, strict=True)
        ]
        return math.fsum(longer) / len(longer) <= half_width(longer)


def half_width(numbers: Sequence[float]) -> float:
    """Return half the 95 % confidence interval of a mean; 0 for one number, which has none.

    Examples
    --------
    >>> half_width([1.0]), round(half_width([1.0, 2.0, 3.0]), 3)
    (0.0, 2.484)
    """
    from ...results import statistics

    width: float = statistics.ci95([{"number": number} for number in numbers]).get("number", 0.0)
    return width


def written(share: float) -> str:
    """Return a gain as people write it.

    Examples
    --------
    >>> written(0.123), written(-0.5), written(2.0)
    ('+12.3%', '-50.0%', '3 times')
    """
    return f"{1 + share:.3g} times" if share >= 1 else f"{share:+.1%}"


def gain(of: float, over: float) -> float | None:
    """Return by what share one number exceeds another; None where that has no meaning.

    Examples
    --------
    >>> gain(3.0, 2.0), gain(1.0, 0.0)
    (0.5, None)
    """
    return of / over - 1 if over > 0 else None
