"""Elahi et al. 2011, equations (1) to (11): the model against exact sums over all states."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property

from ...analysis.reproduction import ComparedValue, Reproduction
from ...model import elahi2011 as model
from ..checks import Check, reproduction
from .rows import Row, queue, rows, system

STATES = "exact sums over the states, six systems"


class Chain:
    """The birth-death chain of a row of table 1, in exact numbers."""

    def __init__(self, row: Row) -> None:
        facts = system()
        self.arrival = Fraction(row.arrival)
        self.rates = [Fraction(rate) for rate in row.departure]
        self.capacity: int = facts["capacity_packets"]
        self.buffers: int = facts["connection_buffer_packets"] * len(self.rates)

    def departures(self, packets: int) -> Fraction:
        """Return the rates of the connections that `packets` packets keep busy."""
        return sum(self.rates[:packets], Fraction(0))

    @cached_property
    def probabilities(self) -> list[Fraction]:
        """Probabilities of 0 to N packets: flows between neighbours balance."""
        weights = [Fraction(1)]
        for packets in range(1, self.capacity + 1):
            weights.append(weights[-1] * self.arrival / self.departures(packets))
        total = sum(weights)
        return [weight / total for weight in weights]

    @property
    def queued(self) -> Fraction:
        """Mean number of packets above the send buffers."""
        return sum(
            (max(n - self.buffers, 0) * p for n, p in enumerate(self.probabilities)), Fraction(0)
        )

    @property
    def in_system(self) -> Fraction:
        """The paper's N_s."""
        return self.queued + len(self.rates) * self.load

    @property
    def load(self) -> Fraction:
        """The arrival rate over all departure rates."""
        return self.arrival / sum(self.rates)

    @property
    def accepted(self) -> Fraction:
        """Rate of packets that do not find the system full."""
        return self.arrival * (1 - self.probabilities[-1])

    @property
    def printed_empty(self) -> float:
        """The paper's closed form of p_0, with the power N - c."""
        c, load = len(self.rates), self.load
        steps = [self.arrival**n / math.prod(map(self.departures, range(1, n + 1)))
                 for n in range(c + 1)]  # fmt: skip
        rest = (1 - load ** (self.capacity - c)) / (1 - load)
        return float(1 / (sum(steps[:c]) + steps[c] * rest))


def reproduce() -> Reproduction:
    """Check each equation for the six systems of table 1."""
    systems = [(queue(row), Chain(row)) for row in rows()]

    def check(
        number: str,
        name: str,
        ours: Callable[[model.Queue], object],
        exact: Callable[[Chain], object],
    ) -> Check:
        pairs = [(_floats(ours(of)), _floats(exact(chain))) for of, chain in systems]
        return Check(
            number,
            name,
            STATES,
            [value for mine, _ in pairs for value in mine],
            [value for _, theirs in pairs for value in theirs],
        )

    every = range(system()["capacity_packets"] + 1)
    checks = [
        check("(1)", "mu_n", lambda q: model.departure_rate(q, list(every)),
              lambda chain: [chain.departures(n) for n in every]),
        check("(2)", "lambda_n but of a full system",
              lambda q: model.arrival_rate(q, list(every[:-1])),
              lambda chain: [chain.arrival for _ in every[:-1]]),
        check("(3)", "rho", model.load, lambda chain: chain.load),
        check("(4)", "p_n over p_(n-1)",
              lambda q: model.probability(q)[1:] / model.probability(q)[:-1],
              lambda chain: [chain.arrival / chain.departures(n) for n in every[1:]]),
        check("(5)", "p_n", model.probability, lambda chain: chain.probabilities),
        check("(5)", "p_0", model.empty_probability, lambda chain: chain.probabilities[0]),
        check("(6)", "N_q", model.packets_queued, lambda chain: chain.queued),
        check("(7)", "N_s", model.packets_in_system, lambda chain: chain.in_system),
        check("(8)", "W_s", model.time_in_system, lambda chain: chain.in_system / chain.accepted),
        check("(9)", "W_q", model.time_queued, lambda chain: chain.queued / chain.accepted),
        check("(10)", "lambda_eff", model.effective_rate, lambda chain: chain.accepted),
        check("(10)", "lambda_lost", model.lost_rate,
              lambda chain: chain.arrival * chain.probabilities[-1]),
        check("(11)", "GP", model.goodput,
              lambda chain: chain.queued * chain.accepted / chain.in_system),
    ]  # fmt: skip
    return reproduction(
        "elahi-2011", "Elahi et al. 2011, equations (1) to (11)", checks, _empty(systems)
    )


def _empty(systems: Sequence[tuple[model.Queue, Chain]]) -> list[ComparedValue]:
    """Return p_0 of the first system, and the paper's closed form of it."""
    first, chain = systems[0]
    exact, printed = model.empty_probability(first), chain.printed_empty
    reason = (
        "The printed closed form sums N - c terms of the geometric series; from c to N there are "
        f"N - c + 1. With N = {chain.capacity} it is {100 * (printed / exact - 1):.2f} % too high."
    )
    name = f"p_0, {rows()[0].name}"
    return [
        ComparedValue(name, 100 * exact, unit="%", digits=4, reason="The sum of all p_n is 1."),
        ComparedValue(f"{name}, by the printed closed form", 100 * printed,
                      unit="%", digits=4, reason=reason),
    ]  # fmt: skip


def _floats(values: object) -> list[float]:
    if hasattr(values, "__iter__"):
        return [float(each) for each in values]
    return [float(values)]  # type: ignore[arg-type]
