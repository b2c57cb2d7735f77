"""Measurements of one scenario of Alheid et al. 2016 by policy, coupling and distance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import fmean

from ...analysis.reproduction import ComparedValue
from .network import COUPLINGS, ONE_TCP, PACKET, POLICIES, Experiment, ExperimentRuns

NEAR_M = 10
# The paper says "beyond 80 m".
FAR_M = 90
KIB = PACKET / 1024
G = "gthroughput_mbps"
OUT_OF_ORDER = "out_of_order_percent"
# Least share of the bytes on the path that carries less, for both paths to be in use.
BOTH = 0.1


class Curves:
    """Measurements of one scenario; numbers are means of the runs."""

    def __init__(self, number: int, measured: Mapping[Experiment, ExperimentRuns]) -> None:
        self.number = number
        self._mean = {
            (each.policy, each.coupling, each.distance_m): of.mean for each, of in measured.items()
        }
        self.distances = sorted({distance for _, _, distance in self._mean})

    def value(
        self, column: str, policy: str | None, coupling: str = "lia", distance: int = NEAR_M
    ) -> float:
        """Return a number of an experiment."""
        return self._mean[policy, coupling, distance][column]

    def at(self, policy: str | None, coupling: str = "lia", distance: int = NEAR_M) -> float:
        """Return the gThroughput."""
        return self.value(G, policy, coupling, distance)

    def goodput(self, policy: str | None, coupling: str = "lia", distance: int = NEAR_M) -> float:
        """Return the delivered rate."""
        return self.value("goodput_mbps", policy, coupling, distance)

    def one_tcp(self, which: str = ONE_TCP) -> float:
        """Return the goodput of one TCP over the first network."""
        return self.goodput(which, "uncoupled")

    def between(self, least: int, below: int) -> list[int]:
        """Return the simulated distances in a range."""
        return [distance for distance in self.distances if least <= distance < below]

    def over(
        self, column: str, policy: str, coupling: str, distances: Iterable[int]
    ) -> list[float]:
        """Return a number at several distances."""
        return [self.value(column, policy, coupling, distance) for distance in distances]

    def mean(
        self,
        column: str,
        policy: str,
        distances: Iterable[int] = (NEAR_M,),
        couplings: Iterable[str] = tuple(COUPLINGS),
    ) -> float:
        """Return the mean of a number over distances and couplings."""
        places = list(distances)
        return fmean(
            value
            for coupling in couplings
            for value in self.over(column, policy, coupling, places)
        )

    def most(self, column: str, policies: Iterable[str], distances: Iterable[int]) -> float:
        """Return the largest number of any of the policies, couplings and distances."""
        places = list(distances)
        return max(
            value
            for policy in policies
            for coupling in COUPLINGS
            for value in self.over(column, policy, coupling, places)
        )

    def paths(self, policy: str) -> str:
        """Return the paths that a run uses near the access points: both, first or second."""
        if self.mean("lesser_share", policy) >= BOTH:
            return "both"
        first, second = (self.mean(f"{path}_mbps", policy) for path in ("first", "second"))
        return "first" if first > second else "second"

    def ranked(self) -> list[str]:
        """Return the policies by gThroughput near the access points, mean of all couplings."""
        return sorted(POLICIES, key=lambda policy: -self.mean(G, policy))


def statement(
    quantity: str, holds: bool, published: str, ours: str, reason: str | None = None
) -> ComparedValue:
    """Return a row for a statement in words."""
    return ComparedValue(quantity, ours, published=published, holds=holds, reason=reason)


def names(policies: Iterable[str]) -> str:
    """Return the policies' names in the paper.

    Examples
    --------
    >>> names(["dsack", "f-rto"])
    'D-SACK, F-RTO'
    """
    return ", ".join(POLICIES[policy] for policy in policies)
