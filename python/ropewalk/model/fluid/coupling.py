"""Coupled increase and decrease of the windows of a connection's subflows.

Increases are segments per round trip in congestion avoidance; windows are segments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .components import SubflowState

HALF = 0.5
CUBIC_SHARE = 0.7


def increases(scheme: str, subflows: Sequence[SubflowState]) -> list[float]:
    """Return the growth of each window per round trip, by one of the `INCREASES`."""
    windows = [each.window.size for each in subflows]
    if len(windows) < 1:
        return []
    return INCREASES[scheme](subflows, windows)


def _rates(subflows: Sequence[SubflowState], windows: list[float]) -> list[float]:
    return [w / each.rtt for w, each in zip(windows, subflows, strict=True)]


def _alone(subflows: Sequence[SubflowState], windows: list[float]) -> list[float]:
    return [1.0] * len(windows)


def _fully_coupled(subflows: Sequence[SubflowState], windows: list[float]) -> list[float]:
    total = sum(windows)
    return [w / total for w in windows]


def _balia(subflows: Sequence[SubflowState], windows: list[float]) -> list[float]:
    rates = _rates(subflows, windows)
    rate, most = sum(rates), max(rates)
    return [
        w * x / each.rtt / rate**2 * (1 + most / x) * (4 + most / x) / 10
        for w, x, each in zip(windows, rates, subflows, strict=True)
    ]


def _lia(subflows: Sequence[SubflowState], windows: list[float]) -> list[float]:
    linked = _linked(subflows, windows)
    return [min(w * linked, 1.0) for w in windows]


def _linked_increases(subflows: Sequence[SubflowState], windows: list[float]) -> list[float]:
    return [sum(windows) * _linked(subflows, windows)] * len(windows)


def _linked(subflows: Sequence[SubflowState], windows: list[float]) -> float:
    rates = _rates(subflows, windows)
    return max(x / each.rtt for x, each in zip(rates, subflows, strict=True)) / sum(rates) ** 2


def _olia(subflows: Sequence[SubflowState], windows: list[float]) -> list[float]:
    rate = sum(_rates(subflows, windows))
    qualities = [
        max(each.window.since_loss, each.window.between_losses) / each.rtt**2 for each in subflows
    ]
    best, largest = max(qualities), max(windows)
    is_largest = [w + 1 > largest for w in windows]
    collected = [q == best and not big for q, big in zip(qualities, is_largest, strict=True)]
    many = len(windows)
    grown = []
    for w, each, big, chosen in zip(windows, subflows, is_largest, collected, strict=True):
        alpha = 0.0
        if any(collected):
            if big:
                alpha = -1 / (many * sum(is_largest))
            elif chosen:
                alpha = 1 / (many * sum(collected))
        grown.append(w * w / each.rtt**2 / rate**2 + alpha)
    return grown


# Growth of windows by congestion control.
INCREASES: Mapping[str, Callable[[Sequence[SubflowState], list[float]], list[float]]] = {
    "newreno": _alone,
    "cubic": _alone,
    "fully-coupled": _fully_coupled,
    "linked-increases": _linked_increases,
    "lia": _lia,
    "olia": _olia,
    "balia": _balia,
}


def checked(schemes: Sequence[str]) -> None:
    """Raise an error if there is no formula for a congestion control."""
    for number, scheme in enumerate(schemes):
        if scheme not in INCREASES:
            allowed = ", ".join(INCREASES)
            raise ValueError(
                f"connections[{number}].congestion is {scheme!r}: must be one of {allowed}"
            )


def lose(scheme: str, subflow: SubflowState, flight: float) -> None:
    """Reduce a window at a loss, with some segments in flight."""
    window = subflow.window
    if scheme == "cubic":
        window.lose(flight, CUBIC_SHARE)
    elif scheme == "fully-coupled":
        total = flight + sum(each.window.size for each in subflow.siblings if each is not subflow)
        window.lose(max(flight - total / 2, 1.0), 1.0, 1.0)
    elif scheme == "balia":
        own = subflow.siblings
        fastest = max((each.window.size / each.rtt for each in own), default=1.0)
        alpha = fastest / max(window.size / subflow.rtt, 1e-9)
        window.lose(flight, 1 - min(alpha, 1.5) / 2 if len(own) > 1 else HALF, 1.0)
    else:
        window.lose(flight, HALF, 1.0 if scheme == "olia" and len(subflow.siblings) > 1 else 2.0)
