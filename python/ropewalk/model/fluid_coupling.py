"""How windows of one connection's subflows grow together, and fall.

Increases are segments a round trip in congestion avoidance, windows segments.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .fluid_parts import Subflow

HALF = 0.5
CUBIC_SHARE = 0.7


def increases(scheme: str, subflows: Sequence[Subflow]) -> list[float]:
    """Return what each window grows by in a round trip."""
    windows = [each.window.size for each in subflows]
    if scheme in ("cubic", "newreno") or len(windows) < 1:
        return [1.0] * len(windows)
    rates = [w / each.rtt for w, each in zip(windows, subflows, strict=True)]
    rate, total = sum(rates), sum(windows)
    if scheme == "fully-coupled":
        return [w / total for w in windows]
    if scheme == "olia":
        return _olia(subflows, windows, rate)
    if scheme == "balia":
        most = max(rates)
        return [
            w * x / each.rtt / rate**2 * (1 + most / x) * (4 + most / x) / 10
            for w, x, each in zip(windows, rates, subflows, strict=True)
        ]
    linked = max(x / each.rtt for x, each in zip(rates, subflows, strict=True)) / rate**2
    if scheme == "lia":
        return [min(w * linked, 1.0) for w in windows]
    return [total * linked] * len(windows)


def _olia(subflows: Sequence[Subflow], windows: list[float], rate: float) -> list[float]:
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


def lose(scheme: str, subflow: Subflow, flight: float) -> None:
    """Let a window fall at a loss that found so many segments in flight."""
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
